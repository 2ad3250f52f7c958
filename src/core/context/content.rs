//! Pieces of messages as JSON text: texts in parts, blocks, objects with other members. Stored strings are
//! copied as they stand and never decoded. Which message is made of what is decided elsewhere.

use crate::core::context::remote_history;
use crate::core::entry::Entry;
use crate::core::json::text::push_json_body;
use crate::core::json::{Object, Raw};

/// A part of a text: a literal, or a stored string, whose body is copied as it stands instead of being
/// decoded and encoded again; other values count as empty.
#[derive(Clone, Copy)]
pub(super) enum TextPart<'p> {
    Literal(&'p str),
    Stored(Option<Raw<'p>>),
}

use TextPart::{Literal, Stored};

/// Copies an object with some members replaced, or left out (`None`); new ones are added at the end.
pub(super) fn write_changed(out: &mut Vec<u8>, object: Raw<'_>, changes: &[(&str, Option<&[u8]>)]) {
    let mut changed = Object::new(out);
    for (key, value) in object.members() {
        if !changes.iter().any(|(name, _)| name.as_bytes() == key.name()) {
            changed.json(&String::from_utf8_lossy(key.name()), value.bytes());
        }
    }
    for (name, value) in changes {
        value.iter().for_each(|value| _ = changed.json(name, value));
    }
}

/// Returns a JSON list of values.
pub(super) fn list(values: &[Vec<u8>]) -> Vec<u8> {
    [b"[", values.join(&b","[..]).as_slice(), b"]"].concat()
}

/// Returns whether a value is a string, and not an empty one.
pub(super) fn has_text(value: Option<Raw<'_>>) -> bool {
    value.and_then(Raw::string_body).is_some_and(|body| !body.is_empty())
}

/// Writes a user message of one text block and the blocks in `rest`.
pub(super) fn user_text(out: &mut Vec<u8>, message: Raw<'_>, text: &[TextPart<'_>], rest: &[Raw<'_>]) {
    let mut object = Object::new(out);
    let content = object.str("role", "user").value("content");
    content.push(b'[');
    content.extend_from_slice(&block(text));
    for block in rest {
        content.push(b',');
        content.extend_from_slice(block.bytes());
    }
    content.push(b']');
    copy_time(&mut object, message);
}

/// Returns an object, of which `write` adds the members.
pub(super) fn object(write: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Object::new(&mut out));
    out
}

/// Returns a text block.
pub(super) fn block(text: &[TextPart<'_>]) -> Vec<u8> {
    object(|block| write_text(block.str("type", "text").value("text"), text))
}

/// Adds a stored value, if there is one.
pub(super) fn set(object: &mut Object<'_>, name: &str, value: Option<Raw<'_>>) {
    if let Some(value) = value {
        object.json(name, value.bytes());
    }
}

/// Writes a text as a JSON string.
pub(super) fn write_text(out: &mut Vec<u8>, text: &[TextPart<'_>]) {
    out.push(b'"');
    for part in text {
        match part {
            Literal(text) => push_json_body(out, text),
            Stored(value) => out.extend_from_slice(value.and_then(Raw::string_body).unwrap_or_default()),
        }
    }
    out.push(b'"');
}

/// Adds the time of a message.
pub(super) fn copy_time(object: &mut Object<'_>, message: Raw<'_>) {
    if let Some(time) = message.get("timestamp") {
        object.json("timestamp", time.bytes());
    }
}

/// Writes what all agents have of a compaction.
pub(super) fn write_compaction(object: &mut Object<'_>, entry: Entry<'_>, ms: Option<i64>) {
    copy(object.str("role", "compactionSummary"), entry, &["summary", "shortSummary", "tokensBefore"]);
    if let Some((provider, history)) = remote_history(entry) {
        let mut payload = Object::new(object.value("providerPayload"));
        payload.str("type", "openaiResponsesHistory").json("provider", provider.bytes());
        payload.json("items", history.bytes());
    }
    time(object, ms);
}

/// Copies a message with its content replaced; where it has none the new one is added at the end.
pub(super) fn with_content(out: &mut Vec<u8>, message: Raw<'_>, content: &[u8]) {
    let bytes = message.bytes();
    let old = message.members().filter(|(key, _)| key.name() == b"content").last();
    if let Some((_, old)) = old {
        let start = old.bytes().as_ptr().addr() - bytes.as_ptr().addr();
        out.extend_from_slice(&bytes[..start]);
        out.extend_from_slice(content);
        out.extend_from_slice(&bytes[start + old.bytes().len()..]);
        return;
    }
    out.extend_from_slice(bytes);
    Object::reopen(out).json("content", content);
}

/// Returns a content as a list of blocks: a string becomes one text block.
pub(super) fn text_block(content: &[u8]) -> Vec<u8> {
    if !content.starts_with(b"\"") {
        return content.to_vec();
    }
    let mut blocks = b"[{\"type\":\"text\",\"text\":".to_vec();
    blocks.extend_from_slice(content);
    blocks.extend_from_slice(b"}]");
    blocks
}

/// Copies those of the named members that the entry has.
pub(super) fn copy(object: &mut Object<'_>, entry: Entry<'_>, names: &[&str]) {
    for name in names {
        if let Some(value) = entry.get(name) {
            object.json(name, value.bytes());
        }
    }
}

/// Adds a time in milliseconds.
pub(super) fn time(object: &mut Object<'_>, ms: Option<i64>) {
    match ms {
        Some(ms) => object.number("timestamp", ms),
        None => object.json("timestamp", b"null"),
    };
}

/// Returns whether JavaScript's `trim` leaves nothing of a text.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|char| (char.is_whitespace() && char != '\u{85}') || char == '\u{feff}')
}
