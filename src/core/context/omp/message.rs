//! The messages that only omp holds, or holds in another form.

use super::{NOTES, notes_text};
use crate::core::context::content::TextPart::{Literal, Stored};
use crate::core::context::content::{
    block, copy, has_text, list, object, set, time, with_content, write_changed, write_compaction,
};
use crate::core::context::remote_history;
use crate::core::entry::Entry;
use crate::core::error::Result;
use crate::core::json::{Object, Raw, ValueKind};
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;

/// What is said before omp's notebook.
const INTRODUCTION: &str =
    "The notebook of this session, as it was last written. What stands in it may be out of date or wrong:";

/// Writes the notebook.
///
/// # Errors
/// As [`Bodies::entry`].
pub(in crate::core::context) fn write_notes(out: &mut Vec<u8>, bodies: &mut Bodies<'_>, node: NodeId) -> Result<()> {
    let ms = bodies.session().stamp(node).ms();
    let notes = notes_text(bodies.entry(node)?).unwrap_or_default();
    let tag = "experimental-context-notes";
    let text = format!("<{tag}>\n{INTRODUCTION}\n\n{}\n</{tag}>", notes.trim_end());
    let mut object = Object::new(out);
    object.str("role", "custom").str("customType", NOTES).str("content", &text);
    time(object.json("display", b"false"), ms);
    Ok(())
}

/// Writes the summary of a compaction before `next`, which is the compaction itself if nothing follows.
///
/// # Errors
/// As [`Bodies::entry`].
pub(in crate::core::context) fn write_summary(
    out: &mut Vec<u8>,
    bodies: &mut Bodies<'_>,
    node: NodeId,
    next: NodeId,
) -> Result<()> {
    let stamp = |node| bodies.session().stamp(node).ms();
    let (own, before_next) = (stamp(node), stamp(next).filter(|_| next != node).map(|ms| ms - 1));
    let entry = bodies.entry(node)?;
    let sealed = sealed_history(entry).filter(|_| remote_history(entry).is_none());
    let mut object = Object::new(out);
    copy(&mut object, entry, &["method", "warning"]);
    if let Some((provider, content)) = sealed {
        let mut payload = Object::new(object.value("providerPayload"));
        payload.str("type", "anthropicCompaction").json("provider", provider.bytes());
        payload.json("content", content.bytes());
    }
    pictures(&mut object, entry);
    write_compaction(&mut object, entry, before_next.filter(|_| sealed.is_some()).or(own));
    Ok(())
}

/// Writes an assistant message without some of its calls, given by their places; the reasoning that was signed
/// with them loses its signature.
///
/// # Errors
/// As [`Bodies::entry`].
pub(in crate::core::context) fn write_trimmed(
    out: &mut Vec<u8>,
    bodies: &mut Bodies<'_>,
    node: NodeId,
    calls: &[usize],
) -> Result<()> {
    let message = bodies.entry(node)?.message().unwrap_or(Raw::new(b"{}"));
    let mut blocks = Vec::new();
    let mut call = 0;
    let mut left_out = calls.iter().peekable();
    for block in message.get("content").iter().flat_map(|content| content.elements()) {
        match block.get_str("type").as_deref() {
            Some("toolCall") => {
                if left_out.next_if_eq(&&call).is_none() {
                    blocks.push(block.bytes().to_vec());
                }
                call += 1;
            }
            Some("thinking") => {
                let mut unsigned = Vec::new();
                write_changed(&mut unsigned, block, &[("thinkingSignature", None)]);
                blocks.push(unsigned);
            }
            Some("redactedThinking") => {}
            _ => blocks.push(block.bytes().to_vec()),
        }
    }
    with_content(out, message, &list(&blocks));
    Ok(())
}

/// Returns the provider and the content of a compaction that only Anthropic can read.
fn sealed_history(entry: Entry<'_>) -> Option<(Raw<'_>, Raw<'_>)> {
    let sealed = entry.get("preserveData")?.get("anthropicCompaction")?;
    let text = |name| sealed.get(name).filter(|text| has_text(Some(*text)));
    Some((text("provider")?, text("content")?))
}

/// Adds the pictures of old conversation that a compaction may have, with the texts around them, as blocks,
/// and the pictures alone as images.
fn pictures(object: &mut Object<'_>, entry: Entry<'_>) {
    let archive = entry.get("preserveData").and_then(|data| data.get("snapcompact"));
    let frames = archive.and_then(|archive| archive.get("frames")).filter(|frames| frames.kind() == ValueKind::Array);
    let (Some(archive), Some(frames)) = (archive, frames) else { return };
    let frames: Vec<_> = frames.elements().filter(is_frame).collect();
    let text = |name| archive.get(name).filter(|text| has_text(Some(*text)));
    let (head, tail) = (text("textHead"), text("textTail"));
    if frames.is_empty() {
        if head.or(tail).is_some() {
            object.json("blocks", &list(&[block(&[Stored(head), Stored(tail)])]));
        }
        return;
    }
    let mut images = Vec::new();
    let mut blocks = Vec::new();
    if head.is_some() {
        blocks.push(block(&[Stored(head), Literal("\n-------------- imaged middle below\n")]));
    }
    for run in frames.chunk_by(|a, b| is_stored_elsewhere(a) == is_stored_elsewhere(b)) {
        if is_stored_elsewhere(&run[0]) {
            let frames = if run.len() == 1 { "frame" } else { "frames" };
            let text = format!("-------------- {} archived image {frames} unavailable here --------------", run.len());
            blocks.push(block(&[Literal(&text)]));
            continue;
        }
        let shown = run.iter().map(|frame| image(*frame)).collect::<Vec<_>>();
        images.extend_from_slice(&shown);
        blocks.extend(shown);
    }
    if tail.is_some() {
        blocks.push(block(&[Literal("-------------- imaged middle above\n"), Stored(tail)]));
    }
    object.json("blocks", &list(&blocks));
    if !images.is_empty() {
        object.json("images", &list(&images));
    }
}

fn is_frame(frame: &Raw<'_>) -> bool {
    let is = |name, kind| frame.get(name).is_some_and(|value: Raw<'_>| value.kind() == kind);
    ["data", "mimeType"].iter().all(|name| is(name, ValueKind::String))
        && ["cols", "rows", "chars"].iter().all(|name| is(name, ValueKind::Number))
}

fn is_stored_elsewhere(frame: &Raw<'_>) -> bool {
    frame.get_str("data").is_some_and(|data| data.starts_with("blob:"))
}

fn image(frame: Raw<'_>) -> Vec<u8> {
    object(|image| {
        image.str("type", "image");
        for name in ["data", "mimeType", "detail"] {
            set(image, name, frame.get(name));
        }
    })
}
