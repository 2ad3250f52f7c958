//! New entries: each a child of the one before it, as agents append them.

use std::collections::HashSet;

use crate::core::json::Object;
use crate::core::json::text::push_json;

/// A member's value.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A string.
    Str(&'a str),
    /// JSON text.
    Json(&'a [u8]),
}

/// What new entries get from outside.
pub struct IdsAndTime<'w> {
    /// The time that new entries get, in the spelling of agents.
    pub now: String,
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
    now: &'d str,
    fresh: &'d mut dyn FnMut() -> String,
    is_taken: &'d dyn Fn(&str) -> bool,
}

impl<'d> Draft<'d> {
    /// Starts at a leaf; the first entry becomes its child.
    pub fn new<'w: 'd>(ids: &'d mut IdsAndTime<'w>, leaf: Option<String>, is_taken: &'d dyn Fn(&str) -> bool) -> Self {
        Self {
            leaf,
            lines: Vec::new(),
            ids: Vec::new(),
            used: HashSet::new(),
            now: &ids.now,
            fresh: ids.fresh,
            is_taken,
        }
    }

    /// Returns the entry that the next one becomes a child of.
    pub fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// Adds an entry as child of the leaf and makes it the leaf.
    pub fn append(&mut self, kind: &str, members: &[(&str, Value<'_>)]) {
        let mut now = Vec::new();
        push_json(&mut now, self.now);
        self.append_at(kind, &now, members);
    }

    /// As [`Self::append`], with a timestamp as stored elsewhere.
    pub fn append_at(&mut self, kind: &str, timestamp: &[u8], members: &[(&str, Value<'_>)]) {
        let id = loop {
            let id = (self.fresh)();
            if !(self.is_taken)(&id) && self.used.insert(id.clone()) {
                break id;
            }
        };
        let mut entry = Object::new(&mut self.lines);
        entry.str("type", kind).str("id", &id).str_or_null("parentId", self.leaf.as_deref());
        entry.json("timestamp", timestamp);
        for (name, value) in members {
            match value {
                Value::Str(text) => _ = entry.str(name, text),
                // Line ends can only stand between its tokens.
                Value::Json(json) => {
                    entry.value(name).extend(json.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte }))
                }
            }
        }
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
    let mut ids = IdsAndTime { now: "T".to_owned(), fresh: &mut fresh };
    let mut draft = Draft::new(&mut ids, leaf.map(str::to_owned), &|_| false);
    make(&mut draft);
    String::from_utf8(draft.lines).unwrap().lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Draft, IdsAndTime, Value, drafted};

    #[test]
    fn each_new_entry_is_a_child_of_the_one_before() {
        let lines = drafted(Some("u1"), |draft| {
            draft.append("a\"b", &[("x", Value::Str("é\u{1}")), ("y", Value::Json(b"[1.0,\r\n2]"))]);
            draft.append_at("c", b"17", &[]);
        });
        let first = r#"{"type":"a\"b","id":"n1","parentId":"u1","timestamp":"T","x":"é\u0001","y":[1.0,  2]}"#;
        assert_eq!(lines, [first, r#"{"type":"c","id":"n2","parentId":"n1","timestamp":17}"#]);
    }

    #[test]
    fn an_id_that_is_taken_is_not_used() {
        let mut given = ["n1", "n1", "taken", "n2"].into_iter().map(str::to_owned);
        let mut fresh = || given.next().unwrap();
        let mut ids = IdsAndTime { now: "T".to_owned(), fresh: &mut fresh };
        let mut draft = Draft::new(&mut ids, None, &|id| id == "taken");
        draft.append("a", &[]);
        draft.append("b", &[]);
        assert_eq!(draft.ids, ["n1", "n2"]);
        assert!(draft.lines.starts_with(br#"{"type":"a","id":"n1","parentId":null"#));
    }
}
