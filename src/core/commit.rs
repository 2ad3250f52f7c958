//! Brings new entries into a session file: appended, or, into a file of an old version, together
//! with its migration (semantics: "Writing").

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use super::draft::{Draft, World};
use super::entry::{Kind, Scan};
use super::error::{Error, Result};
use super::header::{CURRENT, Declared};
use super::load::Keep;
use super::migrate::{self, Torn};
use super::session::Session;
use super::source::Source;
use super::write::{self, Added, Appended, Manners, Place, ReadTo, Unsynced};

/// How often a file that was replaced is read again.
const ATTEMPTS: usize = 5;

/// What new entries hang at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The leaf of the file as it is when they are written.
    Leaf,
    /// This entry, or nothing.
    At(Option<String>),
}

/// What must not have happened meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Anything may have.
    None,
    /// The leaf that is left must not have got children.
    Childless(Option<String>),
    /// The file's leaf that is left must still be its leaf.
    Unmoved(Option<String>),
}

/// What is to be written where.
#[derive(Clone)]
pub struct Commit<'c> {
    /// The session file.
    pub path: &'c Path,
    /// How to behave towards others.
    pub manners: Manners<'c>,
    /// How many threads may read.
    pub jobs: usize,
    /// What the first entry hangs at.
    pub anchor: Anchor,
    /// What must not have happened.
    pub guard: Guard,
    /// Entries that must exist.
    pub needs: Vec<String>,
}

/// What was written.
#[derive(Debug)]
pub struct Committed {
    /// The ids of the new entries.
    pub ids: Vec<String>,
    /// What the first of them hangs at.
    pub anchor: Option<String>,
    /// The version that the file had, if it was migrated.
    pub migrated_from: Option<u32>,
    /// Whether an unfinished line of somebody else was closed first.
    pub closed_torn_line: bool,
    /// Whether the file had other names, which go on naming what it was.
    pub broke_links: bool,
    /// What is not on the disk, although it is in the file.
    pub unsynced: Option<Unsynced>,
}

/// Tells whether a session may be written to.
///
/// # Errors
/// [`Error::Unwritable`] for newer and for unclear versions.
pub fn check(session: &Session) -> Result<()> {
    if session.version > CURRENT {
        let why = format!("version {} is newer than {CURRENT}, the newest known", session.version);
        return Err(Error::Unwritable { why });
    }
    if session.version == 2 && session.header.version == Declared::Absent {
        return Err(migrate::unsure());
    }
    Ok(())
}

