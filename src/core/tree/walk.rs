//! Walks over all entries of a session, whether a view shows them or not: paths, the order of display,
//! tips. All of them are loops that visit each entry once; none may recurse.

use std::cmp::Reverse;

use crate::core::entry::Kind;
use crate::core::session::{NodeId, Session};

/// Returns the path from a root to an entry, both included; empty for the null leaf.
pub fn path(session: &Session, leaf: Option<NodeId>) -> Vec<NodeId> {
    let mut path: Vec<_> = session.ancestors(leaf).collect();
    path.reverse();
    path
}

/// Returns for every entry whether it is on the path to the leaf.
pub fn active(session: &Session, leaf: Option<NodeId>) -> Vec<bool> {
    let mut active = vec![false; session.len()];
    for node in session.ancestors(leaf) {
        active[node.index()] = true;
    }
    active
}

/// Returns all entries in the order of display: parents before children, the active branch first at
/// every fork, other children oldest first.
pub fn display_order(session: &Session, leaf: Option<NodeId>) -> Vec<NodeId> {
    let active = &active(session, leaf)[..];
    let mut order = Vec::with_capacity(session.len());
    order.extend(session.marks(None));
    let mut stack = Vec::new();
    push_family(&mut stack, session.roots(), active);
    while let Some(node) = stack.pop() {
        order.push(node);
        order.extend(session.marks(Some(node)));
        push_family(&mut stack, session.children(node), active);
    }
    order
}

/// Pushes siblings so that they come off in the order of display.
fn push_family(stack: &mut Vec<NodeId>, family: &[NodeId], active: &[bool]) {
    let is_active = |node: &&NodeId| active[node.index()];
    stack.extend(family.iter().rev().filter(|node| !is_active(node)));
    stack.extend(family.iter().rev().filter(is_active));
}

/// Returns the distance of every entry from its root.
pub fn depths(session: &Session, order: &[NodeId]) -> Vec<u32> {
    let mut depths = vec![0; session.len()];
    for &node in order {
        if let Some(parent) = session.parent(node) {
            depths[node.index()] = depths[parent.index()] + 1;
        }
    }
    depths
}

/// The range of each entry's descendants, which follow it directly in the order of display: whether one
/// entry is above another is known without a walk.
pub(crate) struct Subtrees {
    place: Vec<u32>,
    /// One past the place of the last descendant.
    end: Vec<u32>,
}

impl Subtrees {
    /// Finds the ranges.
    pub(crate) fn new(session: &Session) -> Self {
        let order = display_order(session, None);
        let mut place = vec![0; order.len()];
        let mut end = vec![0; order.len()];
        for (&node, at) in order.iter().zip(0_u32..) {
            place[node.index()] = at;
            end[node.index()] = at + 1;
        }
        for &node in order.iter().rev() {
            if let Some(parent) = session.parent(node) {
                end[parent.index()] = end[parent.index()].max(end[node.index()]);
            }
        }
        Self { place, end }
    }

    /// Returns whether an entry is above another one.
    pub(crate) fn is_above(&self, ancestor: NodeId, node: NodeId) -> bool {
        let place = self.place[node.index()];
        self.place[ancestor.index()] < place && place < self.end[ancestor.index()]
    }

    /// Returns how many entries are below an entry, itself included.
    pub(crate) fn size(&self, node: NodeId) -> usize {
        (self.end[node.index()] - self.place[node.index()]) as usize
    }
}

/// Returns the tips of the branches, in the order of the file: entries without children whose branch has
/// a message of its own. A fork of bookkeeping entries alone is one branch: its tip is the file's leaf,
/// else its last entry in the file.
pub fn tips(session: &Session) -> Vec<NodeId> {
    // By entry: the last message on the path to it, itself included, and whether messages follow it.
    let mut last: Vec<Option<NodeId>> = vec![None; session.len()];
    let mut goes_on = vec![false; session.len()];
    for node in display_order(session, None) {
        let above = session.parent(node).and_then(|parent| last[parent.index()]);
        let is_message = session.traits(node).kind == Kind::Message;
        if let Some(above) = above.filter(|_| is_message) {
            goes_on[above.index()] = true;
        }
        last[node.index()] = if is_message { Some(node) } else { above };
    }
    let mut tip_of: Vec<Option<NodeId>> = vec![None; session.len()];
    for tip in session.nodes().filter(|&node| session.children(node).is_empty() && !session.is_mark(node)) {
        let end = last[tip.index()].filter(|end| !goes_on[end.index()]);
        let Some(place) = end.map(|end| &mut tip_of[end.index()]) else { continue };
        if place.is_none() || *place != session.leaf() {
            *place = Some(tip);
        }
    }
    let mut tips: Vec<_> = tip_of.into_iter().flatten().collect();
    tips.sort_unstable();
    tips
}

/// Returns the last entry of the conversation on the path to an entry, which may be that entry itself.
pub(crate) fn conversation(session: &Session, node: NodeId) -> Option<NodeId> {
    let mut path = session.ancestors(node);
    path.find(|&node| session.traits(node).kind.is_conversation())
}

/// Returns a sort key for tips: the newest `last` first, unknown times last; of equal times the tip that
/// is later in the file first.
pub(crate) fn newest_first(session: &Session, last: NodeId, tip: NodeId) -> Reverse<(Option<i64>, NodeId)> {
    Reverse((session.stamp(last).ms(), tip))
}
