//! What a damaged line is made of: whole records, fragments of others, and NUL bytes. A record is told from
//! an object inside of one, such as a tool call, by the members that every entry has.

use std::ops::Range;

use crate::core::entry::{Entry, Kind, Scan};
use crate::core::json::{Cursor, ValueKind};

/// How many times the length of a line is parsed to find the records on it: an object that never ends costs as
/// much at each of its braces.
const PASSES: usize = 16;

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A whole record.
    Record,
    /// Anything else.
    Fragment,
    /// NUL bytes alone.
    Nul,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    pub(crate) range: Range<usize>,
}

/// Cuts a line into its pieces: all of its bytes are in one of them. Blanks belong to the piece before them.
pub(crate) fn cut(line: &[u8], scan: &mut Scan) -> Vec<Piece> {
    let mut budget = line.len().saturating_mul(PASSES);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let nuls = line[at..].iter().take_while(|&&byte| byte == 0).count();
        let (kind, end) = if nuls > 0 {
            (PieceKind::Nul, at + nuls)
        } else if let Some(end) = record_end(line, at, scan, &mut budget) {
            (PieceKind::Record, end)
        } else {
            let end = next_record(line, at, scan, &mut budget).unwrap_or(line.len());
            let text = line[at..end].iter().rposition(|&byte| byte != 0).map_or(at, |last| at + last + 1);
            (PieceKind::Fragment, text)
        };
        let blanks = line[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        pieces.push(Piece { kind, range: at..end + blanks });
        at = end + blanks;
    }
    pieces
}

/// Returns whether an object is a whole line of a session, not a part of one that starts at a brace.
pub(crate) fn is_record(entry: Entry<'_>) -> bool {
    let is_text = |name: &str| entry.get(name).is_some_and(|value| value.kind() == ValueKind::String);
    is_old_record(entry)
        && match entry.kind() {
            Kind::Header => is_text("id"),
            _ => entry.has_id() && entry.get("parentId").is_some(),
        }
}

/// Returns the same for version 1, whose entries have no ids.
fn is_old_record(entry: Entry<'_>) -> bool {
    entry.type_name().is_some() && entry.get("timestamp").is_some()
}

/// Returns where the first whole record starts that stands after something else on a damaged line.
pub(crate) fn first_record(line: &[u8], scan: &mut Scan) -> Option<usize> {
    next_record(line, 0, scan, &mut line.len().saturating_mul(PASSES))
}

/// Returns the end of the record at an offset, if there is one.
fn record_end(line: &[u8], at: usize, scan: &mut Scan, budget: &mut usize) -> Option<usize> {
    let end = object_end(line, at, budget)?;
    scan.read(&line[at..end]).is_ok_and(is_record).then_some(end)
}

/// Returns whether an object ends a value of the object or list that it is in, by what follows it.
fn is_inner(line: &[u8], end: usize) -> bool {
    let next = line[end..].iter().find(|byte| !byte.is_ascii_whitespace());
    matches!(next, Some(b',' | b'}' | b']' | b':'))
}

/// Returns whether something on a damaged line is a whole record; `is_list` says that it is of version 1.
pub(crate) fn holds_record(line: &[u8], is_list: bool, scan: &mut Scan) -> bool {
    let is_whole = if is_list { is_old_record } else { is_record };
    let mut budget = line.len().saturating_mul(PASSES);
    let mut at = 0;
    while let Some(brace) = line.get(at..).and_then(|rest| memchr::memchr(b'{', rest)) {
        at += brace;
        match object_end(line, at, &mut budget) {
            Some(end) if scan.read(&line[at..end]).is_ok_and(is_whole) => return true,
            Some(end) => at = end,
            // Too much to be sure.
            None if budget == 0 => return true,
            None => at += 1,
        }
    }
    false
}

/// Returns the end of the object at an offset, if it is whole.
fn object_end(line: &[u8], at: usize, budget: &mut usize) -> Option<usize> {
    if *budget == 0 || line.get(at) != Some(&b'{') {
        return None;
    }
    let mut cursor = Cursor::new(&line[at..]);
    let end = cursor.value().ok().map(|span| at + span.range().end);
    *budget = budget.saturating_sub(cursor.position().max(1));
    end
}

