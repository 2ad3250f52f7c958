//! Where entries hang in a file whose agent stores where the leaf is (help rules, "Stored moves of the leaf"):
//! openclaw, and pi-agent-core 0.82 and 0.83; measured on openclaw 2026.9. Other rooms learn only which
//! entries are marks, where the leaf is, and below what it has to stay.

use std::collections::HashMap;

use super::{NONE, NodeId, Session, StoredLeaf};
use crate::core::entry::Kind;
use crate::core::error::problem::WarningKind;
use crate::core::read::load::{Placing, PlacingLine, StrRef};

/// What an entry names as a place in the tree, as far as it is known where it stands in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedPlace {
    /// The place before the first entry.
    Start,
    Entry(NodeId),
    /// Nothing that is before it.
    Unknown,
}

impl NamedPlace {
    fn node(self) -> Option<NodeId> {
        if let Self::Entry(node) = self { Some(node) } else { None }
    }
}

/// What of a mark is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ignored {
    /// Where the mark moves the leaf to: that is not before it in the file.
    Target,
    /// All of it: it lacks what every mark has.
    Whole,
}

/// What the writer knew after each line.
struct Writer {
    leaf: Option<NodeId>,
    /// What the next entry is appended to: a parent of that name stands for the leaf.
    append: Option<NodeId>,
    reset: Option<NodeId>,
    /// How many resets there were, and by entry, how many when it was put below the last of them.
    resets: u32,
    below: Vec<u32>,
    ignored: HashMap<NodeId, Ignored>,
    /// The marks that were reported since they name no entry.
    unmoved: Vec<NodeId>,
}

impl Session {
    /// Sets the parents of the entries from the first placing on, and the leaf.
    pub(super) fn link_by_leaf(&mut self, parents: &[StrRef], placings: &[PlacingLine]) {
        let first = placings.first().map_or(parents.len(), |line| line.entry as usize);
        let before = || (0..first).map(NodeId::at);
        let mut writer = Writer {
            leaf: before().rev().find(|&node| leads(self.traits(node).kind)),
            append: before().next_back(),
            reset: None,
            resets: 0,
            below: vec![0; parents.len()],
            ignored: HashMap::new(),
            unmoved: Vec::new(),
        };
        self.stored = Some(StoredLeaf { marks: Vec::new(), ignored: Vec::new(), reset: None });
        let mut placings = placings.iter().peekable();
        for (at, &name) in parents.iter().enumerate().skip(first) {
            let node = NodeId::at(at);
            let placing = placings.next_if(|line| line.entry == node.0).map(|line| line.placing);
            match placing {
                Some(Placing::Mark { target, append }) => self.put_mark(&mut writer, node, name, [target, append]),
                Some(Placing::Aside) => self.put_aside(&mut writer, node, name),
                _ if !leads(self.traits(node).kind) => self.put_aside(&mut writer, node, name),
                placing => {
                    self.put_entry(&mut writer, node, name);
                    if placing == Some(Placing::Reset) {
                        writer.resets += 1;
                        writer.below[at] = writer.resets;
                        writer.reset = Some(node);
                    }
                }
            }
        }
        // Entries that were not placed may name a mark, also one that comes later.
        for at in 0..self.nodes.len() {
            let parent = NodeId(self.nodes[at].parent);
            if parent.0 != NONE && self.is_mark(parent) && !self.is_mark(NodeId::at(at)) {
                self.nodes[at].parent = self.nodes[parent.index()].parent;
            }
        }
        let is_mark = |&node: &NodeId| self.is_mark(node);
        let mut marks: Vec<_> =
            self.nodes().filter(is_mark).map(|node| (self.nodes[node.index()].parent, node)).collect();
        marks.sort_unstable();
        self.leaf = writer.leaf.map_or(NONE, |leaf| leaf.0);
        self.stored = Some(StoredLeaf { marks, ignored: writer.unmoved, reset: writer.reset });
    }

    /// Puts an entry of the conversation into the tree; it becomes the leaf.
    fn put_entry(&mut self, writer: &mut Writer, node: NodeId, name: StrRef) {
        let named = self.known(writer, node, name);
        if named == NamedPlace::Unknown && !name.is_absent() {
            let (id, line) = (self.id(node), Some(self.line(node)));
            let missing = name.of(&self.texts[self.nodes[node.index()].part as usize]);
            let message = format!("parent `{missing}` of `{id}` is not before it in the file; it is put at the leaf");
            self.problems.push(WarningKind::Orphan, line, || message);
        }
        let is_at_leaf = named == NamedPlace::Unknown || named.node() == writer.append;
        let place = if is_at_leaf || !writer.is_below_reset(named.node()) { writer.leaf } else { self.meant(named) };
        self.put(writer, node, place);
        (writer.leaf, writer.append) = (Some(node), Some(node));
    }

