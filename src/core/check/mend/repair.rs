//! Sets members of an entry on its line: what agents cannot do without, and nothing else.

use crate::core::entry::header::SLOT_SIZE;
use crate::core::json::splice::{Members, TextEdits, string_or_null};
use crate::core::json::{Raw, Span, ValueKind, text};

/// A cost of nothing.
const COST: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}"#;

/// What is done to the message of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Without a message, or a role in it, the entry becomes a custom one.
    Custom,
    /// Missing content becomes an empty list.
    Content,
    /// Missing usage is one of nothing.
    Usage,
    /// A missing cost is one of nothing.
    Cost,
    /// A missing type becomes that of a message, if there is one, or of a custom entry.
    Type,
    /// A title slot gets its size by the spaces in `pad`.
    Slot,
}

/// Sets members of the object on a line to JSON text.
pub(super) fn set(edits: &mut TextEdits, line: &[u8], changes: &[(&str, Vec<u8>)]) {
    Members::of(line).put(edits, line, changes);
}

/// Repairs the message on a line. Returns what is done, if something is.
pub(super) fn repair(edits: &mut TextEdits, line: &[u8], repair: Repair) -> Option<String> {
    let outer = Members::of(line);
    let message = outer.last("message").map(|message| message.value);
    let inner = message.map(|span| Members::of(&line[span.range()])).filter(|inner| !inner.all().is_empty());
    let has_role = || {
        let role = inner.as_ref()?.value(&line[message?.range()], "role")?;
        Some(role.kind() == ValueKind::String)
    };
    match (repair, message) {
        (Repair::Custom, _) if has_role() == Some(true) => None,
        (Repair::Custom, _) => {
            let mut changes = vec![("type", b"\"custom\"".to_vec())];
            if outer.last("customType").is_none() {
                changes.push(("customType", b"\"malformed-message\"".to_vec()));
            }
            set(edits, line, &changes);
            Some("`type` set to \"custom\": there is no message with a role".to_owned())
        }
        (Repair::Type, _) => {
            let is_message = has_role() == Some(true);
            let name = if is_message { "message" } else { "custom" };
            let mut changes = vec![("type", string_or_null(Some(name)))];
            if !is_message && outer.last("customType").is_none() {
                changes.push(("customType", b"\"untyped\"".to_vec()));
            }
            set(edits, line, &changes);
            Some(format!("`type` set to \"{name}\""))
        }
        (Repair::Content, Some(span)) if inner.is_some() => {
            put(edits, line, span, "role", "content", b"[]");
            Some("`content` set to an empty list".to_owned())
        }
        (Repair::Content, _) => {
            set(edits, line, &[("content", b"[]".to_vec())]);
            Some("`content` set to an empty list".to_owned())
        }
        (Repair::Usage | Repair::Cost, Some(span)) if inner.is_some() => {
            let usage = inner.as_ref().and_then(|inner| inner.last("usage")).map(|usage| usage.value);
            let usage = usage.map(|usage| Span { start: span.start + usage.start, end: span.start + usage.end });
            let is_object = |span: &Span| line[span.range()].starts_with(b"{");
            match usage.filter(is_object) {
                Some(usage) => put(edits, line, usage, "", "cost", COST.as_bytes()),
                None => {
                    let whole = format!(
                        r#"{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{COST}}}"#
                    );
                    put(edits, line, span, "role", "usage", whole.as_bytes());
                }
            }
            let what = if repair == Repair::Usage { "`usage`" } else { "`cost`" };
            Some(format!("{what} of zeros added"))
        }
        (Repair::Cost, None) => {
            let usage = outer.last("usage")?.value;
            if !line[usage.range()].starts_with(b"{") {
                return None;
            }
            put(edits, line, usage, "", "cost", COST.as_bytes());
            Some("`cost` of zeros added".to_owned())
        }
        (Repair::Usage | Repair::Cost, _) => None,
        (Repair::Slot, _) => {
            let pad = outer.last("pad")?.value;
            let text = Raw::new(&line[pad.range()]).str()?;
            // The line end counts.
            let (size, wanted) = (line.len() + 1, usize::try_from(SLOT_SIZE).unwrap_or(usize::MAX));
            let text = match wanted.checked_sub(size) {
                Some(missing) => format!("{text}{}", " ".repeat(missing)),
                None => text.strip_suffix(&" ".repeat(size - wanted))?.to_owned(),
            };
            let mut json = Vec::new();
            text::push_json(&mut json, &text);
            edits.replace(pad, json);
            Some(format!("brought to {SLOT_SIZE} bytes by the spaces in `pad`"))
        }
    }
}

