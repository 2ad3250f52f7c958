//! The rows of a [`Shape`], with the branches that they belong to. How a row looks is up to `ui`.

use super::follow::{NewRow, RowPlace};
use super::shape::{Omitted, Shape};
use super::walk;
use crate::core::session::{NodeId, Session};

/// Rows from one fork to the next. A branch starts at a row that has siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The branch that it forks from; `None` for one that starts at a root.
    pub from: Option<usize>,
    /// The row that its first row is below; `None` for a root.
    pub below: Option<NodeId>,
    /// Its place among its siblings, from 1 on.
    pub place: u32,
    /// How many they are, itself included.
    pub siblings: u32,
}

impl Branch {
    /// Returns whether no sibling comes after it.
    pub fn is_last(&self) -> bool {
        self.place == self.siblings
    }
}

/// A shown entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The entry.
    pub node: NodeId,
    /// The branch that it belongs to; `None` before the first fork.
    pub branch: Option<usize>,
    /// Whether it is the first row of its branch.
    pub is_head: bool,
    /// Whether it is on the active path.
    pub is_active: bool,
    /// The rows omitted next to it.
    pub omitted: Omitted,
}

/// All rows of a view, ready for display.
#[derive(Debug, Default)]
pub struct Rows {
    /// The rows in the order of display.
    pub rows: Vec<Row>,
    /// Their branches, parents before children.
    pub branches: Vec<Branch>,
    /// The row of the leaf or of its nearest shown ancestor, and how many steps the leaf is below it.
    pub leaf: Option<(usize, usize)>,
    /// Of rows that were appended later: where each is.
    pub(crate) places: Vec<RowPlace>,
}

/// Lays out rows that come after those that were printed, without branches: what came before cannot be drawn anew.
pub(crate) fn appended(session: &Session, leaf: Option<NodeId>, new: &[NewRow]) -> Rows {
    let active = walk::active(session, leaf);
    let row = |&NewRow { node, .. }: &NewRow| Row {
        node,
        branch: None,
        is_head: false,
        is_active: active[node.index()],
        omitted: Omitted::default(),
    };
    let places = new.iter().map(|row| row.place).collect();
    Rows { rows: new.iter().map(row).collect(), places, ..Rows::default() }
}

/// Lays out the rows of a shape.
pub fn of_shape(session: &Session, leaf: Option<NodeId>, shape: &Shape) -> Rows {
    let active = walk::active(session, leaf);
    let shown = &shape.nodes;
    // The number of children of every row, and how many of them were laid out; the place after all rows is
    // for the children of none, the roots.
    let place = |row: usize| shape.above(row).unwrap_or(shown.len());
    let mut families = vec![(0_u32, 0_u32); shown.len() + 1];
    let is_child = |row: &usize| !session.is_mark(shown[*row]);
    for row in (0..shown.len()).filter(is_child) {
        families[place(row)].0 += 1;
    }
    let mut rows: Vec<Row> = Vec::with_capacity(shown.len());
    let mut branches = Vec::new();
    for (at, &node) in shown.iter().enumerate() {
        let (siblings, laid_out) = &mut families[place(at)];
        let from = shape.above(at).and_then(|above| rows[above].branch);
        let is_head = *siblings > 1 && is_child(&at);
        let branch = if is_head {
            *laid_out += 1;
            let below = shape.above(at).map(|above| shown[above]);
            branches.push(Branch { from, below, place: *laid_out, siblings: *siblings });
            Some(branches.len() - 1)
        } else {
            from
        };
        rows.push(Row { node, branch, is_head, is_active: active[node.index()], omitted: shape.omitted(at) });
    }
    let leaf = leaf.and_then(|leaf| {
        let row = shape.row(leaf)?;
        let steps = session.ancestors(leaf);
        Some((row, steps.take_while(|&node| node != shown[row]).count()))
    });
    Rows { rows, branches, leaf, places: Vec::new() }
}