/// Returns where the next record after an offset starts.
fn next_record(line: &[u8], from: usize, scan: &mut Scan, budget: &mut usize) -> Option<usize> {
    let mut at = from;
    // Whether an object or a list begins before, which the next object may be in.
    let mut is_open = line.get(from) == Some(&b'{');
    loop {
        let before = at;
        at += 1 + memchr::memchr(b'{', line.get(at + 1..)?)?;
        is_open |= line[before..at].contains(&b'[');
        let Some(end) = object_end(line, at, budget) else {
            if *budget == 0 {
                return None;
            }
            is_open = true;
            continue;
        };
        if !(is_open && is_inner(line, end)) && scan.read(&line[at..end]).is_ok_and(is_record) {
            return Some(at);
        }
        // What is inside of an object is a part of it.
        at = end - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{PieceKind, cut, holds_record};
    use crate::core::entry::Scan;

    /// Checks the pieces of a line, in which `A` to `C` stand for whole records and `0` for a NUL byte: `R:`, `F:` or
    /// `N:` and the bytes.
    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let record = |name: &str| {
            format!(r#"{{"type":"message","id":"{name}","parentId":null,"timestamp":"t","message":{{"a":[{{}}]}}}}"#)
        };
        let spell = |text: &str| {
            ["A", "B", "C"]
                .iter()
                .fold(text.replace('0', "\0"), |text, name| text.replace(name, &record(&name.to_lowercase())))
        };
        let text = spell(line);
        let pieces = cut(text.as_bytes(), &mut Scan::default());
        let told = pieces.into_iter().map(|piece| {
            let kind = match piece.kind {
                PieceKind::Record => "R:",
                PieceKind::Fragment => "F:",
                PieceKind::Nul => "N:",
            };
            format!("{kind}{}", &text[piece.range])
        });
        assert_eq!(told.collect::<Vec<_>>(), expected.iter().map(|text| spell(text)).collect::<Vec<_>>(), "{line}");
    }

    #[test]
    fn a_line_is_cut_into_records_fragments_and_nul_bytes() {
        check("", &[]);
        check("A", &["R:A"]);
        check("AB", &["R:A", "R:B"]);
        check("A B\r", &["R:A ", "R:B\r"]);
        check("000A00B0", &["N:000", "R:A", "N:00", "R:B", "N:0"]);
        check("{\"type\":\"messA", &["F:{\"type\":\"mess", "R:A"]);
        check("{\"type\":\"mess00AxyzB", &["F:{\"type\":\"mess", "N:00", "R:A", "F:xyz", "R:B"]);
        check("xAy", &["F:x", "R:A", "F:y"]);
        check("xAyBz", &["F:x", "R:A", "F:y", "R:B", "F:z"]);
        check("  2: A (end)", &["F:  2: ", "R:A ", "F:(end)"]);
        check("\"A\"", &["F:\"", "R:A", "F:\""]);
        check("xA,", &["F:x", "R:A", "F:,"]);
        check("[A,", &["F:[A,"]);
        check("A{\"type\":\"mess", &["R:A", "F:{\"type\":\"mess"]);
        check("A<<<B", &["R:A", "F:<<<", "R:B"]);
        check("{\"x\":1}A", &["F:{\"x\":1}", "R:A"]);
        check("text", &["F:text"]);
        // What only looks like a record is inside of one.
        check(
            "{\"type\":\"message\",\"message\":{\"content\":[A",
            &["F:{\"type\":\"message\",\"message\":{\"content\":[", "R:A"],
        );
        check("{\"message\":{\"content\":[A,{\"b\"", &["F:{\"message\":{\"content\":[A,{\"b\""]);
        check(
            "{\"content\":[{\"type\":\"image\",\"id\":\"x\",\"data\":{}}",
            &["F:{\"content\":[{\"type\":\"image\",\"id\":\"x\",\"data\":{}}"],
        );
    }

    #[test]
    fn a_line_with_a_whole_record_is_known() {
        let record = r#"{"type":"label","id":"a","parentId":null,"timestamp":"t"}"#;
        let old = r#"{"type":"message","timestamp":"t","message":{"role":"user"}}"#;
        let call = r#"{"type":"toolCall","id":"x","arguments":{}}"#;
        let holds = |line: &str, is_list: bool| holds_record(line.as_bytes(), is_list, &mut Scan::default());
        for line in [format!("[{record}]"), format!("[1,{record},2"), format!("x{record}"), format!("{{\"a\":{record}")]
        {
            assert!(holds(&line, false) && holds(&line, true), "{line}");
        }
        for line in [format!("x{old}\0"), format!("\u{feff}{old},")] {
            assert!(!holds(&line, false) && holds(&line, true), "{line}");
        }
        for line in [format!("{{\"content\":[{call}"), "[1]".to_owned(), "x".to_owned(), String::new()] {
            assert!(!holds(&line, false) && !holds(&line, true), "{line}");
        }
        // What would take too long to look at may hold one.
        assert!(holds(&"{\"a\":[".repeat(20_000), false));
    }

    #[test]
    fn a_hostile_line_takes_linear_time() {
        // In quadratic time this would take very long.
        let line = "{\"a\":[".repeat(200_000);
        assert_eq!(cut(line.as_bytes(), &mut Scan::default()).len(), 1);
    }
}