    /// Puts an entry beside the conversation: the leaf stays.
    fn put_aside(&mut self, writer: &mut Writer, node: NodeId, name: StrRef) {
        if name == StrRef::LACKING {
            self.put(writer, node, writer.leaf);
            // What lacks a parent, too, is not of this agent at all, and nothing is appended to it.
            if !leads(self.traits(node).kind) {
                return;
            }
        } else {
            self.link_by_name(node.index(), name);
            let place = self.meant(self.known(writer, node, name));
            writer.mark_below(node, place);
        }
        writer.append = Some(node);
    }

    /// Follows a mark, and gives it the place that the leaf moved to as parent.
    fn put_mark(&mut self, writer: &mut Writer, node: NodeId, name: StrRef, [target, append]: [StrRef; 2]) {
        let known = |name: StrRef| match self.known(writer, node, name) {
            NamedPlace::Entry(mark) if writer.ignored.contains_key(&mark) => NamedPlace::Unknown,
            named => named,
        };
        let (to, append_to) = (known(target), known(append));
        let is_whole = ![name, target, append].contains(&StrRef::LACKING);
        if to == NamedPlace::Unknown || append_to == NamedPlace::Unknown || !is_whole {
            let message = format!("mark `{}` moves the leaf to no entry before it; ignored", self.id(node));
            self.problems.push(WarningKind::MarkWithoutTarget, Some(self.line(node)), || message);
            writer.unmoved.push(node);
        }
        let is_below = to != NamedPlace::Unknown && writer.is_below_reset(to.node());
        if is_whole && writer.resets > 0 && !is_below {
            // It is taken for a move to above the reset.
            writer.append = writer.leaf;
        } else if is_whole && is_below && append_to != NamedPlace::Unknown {
            (writer.leaf, writer.append) = (self.meant(to), append_to.node());
        } else {
            let own = self.meant(self.known(writer, node, name));
            self.nodes[node.index()].parent = own.map_or(NONE, |own| own.0);
            writer.ignored.insert(node, if is_whole { Ignored::Target } else { Ignored::Whole });
            return;
        }
        self.put(writer, node, writer.leaf);
    }

    /// Returns the place of a name that is before an entry.
    fn known(&self, writer: &Writer, node: NodeId, name: StrRef) -> NamedPlace {
        if name == StrRef::LACKING {
            return NamedPlace::Unknown;
        }
        if name.is_absent() {
            return NamedPlace::Start;
        }
        let is_ignored = |named: &NodeId| writer.ignored.get(named) == Some(&Ignored::Whole);
        let named = self.named(node.index(), name).filter(|named| *named < node && !is_ignored(named));
        named.map_or(NamedPlace::Unknown, NamedPlace::Entry)
    }

    /// Returns the place that is meant by a name, if it is known: by a mark, where the leaf moved to.
    fn meant(&self, named: NamedPlace) -> Option<NodeId> {
        let node = named.node()?;
        if self.is_mark(node) { self.parent(node) } else { Some(node) }
    }

    fn put(&mut self, writer: &mut Writer, node: NodeId, place: Option<NodeId>) {
        self.nodes[node.index()].parent = place.map_or(NONE, |place| place.0);
        writer.mark_below(node, place);
    }
}

impl Writer {
    /// Returns whether a place is below the last reset; every place is if there was none.
    fn is_below_reset(&self, place: Option<NodeId>) -> bool {
        self.resets == 0 || place.is_some_and(|place| self.below[place.index()] == self.resets)
    }

    /// Notes that an entry is put at a place.
    fn mark_below(&mut self, node: NodeId, place: Option<NodeId>) {
        if self.is_below_reset(place) {
            self.below[node.index()] = self.resets;
        }
    }
}

/// Returns whether entries of a type become the leaf: the agents that store where it is take all other
/// types for those of other programs.
fn leads(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Message
            | Kind::CustomMessage
            | Kind::BranchSummary
            | Kind::Compaction
            | Kind::Custom
            | Kind::Label
            | Kind::ThinkingLevelChange
            | Kind::ModelChange
            | Kind::SessionInfo
            | Kind::Reset
    )
}

#[cfg(test)]
mod tests {
    use crate::core::error::problem::WarningKind;
    use crate::core::session::Session;
    use crate::core::session::sample::{entry, ids, message, session};

