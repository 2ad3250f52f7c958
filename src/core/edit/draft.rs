//! New entries: each a child of the one before it, as agents append them.

use std::collections::HashSet;

use crate::core::json::Object;

/// What new entries get from outside.
pub struct IdsAndTime<'w> {
    /// Returns the time that new entries get, in the spelling of agents; called once they are on their way into
    /// the file, so that they do not look older than those of others before them.
    pub now: &'w dyn Fn() -> String,
    /// Makes ids, 8 hex digits each; they need not be free.
    pub fresh: &'w mut dyn FnMut() -> String,
}

/// Entries on their way into a file.
pub struct Draft<'d> {
    leaf: Option<String>,
    /// The lines, each with its LF.
    pub lines: Vec<u8>,
    /// The ids of the new entries.
    pub ids: Vec<String>,
    /// The same, to be found fast.
    used: HashSet<String>,
    now: String,
    fresh: &'d mut dyn FnMut() -> String,
    is_taken: &'d dyn Fn(&str) -> bool,
}

impl<'d> Draft<'d> {
    /// Starts at a leaf; the first entry becomes its child.
    pub fn new<'w: 'd>(ids: &'d mut IdsAndTime<'w>, leaf: Option<String>, is_taken: &'d dyn Fn(&str) -> bool) -> Self {
        let IdsAndTime { now, fresh } = ids;
        Self { leaf, lines: Vec::new(), ids: Vec::new(), used: HashSet::new(), now: now(), fresh, is_taken }
    }

    /// Returns the entry that the next one becomes a child of.
    pub fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// Adds an entry as child of the leaf and makes it the leaf; `members` writes the members of its type.
    pub fn append(&mut self, kind: &str, members: impl FnOnce(&mut Object<'_>)) {
        self.append_at(kind, None, members);
    }

    /// As [`Self::append`], with a timestamp as stored elsewhere, if there is one.
    pub fn append_at(&mut self, kind: &str, timestamp: Option<&[u8]>, members: impl FnOnce(&mut Object<'_>)) {
        let id = loop {
            let id = (self.fresh)();
            if !(self.is_taken)(&id) && self.used.insert(id.clone()) {
                break id;
            }
        };
        let mut entry = Object::new(&mut self.lines);
        entry.str("type", kind).str("id", &id).id_or_null("parentId", self.leaf.as_deref());
        match timestamp {
            Some(stored) => entry.json("timestamp", stored),
            None => entry.str("timestamp", &self.now),
        };
        members(&mut entry);
        drop(entry);
        self.lines.push(b'\n');
        self.leaf = Some(id.clone());
        self.ids.push(id);
    }
}

/// Returns what makes the ids `n1`, `n2` and so on.
#[cfg(test)]
pub(crate) fn numbered() -> impl FnMut() -> String {
    let mut count = 0;
    move || {
        count += 1;
        format!("n{count}")
    }
}

/// Returns the lines that `make` adds after an entry, with the ids `n1`, `n2` and so on, and the
/// time `T`.
#[cfg(test)]
pub(crate) fn drafted(leaf: Option<&str>, make: impl FnOnce(&mut Draft<'_>)) -> Vec<String> {
    let mut fresh = numbered();
    let mut ids = IdsAndTime { now: &|| "T".to_owned(), fresh: &mut fresh };
    let mut draft = Draft::new(&mut ids, leaf.map(str::to_owned), &|_| false);
    make(&mut draft);
    String::from_utf8(draft.lines).unwrap().lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Draft, IdsAndTime, drafted};

    #[test]
    fn each_new_entry_is_a_child_of_the_one_before() {
        let lines = drafted(Some("u1"), |draft| {
            draft.append("a\"b", |entry| _ = entry.str("x", "é\u{1}"));
            draft.append_at("c", Some(b"17"), |_| ());
        });
        let first = r#"{"type":"a\"b","id":"n1","parentId":"u1","timestamp":"T","x":"é\u0001"}"#;
        assert_eq!(lines, [first, r#"{"type":"c","id":"n2","parentId":"n1","timestamp":17}"#]);
    }

    #[test]
    fn an_id_that_is_taken_is_not_used() {
        let mut given = ["n1", "n1", "taken", "n2"].into_iter().map(str::to_owned);
        let mut fresh = || given.next().unwrap();
        let mut ids = IdsAndTime { now: &|| "T".to_owned(), fresh: &mut fresh };
        let mut draft = Draft::new(&mut ids, None, &|id| id == "taken");
        draft.append("a", |_| ());
        draft.append("b", |_| ());
        assert_eq!(draft.ids, ["n1", "n2"]);
        assert!(draft.lines.starts_with(br#"{"type":"a","id":"n1","parentId":null"#));
    }
}
