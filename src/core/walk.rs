//! Ways through the tree. All of them are loops, and each entry is visited once.

use std::cmp::Reverse;

use super::entry::Kind;
use super::session::{NodeId, Session};

/// Gives the path from a root to an entry, both included; empty for the null leaf.
pub fn path(session: &Session, leaf: Option<NodeId>) -> Vec<NodeId> {
    let mut path: Vec<_> = std::iter::successors(leaf, |&node| session.parent(node)).collect();
    path.reverse();
    path
}

/// Tells of every entry whether it is on the path to the leaf.
pub fn active(session: &Session, leaf: Option<NodeId>) -> Vec<bool> {
    let mut active = vec![false; session.len()];
    for node in std::iter::successors(leaf, |&node| session.parent(node)) {
        active[node.index()] = true;
    }
    active
}

/// Gives all entries in the order of display: parents before children, the active branch first at
/// every fork, other children oldest first.
pub fn display_order(session: &Session, leaf: Option<NodeId>) -> Vec<NodeId> {
    let active = &active(session, leaf)[..];
    let mut order = Vec::with_capacity(session.len());
    let mut stack = Vec::new();
    push_family(&mut stack, session.roots(), active);
    while let Some(node) = stack.pop() {
        order.push(node);
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

/// Gives the distance of every entry from its root.
pub fn depths(session: &Session, order: &[NodeId]) -> Vec<u32> {
    let mut depths = vec![0; session.len()];
    for &node in order {
        if let Some(parent) = session.parent(node) {
            depths[node.index()] = depths[parent.index()] + 1;
        }
    }
    depths
}

/// Gives the tips of the branches: entries without children whose branch, from the last fork on,
/// has a message of its own.
pub fn tips(session: &Session) -> Vec<NodeId> {
    let is_fork = |node: NodeId| session.children(node).len() > 1;
    let tips = session.nodes().filter(|&node| session.children(node).is_empty());
    tips.filter(|&tip| {
        let mut own = std::iter::successors(Some(tip), |&node| session.parent(node).filter(|&parent| !is_fork(parent)));
        own.any(|node| session.traits(node).kind == Kind::Message)
    })
    .collect()
}

/// Gives the nearest part of the conversation on the path to an entry, the entry itself included.
pub fn conversation(session: &Session, node: NodeId) -> Option<NodeId> {
    let mut path = std::iter::successors(Some(node), |&node| session.parent(node));
    path.find(|&node| session.traits(node).kind.is_conversation())
}

/// Gives where a conversation can go on: the tips of all branches and the file's leaf, the one
/// with the newest conversation first, each with the last part of its conversation.
pub fn newest_tips(session: &Session) -> Vec<(NodeId, NodeId)> {
    let mut nodes = tips(session);
    if let Some(leaf) = session.leaf().filter(|leaf| !nodes.contains(leaf)) {
        nodes.push(leaf);
    }
    // The branch of each tip has a message of its own: no stretch of a path is walked twice.
    let talk = |node: NodeId| (node, conversation(session, node).unwrap_or(node));
    let mut tips: Vec<_> = nodes.into_iter().map(talk).collect();
    tips.sort_by_key(|&(node, talk)| newest_first(session, talk, node));
    tips
}

/// Gives what sorts the tips of branches: by the time of `last`, unknown times last; of equal ones
/// the tip that is later in the file comes first.
pub fn newest_first(session: &Session, last: NodeId, tip: NodeId) -> Reverse<(Option<i64>, NodeId)> {
    Reverse((session.stamp(last).ms(), tip))
}
