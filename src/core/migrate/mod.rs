//! Copies old sessions as version 3: one pass, line by line, by the rules of [`lines`].

pub mod file;
pub mod lines;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::sync::Mutex;

use self::lines::{Ids, Place, header, rewrite};
pub use crate::core::entry::header::CURRENT;
use crate::core::entry::header::Declared;
use crate::core::entry::{self, Scan};
use crate::core::error::{Error, Result};
use crate::core::read::line::{self, BLOCK, Line, Lines};
use crate::core::read::load;
use crate::core::read::source::Source;

/// What to do about an unfinished last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    /// A writer may still be at work in the file that is to be replaced.
    Refuse,
    /// It is copied like other malformed lines.
    Copy,
}

/// Copies a session of version 1 or 2 as version 3. Everything that need not change stays as it
/// is, malformed lines and what stands around entries included. One pass; memory for the ids.
///
/// # Errors
/// [`Error::Unfinished`] if the last line is and `torn` refuses that, [`Error::Unwritable`] if the version is not known
/// for sure; also [`Error::NotASession`], [`Error::Empty`], [`Error::Io`], and what `out` says.
pub fn copy(source: &Source, torn: Torn, out: &mut dyn Write) -> Result<()> {
    let start = load::start(source)?;
    let mut copy =
        Copy { version: start.header.version, start: &start, list: None, torn, scan: Scan::default(), line: 0 };
    if start.header.version == Declared::Absent || start.header.version == Declared::Number(1) {
        copy.list = Some(List::new(&start));
    }
    let long = Mutex::new(());
    let mut lines = Lines::new(source, &long);
    let block = BLOCK as u64;
    let mut at = 0;
    while at < source.len() {
        let end = source.len().min(at + block);
        let mut failure = None;
        lines.in_block(at..end, |line| match copy.line(line, out) {
            Ok(()) => true,
            Err(error) => {
                failure = Some(error);
                false
            }
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        at = end;
    }
    Ok(())
}

/// What has to be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It is of this version, and an old one.
    Migration(u32),
    /// It is of the current version, or read as if it were.
    Nothing,
    /// It is of this version, which is newer than any known.
    Newer(u32),
}

/// Returns what has to be done to a file, from its header alone.
///
/// # Errors
/// As [`copy`], of reading.
pub fn need(source: &Source) -> Result<Need> {
    Ok(match load::start(source)?.header.version {
        Declared::Absent => Need::Migration(1),
        Declared::Number(version) if version < CURRENT => Need::Migration(version),
        Declared::Number(version) if version > CURRENT => Need::Newer(version),
        Declared::Number(_) | Declared::Odd => Need::Nothing,
    })
}

/// A copy on its way.
struct Copy<'a> {
    version: Declared,
    start: &'a load::Start,
    /// Version 1 only.
    list: Option<List>,
    torn: Torn,
    scan: Scan,
    line: u32,
}

impl Copy<'_> {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Write) -> Result<()> {
        self.line = self.line.saturating_add(1);
        let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(|cause| Error::writing("cannot write", cause));
        let bytes = load::without_bom(line);
        let is_before = line.offset < self.start.offset;
        let read = self.scan.read(bytes);
        let is_whole = read.is_ok();
        match read {
            Ok(entry) if !is_before => {
                let span = entry.object_span().range();
                write(&line.bytes[..line.bytes.len() - bytes.len() + span.start])?;
                let object = entry.object().bytes();
                let new = if line.offset == self.start.offset {
                    header(object)
                } else if entry.kind() == entry::Kind::Header {
                    if let Some(list) = &mut self.list {
                        list.ids.push(String::new());
                    }
                    Cow::Borrowed(object)
                } else {
                    let is_sure = self.version != Declared::Absent || !entry.kind().is_entry_type();
                    if !is_sure && entry.id().is_some() {
                        return Err(unsure());
                    }
                    self.version = if is_sure { self.version } else { Declared::Number(1) };
                    match &mut self.list {
                        Some(list) => Cow::Owned(list.add(object)),
                        None => rewrite(object, None, |_| None),
                    }
                };
                write(&new)?;
                write(&bytes[span.end..])?;
            }
            Err(_) if self.torn == Torn::Refuse && !line.terminated && !line::is_blank(line.bytes) => {
                return Err(Error::Unfinished { line: self.line });
            }
            _ => write(line.bytes)?,
        }
        // A whole last line gets its end: an agent would append its next entry to it.
        if line.terminated || is_whole { write(b"\n") } else { Ok(()) }
    }
}

/// Returns why a file without version whose entries have ids is not written to.
pub(crate) fn unsure() -> Error {
    let why = "its header has no version, but its entries have ids: agents would flatten the tree".to_owned();
    Error::Unwritable { why }
}

/// The entries of a version 1 file so far.
struct List {
    fresh: Ids,
    /// The id on each well-formed line; empty if there is none.
    ids: Vec<String>,
    used: HashSet<String>,
    last: Option<usize>,
}

impl List {
    fn new(start: &load::Start) -> Self {
        let ids = vec![String::new(); start.before as usize + 1];
        Self { fresh: Ids::new(&start.header.id, start.before), ids, used: HashSet::new(), last: None }
    }

    fn add(&mut self, object: &[u8]) -> Vec<u8> {
        let id = self.fresh.next(|id| !self.used.contains(id));
        self.used.insert(id.clone());
        self.ids.push(id.clone());
        let parent = self.last.map(|at| self.ids[at].as_str());
        let kept = |index: f64| {
            if !(0.0..=f64::from(u32::MAX)).contains(&index) {
                return None;
            }
            // In range and whole: the cast is exact.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            self.ids.get(index as usize).filter(|id| !id.is_empty()).cloned()
        };
        let new = rewrite(object, Some(Place { id: &id, parent }), kept).into_owned();
        self.last = Some(self.ids.len() - 1);
        new
    }
}
