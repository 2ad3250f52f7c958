//! Migrates sessions of version 1 and 2 to version 3: one pass, line by line, by the rules of [`lines`].
//! Must copy every byte that need not change; replacing the file is up to [`crate::core::disk`].

pub mod file;
pub mod lines;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::sync::Mutex;

use self::lines::{EntryLinks, IdGenerator, header, rewrite};
pub(crate) use crate::core::entry::header::CURRENT;
use crate::core::entry::header::DeclaredVersion;
use crate::core::entry::{self, Scan};
use crate::core::error::{Error, Result};
use crate::core::read::line::{self, BLOCK, Line, Lines};
use crate::core::read::source::Source;
use crate::core::read::start::{self, SessionStart};

/// What to do with an unfinished last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedLine {
    /// Fail: a writer may still be at work in the file that is to be replaced.
    Refuse,
    /// Copy it, as other malformed lines are.
    Copy,
    /// Copy it, and end it: other lines follow.
    Close,
}

/// Copies a session of version 1 or 2 as version 3. Everything that need not change stays as it
/// is, malformed lines and blanks around entries included. Memory grows with the ids only.
///
/// # Errors
/// [`Error::Unfinished`] if the last line is and `unfinished` refuses that, [`Error::Unwritable`] if the
/// version is not known for sure; also [`Error::NotASession`] and [`Error::Empty`].
pub fn copy(source: &Source, unfinished: UnfinishedLine, out: &mut dyn Write) -> Result<()> {
    let start = start::read(source)?;
    let version = start.header.version;
    let is_first = matches!(version, DeclaredVersion::Absent | DeclaredVersion::Number(1));
    let assigned = is_first.then(|| AssignedIds::new(&start));
    let mut migrator = Migrator { version, start: &start, assigned, unfinished, scan: Scan::default(), line: 0 };
    let long = Mutex::new(());
    let mut lines = Lines::new(source, &long);
    let mut at = 0;
    while at < source.len() {
        let end = source.len().min(at + BLOCK as u64);
        let mut written = Ok(());
        lines.in_block(at..end, |line| {
            written = migrator.line(line, out);
            written.is_ok()
        })?;
        written?;
        at = end;
    }
    Ok(())
}

/// What a file needs to be of the current version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationNeed {
    /// A migration: it is of this old version.
    Migrate(u32),
    /// It is of the current version, or read as such.
    Nothing,
    /// It is of this version, which is newer than any known.
    Newer(u32),
}

/// Returns what a file needs, from its header alone.
pub fn need(source: &Source) -> Result<MigrationNeed> {
    Ok(match start::read(source)?.header.version {
        DeclaredVersion::Absent => MigrationNeed::Migrate(1),
        DeclaredVersion::Number(version) if version < CURRENT => MigrationNeed::Migrate(version),
        DeclaredVersion::Number(version) if version > CURRENT => MigrationNeed::Newer(version),
        DeclaredVersion::Number(_) | DeclaredVersion::Invalid => MigrationNeed::Nothing,
    })
}

/// A migration in progress.
struct Migrator<'a> {
    version: DeclaredVersion,
    start: &'a SessionStart,
    /// Version 1 only.
    assigned: Option<AssignedIds>,
    unfinished: UnfinishedLine,
    scan: Scan,
    line: u32,
}

impl Migrator<'_> {
    fn line(&mut self, line: Line<'_>, out: &mut dyn Write) -> Result<()> {
        self.line = self.line.saturating_add(1);
        let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(|cause| Error::writing("cannot write", cause));
        let bytes = start::without_bom(line);
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
                    if let Some(assigned) = &mut self.assigned {
                        assigned.ids.push(String::new());
                    }
                    Cow::Borrowed(object)
                } else {
                    let is_sure = self.version != DeclaredVersion::Absent || !entry.kind().is_entry_type();
                    if !is_sure && entry.id().is_some() {
                        return Err(unsure());
                    }
                    self.version = if is_sure { self.version } else { DeclaredVersion::Number(1) };
                    match &mut self.assigned {
                        Some(assigned) => Cow::Owned(assigned.add(object)),
                        None => rewrite(object, None, |_| None),
                    }
                };
                write(&new)?;
                write(&bytes[span.end..])?;
            }
            Err(_) if self.unfinished == UnfinishedLine::Refuse && !line.terminated && !line::is_blank(line.bytes) => {
                return Err(Error::Unfinished(self.line));
            }
            _ => write(line.bytes)?,
        }
        // A whole last line without LF gets one: an agent would append its next entry to the line.
        let is_closed = !line.terminated && !is_whole && self.unfinished == UnfinishedLine::Close;
        if line.terminated || is_whole || is_closed {
            write(b"\n")?;
        }
        // omp would take the next line for the value.
        if is_closed && line::wants_value(line.bytes) { write(b"}\n") } else { Ok(()) }
    }
}

/// Returns the error for a file without version whose entries have ids.
pub(crate) fn unsure() -> Error {
    let why = "its header has no version, but its entries have ids: agents would flatten the tree".to_owned();
    Error::Unwritable(why)
}

/// The ids that the entries of a version 1 file got so far.
struct AssignedIds {
    fresh: IdGenerator,
    /// The id of each well-formed line; empty for a header or a foreign line.
    ids: Vec<String>,
    used: HashSet<String>,
    last: Option<usize>,
}

impl AssignedIds {
    fn new(start: &SessionStart) -> Self {
        let ids = vec![String::new(); start.before as usize + 1];
        Self { fresh: IdGenerator::new(&start.header.id, start.before), ids, used: HashSet::new(), last: None }
    }

    fn add(&mut self, object: &[u8]) -> Vec<u8> {
        let id = self.fresh.next(|id| !self.used.contains(id));
        self.used.insert(id.clone());
        self.ids.push(id.clone());
        let parent = self.last.map(|at| self.ids[at].as_str());
        let kept = |at: usize| self.ids.get(at).filter(|id| !id.is_empty()).cloned();
        let new = rewrite(object, Some(EntryLinks { id: &id, parent }), kept).into_owned();
        self.last = Some(self.ids.len() - 1);
        new
    }
}
