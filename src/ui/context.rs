//! A context as a transcript for people (`context`). JSON for programs is made in
//! [`crate::core::context::message`].

use std::io;
use std::path::Path;

use super::escape;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::context::Settings;
use crate::core::context::stats::Size;
use crate::core::json::{Kind, Raw};
use crate::core::words::counted;

/// Draws the facts above a transcript: leaf, size and settings.
pub(crate) fn heading(screen: &Screen, leaf: Option<&str>, state: &Settings, messages: usize, tokens: u64) -> String {
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
    rows(screen, &facts)
}

/// Draws the path of a session that was not named by its path.
pub(crate) fn file(screen: &Screen, path: &Path) -> String {
    rows(screen, &[("session", path.display().to_string())])
}

/// Draws facts, one per row, each after its name.
pub(super) fn rows(screen: &Screen, facts: &[(&str, String)]) -> String {
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

/// Draws the title line of a message.
pub fn title(screen: &Screen, number: usize, id: &str, message: Raw<'_>) -> String {
    let role = message.get_str("role").unwrap_or_default();
    let mut title = role.clone().into_owned();
    for name in ["customType", "toolName"] {
        if let Some(name) = message.get_str(name) {
            title.push_str(&format!(" [{name}]"));
        }
    }
    if message.get("isError").is_some_and(Raw::is_true) {
        title.push_str(" (error)");
    }
    match message.get_str("stopReason").as_deref() {
        None | Some("stop" | "toolUse") => {}
        Some(reason) => title.push_str(&format!(" ({reason})")),
    }
    let paint = screen.paint;
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
    let mut part = |text: &str| {
        let text = text.trim_end_matches('\n');
        if text.is_empty() {
            return Ok(());
        }
        for line in text.split_inclusive('\n') {
            out(&escape::lines(line))?;
        }
        out("\n")
    };
    let text = |name: &str| message.get_str(name);
    for (name, before) in [("summary", ""), ("command", "$ "), ("code", ">>> "), ("output", "")] {
        match text(name) {
            Some(text) if before.is_empty() => part(&text)?,
            Some(text) => part(&format!("{before}{text}"))?,
            None => {}
        }
    }
    for file in message.get("files").iter().flat_map(|files| files.elements()) {
        part(&format!("[file: {}]", file.get_str("path").unwrap_or_default()))?;
        part(&file.get_str("content").unwrap_or_default())?;
    }
    match message.get("content") {
        Some(content) if content.kind() == Kind::String => part(&content.str().unwrap_or_default())?,
        Some(content) if content.kind() == Kind::Array => {
            for element in content.elements() {
                part(&block(element))?;
            }
        }
        Some(_) => part("(no content)")?,
        None => {}
    }
    match text("errorMessage") {
        Some(error) => part(&format!("[error: {error}]")),
        None => Ok(()),
    }
}

fn block(block: Raw<'_>) -> String {
    let text = |name: &str| block.get_str(name).unwrap_or_default().into_owned();
    let kind = text("type");
    match kind.as_str() {
        "text" => text("text"),
        "thinking" => format!("[thinking] {}", text("thinking")),
        "image" => {
            let data = block.get("data").map_or(0, |data| data.bytes().len());
            format!("[image: {}, {} kB]", text("mimeType"), data.div_ceil(1000))
        }
        "toolCall" => {
            let arguments = block.get("arguments").map(Raw::bytes).unwrap_or_default();
            format!("[call {}: {}]", text("name"), String::from_utf8_lossy(arguments))
        }
        _ => format!("[{kind}]"),
    }
}
