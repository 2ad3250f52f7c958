//! A context as Markdown, to be read in other programs (`context --format markdown`). What people and models
//! wrote is Markdown already, and stands in block quotes; all else stands in fences, and what is put into a
//! line is escaped, so that nothing of a session changes the document around it.

use std::borrow::Cow;
use std::io;

use super::context::{self, NamedFact, PartKind, parts, title_words};
use super::escape;
use super::output::Output;
use super::stats::{self, MeasuredPart};
use crate::core::context::stats::{Size, Stats};
use crate::core::context::{Context, message};
use crate::core::entry::Role;
use crate::core::json::Raw;
use crate::core::session::body::Bodies;
use crate::core::time;

mod shown;

/// A transcript in Markdown.
#[derive(Debug)]
pub(crate) struct MarkdownText<'c> {
    /// Whose messages it has.
    pub context: &'c Context,
    /// How many they are.
    pub size: Size,
    /// What stands in a table above them.
    pub measured: Option<(MeasuredPart<'c>, Stats)>,
    /// Whether calls and results of tools are in it.
    pub has_tools: bool,
}

impl MarkdownText<'_> {
    /// Prints it.
    ///
    /// # Errors
    /// As [`message::with`], or what the system says of writing.
    pub(crate) fn print(&self, output: &mut Output, bodies: &mut Bodies<'_>) -> anyhow::Result<()> {
        let title = bodies.title()?;
        let session = bodies.session();
        let (leaf, state) = (self.context.leaf, &self.context.settings);
        let iso = |stamp: time::Stamp| stamp.ms().map(time::iso);
        let matter = [
            ("id", Some(session.header.id.clone())),
            ("title", Some(title.clone()).filter(|title| !title.is_empty())),
            ("model", state.models.get("default").cloned()),
            ("created", iso(session.header.stamp)),
            ("updated", leaf.and_then(|leaf| iso(session.stamp(leaf)))),
        ];
        output.text("---\n")?;
        for (name, value) in matter {
            // A JSON string is one of YAML.
            let value = serde_json::to_string(&value.as_deref().map(escape::line))?;
            output.text(&format!("{name}: {value}\n"))?;
        }
        let title = if title.is_empty() { "(no name)" } else { &title };
        output.text(&format!("---\n\n# {}\n\n", inline(title)))?;
        output.text(&list(&context::facts(leaf.map(|leaf| session.id(leaf)), state, self.size)))?;
        if let Some((part, stats)) = &self.measured {
            output.text("## Statistics\n\n")?;
            output.text(&list(&stats::facts(session, *part, stats)))?;
            output.text(&table(stats))?;
            output.text(&list(&stats::usage(stats, *part)))?;
        }
        let mut scratch = Vec::new();
        for (at, item) in self.context.messages.iter().enumerate() {
            let id = session.id(item.node());
            message::with(bodies, item, &mut scratch, |message| self.message(output, at + 1, id, message.raw()))??;
        }
        Ok(())
    }

    /// Prints a message, unless it has nothing but what is left out.
    fn message(&self, output: &mut Output, number: usize, id: &str, message: Raw<'_>) -> io::Result<()> {
        if !self.has_tools && message.get_str("role").as_deref() == Role::ToolResult.name() {
            return Ok(());
        }
        let mut title = Some(format!("## {number} {} - {}\n\n", inline(&title_words(message).1), inline(id)));
        let mut is_cut = false;
        parts(message, &mut |kind, text| {
            let text = text.trim_end_matches('\n');
            if kind == PartKind::Call && !self.has_tools {
                is_cut = true;
                return Ok(());
            }
            if text.is_empty() {
                return Ok(());
            }
            output.text(&title.take().unwrap_or_default())?;
            if kind == PartKind::Words { quote(output, text) } else { fenced(output, "", &escape::lines(text)) }
        })?;
        output.text(&title.filter(|_| !is_cut).unwrap_or_default())
    }
}

/// Prints words in a block quote, as they are if a reader sees all of them.
fn quote(output: &mut Output, text: &str) -> io::Result<()> {
    let text = escape::lines(text);
    if !shown::is_all_shown(&text) {
        return fenced(output, "> ", &text);
    }
    for line in text.split('\n') {
        push(output, "> ", line)?;
    }
    output.text("\n")
}

/// Prints a line after a mark, which ends with no blank.
fn push(output: &mut Output, mark: &str, line: &str) -> io::Result<()> {
    output.text(if line.is_empty() { mark.trim_end() } else { mark })?;
    output.text(line)?;
    output.text("\n")
}

/// Prints a text in a fence that is longer than any row of backticks in it.
fn fenced(output: &mut Output, mark: &str, text: &str) -> io::Result<()> {
    let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    push(output, mark, &fence)?;
    if mark.is_empty() {
        output.text(text)?;
        output.text("\n")?;
    } else {
        text.split('\n').try_for_each(|line| push(output, mark, line))?;
    }
    push(output, mark, &fence)?;
    output.text("\n")
}

/// Returns facts as a list.
fn list(facts: &[NamedFact]) -> String {
    let mut out = String::new();
    for (name, value) in facts {
        out.push_str(&format!("- {name}: {}\n", inline(value)));
    }
    out + "\n"
}

/// Returns the groups of messages as a table, if there are any.
fn table(stats: &Stats) -> String {
    if stats.parts.is_empty() {
        return String::new();
    }
    let row = |cells: &[Cow<'_, str>]| format!("| {} |\n", cells.join(" | "));
    let mut out = row(&stats::GROUP.map(Cow::Borrowed));
    out.push_str("|---:|---:|---:|---|\n");
    for cells in stats::groups(stats) {
        out.push_str(&row(&cells.iter().map(|cell| inline(cell).into()).collect::<Vec<_>>()));
    }
    out + "\n"
}

/// Returns a text for a line, in which nothing is Markdown.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for char in escape::line(text).chars() {
        if matches!(char, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '#' | '$') {
            out.push('\\');
        }
        out.push(char);
    }
    out
}
