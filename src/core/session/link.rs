//! Links the entries of a session to a tree by the parents that they name (help rules, "Reading"). Must never
//! recurse: a branch may be as long as the file.

use super::{NONE, Node, NodeId, Session};
use crate::core::error::problem::WarningKind;
use crate::core::read::load::{PlacingLine, StrRef};

impl Session {
    /// Sets the parent of each entry. Version 1 is a plain list.
    pub(super) fn link(&mut self, parents: &[StrRef], placings: &[PlacingLine]) {
        if self.version == 1 {
            for at in 1..self.nodes.len() {
                self.nodes[at].parent = NodeId::at(at - 1).0;
            }
            return;
        }
        // From the first entry on that says where the leaf is, what an entry hangs at depends on that.
        let stored = placings.first().map_or(parents.len(), |line| line.entry as usize);
        for (at, &name) in parents[..stored].iter().enumerate() {
            self.link_by_name(at, name);
        }
        if stored < parents.len() {
            self.link_by_leaf(parents, placings);
        }
    }

    /// Returns the entry that another one names as its parent.
    pub(super) fn named(&self, at: usize, name: StrRef) -> Option<NodeId> {
        let is_before = |before: &Node| before.part == self.nodes[at].part && before.id == name;
        if at > 0 && is_before(&self.nodes[at - 1]) {
            return Some(NodeId::at(at - 1));
        }
        self.find(name.of(&self.texts[self.nodes[at].part as usize]))
    }

    /// Sets the parent of an entry to the one that it names, wherever that is.
    pub(super) fn link_by_name(&mut self, at: usize, name: StrRef) {
        if name.is_absent() {
            return;
        }
        let node = NodeId::at(at);
        let line = Some(self.nodes[at].line);
        match self.named(at, name) {
            Some(parent) if parent == node => {
                let message = format!("`{}` is its own parent; shown as a root", self.id(node));
                self.problems.push(WarningKind::Cycle, line, || message);
                self.cut.push(node);
            }
            Some(parent) => self.nodes[at].parent = parent.0,
            // It hangs at the session itself: nothing is above it.
            None if name.of(&self.texts[self.nodes[at].part as usize]) == self.header.id => {}
            None => {
                let parent = name.of(&self.texts[self.nodes[at].part as usize]);
                let message = format!("parent `{parent}` of `{}` is missing; shown as a root", self.id(node));
                self.problems.push(WarningKind::Orphan, line, || message);
                self.missing.push((node, name));
            }
        }
    }

    /// Makes the first entry of every cycle a root.
    pub(super) fn break_cycles(&mut self) {
        // If every parent is before its children there are no cycles.
        if self.nodes().all(|node| self.parent(node).is_none_or(|parent| parent < node)) {
            return;
        }
        // The number of the walk that passed the entry, from 1; 0 if none did.
        let mut seen = vec![0_u32; self.nodes.len()];
        for from in self.nodes() {
            let walk = from.0.saturating_add(1);
            let mut at = Some(from);
            while let Some(node) = at
                && seen[node.index()] == 0
            {
                seen[node.index()] = walk;
                at = self.parent(node);
            }
            let Some(entered) = at.filter(|node| seen[node.index()] == walk) else { continue };
            let mut first = entered;
            let mut node = entered;
            while let Some(parent) = self.parent(node)
                && parent != entered
            {
                first = first.min(parent);
                node = parent;
            }
            let message = format!("`{}` is its own ancestor; the loop is cut above it", self.id(first));
            self.problems.push(WarningKind::Cycle, Some(self.line(first)), || message);
            self.nodes[first.index()].parent = NONE;
            self.cut.push(first);
        }
        self.cut.sort_unstable();
    }

    pub(super) fn order_children(&mut self) {
        let mut starts = vec![0_u32; self.nodes.len() + 1];
        let is_mark = |node: &NodeId| self.is_mark(*node);
        for parent in self.nodes().filter(|node| !is_mark(node)).filter_map(|node| self.parent(node)) {
            starts[parent.index() + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![NodeId(NONE); starts[self.nodes.len()] as usize];
        let mut roots = Vec::new();
        for node in self.nodes().filter(|node| !is_mark(node)) {
            match self.parent(node) {
                Some(parent) => {
                    let place = &mut next[parent.index()];
                    children[*place as usize] = node;
                    *place += 1;
                }
                None => roots.push(node),
            }
        }
        let age = |node: &NodeId| self.nodes[node.index()].stamp.ms().unwrap_or(i64::MAX);
        for family in starts.windows(2).filter(|family| family[1] - family[0] > 1) {
            // Stable: equal times stay in the order of the file.
            children[family[0] as usize..family[1] as usize].sort_by_key(age);
        }
        self.roots = roots;
        self.first_child = starts;
        self.children = children;
    }
}
