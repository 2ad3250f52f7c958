//! The parts of a message as text, in the order in which they are stored. How they are set apart is up to the
//! transcript ([`super::context`], [`super::markdown`]).

use std::borrow::Cow;
use std::io;

use memchr::memchr;

use super::escape;
use super::in_order::PIECE;
use crate::core::entry::Role;
use crate::core::entry::elsewhere::{TextElsewhere, tool_name};
use crate::core::entry::message::{ContentBlock, Message};
use crate::core::entry::preview::NAMELESS;
use crate::core::json::text::{lossy, trim_line_ends};
use crate::core::json::{Raw, ValueKind};

/// What a part of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// The words of a person or a model.
    Words,
    /// A call of a tool.
    Call,
    /// Anything else.
    Other,
}

/// The text of a part, which is not yet safe to print. Line ends at its end do not count.
#[derive(Debug)]
pub(super) enum PartText<'m> {
    /// The body of a stored string, after a few words.
    Stored(&'static str, &'m [u8]),
    /// The name of a tool, and the arguments as stored.
    Call(Cow<'m, str>, &'m [u8]),
    /// What was made of other members.
    Made(String),
}

impl PartText<'_> {
    /// Returns whether there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Stored(before, body) => before.is_empty() && trim_line_ends(body).is_empty(),
            Self::Call(..) => false,
            Self::Made(text) => text.trim_end_matches('\n').is_empty(),
        }
    }

    /// Adds the text, safe to print. `settle` is called now and then, to take some of a long one out of the way: at
    /// the ends of lines, or elsewhere too, unless lines have to be whole.
    ///
    /// # Errors
    /// Those of `settle`.
    pub(super) fn push(
        &self,
        out: &mut Vec<u8>,
        is_by_lines: bool,
        settle: &mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        match self {
            Self::Stored(before, body) => {
                out.extend_from_slice(before.as_bytes());
                let mut rest = trim_line_ends(body);
                loop {
                    let done = escape::push_stored_lines(out, rest, PIECE, is_by_lines);
                    rest = &rest[done..];
                    if rest.is_empty() {
                        return Ok(());
                    }
                    settle(out)?;
                }
            }
            Self::Call(name, arguments) => {
                out.extend_from_slice(b"[call ");
                escape::push_lines(out, name);
                out.extend_from_slice(b": ");
                push_text(out, &lossy(arguments), settle)?;
                out.push(b']');
                Ok(())
            }
            Self::Made(text) => push_text(out, text.trim_end_matches('\n'), settle),
        }
    }
}

/// Adds a text, some lines at a time.
fn push_text(out: &mut Vec<u8>, text: &str, settle: &mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
    let mut rest = text;
    loop {
        let after = rest.as_bytes().get(PIECE..).and_then(|rest| memchr(b'\n', rest));
        let (lines, after) = rest.split_at(after.map_or(rest.len(), |end| PIECE + end + 1));
        escape::push_lines(out, lines);
        rest = after;
        if rest.is_empty() {
            return Ok(());
        }
        settle(out)?;
    }
}

/// Calls `out` with the parts of a message in order, as they are stored. Some are empty.
///
/// # Errors
/// Those of `out`.
pub(super) fn parts<'m>(
    message: Message<'m>,
    out: &mut dyn FnMut(PartKind, &PartText<'m>) -> io::Result<()>,
) -> io::Result<()> {
    use PartText::{Made, Stored};
    let [role, summary, command, code, output, files, blocks, content, error] =
        message.pick(["role", "summary", "command", "code", "output", "files", "blocks", "content", "errorMessage"]);
    let role = role.and_then(Raw::str);
    let said = match role.as_deref() {
        Some("user" | "assistant" | "branchSummary" | "compactionSummary") => PartKind::Words,
        _ => PartKind::Other,
    };
    if let Some(summary) = summary.and_then(Raw::string_body) {
        out(said, &Stored("", summary))?;
    }
    let mut part = |text: PartText<'m>| out(PartKind::Other, &text);
    for (text, before) in [(command, "$ "), (code, ">>> "), (output, "")] {
        if let Some(text) = text.and_then(Raw::string_body) {
            part(Stored(before, text))?;
        }
    }
    for file in files.iter().flat_map(|files| files.elements()) {
        part(Made(format!("[file: {}]", file.get_str("path").unwrap_or_default())))?;
        part(Stored("", file.get("content").and_then(Raw::string_body).unwrap_or_default()))?;
    }
    for element in blocks.iter().flat_map(|&blocks| message.blocks(blocks)) {
        part(block(element, said).1)?;
    }
    if role.as_deref() == Role::System.name() {
        TextElsewhere::of_system(message.raw()).iter().try_for_each(|other| part(elsewhere(other)))?;
    }
    match content {
        Some(content) if content.kind() == ValueKind::String => {
            out(said, &Stored("", content.string_body().unwrap_or_default()))?;
        }
        Some(content) if content.kind() == ValueKind::Array => {
            for element in message.blocks(content) {
                let (kind, text) = block(element, said);
                out(kind, &text)?;
            }
        }
        Some(_) => part(Made("(no content)".to_owned()))?,
        None => {}
    }
    match error.and_then(Raw::str) {
        Some(error) => out(PartKind::Other, &Made(format!("[error: {error}]"))),
        None => Ok(()),
    }
}

/// Returns what a block is and its text; `said` is the kind of a block of text.
fn block<'m>(block: ContentBlock<'m>, said: PartKind) -> (PartKind, PartText<'m>) {
    let body = |member: Option<Raw<'m>>| member.and_then(Raw::string_body).unwrap_or_default();
    let text = match block.kind.as_ref() {
        "text" => return (said, PartText::Stored("", body(block.text))),
        "thinking" => PartText::Stored("[thinking] ", body(block.thinking)),
        "image" => PartText::Made(image(block.raw)),
        "toolCall" => {
            let name = block.name.and_then(Raw::str).filter(|name| !name.trim().is_empty());
            let arguments = block.arguments.map(Raw::bytes).unwrap_or_default();
            return (PartKind::Call, PartText::Call(name.unwrap_or(Cow::Borrowed(NAMELESS)), arguments));
        }
        kind => PartText::Made(format!("[{kind}]")),
    };
    (PartKind::Other, text)
}

/// Returns a text that stands outside of the content, with what it is.
pub(super) fn elsewhere(text: &TextElsewhere<'_>) -> PartText<'static> {
    let plain = |text: Raw<'_>| text.str().unwrap_or_default().into_owned();
    PartText::Made(match text {
        TextElsewhere::Section { name, text } => {
            text.str().map_or_else(|| format!("[{name}: removed]"), |text| format!("[{name}]\n{text}"))
        }
        TextElsewhere::ToolAdded(tool) => {
            let description = tool.get_str("description").unwrap_or_default();
            format!("[tool: {}] {description}", tool_name(*tool)).trim_end().to_owned()
        }
        TextElsewhere::ToolRemoved(tool) => format!("[tool removed: {}]", tool_name(*tool)),
        TextElsewhere::Task(text) => format!("[task]\n{}", plain(*text)),
        TextElsewhere::SystemPrompt(text) => format!("[system prompt]\n{}", plain(*text)),
        TextElsewhere::SystemText(text) | TextElsewhere::Archived(text) | TextElsewhere::Notes(text) => plain(*text),
        TextElsewhere::Picture(picture) => image(*picture),
    })
}

fn image(image: Raw<'_>) -> String {
    let data = image.get("data").map_or(0, |data| data.bytes().len());
    format!("[image: {}, {} kB]", image.get_str("mimeType").unwrap_or_default(), data.div_ceil(1000))
}
