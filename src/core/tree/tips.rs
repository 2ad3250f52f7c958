//! The ends of the branches of a session (`tree --tips`, `check --why-leaf`): they are those of the whole
//! tree, whatever a view shows of it. Which of them a view lists is up to [`super::view`].

use super::walk;
use crate::core::entry::Kind;
use crate::core::session::{NodeId, Session};

/// The end of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// The last entry of its conversation; what follows it are only settings and marks.
    pub node: NodeId,
    /// The last entry of all, where agents would resume.
    pub end: NodeId,
    /// The nearest entry above at which other branches go off; `None` if there is none.
    pub fork: Option<NodeId>,
    /// How many messages the branch has of its own, below the fork.
    pub messages: usize,
    /// Its first user message of its own; else [`Self::node`].
    pub first: NodeId,
    /// Whether the leaf is at the tip, or among what follows it.
    pub has_leaf: bool,
}

/// What is between an entry and the nearest fork above it, the entry included.
#[derive(Clone, Copy, Default)]
struct SinceFork {
    fork: Option<NodeId>,
    messages: usize,
    first: Option<NodeId>,
    last: Option<NodeId>,
}

/// Returns the tips of all branches and the file's leaf, the newest first, as seen from `leaf`.
pub fn of(session: &Session, leaf: Option<NodeId>) -> Vec<Tip> {
    let mut ends = walk::tips(session);
    ends.extend(session.leaf().filter(|leaf| ends.binary_search(leaf).is_err()));
    let order = walk::display_order(session, None);
    // By entry: in how many directions from it there are ends; itself is one.
    let mut ways = vec![0_u32; session.len()];
    ends.iter().for_each(|end| ways[end.index()] = 1);
    for &node in order.iter().rev().filter(|node| session.parent(**node).is_some()) {
        if ways[node.index()] > 0 {
            session.parent(node).iter().for_each(|parent| ways[parent.index()] += 1);
        }
    }
    let mut since = vec![SinceFork::default(); session.len()];
    for node in order {
        let mut here = match session.parent(node) {
            Some(parent) if ways[parent.index()] > 1 => SinceFork { fork: Some(parent), ..SinceFork::default() },
            Some(parent) => since[parent.index()],
            None => SinceFork::default(),
        };
        let kind = session.traits(node).kind;
        here.messages += usize::from(kind == Kind::Message);
        here.first = here.first.or_else(|| session.is_user(node).then_some(node));
        here.last = if kind.is_conversation() { Some(node) } else { here.last };
        since[node.index()] = here;
    }
    let tip = |end: NodeId| {
        let SinceFork { fork, messages, first, last } = since[end.index()];
        let node = last.unwrap_or(end);
        let mut rest = session.ancestors(Some(end)).take_while(|&above| above != node);
        let has_leaf = leaf == Some(node) || rest.any(|node| leaf == Some(node));
        Tip { node, end, fork, messages, first: first.unwrap_or(node), has_leaf }
    };
    let mut tips: Vec<_> = ends.into_iter().map(tip).collect();
    tips.sort_by_key(|tip| walk::newest_first(session, tip.node, tip.end));
    tips
}
