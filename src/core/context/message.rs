//! The messages of a context, as JSON text: as agents hold them, and as a model gets them.
//!
//! Stored values are copied as they stand, so their bytes may hold bad UTF-8; whoever prints them
//! sees to that.

use crate::core::context::{Item, remote_history};
use crate::core::entry::{Entry, Role};
use crate::core::error::Result;
use crate::core::json::text::push_json_body;
use crate::core::json::{Object, Raw, ValueKind};
use crate::core::session::Session;
use crate::core::session::body::Bodies;

/// What introduces the summary of a branch to a model.
const BRANCH: &str = "The conversation came back to this point from another branch. What happened on that branch:";
/// What introduces the summary of a compaction to a model.
const COMPACTION: &str = "The conversation before this point was replaced by a summary of it:";

/// Gives one message as agents hold it in memory to `each`. A stored one is not copied; others are
/// made in `scratch`.
///
/// # Errors
/// [`Error::Changed`](crate::core::error::Error::Changed) and [`Error::Io`](crate::core::error::Error::Io).
pub fn with<R>(
    bodies: &mut Bodies<'_>,
    item: Item,
    scratch: &mut Vec<u8>,
    each: impl FnOnce(Raw<'_>) -> R,
) -> Result<R> {
    if let Item::Stored(node) = item {
        let message = bodies.entry(node)?.message();
        return Ok(each(message.unwrap_or(Raw::new(b"null"))));
    }
    scratch.clear();
    write(scratch, bodies, item)?;
    let made = each(Raw::new(scratch));
    // A message of many megabytes is not held on to.
    scratch.shrink_to(SCRATCH);
    Ok(made)
}

/// How much memory is kept for the next message, in bytes.
const SCRATCH: usize = 1024 * 1024;

/// Writes one message as agents hold it in memory.
///
/// # Errors
/// As [`with`].
pub fn write(out: &mut Vec<u8>, bodies: &mut Bodies<'_>, item: Item) -> Result<()> {
    let session = bodies.session();
    match item {
        Item::Stored(node) => {
            let entry = bodies.entry(node)?;
            out.extend_from_slice(entry.message().map_or(b"null", Raw::bytes));
        }
        Item::Edited { target, edit } => {
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
        Item::Custom(node) => custom(out, bodies.entry(node)?, session, node, None),
        Item::Branch(node) => {
            let entry = bodies.entry(node)?;
            let mut object = Object::new(out);
            copy(object.str("role", "branchSummary"), entry, &["summary", "fromId"]);
            time(&mut object, session.stamp(node).ms());
        }
        Item::System(node) => {
            let entry = bodies.entry(node)?;
            out.extend_from_slice(entry.get("systemMessage").map_or(b"null", Raw::bytes));
        }
        Item::Compaction(node) => {
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

/// Writes a message as a model gets it; tells whether it gets it at all.
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
            user(out, message, &content);
        }
        "bashExecution" if is("excludeFromContext") => return false,
        "pythonExecution" if is("excludeFromContext") => return false,
        "bashExecution" => bash(out, message),
        "pythonExecution" => python(out, message),
        "fileMention" => files(out, message),
        _ => return false,
    }
    true
}

/// A text in pieces: our own words, and bodies of stored strings, which are copied as they stand
/// instead of being decoded and encoded again.
#[derive(Default)]
struct Pieces<'p>(Vec<Piece<'p>>);

enum Piece<'p> {
    Own(&'p str),
    Stored(&'p [u8]),
}

impl<'p> Pieces<'p> {
    fn own(&mut self, text: &'p str) {
        self.0.push(Piece::Own(text));
    }

    /// Adds a string; anything else is empty.
    fn stored(&mut self, value: Option<Raw<'p>>) {
        self.0.push(Piece::Stored(value.and_then(Raw::string_body).unwrap_or_default()));
    }

    /// Writes the text as the only text block of a content; `rest` adds further blocks.
    fn write(&self, out: &mut Vec<u8>, rest: &[Raw<'_>]) {
        out.extend_from_slice(b"[{\"type\":\"text\",\"text\":\"");
        for piece in &self.0 {
            match piece {
                Piece::Own(text) => push_json_body(out, text),
                Piece::Stored(body) => out.extend_from_slice(body),
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

/// Writes how a `bashExecution` reads for a model.
fn bash(out: &mut Vec<u8>, message: Raw<'_>) {
    let mut text = Pieces::default();
    text.own("Ran `");
    text.stored(message.get("command"));
    text.own("`\n");
    push_fenced(&mut text, message.get("output"), "");
    let end = end(message, "(command cancelled)", "Command exited with code");
    text.own(&end);
    let path = message.get("fullOutputPath").filter(|path| path.string_body().is_some_and(|path| !path.is_empty()));
    if let Some(path) = path.filter(|_| message.get("truncated").is_some_and(Raw::is_true)) {
        text.own("\n\n[Output truncated. Full output: ");
        text.stored(Some(path));
        text.own("]");
    }
    user_text(out, message, &text, &[]);
}

/// Writes how a `pythonExecution` reads for a model.
fn python(out: &mut Vec<u8>, message: Raw<'_>) {
    let mut text = Pieces::default();
    text.own("Ran Python:\n```python\n");
    text.stored(message.get("code"));
    text.own("\n```\n");
    push_fenced(&mut text, message.get("output"), "Output:\n");
    let end = end(message, "(execution cancelled)", "Execution failed with code");
    text.own(&end);
    user_text(out, message, &text, &[]);
}

fn push_fenced<'p>(text: &mut Pieces<'p>, output: Option<Raw<'p>>, heading: &'p str) {
    if output.and_then(Raw::string_body).is_none_or(<[u8]>::is_empty) {
        return text.own("(no output)");
    }
    text.own(heading);
    text.own("```\n");
    text.stored(output);
    text.own("\n```");
}

/// Says how a command ended, if not well.
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
    let mut text = Pieces::default();
    text.own("<system-reminder>\n");
    for (at, file) in files().enumerate() {
        text.own(if at > 0 { "\n\n<file path=\"" } else { "<file path=\"" });
        text.stored(file.get("path"));
        text.own("\">\n");
        // An empty file has no line of its own.
        let content = file.get("content").filter(|content| content.string_body().is_some_and(|body| !body.is_empty()));
        text.stored(content);
        text.own(if content.is_some() { "\n</file>" } else { "</file>" });
    }
    text.own("\n</system-reminder>");
    let images = files().filter_map(|file| file.get("image")).filter(|image| image.kind() == ValueKind::Object);
    user_text(out, message, &text, &images.collect::<Vec<_>>());
}

fn summary(out: &mut Vec<u8>, message: Raw<'_>, introduction: &str) {
    let mut text = Pieces::default();
    text.own(introduction);
    text.own("\n\n<summary>\n");
    text.stored(message.get("summary"));
    text.own("\n</summary>");
    user_text(out, message, &text, &[]);
}

fn user_text(out: &mut Vec<u8>, message: Raw<'_>, text: &Pieces<'_>, rest: &[Raw<'_>]) {
    let mut object = Object::new(out);
    text.write(object.str("role", "user").value("content"), rest);
    if let Some(time) = message.get("timestamp") {
        object.json("timestamp", time.bytes());
    }
}

/// Writes a user message in another message's place.
fn user(out: &mut Vec<u8>, message: Raw<'_>, content: &[u8]) {
    let mut object = Object::new(out);
    object.str("role", "user").json("content", content);
    if let Some(time) = message.get("timestamp") {
        object.json("timestamp", time.bytes());
    }
}

fn custom(
    out: &mut Vec<u8>,
    entry: Entry<'_>,
    session: &Session,
    node: crate::core::session::NodeId,
    content: Option<&[u8]>,
) {
    let mut object = Object::new(out);
    copy(object.str("role", "custom"), entry, &["customType"]);
    match content {
        Some(content) => _ = object.json("content", content),
        None => copy(&mut object, entry, &["content"]),
    }
    copy(&mut object, entry, &["display", "details", "attribution"]);
    time(&mut object, session.stamp(node).ms());
}

/// Copies a message with another content; without one it goes to the end.
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

/// Makes a list of one text block from a string; other contents stay.
fn text_block(content: &[u8]) -> Vec<u8> {
    if !content.starts_with(b"\"") {
        return content.to_vec();
    }
    let mut blocks = b"[{\"type\":\"text\",\"text\":".to_vec();
    blocks.extend_from_slice(content);
    blocks.extend_from_slice(b"}]");
    blocks
}

/// Copies members that an entry has.
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

/// Estimates the tokens of a message: four characters a token, and a flat rate an image.
pub fn tokens(message: Raw<'_>) -> u64 {
    const IMAGE: u64 = 1200;
    let mut chars = 0_u64;
    let mut images = 0;
    // Bytes as stored: near enough, and nothing is decoded for it.
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
