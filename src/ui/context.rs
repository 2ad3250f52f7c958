//! A context as a transcript for people (`context`). JSON for programs is made in
//! [`crate::core::context::message`].

use std::borrow::Cow;
use std::io;
use std::path::Path;

use memchr::memchr;

use super::escape;
use super::fit;
use super::output::Output;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::context::message;
use crate::core::context::stats::Size;
use crate::core::context::{Context, Settings};
use crate::core::entry::elsewhere::{TextElsewhere, tool_name};
use crate::core::entry::message::Message;
use crate::core::entry::preview::NAMELESS;
use crate::core::entry::{Entry, Kind, Role};
use crate::core::json::{Object, Raw, ValueKind};
use crate::core::session::body::Bodies;
use crate::core::words::counted;

/// A fact with its name.
pub(super) type NamedFact = (&'static str, String);

/// Returns the facts above a transcript: leaf, size and settings.
pub(super) fn facts(leaf: Option<&str>, state: &Settings, Size { messages, tokens }: Size) -> Vec<NamedFact> {
    let mut facts = vec![
        ("leaf", leaf.map_or("none (before the first entry)".to_owned(), str::to_owned)),
        ("messages", format!("{messages}, about {tokens} tokens")),
        ("thinking", state.thinking_level.clone()),
    ];
    for (role, model) in &state.models {
        facts.push(("model", if role == "default" { model.clone() } else { format!("{model} ({role})") }));
    }
    if state.mode != "none" {
        let data = state.mode_data.as_deref().map(|data| format!(" {data}")).unwrap_or_default();
        facts.push(("mode", format!("{}{data}", state.mode)));
    }
    facts.extend(state.service_tier.as_ref().map(|tier| ("tier", plain(tier))));
    facts.extend(state.mcp_tools.as_ref().map(|tools| ("tools", names(tools))));
    if !state.ttsr_rules.is_empty() {
        facts.push(("rules", state.ttsr_rules.join(", ")));
    }
    facts
}

/// Draws the path of a session that was not named by its path.
pub(crate) fn file(screen: &Screen, path: &Path) -> String {
    // A path is of no use if it is not whole.
    let whole = Screen { width: None, ..screen.clone() };
    rows(&whole, &[("session", screen.tilde(&path.display().to_string()))])
}

/// Draws facts, one per row, each after its name.
pub(super) fn rows(screen: &Screen, facts: &[(&str, String)]) -> String {
    if screen.paint.in_words {
        let line = |(name, value): &(&str, String)| format!("{name}: {}\n", escape::line(value));
        return facts.iter().map(|fact| screen.folded(&line(fact), 2)).collect();
    }
    let columns = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(8) + 2;
    let mut out = String::new();
    for (name, value) in facts {
        let mut line = String::new();
        screen.paint.push(&mut line, Ink::Dim, &format!("{name:<columns$}"));
        line.push_str(&escape::line(value));
        out.push_str(&screen.folded(&line, columns));
        out.push('\n');
    }
    out
}

/// Returns a setting that is stored as JSON: a string without quotes, other values as they are.
pub(super) fn plain(json: &str) -> String {
    Raw::new(json.as_bytes()).str().map_or(json.to_owned(), |text| text.into_owned())
}

/// Returns the strings of a stored list, separated by commas.
pub(super) fn names(json: &str) -> String {
    let names = Raw::new(json.as_bytes()).elements().filter_map(|name| name.str());
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the number and size of some messages in words.
pub(super) fn size(Size { messages, tokens }: Size) -> String {
    format!("{}, about {tokens} tokens", counted(messages, "message", "messages"))
}

/// Returns the role of a message, and what it is in words: role, names, and how it ended.
pub(super) fn title_words(message: Raw<'_>) -> (Cow<'_, str>, String) {
    let [role, stop, is_error, names @ ..] = message.pick(["role", "stopReason", "isError", "customType", "toolName"]);
    let role = role.and_then(Raw::str).unwrap_or_default();
    let mut title = if role.is_empty() { "(no role)".to_owned() } else { role.clone().into_owned() };
    for name in names.into_iter().filter_map(|name| name?.str()) {
        title.push_str(&format!(" [{name}]"));
    }
    if is_error.is_some_and(Raw::is_true) {
        title.push_str(" (error)");
    }
    match stop.and_then(Raw::str).as_deref() {
        None | Some("stop" | "toolUse") => {}
        Some(reason) => title.push_str(&format!(" ({reason})")),
    }
    (role, title)
}

/// Draws the title line of a message.
pub fn title(screen: &Screen, number: usize, id: &str, message: Raw<'_>) -> String {
    let (role, title) = title_words(message);
    let paint = screen.paint;
    if paint.in_words {
        return format!("\nmessage {number}, {}, {}\n", escape::line(&title), escape::line(id));
    }
    let rule = if paint.ascii { "--" } else { "──" };
    let mut out = String::from("\n");
    paint.push(&mut out, Ink::Dim, &format!("{rule} {number} "));
    let ink = match role.as_ref() {
        "user" => Ink::User,
        "branchSummary" | "compactionSummary" => Ink::Summary,
        _ => Ink::Strong,
    };
    paint.push(&mut out, ink, &escape::line(&title));
    paint.push(&mut out, Ink::Dim, &format!("  {}", escape::line(id)));
    out.push('\n');
    out
}

/// Calls `out` with all text of a message, safe to print and in pieces, since it may have many megabytes.
/// Every part of the message ends its line.
///
/// # Errors
/// Those of `out`.
pub fn body(message: Raw<'_>, out: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    parts(message, &mut |_, text| part(text, out))
}

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

/// Calls `out` with the parts of a message in order, as they are stored. Some are empty.
///
/// # Errors
/// Those of `out`.
pub(super) fn parts(message: Raw<'_>, out: &mut dyn FnMut(PartKind, &str) -> io::Result<()>) -> io::Result<()> {
    let [role, summary, command, code, output, files, blocks, content, error] =
        message.pick(["role", "summary", "command", "code", "output", "files", "blocks", "content", "errorMessage"]);
    let role = role.and_then(Raw::str);
    let said = match role.as_deref() {
        Some("user" | "assistant" | "branchSummary" | "compactionSummary") => PartKind::Words,
        _ => PartKind::Other,
    };
    if let Some(summary) = summary.and_then(Raw::str) {
        out(said, &summary)?;
    }
    let mut part = |text: &str| out(PartKind::Other, text);
    for (text, before) in [(command, "$ "), (code, ">>> "), (output, "")] {
        match text.and_then(Raw::str) {
            Some(text) if before.is_empty() => part(&text)?,
            Some(text) => part(&format!("{before}{text}"))?,
            None => {}
        }
    }
    for file in files.iter().flat_map(|files| files.elements()) {
        part(&format!("[file: {}]", file.get_str("path").unwrap_or_default()))?;
        part(&file.get_str("content").unwrap_or_default())?;
    }
    for element in blocks.iter().flat_map(|blocks| blocks.elements()) {
        part(&block(element, said).1)?;
    }
    if role.as_deref() == Role::System.name() {
        TextElsewhere::of_system(message).iter().try_for_each(|other| part(&elsewhere(other)))?;
    }
    match content {
        Some(content) if content.kind() == ValueKind::String => out(said, &content.str().unwrap_or_default())?,
        Some(content) if content.kind() == ValueKind::Array => {
            for element in content.elements() {
                let (kind, text) = block(element, said);
                out(kind, &text)?;
            }
        }
        Some(_) => part("(no content)")?,
        None => {}
    }
    match error.and_then(Raw::str) {
        Some(error) => out(PartKind::Other, &format!("[error: {error}]")),
        None => Ok(()),
    }
}

/// Calls `out` with all text of an entry as [`body`] does with that of a message.
///
/// # Errors
/// Those of `out`.
pub(crate) fn entry(entry: Entry<'_>, out: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    if let Some(message) = entry.message().filter(|_| entry.kind() == Kind::Message) {
        return body(message, out);
    }
    body(entry.object(), out)?;
    TextElsewhere::of(entry).iter().try_for_each(|other| part(&elsewhere(other), out))
}

/// How many bytes of whole lines are made safe to print at once.
const PIECE: usize = 64 * 1024;

/// Returns the first lines of a text, about [`PIECE`] bytes of them, and the others.
fn split_lines(text: &str) -> (&str, &str) {
    let after = text.as_bytes().get(PIECE..).and_then(|rest| memchr(b'\n', rest));
    text.split_at(after.map_or(text.len(), |end| PIECE + end + 1))
}

/// Calls `out` with a part of a message, some lines at a time.
fn part(text: &str, out: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    let text = text.trim_end_matches('\n');
    if text.is_empty() {
        return Ok(());
    }
    let mut rest = text;
    while !rest.is_empty() {
        let (lines, after) = split_lines(rest);
        out(&escape::lines(lines))?;
        rest = after;
    }
    out("\n")
}

/// Returns a text that stands outside of the content, with what it is.
fn elsewhere(text: &TextElsewhere<'_>) -> String {
    let plain = |text: Raw<'_>| text.str().unwrap_or_default().into_owned();
    match text {
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
    }
}

/// Prints the text of an entry and nothing else: no role, no call, no thinking. For a file it is as it was
/// written, but for what a terminal might obey.
///
/// # Errors
/// [`io::Error`] of the output.
pub(crate) fn text_alone(entry: Entry<'_>, output: &mut Output) -> io::Result<()> {
    let object = entry.message().filter(|_| entry.kind() == Kind::Message).unwrap_or(entry.object());
    let mut parts: Vec<_> = ["summary", "output"].iter().filter_map(|name| object.get_str(name)).collect();
    let files = object.get("files");
    parts.extend(files.iter().flat_map(|files| files.elements()).filter_map(|file| file.get_str("content")));
    let content = entry.content();
    parts.extend(content.and_then(Raw::str));
    let blocks = content.iter().flat_map(|content| content.elements());
    let texts = blocks.filter(|block| block.get_str("type").as_deref() == Some("text"));
    parts.extend(texts.filter_map(|block| block.get_str("text")));
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let is_terminal = output.is_terminal();
        output.text(&if is_terminal { escape::lines(part) } else { escape::text(part) })?;
        if !part.ends_with('\n') {
            output.text("\n")?;
        }
    }
    Ok(())
}

