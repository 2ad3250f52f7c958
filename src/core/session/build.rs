//! Builds a session from the parts of its file: decides the version and which entries count, has them linked
//! to a tree (`link`), and applies the labels. Must never recurse: a branch may be as long as the file.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{Label, NONE, Node, NodeId, Session};
use crate::core::entry::Kind;
use crate::core::entry::header::{CURRENT, DeclaredVersion, Header};
use crate::core::error::problem::{Problems, WarningKind};
use crate::core::migrate::lines::IdGenerator;
use crate::core::read::inspect::{DuplicateId, LineNotes};
use crate::core::read::load::{
    CallLine, EntryLine, FilePart, LabelLine, MODELS, PlacingLine, ResultLine, StrRef, UsageLine,
};
use crate::core::read::source::Source;
use crate::core::read::start::SessionStart;
use crate::core::read::warning;

/// How many bytes before the end are kept, to detect that the file was written anew.
const TAIL: u64 = 512;
/// How many bytes of the start are kept for that, as far as the end of the header's line.
const FRONT: u64 = 64 * 1024;

/// Takes the parts of a file one by one, in order.
pub(super) struct SessionBuilder {
    version: u32,
    /// Length of the file in bytes.
    size: u64,
    /// Makes the ids of the entries, if they have none (version 1).
    fresh: Option<IdGenerator>,
    /// Number of lines before the next part.
    lines: u32,
    nodes: Vec<Node>,
    parents: Vec<StrRef>,
    texts: Vec<String>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Nodes that a later line with the same id replaces.
    replaced: Vec<u32>,
    /// Here and below, `entry` is the node of the line.
    labels: Vec<LabelLine>,
    /// By part: the strings of its labels.
    label_texts: Vec<String>,
    placings: Vec<PlacingLine>,
    calls: Vec<CallLine>,
    results: Vec<ResultLine>,
    usages: Vec<UsageLine>,
    models: Vec<String>,
    name: Option<String>,
    well_formed: Vec<u32>,
    open_end: Option<u64>,
    problems: Problems,
    pub(super) notes: LineNotes,
}

impl SessionBuilder {
    /// Starts a session whose file has `size` bytes; its version depends on the `first` parts up to one with an
    /// entry.
    pub(super) fn new(start: &SessionStart, first: &[FilePart], size: u64, hasher: DefaultHashBuilder) -> Self {
        let mut problems = start.problems.clone();
        let version = version(&start.header, first, &mut problems);
        let mut notes = LineNotes::default();
        notes.append(start.notes.clone(), 0);
        let mut well_formed = Vec::new();
        if version == 1 {
            // The header is one of the lines that old compactions count.
            well_formed = vec![NONE; start.before as usize + 1];
        }
        Self {
            version,
            size,
            fresh: (version == 1).then(|| IdGenerator::new(&start.header.id, start.before)),
            lines: start.header.line,
            nodes: Vec::new(),
            parents: Vec::new(),
            texts: Vec::new(),
            ids: HashTable::new(),
            hasher,
            replaced: Vec::new(),
            labels: Vec::new(),
            label_texts: Vec::new(),
            placings: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            usages: Vec::new(),
            models: Vec::new(),
            name: None,
            well_formed,
            open_end: None,
            problems,
            notes,
        }
    }

    /// Makes room for the entries of the file if those of the next part do not fit: as many as there will be
    /// if all of it is like what was read so far, but no more than eight times as many as there are.
    fn reserve(&mut self, entries: &[EntryLine]) {
        let count = self.nodes.len() + entries.len();
        let Some(last) = entries.last().filter(|_| count > self.nodes.capacity()) else { return };
        let read = (last.offset + u64::from(last.len)).max(1);
        // A twentieth more than that: a few more short lines must not make everything move once more.
        let expected = u128::from(self.size) * count as u128 * 21 / 20 / u128::from(read);
        let expected = usize::try_from(expected).unwrap_or(usize::MAX).clamp(count, count.saturating_mul(8));
        let more = expected - self.nodes.len();
        self.nodes.reserve(more);
        self.parents.reserve(more);
        let (nodes, texts, hasher) = (&self.nodes, &self.texts, &self.hasher);
        self.ids.reserve(more, |&node| {
            let node = &nodes[node as usize];
            hasher.hash_one(node.id.of(&texts[node.part as usize]))
        });
    }

