//! The index of a session: its entries, how they hang together, the leaf and the labels.
//!
//! Bodies stay in the source; [`self::body`] reads them again when they are needed. Nothing here
//! recurses, and nothing takes more than time in proportion (n log n for sorting siblings).

pub mod body;

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::core::disk::rights::Rights;
use crate::core::entry::header::{CURRENT, Header};
use crate::core::entry::{Kind, Role, Traits};
use crate::core::error::Result;
use crate::core::problem::Problems;
use crate::core::read::inspect::Notes;
use crate::core::read::load::{self, Keep, Look, Str};
use crate::core::read::source::Source;
use crate::core::time::Stamp;
use build::Builder;

mod build;
#[cfg(test)]
pub(crate) mod sample;

/// One entry of a session, by its place among the entries in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// Gives the place as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// Stands for "no parent" and "no entry" in the flat arrays.
const NONE: u32 = u32::MAX;

/// What is kept of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) line: u32,
    part: u32,
    /// The part in whose text the words stand.
    words_part: u32,
    parent: u32,
    pub(crate) traits: Traits,
    stamp: Stamp,
    id: Str,
    words: Str,
}

/// A label that is set now.
#[derive(Clone, Debug)]
pub struct Label {
    /// The id of the labelled entry.
    pub target_id: String,
    /// The labelled entry, if it exists.
    pub target: Option<NodeId>,
    /// The label.
    pub name: String,
    /// The `label` entry that set it.
    pub set_by: NodeId,
}

/// A session, read.
#[derive(Debug)]
pub struct Session {
    pub(crate) source: Source,
    /// The header.
    pub header: Header,
    /// The version that the file is read as: 1 to 3, or a newer one.
    pub version: u32,
    /// What is odd in the file.
    pub problems: Problems,
    slot: Option<String>,
    name: Option<String>,
    pub(crate) nodes: Vec<Node>,
    texts: Vec<String>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    first_child: Vec<u32>,
    children: Vec<NodeId>,
    roots: Vec<NodeId>,
    missing: Vec<(NodeId, Str)>,
    /// Entries that were made roots to break a cycle, or that name themselves.
    cut: Vec<NodeId>,
    labels: Vec<Label>,
    label_of: hashbrown::HashMap<NodeId, u32>,
    /// Labelled entries by the label's name, made when it is first asked for.
    by_name: OnceLock<HashMap<String, Vec<NodeId>>>,
    /// Version 1: the entry on each well-formed line.
    pub(crate) well_formed: Vec<u32>,
    /// How far the file is understood: its end, or the start of a last line without LF.
    pub(crate) read_to: u64,
    /// What stands before that place, by which a file that was written anew is told.
    pub(crate) tail: Vec<u8>,
}

impl Session {
    /// Reads a session on up to `jobs` threads.
    ///
    /// # Errors
    /// [`Error`](crate::core::error::Error) if it is no session, or cannot be read.
    pub fn load(source: Source, keep: Keep<'_>, jobs: usize) -> Result<Self> {
        Self::read(source, keep, Look::Read, jobs).map(|(session, _)| session)
    }

