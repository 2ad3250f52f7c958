//! Problems of session files, their effects on agents, and their fixes.
//!
//! [`check`] collects findings from single lines, from the tree, and from the context at the leaf. A
//! finding is kept as a position and a few numbers ([`RawFinding`]); its words are made when it is
//! reported, so that a file full of faults costs little memory. Nothing here changes a file or decides
//! how a finding is printed.
//!
//! **Unreachable.** The number of a finding says how many entries agents lose because of it. An agent
//! resumes at a leaf and follows parents; the model gets only entries on that path. The number compares
//! with the undamaged file: it counts the entries that the path would have beyond the damage. Where the
//! parent of an entry is missing, the path goes on at the entry that the remains of a damaged line name,
//! or else at the entry before it in the file, since agents append after the leaf. Entries on a damaged
//! line itself count too. Findings that follow from each other are about the same entries: their numbers
//! do not add up.

mod context;
mod describe;
mod lines;
mod path;
mod tree;

pub mod baseline;
pub mod codes;
pub mod policy;
pub mod why;

use std::path::Path;

pub use codes::{Code, Severity};

use crate::core::error::foreign::ForeignFormat;
use crate::core::error::{Error, Result};
use crate::core::read::inspect::{LineNotes, Oddity};
use crate::core::read::load;
use crate::core::read::source::Source;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// A finding, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind of problem.
    pub code: Code,
    /// 1-based line.
    pub line: u32,
    /// The entry that it is about.
    pub entry_id: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What is lost, and what agents do.
    pub effect: String,
    /// How to fix it.
    pub fix: String,
    /// How many entries agents lose because of it (see the module).
    pub unreachable: Option<u32>,
}

/// A finding before its words are made.
#[derive(Clone, Copy, Debug)]
pub struct RawFinding {
    /// The kind of problem.
    pub code: Code,
    /// 1-based line.
    pub line: u32,
    pub(crate) node: Option<NodeId>,
    pub(crate) detail: Detail,
    pub(crate) unreachable: Option<u32>,
}

/// What the words of a finding need besides its line and entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detail {
    Nothing,
    /// What is odd about the line, and at which byte or how often.
    Odd(Oddity, u32),
    /// Where the path goes on above a cut.
    Above(path::Continuation),
    /// The 1-based line that has the same id.
    Line(u32),
    /// A number, of places or of a version.
    Count(u32),
    /// Another entry that it is about.
    Node(NodeId),
    /// Of a compaction: the entry that it names, and how many messages before it the model does not get.
    Kept(Option<NodeId>, Option<u32>),
    /// The hash of a tool call's id.
    Call(u64),
    /// An index into the labels, or into the noted blobs.
    Index(u32),
    /// A difference of times in milliseconds.
    Gap(i64),
    /// Another format, which the file is of.
    Foreign(ForeignFormat),
    /// Why a file is not a session, or what is odd about its header.
    Reason(&'static str),
}

impl RawFinding {
    fn new(code: Code, line: u32, node: Option<NodeId>, detail: Detail) -> Self {
        Self { code, line, node, detail, unreachable: None }
    }
}

/// The result of checking a file.
#[derive(Debug)]
pub struct Checked {
    session: Option<Session>,
    notes: LineNotes,
    /// The findings, in the order of lines.
    pub found: Vec<RawFinding>,
}

/// Checks a file on up to `jobs` threads. `blobs` is the folder of the images that a session refers to
/// by name, if there is one.
///
/// # Errors
/// [`Error`] if the file cannot be read; that it is not a session is a finding.
pub fn check(source: Source, blobs: Option<&Path>, jobs: usize) -> Result<Checked> {
    let (session, notes) = match Session::inspect(source, jobs) {
        Ok(read) => read,
        Err(error) => return no_session(error),
    };
    let mut found = Vec::new();
    lines::check(&session, &notes, blobs, &mut found);
    tree::check(&session, &notes, &mut found)?;
    context::check(&session, &notes, &mut found)?;
    found.sort_by_key(|finding| (finding.line, finding.code));
    Ok(Checked { session: Some(session), notes, found })
}

fn no_session(error: Error) -> Result<Checked> {
    let (code, line, detail) = match error {
        Error::Empty => (Code::Empty, 1, Detail::Nothing),
        Error::NotASession { line, why: why @ (load::DAMAGED | load::NO_ID) } => {
            (Code::UnreadableHeader, line, Detail::Reason(why))
        }
        Error::NotASession { line, why } => (Code::NotASession, line, Detail::Reason(why)),
        Error::Foreign(format) => (Code::NotASession, 1, Detail::Foreign(format)),
        other => return Err(other),
    };
    let found = vec![RawFinding::new(code, line, None, detail)];
    Ok(Checked { session: None, notes: LineNotes::default(), found })
}

impl Checked {
    /// Calls `each` with the words of every finding that is `wanted`, in order.
    ///
    /// # Errors
    /// [`Error::Changed`] and [`Error::Io`], since details are read again; and those of `each`.
    pub fn findings<E: From<Error>>(
        &self,
        wanted: &dyn Fn(&RawFinding) -> bool,
        each: &mut dyn FnMut(Finding) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut bodies = self.session.as_ref().map(Bodies::new);
        for finding in self.found.iter().filter(|finding| wanted(finding)) {
            each(describe::finding(finding, &self.notes, bodies.as_mut())?)?;
        }
        Ok(())
    }

    /// Returns the format of the file if that is another one.
    pub(crate) fn foreign(&self) -> Option<ForeignFormat> {
        match self.found[..] {
            [RawFinding { detail: Detail::Foreign(format), .. }] => Some(format),
            _ => None,
        }
    }

    /// Returns the id of the entry that a finding is about.
    pub(crate) fn entry_id(&self, finding: &RawFinding) -> Option<&str> {
        Some(self.session.as_ref()?.id(finding.node?))
    }
}
