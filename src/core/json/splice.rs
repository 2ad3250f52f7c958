//! Changes of an object that leave all other bytes as they are: members are set or inserted by their spans,
//! and nothing is serialised anew.

use std::borrow::Cow;

use super::text::{push_json, push_json_id};
use super::{Cursor, Raw, Span};

/// One member of an object and its spans.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: Vec<u8>,
    /// The span of the name with its quotes.
    pub(crate) key: Span,
    pub(crate) value: Span,
}

/// The members of an object, in the order of the text.
#[derive(Debug)]
pub(crate) struct Members(Vec<Member>);

impl Members {
    /// Finds the members of an object that is known to be well-formed; white space may stand around it.
    pub(crate) fn of(object: &[u8]) -> Self {
        let mut cursor = Cursor::new(object);
        let mut out = Vec::new();
        if cursor.begin_object().is_err() {
            return Self(out);
        }
        let mut first = true;
        loop {
            let before = cursor.position();
            let Ok(Some(key)) = cursor.next_member(&mut first) else { return Self(out) };
            let after = cursor.position();
            let start = before + object[before..after].iter().position(|&byte| byte == b'"').unwrap_or(0);
            let end = before + object[before..after].iter().rposition(|&byte| byte == b'"').map_or(0, |at| at + 1);
            let name = key.name().to_vec();
            let Ok(value) = cursor.value() else { return Self(out) };
            out.push(Member { name, key: Span::new(start, end), value });
        }
    }

    /// Returns all of them.
    pub(crate) fn all(&self) -> &[Member] {
        &self.0
    }

    /// Returns the last member with a name, which is the one that counts.
    pub(crate) fn last(&self, name: &str) -> Option<&Member> {
        self.0.iter().rfind(|member| member.name == name.as_bytes())
    }

    /// Returns the value of a member, as stored.
    pub(crate) fn value<'o>(&self, object: &'o [u8], name: &str) -> Option<Raw<'o>> {
        self.last(name).map(|member| Raw::new(&object[member.value.range()]))
    }

    /// Sets members to JSON text: existing ones in place, others after `type`, else as the first ones.
    pub(crate) fn put(&self, edits: &mut TextEdits, object: &[u8], changes: &[(&str, Vec<u8>)]) {
        let mut fresh = Vec::new();
        for (name, json) in changes {
            match self.last(name) {
                Some(member) => edits.replace(member.value, json.clone()),
                None => {
                    fresh.push(b',');
                    push_json(&mut fresh, name);
                    fresh.push(b':');
                    fresh.extend_from_slice(json);
                }
            }
        }
        if fresh.is_empty() {
            return;
        }
        // Without `type` they become the first members.
        match (self.last("type"), self.0.first()) {
            (Some(kind), _) => edits.insert(kind.value.end, fresh),
            (None, Some(first)) => {
                fresh.remove(0);
                fresh.push(b',');
                edits.insert(first.key.start, fresh);
            }
            (None, None) => {
                fresh.remove(0);
                let brace = object.iter().position(|&byte| byte == b'{').unwrap_or(0);
                edits.insert(Span::new(brace, brace + 1).end, fresh);
            }
        }
    }
}

/// Returns a string or null as JSON text; an id as it was stored.
pub(crate) fn string_or_null(value: Option<&str>) -> Vec<u8> {
    let mut json = Vec::new();
    match value {
        Some(value) => push_json_id(&mut json, value),
        None => json.extend_from_slice(b"null"),
    }
    json
}

/// Changes to a text, at places that do not overlap.
#[derive(Debug, Default)]
pub(crate) struct TextEdits(Vec<(Span, Vec<u8>)>);

impl TextEdits {
    pub(crate) fn replace(&mut self, span: Span, with: Vec<u8>) {
        self.0.push((span, with));
    }

    pub(crate) fn insert(&mut self, at: u32, text: Vec<u8>) {
        self.0.push((Span { start: at, end: at }, text));
    }

    /// Returns whether nothing is to be changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the changes in the order of the text.
    pub(crate) fn sorted(mut self) -> Vec<(Span, Vec<u8>)> {
        self.0.sort_by_key(|(span, _)| (span.start, span.end));
        self.0
    }

    /// Returns the changed text.
    pub(crate) fn apply(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len() + 64);
        let mut at = 0;
        for (span, with) in self.sorted() {
            let range = span.range();
            out.extend_from_slice(text.get(at..range.start).unwrap_or_default());
            out.extend_from_slice(&with);
            at = at.max(range.end);
        }
        out.extend_from_slice(&text[at..]);
        Cow::Owned(out)
    }
}

#[cfg(test)]
mod tests {
    use super::{Members, TextEdits, string_or_null};

    #[test]
    fn members_are_set_in_place_or_after_the_type() {
        let check = |object: &str, changes: &[(&str, Option<&str>)], expected: &str| {
            let changes: Vec<_> = changes.iter().map(|&(name, value)| (name, string_or_null(value))).collect();
            let mut edits = TextEdits::default();
            Members::of(object.as_bytes()).put(&mut edits, object.as_bytes(), &changes);
            assert_eq!(String::from_utf8_lossy(&edits.apply(object.as_bytes())), expected);
        };
        check(r#"{"type":"x","a" : 1.50}"#, &[("a", Some("\"")), ("b", None)], r#"{"type":"x","b":null,"a" : "\""}"#);
        check(r#" {"a":1,"a":2} "#, &[("a", None)], r#" {"a":1,"a":null} "#);
        check("{}", &[("a", Some("b"))], r#"{"a":"b"}"#);
        check(r#"{"n":1}"#, &[("a", Some("b")), ("c", None)], r#"{"a":"b","c":null,"n":1}"#);
        check("[1]", &[], "[1]");
    }
}
