//! What changes in the lines of old versions, and the ids that their entries get. The same rules serve
//! sessions in memory and migrated files. Must splice bytes and never serialise a line anew.

use std::borrow::Cow;

use uuid::Uuid;

use crate::core::json::splice::{Members, TextEdits, string_or_null};
use crate::core::json::text;
use crate::core::json::{Raw, Span};

/// Generates the ids of version 1 entries: the same for the same file, each time it is read.
#[derive(Debug)]
pub(crate) struct IdGenerator {
    namespace: Uuid,
    ordinal: u32,
}

impl IdGenerator {
    /// Starts for a session with `ordinal` well-formed lines before its header.
    pub(crate) fn new(header_id: &str, ordinal: u32) -> Self {
        Self { namespace: Uuid::new_v5(&Uuid::NAMESPACE_OID, header_id.as_bytes()), ordinal }
    }

    /// Returns the id of the next line: the first of its candidates that is free.
    pub(crate) fn next(&mut self, is_free: impl Fn(&str) -> bool) -> String {
        let ordinal = self.ordinal;
        self.ordinal += 1;
        let mut attempt = 0_u32;
        loop {
            let name = if attempt == 0 { ordinal.to_string() } else { format!("{ordinal}.{attempt}") };
            let mut id = Uuid::new_v5(&self.namespace, name.as_bytes()).simple().to_string();
            id.truncate(8);
            if is_free(&id) {
                return id;
            }
            attempt += 1;
        }
    }
}

/// Returns an entry with members set to ids or null; a missing member is inserted after `type`.
pub(crate) fn with_ids<'a>(object: &'a [u8], changes: &[(&str, Option<&str>)]) -> Cow<'a, [u8]> {
    if changes.is_empty() {
        return Cow::Borrowed(object);
    }
    let mut edits = TextEdits::default();
    let changes: Vec<_> = changes.iter().map(|&(name, value)| (name, string_or_null(value))).collect();
    Members::of(object).put(&mut edits, object, &changes);
    edits.apply(object)
}

/// Returns a header with version 3.
pub(crate) fn header(object: &[u8]) -> Cow<'_, [u8]> {
    let members = Members::of(object);
    let mut edits = TextEdits::default();
    match (members.last("version"), members.last("type")) {
        (Some(version), _) => edits.replace(version.value, b"3".to_vec()),
        (None, Some(kind)) => edits.insert(kind.value.end, b",\"version\":3".to_vec()),
        (None, None) => {}
    }
    edits.apply(object)
}

/// The ids that a version 1 entry gets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EntryLinks<'a> {
    pub(crate) id: &'a str,
    pub(crate) parent: Option<&'a str>,
}

/// Returns an entry's text as version 3 has it, with as few changes as possible.
///
/// `links` is given for version 1; `kept` returns the id of the well-formed line with a place, counted
/// from 0, if it is that of this entry or an earlier one.
pub(crate) fn rewrite<'a>(
    object: &'a [u8],
    links: Option<EntryLinks<'_>>,
    kept: impl Fn(usize) -> Option<String>,
) -> Cow<'a, [u8]> {
    let mut edits = TextEdits::default();
    if let Some(links) = links {
        link(&mut edits, object, links, kept);
    }
    rename_role(&mut edits, object);
    edits.apply(object)
}

fn link(edits: &mut TextEdits, object: &[u8], links: EntryLinks<'_>, kept: impl Fn(usize) -> Option<String>) {
    let members = Members::of(object);
    let is_compaction = members.value(object, "type").is_some_and(|kind| kind.bytes() == b"\"compaction\"");
    let places = [("id", string_or_null(Some(links.id))), ("parentId", string_or_null(links.parent))];
    members.put(edits, object, &places);
    if !is_compaction {
        return;
    }
    let Some(counted) = members.last("firstKeptEntryIndex").map(|member| member.value) else { return };
    let index = Raw::new(&object[counted.range()]).number();
    let Some(index) = index.filter(|index| index.fract() == 0.0) else { return };
    // Whole, and in range where it counts: the cast is exact.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let kept = if (0.0..=f64::from(u32::MAX)).contains(&index) { kept(index as usize) } else { None };
    let mut stays_before = false;
    for (at, member) in members.all().iter().enumerate() {
        let is_index = member.name == b"firstKeptEntryIndex";
        match &kept {
            _ if !is_index => stays_before = true,
            Some(id) if member.value == counted => {
                let mut json = Vec::new();
                text::push_json(&mut json, id);
                edits.replace(member.key, b"\"firstKeptEntryId\"".to_vec());
                edits.replace(member.value, json);
                stays_before = true;
            }
            // A comma is removed with it: the one before, if a member before stays, else the one after.
            _ if stays_before => {
                edits.replace(Span { start: members.all()[at - 1].value.end, end: member.value.end }, Vec::new());
            }
            _ => {
                let end = members.all().get(at + 1).map_or(member.value.end, |next| next.key.start);
                edits.replace(Span { start: member.key.start, end }, Vec::new());
            }
        }
    }
}

