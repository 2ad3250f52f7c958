//! The messages of a context, as JSON text: as agents hold them, and as a model gets them.
//!
//! Stored values are copied as they stand, so their bytes may hold bad UTF-8; whoever prints them
//! sees to that.

use super::body::Bodies;
use super::context::{Item, remote_history};
use super::entry::{Entry, Role};
use super::error::Result;
use super::json::{Kind, Raw};
use super::session::Session;
use super::text::push_json;

/// What introduces the summary of a branch to a model.
const BRANCH: &str = "The conversation came back to this point from another branch. What happened on that branch:";
/// What introduces the summary of a compaction to a model.
const COMPACTION: &str = "The conversation before this point was replaced by a summary of it:";

/// Writes one message as agents hold it in memory.
///
/// # Errors
/// [`Error::Changed`](super::error::Error::Changed) and [`Error::Io`](super::error::Error::Io).
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
            let mut object = Object::new(out, "branchSummary");
            object.copy(entry, &["summary", "fromId"]);
            object.time(session.stamp(node).ms());
        }
        Item::System(node) => {
            let entry = bodies.entry(node)?;
            out.extend_from_slice(entry.get("systemMessage").map_or(b"null", Raw::bytes));
        }
        Item::Compaction(node) => {
            let entry = bodies.entry(node)?;
            let mut object = Object::new(out, "compactionSummary");
            object.copy(entry, &["summary", "shortSummary", "tokensBefore"]);
            if let Some((provider, history)) = remote_history(entry) {
                object.member("providerPayload", b"");
                object.out.extend_from_slice(b"{\"type\":\"openaiResponsesHistory\",\"provider\":");
                object.out.extend_from_slice(provider.bytes());
                object.out.extend_from_slice(b",\"items\":");
                object.out.extend_from_slice(history.bytes());
                object.out.push(b'}');
            }
            object.time(session.stamp(node).ms());
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
            if get("content").is_none_or(|content| content.kind() == Kind::Null) {
                with_content(out, message, b"[]");
            } else {
                out.extend_from_slice(message.bytes());
            }
        }
        "branchSummary" => user_text(out, message, &summary(BRANCH, &text("summary"))),
        "compactionSummary" => user_text(out, message, &summary(COMPACTION, &text("summary"))),
        "custom" | "hookMessage" => {
            let content = get("content").filter(|content| content.kind() != Kind::Null);
            let content = content.map_or(b"[]".to_vec(), |content| text_block(content.bytes()));
            user(out, message, &content);
        }
        "bashExecution" if is("excludeFromContext") => return false,
        "pythonExecution" if is("excludeFromContext") => return false,
        "bashExecution" => user_text(out, message, &bash(message)),
        "pythonExecution" => user_text(out, message, &python(message)),
        "fileMention" => files(out, message),
        _ => return false,
    }
    true
}

/// Gives how a `bashExecution` reads for a model.
fn bash(message: Raw<'_>) -> String {
    let command = message.get_str("command").unwrap_or_default();
    let output = message.get_str("output").unwrap_or_default();
    let mut text = format!("Ran `{command}`\n");
    push_fenced(&mut text, &output);
    push_end(&mut text, message, "(command cancelled)", "Command exited with code");
    let path = message.get_str("fullOutputPath").filter(|path| !path.is_empty());
    if let Some(path) = path.filter(|_| message.get("truncated").is_some_and(Raw::is_true)) {
        text.push_str(&format!("\n\n[Output truncated. Full output: {path}]"));
    }
    text
}

/// Gives how a `pythonExecution` reads for a model.
fn python(message: Raw<'_>) -> String {
    let code = message.get_str("code").unwrap_or_default();
    let output = message.get_str("output").unwrap_or_default();
    let mut text = format!("Ran Python:\n```python\n{code}\n```\n");
    if output.is_empty() {
        text.push_str("(no output)");
    } else {
        text.push_str("Output:\n");
        push_fenced(&mut text, &output);
    }
    push_end(&mut text, message, "(execution cancelled)", "Execution failed with code");
    text
}

fn push_fenced(text: &mut String, output: &str) {
    if output.is_empty() {
        text.push_str("(no output)");
    } else {
        text.push_str("```\n");
        text.push_str(output);
        text.push_str("\n```");
    }
}

fn push_end(text: &mut String, message: Raw<'_>, cancelled: &str, failed: &str) {
    let code = message.get("exitCode").filter(|code| code.number().is_some_and(|number| number != 0.0));
    if message.get("cancelled").is_some_and(Raw::is_true) {
        text.push_str("\n\n");
        text.push_str(cancelled);
    } else if let Some(code) = code {
        text.push_str(&format!("\n\n{failed} {}", String::from_utf8_lossy(code.bytes())));
    }
}