    /// Reads lines, each `KIND:ID<PARENT`, a message without `KIND:`; a mark goes on with `>TARGET`, and with
    /// `+ID` if it names what is appended to. `-` is null; what is left out is missing.
    fn read(lines: &str) -> Session {
        let line = |word: &str| {
            let (kind, rest) = word.split_once(':').unwrap_or(("message", word));
            let (rest, target) = rest.split_once('>').map_or((rest, None), |(rest, target)| (rest, Some(target)));
            let (id, parent) = rest.split_once('<').unwrap_or((rest, "?"));
            let json = |id: &str| if id == "-" { "null".to_owned() } else { format!("\"{id}\"") };
            let mark = |target: &str| {
                let (target, append) = target.split_once('+').map_or((target, None), |(target, id)| (target, Some(id)));
                let append = append.map(|id| format!(r#","appendParentId":{}"#, json(id)));
                format!(r#""targetId":{}{}"#, json(target), append.unwrap_or_default())
            };
            let line = match kind {
                "message" => message(id, "?", "user", id),
                "side" => message(id, "?", "user", id).replacen('{', r#"{"appendMode":"side","#, 1),
                kind => entry(kind, id, "?", &target.map(mark).unwrap_or_default()),
            };
            let named = format!(r#""parentId":{},"#, json(parent));
            line.replace(r#""parentId":"?","#, if parent == "?" { "" } else { &named })
        };
        session(&lines.split(' ').map(line).collect::<Vec<_>>())
    }

    /// What a file has, and where its entries hang, with the leaf.
    const CASES: &[(&str, &str)] = &[
        // A mark moves the leaf; entries name it, its target, or what is appended to.
        ("a<- b<a c<b leaf:x<c>a", "a b<a c<b, x>a, a"),
        ("a<- b<a c<b leaf:x<c>a d<x", "a b<a c<b d<a, x>a, d"),
        ("a<- b<a c<b leaf:x<c>a d<a", "a b<a c<b d<a, x>a, d"),
        ("a<- b<a c<b leaf:x<c>a+b d<b", "a b<a c<b d<a, x>a, d"),
        ("a<- b<a c<b leaf:x<c>a+b d<c", "a b<a c<b d<c, x>a, d"),
        ("a<- b<a c<b leaf:x<c>a+- d<-", "a b<a c<b d<a, x>a, d"),
        ("a<- b<a c<b leaf:x<c>a d<-", "a b<a c<b d, x>a, d"),
        ("a<- b<a c<b leaf:x<c>-", "a b<a c<b, x>-, -"),
        ("a<- b<a c<b leaf:x<c>- d<x", "a b<a c<b d, x>-, d"),
        ("leaf:x<->- a<x", "a, x>-, a"),
        ("a<- b<a leaf:y<b>a leaf:x<y>y c<x", "a b<a c<a, y>a x>a, c"),
        ("a<- b<a c<b leaf:y<c>b leaf:x<y>a+y d<b", "a b<a c<b d<b, y>b x>a, d"),
        // A mark that names what is not before it is ignored.
        ("a<- b<a leaf:x<a>gone", "a b<a, x>a, b"),
        ("a<- b<a leaf:x<a>gone c<x", "a b<a c<a, x>a, c"),
        ("a<- b<a leaf:x<a>gone c<b", "a b<a c<b, x>a, c"),
        ("a<- b<a leaf:x<b>a+gone c<b", "a b<a c<b, x>b, c"),
        ("a<- b<a leaf:x<b>c c<b", "a b<a c<b, x>b, c"),
        ("a<- b<a leaf:x<b>x c<x", "a b<a c<b, x>b, c"),
        ("a<- b<a leaf:x<a>gone leaf:y<b>x", "a b<a, x>a y>b, b"),
        ("a<- b<a leaf:x<a>gone leaf:y<b>a+x", "a b<a, x>a y>b, b"),
        ("a<- b<a leaf:x<a c<x", "a b<a c<b, x>a, c"),
        ("a<- b<a leaf:x>a c<b", "a b<a c<b, x>-, c"),
        // What is beside the conversation is never the leaf.
        ("a<- b<a side:c<b", "a b<a c<b, , b"),
        ("a<- b<a side:c<b d<c", "a b<a c<b d<b, , d"),
        ("a<- b<a side:c<b side:d<c e<d", "a b<a c<b d<c e<b, , e"),
        ("a<- b<a side:c<b side:d<c e<c", "a b<a c<b d<c e<c, , e"),
        ("a<- b<a side:c<a mode_change:d<c", "a b<a c<a d<c, , b"),
        ("a<- b<a leaf:x<b>a side:c<x d<b", "a b<a c<a d<b, x>a, d"),
        ("a<- side:b c<a", "a b<a c<a, , c"),
        ("a<- mode_change:b<a leaf:x<b>gone", "a b<a, x>b, a"),
        ("a<- other:b<a leaf:x<b>b c<x", "a b<a c<b, x>b, c"),
        // A missing parent is the leaf, but not before the first of these lines.
        ("a<- b<a leaf:x<b>a c<gone", "a b<a c<a, x>a, c"),
        ("a<- b<a leaf:x<b>a c d<e e<c", "a b<a c<a d<c e<c, x>a, e"),
        ("a<- b<gone c<x leaf:x<b>a", "a b c<a, x>a, a"),
        ("b<a a<- c<b leaf:x<c>b", "b<a a c<b, x>b, b"),
        ("a<- other:b<a c<b leaf:x<c>c", "a b<a c<b, x>c, c"),
        // Nothing leads out of a reset.
        ("a<- b<a reset:r<b c<r d<c e<a", "a b<a r<b c<r d<c e<d, , e"),
        ("a<- b<a reset:r<b c<r d<c e<r", "a b<a r<b c<r d<c e<r, , e"),
        ("a<- b<a reset:r<a c<r d<b", "a b<a r<a c<r d<c, , d"),
        ("a<- b<a reset:r<b c<r leaf:x<c>a", "a b<a r<b c<r, x>c, c"),
        ("a<- b<a reset:r<b c<r leaf:x<c>- d<x", "a b<a r<b c<r d<c, x>c, d"),
        ("a<- b<a reset:r<b c<r leaf:x<c>r d<x", "a b<a r<b c<r d<r, x>r, d"),
        ("a<- b<a reset:r<b c<r leaf:x<c>r+a d<a", "a b<a r<b c<r d<r, x>r, d"),
        ("a<- b<a reset:r<b c<r leaf:x<a>gone d<x", "a b<a r<b c<r d<c, x>c, d"),
        ("a<- b<a reset:r<b c<r d<c leaf:x<c>c+gone e<x", "a b<a r<b c<r d<c e<d, x>c, e"),
        ("a<- b<a reset:r<b side:s<a c<r d<s leaf:x<d>s", "a b<a r<b s<a c<r d<c, x>d, d"),
        ("a<- reset:r<a b<r reset:q<a c<r", "a r<a b<r q<b c<q, , c"),
        ("a<- b<a side:s<b leaf:x<s>a reset:r<x c<x", "a b<a s<b r<a c<r, x>a, c"),
        // Loops are cut as elsewhere.
        ("a<x leaf:x<a>a b<x", "a b<a, x>a, b"),
    ];

    #[test]
    fn entries_hang_where_the_writer_of_the_marks_hangs_them() {
        for (lines, expected) in CASES {
            let session = read(lines);
            let is_mark = |node: &_| session.is_mark(*node);
            let parent = |node| session.parent(node).map(|parent| session.id(parent));
            let entries = session.nodes().filter(|node| !is_mark(node));
            let entries = entries.map(|node| [session.id(node), parent(node).unwrap_or("")].join("<"));
            let entries: Vec<_> = entries.map(|entry| entry.trim_end_matches('<').to_owned()).collect();
            let marks =
                session.nodes().filter(is_mark).map(|node| [session.id(node), parent(node).unwrap_or("-")].join(">"));
            let marks: Vec<_> = marks.collect();
            let found = format!("{}, {}, {}", entries.join(" "), marks.join(" "), ids(&session, session.leaf()));
            assert_eq!(found, *expected, "{lines}");
            let children: usize = session.nodes().map(|node| session.children(node).len()).sum();
            assert_eq!((session.count(), children + session.roots().len()), (entries.len(), entries.len()), "{lines}");
        }
    }

    #[test]
    fn ignored_marks_and_missing_parents_are_reported() {
        let session = read("a<- b<a leaf:x<a>gone leaf:y<b>a c<gone leaf:z<c");
        let found: Vec<_> = session.problems.list().into_iter().map(|problem| (problem.kind, problem.line)).collect();
        let mark = WarningKind::MarkWithoutTarget;
        assert_eq!(found, [(mark, Some(4)), (WarningKind::Orphan, Some(6)), (mark, Some(7))]);
    }

    #[test]
    fn a_file_without_such_lines_is_read_as_ever() {
        let session = read("a<- other:b<a c<gone other:d<a");
        assert_eq!(
            (session.stores_leaf(), session.reset(), ids(&session, session.leaf())),
            (false, None, "d".to_owned())
        );
        let list = [r#"{"type":"leaf","targetId":null}"#, r#"{"type":"reset"}"#].join("\n");
        let list = super::super::sample::read(format!("{{\"type\":\"session\",\"id\":\"s\"}}\n{list}\n").as_bytes());
        assert_eq!((list.version, list.stores_leaf(), list.count(), list.leaf()), (1, false, 2, list.nodes().last()));
    }
}
