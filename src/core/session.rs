//! The index of a session: its entries, how they hang together, the leaf and the labels.
//!
//! Bodies stay in the source; [`super::body`] reads them again when they are needed. Nothing here
//! recurses, and nothing takes more than time in proportion (n log n for sorting siblings).

use std::collections::HashMap;
use std::fs::Permissions;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::entry::{Kind, Role, Traits};
use super::error::Result;
use super::header::{CURRENT, Declared, Header};
use super::inspect::{Notes, Twin};
use super::load::{self, Found, Keep, Look, Part, Str};
use super::problem::{ProblemKind, Problems};
use super::source::Source;
use super::time::Stamp;
use super::upgrade::Ids;

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

/// How much is kept of what stands before the end, in bytes.
const TAIL: u64 = 512;

/// Stands for "no parent" and "no entry" in the flat arrays.
const NONE: u32 = u32::MAX;

/// What is kept of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) line: u32,
    part: u32,
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
    label_of: HashMap<NodeId, u32>,
    /// Tool calls by assistant entry and call id.
    calls: Vec<(NodeId, Str, Str)>,
    /// Call ids of tool results, by entry.
    results: Vec<(NodeId, Str)>,
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
    /// [`Error`](super::error::Error) if it is no session, or cannot be read.
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
        let parts = load::parts(&source, start.behind, keep, look, jobs)?;
        let mut builder = Builder::new(&start, &parts);
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

    /// Gives the permissions of the file, if it is one.
    pub fn permissions(&self) -> Option<Permissions> {
        self.source.permissions()
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

    /// Gives the session's name: of the title slot, the last `session_info`, or the header.
    pub fn name(&self) -> Option<&str> {
        self.slot.as_deref().or(self.name.as_deref()).or(self.header.title.as_deref())
    }

    /// Tells whether entries are shown other than they are stored, since the version is an old one.
    pub fn is_migrated(&self) -> bool {
        self.version < CURRENT
    }

    /// Tells whether an entry's row can be printed without its body.
    pub fn has_words(&self, node: NodeId) -> bool {
        let call_is_known = || self.kept_call(node).is_some();
        self.kept_words(node).is_some() && (self.traits(node).role != Role::ToolResult || call_is_known())
    }

    /// Gives the words of an entry, if they were kept.
    pub(crate) fn kept_words(&self, node: NodeId) -> Option<&str> {
        let node = &self.nodes[node.index()];
        (!node.words.is_absent()).then(|| node.words.of(&self.texts[node.part as usize]))
    }

    /// Gives the assistant messages in which the call of a tool result may stand, nearest first.
    pub(crate) fn callers(&self, result: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        // Calls stand right above their results; bounds keep odd files from quadratic time.
        const NEAR: usize = 64;
        const ASSISTANTS: usize = 8;
        let above = std::iter::successors(self.parent(result), |&node| self.parent(node)).take(NEAR);
        above.filter(|&node| self.traits(node).role == Role::Assistant).take(ASSISTANTS)
    }

    /// Gives the kept text of the tool call that a result answers: the nearest ancestor's.
    pub(crate) fn kept_call(&self, result: NodeId) -> Option<&str> {
        let at = self.results.binary_search_by_key(&result, |(node, _)| *node).ok()?;
        let text_of = |node: NodeId| &self.texts[self.nodes[node.index()].part as usize];
        let id = self.results[at].1.of(text_of(result));
        self.callers(result).find_map(|node| {
            let text = text_of(node);
            // The first of several with one id.
            let at = self.calls.partition_point(|(of, call, _)| (*of, call.of(text_of(*of))) < (node, id));
            let (of, call, shown) = self.calls.get(at)?;
            (*of == node && call.of(text) == id).then(|| shown.of(text))
        })
    }
}

/// Puts the parts of a file together.
struct Builder {
    version: u32,
    /// The namespace of the ids to come, if the entries have none.
    fresh: Option<Ids>,
    /// Line number before the next part.
    lines: u32,
    nodes: Vec<Node>,
    parents: Vec<Str>,
    texts: Vec<String>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Places of entries whose id is used again later.
    dead: Vec<u32>,
    labels: Vec<(NodeId, Str, Str)>,
    calls: Vec<(NodeId, Str, Str)>,
    results: Vec<(NodeId, Str)>,
    name: Option<String>,
    well_formed: Vec<u32>,
    open_end: Option<u64>,
    problems: Problems,
    notes: Notes,
}

