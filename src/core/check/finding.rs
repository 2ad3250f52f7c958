//! One finding: as it is kept while a file is checked, and in words. `super::describe` makes the one of the
//! other.

use super::codes::Code;
use super::path::Continuation;
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::header::HeaderFault;
use crate::core::read::inspect::Oddity;
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
    /// What is odd about the line.
    Odd(Oddity),
    /// Where the path goes on above a cut.
    Above(Continuation),
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
    /// Why a file is not a session.
    NoHeader(HeaderFault),
    /// What is odd about the header.
    Header(OddHeader),
}

/// What can be odd about the header of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OddHeader {
    /// Its version is none, and agents take it for 3.
    Version,
    /// Its id cannot be a part of the name of a file.
    Id,
    /// It does not say which folder it belongs to.
    Cwd,
    /// Its time cannot be read.
    Timestamp,
}

impl RawFinding {
    pub(super) fn new(code: Code, line: u32, node: Option<NodeId>, detail: Detail) -> Self {
        Self { code, line, node, detail, unreachable: None }
    }

    /// Makes a finding about an entry.
    pub(super) fn of(session: &Session, code: Code, node: NodeId, detail: Detail) -> Self {
        Self::new(code, session.line(node), Some(node), detail)
    }

    /// Returns the finding with how many entries agents lose because of it.
    pub(super) fn losing(self, entries: usize) -> Self {
        Self { unreachable: Some(u32::try_from(entries).unwrap_or(u32::MAX)), ..self }
    }
}
