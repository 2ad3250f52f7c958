//! What reading warns of: lines that are not entries, and lines that are not one object.

use super::foreign;
use super::inspect::{self, Oddity};
use super::line::Line;
use crate::core::entry::{Entry, Kind, Scan};
use crate::core::error::problem::{Problems, WarningKind};

/// Returns why a well-formed line is not an entry, or `None` if it is one.
pub(crate) fn no_entry(entry: Entry<'_>) -> Option<(WarningKind, &'static str)> {
    if entry.kind() == Kind::Header {
        return Some((WarningKind::SecondHeader, SECOND_HEADER));
    }
    if entry.has_id() {
        return None;
    }
    let patch = foreign::is_patch(entry).then_some((WarningKind::PatchLine, PATCH));
    patch.or(Some((WarningKind::ForeignLine, FOREIGN)))
}

/// The message of a second header.
pub(crate) const SECOND_HEADER: &str = "second session header; ignored";
/// The message of a line without id.
pub(crate) const FOREIGN: &str = "foreign line without an `id`; it is not an entry (agents would take it as the leaf)";

/// The message of the first line that changes something.
const PATCH: &str =
    "another program changes entries or the header by lines (`entry_patch`, `header_patch`): not applied";

/// Reports a line that is not one JSON object, as exactly as possible.
pub(super) fn malformed(problems: &mut Problems, number: u32, line: Line<'_>, bytes: &[u8], scan: &mut Scan) {
    if !line.terminated {
        return problems.push(WarningKind::UnfinishedLine, Some(number), || {
            format!("unfinished last line at byte {}: cut off, or a writer is still at work; skipped", line.offset)
        });
    }
    problems.push(WarningKind::MalformedLine, Some(number), || match inspect::damage(bytes, scan) {
        Oddity::Nul { count } => format!("{count} NUL bytes; skipped"),
        Oddity::NulBefore { at } => format!("NUL bytes and a complete record (from byte {at}) on one line; skipped"),
        Oddity::FragmentBefore { at } => {
            format!("a fragment and a complete record (from byte {at}) on one line; skipped")
        }
        Oddity::NulAfter { at } => format!("a complete record and NUL bytes (from byte {at}) on one line; skipped"),
        Oddity::FragmentAfter { at } => {
            format!("a complete record and something else (from byte {at}) on one line; skipped")
        }
        Oddity::Glued { at } => format!("two records on one line, the second from byte {at} on; skipped"),
        Oddity::NotAnObject { .. } => "not a JSON object; skipped".to_owned(),
        Oddity::TooLong => "longer than 4 GiB; skipped".to_owned(),
        Oddity::NotJson { at } => format!("not JSON from byte {at} on; skipped"),
        _ => "cut short; skipped".to_owned(),
    });
}