impl Commit<'_> {
    /// Writes the entries that `make` drafts; `session` is what was read of the file.
    ///
    /// # Errors
    /// [`Error::Unwritable`], [`Error::Changed`], and those of [`mod@write`]. After an error none of
    /// the entries is in the file.
    pub fn write(
        &self,
        session: &Session,
        world: &mut World<'_>,
        make: &mut dyn FnMut(&mut Draft<'_>),
    ) -> Result<Committed> {
        let mut again = None;
        for attempt in 0..=ATTEMPTS {
            if attempt > 0 {
                again = Some(Session::load(Source::open(self.path)?, Keep::NOTHING, self.jobs)?);
            }
            let current = again.as_ref().unwrap_or(session);
            check(current)?;
            if let Some(again) = &again {
                self.recheck(session, again)?;
            }
            let done = if current.is_migrated() {
                self.replace(current, world, make)?
            } else {
                self.append(current, world, make)?
            };
            if let Some(done) = done {
                return Ok(done);
            }
        }
        Err(Error::Changed { line: None })
    }

    /// Checks a file that was replaced against what was decided on its old form.
    fn recheck(&self, old: &Session, new: &Session) -> Result<()> {
        let children = |session: &Session, id: &str| session.find(id).map(|node| session.children(node).len());
        let leaf = |session: &Session| session.leaf().map(|leaf| session.id(leaf).to_owned());
        let holds = match &self.guard {
            Guard::None => true,
            Guard::Childless(None) => true,
            Guard::Childless(Some(id)) => children(old, id) == children(new, id),
            Guard::Unmoved(id) => leaf(new) == *id,
        };
        let is_there = |id: &String| new.find(id).is_some();
        let anchor_is_there = match &self.anchor {
            Anchor::At(Some(id)) => is_there(id),
            _ => true,
        };
        if holds && anchor_is_there && self.needs.iter().all(is_there) {
            return Ok(());
        }
        Err(Error::Changed { line: None })
    }

    fn append(
        &self,
        session: &Session,
        world: &mut World<'_>,
        make: &mut dyn FnMut(&mut Draft<'_>),
    ) -> Result<Option<Committed>> {
        let place = self.place(session)?;
        let mut done = None;
        let read = ReadTo { at: session.read_to, before: session.tail.clone() };
        let appended = write::append(&place, &read, self.manners, &is_whole, &mut |added| {
            let news = News::read(session, added);
            self.refuse_if_moved(&news)?;
            let leaf = || news.leaf.clone().or_else(|| session.leaf().map(|leaf| session.id(leaf).to_owned()));
            let anchor = match &self.anchor {
                Anchor::Leaf => leaf(),
                Anchor::At(id) => id.clone(),
            };
            let is_taken = |id: &str| session.find(id).is_some() || news.parents.contains_key(id);
            let mut draft = Draft::new(world, anchor.clone(), &is_taken);
            make(&mut draft);
            let Draft { lines, ids, .. } = draft;
            done = Some((ids, anchor));
            Ok(lines)
        })?;
        Ok(match (appended, done) {
            (Appended::Done { closed_torn_line, unsynced }, Some((ids, anchor))) => {
                Some(Committed { ids, anchor, migrated_from: None, closed_torn_line, broke_links: false, unsynced })
            }
            _ => None,
        })
    }

    fn refuse_if_moved(&self, news: &News) -> Result<()> {
        let has_child = |old: &Option<String>| news.parents.values().any(|parent| parent == old);
        let holds = match &self.guard {
            Guard::None => true,
            Guard::Childless(old) => old.is_none() || !has_child(old),
            Guard::Unmoved(old) => news.leaf.is_none() || news.leaf == *old,
        };
        if holds { Ok(()) } else { Err(Error::Changed { line: None }) }
    }

    /// Writes the migrated session with the new entries behind it.
    fn replace(
        &self,
        session: &Session,
        world: &mut World<'_>,
        make: &mut dyn FnMut(&mut Draft<'_>),
    ) -> Result<Option<Committed>> {
        let place = self.place(session)?;
        let is_torn = has_torn_line(session)?;
        if is_torn && place.changes_soon(self.manners)? {
            return Ok(None);
        }
        let leaf = || session.leaf().map(|leaf| session.id(leaf).to_owned());
        let anchor = match &self.anchor {
            Anchor::Leaf => leaf(),
            Anchor::At(id) => id.clone(),
        };
        let is_taken = |id: &str| session.find(id).is_some();
        let mut draft = Draft::new(world, anchor.clone(), &is_taken);
        make(&mut draft);
        let Draft { lines, ids, .. } = draft;
        let replaced = write::replace(&place, self.manners, false, &mut |out| {
            let mut out = Ended { out, ends_line: true };
            migrate::copy(&session.source, Torn::Copy, &mut out)?;
            let end: &[u8] = if out.ends_line { b"" } else { b"\n" };
            let written = out.write_all(end).and_then(|()| out.write_all(&lines));
            written.map_err(|cause| Error::writing("cannot write", cause))
        })?;
        Ok(Some(Committed {
            ids,
            anchor,
            migrated_from: Some(session.version),
            closed_torn_line: is_torn,
            broke_links: replaced.broke_links,
            unsynced: replaced.unsynced,
        }))
    }

    fn place(&self, session: &Session) -> Result<Place> {
        let stat = session.source.stat().ok_or_else(|| Error::Usage {
            message: "cannot write into standard input".to_owned(),
            hint: "give the path of a session file".to_owned(),
        })?;
        Place::new(self.path, stat)
    }
}

/// Tells whether the last line of what was read is unfinished.
fn has_torn_line(session: &Session) -> Result<bool> {
    let len = session.source.len().saturating_sub(session.read_to);
    let mut tail = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    session.source.read_at(&mut tail, session.read_to)?;
    Ok(!is_whole(&tail))
}

/// Tells whether a line is one complete object.
fn is_whole(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.iter().all(u8::is_ascii_whitespace) || Scan::default().read(line).is_ok()
}

/// The entries that others added to a file.
#[derive(Default)]
struct News {
    /// The last of them.
    leaf: Option<String>,
    /// The ids that are new, and the parents that they name.
    parents: HashMap<String, Option<String>>,
}

impl News {
    fn read(session: &Session, added: &Added<'_>) -> Self {
        let mut news = Self::default();
        let mut scan = Scan::default();
        for line in added.bytes.split(|&byte| byte == b'\n') {
            let Ok(entry) = scan.read(line) else { continue };
            let Some(id) = entry.id().filter(|_| entry.kind() != Kind::Header) else { continue };
            if session.find(&id).is_none() {
                news.parents.insert(id.clone().into_owned(), entry.parent_id().map(|parent| parent.into_owned()));
            }
            news.leaf = Some(id.into_owned());
        }
        news
    }
}

/// Remembers whether what was written ends with a LF.
struct Ended<'o> {
    out: &'o mut dyn Write,
    ends_line: bool,
}

impl Write for Ended<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        if let Some(last) = bytes[..count].last() {
            self.ends_line = *last == b'\n';
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
