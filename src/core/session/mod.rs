//! The index of a session: its entries, their tree, the leaf and the labels. Flat arrays of indices;
//! [`self::body`] reads the entries themselves from the source when they are needed.
//!
//! Must never recurse over entries, and takes linear time (n log n to sort siblings). What a view shows
//! is decided in [`crate::core::tree`].

pub mod body;

use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::core::disk::rights::Rights;
use crate::core::entry::header::{CURRENT, Header};
use crate::core::entry::usage::RecordedUsage;
use crate::core::entry::{Kind, Role, TitleRank, Traits};
use crate::core::error::problem::Problems;
use crate::core::read::load::{CALLS_ABOVE, StrRef};
use crate::core::read::source::Source;
use crate::core::time::Stamp;

mod build;
mod calls;
mod grow;
mod kept_calls;
mod link;
mod load;
mod place;
#[cfg(test)]
pub(crate) mod sample;

/// An entry of a session: its index among the entries of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Returns the index.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// Means "no parent" and "no entry" in the flat arrays.
const NONE: u32 = u32::MAX;

/// The index of one entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) line: u32,
    part: u32,
    /// The part whose text has the words: of a tool result it is that of its call.
    words_part: u32,
    parent: u32,
    pub(crate) traits: Traits,
    stamp: Stamp,
    id: StrRef,
    words: StrRef,
}

/// A label in force.
#[derive(Clone, Debug)]
pub struct Label {
    /// The id of the labelled entry, which may not exist.
    pub target_id: String,
    /// The labelled entry, if it exists.
    pub target: Option<NodeId>,
    /// The text of the label.
    pub name: String,
    /// The `label` entry that set it.
    pub set_by: NodeId,
}

/// The labelled entries, sorted by their labels.
#[derive(Clone, Debug, Default)]
struct LabelledByName {
    /// Indices of the labels, and beside each its entry.
    labels: Vec<u32>,
    nodes: Vec<NodeId>,
}

/// What only a file has in which an agent stores where the leaf is.
#[derive(Clone, Debug)]
struct StoredLeaf {
    /// The marks, each with the parent that it has instead of its target's children, sorted.
    marks: Vec<(u32, NodeId)>,
    /// Those of them that moved nothing.
    ignored: Vec<NodeId>,
    /// The entry below which the leaf has to be.
    reset: Option<NodeId>,
}

/// The index of a session file.
#[derive(Debug)]
pub struct Session {
    pub(crate) source: Source,
    /// The header.
    pub header: Header,
    /// The version that the file is read as: 1 to 3, or a newer one.
    pub version: u32,
    /// The problems of the file.
    pub problems: Problems,
    /// The title slot, if there is one, with its title, if that has text.
    slot: Option<Option<String>>,
    name: Option<String>,
    pub(crate) nodes: Vec<Node>,
    texts: Vec<String>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    first_child: Vec<u32>,
    children: Vec<NodeId>,
    roots: Vec<NodeId>,
    missing: Vec<(NodeId, StrRef)>,
    /// Entries that were made roots because they are their own ancestors, in the order of the file.
    cut: Vec<NodeId>,
    /// The leaf, or `NONE`.
    leaf: u32,
    /// Set in a file of an agent that stores where the leaf is.
    stored: Option<StoredLeaf>,
    labels: Vec<Label>,
    label_of: hashbrown::HashMap<NodeId, u32>,
    /// Labelled entries by label, made on first use.
    by_name: OnceLock<LabelledByName>,
    /// What the entries record, in the order of the file; empty unless it is kept.
    usages: Vec<(NodeId, RecordedUsage)>,
    /// The models that wrote messages; empty unless usage is kept.
    models: Vec<String>,
    /// Version 1: the entry on each well-formed line.
    pub(crate) well_formed: Vec<u32>,
    /// The end of the file, or the start of a last line without LF.
    pub(crate) read_to: u64,
    /// Number of lines.
    lines: u32,
    /// The first bytes, the header's among them, and those before `read_to`, to detect that the file was
    /// written anew.
    pub(crate) ends: [Vec<u8>; 2],
}

