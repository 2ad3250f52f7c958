//! New entries: each a child of the one before it, as agents append them.

use std::collections::HashSet;

use super::json::Object;
use super::text::push_json;

/// A member's value.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A string.
    Str(&'a str),
    /// JSON text.
    Json(&'a [u8]),
}

/// What new entries need from outside.
pub struct World<'w> {
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
    pub fn new<'w: 'd>(world: &'d mut World<'w>, leaf: Option<String>, is_taken: &'d dyn Fn(&str) -> bool) -> Self {
        Self {
            leaf,
            lines: Vec::new(),
            ids: Vec::new(),
            used: HashSet::new(),
            now: &world.now,
            fresh: world.fresh,
            is_taken,
        }
    }

    /// Gives the entry that the next one becomes a child of.
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
