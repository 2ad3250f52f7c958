//! The answer of a model as it is sent to another one, or back to the same.

use super::target::{Kinship, Quoting};
use crate::core::context::content::TextPart::{Literal, Stored};
use crate::core::context::content::{block, is_blank, list, object, set, with_content, write_changed};
use crate::core::json::Raw;
use crate::core::json::text::push_json;

/// What becomes of a block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It stays as it is.
    Keep,
    /// It is left out.
    Drop,
    /// It is another block.
    Block(Vec<u8>),
}

/// Writes an answer. `ids` has the new ids of its calls, `None` for those that are left out; all stay if it is
/// empty. `change` says what becomes of its blocks, those of calls with their new ids.
pub(super) fn write(out: &mut Vec<u8>, message: Raw<'_>, ids: &[Option<String>], change: &dyn Fn(Raw<'_>) -> Change) {
    let content = message.get("content");
    if content.is_none_or(Raw::is_null) {
        return with_content(out, message, b"[]");
    }
    let mut ids = ids.iter();
    let mut is_changed = false;
    let mut blocks = Vec::new();
    for block in content.iter().flat_map(|content| content.elements()) {
        let is_call = block.get_str("type").as_deref() == Some("toolCall");
        let renamed = match is_call.then(|| ids.next()).flatten() {
            Some(None) => Change::Drop,
            Some(Some(id)) if block.get_str("id").unwrap_or_default() != *id => {
                let mut new = Vec::new();
                push_json(&mut new, id);
                changed(block, &[("id", Some(&new))])
            }
            _ => Change::Keep,
        };
        let (block, is_renamed) = match renamed {
            Change::Keep => (block.bytes().to_vec(), false),
            Change::Block(block) => (block, true),
            Change::Drop => {
                is_changed = true;
                continue;
            }
        };
        let change = change(Raw::new(&block));
        is_changed |= is_renamed || change != Change::Keep;
        match change {
            Change::Keep => blocks.push(block),
            Change::Block(block) => blocks.push(block),
            Change::Drop => {}
        }
    }
    match is_changed {
        true => with_content(out, message, &list(&blocks)),
        false => out.extend_from_slice(message.bytes()),
    }
}

/// Returns what pi makes of a block: only its author gets reasoning back.
pub(super) fn pi(block: Raw<'_>, author: Kinship) -> Change {
    let is_own = author == Kinship::Same;
    match block.get_str("type").as_deref() {
        Some("thinking") => {
            let is_redacted = block.get("redacted").is_some_and(Raw::is_true);
            keep_if(is_own && (is_redacted || is_signed(block) || has_thoughts(block)))
        }
        _ if is_own => Change::Keep,
        kind => unsigned(kind, block),
    }
}

/// Returns what omp makes of a block: another model gets reasoning without what only its author could check,
/// or as text.
pub(super) fn omp(stored: Raw<'_>, author: Kinship, quoting: Quoting, keeps_signature: bool) -> Change {
    let is_own = author == Kinship::Same;
    match stored.get_str("type").as_deref() {
        Some("thinking") => match author {
            Kinship::Same => keep_if(has_thoughts(stored) || is_signed(stored)),
            Kinship::Anthropic { is_own } if !is_own || keeps_signature => {
                keep_if(has_thoughts(stored) || is_signed(stored))
            }
            _ if !has_thoughts(stored) => Change::Drop,
            Kinship::Anthropic { .. } => changed(stored, &[("thinkingSignature", None)]),
            Kinship::Other => {
                let thoughts = Stored(stored.get("thinking"));
                Change::Block(match quoting {
                    Quoting::Plain => block(&[thoughts]),
                    Quoting::Between(before, after) => block(&[Literal(before), thoughts, Literal(after)]),
                })
            }
        },
        Some("redactedThinking") => keep_if(is_own),
        Some("image") => Change::Drop,
        _ if is_own => Change::Keep,
        kind => unsigned(kind, stored),
    }
}

/// Returns a text or a call without the signature of its author.
fn unsigned(kind: Option<&str>, block: Raw<'_>) -> Change {
    match kind {
        Some("text") => Change::Block(object(|plain| set(plain.str("type", "text"), "text", block.get("text")))),
        Some("toolCall") if block.get("thoughtSignature").is_some() => changed(block, &[("thoughtSignature", None)]),
        _ => Change::Keep,
    }
}

fn changed(block: Raw<'_>, changes: &[(&str, Option<&[u8]>)]) -> Change {
    let mut changed = Vec::new();
    write_changed(&mut changed, block, changes);
    Change::Block(changed)
}

fn keep_if(is_kept: bool) -> Change {
    if is_kept { Change::Keep } else { Change::Drop }
}

fn is_signed(block: Raw<'_>) -> bool {
    block.get_str("thinkingSignature").is_some_and(|signature| !signature.is_empty())
}

fn has_thoughts(block: Raw<'_>) -> bool {
    block.get_str("thinking").is_some_and(|thoughts| !is_blank(&thoughts))
}
