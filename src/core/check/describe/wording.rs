//! A finding with what its words are made of, and what they have in common.

use crate::core::check::finding::RawFinding;
use crate::core::check::lines;
use crate::core::read::inspect::LineNotes;
use crate::core::session::{NodeId, Session};

/// A finding whose words are made.
pub(super) struct Wording<'w> {
    pub(super) finding: &'w RawFinding,
    pub(super) notes: &'w LineNotes,
    pub(super) session: &'w Session,
    /// The id of the finding's entry; empty if it is about none.
    pub(super) own: &'w str,
}

impl Wording<'_> {
    /// Returns the fix for an entry whose parent was probably another one.
    pub(super) fn set_likely(&self, node: NodeId) -> String {
        let line = self.finding.line;
        format!(
            "if the conversation went on directly from line {}, set `parentId` of line {line} to \"{}\"",
            self.session.line(node),
            self.session.id(node)
        )
    }

    /// Returns the fix for an entry whose parent was probably the entry before it in the file.
    pub(super) fn to_parent_before(&self) -> String {
        match self.finding.node.and_then(|node| node.0.checked_sub(1)) {
            Some(before) => self.set_likely(NodeId(before)),
            None => format!("set `parentId` of line {} to null", self.finding.line),
        }
    }

    /// Returns the time of the nearest entry before the line that has one.
    pub(super) fn time_before(&self) -> String {
        lines::time_before(self.session, self.finding.line)
    }
}
