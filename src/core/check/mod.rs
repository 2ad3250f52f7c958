//! What is wrong with a session, what it costs, and how to get on.
//!
//! A finding is kept as a place and a few numbers ([`RawFinding`]); its words are made when it is
//! reported, so that a file of nothing but faults costs little memory. Nothing here changes a
//! file, and nothing decides how a finding is printed.
//!
//! **Unreachable.** The number with a finding says how many entries agents lose because of it.
//! An agent resumes at a leaf and goes from parent to parent; what it meets is the path, and
//! everything else is as good as not there for the model. The number compares with the undamaged
//! file: it counts the entries that the path would have beyond the damage. Where an entry's parent
//! is gone, the path goes on at the entry that the remains of a damaged line name, or, where none
//! do, at the entry before it in the file: agents append behind the leaf, so that is where the
//! conversation stood. On a damaged line the entries on it count too. Numbers of findings that
//! follow from each other are about the same entries; they do not add up.

mod context;
mod describe;
mod lines;
mod path;
mod tree;

pub mod baseline;
pub mod codes;
pub mod why;

use std::path::Path;

pub use codes::{Code, Severity};

use crate::core::error::{Error, Result};
use crate::core::read::inspect::{Notes, Odd};
use crate::core::read::load;
use crate::core::read::source::Source;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// Something wrong, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub code: Code,
    /// 1-based line.
    pub line: u32,
    /// The entry that it is about.
    pub entry_id: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What is lost, and what agents do with it.
    pub effect: String,
    /// What a person can do about it.
    pub fix: String,
    /// How many entries agents lose because of it (see the module).
    pub unreachable: Option<u32>,
}

/// A finding before its words are made.
#[derive(Clone, Copy, Debug)]
pub struct RawFinding {
    /// What kind of thing.
    pub code: Code,
    /// 1-based line.
    pub line: u32,
    pub(crate) node: Option<NodeId>,
    pub(crate) detail: Detail,
    pub(crate) unreachable: Option<u32>,
}

/// What the words of a finding need beside its place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail {
    Nothing,
    /// What is odd about the line, and where.
    Odd(Odd, u32),
    /// A cut: where the path goes on.
    Above(path::Continuation),
    /// The line that has the same id.
    Line(u32),
    /// How many of them there are.
    Count(u32),
    /// Another entry that matters.
    Node(NodeId),
    /// A compaction: the entry that it names, and how many messages before it the model never gets.
    Kept(Option<NodeId>, Option<u32>),
    /// The hash of a tool call's id.
    Call(u64),
    /// Place among the labels, or among the noted blobs.
    Place(u32),
    /// Milliseconds.
    Gap(i64),
    /// A file that is no session, with the reason.
    Reason(&'static str),
}

impl RawFinding {
    fn new(code: Code, line: u32, node: Option<NodeId>, detail: Detail) -> Self {
        Self { code, line, node, detail, unreachable: None }
    }
}

/// A file, checked.
#[derive(Debug)]
pub struct Checked {
    session: Option<Session>,
    notes: Notes,
    /// What was found, in the order of lines.
    pub found: Vec<RawFinding>,
}

/// Checks a file on up to `jobs` threads. `blobs` is the folder in which images are kept that a
/// session only names, if there is one.
///
/// # Errors
/// [`Error`] if the file cannot be read; that it is no session is a finding.
pub fn check(source: Source, blobs: Option<&Path>, jobs: usize) -> Result<Checked> {
    let (session, notes) = match Session::inspect(source, jobs) {
        Ok(read) => read,
        Err(error) => return no_session(error),
    };
    let mut found = Vec::new();
    lines::check(&session, &notes, blobs, &mut found);
    tree::check(&session, &notes, &mut found)?;
    context::check(&session, &notes, &mut found)?;
    found.sort_by_key(|spot| (spot.line, spot.code));
    Ok(Checked { session: Some(session), notes, found })
}

fn no_session(error: Error) -> Result<Checked> {
    let (code, line, why) = match error {
        Error::Empty => (Code::Empty, 1, ""),
        Error::NotASession { line, why: why @ (load::DAMAGED | load::NO_ID) } => (Code::UnreadableHeader, line, why),
        Error::NotASession { line, why } => (Code::NotASession, line, why),
        other => return Err(other),
    };
    let found = vec![RawFinding::new(code, line, None, Detail::Reason(why))];
    Ok(Checked { session: None, notes: Notes::default(), found })
}

impl Checked {
    /// Makes the words of what was found, in order. `wanted` tells which findings count.
    ///
    /// # Errors
    /// [`Error::Changed`] and [`Error::Io`], since details are read again; and what `each` says.
    pub fn findings<E: From<Error>>(
        &self,
        wanted: &dyn Fn(&RawFinding) -> bool,
        each: &mut dyn FnMut(Finding) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut bodies = self.session.as_ref().map(Bodies::new);
        for spot in self.found.iter().filter(|spot| wanted(spot)) {
            each(describe::finding(spot, &self.notes, bodies.as_mut())?)?;
        }
        Ok(())
    }

    /// Gives the id of the entry that a finding is about.
    pub fn entry_id(&self, spot: &RawFinding) -> Option<&str> {
        Some(self.session.as_ref()?.id(spot.node?))
    }
}
