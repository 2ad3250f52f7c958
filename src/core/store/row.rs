//! What is known of a session by the start and the end of its file, so that thousands are listed in no time
//! (help naming, "Lists").

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::core::entry::header::{CURRENT, DeclaredVersion};
use crate::core::entry::{Entry, Kind, Scan, preview};
use crate::core::error::{Error, Result};
use crate::core::json::Raw;
use crate::core::json::text::WordWriter;
use crate::core::naming::files::Named;
use crate::core::read::front::front_of;
use crate::core::read::line::{BLOCK, Line, Lines};
use crate::core::read::source::{FileState, Source};
use crate::core::read::start::SessionStart;
use crate::core::read::warning;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::store::totals::Totals;

/// How many bytes of the end of a file are searched for the name of the session.
const TAIL: u64 = 16 * 1024;
/// How many bytes of the start of a file are searched for the first prompt.
const MOST: u64 = 1024 * 1024;

/// A file in a list of sessions.
#[derive(Debug)]
pub(crate) struct SessionRow {
    pub path: PathBuf,
    /// Whether the file was named, not found in a folder.
    pub is_named: bool,
    /// Its length, time and identity; `None` for a stream, and if it cannot be looked at.
    pub state: Option<FileState>,
    /// Its length in bytes, of a stream too.
    pub len: Option<u64>,
    /// What is known of the session, or why the file cannot be read as one.
    pub found: Result<SessionHead>,
    /// What was found when all of it was read.
    pub totals: Option<Totals>,
}

/// What is known of a session without reading all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionHead {
    pub id: String,
    /// The session that it is a fork of, as stored: a path or an id.
    pub parent: Option<String>,
    /// Its name: of the title slot, the last `session_info`, or the header.
    pub title: Option<String>,
    /// The words of its first prompt.
    pub first_prompt: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// The version that it is read as.
    pub version: u32,
    /// When it was started, in milliseconds since 1970.
    pub created: Option<i64>,
}

impl SessionRow {
    /// Reads the start and the end of a file.
    pub(crate) fn read(file: &Named) -> Self {
        Self::of(file, SessionHead::read(file))
    }

    /// Makes a row of what is known of a file.
    pub(crate) fn of(file: &Named, found: Result<SessionHead>) -> Self {
        let len = file.state.map(|state| state.len);
        Self { path: file.path.clone(), is_named: file.is_named, state: file.state, len, found, totals: None }
    }

    /// Reads of a spooled stream, which is called `name`, what is read of a file.
    pub(crate) fn of_stream(name: &Path, stream: &Source) -> Self {
        let found = SessionHead::read_from(&|limit| stream.start(limit), Some(stream.len()));
        let file = Named { path: name.to_owned(), is_named: true, state: None };
        Self { len: Some(stream.len()), ..Self::of(&file, found) }
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> Named {
        Named { path: self.path.clone(), is_named: self.is_named, state: self.state }
    }

    /// Returns what is known of the session, if the file is one.
    pub(crate) fn head(&self) -> Option<&SessionHead> {
        self.found.as_ref().ok()
    }

    /// Returns whether there is no such file.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(&self.found, Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound)
    }

    /// Returns when the file was last written to, in milliseconds since 1970.
    pub(crate) fn written(&self) -> Option<i64> {
        self.state.map(|state| state.written())
    }

    /// Returns what identifies the file.
    pub(crate) fn identity(&self) -> Option<(u64, u64)> {
        self.state.map(|state| state.identity())
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn size(&self) -> Option<u64> {
        self.len
    }
}

impl SessionHead {
    /// Reads the start and the end of a file; of a compressed one the start alone.
    fn read(file: &Named) -> Result<Self> {
        if file.state.is_none() && fs::metadata(&file.path).is_ok_and(|meta| !meta.is_dir()) {
            // Opening a pipe would wait for what comes.
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(Error::Io { doing: "cannot read", cause });
        }
        Self::read_from(&|limit| Source::front(&file.path, limit), file.state.map(|state| state.len))
    }

    /// Reads the start and the end of what `open` opens up to a limit, and is of this length.
    fn read_from(open: &dyn Fn(u64) -> Result<Source>, len: Option<u64>) -> Result<Self> {
        let (source, start) = front_of(open)?;
        let mut head = Self::of(&start);
        let is_whole = len.is_some_and(|len| len <= source.len());
        let is_list = matches!(start.header.version, DeclaredVersion::Absent | DeclaredVersion::Number(1));
        let mut search = HeadSearch { is_list, ..HeadSearch::default() };
        search.read(&source, start.end, is_whole)?;
        if !search.is_over && !is_whole && source.len() < MOST {
            search = HeadSearch { is_list, ..HeadSearch::default() };
            search.read(&open(MOST)?, start.end, false)?;
        }
        head.version = version(&start, search.has_ids == Some(true));
        head.first_prompt = search.prompt.take().filter(|prompt| !prompt.is_empty());
        head.created = head.created.or(search.first_time);
        // The slot comes before any other name.
        if start.slot.as_ref().is_some_and(Option::is_some) {
            return Ok(head);
        }
        let end = len.filter(|_| !source.is_compressed()).unwrap_or(source.len());
        let name = last_name(&source, start.end, end)?;
        head.title = name.or(head.title);
        Ok(head)
    }

