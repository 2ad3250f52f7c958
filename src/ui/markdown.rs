//! A context as Markdown, to be read in other programs (`context --format markdown`). What people and models
//! wrote is Markdown already, and stands in block quotes; all else stands in fences, and what is put into a
//! line is escaped, so that nothing of a session changes the document around it.

use std::borrow::Cow;
use std::io;

use memchr::{memchr, memchr_iter};

use super::context::{self, NamedFact, title_words};
use super::escape;
use super::output::Output;
use super::parts::{PartKind, parts};
use super::sink::TextSink;
use super::stats::{self, MeasuredPart};
use crate::core::context::stats::{Size, Stats};
use crate::core::context::{Context, message};
use crate::core::entry::Role;
use crate::core::entry::message::Message;
use crate::core::session::Session;
use crate::core::session::body::Bodies;
use crate::core::time;

mod shown;

/// A transcript in Markdown.
#[derive(Debug)]
pub(crate) struct MarkdownText<'c> {
    /// Whose messages it has.
    pub context: &'c Context,
    /// What stands in a table above them.
    pub measured: Option<(MeasuredPart<'c>, Stats)>,
    /// Whether calls and results of tools are in it.
    pub has_tools: bool,
}

impl MarkdownText<'_> {
    /// Prints it, made on up to `jobs` threads.
    ///
    /// # Errors
    /// As [`context::each_message`].
    pub(crate) fn print(&self, output: &mut Output, bodies: &mut Bodies<'_>, jobs: usize) -> anyhow::Result<()> {
        let title = bodies.title()?;
        let session = bodies.session();
        let mut size = Size::default();
        output.hold();
        let write = |sink: &mut TextSink<'_>, at: usize, message: Message<'_>| {
            self.message(sink, at + 1, session.id(self.context.messages[at].node()), message)?;
            Ok(message::tokens(message))
        };
        context::each_message(output, bodies, &self.context.messages, jobs, write, |tokens| size.add(tokens))?;
        // What they come to is known when all of them were read.
        output.put_before(&self.head(session, &title, size)?);
        Ok(())
    }

    /// Returns what stands above the messages.
    fn head(&self, session: &Session, title: &str, size: Size) -> serde_json::Result<String> {
        let (leaf, state) = (self.context.leaf, &self.context.settings);
        let iso = |stamp: time::Stamp| stamp.ms().map(time::iso);
        let matter = [
            ("id", Some(session.header.id.clone())),
            ("title", Some(title.to_owned()).filter(|title| !title.is_empty())),
            ("model", state.models.get("default").cloned()),
            ("created", iso(session.header.stamp)),
            ("updated", leaf.and_then(|leaf| iso(session.stamp(leaf)))),
        ];
        let mut out = "---\n".to_owned();
        for (name, value) in matter {
            // A JSON string is one of YAML.
            let value = serde_json::to_string(&value.as_deref().map(escape::line))?;
            out.push_str(&format!("{name}: {value}\n"));
        }
        let title = if title.is_empty() { "(no name)" } else { title };
        out.push_str(&format!("---\n\n# {}\n\n", inline(title)));
        out.push_str(&list(&context::facts(leaf.map(|leaf| session.id(leaf)), state, size)));
        if let Some((part, stats)) = &self.measured {
            out.push_str("## Statistics\n\n");
            out.push_str(&list(&stats::facts(session, *part, stats)));
            out.push_str(&table(stats));
            out.push_str(&list(&stats::usage(stats, *part)));
        }
        Ok(out)
    }

    /// Adds a message, unless it has nothing but what is left out.
    fn message(&self, sink: &mut TextSink<'_>, number: usize, id: &str, message: Message<'_>) -> io::Result<()> {
        if !self.has_tools && message.get_str("role").as_deref() == Role::ToolResult.name() {
            return Ok(());
        }
        let mut title = Some(format!("## {number} {} - {}\n\n", inline(&title_words(message).1), inline(id)));
        let mut is_cut = false;
        parts(message, &mut |kind, part| {
            if kind == PartKind::Call && !self.has_tools {
                is_cut = true;
                return Ok(());
            }
            if part.is_empty() {
                return Ok(());
            }
            sink.text(&title.take().unwrap_or_default());
            sink.whole(
                part,
                |sink, text| if kind == PartKind::Words { quote(sink, text) } else { fenced(sink, "", text) },
            )
        })?;
        sink.text(&title.filter(|_| !is_cut).unwrap_or_default());
        Ok(())
    }
}

/// Adds words in a block quote, as they are if a reader sees all of them.
fn quote(sink: &mut TextSink<'_>, text: &str) -> io::Result<()> {
    if !shown::is_all_shown(text) {
        return fenced(sink, "> ", text);
    }
    push(sink, "> ", text)?;
    sink.text("\n");
    Ok(())
}

/// Adds lines, each after a mark, which ends with no blank.
fn push(sink: &mut TextSink<'_>, mark: &str, text: &str) -> io::Result<()> {
    let bytes = text.as_bytes();
    let mut start = 0;
    for end in memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        let line = &bytes[start..end];
        start = end + 1;
        let mark = if line.is_empty() { mark.trim_end() } else { mark };
        sink.bytes.extend_from_slice(mark.as_bytes());
        sink.bytes.extend_from_slice(line);
        sink.bytes.push(b'\n');
        sink.settle()?;
    }
    Ok(())
}

/// Adds a text in a fence that is longer than any row of backticks in it.
fn fenced(sink: &mut TextSink<'_>, mark: &str, text: &str) -> io::Result<()> {
    let fence = "`".repeat(longest_row(text.as_bytes(), b'`').max(2) + 1);
    push(sink, mark, &fence)?;
    if mark.is_empty() {
        sink.long(text.as_bytes())?;
        sink.text("\n");
    } else {
        push(sink, mark, text)?;
    }
    push(sink, mark, &fence)?;
    sink.text("\n");
    Ok(())
}

/// Returns the length of the longest row of a byte.
fn longest_row(text: &[u8], byte: u8) -> usize {
    let mut longest = 0;
    let mut rest = text;
    while let Some(start) = memchr(byte, rest) {
        let row = rest[start..].iter().take_while(|&&other| other == byte).count();
        longest = longest.max(row);
        rest = &rest[start + row..];
    }
    longest
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
