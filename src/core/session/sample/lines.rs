//! Lines of session files for tests. The suite in `tests/` includes this file too, so that it names
//! nothing of the crate.

use serde_json::Value;

/// The header that every session for tests starts with.
pub(crate) const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/mia/shop"}"#;

/// Returns the lines of a session with a fork and with tool calls; its leaf is `b2`.
///
/// ```text
/// u1 user ─ a1 assistant ─┬─ u2 user ─ a2 assistant ─ t2 toolResult
///                         └─ b1 user ─ b2 assistant
/// ```
pub(crate) fn forked() -> Vec<String> {
    vec![
        message("u1", "", "user", "first"),
        message("a1", "u1", "assistant", "one"),
        message("u2", "a1", "user", "second"),
        calls("a2", "u2", &[("read", "src/a.rs"), ("edit", "src/b.rs")]),
        result("t2", "a2", "call-0"),
        message("b1", "a1", "user", "other"),
        message("b2", "b1", "assistant", "two"),
    ]
}

/// Returns an entry of any type with some members of its own; a parent `""` makes it a root.
pub(crate) fn entry(kind: &str, id: &str, parent: &str, members: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z"{}{members}}}"#,
        if members.is_empty() { "" } else { "," }
    )
}

/// Returns a message entry.
pub(crate) fn message(id: &str, parent: &str, role: &str, text: &str) -> String {
    entry("message", id, parent, &format!(r#""message":{{"role":"{role}","content":{}}}"#, Value::from(text)))
}

/// Returns a label entry.
pub(crate) fn label(id: &str, parent: &str, target: &str, name: &str) -> String {
    entry("label", id, parent, &format!(r#""targetId":"{target}","label":"{name}""#))
}

/// Returns an assistant message that calls tools on paths.
pub(crate) fn calls(id: &str, parent: &str, calls: &[(&str, &str)]) -> String {
    let block = |(at, (tool, path)): (usize, &(&str, &str))| {
        format!(r#"{{"type":"toolCall","id":"call-{at}","name":"{tool}","arguments":{{"path":"{path}"}}}}"#)
    };
    let blocks: Vec<_> = calls.iter().enumerate().map(block).collect();
    entry("message", id, parent, &format!(r#""message":{{"role":"assistant","content":[{}]}}"#, blocks.join(",")))
}

/// Returns the result of a tool call.
pub(crate) fn result(id: &str, parent: &str, call: &str) -> String {
    let message = format!(r#"{{"role":"toolResult","toolCallId":"{call}","toolName":"read","content":[]}}"#);
    entry("message", id, parent, &format!(r#""message":{message}"#))
}