fn files(out: &mut Vec<u8>, message: Raw<'_>) {
    let files = message.get("files");
    let files = || files.iter().flat_map(|files| files.elements());
    let texts: Vec<_> = files()
        .map(|file| {
            let path = file.get_str("path").unwrap_or_default();
            let content = file.get_str("content").unwrap_or_default();
            format!("<file path=\"{path}\">\n{content}\n</file>")
        })
        .collect();
    let text = format!("<system-reminder>\n{}\n</system-reminder>", texts.join("\n\n"));
    let mut content = b"[".to_vec();
    push_text_block(&mut content, &text);
    for image in files().filter_map(|file| file.get("image")).filter(|image| image.kind() == Kind::Object) {
        content.push(b',');
        content.extend_from_slice(image.bytes());
    }
    content.push(b']');
    user(out, message, &content);
}

fn summary(introduction: &str, summary: &str) -> String {
    format!("{introduction}\n\n<summary>\n{summary}\n</summary>")
}

fn user_text(out: &mut Vec<u8>, message: Raw<'_>, text: &str) {
    let mut content = b"[".to_vec();
    push_text_block(&mut content, text);
    content.push(b']');
    user(out, message, &content);
}

/// Writes a user message in another message's place.
fn user(out: &mut Vec<u8>, message: Raw<'_>, content: &[u8]) {
    let mut object = Object::new(out, "user");
    object.member("content", content);
    if let Some(time) = message.get("timestamp") {
        object.member("timestamp", time.bytes());
    }
}

fn custom(
    out: &mut Vec<u8>,
    entry: Entry<'_>,
    session: &Session,
    node: super::session::NodeId,
    content: Option<&[u8]>,
) {
    let mut object = Object::new(out, "custom");
    object.copy(entry, &["customType"]);
    match content {
        Some(content) => object.member("content", content),
        None => object.copy(entry, &["content"]),
    }
    object.copy(entry, &["display", "details", "attribution"]);
    object.time(session.stamp(node).ms());
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
    let body = bytes.strip_suffix(b"}").unwrap_or(bytes);
    out.extend_from_slice(body);
    if message.members().next().is_some() {
        out.push(b',');
    }
    out.extend_from_slice(b"\"content\":");
    out.extend_from_slice(content);
    out.push(b'}');
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

fn push_text_block(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"{\"type\":\"text\",\"text\":");
    push_json(out, text);
    out.push(b'}');
}

/// Writes a message member by member.
struct Object<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Object<'o> {
    fn new(out: &'o mut Vec<u8>, role: &str) -> Self {
        out.extend_from_slice(b"{\"role\":");
        push_json(out, role);
        Self { out }
    }

    fn member(&mut self, name: &str, value: &[u8]) {
        self.out.push(b',');
        push_json(self.out, name);
        self.out.push(b':');
        self.out.extend_from_slice(value);
    }

    /// Copies members that the entry has.
    fn copy(&mut self, entry: Entry<'_>, names: &[&str]) {
        for name in names {
            if let Some(value) = entry.get(name) {
                self.member(name, value.bytes());
            }
        }
    }

    fn time(&mut self, ms: Option<i64>) {
        let time = ms.map_or_else(|| "null".to_owned(), |ms| ms.to_string());
        self.member("timestamp", time.as_bytes());
    }
}

impl Drop for Object<'_> {
    fn drop(&mut self) {
        self.out.push(b'}');
    }
}

/// Estimates the tokens of a message: four characters a token, and a flat rate an image.
pub fn tokens(message: Raw<'_>) -> u64 {
    const IMAGE: u64 = 1200;
    let mut chars = 0_u64;
    let mut images = 0;
    let mut add = |raw: Option<Raw<'_>>| {
        chars += raw.map_or(0, |raw| raw.str().map_or(raw.bytes().len(), |text| text.chars().count())) as u64;
    };
    for name in ["summary", "command", "code", "output"] {
        add(message.get(name));
    }
    for file in message.get("files").iter().flat_map(|files| files.elements()) {
        add(file.get("content"));
    }
    let content = message.get("content");
    add(content.filter(|content| content.kind() == Kind::String));
    for block in content.iter().flat_map(|content| content.elements()) {
        for name in ["text", "thinking", "name", "arguments"] {
            add(block.get(name));
        }
        images += u64::from(block.get_str("type").as_deref() == Some("image"));
    }
    chars.div_ceil(4) + images * IMAGE
}
