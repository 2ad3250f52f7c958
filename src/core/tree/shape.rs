//! The shape of the shown part of a tree: what hangs below what, where it forks and ends, and
//! what lies in straight runs between (cli: `tree --branches`, `--tips`, `--depth`, `--format dot`).

use std::ops::Range;

use super::walk;
use crate::core::entry::Kind;
use crate::core::session::{NodeId, Session};

/// Stands for "no row" in the flat arrays.
const NONE: u32 = u32::MAX;

/// How many rows of a view are left out around one that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// In the straight run right above it.
    pub above: u32,
    /// Anywhere below it, since they are too deep.
    pub below: u32,
}

/// The shown entries as rows of a tree of their own.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The entries in the order of display.
    pub nodes: Vec<NodeId>,
    /// Of every row the one of its nearest shown ancestor.
    above: Vec<u32>,
    /// Of every row how many hang right below it.
    children: Vec<u32>,
    /// Of every entry of the session the row of itself or of its nearest shown ancestor.
    row_of: Vec<u32>,
    left_out: Vec<LeftOut>,
}

/// The end of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// Its last shown entry.
    pub node: NodeId,
    /// The nearest branch point above; `None` if the branch starts at a root.
    pub fork: Option<NodeId>,
    /// How many messages are shown between the two, the tip included.
    pub messages: usize,
    /// The first user message between the two, else the tip.
    pub first: NodeId,
    /// Whether the leaf is there, or hidden below.
    pub has_leaf: bool,
}

/// A row of its own, or several that follow each other without a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knot {
    /// The rows.
    pub rows: Range<usize>,
    /// The knot that it hangs below.
    pub above: Option<usize>,
}

impl Shape {
    /// Hangs the entries that `shows` lets through below their nearest shown ancestors. `order` is
    /// the order of display of all entries.
    pub fn new(session: &Session, order: &[NodeId], shows: impl Fn(NodeId) -> bool) -> Self {
        let mut shape = Self {
            nodes: Vec::new(),
            above: Vec::new(),
            children: Vec::new(),
            row_of: vec![NONE; session.len()],
            left_out: Vec::new(),
        };
        for &node in order {
            let above = session.parent(node).map_or(NONE, |parent| shape.row_of[parent.index()]);
            shape.row_of[node.index()] = if shows(node) { shape.push(node, above) } else { above };
        }
        shape.left_out = vec![LeftOut::default(); shape.nodes.len()];
        shape
    }

    fn push(&mut self, node: NodeId, above: u32) -> u32 {
        let row = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(node);
        self.above.push(above);
        self.children.push(0);
        if let Some(children) = self.children.get_mut(above as usize) {
            *children += 1;
        }
        row
    }

    /// Gives the row that one hangs below; `None` for the first of its tree.
    pub fn above(&self, row: usize) -> Option<usize> {
        let above = self.above[row];
        (above != NONE).then_some(above as usize)
    }

    /// Gives the row of an entry or of its nearest shown ancestor.
    pub fn row(&self, node: NodeId) -> Option<usize> {
        let row = self.row_of[node.index()];
        (row != NONE).then_some(row as usize)
    }

    /// Tells whether several rows hang right below one.
    pub fn is_fork(&self, row: usize) -> bool {
        self.children[row] > 1
    }

    /// Tells whether nothing hangs below a row.
    pub fn is_tip(&self, row: usize) -> bool {
        self.children[row] == 0
    }

    /// Tells how much is left out around a row.
    pub fn left_out(&self, row: usize) -> LeftOut {
        self.left_out[row]
    }

    /// Notes entries that are not shown since they are too deep; gives how many of them have no row
    /// above them that could tell.
    pub fn note_below(&mut self, nodes: impl Iterator<Item = NodeId>) -> usize {
        let mut untold = 0;
        for node in nodes {
            match self.row(node) {
                Some(row) => self.left_out[row].below += 1,
                None => untold += 1,
            }
        }
        untold
    }

