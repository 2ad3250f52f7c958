//! Summaries of the entries that a move abandons: the prompt for a summarizer, and the form in which
//! its answer is stored (help rules, "Summaries"). Starting the summarizer is the work of `hooks`.

use std::fmt::Write;

use super::files::TouchedFiles;
use crate::core::entry::{Entry, Kind, Role};
use crate::core::error::Result;
use crate::core::json::Raw;
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;

/// The instructions that a summarizer gets unless others are given.
pub const INSTRUCTIONS: &str = "\
Summarize the conversation above for somebody who goes on from an earlier point of it and has not seen this part. \
Say what was asked for, what was tried and how it went, what was found out, what was decided and why, and what is \
still open. Name files, functions, commands and error messages exactly. Use short Markdown sections, leave out what \
has none, and write nothing else: no greeting, no answer to the conversation itself.";

/// The first sentence of a stored summary, by which a model knows what it is about.
const PREAMBLE: &str = "This is about another branch of the conversation, which was left to come back to this point.";

/// The number of characters in about one token.
const PER_TOKEN: usize = 4;

/// Returns the conversation of some entries as text, in chronological order: the newest ones that fit
/// into `budget` tokens (0: all of them); `None` if none of them has text.
pub(crate) fn conversation(bodies: &mut Bodies<'_>, nodes: &[NodeId], budget: usize) -> Result<Option<String>> {
    let mut taken = Vec::new();
    let mut left = budget.saturating_mul(PER_TOKEN);
    let mut has_text = false;
    for &node in nodes.iter().rev() {
        let text = entry_text(bodies.entry(node)?);
        if text.is_empty() {
            continue;
        }
        has_text = true;
        let length = text.chars().count();
        if budget > 0 && length > left {
            break;
        }
        left = left.saturating_sub(length);
        taken.push(text);
    }
    taken.reverse();
    Ok(has_text.then(|| taken.join("\n\n")))
}

/// Returns the prompt for a summarizer.
pub(crate) fn prompt(conversation: &str, instructions: &str) -> String {
    // A conversation about such tags must not end the quotation.
    let conversation = conversation.replace("</conversation>", "<\\/conversation>");
    format!("<conversation>\n{conversation}\n</conversation>\n\n{instructions}\n")
}

/// Returns a summarizer's answer in the form in which it is stored.
pub(crate) fn finished(answer: &str, files: &TouchedFiles) -> String {
    let mut out = format!("{PREAMBLE}\n\n{}", answer.trim());
    for (name, paths) in [("read-files", &files.read), ("modified-files", &files.modified)] {
        if paths.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = write!(out, "\n\n<{name}>");
        for path in paths {
            let _ = write!(out, "\n{path}");
        }
        let _ = write!(out, "\n</{name}>");
    }
    out
}

/// Returns what an entry adds to the conversation. Tool results are left out: their calls say enough,
/// and they would use up the budget.
fn entry_text(entry: Entry<'_>) -> String {
    let own = |name: &str| entry.get_str(name).unwrap_or_default();
    let inner = |name: &str| entry.message().and_then(|message| message.get_str(name)).unwrap_or_default();
    match (entry.kind(), entry.role()) {
        (Kind::CustomMessage, _) => said("Extension", &entry.full_text()),
        (Kind::BranchSummary, _) => said("Summary of an earlier branch", &own("summary")),
        (Kind::Compaction, _) => said("Summary of what came before", &own("summary")),
        (Kind::Message, Role::User | Role::Developer) => said("User", &entry.full_text()),
        (Kind::Message, Role::Assistant) => assistant(entry),
        (Kind::Message, Role::Custom | Role::HookMessage) => said("Extension", &entry.full_text()),
        (Kind::Message, Role::BranchSummary | Role::CompactionSummary) => said("Summary", &inner("summary")),
        (Kind::Message, Role::BashExecution | Role::PythonExecution) => {
            if entry.message().and_then(|message| message.get("excludeFromContext")).is_some_and(Raw::is_true) {
                return String::new();
            }
            let command = if entry.role() == Role::BashExecution { inner("command") } else { inner("code") };
            said("User ran", &format!("{command}\n{}", inner("output")))
        }
        (Kind::Message, Role::FileMention) => {
            let files = entry.message().and_then(|message| message.get("files"));
            let files = files.iter().flat_map(|files| files.elements()).filter_map(|file| file.get_str("path"));
            said("User mentioned files", &files.collect::<Vec<_>>().join(", "))
        }
        _ => String::new(),
    }
}

fn assistant(entry: Entry<'_>) -> String {
    let mut parts = Vec::new();
    let text = entry.full_text();
    if !text.trim().is_empty() {
        parts.push(said("Assistant", &text));
    }
    for call in entry.calls() {
        let arguments = call.arguments().map(Raw::bytes).unwrap_or_default();
        let name = call.name().unwrap_or_default();
        parts.push(format!("[Assistant called {name}] {}", String::from_utf8_lossy(arguments)));
    }
    parts.join("\n")
}

fn said(who: &str, text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("[{who}] {text}") }
}

#[cfg(test)]
mod tests {
    use super::{TouchedFiles, conversation, finished};
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{entry, session};

    /// Returns the conversation of entries, each given by its type and members.
    fn of(entries: &[(&str, &str)], budget: usize) -> Option<String> {
        let lines = entries.iter().zip(0..).map(|((kind, members), at)| entry(kind, &format!("e{at}"), "", members));
        let session = session(&lines.collect::<Vec<_>>());
        let nodes: Vec<_> = session.nodes().collect();
        conversation(&mut Bodies::new(&session), &nodes, budget).unwrap()
    }

    const USER: (&str, &str) = ("message", r#""message":{"role":"user","content":"fix it"}"#);
    const CALL: (&str, &str) = (
        "message",
        r#""message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"},{"type":"toolCall","name":"read","arguments":{"path":"a"}}]}"#,
    );
    const RESULT: (&str, &str) =
        ("message", r#""message":{"role":"toolResult","content":[{"type":"text","text":"long"}]}"#);
    const HIDDEN: (&str, &str) =
        ("message", r#""message":{"role":"bashExecution","command":"ls","output":"x","excludeFromContext":true}"#);

    #[test]
    fn conversation_has_texts_and_tool_calls_but_no_results() {
        let expected = "[User] fix it\n\n[Assistant] ok\n[Assistant called read] {\"path\":\"a\"}";
        assert_eq!(of(&[USER, CALL, RESULT, HIDDEN], 0).as_deref(), Some(expected));
    }

    #[test]
    fn conversation_stops_at_the_newest_entry_that_exceeds_the_budget() {
        let long = format!(r#""summary":"{}""#, "x".repeat(400));
        let long = ("branch_summary", &*long);
        assert_eq!(of(&[USER, long, USER], 10).as_deref(), Some("[User] fix it"));
        assert_eq!(of(&[long], 10).as_deref(), Some(""));
        assert_eq!(of(&[RESULT, HIDDEN], 10), None);
    }

    #[test]
    fn stored_summary_ends_with_the_files() {
        let files = TouchedFiles { read: ["r".to_owned()].into(), modified: ["a".to_owned(), "m".to_owned()].into() };
        let text = finished(" done \n", &files);
        assert!(
            text.ends_with("\n\ndone\n\n<read-files>\nr\n</read-files>\n\n<modified-files>\na\nm\n</modified-files>")
        );
    }
}
