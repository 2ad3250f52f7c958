//! Copying more than one path of a session into a new file (help rules, "Copying a tree").

use std::io::Write;

use super::draft::{Draft, IdsAndTime};
use super::navigate;
use super::new_session::{NewSession, WrittenSession};
use crate::core::entry::{Kind, Scan};
use crate::core::error::{Error, Result};
use crate::core::migrate::lines;
use crate::core::read::line::{self, Line};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// Which part of a tree a new session holds. Unlike a fork, it keeps the order and the parents of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeCopy {
    /// Whether each entry of the session is left out.
    is_gone: Vec<bool>,
    /// The place of each entry when all that hangs at an entry is visited before its next sibling.
    place: Vec<u32>,
    /// The nearest entry above each one that is not left out.
    above: Vec<Option<NodeId>>,
    /// Where the copy stands.
    pub leaf: Option<NodeId>,
    /// Whether that was said, and is not where the session stands.
    is_moved: bool,
    /// Whether lines that are not entries are left out.
    only_entries: bool,
}

impl TreeCopy {
    /// Plans a copy of the whole tree, less some entries with all that hangs at them. It stands at `leaf`, or else
    /// where the session stands.
    ///
    /// # Errors
    /// [`Error::Usage`] if the leaf is left out.
    pub fn without(bodies: &mut Bodies<'_>, entries: &[NodeId], leaf: Option<NodeId>) -> Result<Self> {
        let session = bodies.session();
        let mut is_gone = vec![false; session.len()];
        let mut open = entries.to_vec();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut is_gone[node.index()], true) {
                open.extend(session.children(node));
            }
        }
        let own = leaf.or(session.leaf());
        if let Some(leaf) = own.filter(|leaf| is_gone[leaf.index()]) {
            let message = format!("the leaf `{}` is among what is left out", session.id(leaf));
            return Err(Error::usage(message, "name an entry that stays with `--leaf ENTRY`"));
        }
        let is_moved = leaf.is_some() && leaf != session.leaf();
        Ok(Self { is_moved, ..Self::of(bodies, is_gone, own, false)? })
    }

    /// Plans a copy of the paths to some entries. It stands at the last of them.
    pub fn of_paths(bodies: &mut Bodies<'_>, entries: &[NodeId]) -> Result<Self> {
        let session = bodies.session();
        let mut is_gone = vec![true; session.len()];
        for &entry in entries {
            for node in session.ancestors(entry) {
                if !std::mem::replace(&mut is_gone[node.index()], false) {
                    break;
                }
            }
        }
        Ok(Self { is_moved: true, ..Self::of(bodies, is_gone, entries.last().copied(), true)? })
    }

    /// Completes a plan. A label stays if its entry does, wherever it hangs; a mark whose entry is left out is left
    /// out, too.
    fn of(bodies: &mut Bodies<'_>, mut is_gone: Vec<bool>, leaf: Option<NodeId>, only_entries: bool) -> Result<Self> {
        let session = bodies.session();
        for node in session.nodes().filter(|&node| matches!(session.traits(node).kind, Kind::Label | Kind::Leaf)) {
            let target = bodies.entry(node)?.get_id("targetId").and_then(|id| session.find(&id));
            match target.map(|target| is_gone[target.index()]) {
                Some(is_target_gone) if session.traits(node).kind == Kind::Label => {
                    is_gone[node.index()] = is_target_gone;
                }
                Some(true) => is_gone[node.index()] = true,
                _ => {}
            }
        }
        let (mut place, mut above) = (vec![0; session.len()], vec![None; session.len()]);
        let mut open: Vec<NodeId> = session.roots().iter().rev().copied().collect();
        let mut count = 0;
        while let Some(node) = open.pop() {
            place[node.index()] = count;
            count += 1;
            above[node.index()] = session
                .parent(node)
                .and_then(|parent| if is_gone[parent.index()] { above[parent.index()] } else { Some(parent) });
            open.extend(session.children(node).iter().rev());
        }
        let mut copy = Self { is_gone, place, above, leaf: None, is_moved: false, only_entries };
        copy.leaf = leaf.and_then(|leaf| copy.kept(leaf));
        Ok(copy)
    }

    /// Returns an entry, or what above it stays.
    fn kept(&self, node: NodeId) -> Option<NodeId> {
        if self.is_gone[node.index()] { self.above[node.index()] } else { Some(node) }
    }

    /// Returns the first entry that stays on the way from one that is left out to one below it that stays.
    fn next(&self, session: &Session, mut gone: NodeId, below: NodeId) -> Option<NodeId> {
        while self.is_gone[gone.index()] {
            let children = session.children(gone);
            let after = children.partition_point(|child| self.place[child.index()] <= self.place[below.index()]);
            gone = *children.get(after.checked_sub(1)?)?;
        }
        Some(gone)
    }

    /// Writes the new session; `fresh` makes the id of a saved move.
    pub fn write(
        &self,
        bodies: &mut Bodies<'_>,
        new: &NewSession<'_>,
        fresh: &mut dyn FnMut() -> String,
        out: &mut dyn Write,
    ) -> Result<WrittenSession> {
        let session = bodies.session();
        let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(|cause| Error::writing("cannot write", cause));
        let mut nodes = session.nodes().peekable();
        let mut written = WrittenSession::default();
        let (mut last, mut is_ended) = (None, true);
        let (mut copied, mut scan) = (Vec::new(), Scan::default());
        let mut is_gone = |line: &[u8]| {
            let id = scan.read(line).ok().and_then(|entry| session.find(&entry.get_id("id")?));
            id.is_some_and(|node| self.is_gone[node.index()])
        };
        let mut copy = |number: u32, line: Line<'_>| -> Result<()> {
            copied.clear();
            if number == session.header.line {
                put(&new.header(session))?;
                return Ok(());
            }
            match nodes.next_if(|&node| session.line(node) == number) {
                Some(node) if self.is_gone[node.index()] => return Ok(()),
                Some(node) => {
                    self.entry(bodies, node, &mut copied)?;
                    last = Some(node);
                    written.labels += usize::from(session.traits(node).kind == Kind::Label);
                }
                None if self.only_entries || is_title_slot(session, number) => return Ok(()),
                // Only the last of several entries with one id is an entry, and all of them go with it.
                None if is_gone(line.bytes) => return Ok(()),
                // Its writer may still be at work, and whoever reads a new file cannot know.
                None if !line.terminated && new.stand_ins.is_none() => return Ok(()),
                None => copied.extend_from_slice(line.bytes),
            }
            match new.stand_ins {
                Some(stand_ins) => put(&stand_ins.line(&copied))?,
                None => put(&copied)?,
            }
            written.entries += 1;
            is_ended = line.terminated || new.stand_ins.is_none();
            if is_ended { put(b"\n") } else { Ok(()) }
        };
        let mut done = Ok(());
        line::each(&session.source, |number, line| {
            done = copy(number, line);
            done.is_ok()
        })?;
        done?;
        written.leaf = self.leaf.map(|leaf| session.id(leaf).to_owned());
        let is_elsewhere = match session.stores_leaf() {
            true => self.is_moved || self.is_gone.contains(&true),
            false => last != self.leaf,
        };
        if is_elsewhere {
            let now = || new.now.clone();
            let mut ids = IdsAndTime { now: &now, fresh };
            let is_taken = |id: &str| session.find(id).is_some();
            let mut draft = Draft::new(&mut ids, written.leaf.clone(), &is_taken);
            match session.stores_leaf() {
                true => navigate::append_mark(&mut draft, written.leaf.as_deref()),
                false => navigate::append_saved(&mut draft),
            }
            if !is_ended {
                put(b"\n")?;
            }
            put(&draft.lines)?;
            written.entries += draft.ids.len();
            if !session.stores_leaf() {
                written.leaf = draft.leaf().map(str::to_owned);
            }
        }
        Ok(written)
    }

    /// Appends the line of an entry. What names a label that is gone names what is next to it.
    fn entry(&self, bodies: &mut Bodies<'_>, node: NodeId, out: &mut Vec<u8>) -> Result<()> {
        let session = bodies.session();
        let (before, after) = bodies.blanks(node)?;
        let entry = bodies.entry(node)?;
        let gone = |name: &str| {
            let named = entry.get_id(name).and_then(|id| session.find(&id))?;
            self.is_gone[named.index()].then_some(named)
        };
        let mut changes = Vec::new();
        if entry.get_id("parentId").is_some_and(|id| id == session.header.id && session.find(&id).is_none()) {
            // The copy has an id of its own, and a root hangs at the one or at none.
            changes.push(("parentId", None));
        } else if let Some(parent) = gone("parentId") {
            changes.push(("parentId", self.kept(parent).map(|parent| session.id(parent))));
        }
        for name in ["firstKeptEntryId", "providerReplayThroughEntryId"] {
            if let Some(named) = gone(name) {
                let next = self.next(session, named, node);
                changes.extend(next.map(|next| (name, Some(session.id(next)))));
            }
        }
        out.extend_from_slice(&before);
        out.extend_from_slice(&lines::with_ids(entry.object().bytes(), &changes));
        out.extend_from_slice(&after);
        Ok(())
    }
}

