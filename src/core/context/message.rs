//! The messages of a context as JSON text: as agents hold them in memory, and as a model gets them.
//!
//! Stored values are copied as they stand and never decoded, so their bytes may hold invalid UTF-8;
//! whatever prints them (`ui::output`) has to replace it.

use crate::core::context::{ContextMessage, remote_history};
use crate::core::entry::{Entry, Role};
use crate::core::error::Result;
use crate::core::json::text::push_json_body;
use crate::core::json::{Object, Raw, ValueKind};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// The sentence before the summary of a branch.
const BRANCH: &str = "The conversation came back to this point from another branch. What happened on that branch:";
/// The sentence before the summary of a compaction.
const COMPACTION: &str = "The conversation before this point was replaced by a summary of it:";

/// Calls `each` with one message as agents hold it in memory. A stored one is not copied; others are
/// made in `scratch`.
pub fn with<R>(
    bodies: &mut Bodies<'_>,
    item: ContextMessage,
    scratch: &mut Vec<u8>,
    each: impl FnOnce(Raw<'_>) -> R,
) -> Result<R> {
    if let ContextMessage::Stored(node) = item {
        let message = bodies.entry(node)?.message();
        return Ok(each(message.unwrap_or(Raw::new(b"null"))));
    }
    scratch.clear();
    write(scratch, bodies, item)?;
    let made = each(Raw::new(scratch));
    // The memory of a message of many megabytes is given back.
    scratch.shrink_to(SCRATCH);
    Ok(made)
}

/// How many bytes of memory are kept for the next message.
const SCRATCH: usize = 1024 * 1024;

/// Writes one message as agents hold it in memory.
pub fn write(out: &mut Vec<u8>, bodies: &mut Bodies<'_>, item: ContextMessage) -> Result<()> {
    let session = bodies.session();
    match item {
        ContextMessage::Stored(node) => {
            let entry = bodies.entry(node)?;
            out.extend_from_slice(entry.message().map_or(b"null", Raw::bytes));
        }
        ContextMessage::Edited { target, edit } => {
            let content = bodies.entry(edit)?.get("replacement").and_then(|with| with.get("content"));
            let content = content.map(|content| content.bytes().to_vec()).unwrap_or_else(|| b"null".to_vec());
            let traits = session.traits(target);
            let as_blocks = matches!(traits.role, Role::Assistant | Role::ToolResult);
            let content = if as_blocks { text_block(&content) } else { content };
            let entry = bodies.entry(target)?;
            if traits.role == Role::None {
                custom(out, entry, session, target, Some(&content));
            } else {
                with_content(out, entry.message().unwrap_or(Raw::new(b"{}")), &content);
            }
        }
        ContextMessage::Custom(node) => custom(out, bodies.entry(node)?, session, node, None),
        ContextMessage::Branch(node) => {
            let entry = bodies.entry(node)?;
            let mut object = Object::new(out);
            copy(object.str("role", "branchSummary"), entry, &["summary", "fromId"]);
            time(&mut object, session.stamp(node).ms());
        }
        ContextMessage::System(node) => {
            let entry = bodies.entry(node)?;
            out.extend_from_slice(entry.get("systemMessage").map_or(b"null", Raw::bytes));
        }
        ContextMessage::Compaction(node) => {
            let entry = bodies.entry(node)?;
            let mut object = Object::new(out);
            copy(object.str("role", "compactionSummary"), entry, &["summary", "shortSummary", "tokensBefore"]);
            if let Some((provider, history)) = remote_history(entry) {
                let mut payload = Object::new(object.value("providerPayload"));
                payload.str("type", "openaiResponsesHistory").json("provider", provider.bytes());
                payload.json("items", history.bytes());
            }
            time(&mut object, session.stamp(node).ms());
        }
    }
    Ok(())
}

/// Writes a message as a model gets it, and returns whether it gets it at all.
pub fn write_for_model(out: &mut Vec<u8>, message: Raw<'_>) -> bool {
    let get = |name: &str| message.get(name);
    let text = |name: &str| message.get_str(name).unwrap_or_default();
    let is = |name: &str| get(name).is_some_and(Raw::is_true);
    match text("role").as_ref() {
        "user" | "developer" | "assistant" | "toolResult" | "system" => {
            if get("content").is_none_or(|content| content.kind() == ValueKind::Null) {
                with_content(out, message, b"[]");
            } else {
                out.extend_from_slice(message.bytes());
            }
        }
        "branchSummary" => summary(out, message, BRANCH),
        "compactionSummary" => summary(out, message, COMPACTION),
        "custom" | "hookMessage" => {
            let content = get("content").filter(|content| content.kind() != ValueKind::Null);
            let content = content.map_or(b"[]".to_vec(), |content| text_block(content.bytes()));
            let mut object = Object::new(out);
            object.str("role", "user").json("content", &content);
            copy_time(&mut object, message);
        }
        "bashExecution" | "pythonExecution" if is("excludeFromContext") => return false,
        "bashExecution" => bash(out, message),
        "pythonExecution" => python(out, message),
        "fileMention" => files(out, message),
        _ => return false,
    }
    true
}

/// A text in parts: literals, and bodies of stored strings, which are copied as they stand instead
/// of being decoded and encoded again.
#[derive(Default)]
struct TextParts<'p>(Vec<TextPart<'p>>);

