//! Puts the parts of a file together: finds the entries that count, hangs them into the tree, and
//! applies the labels.

use std::collections::HashMap;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{Label, NONE, Node, NodeId, Session};
use crate::core::entry::Kind;
use crate::core::entry::header::{CURRENT, Declared, Header};
use crate::core::migrate::lines::Ids;
use crate::core::problem::{Problems, WarningKind};
use crate::core::read::inspect::{Notes, Twin};
use crate::core::read::load::{self, Found, Part, Str};
use crate::core::read::source::Source;

/// How much is kept of what stands before the end, in bytes.
const TAIL: u64 = 512;

/// Puts the parts of a file together.
pub(super) struct Builder {
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
    pub(super) notes: Notes,
}

impl Builder {
    pub(super) fn new(start: &load::Start, parts: &[Part], hasher: DefaultHashBuilder) -> Self {
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
            hasher,
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

    pub(super) fn take(&mut self, part: Part) {
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
            self.problems.push(WarningKind::SecondHeader, Some(line), || load::SECOND_HEADER.to_owned());
            return NONE;
        }
        let part = self.texts.len() - 1;
        let (mut id, mut hash, mut parent) = (found.id, found.hash, found.parent);
        if let Some(mut fresh) = self.fresh.take() {
            let is_free = |id: &str| self.ids.find(self.hasher.hash_one(id), |&node| self.id_is(node, id)).is_none();
            let new = fresh.next(is_free);
            self.fresh = Some(fresh);
            hash = self.hasher.hash_one(new.as_str());
            id = Str::push(&mut self.texts[part], |text| text.push_str(&new));
            parent = Str::ABSENT;
            self.well_formed.push(place);
        } else if id.is_absent() {
            self.problems.push(WarningKind::ForeignLine, Some(line), || load::FOREIGN.to_owned());
            return NONE;
        }
        let part = u32::try_from(part).unwrap_or(NONE);
        let Found { offset, len, traits, stamp, words, .. } = *found;
        self.nodes.push(Node { offset, len, line, part, words_part: part, parent: NONE, traits, stamp, id, words });
        self.parents.push(parent);
        self.remember(place, hash);
        place
    }

    fn id_is(&self, node: u32, id: &str) -> bool {
        let node = &self.nodes[node as usize];
        node.id.of(&self.texts[node.part as usize]) == id
    }

    /// Enters an id; of several entries with one id the last one counts.
    fn remember(&mut self, place: u32, hash: u64) {
        use hashbrown::hash_table::Entry::{Occupied, Vacant};
        let (nodes, texts, hasher) = (&self.nodes, &self.texts, &self.hasher);
        let id_of = |node: u32| {
            let node = &nodes[node as usize];
            node.id.of(&texts[node.part as usize])
        };
        let same = |&node: &u32| id_of(node) == id_of(place);
        match self.ids.entry(hash, same, |&node| hasher.hash_one(id_of(node))) {
            Vacant(entry) => drop(entry.insert(place)),
            Occupied(mut entry) => {
                let old = std::mem::replace(entry.get_mut(), place);
                let (new, first) = (&nodes[place as usize], &nodes[old as usize]);
                let (line, old_line) = (new.line, first.line);
                let (offset, len, first_offset, first_len) = (new.offset, new.len, first.offset, first.len);
                self.notes.twins.push(Twin { line, first_line: old_line, offset, len, first_offset, first_len });
                let id = id_of(place);
                let message = || format!("id `{id}` was used on line {old_line} before; this line counts");
                self.problems.push(WarningKind::DuplicateId, Some(line), message);
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

    pub(super) fn finish(mut self, source: Source, start: load::Start) -> Session {
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
            slot: start.slot,
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
            label_of: hashbrown::HashMap::new(),
            by_name: std::sync::OnceLock::new(),
            well_formed: self.well_formed,
            read_to,
            tail,
        };
        session.link(&self.parents);
        session.break_cycles();
        session.order_children();
        session.match_calls(self.calls, &self.results);
        session.apply(&self.labels);
        session
    }
}

impl Session {
    /// Gives tool results the words of their calls: of the nearest assistant message above.
    fn match_calls(&mut self, mut calls: Vec<(NodeId, Str, Str)>, results: &[(NodeId, Str)]) {
        let (nodes, texts) = (&self.nodes, &self.texts);
        let text_of = |node: NodeId| texts[nodes[node.index()].part as usize].as_str();
        for own in calls.chunk_by_mut(|a, b| a.0 == b.0) {
            let text = text_of(own[0].0);
            // Stable, so that the first of several with one id is found.
            own.sort_by(|(_, a, _), (_, b, _)| a.of(text).cmp(b.of(text)));
        }
        // Where the calls of the assistant message start that was found last: mostly they are
        // those of the next result too, or stand right before them.
        let mut near = 0;
        let mut found = Vec::new();
        for &(result, id) in results {
            let id = id.of(text_of(result));
            let call = self.callers(result).find_map(|node| {
                let is_near = calls.get(near).is_some_and(|call| call.0 == node);
                if !is_near {
                    near = calls.partition_point(|call| call.0 < node);
                }
                let own = calls[near..].partition_point(|(of, call, _)| (*of, call.of(text_of(*of))) < (node, id));
                let (of, call, shown) = calls.get(near + own)?;
                (*of == node && call.of(text_of(node)) == id).then_some((node, *shown))
            });
            found.extend(call.map(|(node, shown)| (result, nodes[node.index()].part, shown)));
        }
        for (result, part, shown) in found {
            let node = &mut self.nodes[result.index()];
            (node.words_part, node.words) = (part, shown);
        }
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
            let is_before = |before: &Node| before.part == self.nodes[at].part && before.id == name;
            if at > 0 && is_before(&self.nodes[at - 1]) {
                self.nodes[at].parent = NodeId::at(at - 1).0;
                continue;
            }
            let parent = name.of(&self.texts[self.nodes[at].part as usize]);
            let line = Some(self.nodes[at].line);
            match self.find(parent) {
                Some(parent) if parent == node => {
                    let message = format!("`{}` is its own parent; shown as a root", self.id(node));
                    self.problems.push(WarningKind::Cycle, line, || message);
                    self.cut.push(node);
                }
                Some(parent) => self.nodes[at].parent = parent.0,
                None => {
                    let message = format!("parent `{parent}` of `{}` is missing; shown as a root", self.id(node));
                    self.problems.push(WarningKind::Orphan, line, || message);
                    self.missing.push((node, name));
                }
            }
        }
    }

    /// Makes the first entry of every cycle a root.
    fn break_cycles(&mut self) {
        // Where every parent stands before its children there is none.
        if self.nodes().all(|node| self.parent(node).is_none_or(|parent| parent < node)) {
            return;
        }
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
            self.problems.push(WarningKind::Cycle, Some(self.line(first)), || message);
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
            problems.push(WarningKind::OddVersion, line, || message);
            2
        }
        Declared::Number(version) => {
            if version > CURRENT {
                problems.push(WarningKind::NewerVersion, line, || {
                    format!("version {version} is newer than {CURRENT}, the newest known: read as well as can be")
                });
            }
            version
        }
        Declared::Odd => {
            let message = || format!("the header's version is no version: read as {CURRENT}");
            problems.push(WarningKind::OddVersion, line, message);
            CURRENT
        }
    }
}
