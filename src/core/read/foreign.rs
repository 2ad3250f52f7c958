//! Recognises files that are not sessions of pi or omp, by their first bytes or by a line before a header. Must not
//! cost a read: it looks at what the search for the header has in memory anyway.

use crate::core::entry::Entry;
use crate::core::error::foreign::ForeignFormat;
use crate::core::json::ValueKind;

/// The bytes that a file of a binary format starts with.
const MAGIC: [(&[u8], ForeignFormat); 6] = [
    (GZIP, ForeignFormat::Gzip),
    (&[0x28, 0xb5, 0x2f, 0xfd], ForeignFormat::Zstd),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], ForeignFormat::Xz),
    (&[0xff, 0xfe], ForeignFormat::Utf16),
    (&[0xfe, 0xff], ForeignFormat::Utf16),
    (b"SQLite format 3\0", ForeignFormat::Sqlite),
];

/// The bytes that compressed data of gzip starts with.
pub(crate) const GZIP: &[u8] = &[0x1f, 0x8b];

/// The types of the events that a run starts with.
const EVENTS: [&str; 3] = ["agent_start", "turn_start", "message_start"];

/// Returns the format of a file by its first bytes.
pub(super) fn magic(front: &[u8]) -> Option<ForeignFormat> {
    MAGIC.iter().find(|(magic, _)| front.starts_with(magic)).map(|&(_, format)| format)
}

/// Returns the format whose files have a line like this where sessions have their header.
pub(super) fn line(entry: Entry<'_>) -> Option<ForeignFormat> {
    let is = |name: &str, kind| entry.get(name).is_some_and(|value| value.kind() == kind);
    let is_text = |name| is(name, ValueKind::String);
    match entry.type_name().as_deref() {
        None if entry.get_str("kind").is_some_and(|kind| kind == "header") && is("version", ValueKind::Number) => {
            Some(ForeignFormat::AgentCore)
        }
        None if entry.has_id() && is_text("createdAt") && is_text("updatedAt") => Some(ForeignFormat::Pigo),
        // Before `session_meta` there was a first line without a type.
        None if entry.has_id() && is_text("timestamp") && entry.get("instructions").is_some() => {
            Some(ForeignFormat::Codex)
        }
        Some("session_meta") if is("payload", ValueKind::Object) => Some(ForeignFormat::Codex),
        Some("session.start") if is("data", ValueKind::Object) => Some(ForeignFormat::Copilot),
        Some("session_start") if entry.has_id() && (is_text("cwd") || is_text("owner")) => Some(ForeignFormat::Droid),
        Some("summary") if is_text("leafUuid") => Some(ForeignFormat::ClaudeCode),
        Some("file-history-snapshot") if is_text("messageId") => Some(ForeignFormat::ClaudeCode),
        Some("queue-operation" | "permission-mode" | "last-prompt" | "custom-title") if is_text("sessionId") => {
            Some(ForeignFormat::ClaudeCode)
        }
        Some(kind) if !entry.has_id() && EVENTS.contains(&kind) => Some(ForeignFormat::EventStream),
        Some(_) if entry.get("parentUuid").is_some() && entry.get("isSidechain").is_some() => {
            Some(ForeignFormat::ClaudeCode)
        }
        _ => None,
    }
}

/// Returns whether a line without id changes an entry or the header: gajae-code, a fork of omp, appends such lines.
pub(super) fn is_patch(entry: Entry<'_>) -> bool {
    matches!(entry.type_name().as_deref(), Some("entry_patch" | "header_patch"))
}

/// Returns whether what follows a header are the events of a run, which are printed with the header of its session.
pub(super) fn is_event(rest: &[u8]) -> bool {
    let event = rest.trim_ascii_start().strip_prefix(b"{\"type\":\"");
    let is = |name: &&str| event?.strip_prefix(name.as_bytes())?.first().copied();
    EVENTS.iter().any(|name| is(name) == Some(b'"'))
}

#[cfg(test)]
mod tests {
    use crate::core::entry::Scan;
    use crate::core::error::Error;
    use crate::core::read::source::Source;
    use crate::core::read::start;

