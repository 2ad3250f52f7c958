//! The tree as a graph in the languages of Graphviz and Mermaid (`tree --format dot|mermaid`). What a node
//! says is decided here; `dot` and `mermaid` only write and escape it. A straight run is one node with
//! a count, so that long sessions stay readable.

use self::node::{GraphNode, NodeShape};
use super::entry::{ShortIds, speaker};
use super::escape;
use super::screen::Screen;
use super::tree::omitted;
use crate::core::entry::Kind;
use crate::core::session::{NodeId, Session};
use crate::core::tree::rows::Rows;
use crate::core::tree::shape::{Run, Shape};
use crate::core::words::counted;

mod dot;
mod mermaid;
mod node;

/// The most columns of a line in a node.
const LINE: usize = 44;

/// The most arrows that Mermaid draws with its default settings, as on GitHub.
pub(crate) const MERMAID_ARROWS: usize = 500;
/// The most characters that Mermaid reads with its default settings.
pub(crate) const MERMAID_CHARACTERS: usize = 50_000;

/// The language of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GraphFormat {
    /// Graphviz.
    Dot,
    /// Mermaid, as Markdown shows it.
    Mermaid,
}

/// A graph that is drawn node by node, so that its text is never in memory whole.
#[derive(Debug)]
pub(crate) struct Graph<'s> {
    form: GraphFormat,
    session: &'s Session,
    shape: &'s Shape,
    rows: &'s Rows,
    runs: &'s [Run],
    screen: &'s Screen,
    ids: ShortIds<'s>,
}

impl<'s> Graph<'s> {
    /// Prepares to draw.
    pub(crate) fn new(
        form: GraphFormat,
        session: &'s Session,
        (shape, rows, runs): (&'s Shape, &'s Rows, &'s [Run]),
        screen: &'s Screen,
    ) -> Self {
        Self { form, session, shape, rows, runs, screen, ids: ShortIds::new(session) }
    }

    /// Draws what is before the nodes.
    pub(crate) fn head(&self, name: &str) -> String {
        match self.form {
            GraphFormat::Dot => dot::head(&self.line(name)),
            GraphFormat::Mermaid => mermaid::head(),
        }
    }

    /// Returns the entry whose words a node shows; for a run, its first user message.
    pub(crate) fn speaks(&self, at: usize) -> Option<NodeId> {
        let nodes = &self.shape.nodes[self.runs[at].rows.clone()];
        match nodes {
            [node] => Some(*node),
            _ => nodes.iter().copied().find(|&node| self.session.is_user(node)),
        }
    }

    /// Draws a node and the line to it; `words` are those of the entry that [`Self::speaks`].
    pub(crate) fn draw_node(&self, at: usize, words: Option<&str>) -> String {
        let node = self.node(at, words);
        match self.form {
            GraphFormat::Dot => dot::node(&node),
            GraphFormat::Mermaid => mermaid::node(&node),
        }
    }

    /// Draws what is after the nodes.
    pub(crate) fn foot(&self) -> String {
        match self.form {
            GraphFormat::Dot => dot::foot(),
            GraphFormat::Mermaid => {
                let nodes = (0..self.runs.len()).map(|at| self.node(at, None));
                mermaid::foot(nodes)
            }
        }
    }

    fn node(&self, at: usize, words: Option<&str>) -> GraphNode<'s> {
        let Run { rows, above } = &self.runs[at];
        let row = rows.start;
        let node = self.shape.nodes[row];
        let has_leaf = self.rows.leaf.is_some_and(|(leaf, _)| rows.contains(&leaf));
        let look = match self.session.traits(node).kind {
            _ if rows.len() > 1 => NodeShape::Run,
            Kind::Compaction => NodeShape::Compaction,
            Kind::BranchSummary => NodeShape::Summary,
            _ if self.shape.is_fork(row) => NodeShape::Fork,
            _ if self.shape.is_tip(row) => NodeShape::Tip,
            _ => NodeShape::Entry,
        };
        let mut lines = Vec::new();
        if look == NodeShape::Run {
            lines.push(counted(rows.len(), "entry", "entries"));
        }
        let spoken = self.speaks(at).zip(words).map(|(node, words)| (speaker(self.session.traits(node)), words));
        let label = self.session.label(node).filter(|_| look != NodeShape::Run);
        if let Some((speaker, words)) = spoken {
            let label = label.map(|label| format!("[{}] ", label.name)).unwrap_or_default();
            lines.push(self.line(&format!("{label}{speaker}{words}")));
        }
        if look != NodeShape::Run {
            lines.push(self.facts(row, node));
        }
        GraphNode {
            number: at,
            above: *above,
            look,
            is_active: self.rows.rows[row].is_active,
            has_leaf,
            has_label: label.is_some(),
            id: self.session.id(node),
            lines,
        }
    }

    /// Returns the line below the words: the id, omitted rows, a missing parent, the leaf.
    fn facts(&self, row: usize, node: NodeId) -> String {
        let mut facts = self.line(&self.ids.of(node));
        if let Some(omitted) = omitted(self.shape.omitted(row)) {
            facts.push_str(&format!(" {omitted}"));
        }
        if let Some(missing) = self.session.missing_parent(node) {
            facts.push_str(&format!(" (parent {} missing)", self.line(missing)));
        }
        match self.rows.leaf {
            Some((leaf, 0)) if leaf == row => facts.push_str(" leaf"),
            Some((leaf, hidden)) if leaf == row => facts.push_str(&format!(" leaf (+{hidden} hidden)")),
            _ => {}
        }
        facts
    }

    fn line(&self, text: &str) -> String {
        let text = self.screen.tilde(text);
        self.screen.cut(&escape::line(&text), LINE).into_owned()
    }
}