    /// Takes the next part.
    pub(super) fn take(&mut self, part: FilePart) {
        let FilePart { text, label_text, entries, labels, placings, name, calls, results, usages, models, .. } = part;
        let FilePart { problems, notes, lines, open_end, .. } = part;
        self.notes.append(notes, self.lines);
        self.open_end = self.open_end.or(open_end);
        if let Some(name) = name {
            self.name = Some(name.of(&text).to_owned()).filter(|name| !name.is_empty());
        }
        self.problems.append(problems, self.lines);
        self.texts.push(text);
        self.label_texts.push(label_text);
        self.reserve(&entries);
        let mut places = Vec::new();
        let wanted = !labels.is_empty() || !placings.is_empty() || !calls.is_empty() || !results.is_empty();
        let wanted = wanted || !usages.is_empty();
        for entry in &entries {
            let place = self.add(entry);
            if wanted {
                places.push(place);
            }
        }
        let place = |entry: u32| Some(places[entry as usize]).filter(|&place| place != NONE);
        self.labels.extend(labels.iter().filter_map(|line| Some(LabelLine { entry: place(line.entry)?, ..*line })));
        self.placings
            .extend(placings.iter().filter_map(|line| Some(PlacingLine { entry: place(line.entry)?, ..*line })));
        self.calls.extend(calls.iter().filter_map(|line| Some(CallLine { entry: place(line.entry)?, ..*line })));
        self.results.extend(results.iter().filter_map(|line| Some(ResultLine { entry: place(line.entry)?, ..*line })));
        self.usages.extend(usages.iter().filter_map(|line| Some(UsageLine { entry: place(line.entry)?, ..*line })));
        let room = MODELS.saturating_sub(self.models.len());
        let new: Vec<_> = models.into_iter().filter(|model| !self.models.contains(model)).take(room).collect();
        self.models.extend(new);
        self.lines = self.lines.saturating_add(lines);
    }

    /// Adds an entry and returns its node; `NONE` if the line is not an entry.
    fn add(&mut self, found: &EntryLine) -> u32 {
        let line = self.lines.saturating_add(found.line).saturating_add(1);
        let place = u32::try_from(self.nodes.len()).unwrap_or(NONE);
        if found.traits.kind == Kind::Header {
            if self.version == 1 {
                self.well_formed.push(NONE);
            }
            self.problems.push(WarningKind::SecondHeader, Some(line), || warning::SECOND_HEADER.to_owned());
            return NONE;
        }
        let part = self.texts.len() - 1;
        let (mut id, mut hash, mut parent) = (found.id, found.hash, found.parent);
        if let Some(mut fresh) = self.fresh.take() {
            let is_free = |id: &str| self.ids.find(self.hasher.hash_one(id), |&node| self.id_is(node, id)).is_none();
            let new = fresh.next(is_free);
            self.fresh = Some(fresh);
            hash = self.hasher.hash_one(new.as_str());
            id = StrRef::push(&mut self.texts[part], |text| text.push_str(&new));
            parent = StrRef::ABSENT;
            self.well_formed.push(place);
        } else if id.is_absent() {
            self.problems.push(WarningKind::ForeignLine, Some(line), || warning::FOREIGN.to_owned());
            return NONE;
        }
        let part = u32::try_from(part).unwrap_or(NONE);
        let EntryLine { offset, len, traits, stamp, words, .. } = *found;
        self.nodes.push(Node { offset, len, line, part, words_part: part, parent: NONE, traits, stamp, id, words });
        self.parents.push(parent);
        self.remember(place, hash);
        place
    }

    fn id_is(&self, node: u32, id: &str) -> bool {
        let node = &self.nodes[node as usize];
        node.id.of(&self.texts[node.part as usize]) == id
    }

