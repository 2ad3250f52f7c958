//! The shape of the shown part of a tree: which shown entry is below which, where branches fork and
//! end, and the straight runs between (`tree --branches`, `--depth`, `--format dot`, `json`).
//!
//! Rows are numbered in the order of display, parents before children, so that every question is
//! answered by one pass over flat arrays.

use std::ops::Range;

use crate::core::entry::Kind;
use crate::core::session::{NodeId, Session};

/// "No row" in the flat arrays.
const NONE: u32 = u32::MAX;

/// How many rows of a view are omitted next to a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Those of the straight run directly above it.
    pub above: u32,
    /// Those anywhere below it that are too deep.
    pub below: u32,
}

/// The shown entries, as a tree of rows.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The entries in the order of display.
    pub nodes: Vec<NodeId>,
    /// By row: the row of its nearest shown ancestor.
    above: Vec<u32>,
    /// By row: how many rows are directly below it.
    children: Vec<u32>,
    /// By entry of the session: its row or that of its nearest shown ancestor.
    row_of: Vec<u32>,
    omitted: Vec<Omitted>,
}

/// Consecutive rows without a fork between them; often only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The rows.
    pub rows: Range<usize>,
    /// The run directly above it, by its place among the runs.
    pub above: Option<usize>,
}

impl Shape {
    /// Arranges the entries for which `shows` is true below their nearest shown ancestors. `order` holds
    /// all entries in the order of display.
    pub fn new(session: &Session, order: &[NodeId], shows: impl Fn(NodeId) -> bool) -> Self {
        let mut shape = Self { row_of: vec![NONE; session.len()], ..Self::default() };
        for &node in order {
            let above = session.parent(node).map_or(NONE, |parent| shape.row_of[parent.index()]);
            let is_child = !session.is_mark(node);
            shape.row_of[node.index()] = if shows(node) { shape.push(node, above, is_child) } else { above };
        }
        shape.omitted = vec![Omitted::default(); shape.nodes.len()];
        shape
    }

    fn push(&mut self, node: NodeId, above: u32, is_child: bool) -> u32 {
        let row = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        self.nodes.push(node);
        self.above.push(above);
        // What is nobody's child, a mark, is neither a tip nor a fork.
        self.children.push(u32::from(!is_child));
        if let Some(children) = self.children.get_mut(above as usize).filter(|_| is_child) {
            *children += 1;
        }
        row
    }

    /// Returns the row directly above one; `None` for a root.
    pub fn above(&self, row: usize) -> Option<usize> {
        let above = self.above[row];
        (above != NONE).then_some(above as usize)
    }

    /// Returns the row of an entry or of its nearest shown ancestor.
    pub fn row(&self, node: NodeId) -> Option<usize> {
        let row = self.row_of[node.index()];
        (row != NONE).then_some(row as usize)
    }

    /// Returns whether several rows are directly below one.
    pub fn is_fork(&self, row: usize) -> bool {
        self.children[row] > 1
    }

    /// Returns whether no row is below one.
    pub fn is_tip(&self, row: usize) -> bool {
        self.children[row] == 0
    }

    /// Returns how many rows are omitted next to one.
    pub fn omitted(&self, row: usize) -> Omitted {
        self.omitted[row]
    }

    /// Counts entries as omitted below their nearest rows, and returns how many of them have no row above
    /// them.
    pub fn omit_below(&mut self, nodes: impl Iterator<Item = NodeId>) -> usize {
        let mut rowless = 0;
        for node in nodes {
            match self.row(node) {
                Some(row) => self.omitted[row].below += 1,
                None => rowless += 1,
            }
        }
        rowless
    }

    /// Returns for every row whether a straight run ends at it: it is a branch point or a tip, has a label
    /// or the leaf, or rows below it are omitted.
    pub fn landmarks(&self, session: &Session, leaf: Option<NodeId>) -> Vec<bool> {
        let leaf = leaf.and_then(|leaf| self.row(leaf));
        let is_landmark = |(row, &node): (usize, &NodeId)| {
            self.children[row] != 1 || session.label(node).is_some() || leaf == Some(row) || self.omitted[row].below > 0
        };
        self.nodes.iter().enumerate().map(is_landmark).collect()
    }

    /// Returns for every row whether a graph draws it as a node of its own: a landmark, a root, a
    /// compaction or a branch summary.
    pub fn graph_landmarks(&self, session: &Session, leaf: Option<NodeId>) -> Vec<bool> {
        let mut landmarks = self.landmarks(session, leaf);
        for (row, &node) in self.nodes.iter().enumerate() {
            let is_summary = matches!(session.traits(node).kind, Kind::Compaction | Kind::BranchSummary);
            landmarks[row] |= is_summary || self.above(row).is_none() || session.is_mark(node);
        }
        landmarks
    }

    /// Returns a shape of only the rows in `kept`, which must include all landmarks, with the others
    /// counted as omitted.
    pub fn folded(&self, kept: &[bool]) -> Self {
        let mut folded = Self::default();
        // By row: the kept one at or above it, and how many rows are omitted down to it.
        let mut nearest: Vec<(u32, u32)> = Vec::with_capacity(self.nodes.len());
        for (row, &node) in self.nodes.iter().enumerate() {
            let (above, count) = self.above(row).map_or((NONE, 0), |above| nearest[above]);
            if kept[row] {
                nearest.push((folded.push(node, above, true), 0));
                folded.omitted.push(Omitted { above: count, ..self.omitted[row] });
            } else {
                nearest.push((above, count + 1));
            }
        }
        let row_of = |&row: &u32| nearest.get(row as usize).map_or(NONE, |(row, _)| *row);
        folded.row_of = self.row_of.iter().map(row_of).collect();
        folded
    }

    /// Groups the rows into runs: a row in `kept` is a run of its own, another one joins the row above it
    /// unless that is kept or a fork.
    pub fn runs(&self, kept: &[bool]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut run_of: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for row in 0..self.nodes.len() {
            let above = self.above(row).map(|above| run_of[above]);
            // In the order of display an only child is directly after its parent.
            let goes_on = |above: usize| !kept[row] && !kept[row - 1] && above + 1 == runs.len();
            match above.filter(|&above| self.above(row) == row.checked_sub(1) && goes_on(above)) {
                Some(above) if !self.is_fork(row - 1) => {
                    runs[above].rows.end += 1;
                    run_of.push(above);
                }
                _ => {
                    run_of.push(runs.len());
                    runs.push(Run { rows: row..row + 1, above });
                }
            }
        }
        runs
    }
}
