//! Takes a damaged line apart: whole records get lines of their own, and so does what is between them.

use super::plan::{NewLine, OldLine};
use crate::core::entry::Scan;
use crate::core::json::Cursor;
use crate::core::read::line;
use crate::core::read::pieces::{self, Piece, PieceKind};
use crate::core::words::counted;

/// What a damaged line is taken apart into.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) lines: Vec<NewLine>,
    pub(super) what: String,
    pub(super) removed: u64,
}

/// Takes a line apart, if a record on it is whole; if `objects`, a line of whole objects too, whatever they are.
pub(super) fn split(old: &OldLine, bytes: &[u8], objects: bool, scan: &mut Scan) -> Option<Split> {
    if is_conflict_marker(bytes) {
        let what = "marker of a conflict of git removed; both sides stay".to_owned();
        return Some(Split { lines: Vec::new(), what, removed: old.len });
    }
    let mut pieces = pieces::cut(bytes, scan);
    let has_record = |pieces: &[Piece]| pieces.iter().any(|piece| piece.kind == PieceKind::Record);
    if objects && !has_record(&pieces) {
        pieces = whole_objects(bytes)?;
    }
    if pieces.len() < 2 || !has_record(&pieces) {
        return None;
    }
    let (mut records, mut fragments, mut removed) = (0_u32, 0_u32, 0);
    let mut lines = Vec::new();
    for (at, Piece { kind, range }) in pieces.iter().enumerate() {
        match kind {
            PieceKind::Nul => removed += range.len() as u64,
            PieceKind::Record => records += 1,
            PieceKind::Fragment => fragments += 1,
        }
        if *kind == PieceKind::Nul {
            continue;
        }
        lines.push(old.part(range.start as u64, range.end as u64));
        // omp takes the next line for the value that is missing here.
        let is_open = *kind == PieceKind::Fragment && line::wants_value(&bytes[range.clone()]);
        if is_open && pieces[at + 1..].iter().any(|piece| piece.kind != PieceKind::Nul) {
            lines.push(NewLine::written(b"}".to_vec()));
        }
    }
    if let Some(last) = lines.last_mut() {
        last.terminated = old.terminated;
    }
    let mut what = Vec::new();
    if lines.len() > 1 {
        let records = counted(records, "record", "records");
        let fragments =
            if fragments > 0 { format!(" and {}", counted(fragments, "fragment", "fragments")) } else { String::new() };
        what.push(format!("{records}{fragments} put on lines of their own"));
    }
    if removed > 0 {
        what.push(format!("{} removed", counted(removed, "NUL byte", "NUL bytes")));
    }
    Some(Split { lines, what: what.join("; "), removed })
}

/// Returns the objects of a line and the NUL bytes around them, if it is made of nothing else.
fn whole_objects(bytes: &[u8]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let nuls = bytes[at..].iter().take_while(|&&byte| byte == 0).count();
        if nuls > 0 {
            pieces.push(Piece { kind: PieceKind::Nul, range: at..at + nuls });
            at += nuls;
            continue;
        }
        let mut cursor = Cursor::new(&bytes[at..]);
        if cursor.peek() != Some(b'{') {
            return None;
        }
        let end = at + cursor.value().ok()?.range().end;
        let blanks = bytes[end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        pieces.push(Piece { kind: PieceKind::Record, range: at..end + blanks });
        at = end + blanks;
    }
    Some(pieces)
}

/// Returns whether a line is one that git puts around the two sides of a conflict.
fn is_conflict_marker(bytes: &[u8]) -> bool {
    let line = bytes.trim_ascii_end();
    if line.contains(&b'{') {
        return false;
    }
    let starts = |mark: &[u8]| line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest[0] == b' ');
    line == b"=======" || [&b"<<<<<<<"[..], b"|||||||", b">>>>>>>"].iter().any(|mark| starts(mark))
}

#[cfg(test)]
mod tests {
    use super::{OldLine, Scan, is_conflict_marker, split};
    use crate::core::check::mend::plan::{LineChange, MendPlan};
    use crate::core::read::source::Source;

    /// Checks what a line becomes, in which `A` and `B` stand for whole records and `0` for a NUL byte.
    #[track_caller]
    fn check(line: &str, objects: bool, expected: Option<(&str, &str, u64)>) {
        let record = |id: &str| format!(r#"{{"type":"label","id":"{id}","parentId":null,"timestamp":"t"}}"#);
        let spell = |text: &str| text.replace('0', "\0").replace('A', &record("x")).replace('B', &record("y"));
        let text = spell(line);
        let old = OldLine { number: 1, offset: 0, len: text.len() as u64, terminated: false };
        let split = split(&old, text.as_bytes(), objects, &mut Scan::default());
        let told = split.map(|split| {
            let mut out = Vec::new();
            let plan = MendPlan::new(vec![LineChange { old, new: split.lines }]);
            plan.write(&Source::spool(text.as_bytes()).unwrap(), &mut out).unwrap();
            (String::from_utf8(out).unwrap(), split.what, split.removed)
        });
        let expected = expected.map(|(lines, what, removed)| (spell(lines), what.to_owned(), removed));
        assert_eq!(told, expected, "{line}");
    }

    #[test]
    fn whole_records_get_lines_of_their_own() {
        let two = "2 records put on lines of their own";
        check("AB", false, Some(("A\nB", two, 0)));
        check("A B", false, Some(("A \nB", two, 0)));
        check("A00B00", false, Some(("A\nB", "2 records put on lines of their own; 4 NUL bytes removed", 4)));
        check("000A", false, Some(("A", "3 NUL bytes removed", 3)));
        let both = "1 record and 1 fragment put on lines of their own";
        check(r#"{"type":"mesA"#, false, Some(("{\"type\":\"mes\nA", both, 0)));
        check(r#"A{"type":"mes"#, false, Some(("A\n{\"type\":\"mes", both, 0)));
        // omp would take the record for the value that is missing.
        check(r#"{"type":A"#, false, Some(("{\"type\":\n}\nA", both, 0)));
        check(r#"A{"type":"#, false, Some(("A\n{\"type\":", both, 0)));
        check("A", false, None);
        check("{\"a\":1", true, None);
        check("{\"a\":1}{\"b\":2}", false, None);
        check("{\"a\":1}{\"b\":2}", true, Some(("{\"a\":1}\n{\"b\":2}", two, 0)));
        check("{\"a\":1}{\"b\":", true, None);
        check("00{\"a\":1}0", true, Some(("{\"a\":1}", "3 NUL bytes removed", 3)));
        check("00{\"a\":1}x", true, None);
    }

    #[test]
    fn markers_of_conflicts_are_known() {
        for (line, expected) in [
            ("<<<<<<< HEAD", true),
            ("=======", true),
            ("=======\r", true),
            (">>>>>>> branch", true),
            ("||||||| 1a2b3c", true),
            ("<<<<<<<", true),
            ("<<<<<<<<", false),
            ("======= x", false),
            ("<<<<<<< HEAD{}", false),
            ("{}", false),
        ] {
            assert_eq!(is_conflict_marker(line.as_bytes()), expected, "{line}");
        }
    }
}
