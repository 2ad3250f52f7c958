//! What is needed to find many entries by name: one name is found by looking through the entries, which
//! takes as long for each further one; the index answers all others at once.

use std::cell::{Cell, OnceCell};

use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// How many times all entries are looked through before they are sorted instead.
const LOOKS: usize = 8;

/// Finds entries by the starts of their ids, by numbers of prompts, and by steps up.
#[derive(Debug)]
pub(super) struct NameIndex<'s> {
    session: &'s Session,
    leaf: Option<NodeId>,
    /// How many entries were looked at.
    looked_at: Cell<usize>,
    by_id: OnceCell<Vec<NodeId>>,
    /// The prompts on the path to the leaf, the last one first.
    prompts: OnceCell<Vec<NodeId>>,
    ancestry: OnceCell<Ancestry>,
}

impl<'s> NameIndex<'s> {
    /// Starts with nothing.
    pub(super) fn new(session: &'s Session, leaf: Option<NodeId>) -> Self {
        let (by_id, prompts, ancestry) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { session, leaf, looked_at: Cell::new(0), by_id, prompts, ancestry }
    }

    /// Counts entries that are looked at, and returns whether there were too many to go on like that.
    fn looks_too_long(&self, count: usize) -> bool {
        self.looked_at.set(self.looked_at.get().saturating_add(count));
        self.looked_at.get() > self.session.len().saturating_mul(LOOKS)
    }

    /// Returns the entries whose ids start with something, in the order of the file.
    pub(super) fn starting(&self, start: &str) -> Vec<NodeId> {
        let session = self.session;
        if self.by_id.get().is_none() && !self.looks_too_long(session.len()) {
            return session.nodes().filter(|&node| session.id(node).starts_with(start)).collect();
        }
        let by_id = self.by_id.get_or_init(|| {
            let mut nodes: Vec<_> = session.nodes().collect();
            nodes.sort_unstable_by(|&a, &b| session.id(a).cmp(session.id(b)));
            nodes
        });
        let from = by_id.partition_point(|&node| session.id(node) < start);
        let mut found: Vec<_> =
            by_id[from..].iter().copied().take_while(|&node| session.id(node).starts_with(start)).collect();
        found.sort_unstable();
        found
    }

    /// Returns a prompt on the path to the leaf; the last one has the number 0.
    pub(super) fn prompt(&self, number: usize) -> Option<NodeId> {
        let session = self.session;
        let prompts = || session.ancestors(self.leaf).filter(|&node| session.is_user(node)).collect();
        self.prompts.get_or_init(prompts).get(number).copied()
    }

    /// Returns the entry that is some steps above one.
    pub(super) fn above(&self, node: NodeId, steps: usize) -> Option<NodeId> {
        if self.ancestry.get().is_none() && !self.looks_too_long(steps.min(self.session.len())) {
            return self.session.ancestors(node).nth(steps);
        }
        self.ancestry.get_or_init(|| Ancestry::new(self.session)).above(self.session, node, steps)
    }
}

/// Leads from every entry to one far above it, so that any ancestor is reached in few steps.
#[derive(Debug)]
struct Ancestry {
    depths: Vec<u32>,
    /// By entry: one above it; itself for a root. How far it is follows Myers' skew-binary lists, so that the
    /// number of steps to any ancestor is logarithmic in the depth.
    far: Vec<NodeId>,
}

impl Ancestry {
    fn new(session: &Session) -> Self {
        let order = walk::display_order(session, None);
        let depths = walk::depths(session, &order);
        let mut far: Vec<_> = session.nodes().collect();
        for node in order {
            let Some(parent) = session.parent(node) else { continue };
            let depth = |node: NodeId| depths[node.index()];
            let (once, twice) = (far[parent.index()], far[far[parent.index()].index()]);
            let is_as_far = depth(parent) - depth(once) == depth(once) - depth(twice);
            far[node.index()] = if is_as_far { twice } else { parent };
        }
        Self { depths, far }
    }

    fn above(&self, session: &Session, mut node: NodeId, steps: usize) -> Option<NodeId> {
        let depth = self.depths[node.index()].checked_sub(u32::try_from(steps).ok()?)?;
        while self.depths[node.index()] > depth {
            let far = self.far[node.index()];
            node = if self.depths[far.index()] < depth { session.parent(node)? } else { far };
        }
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::{LOOKS, NameIndex};
    use crate::core::session::sample::{message, session};

    /// Checks that what is found by the index is what is found by looking, on a chain with twigs.
    #[test]
    fn the_index_finds_what_looking_finds() {
        let line = |at: usize| {
            let parent = match at {
                0 => String::new(),
                _ if at % 7 == 3 => format!("{:03}x", at / 2),
                _ => format!("{:03}x", at - 1),
            };
            message(&format!("{at:03}x"), &parent, if at.is_multiple_of(3) { "user" } else { "assistant" }, "words")
        };
        let session = session(&(0..200).map(line).collect::<Vec<_>>());
        let used = NameIndex::new(&session, session.leaf());
        assert!(used.looks_too_long(session.len() * LOOKS + 1));
        for node in session.nodes() {
            let fresh = || NameIndex::new(&session, session.leaf());
            for start in [session.id(node), &session.id(node)[..3], &session.id(node)[..1], "9", "x"] {
                assert_eq!(used.starting(start), fresh().starting(start), "{start}");
            }
            for steps in (0..12).chain([50, 100, 199, 200, usize::MAX]) {
                assert_eq!(used.above(node, steps), session.ancestors(node).nth(steps), "{node:?}~{steps}");
                assert_eq!(fresh().above(node, steps), session.ancestors(node).nth(steps));
            }
        }
        assert!(used.by_id.get().is_some() && used.ancestry.get().is_some());
        let prompts: Vec<_> = (0..).map_while(|number| used.prompt(number)).collect();
        let expected: Vec<_> = session.ancestors(session.leaf()).filter(|&node| session.is_user(node)).collect();
        assert_eq!(prompts, expected);
    }

    /// Checks that no entry takes many steps up: in a chain of 4096 at most twice the logarithm.
    #[test]
    fn any_ancestor_is_near() {
        let line = |at: usize| {
            let parent = at.checked_sub(1).map_or(String::new(), |parent| format!("{parent:04}"));
            message(&format!("{at:04}"), &parent, "user", "words")
        };
        let session = session(&(0..4096).map(line).collect::<Vec<_>>());
        let ancestry = super::Ancestry::new(&session);
        for from in session.nodes().rev().step_by(37) {
            let mut steps = 0;
            let mut at = from;
            while session.parent(at).is_some() {
                at = ancestry.far[at.index()];
                steps += 1;
            }
            assert!(steps <= 24, "{steps} steps from {from:?}");
        }
    }
}