    /// Returns what is known of a session that was read whole; its first prompt only if that is not known yet.
    pub(crate) fn whole(session: &Session, has_prompt: bool) -> Result<Self> {
        let header = &session.header;
        let first_time = || session.nodes().find_map(|node| session.stamp(node).ms());
        let prompt = first_prompt(session).filter(|_| !has_prompt);
        let prompt = prompt.map(|prompt| Bodies::new(session).words(prompt)).transpose()?;
        Ok(Self {
            id: header.id.clone(),
            parent: parent(&header.raw),
            title: session.name().map(one_line),
            first_prompt: prompt.filter(|prompt| !prompt.is_empty()),
            cwd: header.cwd.clone(),
            version: session.version,
            created: header.stamp.ms().or_else(first_time),
        })
    }

    fn of(start: &SessionStart) -> Self {
        let header = &start.header;
        let title = start.slot.as_ref().and_then(|title| title.as_deref()).or(header.title.as_deref()).map(one_line);
        Self {
            id: header.id.clone(),
            parent: parent(&header.raw),
            title,
            cwd: header.cwd.clone(),
            created: header.stamp.ms(),
            ..Self::default()
        }
    }
}

/// Returns a name as a row shows it: in one line, and no longer than the words of an entry.
fn one_line(name: &str) -> String {
    let mut words = String::new();
    WordWriter::new(&mut words, preview::LIMIT).push_str(name);
    words
}

/// Returns the first prompt with text, else the first one.
fn first_prompt(session: &Session) -> Option<NodeId> {
    let mut prompts = session.nodes().filter(|&node| session.is_user(node));
    let first = prompts.next()?;
    let has_text = |node: &NodeId| session.traits(*node).has_text;
    Some(Some(first).filter(has_text).or_else(|| prompts.find(has_text)).unwrap_or(first))
}

/// Returns what a header names as the session that it is a fork of.
fn parent(header: &[u8]) -> Option<String> {
    let header = Raw::new(header);
    let named = |name| header.get_str(name).filter(|name| !name.is_empty());
    named("parentSession").or_else(|| named("branchedFrom")).map(|name| name.into_owned())
}

/// Returns the version that a session is read as (help rules, "Reading", 7).
fn version(start: &SessionStart, has_ids: bool) -> u32 {
    match start.header.version {
        DeclaredVersion::Number(number) => number,
        DeclaredVersion::Invalid => CURRENT,
        DeclaredVersion::Absent if has_ids => 2,
        DeclaredVersion::Absent => 1,
    }
}

/// What the entries at the start of a file say.
#[derive(Default)]
struct HeadSearch {
    /// The words of the first prompt with text, else of the first one.
    prompt: Option<String>,
    /// Whether more of the file changes nothing.
    is_over: bool,
    /// Whether every line may be an entry, as in version 1.
    is_list: bool,
    /// Whether the first entry has an id, which decides about files without a version.
    has_ids: Option<bool>,
    first_time: Option<i64>,
}

impl HeadSearch {
    /// Reads entries from `from` on until the first prompt is found.
    fn read(&mut self, source: &Source, from: u64, is_whole: bool) -> Result<()> {
        let (long, mut scan) = (std::sync::Mutex::new(()), Scan::default());
        let mut lines = Lines::new(source, &long);
        let mut at = from;
        while at < source.len() && !self.is_over {
            let block = at..source.len().min(at + BLOCK as u64);
            at = block.end;
            let each = |line: Line<'_>| {
                // A line that the limit cuts is no object.
                if let Ok(entry) = scan.read(line.bytes) {
                    self.add(entry);
                }
                !self.is_over
            };
            if block.start == from { lines.starting_at(block, each)? } else { lines.in_block(block, each)? }
        }
        self.is_over |= is_whole;
        Ok(())
    }

    fn add(&mut self, entry: Entry<'_>) {
        if warning::no_entry(entry).is_some() && !self.is_list {
            return;
        }
        if entry.kind().is_entry_type() {
            self.has_ids.get_or_insert(entry.has_id());
        }
        self.first_time = self.first_time.or(entry.stamp().ms());
        let traits = entry.traits();
        if !traits.is_user() || self.prompt.is_some() && !traits.has_text {
            return;
        }
        let mut words = String::new();
        preview::write(&mut words, entry);
        words.shrink_to_fit();
        self.prompt = Some(words);
        self.is_over = traits.has_text;
    }
}

/// Returns the name that the last `session_info` sets, as far as it is near the start or the end of a file.
fn last_name(source: &Source, start: u64, end: u64) -> Result<Option<String>> {
    let front_end = source.len().min(end);
    let tail = end.saturating_sub(TAIL).max(front_end);
    let mut bytes = Vec::new();
    for range in [tail..end, start..front_end] {
        bytes.resize(usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0), 0);
        if !bytes.is_empty() {
            source.read_at(&mut bytes, range.start)?;
        }
        if let Some(name) = name_in(&bytes) {
            return Ok(Some(name).filter(|name| !name.is_empty()));
        }
    }
    Ok(None)
}

/// Returns the name that the last `session_info` in some lines sets; empty if it clears it.
fn name_in(mut bytes: &[u8]) -> Option<String> {
    let mut scan = Scan::default();
    while let Some(at) = memmem::rfind(bytes, b"\"session_info\"") {
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        if let Ok(entry) = scan.read(&bytes[start..end])
            && entry.kind() == Kind::SessionInfo
        {
            let name = entry.get_str("name").filter(|name| !name.trim().is_empty());
            let mut words = String::new();
            WordWriter::new(&mut words, preview::LIMIT).push_str(name.as_deref().unwrap_or_default());
            return Some(words);
        }
        bytes = &bytes[..start];
    }
    None
}