impl Session {
    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Iterates over all entries in the order of the file.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(NONE)).map(NodeId)
    }

    /// Returns the entry at which the agent resumes: the last of the file, unless the file says otherwise.
    pub fn leaf(&self) -> Option<NodeId> {
        (self.leaf != NONE).then_some(NodeId(self.leaf))
    }

    /// Returns whether the file says where the leaf is, so that moves are stored as marks.
    pub fn stores_leaf(&self) -> bool {
        self.stored.is_some()
    }

    /// Returns whether an entry is a mark that moved the leaf. Its parent is the place that the leaf moved
    /// to, but it is nobody's child, and has no children.
    pub fn is_mark(&self, node: NodeId) -> bool {
        self.stored.is_some() && self.traits(node).kind == Kind::Leaf
    }

    /// Returns the marks that moved the leaf to an entry, or to before the first one.
    pub(crate) fn marks(&self, target: Option<NodeId>) -> impl Iterator<Item = NodeId> {
        let marks = self.stored.as_ref().map_or(&[][..], |stored| &stored.marks);
        let target = target.map_or(NONE, |target| target.0);
        let from = marks.partition_point(|(other, _)| *other < target);
        marks[from..].iter().take_while(move |(other, _)| *other == target).map(|(_, mark)| *mark)
    }

    /// Returns the marks that moved nothing, since they name no entry before them, in the order of the file.
    pub(crate) fn ignored_marks(&self) -> impl Iterator<Item = NodeId> {
        self.stored.iter().flat_map(|stored| stored.ignored.iter().copied())
    }

    /// Returns the number of entries, marks left out.
    pub fn count(&self) -> usize {
        self.nodes.len() - self.stored.as_ref().map_or(0, |stored| stored.marks.len())
    }

    /// Returns the entry below which the leaf of this file has to stay, if there is one.
    pub fn reset(&self) -> Option<NodeId> {
        self.stored.as_ref().and_then(|stored| stored.reset)
    }

    /// Returns whether a place is below the last reset, if there is one; what hangs there only by a parent
    /// that came later is not.
    pub fn is_below_reset(&self, place: Option<NodeId>) -> bool {
        let parent = |&node: &NodeId| self.parent(node).filter(|&parent| parent < node);
        self.reset().is_none_or(|reset| std::iter::successors(place, parent).any(|node| node == reset))
    }

    /// Returns the entry with a full id.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.ids.find(self.hasher.hash_one(id), |&node| self.id(NodeId(node)) == id).map(|&node| NodeId(node))
    }

    /// Returns the id of an entry.
    pub fn id(&self, node: NodeId) -> &str {
        let node = &self.nodes[node.index()];
        node.id.of(&self.texts[node.part as usize])
    }

    /// Returns the parent; `None` for a root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes[node.index()].parent;
        (parent != NONE).then_some(NodeId(parent))
    }

    /// Iterates over an entry and its ancestors, up to the root; nothing for `None`.
    pub fn ancestors(&self, from: impl Into<Option<NodeId>>) -> impl Iterator<Item = NodeId> {
        std::iter::successors(from.into(), |&node| self.parent(node))
    }

    /// Returns the id that an orphan has as its parent; `None` for other entries.
    pub fn missing_parent(&self, node: NodeId) -> Option<&str> {
        let at = self.missing.binary_search_by_key(&node, |(orphan, _)| *orphan).ok()?;
        Some(self.missing[at].1.of(&self.texts[self.nodes[node.index()].part as usize]))
    }

    /// Returns whether an entry is a root only because its parent is missing or its own descendant.
    pub(crate) fn is_cut(&self, node: NodeId) -> bool {
        self.missing_parent(node).is_some() || self.is_own_ancestor(node)
    }

    /// Returns whether an entry was made a root because it is its own ancestor.
    pub(crate) fn is_own_ancestor(&self, node: NodeId) -> bool {
        self.cut.binary_search(&node).is_ok()
    }

    /// Iterates over the entries whose parent is missing, with its id, in the order of the file.
    pub(crate) fn orphans(&self) -> impl Iterator<Item = (NodeId, &str)> {
        let text_of = |node: NodeId| &self.texts[self.nodes[node.index()].part as usize];
        self.missing.iter().map(move |&(node, missing)| (node, missing.of(text_of(node))))
    }

    /// Returns the entries that were made roots because they are their own ancestors, in the order of the file.
    pub(crate) fn cuts(&self) -> &[NodeId] {
        &self.cut
    }

    /// Returns the entry on a 1-based line.
    pub(crate) fn on_line(&self, line: u32) -> Option<NodeId> {
        self.nodes.binary_search_by_key(&line, |node| node.line).ok().map(NodeId::at)
    }

    /// Returns the rights of the file; those for the owner alone if it is not one.
    pub fn rights(&self) -> Rights {
        Rights::like(&self.source)
    }

    /// Returns the children, oldest first.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        let from = self.first_child[node.index()] as usize;
        let to = self.first_child[node.index() + 1] as usize;
        &self.children[from..to]
    }

    /// Returns the roots, in the order of the file.
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// Returns the 1-based line of an entry.
    pub fn line(&self, node: NodeId) -> u32 {
        self.nodes[node.index()].line
    }

    /// Returns the number of lines.
    pub(crate) fn line_count(&self) -> u32 {
        self.lines
    }

    /// Returns the properties that decide whether a view shows an entry.
    pub fn traits(&self, node: NodeId) -> Traits {
        self.nodes[node.index()].traits
    }

    /// Returns the role of an entry's message, under its current name.
    pub fn role_name(&self, node: NodeId) -> Option<&'static str> {
        match self.traits(node).role {
            Role::HookMessage if self.version < CURRENT => Role::Custom.name(),
            _ if self.traits(node).kind != Kind::Message => None,
            role => role.name(),
        }
    }

    /// Returns the time of an entry.
    pub fn stamp(&self, node: NodeId) -> Stamp {
        self.nodes[node.index()].stamp
    }

    /// Returns whether an entry is what the user sent.
    pub fn is_user(&self, node: NodeId) -> bool {
        self.traits(node).is_user()
    }

    /// Returns the entry whose words name the session if it has no name: the first user message with text, else
    /// what the session was started for, else the first text.
    pub(crate) fn title_entry(&self) -> Option<NodeId> {
        let ranked = self.nodes().filter_map(|node| Some((self.traits(node).title_rank()?, node)));
        let mut best = None;
        for (rank, node) in ranked {
            if best.is_none_or(|(best, _)| rank < best) {
                best = Some((rank, node));
            }
            if rank == TitleRank::Prompt {
                break;
            }
        }
        best.map(|(_, node)| node)
    }

    /// Returns the labels in force, in the order in which their targets were first labelled.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Returns the label of an entry.
    pub fn label(&self, node: NodeId) -> Option<&Label> {
        self.label_of.get(&node).map(|&at| &self.labels[at as usize])
    }

    /// Returns the entries with a label of this name.
    pub fn labelled(&self, name: &str) -> &[NodeId] {
        let by_name = self.by_name.get_or_init(|| {
            let mut sorted: Vec<_> =
                (0..).zip(&self.labels).filter_map(|(at, label)| Some((label.target?, at))).collect();
            // Stable, so that entries with one label stay in their order.
            sorted.sort_by_key(|&(_, at)| self.label_name(at));
            let (nodes, labels) = sorted.into_iter().unzip();
            LabelledByName { labels, nodes }
        });
        let from = by_name.labels.partition_point(|&at| self.label_name(at) < name);
        let count = by_name.labels[from..].partition_point(|&at| self.label_name(at) == name);
        &by_name.nodes[from..from + count]
    }

    fn label_name(&self, at: u32) -> &str {
        &self.labels[at as usize].name
    }

    /// Returns the session's name: of the title slot, the last `session_info`, or the header.
    pub fn name(&self) -> Option<&str> {
        self.slot.as_ref().and_then(Option::as_deref).or(self.name.as_deref()).or(self.header.title.as_deref())
    }

    /// Returns whether the file starts with a title slot.
    pub fn has_title_slot(&self) -> bool {
        self.slot.is_some()
    }

    /// Returns whether the version is an old one, so that entries are shown as version 3 has them.
    pub fn is_migrated(&self) -> bool {
        self.version < CURRENT
    }

    /// Returns the usage that entries record, in the order of the file, if it was kept.
    pub(crate) fn usages(&self) -> &[(NodeId, RecordedUsage)] {
        &self.usages
    }

    /// Returns the models that wrote messages, as PROVIDER/ID, by their first use; at most 64, if they were
    /// kept.
    pub(crate) fn models(&self) -> &[String] {
        &self.models
    }

    /// Returns whether the text of an entry's row was kept.
    pub(crate) fn has_row_words(&self, node: NodeId) -> bool {
        !self.nodes[node.index()].words.is_absent()
    }

    /// Returns the text of an entry's row, if it was kept; a tool result has that of its call.
    pub(crate) fn row_words(&self, node: NodeId) -> Option<&str> {
        let node = &self.nodes[node.index()];
        (!node.words.is_absent()).then(|| node.words.of(&self.texts[node.words_part as usize]))
    }

    /// Iterates over the assistant messages that may hold the call of a tool result, nearest first.
    pub(crate) fn callers(&self, result: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        const ASSISTANTS: usize = 8;
        let above = self.ancestors(self.parent(result)).take(CALLS_ABOVE);
        above.filter(|&node| self.traits(node).role == Role::Assistant).take(ASSISTANTS)
    }
}