impl Builder {
    fn new(start: &load::Start, parts: &[Part]) -> Self {
        let mut problems = start.problems.clone();
        let version = version(&start.header, parts, &mut problems);
        let count = parts.iter().map(|part| part.found.len()).sum();
        let mut well_formed = Vec::new();
        if version == 1 {
            // The header is one of the lines that old compactions count.
            well_formed = vec![NONE; start.before as usize + 1];
        }
        Self {
            version,
            fresh: (version == 1).then(|| Ids::new(&start.header.id, start.before)),
            lines: start.header.line,
            nodes: Vec::with_capacity(count),
            parents: Vec::with_capacity(count),
            texts: Vec::with_capacity(parts.len()),
            ids: HashTable::with_capacity(count),
            hasher: DefaultHashBuilder::default(),
            dead: Vec::new(),
            labels: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            name: None,
            well_formed,
            open_end: None,
            problems,
            notes: Notes::default(),
        }
    }

    fn take(&mut self, part: Part) {
        let Part { text, found, labels, name, calls, results, problems, notes, lines, open_end } = part;
        self.notes.append(notes, self.lines);
        self.open_end = self.open_end.or(open_end);
        if let Some(name) = name {
            self.name = Some(name.of(&text).to_owned()).filter(|name| !name.is_empty());
        }
        self.problems.append(problems, self.lines);
        self.texts.push(text);
        let mut places = Vec::new();
        let wanted = !labels.is_empty() || !calls.is_empty() || !results.is_empty();
        for found in &found {
            let place = self.add(found);
            if wanted {
                places.push(place);
            }
        }
        let place = |found: u32| NodeId(places[found as usize]);
        self.labels.extend(labels.iter().map(|line| (place(line.found), line.target, line.label)));
        self.calls.extend(calls.iter().map(|line| (place(line.found), line.id, line.text)));
        self.results.extend(results.iter().map(|&(found, call)| (place(found), call)));
        self.lines = self.lines.saturating_add(lines);
    }

    /// Adds an entry and gives its place; `NONE` if the line is none.
    fn add(&mut self, found: &Found) -> u32 {
        let line = self.lines.saturating_add(found.line).saturating_add(1);
        let place = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        if found.traits.kind == Kind::Header {
            if self.version == 1 {
                self.well_formed.push(NONE);
            }
            self.problems.push(ProblemKind::SecondHeader, Some(line), || "second session header; ignored".to_owned());
            return NONE;
        }
        let part = self.texts.len() - 1;
        let (mut id, mut parent) = (found.id, found.parent);
        if let Some(mut fresh) = self.fresh.take() {
            let is_free = |id: &str| self.ids.find(self.hasher.hash_one(id), |&node| self.id_is(node, id)).is_none();
            let new = fresh.next(is_free);
            self.fresh = Some(fresh);
            id = Str::push(&mut self.texts[part], |text| text.push_str(&new));
            parent = Str::ABSENT;
            self.well_formed.push(place);
        } else if id.is_absent() {
            self.problems.push(ProblemKind::ForeignLine, Some(line), || {
                "foreign line without an `id`; it is no entry (agents would take it as the leaf)".to_owned()
            });
            return NONE;
        }
        let part = u32::try_from(part).unwrap_or(NONE);
        let Found { offset, len, traits, stamp, words, .. } = *found;
        self.nodes.push(Node { offset, len, line, part, parent: NONE, traits, stamp, id, words });
        self.parents.push(parent);
        self.remember(place);
        place
    }

    fn id_is(&self, node: u32, id: &str) -> bool {
        let node = &self.nodes[node as usize];
        node.id.of(&self.texts[node.part as usize]) == id
    }

