//! The messages that omp 18 sends for those that it holds, answers and results apart.

use super::text;
use crate::core::context::content::TextPart::{self, Literal, Stored};
use crate::core::context::content::{
    block, copy_time, has_text, set, text_block, user_text, write_changed, write_text,
};
use crate::core::context::message;
use crate::core::context::omp::{SKILL, is_falsy};
use crate::core::context::sent::step::Part;
use crate::core::entry::message::Message;
use crate::core::json::text::push_json;
use crate::core::json::{Object, Raw, ValueKind};

/// Returns the parts of a message that are sent as messages of their own, or the whole.
pub(super) fn parts(message: Raw<'_>) -> &'static [Part] {
    let both = |has_text, has_images| -> &'static [Part] {
        match (has_text, has_images) {
            (true, true) => &[Part::Text, Part::Images],
            (true, false) => &[Part::Text],
            (false, true) => &[Part::Images],
            (false, false) => &[],
        }
    };
    match role(message).as_str() {
        "user" | "developer" | "branchSummary" | "compactionSummary" => &[Part::Whole],
        "bashExecution" | "pythonExecution" if message.get("excludeFromContext").is_some_and(Raw::is_true) => &[],
        "bashExecution" | "pythonExecution" => &[Part::Whole],
        "custom" | "hookMessage" if is_request(message) => &[Part::Whole],
        "custom" | "hookMessage" => {
            let has_images = blocks(message).any(is_image);
            both(!has_images || blocks(message).any(|block| !is_image(block)), has_images)
        }
        "fileMention" => {
            both(files(message).any(|file| image(file).is_none()), files(message).any(|file| image(file).is_some()))
        }
        _ => &[],
    }
}

/// Writes a part of a message.
pub(in crate::core::context::sent) fn write(out: &mut Vec<u8>, message: Raw<'_>, part: Part) {
    match role(message).as_str() {
        "custom" | "hookMessage" => custom(out, message, part),
        "fileMention" => file_mention(out, message, part),
        "compactionSummary" => summary(out, message),
        "branchSummary" => {
            tidied(out, message);
            rewritten(&mut Object::reopen(out), message);
        }
        "bashExecution" | "pythonExecution" => execution(out, message),
        "developer" => attributed(out, message, "agent"),
        _ => attributed(out, message, "user"),
    }
}

/// Copies a message, and says whose it is unless it says so itself.
pub(in crate::core::context::sent) fn attributed(out: &mut Vec<u8>, message: Raw<'_>, whose: &str) {
    out.extend_from_slice(message.bytes());
    if message.get("attribution").is_none() {
        Object::reopen(out).str("attribution", whose);
    }
}

/// Writes the text of a result whose call is gone, and returns whether there is any.
pub(in crate::core::context::sent) fn write_stale(out: &mut Vec<u8>, result: Raw<'_>) -> bool {
    let content = result.get("content").filter(|content| content.kind() == ValueKind::String);
    let texts = blocks(result).filter_map(|block| block.get("text").filter(|text| has_text(Some(*text))));
    let texts: Vec<_> = content.into_iter().filter(|text| has_text(Some(*text))).chain(texts).collect();
    if texts.is_empty() {
        return false;
    }
    let mut text = vec![Literal("<stale-tool-result tool=\""), Stored(result.get("toolName")), Literal("\" id=\"")];
    let is_error = !result.get("isError").is_none_or(is_falsy);
    let end = if is_error { "\" is-error=\"true\">" } else { "\">" };
    text.extend([Stored(result.get("toolCallId")), Literal(end)]);
    text.extend(texts.iter().flat_map(|text| [Literal("\n"), Stored(Some(*text))]));
    text.push(Literal("\n</stale-tool-result>"));
    let mut object = Object::new(out);
    write_text(object.str("role", "user").value("content"), &text);
    copy_time(&mut object, result);
    true
}

fn custom(out: &mut Vec<u8>, message: Raw<'_>, part: Part) {
    let role = if part == Part::Text { "developer" } else { "user" };
    let mut object = Object::new(out);
    object.str("role", role);
    let content = message.get("content").filter(|content| content.kind() != ValueKind::Null);
    match part {
        Part::Whole => {
            _ = object.json("content", &content.map_or(b"[]".to_vec(), |content| text_block(content.bytes())))
        }
        Part::Text if content.is_some_and(|content| content.kind() == ValueKind::String) => {
            object.json("content", &text_block(content.map(Raw::bytes).unwrap_or_default()));
        }
        Part::Text => list(object.value("content"), None, blocks(message).filter(|block| !is_image(*block))),
        Part::Images => {
            let caption = [Literal("Images attached to "), Stored(message.get("customType")), Literal(".")];
            list(object.value("content"), Some(&caption), blocks(message).filter(|block| is_image(*block)));
        }
    }
    set(&mut object, "attribution", message.get("attribution"));
    copy_time(&mut object, message);
}

