//! Members of entries without which an agent cannot go on: their form, and who stumbles over another one. The
//! content of messages and what they used is up to [`super::message`].

use crate::core::entry::{Entry, Kind, Role};
use crate::core::json::{Raw, ValueKind};

/// A member that an agent reads.
#[derive(Debug)]
pub(crate) struct NeededMember {
    /// Where it is.
    pub(crate) name: &'static str,
    /// The form that it has to have.
    pub(crate) form: &'static str,
    /// What agents do with another one.
    pub(crate) agents: &'static str,
}

const fn needed(name: &'static str, form: &'static str, agents: &'static str) -> NeededMember {
    NeededMember { name, form, agents }
}

/// The members, as [`odd_member`] counts them. Each was measured.
pub(crate) const MEMBERS: [NeededMember; 8] = [
    needed("model", "a string", "omp cannot make a request with it in the conversation; pi can"),
    needed("injectedRules", "a list", "omp cannot build the conversation with it; pi can"),
    needed("selectedToolNames", "a list", "omp 13 cannot build the conversation with it; pi and omp 18 can"),
    needed("replacement", "null or an object", "pi cannot build the conversation with it; omp can"),
    needed("replacement.content", "a text or a list", "pi cannot make a request with it; omp can"),
    needed("message.files", "a list of objects", "omp cannot build the conversation with it; pi can"),
    needed("message.toolsAdded", "a list", "pi cannot make a request with it; omp can"),
    needed("name", "a string", "the session is missing from pi's list; omp lists it"),
];

/// Returns the index into [`MEMBERS`] of a member that does not have the form that an agent needs.
pub(crate) fn odd_member(entry: Entry<'_>) -> Option<u8> {
    let is_list = |raw: Option<Raw<'_>>| raw.is_some_and(|raw| raw.kind() == ValueKind::Array);
    let is_none_or = |raw: Option<Raw<'_>>, kinds: &[ValueKind]| {
        raw.is_none_or(|raw| raw.kind() == ValueKind::Null || kinds.contains(&raw.kind()))
    };
    let check = |index: u8, is_sound: bool| (!is_sound).then_some(index);
    match entry.kind() {
        Kind::ModelChange => check(0, is_none_or(entry.get("model"), &[ValueKind::String])),
        Kind::TtsrInjection => check(1, is_list(entry.get("injectedRules"))),
        Kind::McpToolSelection => check(2, is_list(entry.get("selectedToolNames"))),
        Kind::ContextEdit => {
            let Some(replacement) = entry.get("replacement") else { return Some(3) };
            check(4, is_none_or(replacement.get("content"), &[ValueKind::String, ValueKind::Array]))
        }
        Kind::SessionInfo => check(7, is_none_or(entry.get("name"), &[ValueKind::String])),
        Kind::Message => match entry.role() {
            Role::FileMention => {
                let files = entry.message().and_then(|message| message.get("files"));
                let is_sound = |raw: Raw<'_>| raw.elements().all(|file| !file.is_null());
                check(5, is_list(files) && files.is_some_and(is_sound))
            }
            Role::System => {
                let added = entry.message().and_then(|message| message.get("toolsAdded"));
                check(6, is_none_or(added, &[ValueKind::Array]))
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{MEMBERS, odd_member};
    use crate::core::entry::Scan;

    #[test]
    fn members_have_the_form_that_agents_need() {
        let check = |line: &str, expected: Option<&str>| {
            let mut scan = Scan::default();
            let found = odd_member(scan.read(line.as_bytes()).unwrap());
            assert_eq!(found.map(|index| MEMBERS[usize::from(index)].name), expected, "{line}");
        };
        let entry = |kind: &str, members: &str| format!(r#"{{"type":"{kind}","id":"a"{members}}}"#);
        let message =
            |role: &str, members: &str| entry("message", &format!(r#","message":{{"role":"{role}"{members}}}"#));
        for (kind, name, sound, odd) in [
            ("model_change", "model", &["", "null", "\"a/b\""][..], &["7", "{}", "[]"][..]),
            ("ttsr_injection", "injectedRules", &["[]", "[\"r\"]"], &["", "null", "7", "{}"]),
            ("mcp_tool_selection", "selectedToolNames", &["[]"], &["", "null", "7"]),
            ("context_edit", "replacement", &["null", "{}", "7", "{\"content\":\"x\"}", "{\"content\":[]}"], &[""]),
            ("session_info", "name", &["", "null", "\"x\""], &["7", "{}"]),
        ] {
            for (values, expected) in [(sound, None), (odd, Some(name))] {
                for value in values {
                    let member = if value.is_empty() { String::new() } else { format!(r#","{name}":{value}"#) };
                    check(&entry(kind, &member), expected);
                }
            }
        }
        check(&entry("context_edit", r#","replacement":{"content":7}"#), Some("replacement.content"));
        check(&message("fileMention", r#","files":[{"path":"a"}]"#), None);
        for files in ["", r#","files":null"#, r#","files":{}"#, r#","files":[null]"#] {
            check(&message("fileMention", files), Some("message.files"));
        }
        check(&message("system", ""), None);
        check(&message("system", r#","toolsAdded":[]"#), None);
        check(&message("system", r#","toolsAdded":{}"#), Some("message.toolsAdded"));
        check(&message("user", r#","files":7,"toolsAdded":7"#), None);
    }
}