/// Returns whether a line is a title slot, which belongs to the old session.
fn is_title_slot(session: &Session, line: u32) -> bool {
    session.has_title_slot() && line < session.header.line
}

#[cfg(test)]
mod tests {
    use super::TreeCopy;
    use crate::core::edit::draft::numbered;
    use crate::core::edit::new_session::NewSession;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{entry, forked, ids, label, message, node, session};

    /// Copies, and returns the ids of the copy with their parents, and where it stands.
    fn copied(lines: &[String], without: &str, paths: &str, leaf: &str) -> (String, String) {
        let session = session(lines);
        let mut bodies = Bodies::new(&session);
        let nodes = |names: &str| names.split_whitespace().map(|id| node(&session, id).unwrap()).collect::<Vec<_>>();
        let plan = match paths {
            "" => TreeCopy::without(&mut bodies, &nodes(without), nodes(leaf).first().copied()).unwrap(),
            _ => TreeCopy::of_paths(&mut bodies, &nodes(paths)).unwrap(),
        };
        let new = NewSession { id: "new".to_owned(), now: "T".to_owned(), parent: None, stand_ins: None };
        let mut bytes = Vec::new();
        let written = plan.write(&mut bodies, &new, &mut numbered(), &mut bytes).unwrap();
        let copy = crate::core::session::sample::read(&bytes);
        assert_eq!(written.entries, copy.len());
        assert_eq!(written.leaf.as_deref(), copy.leaf().map(|leaf| copy.id(leaf)));
        let pairs = copy.nodes().map(|node| {
            let parent = copy.parent(node).map_or("-", |parent| copy.id(parent));
            format!("{}<{parent}", copy.id(node))
        });
        (pairs.collect::<Vec<_>>().join(" "), ids(&copy, copy.leaf()))
    }