enum TextPart<'p> {
    Literal(&'p str),
    Stored(&'p [u8]),
}

impl<'p> TextParts<'p> {
    fn literal(&mut self, text: &'p str) {
        self.0.push(TextPart::Literal(text));
    }

    /// Adds the body of a stored string; other values count as empty.
    fn stored(&mut self, value: Option<Raw<'p>>) {
        self.0.push(TextPart::Stored(value.and_then(Raw::string_body).unwrap_or_default()));
    }

    /// Writes a content of one text block, followed by the blocks in `rest`.
    fn write(&self, out: &mut Vec<u8>, rest: &[Raw<'_>]) {
        out.extend_from_slice(b"[{\"type\":\"text\",\"text\":\"");
        for part in &self.0 {
            match part {
                TextPart::Literal(text) => push_json_body(out, text),
                TextPart::Stored(body) => out.extend_from_slice(body),
            }
        }
        out.extend_from_slice(b"\"}");
        for block in rest {
            out.push(b',');
            out.extend_from_slice(block.bytes());
        }
        out.push(b']');
    }
}

/// Writes a `bashExecution` as a model gets it.
fn bash(out: &mut Vec<u8>, message: Raw<'_>) {
    let mut text = TextParts::default();
    text.literal("Ran `");
    text.stored(message.get("command"));
    text.literal("`\n");
    push_fenced(&mut text, message.get("output"), "");
    let end = end(message, "(command cancelled)", "Command exited with code");
    text.literal(&end);
    let path = message.get("fullOutputPath").filter(|path| path.string_body().is_some_and(|path| !path.is_empty()));
    if let Some(path) = path.filter(|_| message.get("truncated").is_some_and(Raw::is_true)) {
        text.literal("\n\n[Output truncated. Full output: ");
        text.stored(Some(path));
        text.literal("]");
    }
    user_text(out, message, &text, &[]);
}

/// Writes a `pythonExecution` as a model gets it.
fn python(out: &mut Vec<u8>, message: Raw<'_>) {
    let mut text = TextParts::default();
    text.literal("Ran Python:\n```python\n");
    text.stored(message.get("code"));
    text.literal("\n```\n");
    push_fenced(&mut text, message.get("output"), "Output:\n");
    let end = end(message, "(execution cancelled)", "Execution failed with code");
    text.literal(&end);
    user_text(out, message, &text, &[]);
}

fn push_fenced<'p>(text: &mut TextParts<'p>, output: Option<Raw<'p>>, heading: &'p str) {
    if output.and_then(Raw::string_body).is_none_or(<[u8]>::is_empty) {
        return text.literal("(no output)");
    }
    text.literal(heading);
    text.literal("```\n");
    text.stored(output);
    text.literal("\n```");
}

/// Returns the words for a command that was cancelled or failed; empty if it succeeded.
fn end(message: Raw<'_>, cancelled: &str, failed: &str) -> String {
    if message.get("cancelled").is_some_and(Raw::is_true) {
        return format!("\n\n{cancelled}");
    }
    match message.get("exitCode").filter(|code| code.number().is_some_and(|number| number != 0.0)) {
        Some(code) => format!("\n\n{failed} {}", String::from_utf8_lossy(code.bytes())),
        None => String::new(),
    }
}

fn files(out: &mut Vec<u8>, message: Raw<'_>) {
    let files = message.get("files");
    let files = || files.iter().flat_map(|files| files.elements());
    let mut text = TextParts::default();
    text.literal("<system-reminder>\n");
    for (at, file) in files().enumerate() {
        text.literal(if at > 0 { "\n\n<file path=\"" } else { "<file path=\"" });
        text.stored(file.get("path"));
        text.literal("\">\n");
        // An empty file gets no line between the tags.
        let content = file.get("content").filter(|content| content.string_body().is_some_and(|body| !body.is_empty()));
        text.stored(content);
        text.literal(if content.is_some() { "\n</file>" } else { "</file>" });
    }
    text.literal("\n</system-reminder>");
    let images = files().filter_map(|file| file.get("image")).filter(|image| image.kind() == ValueKind::Object);
    user_text(out, message, &text, &images.collect::<Vec<_>>());
}

fn summary(out: &mut Vec<u8>, message: Raw<'_>, introduction: &str) {
    let mut text = TextParts::default();
    text.literal(introduction);
    text.literal("\n\n<summary>\n");
    text.stored(message.get("summary"));
    text.literal("\n</summary>");
    user_text(out, message, &text, &[]);
}

fn user_text(out: &mut Vec<u8>, message: Raw<'_>, text: &TextParts<'_>, rest: &[Raw<'_>]) {
    let mut object = Object::new(out);
    text.write(object.str("role", "user").value("content"), rest);
    copy_time(&mut object, message);
}

fn copy_time(object: &mut Object<'_>, message: Raw<'_>) {
    if let Some(time) = message.get("timestamp") {
        object.json("timestamp", time.bytes());
    }
}

fn custom(out: &mut Vec<u8>, entry: Entry<'_>, session: &Session, node: NodeId, content: Option<&[u8]>) {
    let mut object = Object::new(out);
    copy(object.str("role", "custom"), entry, &["customType"]);
    match content {
        Some(content) => _ = object.json("content", content),
        None => copy(&mut object, entry, &["content"]),
    }
    copy(&mut object, entry, &["display", "details", "attribution"]);
    time(&mut object, session.stamp(node).ms());
}

/// Copies a message with its content replaced; where it has none the new one is added at the end.
fn with_content(out: &mut Vec<u8>, message: Raw<'_>, content: &[u8]) {
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
fn text_block(content: &[u8]) -> Vec<u8> {
    if !content.starts_with(b"\"") {
        return content.to_vec();
    }
    let mut blocks = b"[{\"type\":\"text\",\"text\":".to_vec();
    blocks.extend_from_slice(content);
    blocks.extend_from_slice(b"}]");
    blocks
}

/// Copies those of the named members that the entry has.
fn copy(object: &mut Object<'_>, entry: Entry<'_>, names: &[&str]) {
    for name in names {
        if let Some(value) = entry.get(name) {
            object.json(name, value.bytes());
        }
    }
}

fn time(object: &mut Object<'_>, ms: Option<i64>) {
    match ms {
        Some(ms) => object.number("timestamp", ms),
        None => object.json("timestamp", b"null"),
    };
}

/// Estimates the tokens of a message: one for four bytes of text, and 1200 for each image.
pub fn tokens(message: Raw<'_>) -> u64 {
    const IMAGE: u64 = 1200;
    let mut chars = 0_u64;
    let mut images = 0;
    // Bytes as stored, escapes included: close enough, and nothing has to be decoded.
    let mut add =
        |raw: Option<Raw<'_>>| chars += raw.map_or(0, |raw| raw.string_body().unwrap_or(raw.bytes()).len()) as u64;
    for name in ["summary", "command", "code", "output"] {
        add(message.get(name));
    }
    for file in message.get("files").iter().flat_map(|files| files.elements()) {
        add(file.get("content"));
    }
    let content = message.get("content");
    add(content.filter(|content| content.kind() == ValueKind::String));
    for block in content.iter().flat_map(|content| content.elements()) {
        for name in ["text", "thinking", "name", "arguments"] {
            add(block.get(name));
        }
        images += u64::from(block.get_str("type").as_deref() == Some("image"));
    }
    chars.div_ceil(4) + images * IMAGE
}
