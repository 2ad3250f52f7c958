//! The messages of a context as JSON text: as agents hold them in memory, and as a model gets them.
//!
//! Stored values are copied as they stand and never decoded, so their bytes may hold invalid UTF-8;
//! whatever prints them (`ui::output`) has to replace it.

use std::ops::Range;

use super::content::TextPart::{self, Literal, Stored};
use super::content::{copy, copy_time, has_text, text_block, time, user_text, with_content, write_compaction};
use super::omp;
use crate::core::context::ContextMessage;
use crate::core::entry::elsewhere::TextElsewhere;
use crate::core::entry::message::Message;
use crate::core::entry::{Entry, Role};
use crate::core::error::Result;
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
    item: &ContextMessage,
    scratch: &mut Vec<u8>,
    each: impl FnOnce(Message<'_>) -> R,
) -> Result<R> {
    if let &ContextMessage::Stored(node) = item {
        return Ok(each(Message::stored(bodies.stored(node)?)));
    }
    scratch.clear();
    write(scratch, bodies, item)?;
    let made = each(Message::made(Raw::new(scratch)));
    // The memory of a message of many megabytes is given back.
    scratch.shrink_to(SCRATCH);
    Ok(made)
}

/// Of messages of more bytes only one is held at a time.
const LONG: u64 = 1024 * 1024;

/// How many bytes of memory are kept for the next message.
const SCRATCH: usize = 1024 * 1024;

/// Messages that are next to each other, to be read together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MessageRun {
    /// Their places among all.
    pub(crate) range: Range<usize>,
    /// Whether it is one message, of which only one is to be held at a time.
    pub(crate) is_long: bool,
}

/// Splits messages into runs of at least so many bytes as stored.
pub(crate) fn runs(session: &Session, items: &[ContextMessage], bytes: u64) -> Vec<MessageRun> {
    let length = |node: NodeId| u64::from(session.nodes[node.index()].len);
    let mut runs = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (at, item) in items.iter().enumerate() {
        let edit = if let ContextMessage::Edited { edit, .. } = *item { length(edit) } else { 0 };
        let length = length(item.node()) + edit;
        let is_long = length > LONG;
        if is_long && start < at {
            runs.push(MessageRun { range: start..at, is_long: false });
            (start, sum) = (at, 0);
        }
        sum += length;
        if is_long || sum >= bytes || at + 1 == items.len() {
            runs.push(MessageRun { range: start..at + 1, is_long });
            (start, sum) = (at + 1, 0);
        }
    }
    runs
}

/// Writes one message as agents hold it in memory.
pub fn write(out: &mut Vec<u8>, bodies: &mut Bodies<'_>, item: &ContextMessage) -> Result<()> {
    let session = bodies.session();
    match *item {
        ContextMessage::Stored(node) => {
            let entry = bodies.stored(node)?;
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
            write_compaction(&mut Object::new(out), bodies.entry(node)?, session.stamp(node).ms());
        }
        ContextMessage::PiCompaction(node) => {
            let mut object = Object::new(out);
            copy(object.str("role", "compactionSummary"), bodies.entry(node)?, &["summary", "tokensBefore"]);
            time(&mut object, session.stamp(node).ms());
        }
        ContextMessage::OmpCompaction { node, next } => omp::message::write_summary(out, bodies, node, next)?,
        ContextMessage::Trimmed { node, ref calls } => omp::message::write_trimmed(out, bodies, node, calls)?,
        ContextMessage::Notes(node) => omp::message::write_notes(out, bodies, node)?,
    }
    Ok(())
}

/// Writes a message as a model gets it, and returns whether it gets it at all.
pub fn write_for_model(out: &mut Vec<u8>, message: Message<'_>) -> bool {
    let [role, content, is_excluded] = message.pick(["role", "content", "excludeFromContext"]);
    let message = message.raw();
    let content = content.filter(|content| !content.is_null());
    match role.and_then(Raw::str).unwrap_or_default().as_ref() {
        "user" | "developer" | "assistant" | "toolResult" | "system" => match content {
            None => with_content(out, message, b"[]"),
            Some(_) => out.extend_from_slice(message.bytes()),
        },
        "branchSummary" => summary(out, message, BRANCH),
        "compactionSummary" => summary(out, message, COMPACTION),
        "custom" | "hookMessage" => {
            let content = content.map_or(b"[]".to_vec(), |content| text_block(content.bytes()));
            let mut object = Object::new(out);
            object.str("role", "user").json("content", &content);
            copy_time(&mut object, message);
        }
        "bashExecution" | "pythonExecution" if is_excluded.is_some_and(Raw::is_true) => return false,
        "bashExecution" => bash(out, message),
        "pythonExecution" => python(out, message),
        "fileMention" => files(out, message),
        _ => return false,
    }
    true
}

/// Writes a `bashExecution` as a model gets it.
fn bash(out: &mut Vec<u8>, message: Raw<'_>) {
    let end = end(message, "(command cancelled)", "Command exited with code");
    let mut text = vec![Literal("Ran `"), Stored(message.get("command")), Literal("`\n")];
    text.extend(fenced(message.get("output"), ""));
    text.push(Literal(&end));
    let path = message.get("fullOutputPath").filter(|path| has_text(Some(*path)));
    if path.is_some() && message.get("truncated").is_some_and(Raw::is_true) {
        text.extend([Literal("\n\n[Output truncated. Full output: "), Stored(path), Literal("]")]);
    }
    user_text(out, message, &text, &[]);
}