    /// Tells of every row whether a straight run ends at it: it is a branch point or a tip, has a
    /// label or the leaf, or something below it is left out.
    pub fn landmarks(&self, session: &Session, leaf: Option<NodeId>) -> Vec<bool> {
        let leaf = leaf.and_then(|leaf| self.row(leaf));
        let is_landmark = |(row, &node): (usize, &NodeId)| {
            self.children[row] != 1
                || session.label(node).is_some()
                || leaf == Some(row)
                || self.left_out[row].below > 0
        };
        self.nodes.iter().enumerate().map(is_landmark).collect()
    }

    /// Tells of every row whether a picture shows it by itself: a landmark, the first of its tree,
    /// or what stands for other entries.
    pub fn sights(&self, session: &Session, leaf: Option<NodeId>) -> Vec<bool> {
        let mut sights = self.landmarks(session, leaf);
        for (row, &node) in self.nodes.iter().enumerate() {
            let stands_for_others = matches!(session.traits(node).kind, Kind::Compaction | Kind::BranchSummary);
            sights[row] |= stands_for_others || self.above(row).is_none();
        }
        sights
    }

    /// Leaves only some rows, which must be landmarks or more, and counts the others.
    pub fn folded(&self, kept: &[bool]) -> Self {
        let mut folded = Self {
            nodes: Vec::new(),
            above: Vec::new(),
            children: Vec::new(),
            row_of: Vec::new(),
            left_out: Vec::new(),
        };
        // Of every row the kept one at or above it, and how many are left out down to it.
        let mut nearest: Vec<(u32, u32)> = Vec::with_capacity(self.nodes.len());
        for (row, &node) in self.nodes.iter().enumerate() {
            let (above, count) = self.above(row).map_or((NONE, 0), |above| nearest[above]);
            if kept[row] {
                nearest.push((folded.push(node, above), 0));
                folded.left_out.push(LeftOut { above: count, ..self.left_out[row] });
            } else {
                nearest.push((above, count + 1));
            }
        }
        let row_of = |&row: &u32| nearest.get(row as usize).map_or(NONE, |(row, _)| *row);
        folded.row_of = self.row_of.iter().map(row_of).collect();
        folded
    }

    /// Ties rows that are not kept to the one before them, where there is but one way on. Rows
    /// that are kept stay by themselves.
    pub fn knots(&self, kept: &[bool]) -> Vec<Knot> {
        let mut knots: Vec<Knot> = Vec::new();
        let mut knot_of: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for row in 0..self.nodes.len() {
            let above = self.above(row).map(|above| knot_of[above]);
            // An only child comes right behind its parent.
            let goes_on = |above: usize| !kept[row] && !kept[row - 1] && above + 1 == knots.len();
            match above.filter(|&above| self.above(row) == row.checked_sub(1) && goes_on(above)) {
                Some(above) if !self.is_fork(row - 1) => {
                    knots[above].rows.end += 1;
                    knot_of.push(above);
                }
                _ => {
                    knot_of.push(knots.len());
                    knots.push(Knot { rows: row..row + 1, above });
                }
            }
        }
        knots
    }

    /// Gives the ends of all branches, the newest first.
    pub fn tips(&self, session: &Session, leaf: Option<NodeId>) -> Vec<Tip> {
        let leaf = leaf.and_then(|leaf| self.row(leaf));
        // Of every row what lies between it and the nearest branch point above.
        let mut runs: Vec<Run> = Vec::with_capacity(self.nodes.len());
        let mut tips = Vec::new();
        for (row, &node) in self.nodes.iter().enumerate() {
            let mut run = match self.above(row) {
                Some(above) if self.is_fork(above) => Run { fork: Some(self.nodes[above]), ..Run::default() },
                Some(above) => runs[above],
                None => Run::default(),
            };
            run.messages += usize::from(session.traits(node).kind == Kind::Message);
            run.first = run.first.or_else(|| session.is_user(node).then_some(node));
            runs.push(run);
            if self.is_tip(row) {
                let Run { fork, messages, first } = run;
                tips.push(Tip { node, fork, messages, first: first.unwrap_or(node), has_leaf: leaf == Some(row) });
            }
        }
        tips.sort_by_key(|tip| walk::newest_first(session, tip.node, tip.node));
        tips
    }
}

#[derive(Clone, Copy, Default)]
struct Run {
    fork: Option<NodeId>,
    messages: usize,
    first: Option<NodeId>,
}
