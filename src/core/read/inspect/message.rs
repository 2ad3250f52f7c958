//! What is odd about a message: its role, content, usage and call.

use std::borrow::Cow;

use super::notes::{LineNotes, hash};
use super::oddity::{Oddity, place};
use crate::core::entry::{BlockKind, Entry, Role};
use crate::core::json::{self, Cursor, Raw};

/// Inspects a message entry.
pub(super) fn message(notes: &mut LineNotes, number: u32, entry: Entry<'_>) {
    let Some(message) = entry.message().filter(|message| message.kind() == json::ValueKind::Object) else {
        return notes.push(number, Oddity::NoMessage);
    };
    let role = entry.role();
    match role {
        Role::None | Role::Unknown => return notes.push(number, Oddity::NoRole),
        Role::BashExecution | Role::PythonExecution | Role::FileMention => return,
        Role::BranchSummary | Role::CompactionSummary => return,
        Role::ToolResult => match entry.tool_call_id() {
            Some(call) => notes.results.push((number, hash(call.as_bytes()))),
            None => notes.push(number, Oddity::NoCallId),
        },
        Role::Assistant => {
            for block in entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall) {
                if let Some(id) = block.id() {
                    notes.calls.push((number, hash(id.as_bytes())));
                }
            }
            let usage = usage(message, entry.content()).filter(|usage| !usage.is_null());
            if usage.is_none_or(|usage| usage.get("cost").is_none_or(Raw::is_null)) {
                notes.push(number, if usage.is_some() { Oddity::NoCost { is_message: true } } else { Oddity::NoUsage });
            }
        }
        _ => {}
    }
    content(notes, number, entry, role);
}

/// Returns the `usage` of a message. It mostly follows the content, which is long and need not be parsed
/// again.
fn usage<'l>(message: Raw<'l>, content: Option<Raw<'l>>) -> Option<Raw<'l>> {
    let front = message.bytes().as_ptr().addr();
    let after = content.map(|content| content.bytes().as_ptr().addr() + content.bytes().len());
    let tail = after.and_then(|after| message.bytes().get(after.checked_sub(front)?..));
    if let Some(tail) = tail {
        let mut cursor = Cursor::new(tail);
        while let Ok(Some(key)) = cursor.next_member(&mut false) {
            let Ok(value) = cursor.value() else { break };
            if key.name() == b"usage" {
                return Some(Raw::new(cursor.text(value)));
            }
        }
    }
    message.get("usage")
}

/// Inspects the content of a message.
pub(super) fn content(notes: &mut LineNotes, number: u32, entry: Entry<'_>, role: Role) {
    let Some(content) = entry.content().filter(|content| content.kind() != json::ValueKind::Null) else {
        return notes.push(number, Oddity::NoContent);
    };
    let may_be_string = !matches!(role, Role::Assistant | Role::ToolResult);
    match content.kind() {
        json::ValueKind::String if may_be_string => return,
        json::ValueKind::Array => {}
        _ => return notes.push(number, Oddity::BadContent),
    }
    let is_sound = |raw: Option<Raw<'_>>| raw.is_some_and(|raw| raw.kind() == json::ValueKind::String);
    for (at, block) in entry.blocks().enumerate() {
        let sound = match block.kind() {
            BlockKind::Text => is_sound(block.text()),
            BlockKind::ToolCall => {
                let is_object = |raw: Raw<'_>| raw.kind() == json::ValueKind::Object;
                let is_named = |name: Option<Cow<'_, str>>| name.is_some_and(|name| !name.is_empty());
                is_named(block.id()) && is_named(block.name()) && block.arguments().is_some_and(is_object)
            }
            BlockKind::Image | BlockKind::Other => is_sound_other(block.raw()),
        };
        if !sound {
            return notes.push(number, Oddity::BadBlock { number: place(at) });
        }
    }
}

/// Returns whether agents can send a block that is neither text nor a call: it needs a type, and what an image or
/// reasoning holds must be text. Nothing else is known of most types.
fn is_sound_other(block: Raw<'_>) -> bool {
    let [kind, data, thinking] = block.pick(["type", "data", "thinking"]);
    let held = match kind.and_then(Raw::str).as_deref() {
        None => return false,
        Some("image") => data,
        Some("thinking") => thinking,
        Some(_) => None,
    };
    held.is_none_or(|value| value.kind() == json::ValueKind::String)
}

#[cfg(test)]
mod tests {
    #[test]
    fn images_and_reasoning_have_text() {
        let odd = |block: &str| !super::is_sound_other(crate::core::json::Raw::new(block.as_bytes()));
        for block in [r#"{"type":"image","data":5}"#, r#"{"type":"thinking","thinking":null}"#, r#"{"data":"x"}"#, "7"]
        {
            assert!(odd(block), "{block}");
        }
        for block in [r#"{"type":"image","data":"x"}"#, r#"{"type":"thinking"}"#, r#"{"type":"new","data":5}"#] {
            assert!(!odd(block), "{block}");
        }
    }
}
