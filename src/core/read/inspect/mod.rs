//! Notes oddities of lines for a check, on the threads that read the lines, so that nothing is read
//! twice. Must stay cheap in memory: a note is a line and a number, and [`crate::core::check`] words
//! only what it reports.

mod bytes;
mod damage;
pub(crate) mod members;
mod message;
mod notes;
mod oddity;

use self::bytes::ByteInspector;
pub(crate) use self::damage::damage;
use self::damage::remains;
use self::members::odd_member;
use self::message::{content, message};
pub(crate) use self::notes::{DuplicateId, LineNotes, LostEntry, LostParent, OddLine, hash};
pub(crate) use self::oddity::Oddity;
use super::{foreign, line};
use crate::core::entry::{Entry, Kind, Role, Scan};
use crate::core::json::{self, Raw};

/// Inspects lines; one per thread.
#[derive(Debug, Default)]
pub(crate) struct Inspector {
    bytes: ByteInspector,
    /// For damaged lines: the reader's own is still in use.
    scan: Scan,
}

impl Inspector {
    /// Inspects a well-formed line.
    pub(crate) fn entry(&self, notes: &mut LineNotes, number: u32, line: &[u8], entry: Entry<'_>) {
        self.bytes(notes, number, line);
        let kind = entry.kind();
        // What programs print is kept as it is: there is nothing to do about it.
        let is_output = matches!(entry.role(), Role::ToolResult | Role::BashExecution | Role::PythonExecution);
        if kind == Kind::Message && is_output {
            notes.odd.pop_if(|note| note.line == number && matches!(note.oddity, Oddity::Escape { .. }));
        }
        if kind == Kind::Header {
            return notes.push(number, Oddity::SecondHeader);
        }
        // Version 1 has no ids; the version is known only when all lines are.
        if entry.id().is_none() {
            let oddity = if foreign::is_patch(entry) { Oddity::Patch } else { Oddity::Foreign };
            notes.push(number, oddity);
        } else if kind == Kind::Untyped {
            notes.push(number, Oddity::Untyped);
        } else if entry.parent_id().is_none() && !entry.get("parentId").is_some_and(is_null_or_string) {
            notes.push(number, Oddity::NoParent);
        }
        match kind {
            Kind::Message => message(notes, number, entry),
            Kind::CustomMessage => content(notes, number, entry, Role::Custom),
            Kind::ModelUsage => {
                let usage = entry.get("usage").filter(|usage| !usage.is_null());
                if usage.is_some_and(|usage| usage.get("cost").is_none_or(Raw::is_null)) {
                    notes.push(number, Oddity::NoCost { is_message: false });
                }
            }
            _ => {}
        }
        if let Some(index) = odd_member(entry) {
            notes.push(number, Oddity::BadMember { index });
        }
    }

    /// Inspects a line that is not one object.
    pub(crate) fn malformed(&mut self, notes: &mut LineNotes, number: u32, line: &[u8], terminated: bool) {
        let oddity = damage(line, &mut self.scan);
        for lost in remains(line, oddity, &mut self.scan) {
            notes.lost.push(LostEntry { line: number, ..lost });
        }
        match terminated {
            true => notes.push(number, oddity),
            false => notes.push(number, Oddity::Unfinished { wants_value: line::wants_value(line) }),
        }
    }

    /// Inspects the bytes of any line.
    pub(crate) fn bytes(&self, notes: &mut LineNotes, number: u32, line: &[u8]) {
        self.bytes.inspect(notes, number, line);
    }
}

fn is_null_or_string(raw: Raw<'_>) -> bool {
    matches!(raw.kind(), json::ValueKind::Null | json::ValueKind::String)
}

#[cfg(test)]
mod tests {
    use super::{Inspector, LineNotes};
    use crate::core::entry::Scan;
    use crate::core::session::sample::{entry, message};

    #[test]
    fn the_content_of_whatever_an_agent_shows_a_model_is_inspected() {
        let inspector = Inspector::default();
        let odd = |line: &str| {
            let (mut notes, mut scan) = (LineNotes::default(), Scan::default());
            inspector.entry(&mut notes, 0, line.as_bytes(), scan.read(line.as_bytes()).unwrap());
            notes.odd.len()
        };
        let of = |kind: &str, content: &str| entry(kind, "b", "a", &format!(r#""customType":"x","content":{content}"#));
        for (kind, expected) in [("custom_message", 1), ("custom", 0)] {
            assert_eq!(odd(&of(kind, r#"[{"type":"text"}]"#)), expected, "{kind}");
            assert_eq!(odd(&of(kind, r#""text""#)), 0, "{kind}");
        }
        assert_eq!(odd(&message("b", "a", "user", "x")), 0);
        assert_eq!(odd(&message("b", "a", "user", "x").replace(r#""content":"x""#, r#""content":[{}]"#)), 1);
    }
}