/// Replaces the role `hookMessage` by its current name, `custom`.
fn rename_role(edits: &mut TextEdits, object: &[u8]) {
    // Most lines do not have the name anywhere, which is much faster to find out.
    if memchr::memmem::find(object, b"hookMessage").is_none() && memchr::memmem::find(object, b"\\u").is_none() {
        return;
    }
    let is = |text: &[u8], value: Span, name: &str| Raw::new(&text[value.range()]).str().as_deref() == Some(name);
    let outer = Members::of(object);
    let (Some(kind), Some(message)) = (outer.last("type"), outer.last("message")) else { return };
    let (from, message) = (message.value.start, &object[message.value.range()]);
    let inner = Members::of(message);
    let Some(role) = inner.last("role").map(|role| role.value) else { return };
    if is(object, kind.value, "message") && is(message, role, "hookMessage") {
        edits.replace(Span { start: from + role.start, end: from + role.end }, b"\"custom\"".to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::{EntryLinks, rewrite};

    fn check(line: &str, expected: &str) {
        let links = EntryLinks { id: "00000002", parent: Some("00000001") };
        let kept = |at: usize| (at == 1).then(|| "00000001".to_owned());
        let out = rewrite(line.as_bytes(), Some(links), kept);
        assert_eq!(String::from_utf8_lossy(&out), expected);
        assert!(serde_json::from_slice::<serde::de::IgnoredAny>(&out).is_ok());
    }

    #[test]
    fn new_members_go_after_type() {
        check(r#"{"type":"x","n":1E5}"#, r#"{"type":"x","id":"00000002","parentId":"00000001","n":1E5}"#);
        check(r#"{ "n": 1, "type" : "x" }"#, r#"{ "n": 1, "type" : "x","id":"00000002","parentId":"00000001" }"#);
        check(r#"{"n":1}"#, r#"{"id":"00000002","parentId":"00000001","n":1}"#);
        check("{}", r#"{"id":"00000002","parentId":"00000001"}"#);
        check(r#"{ }"#, r#"{"id":"00000002","parentId":"00000001" }"#);
    }

    #[test]
    fn existing_members_are_replaced_in_place() {
        check(r#"{"id":7,"type":"x","parentId":"?"}"#, r#"{"id":"00000002","type":"x","parentId":"00000001"}"#);
        check(r#"{"type":"x","id":1,"id":2}"#, r#"{"type":"x","parentId":"00000001","id":1,"id":"00000002"}"#);
    }

    #[test]
    fn first_kept_index_becomes_an_id() {
        let of = |rest: &str| format!(r#"{{"type":"compaction","id":"00000002","parentId":"00000001"{rest}}}"#);
        let check = |rest: &str, expected: &str| check(&format!(r#"{{"type":"compaction"{rest}}}"#), &of(expected));
        check(r#","firstKeptEntryIndex": 1 ,"a":0"#, r#","firstKeptEntryId": "00000001" ,"a":0"#);
        check(r#","firstKeptEntryIndex":9,"a":0"#, r#","a":0"#);
        check(r#","firstKeptEntryIndex":-1"#, "");
        check(r#","firstKeptEntryIndex":1.5"#, r#","firstKeptEntryIndex":1.5"#);
        check(r#","firstKeptEntryIndex":"1""#, r#","firstKeptEntryIndex":"1""#);
    }

    #[test]
    fn only_the_role_of_a_message_is_renamed() {
        let check = |line: &str, expected: &str| {
            let out = rewrite(line.as_bytes(), None, |_| None);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        };
        check(
            r#"{"type":"message","message":{"role":"hookMessage","content":"role:hookMessage"}}"#,
            r#"{"type":"message","message":{"role":"custom","content":"role:hookMessage"}}"#,
        );
        check(
            r#"{"type":"message","message":{"role":"\u0068ookMessage"}}"#,
            r#"{"type":"message","message":{"role":"custom"}}"#,
        );
        for same in [
            r#"{"type":"custom","message":{"role":"hookMessage"}}"#,
            r#"{"type":"message","message":{"role":"user","content":"hookMessage"}}"#,
            r#"{"type":"message","message":"hookMessage"}"#,
        ] {
            check(same, same);
        }
    }
}
