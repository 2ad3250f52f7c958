//! Takes lines that were appended into a session that was read before: only they are read. What they may
//! change of the entries before them is left to reading the whole file again.

use std::collections::HashSet;
use std::hash::BuildHasher;

use super::build::tail;
use super::{NONE, Node, NodeId, Session};
use crate::core::entry::header::CURRENT;
use crate::core::error::Result;
use crate::core::read::load::{FilePart, Inspection, LoadOptions, Reading, StrRef};
use crate::core::read::source::Source;

impl Session {
    /// Takes in the whole lines that `source` has after what was read. Returns false, and changes nothing, if they
    /// cannot be understood without the lines before: in an old version, where moves of the leaf are stored, and
    /// where a line sets a label, has the id of another one, or is not below an entry that is before it.
    ///
    /// # Errors
    /// As [`Source::read_at`].
    pub(crate) fn grow(&mut self, source: Source, jobs: usize) -> Result<bool> {
        if self.version < CURRENT || self.stores_leaf() {
            return Ok(false);
        }
        let reading = Reading {
            source: &source,
            front: self.read_to,
            is_list: false,
            options: LoadOptions::INDEX_ONLY,
            inspection: Inspection::Off,
            hasher: &self.hasher,
            jobs,
        };
        let mut parts = Vec::new();
        reading.parts(|part| parts.push(part))?;
        let Some(parents) = self.parents_of(&parts) else { return Ok(false) };
        let mut parents = parents.into_iter();
        for part in parts {
            self.take(part, &mut parents);
        }
        self.leaf = self.nodes().next_back().map_or(NONE, |last| last.0);
        self.read_to = source.len();
        self.ends[1] = tail(&source, self.read_to);
        self.source = source;
        self.order_children();
        Ok(true)
    }

    /// Returns the parents of the entries of new parts, if all of them just hang below others.
    fn parents_of(&self, parts: &[FilePart]) -> Option<Vec<u32>> {
        let missing: HashSet<&str> = self.orphans().map(|(_, name)| name).collect();
        let mut new = hashbrown::HashMap::new();
        let mut parents = Vec::new();
        let mut next = NodeId::at(self.nodes.len()).0;
        for part in parts {
            if !part.labels.is_empty() || !part.placings.is_empty() || part.open_end.is_some() {
                return None;
            }
            for entry in part.entries.iter().filter(|entry| !entry.id.is_absent()) {
                let (id, name) = (entry.id.of(&part.text), entry.parent.of(&part.text));
                parents.push(match entry.parent.is_absent() {
                    true => NONE,
                    false => new.get(name).copied().or_else(|| self.find(name).map(|node| node.0))?,
                });
                if missing.contains(id) || self.find(id).is_some() || new.insert(id, next).is_some() {
                    return None;
                }
                next = next.saturating_add(1);
            }
        }
        Some(parents)
    }

    /// Adds the entries of a part, each with the next parent.
    fn take(&mut self, part: FilePart, parents: &mut impl Iterator<Item = u32>) {
        let FilePart { text, entries, name, problems, lines, .. } = part;
        if let Some(name) = name {
            self.name = Some(name.of(&text).to_owned()).filter(|name| !name.is_empty());
        }
        self.problems.append(problems, self.lines);
        self.texts.push(text);
        let part = NodeId::at(self.texts.len() - 1).0;
        for found in entries.iter().filter(|entry| !entry.id.is_absent()) {
            let place = NodeId::at(self.nodes.len()).0;
            self.nodes.push(Node {
                offset: found.offset,
                len: found.len,
                line: self.lines.saturating_add(found.line).saturating_add(1),
                part,
                words_part: part,
                parent: parents.next().unwrap_or(NONE),
                traits: found.traits,
                stamp: found.stamp,
                id: found.id,
                words: StrRef::ABSENT,
            });
            let (nodes, texts, hasher) = (&self.nodes, &self.texts, &self.hasher);
            let hash_of = |&node: &u32| {
                let node = &nodes[node as usize];
                hasher.hash_one(node.id.of(&texts[node.part as usize]))
            };
            self.ids.insert_unique(found.hash, place, hash_of);
        }
        self.lines = self.lines.saturating_add(lines);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::core::read::load::LoadOptions;
    use crate::core::read::source::Source;
    use crate::core::session::Session;
    use crate::core::session::sample::{HEADER, entry, label, message};

    /// Returns all that the index says of each entry.
    fn index(session: &Session) -> Vec<String> {
        let row = |node| {
            let (id, parent, children) = (session.id(node), session.parent(node), session.children(node));
            let (line, place) = (session.line(node), session.find(id));
            format!("{node:?} {id} {parent:?} {children:?} {line} {place:?} {:?}", session.stamp(node))
        };
        let mut index: Vec<_> = session.nodes().map(row).collect();
        index.push(format!("{:?} {:?} {:?}", session.leaf(), session.roots(), session.name()));
        index.push(format!("{:?} {} {:?}", session.problems.list(), session.read_to, session.ends));
        index
    }

    #[test]
    fn a_session_that_grew_is_as_one_that_was_read_whole() {
        let user = |id: &str, parent: &str| message(id, parent, "user", "text");
        let table: &[(&str, Vec<String>, bool)] = &[
            ("nothing", vec![], true),
            ("a chain", vec![user("c", "b"), user("d", "c"), user("e", "d")], true),
            ("a fork", vec![user("c", "a"), user("d", "a")], true),
            ("a root", vec![user("c", "")], true),
            ("a name", vec![entry("session_info", "c", "b", r#""name":"New""#)], true),
            ("what is damaged", vec!["{".to_owned(), user("c", "b"), String::new(), user("d", "c")], true),
            ("a line without id", vec![r#"{"type":"x"}"#.to_owned(), user("c", "b")], true),
            ("a label", vec![label("c", "b", "a", "x")], false),
            ("an id of before", vec![user("a", "b")], false),
            ("an id twice", vec![user("c", "b"), user("c", "b")], false),
            ("a parent that is missing", vec![user("c", "z")], false),
            ("a parent that comes later", vec![user("c", "d"), user("d", "b")], false),
            ("what was missing", vec![user("gone", "b")], false),
            ("a stored move", vec![entry("leaf", "c", "b", r#""targetId":"a""#)], false),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let front = [HEADER.to_owned(), user("o", "gone"), user("a", ""), user("b", "a")];
        for (name, lines, expected) in table {
            fs::write(&path, text(&front)).unwrap();
            let open = || Source::open(&path).unwrap();
            let mut session = Session::load(open(), LoadOptions::INDEX_ONLY, 1).unwrap();
            let before = index(&session);
            fs::write(&path, text(&[&front[..], lines].concat())).unwrap();
            assert_eq!(session.grow(open(), 1).unwrap(), *expected, "{name}");
            let whole = Session::load(open(), LoadOptions::INDEX_ONLY, 1).unwrap();
            assert_eq!(index(&session), if *expected { index(&whole) } else { before }, "{name}");
        }
    }

    #[test]
    fn an_old_version_does_not_grow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, HEADER.replace(":3", ":2") + "\n").unwrap();
        let open = || Source::open(&path).unwrap();
        let mut session = Session::load(open(), LoadOptions::INDEX_ONLY, 1).unwrap();
        assert_eq!((session.version, session.grow(open(), 1).unwrap()), (2, false));
    }
}
