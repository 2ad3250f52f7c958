//! A context as a transcript for people (`context`). JSON for programs is made in
//! [`crate::core::context::message`].

use std::borrow::Cow;
use std::io;
use std::mem;
use std::path::Path;

use super::escape;
use super::in_order::{self, PIECE};
use super::output::{Output, safe_json};
use super::paint::Ink;
use super::parts::{elsewhere, parts};
use super::screen::Screen;
use super::sink::TextSink;
use crate::core::context::message::{self, MessageRun};
use crate::core::context::stats::Size;
use crate::core::context::{Context, ContextMessage, Settings};
use crate::core::entry::elsewhere::TextElsewhere;
use crate::core::entry::message::Message;
use crate::core::entry::{Entry, Kind};
use crate::core::json::text::lossy;
use crate::core::json::{Object, Raw};
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
pub(super) fn title_words(message: Message<'_>) -> (Cow<'_, str>, String) {
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
pub fn title(screen: &Screen, number: usize, id: &str, message: Message<'_>) -> String {
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

/// Calls `out` with all text of a message, safe to print and folded to the width, in pieces, since it may have many
/// megabytes. Every part of the message ends its line.
///
/// # Errors
/// Those of `out`.
pub fn body(message: Message<'_>, width: Option<usize>, out: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    pass_on(out, |sink| parts(message, &mut |_, part| sink.part(part, width)))
}

/// Calls `out` with all text of an entry as [`body`] does with that of a message.
///
/// # Errors
/// Those of `out`.
pub(crate) fn entry(
    entry: Entry<'_>,
    width: Option<usize>,
    out: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    if entry.kind() == Kind::Message && entry.message().is_some() {
        return body(Message::stored(entry), width, out);
    }
    pass_on(out, |sink| {
        parts(Message::made(entry.object()), &mut |_, part| sink.part(part, width))?;
        TextElsewhere::of(entry).iter().try_for_each(|other| sink.part(&elsewhere(other), width))
    })
}

fn pass_on(
    out: &mut dyn FnMut(&str) -> io::Result<()>,
    write: impl FnOnce(&mut TextSink<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let pass = &mut |bytes: &[u8]| out(&lossy(bytes));
    let mut sink = TextSink::passing(pass);
    write(&mut sink)?;
    sink.end()
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

/// Calls `write` with each message of a context, its place among them, and where its text goes, on up to `jobs`
/// threads, and `written` with what that returns, in order.
///
/// # Errors
/// As [`message::with`], or what the system says of writing.
pub(super) fn each_message<T: Send>(
    output: &mut Output,
    bodies: &mut Bodies<'_>,
    items: &[ContextMessage],
    jobs: usize,
    write: impl Fn(&mut TextSink<'_>, usize, Message<'_>) -> io::Result<T> + Sync,
    mut written: impl FnMut(T),
) -> anyhow::Result<()> {
    let session = bodies.session();
    let runs = message::runs(session, items, PIECE as u64);
    let worker = || {
        let (mut bodies, mut scratch) = (Bodies::new(session), Vec::new());
        let (runs, write) = (&runs, &write);
        move |at: usize, out: &mut Vec<u8>| -> anyhow::Result<Vec<T>> {
            let MessageRun { range, is_long } = runs[at].clone();
            if is_long {
                // It is for the calling thread.
                return Ok(Vec::new());
            }
            bodies.read_ahead(items[range.clone()].iter().map(ContextMessage::node));
            let mut sink = TextSink::keeping(mem::take(out));
            let made = range
                .map(|at| {
                    Ok(message::with(&mut bodies, &items[at], &mut scratch, |message| write(&mut sink, at, message))??)
                })
                .collect();
            *out = sink.bytes;
            made
        }
    };
    in_order::write(output, runs.len(), jobs, worker, |output, at, made| {
        made.into_iter().for_each(&mut written);
        let MessageRun { range, is_long } = runs[at].clone();
        if is_long {
            let pass = &mut |bytes: &[u8]| output.put(bytes);
            let mut sink = TextSink::passing(pass);
            let item = &items[range.start];
            written(message::with(bodies, item, &mut Vec::new(), |message| write(&mut sink, range.start, message))??);
            sink.end()?;
        }
        Ok(())
    })
}

/// Prints a context as a transcript, after `front`.
///
/// # Errors
/// As [`each_message`].
pub(crate) fn text(
    output: &mut Output,
    bodies: &mut Bodies<'_>,
    context: &Context,
    front: &str,
    screen: &Screen,
    jobs: usize,
) -> anyhow::Result<()> {
    let session = bodies.session();
    let mut size = Size::default();
    output.hold();
    let write = |sink: &mut TextSink<'_>, at: usize, message: Message<'_>| {
        let title = title(screen, at + 1, session.id(context.messages[at].node()), message);
        sink.text(&screen.folded(&title, 3));
        parts(message, &mut |_, part| sink.part(part, screen.width))?;
        Ok(message::tokens(message))
    };
    each_message(output, bodies, &context.messages, jobs, write, |tokens| size.add(tokens))?;
    let leaf = context.leaf.map(|leaf| session.id(leaf));
    // What they come to is known when all of them were read.
    output.put_before(&rows(screen, &facts(leaf, &context.settings, size)));
    output.put_before(front);
    Ok(())
}

/// Prints a context as agents hold it: its state and its messages.
///
/// # Errors
/// As [`each_message`].
pub(crate) fn json(output: &mut Output, bodies: &mut Bodies<'_>, context: &Context, jobs: usize) -> anyhow::Result<()> {
    let leaf = context.leaf.map(|leaf| bodies.session().id(leaf));
    output.text("{\"leafId\":")?;
    output.json(&serde_json::to_vec(&leaf)?)?;
    output.text(",\"messages\":[")?;
    let is_terminal = output.is_terminal();
    let write = |sink: &mut TextSink<'_>, at: usize, message: Message<'_>| {
        sink.text(if at > 0 { "," } else { "" });
        sink.long(&safe_json(message.raw().bytes(), is_terminal))
    };
    each_message(output, bodies, &context.messages, jobs, write, |()| ())?;
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
/// As [`each_message`].
pub(crate) fn for_model(
    output: &mut Output,
    bodies: &mut Bodies<'_>,
    context: &Context,
    jobs: usize,
) -> anyhow::Result<()> {
    output.text("[")?;
    let (mut sent, mut scratch) = (Vec::new(), Vec::new());
    // Some are not sent, and before the first one that is there is no comma.
    let mut first = 0;
    for item in &context.messages {
        if message::with(bodies, item, &mut scratch, |message| message::write_for_model(&mut sent, message))? {
            break;
        }
        first += 1;
    }
    drop(sent);
    let is_terminal = output.is_terminal();
    let write = |sink: &mut TextSink<'_>, at: usize, message: Message<'_>| {
        let mut sent = Vec::new();
        if !message::write_for_model(&mut sent, message) {
            return Ok(());
        }
        sink.text(if at > first { "," } else { "" });
        sink.long(&safe_json(&sent, is_terminal))
    };
    each_message(output, bodies, &context.messages, jobs, write, |()| ())?;
    Ok(output.text("]\n")?)
}