/// Sets a member of the object in a span: in place, or after another member, or as the last one.
fn put(edits: &mut TextEdits, line: &[u8], span: Span, after: &str, name: &str, json: &[u8]) {
    let object = &line[span.range()];
    let members = Members::of(object);
    if let Some(member) = members.last(name) {
        let value = member.value;
        return edits.replace(Span { start: span.start + value.start, end: span.start + value.end }, json.to_vec());
    }
    let place = members.last(after).or(members.all().last());
    let mut text = format!("\"{name}\":").into_bytes();
    text.extend_from_slice(json);
    match place {
        Some(member) => {
            text.insert(0, b',');
            edits.insert(span.start + member.value.end, text);
        }
        None => edits.insert(span.start + 1, text),
    }
}

#[cfg(test)]
mod tests {
    use super::{COST, Repair, TextEdits, repair};

    #[track_caller]
    fn check(line: &str, what: Repair, expected: &str) {
        let mut edits = TextEdits::default();
        let done = repair(&mut edits, line.as_bytes(), what);
        assert_eq!(done.is_some(), line != expected, "{line}");
        let out = edits.apply(line.as_bytes()).into_owned();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{line} {what:?}");
        assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok(), "{expected}");
    }

    #[test]
    fn a_title_slot_gets_its_size() {
        let slot =
            |pad: usize| format!(r#"{{"type":"title","v":1,"title":"a","updatedAt":"b","pad":"{}"}}"#, " ".repeat(pad));
        let right = 255 - slot(0).len();
        check(&slot(3), Repair::Slot, &slot(right));
        check(&slot(right + 9), Repair::Slot, &slot(right));
        check(
            &slot(right).replace(r#""v":1"#, r#""v":100"#),
            Repair::Slot,
            &slot(right - 2).replace(r#""v":1"#, r#""v":100"#),
        );
        let long = slot(0).replace(r#""a""#, &format!("\"{}\"", "a".repeat(250)));
        check(&long, Repair::Slot, &long);
    }

    #[test]
    fn what_agents_cannot_do_without_is_set_in_place() {
        let of = |message: &str| format!(r#"{{"type":"message","id":"a","message":{message},"x": 1}}"#);
        let custom = |message: &str| {
            format!(r#"{{"type":"custom","customType":"malformed-message","id":"a","message":{message},"x": 1}}"#)
        };
        for message in ["null", "5", "{}", r#"{"role":7}"#] {
            check(&of(message), Repair::Custom, &custom(message));
        }
        // A role that is not known may be of a newer agent.
        check(&of(r#"{"role":"new"}"#), Repair::Custom, &of(r#"{"role":"new"}"#));
        check(&of(r#"{"role":"user"}"#), Repair::Content, &of(r#"{"role":"user","content":[]}"#));
        check(&of(r#"{"content" : null}"#), Repair::Content, &of(r#"{"content" : []}"#));
        check(
            r#"{"type":"custom_message","content":null}"#,
            Repair::Content,
            r#"{"type":"custom_message","content":[]}"#,
        );
        let usage =
            format!(r#""usage":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{COST}}}"#);
        check(
            &of(r#"{"role":"assistant","a":1}"#),
            Repair::Usage,
            &of(&format!(r#"{{"role":"assistant",{usage},"a":1}}"#)),
        );
        check(
            &of(r#"{"role":"assistant","usage":null}"#),
            Repair::Usage,
            &of(&format!(r#"{{"role":"assistant",{usage}}}"#)),
        );
        check(
            &of(r#"{"role":"assistant","usage":{"input":1.50}}"#),
            Repair::Cost,
            &of(&format!(r#"{{"role":"assistant","usage":{{"input":1.50,"cost":{COST}}}}}"#)),
        );
        check(&of(r#"{"usage":{}}"#), Repair::Cost, &of(&format!(r#"{{"usage":{{"cost":{COST}}}}}"#)));
        check(&of(r#"{"usage":{"cost":null}}"#), Repair::Cost, &of(&format!(r#"{{"usage":{{"cost":{COST}}}}}"#)));
        check(&of("null"), Repair::Cost, &of("null"));
        check(
            r#"{"type":"model_usage","usage":{"input":1}}"#,
            Repair::Cost,
            &format!(r#"{{"type":"model_usage","usage":{{"input":1,"cost":{COST}}}}}"#),
        );
        check(r#"{"id":"a"}"#, Repair::Type, r#"{"type":"custom","customType":"untyped","id":"a"}"#);
        check(
            r#"{"type":5,"message":{"role":"user"}}"#,
            Repair::Type,
            r#"{"type":"message","message":{"role":"user"}}"#,
        );
    }
}