    #[test]
    fn foreign_formats_are_recognised_by_their_start() {
        let check = |bytes: &[u8], expected: Result<(), &str>| {
            let found = match start::read(&Source::spool(bytes).unwrap()) {
                Ok(_) => Ok(()),
                Err(Error::Foreign(format)) => Err(format.name()),
                Err(error) => Err(error.kind().name()),
            };
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(bytes));
        };
        const HEADER: &str = r#"{"type":"session","version":3,"id":"s"}"#;
        for (text, expected) in [
            (r#"{"type":"summary","summary":"Fix","leafUuid":"a2"}"#, "claude-code"),
            (r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#, "claude-code"),
            (r#"{"type":"queue-operation","operation":"enqueue","sessionId":"s"}"#, "claude-code"),
            (r#"{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"u"}"#, "claude-code"),
            ("\n{\"type\":\"mode\"}\n{\"parentUuid\":null,\"isSidechain\":true,\"type\":\"user\"}", "claude-code"),
            (r#"{"timestamp":"2026","type":"session_meta","payload":{"id":"1"}}"#, "codex"),
            (r#"{"id":"1","timestamp":"2025","instructions":null,"git":{}}"#, "codex"),
            (r#"{"type":"session.start","data":{"sessionId":"s"},"id":"e","parentId":null}"#, "copilot"),
            (r#"{"type":"session_start","id":"s","title":"New","owner":"me"}"#, "droid"),
            (r#"{"version":2,"id":"s","createdAt":"2026","updatedAt":"2026"}"#, "pigo"),
            (r#"{"kind":"header","version":4,"id":"s","createdAt":1,"cwd":"/"}"#, "pi-agent-core"),
            (r#"{"type":"agent_start"}"#, "event-stream"),
            // What is only like one of them.
            (r#"{"type":"summary","summary":"Fix"}"#, "not-a-session"),
            (r#"{"type":"session_start","session_id":"s"}"#, "not-a-session"),
            (r#"{"type":"session.start","id":"s"}"#, "not-a-session"),
            (r#"{"id":"s","createdAt":"2026"}"#, "not-a-session"),
            (r#"{"kind":"header","id":"s"}"#, "not-a-session"),
            (r#"{"type":"agent_start","id":"s"}"#, "not-a-session"),
            ("text", "not-a-session"),
            ("", "empty"),
        ] {
            check(text.as_bytes(), Err(expected));
            // A byte order mark changes nothing.
            check(
                format!("\u{feff}{text}\n").as_bytes(),
                Err(expected).map_err(|kind| match text {
                    "" => "empty",
                    _ => kind,
                }),
            );
        }
        for (bytes, expected) in [
            (&b"\x1f\x8b\x08\0"[..], "gzip"),
            (b"\x28\xb5\x2f\xfd\x24", "zstd"),
            (b"\xfd7zXZ\0\0", "xz"),
            (b"\xff\xfe{\0\n\0", "utf-16"),
            (b"\xfe\xff\0{\0\n", "utf-16"),
            (b"SQLite format 3\0\x10\0\n", "sqlite"),
            (b"\x28\xb5\x2f", "not-a-session"),
            (b"SQLite format 3", "not-a-session"),
            (b"\n\x1f\x8b", "not-a-session"),
        ] {
            check(bytes, Err(expected));
        }
        // After a header only the line that every run starts with counts.
        for (next, expected) in [
            ("", Ok(())),
            (r#"{"type":"agent_start"}"#, Err("event-stream")),
            ("\r\n\n{\"type\":\"turn_start\"}\n", Err("event-stream")),
            (r#"{"type":"agent_started"}"#, Ok(())),
            (r#"{"type":"custom","id":"a","parentId":null}"#, Ok(())),
            ("{\"type\":\"custom\",\"id\":\"a\"}\n{\"type\":\"agent_start\"}", Ok(())),
        ] {
            check(format!("{HEADER}\n{next}").as_bytes(), expected);
            check(format!("{{\"type\":\"note\"}}\n{HEADER}\n{next}").as_bytes(), expected);
        }
    }

    #[test]
    fn changes_by_lines_are_recognised() {
        for (line, expected) in [
            (r#"{"type":"entry_patch","target":"a"}"#, true),
            (r#"{"type":"header_patch"}"#, true),
            (r#"{"type":"patch"}"#, false),
            (r#"{"note":1}"#, false),
        ] {
            let mut scan = Scan::default();
            assert_eq!(super::is_patch(scan.read(line.as_bytes()).unwrap()), expected, "{line}");
        }
    }
}