    /// Registers the id of a node; of several with one id the last one counts.
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
                self.notes.duplicates.push(DuplicateId {
                    line,
                    first_line: old_line,
                    offset,
                    len,
                    first_offset,
                    first_len,
                });
                let id = id_of(place);
                let message = || format!("id `{id}` was used on line {old_line} before; this line counts");
                self.problems.push(WarningKind::DuplicateId, Some(line), message);
                self.replaced.push(old);
            }
        }
    }

    /// Drops the entries that a later line with the same id replaces, and renumbers the others.
    fn drop_replaced(&mut self) {
        if self.replaced.is_empty() {
            return;
        }
        let mut kept = vec![0; self.nodes.len()];
        for &replaced in &self.replaced {
            kept[replaced as usize] = NONE;
        }
        for (next, place) in (0..).zip(kept.iter_mut().filter(|place| **place != NONE)) {
            *place = next;
        }
        let new = |place: u32| kept.get(place as usize).copied().unwrap_or(NONE);
        let is_kept = || kept.iter().map(|&place| place != NONE);
        let (mut of_nodes, mut of_parents) = (is_kept(), is_kept());
        self.nodes.retain(|_| of_nodes.next() == Some(true));
        self.parents.retain(|_| of_parents.next() == Some(true));
        self.ids.iter_mut().for_each(|place| *place = new(*place));
        let renumber = |entry: &mut u32| {
            *entry = new(*entry);
            *entry != NONE
        };
        self.labels.retain_mut(|line| renumber(&mut line.entry));
        self.placings.retain_mut(|line| renumber(&mut line.entry));
        self.calls.retain_mut(|line| renumber(&mut line.entry));
        self.results.retain_mut(|line| renumber(&mut line.entry));
        self.usages.retain_mut(|line| renumber(&mut line.entry));
    }

    pub(super) fn finish(mut self, source: Source, start: SessionStart, jobs: usize) -> Session {
        // Then each entry hangs where its line says.
        let is_plain = self.replaced.is_empty() && self.placings.is_empty();
        self.drop_replaced();
        self.nodes.shrink_to_fit();
        let header_end = if start.terminated { source.len() } else { start.offset };
        let read_to = self.open_end.unwrap_or(header_end);
        let ends = [kept_bytes(&source, 0, start.end.min(read_to).min(FRONT)), tail(&source, read_to)];
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
            leaf: NONE,
            stored: None,
            labels: Vec::new(),
            label_of: hashbrown::HashMap::new(),
            by_name: std::sync::OnceLock::new(),
            usages: self.usages.into_iter().map(|line| (NodeId(line.entry), line.recorded)).collect(),
            models: self.models,
            well_formed: self.well_formed,
            read_to,
            lines: self.lines,
            ends,
        };
        session.leaf = session.nodes().next_back().map_or(NONE, |last| last.0);
        session.link(&self.parents, &self.placings);
        session.break_cycles();
        session.order_children();
        if is_plain {
            self.results.retain(|result| session.nodes[result.entry as usize].words.is_absent());
        }
        session.match_calls(self.calls, &self.results, jobs);
        session.apply_labels(&self.labels, self.label_texts);
        session
    }
}

impl Session {
    /// Applies the label entries in the order of the file; `texts` has their strings, by part.
    fn apply_labels(&mut self, lines: &[LabelLine], mut texts: Vec<String>) {
        let mut set: Vec<Option<Label>> = Vec::new();
        // By target: the place in `set`.
        let mut places: HashTable<usize> = HashTable::new();
        fn target_of(set: &[Option<Label>], place: usize) -> &str {
            set[place].as_ref().map_or("", |label| &label.target_id)
        }
        let mut done = 0;
        for &LabelLine { entry, target, label } in lines {
            let part = self.nodes[entry as usize].part as usize;
            texts[done..part].fill_with(String::new);
            done = part;
            let text = &texts[part];
            if target.is_absent() {
                continue;
            }
            let target = target.of(text);
            let hash = self.hasher.hash_one(target);
            let is_same = |&place: &usize| target_of(&set, place) == target;
            if label.is_absent() {
                if let Ok(found) = places.find_entry(hash, is_same) {
                    let (place, _) = found.remove();
                    set[place] = None;
                }
                continue;
            }
            let label = Label {
                target_id: target.to_owned(),
                target: self.find(target),
                name: label.of(text).to_owned(),
                set_by: NodeId(entry),
            };
            match places.find(hash, is_same) {
                Some(&place) => set[place] = Some(label),
                None => {
                    set.push(Some(label));
                    let hash_of = |&place: &usize| self.hasher.hash_one(target_of(&set, place));
                    places.insert_unique(hash, set.len() - 1, hash_of);
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

/// Returns the bytes before an offset by which a file is known again.
pub(super) fn tail(source: &Source, read_to: u64) -> Vec<u8> {
    kept_bytes(source, read_to.saturating_sub(TAIL), read_to)
}

fn kept_bytes(source: &Source, from: u64, to: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(0)];
    if source.read_at(&mut bytes, from).is_err() {
        // The file was truncated meanwhile: line ends alone match no session, so that the next look finds it
        // changed.
        bytes.fill(b'\n');
    }
    bytes
}

/// Returns the version to read a file as (help rules, "Reading", 7).
fn version(header: &Header, first: &[FilePart], problems: &mut Problems) -> u32 {
    let line = Some(header.line);
    match header.version {
        DeclaredVersion::Absent => {
            let mut entries = first.iter().flat_map(|part| &part.entries);
            let has_ids =
                entries.find(|entry| entry.traits.kind.is_entry_type()).is_some_and(|entry| !entry.id.is_absent());
            if !has_ids {
                return 1;
            }
            let message = "the header has no version, but the entries have ids: read as version 2".to_owned();
            problems.push(WarningKind::OddVersion, line, || message);
            2
        }
        DeclaredVersion::Number(version) => {
            if version > CURRENT {
                problems.push(WarningKind::NewerVersion, line, || {
                    format!("version {version} is newer than {CURRENT}, the newest known: read as far as possible")
                });
            }
            version
        }
        DeclaredVersion::Invalid => {
            let message = || format!("the header's version is not a version: read as {CURRENT}");
            problems.push(WarningKind::OddVersion, line, message);
            CURRENT
        }
    }
}