fn file_mention(out: &mut Vec<u8>, message: Raw<'_>, part: Part) {
    let role = if part == Part::Text { "developer" } else { "user" };
    let mut text = Vec::new();
    for file in files(message).filter(|file| image(*file).is_some() == (part == Part::Images)) {
        text.push(Literal(if text.is_empty() { "<file path=\"" } else { "\n<file path=\"" }));
        // An empty file gets no line between the tags.
        let content = file.get("content").filter(|content| has_text(Some(*content)));
        let end = if content.is_some() { "\n</file>" } else { "</file>" };
        text.extend([Stored(file.get("path")), Literal("\">\n"), Stored(content), Literal(end)]);
    }
    let images = files(message).filter_map(image).filter(|_| part == Part::Images);
    let mut object = Object::new(out);
    list(object.str("role", role).value("content"), Some(&text), images);
    object.str("attribution", "user");
    copy_time(&mut object, message);
}

fn summary(out: &mut Vec<u8>, message: Raw<'_>) {
    if message.get("blocks").is_some() {
        let mut object = Object::new(out);
        let blocks = message.get("blocks");
        let blocks = blocks.iter().flat_map(|blocks| blocks.elements());
        list(object.str("role", "user").value("content"), Some(&[Stored(message.get("summary"))]), blocks);
        copy_time(&mut object, message);
    } else {
        tidied(out, message);
    }
    let mut object = Object::reopen(out);
    set(&mut object, "providerPayload", message.get("providerPayload"));
    rewritten(&mut object, message);
}

/// Writes a summary as a model gets it.
fn tidied(out: &mut Vec<u8>, message: Raw<'_>) {
    let mut summary = Vec::new();
    push_json(&mut summary, &text::tidy(&message.get_str("summary").unwrap_or_default()));
    let mut tidied = Vec::new();
    write_changed(&mut tidied, message, &[("summary", Some(&summary))]);
    message::write_for_model(out, Message::made(Raw::new(&tidied)));
}

/// Writes a command or code that the person ran. What of its output is not there is told in other words than the
/// shared ones.
fn execution(out: &mut Vec<u8>, message: Raw<'_>) {
    let (mut whole, mut sent) = (Vec::new(), Vec::new());
    write_changed(&mut whole, message, &[("truncated", None)]);
    message::write_for_model(&mut sent, Message::made(Raw::new(&whole)));
    let text = blocks(Raw::new(&sent)).next().and_then(|block| block.get("text"));
    let cut = text::cut(message).unwrap_or_default();
    user_text(out, message, &[Stored(text), Literal(&cut)], &[]);
    Object::reopen(out).str("attribution", "user");
}

/// Adds that a message stands for history that was rewritten, and when.
fn rewritten(object: &mut Object<'_>, message: Raw<'_>) {
    object.str("attribution", "agent");
    set(object, "historyRewriteAt", message.get("timestamp"));
}

fn list<'l>(out: &mut Vec<u8>, text: Option<&[TextPart<'_>]>, rest: impl Iterator<Item = Raw<'l>>) {
    out.push(b'[');
    text.iter().for_each(|text| out.extend_from_slice(&block(text)));
    for (at, block) in rest.enumerate() {
        if at > 0 || text.is_some() {
            out.push(b',');
        }
        out.extend_from_slice(block.bytes());
    }
    out.push(b']');
}

/// Returns whether a custom message is something that the person asked for.
fn is_request(message: Raw<'_>) -> bool {
    let is = |member, value| message.get_str(member).as_deref() == Some(value);
    is("customType", SKILL) && is("attribution", "user")
}

fn role(message: Raw<'_>) -> String {
    message.get_str("role").unwrap_or_default().into_owned()
}

fn blocks(message: Raw<'_>) -> impl Iterator<Item = Raw<'_>> {
    message.get("content").into_iter().flat_map(elements)
}

fn files(message: Raw<'_>) -> impl Iterator<Item = Raw<'_>> {
    message.get("files").into_iter().flat_map(elements)
}

fn elements(list: Raw<'_>) -> impl Iterator<Item = Raw<'_>> {
    list.elements()
}

fn is_image(block: Raw<'_>) -> bool {
    block.get_str("type").as_deref() == Some("image")
}

fn image(file: Raw<'_>) -> Option<Raw<'_>> {
    file.get("image").filter(|image| image.kind() == ValueKind::Object)
}