/// Returns what a block is and its text; `said` is the kind of a block of text.
fn block(block: Raw<'_>, said: PartKind) -> (PartKind, Cow<'_, str>) {
    let [kind, text, thinking, name, arguments] = block.pick(["type", "text", "thinking", "name", "arguments"]);
    let words = |member: Option<Raw<'_>>| member.and_then(Raw::str).unwrap_or_default().into_owned();
    let kind = kind.and_then(Raw::str).unwrap_or_default();
    let text = match kind.as_ref() {
        "text" => return (said, text.and_then(Raw::str).unwrap_or_default()),
        "thinking" => format!("[thinking] {}", words(thinking)),
        "image" => image(block),
        "toolCall" => {
            let arguments = arguments.map(Raw::bytes).unwrap_or_default();
            let name = Some(words(name)).filter(|name| !name.trim().is_empty());
            let name = name.as_deref().unwrap_or(NAMELESS);
            let call = format!("[call {name}: {}]", String::from_utf8_lossy(arguments));
            return (PartKind::Call, Cow::Owned(call));
        }
        _ => format!("[{kind}]"),
    };
    (PartKind::Other, Cow::Owned(text))
}

fn image(image: Raw<'_>) -> String {
    let data = image.get("data").map_or(0, |data| data.bytes().len());
    format!("[image: {}, {} kB]", image.get_str("mimeType").unwrap_or_default(), data.div_ceil(1000))
}