    /// Enters an id; of several entries with one id the last one counts.
    fn remember(&mut self, place: u32) {
        use hashbrown::hash_table::Entry::{Occupied, Vacant};
        let (nodes, texts, hasher) = (&self.nodes, &self.texts, &self.hasher);
        let id_of = |node: u32| {
            let node = &nodes[node as usize];
            node.id.of(&texts[node.part as usize])
        };
        let id = id_of(place);
        let same = |&node: &u32| id_of(node) == id;
        match self.ids.entry(hasher.hash_one(id), same, |&node| hasher.hash_one(id_of(node))) {
            Vacant(entry) => drop(entry.insert(place)),
            Occupied(mut entry) => {
                let old = std::mem::replace(entry.get_mut(), place);
                let (new, first) = (&nodes[place as usize], &nodes[old as usize]);
                let (line, old_line) = (new.line, first.line);
                let (offset, len, first_offset, first_len) = (new.offset, new.len, first.offset, first.len);
                self.notes.twins.push(Twin { line, first_line: old_line, offset, len, first_offset, first_len });
                let message = || format!("id `{id}` was used on line {old_line} before; this line counts");
                self.problems.push(ProblemKind::DuplicateId, Some(line), message);
                self.dead.push(old);
            }
        }
    }

    /// Drops what a later line with the same id replaces.
    fn bury(&mut self) {
        if self.dead.is_empty() {
            return;
        }
        let mut kept = vec![0; self.nodes.len()];
        for &dead in &self.dead {
            kept[dead as usize] = NONE;
        }
        for (next, place) in (0..).zip(kept.iter_mut().filter(|place| **place != NONE)) {
            *place = next;
        }
        let new = |place: u32| kept.get(place as usize).copied().unwrap_or(NONE);
        let renumber = |node: &mut NodeId| {
            node.0 = new(node.0);
            node.0 != NONE
        };
        let mut at = 0;
        self.nodes.retain(|_| {
            at += 1;
            kept[at - 1] != NONE
        });
        at = 0;
        self.parents.retain(|_| {
            at += 1;
            kept[at - 1] != NONE
        });
        self.ids.iter_mut().for_each(|place| *place = new(*place));
        self.labels.retain_mut(|(place, ..)| renumber(place));
        self.calls.retain_mut(|(place, ..)| renumber(place));
        self.results.retain_mut(|(place, _)| renumber(place));
    }

    fn finish(mut self, source: Source, start: load::Start) -> Session {
        self.bury();
        // Lines that are no entries have no place.
        self.labels.retain(|(node, ..)| node.0 != NONE);
        self.calls.retain(|(node, ..)| node.0 != NONE);
        self.results.retain(|(node, _)| node.0 != NONE);
        self.nodes.shrink_to_fit();
        let header_end = if start.terminated { source.len() } else { start.offset };
        let read_to = self.open_end.unwrap_or(header_end);
        let compared = read_to.min(TAIL);
        let mut tail = vec![0; usize::try_from(compared).unwrap_or(0)];
        if source.read_at(&mut tail, read_to - compared).is_err() {
            // It was cut off meanwhile: no file has this before that place, so it counts as another.
            tail = vec![b'\n'; tail.len()];
        }
        let mut session = Session {
            source,
            header: start.header,
            version: self.version,
            problems: self.problems,
            slot: start.slot.flatten(),
            name: self.name,
            nodes: self.nodes,
            texts: self.texts,
            ids: self.ids,
            hasher: self.hasher,
            first_child: Vec::new(),
            children: Vec::new(),
            roots: Vec::new(),
            missing: Vec::new(),
            cut: Vec::new(),
            labels: Vec::new(),
            label_of: HashMap::new(),
            calls: self.calls,
            results: self.results,
            well_formed: self.well_formed,
            read_to,
            tail,
        };
        session.sort_calls();
        session.link(&self.parents);
        session.break_cycles();
        session.order_children();
        session.apply(&self.labels);
        session
    }
}

impl Session {
    fn sort_calls(&mut self) {
        let (nodes, texts) = (&self.nodes, &self.texts);
        let text_of = |node: NodeId| texts[nodes[node.index()].part as usize].as_str();
        self.calls.sort_by(|(a, a_id, _), (b, b_id, _)| {
            a.cmp(b).then_with(|| a_id.of(text_of(*a)).cmp(b_id.of(text_of(*b))))
        });
    }

