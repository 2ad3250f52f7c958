//! A finding with what its words are made of, and what they have in common.

use crate::core::check::finding::RawFinding;
use crate::core::read::inspect::LineNotes;
use crate::core::session::{NodeId, Session};
use crate::core::time;

/// A finding whose words are made.
pub(super) struct Wording<'w> {
    pub(super) finding: &'w RawFinding,
    pub(super) notes: &'w LineNotes,
    pub(super) session: &'w Session,
}

impl Wording<'_> {
    /// Returns the id of the finding's entry.
    pub(super) fn own(&self) -> &str {
        self.finding.node.map_or("", |node| self.session.id(node))
    }

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
        let from = self.session.nodes.partition_point(|node| node.line < self.finding.line);
        let before = (0..from).rev().take(64).filter_map(|at| self.session.stamp(NodeId(u32::try_from(at).ok()?)).ms());
        time::iso(before.into_iter().next().or(self.session.header.stamp.ms()).unwrap_or(0))
    }
}