    #[test]
    fn entries_that_are_named_go_with_all_that_hangs_at_them() {
        let lines = forked();
        let all = copied(&lines, "", "", "").0;
        assert_eq!(all, ids_and_parents(&lines));
        assert!(!copied(&lines, "b1", "", "u2").0.contains("b2"));
        let (pairs, leaf) = copied(&lines, "u2", "", "b2");
        assert!(!pairs.contains("u2") && !pairs.contains("a2") && pairs.contains("b2<b1"), "{pairs}");
        assert!(leaf == "b2" || leaf == "n1", "{leaf}");
    }

    /// Returns what a copy of everything has.
    fn ids_and_parents(lines: &[String]) -> String {
        let session = session(lines);
        let pair = |node| {
            let parent = session.parent(node).map_or("-", |parent| session.id(parent));
            format!("{}<{parent}", session.id(node))
        };
        session.nodes().map(pair).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_line_that_is_no_entry_goes_along_unless_paths_are_copied() {
        let mut lines = forked();
        lines.insert(2, r#"{"note":"mine"}"#.to_owned());
        let session = session(&lines);
        let mut bodies = Bodies::new(&session);
        let plans = [
            (TreeCopy::without(&mut bodies, &[], session.leaf()).unwrap(), true),
            (TreeCopy::of_paths(&mut bodies, &[node(&session, "b2").unwrap()]).unwrap(), false),
        ];
        for (plan, expected) in plans {
            let new = NewSession { id: "new".to_owned(), now: "T".to_owned(), parent: None, stand_ins: None };
            let mut bytes = Vec::new();
            plan.write(&mut bodies, &new, &mut numbered(), &mut bytes).unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap().contains("mine"), expected);
        }
    }

    #[test]
    fn what_hung_at_a_label_that_goes_hangs_above_it() {
        let lines = [
            message("u1", "", "user", "first"),
            message("x1", "u1", "user", "to go"),
            label("L1", "u1", "x1", "gone"),
            label("L2", "L1", "u1", "stays"),
            message("a1", "L2", "assistant", "one"),
            entry("compaction", "c1", "a1", r#""summary":"s","firstKeptEntryId":"L1","tokensBefore":1"#),
            label("L3", "x1", "u1", "set below"),
        ];
        let (pairs, leaf) = copied(&lines, "x1", "", "c1");
        assert_eq!(pairs, "u1<- L2<u1 a1<L2 c1<a1 L3<u1 n1<c1");
        assert_eq!(leaf, "n1");
        let session = session(&lines);
        let mut bodies = Bodies::new(&session);
        let plan = TreeCopy::without(&mut bodies, &[node(&session, "x1").unwrap()], node(&session, "c1")).unwrap();
        let mut line = Vec::new();
        plan.entry(&mut bodies, node(&session, "c1").unwrap(), &mut line).unwrap();
        assert!(String::from_utf8(line).unwrap().contains(r#""firstKeptEntryId":"L2""#));
    }

    #[test]
    fn a_leaf_that_goes_is_refused() {
        let session = session(&forked());
        let mut bodies = Bodies::new(&session);
        let leaf = session.leaf().unwrap();
        let error = TreeCopy::without(&mut bodies, &[leaf], None).unwrap_err();
        assert_eq!(error.kind().name(), "usage");
        assert!(error.hint().unwrap().contains("--leaf"), "{error}");
    }

    #[test]
    fn a_stored_leaf_that_is_named_stays_as_it_is() {
        let mut lines = forked();
        lines.push(entry("leaf", "m1", "b2", r#""targetId":"u2""#));
        let all = ids_and_parents(&lines);
        let leaf = copied(&lines, "", "", "").1;
        assert_eq!(copied(&lines, "", "", &leaf), (all.clone(), leaf.clone()));
        assert_eq!(leaf, "u2");
        let (moved, leaf) = copied(&lines, "", "", "a1");
        assert!(moved.len() > all.len() && leaf == "a1", "{moved}");
    }

    #[test]
    fn paths_to_several_entries_are_copied_with_their_labels() {
        let mut lines = forked();
        lines.push(label("L1", "b2", "u1", "start"));
        let (pairs, leaf) = copied(&lines, "", "a2 b1", "");
        assert!(pairs.contains("a2<u2") && pairs.contains("b1<a1") && !pairs.contains("b2<"), "{pairs}");
        assert!(pairs.contains("L1<b1") && pairs.ends_with("n1<b1"), "{pairs}");
        assert_eq!(leaf, "n1");
    }

    #[test]
    fn what_a_compaction_keeps_from_is_on_its_own_way() {
        let lines = [
            message("u1", "", "user", "first"),
            message("t1", "u1", "user", "to go"),
            entry("label", "l1", "u1", r#""targetId":"t1","label":"mark""#),
            message("x1", "l1", "user", "one way"),
            entry("compaction", "c1", "x1", r#""summary":"s","firstKeptEntryId":"l1","tokensBefore":1"#),
            message("y1", "l1", "user", "another"),
        ];
        let session = session(&lines);
        let mut bodies = Bodies::new(&session);
        let plan = TreeCopy::without(&mut bodies, &[node(&session, "t1").unwrap()], session.leaf()).unwrap();
        let new = NewSession { id: "new".to_owned(), now: "T".to_owned(), parent: None, stand_ins: None };
        let mut bytes = Vec::new();
        plan.write(&mut bodies, &new, &mut numbered(), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(r#""firstKeptEntryId":"x1""#) && !text.contains("l1"), "{text}");
    }
}