    /// Sets the parents. Version 1 is a plain list.
    fn link(&mut self, parents: &[Str]) {
        if self.version == 1 {
            for at in 1..self.nodes.len() {
                self.nodes[at].parent = NodeId::at(at - 1).0;
            }
            return;
        }
        for (at, &name) in parents.iter().enumerate() {
            if name.is_absent() {
                continue;
            }
            let node = NodeId::at(at);
            let parent = name.of(&self.texts[self.nodes[at].part as usize]);
            let line = Some(self.nodes[at].line);
            match self.find(parent) {
                Some(parent) if parent == node => {
                    let message = format!("`{}` is its own parent; shown as a root", self.id(node));
                    self.problems.push(ProblemKind::Cycle, line, || message);
                    self.cut.push(node);
                }
                Some(parent) => self.nodes[at].parent = parent.0,
                None => {
                    let message = format!("parent `{parent}` of `{}` is missing; shown as a root", self.id(node));
                    self.problems.push(ProblemKind::Orphan, line, || message);
                    self.missing.push((node, name));
                }
            }
        }
    }

    /// Makes the first entry of every cycle a root.
    fn break_cycles(&mut self) {
        // 0 = not seen, else the number of the walk that came by.
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
            self.problems.push(ProblemKind::Cycle, Some(self.line(first)), || message);
            self.nodes[first.index()].parent = NONE;
            self.cut.push(first);
        }
    }

    fn order_children(&mut self) {
        let mut starts = vec![0_u32; self.nodes.len() + 1];
        for node in &self.nodes {
            if node.parent != NONE {
                starts[node.parent as usize + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![NodeId(NONE); starts[self.nodes.len()] as usize];
        for node in self.nodes() {
            match self.parent(node) {
                Some(parent) => {
                    let place = &mut next[parent.index()];
                    children[*place as usize] = node;
                    *place += 1;
                }
                None => self.roots.push(node),
            }
        }
        let age = |node: &NodeId| self.nodes[node.index()].stamp.ms().unwrap_or(i64::MAX);
        for family in starts.windows(2).filter(|family| family[1] - family[0] > 1) {
            // Stable: equal times stay in the order of the file.
            children[family[0] as usize..family[1] as usize].sort_by_key(age);
        }
        self.first_child = starts;
        self.children = children;
    }

    /// Applies the label entries in the order of the file.
    fn apply(&mut self, lines: &[(NodeId, Str, Str)]) {
        let mut set: Vec<Option<Label>> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for &(node, target, name) in lines {
            let text = &self.texts[self.nodes[node.index()].part as usize];
            if target.is_absent() {
                continue;
            }
            let target = target.of(text);
            if name.is_absent() {
                if let Some(place) = places.remove(target) {
                    set[place] = None;
                }
                continue;
            }
            let label = Label {
                target_id: target.to_owned(),
                target: self.find(target),
                name: name.of(text).to_owned(),
                set_by: node,
            };
            match places.get(target) {
                Some(&place) => set[place] = Some(label),
                None => {
                    places.insert(target, set.len());
                    set.push(Some(label));
                }
            }
        }
        self.labels = set.into_iter().flatten().collect();
        for (at, label) in self.labels.iter().enumerate() {
            if let Some(target) = label.target {
                self.label_of.insert(target, NodeId::at(at).0);
            }
        }
    }
}

/// Decides which version to read a file as (semantics: "Reading", 7).
fn version(header: &Header, parts: &[Part], problems: &mut Problems) -> u32 {
    let line = Some(header.line);
    match header.version {
        Declared::Absent => {
            let mut found = parts.iter().flat_map(|part| &part.found);
            let has_ids =
                found.find(|found| found.traits.kind.is_entry_type()).is_some_and(|found| !found.id.is_absent());
            if !has_ids {
                return 1;
            }
            let message = "the header has no version, but the entries have ids: read as version 2".to_owned();
            problems.push(ProblemKind::OddVersion, line, || message);
            2
        }
        Declared::Number(version) => {
            if version > CURRENT {
                problems.push(ProblemKind::NewerVersion, line, || {
                    format!("version {version} is newer than {CURRENT}, the newest known: read as well as can be")
                });
            }
            version
        }
        Declared::Odd => {
            let message = || format!("the header's version is no version: read as {CURRENT}");
            problems.push(ProblemKind::OddVersion, line, message);
            CURRENT
        }
    }
}
