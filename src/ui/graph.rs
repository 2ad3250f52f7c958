//! A picture of the tree as text for other programs: Graphviz and Mermaid. Straight runs are one
//! node with a count, so that long sessions stay readable.

use std::borrow::Cow;

use super::entry::{ShortIds, speaker};
use super::escape;
use super::screen::Screen;
use super::tree::left_out;
use crate::core::entry::Kind;
use crate::core::session::{NodeId, Session};
use crate::core::tree::rows::Rows;
use crate::core::tree::shape::{Knot, Shape};
use crate::core::words::counted;

mod dot;
mod mermaid;

/// The most columns of a line in a node.
const LINE: usize = 44;

/// The most arrows that Mermaid draws where nobody has configured it, as on GitHub.
pub const MERMAID_ARROWS: usize = 500;
/// The most characters that it reads there.
pub const MERMAID_CHARACTERS: usize = 50_000;

/// The languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Graphviz.
    Dot,
    /// Mermaid, as Markdown shows it.
    Mermaid,
}

/// How a node looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Entry,
    Fork,
    Tip,
    Run,
    Compaction,
    Summary,
}

/// A node, ready to be written.
#[derive(Debug)]
struct Node<'a> {
    number: usize,
    above: Option<usize>,
    look: Look,
    is_active: bool,
    has_leaf: bool,
    has_label: bool,
    /// The entry's id; of a run the first one's.
    id: &'a str,
    /// Safe for terminals, not yet for the language.
    lines: Vec<String>,
}

/// A tree that is drawn in pieces, so that its text never stands in memory whole.
#[derive(Debug)]
pub struct Graph<'s> {
    form: Form,
    session: &'s Session,
    shape: &'s Shape,
    rows: &'s Rows,
    knots: &'s [Knot],
    screen: &'s Screen,
    ids: ShortIds<'s>,
}

impl<'s> Graph<'s> {
    /// Prepares to draw.
    pub fn new(
        form: Form,
        session: &'s Session,
        (shape, rows, knots): (&'s Shape, &'s Rows, &'s [Knot]),
        screen: &'s Screen,
    ) -> Self {
        Self { form, session, shape, rows, knots, screen, ids: ShortIds::new(session) }
    }

    /// Draws what stands before the nodes.
    pub fn head(&self, name: &str) -> String {
        match self.form {
            Form::Dot => dot::head(&self.line(name)),
            Form::Mermaid => mermaid::head(),
        }
    }

    /// Gives the entry whose words a node has; for a run it is the first user message.
    pub fn speaks(&self, at: usize) -> Option<NodeId> {
        let nodes = &self.shape.nodes[self.knots[at].rows.clone()];
        match nodes {
            [node] => Some(*node),
            _ => nodes.iter().copied().find(|&node| self.session.is_user(node)),
        }
    }

    /// Draws a node and the line to it; `words` are those of the entry that [`Self::speaks`].
    pub fn knot(&self, at: usize, words: Option<&str>) -> String {
        let node = self.node(at, words);
        match self.form {
            Form::Dot => dot::node(&node),
            Form::Mermaid => mermaid::node(&node),
        }
    }

    /// Draws what stands behind the nodes.
    pub fn foot(&self) -> String {
        match self.form {
            Form::Dot => dot::foot(),
            Form::Mermaid => {
                let nodes = (0..self.knots.len()).map(|at| self.node(at, None));
                mermaid::foot(nodes)
            }
        }
    }

    fn node(&self, at: usize, words: Option<&str>) -> Node<'s> {
        let Knot { rows, above } = &self.knots[at];
        let row = rows.start;
        let node = self.shape.nodes[row];
        let has_leaf = self.rows.leaf.is_some_and(|(leaf, _)| rows.contains(&leaf));
        let look = match self.session.traits(node).kind {
            _ if rows.len() > 1 => Look::Run,
            Kind::Compaction => Look::Compaction,
            Kind::BranchSummary => Look::Summary,
            _ if self.shape.is_fork(row) => Look::Fork,
            _ if self.shape.is_tip(row) => Look::Tip,
            _ => Look::Entry,
        };
        let mut lines = Vec::new();
        if look == Look::Run {
            lines.push(counted(rows.len(), "entry", "entries"));
        }
        let spoken = self.speaks(at).zip(words).map(|(node, words)| (speaker(self.session.traits(node)), words));
        let label = self.session.label(node).filter(|_| look != Look::Run);
        if let Some((speaker, words)) = spoken {
            let label = label.map(|label| format!("[{}] ", label.name)).unwrap_or_default();
            lines.push(self.line(&format!("{label}{speaker}{words}")));
        }
        if look != Look::Run {
            lines.push(self.facts(row, node));
        }
        Node {
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

    /// Says what stands below the words: the id, what is left out, a missing parent, the leaf.
    fn facts(&self, row: usize, node: NodeId) -> String {
        let mut facts = self.line(&self.ids.of(node));
        if let Some(left_out) = left_out(self.shape.left_out(row)) {
            facts.push_str(&format!(" {left_out}"));
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

/// Replaces what no XML may hold, since pictures are made of it.
fn xml_safe(text: &str) -> Cow<'_, str> {
    let is_none = |char: char| u32::from(char) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&char);
    if text.contains(is_none) { text.replace(is_none, "\u{fffd}").into() } else { text.into() }
}