    /// Reads a session and notes what a check wants to know of its lines.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub(crate) fn inspect(source: Source, jobs: usize) -> Result<(Self, Notes)> {
        Self::read(source, Keep::NOTHING, Look::Inspect, jobs)
    }

    fn read(source: Source, keep: Keep<'_>, look: Look, jobs: usize) -> Result<(Self, Notes)> {
        let mut start = load::start(&source)?;
        let hasher = DefaultHashBuilder::default();
        let parts = load::parts(&source, &start, keep, look, &hasher, jobs)?;
        let mut builder = Builder::new(&start, &parts, hasher);
        builder.notes.append(std::mem::take(&mut start.notes), 0);
        for part in parts {
            builder.take(part);
        }
        let notes = std::mem::take(&mut builder.notes);
        Ok((builder.finish(source, start), notes))
    }

    /// Tells how many entries there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Tells whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Goes through all entries in the order of the file.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(NONE)).map(NodeId)
    }

    /// Gives the position that agents resume at: the last entry of the file.
    pub fn leaf(&self) -> Option<NodeId> {
        self.nodes().next_back()
    }

    /// Finds an entry by its full id.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.ids.find(self.hasher.hash_one(id), |&node| self.id(NodeId(node)) == id).map(|&node| NodeId(node))
    }

    /// Gives the id of an entry.
    pub fn id(&self, node: NodeId) -> &str {
        let node = &self.nodes[node.index()];
        node.id.of(&self.texts[node.part as usize])
    }

    /// Gives the parent in the tree; `None` for a root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes[node.index()].parent;
        (parent != NONE).then_some(NodeId(parent))
    }

    /// Returns an entry and everything above it, up to its root; nothing for the null leaf.
    pub fn ancestors(&self, from: impl Into<Option<NodeId>>) -> impl Iterator<Item = NodeId> {
        std::iter::successors(from.into(), |&node| self.parent(node))
    }

    /// Gives the id that an orphan names as its parent.
    pub fn missing_parent(&self, node: NodeId) -> Option<&str> {
        let at = self.missing.binary_search_by_key(&node, |(orphan, _)| *orphan).ok()?;
        Some(self.missing[at].1.of(&self.texts[self.nodes[node.index()].part as usize]))
    }

    /// Tells whether an entry is a root only because its parent is missing or its own descendant.
    pub fn is_cut(&self, node: NodeId) -> bool {
        self.missing_parent(node).is_some() || self.cut.contains(&node)
    }

    /// Gives the entries whose parent is missing, with its id, in the order of the file.
    pub(crate) fn orphans(&self) -> impl Iterator<Item = (NodeId, &str)> {
        let text_of = |node: NodeId| &self.texts[self.nodes[node.index()].part as usize];
        self.missing.iter().map(move |&(node, missing)| (node, missing.of(text_of(node))))
    }

    /// Gives the entries that were made roots since they are their own ancestors.
    pub(crate) fn cuts(&self) -> &[NodeId] {
        &self.cut
    }

    /// Finds the entry on a 1-based line.
    pub(crate) fn on_line(&self, line: u32) -> Option<NodeId> {
        self.nodes.binary_search_by_key(&line, |node| node.line).ok().map(NodeId::at)
    }

    /// Returns the rights of the file; those for the owner alone if it is not one.
    pub fn rights(&self) -> Rights {
        Rights::like(&self.source)
    }

    /// Gives the children, oldest first.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        let from = self.first_child[node.index()] as usize;
        let to = self.first_child[node.index() + 1] as usize;
        &self.children[from..to]
    }

    /// Gives the entries without parent, in the order of the file.
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// Gives the 1-based line on which an entry stands.
    pub fn line(&self, node: NodeId) -> u32 {
        self.nodes[node.index()].line
    }

    /// Gives what decides whether an entry is shown.
    pub fn traits(&self, node: NodeId) -> Traits {
        self.nodes[node.index()].traits
    }

    /// Gives the role of an entry's message, under its current name.
    pub fn role_name(&self, node: NodeId) -> Option<&'static str> {
        match self.traits(node).role {
            Role::HookMessage if self.version < CURRENT => Role::Custom.name(),
            role => role.name(),
        }
    }

    /// Gives the time of an entry.
    pub fn stamp(&self, node: NodeId) -> Stamp {
        self.nodes[node.index()].stamp
    }

    /// Tells whether a `user` message stands there.
    pub fn is_user(&self, node: NodeId) -> bool {
        self.traits(node).kind == Kind::Message && self.traits(node).role == Role::User
    }

    /// Gives the first user message with text, else the first one.
    pub fn first_prompt(&self) -> Option<NodeId> {
        let mut users = self.nodes().filter(|&node| self.is_user(node));
        let first = users.next()?;
        let has_text = |node: &NodeId| self.traits(*node).has_text;
        Some(Some(first).filter(has_text).or_else(|| users.find(has_text)).unwrap_or(first))
    }

    /// Gives the labels that are set now, in the order in which their targets were first labelled.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Gives the label of an entry.
    pub fn label(&self, node: NodeId) -> Option<&Label> {
        self.label_of.get(&node).map(|&at| &self.labels[at as usize])
    }

    /// Gives the entries with a label of this name.
    pub fn labelled(&self, name: &str) -> &[NodeId] {
        let by_name = self.by_name.get_or_init(|| {
            let mut by_name: HashMap<String, Vec<NodeId>> = HashMap::new();
            for label in &self.labels {
                by_name.entry(label.name.clone()).or_default().extend(label.target);
            }
            by_name
        });
        by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Gives the session's name: of the title slot, the last `session_info`, or the header.
    pub fn name(&self) -> Option<&str> {
        self.slot.as_deref().or(self.name.as_deref()).or(self.header.title.as_deref())
    }

    /// Tells whether entries are shown other than they are stored, since the version is an old one.
    pub fn is_migrated(&self) -> bool {
        self.version < CURRENT
    }

    /// Gives the words of an entry's row, if they were kept; a tool result's are those of its call.
    pub fn row_words(&self, node: NodeId) -> Option<&str> {
        let node = &self.nodes[node.index()];
        (!node.words.is_absent()).then(|| node.words.of(&self.texts[node.words_part as usize]))
    }

    /// Gives the assistant messages in which the call of a tool result may stand, nearest first.
    pub(crate) fn callers(&self, result: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        // Calls stand right above their results; bounds keep odd files from quadratic time.
        const NEAR: usize = 64;
        const ASSISTANTS: usize = 8;
        let above = self.ancestors(self.parent(result)).take(NEAR);
        above.filter(|&node| self.traits(node).role == Role::Assistant).take(ASSISTANTS)
    }
}