/// Prints a context as a transcript.
///
/// # Errors
/// As [`message::with`], or what the system says of writing.
pub(crate) fn text(
    output: &mut Output,
    bodies: &mut Bodies<'_>,
    context: &Context,
    size: Size,
    screen: &Screen,
) -> anyhow::Result<()> {
    let session = bodies.session();
    let leaf = context.leaf.map(|leaf| session.id(leaf));
    output.text(&rows(screen, &facts(leaf, &context.settings, size)))?;
    let mut scratch = Vec::new();
    for (at, item) in context.messages.iter().enumerate() {
        let write = |message: Message<'_>| -> io::Result<()> {
            let message = message.raw();
            let title = title(screen, at + 1, session.id(item.node()), message);
            output.text(&screen.folded(&title, 3))?;
            body(message, &mut |part| fit::fold(part, screen.width, None, &mut |row| output.text(row)))
        };
        message::with(bodies, item, &mut scratch, write)??;
    }
    Ok(())
}

/// Prints a context as agents hold it: its state and its messages.
///
/// # Errors
/// As [`text`].
pub(crate) fn json(output: &mut Output, bodies: &mut Bodies<'_>, context: &Context) -> anyhow::Result<()> {
    let leaf = context.leaf.map(|leaf| bodies.session().id(leaf));
    output.text("{\"leafId\":")?;
    output.json(&serde_json::to_vec(&leaf)?)?;
    output.text(",\"messages\":[")?;
    messages(output, bodies, context, false)?;
    let state = &context.settings;
    let mut rest = b"]".to_vec();
    let mut settings = Object::resume(&mut rest);
    settings.strings("entryIds", context.messages.iter().map(|item| bodies.session().id(item.node())));
    settings.str("thinkingLevel", &state.thinking_level);
    state.configured_thinking_level.iter().for_each(|level| _ = settings.str("configuredThinkingLevel", level));
    settings.json("models", &serde_json::to_vec(&state.models)?).str("mode", &state.mode);
    let stored = [
        ("modeData", &state.mode_data),
        ("serviceTier", &state.service_tier),
        ("selectedMCPToolNames", &state.mcp_tools),
    ];
    for (name, value) in stored {
        value.iter().for_each(|value| _ = settings.json(name, value.as_bytes()));
    }
    settings.strings("injectedTtsrRules", &state.ttsr_rules);
    drop(settings);
    output.json(&rest)?;
    Ok(output.text("\n")?)
}

/// Prints the messages of a context as a model gets them.
///
/// # Errors
/// As [`text`].
pub(crate) fn for_model(output: &mut Output, bodies: &mut Bodies<'_>, context: &Context) -> anyhow::Result<()> {
    output.text("[")?;
    messages(output, bodies, context, true)?;
    Ok(output.text("]\n")?)
}

fn messages(output: &mut Output, bodies: &mut Bodies<'_>, context: &Context, for_model: bool) -> anyhow::Result<()> {
    let (mut scratch, mut sent) = (Vec::new(), Vec::new());
    let mut mark = "";
    for item in &context.messages {
        let written = message::with(bodies, item, &mut scratch, |message| -> io::Result<bool> {
            sent.clear();
            if for_model && !message::write_for_model(&mut sent, message) {
                return Ok(false);
            }
            output.text(mark)?;
            output.json(if for_model { &sent } else { message.raw().bytes() }).map(|()| true)
        });
        if written?? {
            mark = ",";
        }
    }
    Ok(())
}