/// Writes a `pythonExecution` as a model gets it.
fn python(out: &mut Vec<u8>, message: Raw<'_>) {
    let end = end(message, "(execution cancelled)", "Execution failed with code");
    let mut text = vec![Literal("Ran Python:\n```python\n"), Stored(message.get("code")), Literal("\n```\n")];
    text.extend(fenced(message.get("output"), "Output:\n"));
    text.push(Literal(&end));
    user_text(out, message, &text, &[]);
}

fn fenced<'p>(output: Option<Raw<'p>>, heading: &'p str) -> Vec<TextPart<'p>> {
    match has_text(output) {
        true => vec![Literal(heading), Literal("```\n"), Stored(output), Literal("\n```")],
        false => vec![Literal("(no output)")],
    }
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
    let mut text = vec![Literal("<system-reminder>\n")];
    for (at, file) in files().enumerate() {
        text.push(Literal(if at > 0 { "\n\n<file path=\"" } else { "<file path=\"" }));
        // An empty file gets no line between the tags.
        let content = file.get("content").filter(|content| has_text(Some(*content)));
        let end = if content.is_some() { "\n</file>" } else { "</file>" };
        text.extend([Stored(file.get("path")), Literal("\">\n"), Stored(content), Literal(end)]);
    }
    text.push(Literal("\n</system-reminder>"));
    let images = files().filter_map(|file| file.get("image")).filter(|image| image.kind() == ValueKind::Object);
    user_text(out, message, &text, &images.collect::<Vec<_>>());
}

fn summary(out: &mut Vec<u8>, message: Raw<'_>, introduction: &str) {
    let summary = Stored(message.get("summary"));
    let text = [Literal(introduction), Literal("\n\n<summary>\n"), summary, Literal("\n</summary>")];
    user_text(out, message, &text, &[]);
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

/// Estimates the tokens of a message: one for four bytes of text, and 1200 for each image. Sections of a system
/// message and the tools that it adds count too.
pub fn tokens(message: Message<'_>) -> u64 {
    const IMAGE: u64 = 1200;
    // Bytes as stored, escapes included: close enough, and nothing has to be decoded.
    let bytes = |raw: Option<Raw<'_>>| raw.map_or(0, |raw| raw.string_body().unwrap_or(raw.bytes()).len()) as u64;
    let (mut chars, mut images) = (0_u64, 0);
    let mut is_system = false;
    // In one pass, since the content may be long.
    for (key, value) in message.members() {
        match key.name() {
            b"role" => is_system = value.str().as_deref() == Role::System.name(),
            b"summary" | b"command" | b"code" | b"output" => chars += bytes(Some(value)),
            b"content" | b"blocks" if value.kind() == ValueKind::String => chars += bytes(Some(value)),
            b"content" | b"blocks" => {
                for block in message.blocks(value) {
                    let texts = [block.text, block.thinking, block.name, block.arguments];
                    chars += texts.into_iter().map(bytes).sum::<u64>();
                    images += u64::from(block.kind == "image");
                }
            }
            b"files" => chars += value.elements().map(|file| bytes(file.get("content"))).sum::<u64>(),
            _ => {}
        }
    }
    let instructions = if is_system { TextElsewhere::of_system(message.raw()) } else { Vec::new() };
    for text in instructions {
        match text {
            TextElsewhere::Section { text, .. } => chars += bytes(Some(text).filter(|text| !text.is_null())),
            // The model gets it as it is: its name, what it does, its parameters.
            TextElsewhere::ToolAdded(tool) => chars += bytes(Some(tool)),
            _ => {}
        }
    }
    chars.div_ceil(4) + images * IMAGE
}

#[cfg(test)]
mod tests {
    use super::{LONG, runs};
    use crate::core::context::ContextMessage;
    use crate::core::session::sample::chain;

    #[test]
    fn runs_have_all_messages_in_order_and_a_long_one_alone() {
        let long = "x".repeat(usize::try_from(LONG).unwrap());
        let texts = ["short", "short", &long, &long, "short", "short", "short", &long];
        let ids: Vec<_> = (0..texts.len()).map(|at| format!("u{at}")).collect();
        let entries: Vec<_> = texts.iter().zip(&ids).map(|(text, id)| ("user", id.as_str(), *text)).collect();
        let session = chain(&entries);
        let items: Vec<_> = session.nodes().map(ContextMessage::Stored).collect();
        let check = |count: usize, bytes: u64, expected: &str| {
            let run = |run: super::MessageRun| format!("{:?}{}", run.range, if run.is_long { "!" } else { "" });
            let runs: Vec<_> = runs(&session, &items[..count], bytes).into_iter().map(run).collect();
            assert_eq!(runs.join(" "), expected);
        };
        check(8, u64::MAX, "0..2 2..3! 3..4! 4..7 7..8!");
        check(8, 1, "0..1 1..2 2..3! 3..4! 4..5 5..6 6..7 7..8!");
        check(7, 200, "0..2 2..3! 3..4! 4..6 6..7");
        check(0, 1, "");
    }
}
