//! What a line is that is not one object, and the entries that it held.

use super::notes::{LostEntry, LostParent};
use super::oddity::{Oddity, count, place};
use crate::core::entry::{Scan, ScanError};
use crate::core::json::{Cursor, Raw, SyntaxError};
use crate::core::read::{line, pieces};

/// Returns the oddity of a line that is not one object.
pub(crate) fn damage(line: &[u8], scan: &mut Scan) -> Oddity {
    if line.trim_ascii() == b"}" {
        return Oddity::LoneBrace;
    }
    let nuls = line.iter().take_while(|&&byte| byte == 0).count();
    if nuls == line.len() {
        return Oddity::Nul { count: count(nuls) };
    }
    let first = value_end(line);
    if let Some(end) = first.filter(|&end| line[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')) {
        let next = line[end..].iter().position(|&byte| byte == b'{').unwrap_or(0);
        return Oddity::Glued { at: place(end + next) };
    }
    let is_nul = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0 || byte.is_ascii_whitespace());
    match first {
        Some(end) if is_nul(&line[end..]) => return Oddity::NulAfter { at: place(end) },
        Some(end) if scan.read(&line[..end]).is_ok_and(pieces::is_record) => {
            return Oddity::FragmentAfter { at: place(end) };
        }
        None if nuls > 0 && value_end(&line[nuls..]).is_some_and(|end| is_nul(&line[nuls + end..])) => {
            return Oddity::NulBefore { at: place(nuls) };
        }
        _ => {}
    }
    if let Some(at) = pieces::first_record(line, scan) {
        let is_nul = line[..at].iter().all(|&byte| byte == 0);
        let at = place(at);
        return if is_nul { Oddity::NulBefore { at } } else { Oddity::FragmentBefore { at } };
    }
    match scan.read(line) {
        Err(ScanError::NotAnObject) => Oddity::NotAnObject { is_null: line.trim_ascii() == b"null" },
        Err(ScanError::TooLong) => Oddity::TooLong,
        Err(ScanError::NotJson(SyntaxError { at })) if at < line.len() => Oddity::NotJson { at: place(at) },
        Err(ScanError::NotJson(_)) | Ok(_) => Oddity::Cut { wants_value: line::wants_value(line) },
    }
}

/// Returns the end of the object at the front of a line, if it is whole.
fn value_end(line: &[u8]) -> Option<usize> {
    let mut cursor = Cursor::new(line);
    if cursor.peek() != Some(b'{') {
        return None;
    }
    cursor.value().ok().map(|span| span.range().end)
}

/// Returns the entries that a damaged line held.
pub(super) fn remains(line: &[u8], oddity: Oddity, scan: &mut Scan) -> Vec<LostEntry> {
    let mut found = Vec::new();
    match oddity {
        Oddity::Nul { .. } | Oddity::NotAnObject { .. } | Oddity::TooLong | Oddity::LoneBrace => {}
        Oddity::NulBefore { at } | Oddity::FragmentBefore { at } => {
            let (before, rest) = line.split_at((at as usize).saturating_sub(1).min(line.len()));
            if matches!(oddity, Oddity::FragmentBefore { .. }) {
                found.extend(fragment(before));
            }
            objects(rest, scan, &mut found);
        }
        Oddity::Glued { .. } | Oddity::NulAfter { .. } | Oddity::FragmentAfter { .. } => {
            objects(line, scan, &mut found)
        }
        _ => found.extend(fragment(line)),
    }
    found
}

/// Adds the entries of whole objects in a row, and those of what comes after them.
fn objects(row: &[u8], scan: &mut Scan, found: &mut Vec<LostEntry>) {
    let mut rest = row;
    while let Some(end) = value_end(rest) {
        found.extend(fragment(&rest[..end]));
        rest = rest[end..].trim_ascii_start();
    }
    found.extend(pieces::cut(rest, scan).into_iter().filter_map(|piece| fragment(&rest[piece.range])));
}

/// Returns the entry that a fragment is the front of, from those of its members that are whole: agents
/// write type, id and parent first.
fn fragment(bytes: &[u8]) -> Option<LostEntry> {
    let mut cursor = Cursor::new(bytes);
    if cursor.begin_object().is_err() {
        return tail(bytes);
    }
    let mut lost = LostEntry { line: 0, id: None, parent: LostParent::Unknown };
    let mut is_entry = false;
    let mut first = true;
    while let Ok(Some(key)) = cursor.next_member(&mut first) {
        let Ok(span) = cursor.value() else { break };
        let value = Raw::new(cursor.text(span));
        match key.name() {
            b"type" if value.bytes() == b"\"session\"" => return None,
            b"type" => is_entry = true,
            name => lost.take(name, value),
        }
    }
    (is_entry || lost.id.is_some()).then_some(lost)
}

/// Returns the entry that a fragment is the end of. Its id and parent are known if the front that is missing ends
/// before them: agents write the time right after these.
fn tail(bytes: &[u8]) -> Option<LostEntry> {
    // The type before them is short.
    const FRONT: usize = 256;
    let nameless = LostEntry { line: 0, id: None, parent: LostParent::Unknown };
    for comma in memchr::memchr_iter(b',', &bytes[..bytes.len().min(FRONT)]) {
        let mut cursor = Cursor::new(&bytes[comma..]);
        let mut lost = nameless.clone();
        while let Ok(Some(key)) = cursor.next_member(&mut false) {
            if key.name() == b"timestamp" && lost.parent != LostParent::Unknown {
                return Some(lost);
            }
            let Some(span) = cursor.value().ok().filter(|_| matches!(key.name(), b"id" | b"parentId")) else { break };
            lost.take(key.name(), Raw::new(cursor.text(span)));
        }
    }
    let count = |brace: u8| memchr::memchr_iter(brace, bytes).count();
    (bytes.trim_ascii_end().ends_with(b"}") && count(b'}') > count(b'{')).then_some(nameless)
}

#[cfg(test)]
mod tests {
    use super::{LostParent, Oddity, damage, place};
    use crate::core::entry::Scan;
    use crate::core::read::inspect::{Inspector, LineNotes};

    #[test]
    fn each_kind_of_damage_is_recognised() {
        let mut scan = Scan::default();
        let mut of = |line: &[u8]| damage(line, &mut scan);
        assert_eq!(of(b"\0\0\0"), Oddity::Nul { count: 3 });
        let whole = r#"{"type":"label","id":"b","parentId":null,"timestamp":"t"}"#;
        assert_eq!(of(format!("\0\0{whole}").as_bytes()), Oddity::NulBefore { at: 3 });
        assert_eq!(of(b"{\"a\":1}{\"a\":1}"), Oddity::Glued { at: 8 });
        assert_eq!(of(b"\0{\"a\":1}\0 \r"), Oddity::NulBefore { at: 2 });
        assert_eq!(of(b"{\"a\":1} \0"), Oddity::NulAfter { at: 8 });
        assert_eq!(of(b"{\"a\":1}x"), Oddity::NotJson { at: 8 });
        let end = place(whole.len());
        assert_eq!(of(format!("{whole}x").as_bytes()), Oddity::FragmentAfter { at: end });
        assert_eq!(of(format!("{whole}\0\0{whole}").as_bytes()), Oddity::FragmentAfter { at: end });
        assert_eq!(of(format!("x{whole}y").as_bytes()), Oddity::FragmentBefore { at: 2 });
        assert_eq!(of(format!("{{\"a\":{{\"b\"{whole}").as_bytes()), Oddity::FragmentBefore { at: 10 });
        // A part of an entry is none.
        assert_eq!(of(b"{\"a\":{\"b\"{\"type\":\"label\"}"), Oddity::NotJson { at: 10 });
        assert_eq!(of(b"{\"a\":[{\"type\":\"text\"}"), Oddity::Cut { wants_value: false });
        assert_eq!(of(b"{\"a\":"), Oddity::Cut { wants_value: true });
        assert_eq!(of(b" }"), Oddity::LoneBrace);
        assert_eq!(of(b"{\"a\":x}"), Oddity::NotJson { at: 6 });
        assert_eq!(of(b"[1]"), Oddity::NotAnObject { is_null: false });
    }

    #[test]
    fn entries_on_a_damaged_line_are_found() {
        let held = |line: &str| {
            let mut notes = LineNotes::default();
            Inspector::default().malformed(&mut notes, 0, line.as_bytes(), true);
            notes.lost.into_iter().map(|lost| (lost.id.unwrap_or_default(), lost.parent)).collect::<Vec<_>>()
        };
        let entry = |id: &str, parent: LostParent| (id.to_owned(), parent);
        let above = |id: &str| LostParent::Entry(id.to_owned());
        let cut = "{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"mess";
        assert_eq!(held(cut), [entry("b", above("a"))]);
        assert_eq!(held("{\"type\":\"message\",\"id\":\"b"), [entry("", LostParent::Unknown)]);
        let whole = "{\"type\":\"message\",\"id\":\"c\",\"parentId\":null,\"timestamp\":\"t\"}";
        assert_eq!(held(&format!("{cut}{whole}")), [entry("b", above("a")), entry("c", LostParent::Root)]);
        assert_eq!(held(&format!("{whole}{whole}{cut}")).len(), 3);
        assert_eq!(held(&format!("x{whole}y{cut}z{whole}")).len(), 2);
        assert_eq!(held(&format!("{whole}\0\0{whole}")).len(), 2);
        assert_eq!(held("42"), []);
        // The front of it is gone.
        assert_eq!(held("\0\0age\",\"id\":\"b\",\"parentId\":\"a\",\"timestamp\":\"t"), [entry("b", above("a"))]);
        assert_eq!(held("00b\",\"parentId\":null,\"timestamp\":\"t\",\"mess"), [entry("", LostParent::Root)]);
        assert_eq!(held("age\",\"id\":\"b\",\"parentId\":\"a\",\"x\":1"), []);
        assert_eq!(held("age\",\"id\":\"b\",\"timestamp\":\"t\"}"), [entry("", LostParent::Unknown)]);
        assert_eq!(held("text\",\"a\":{}}"), [entry("", LostParent::Unknown)]);
        assert_eq!(held("}"), []);
        assert_eq!(held("WARN {\"a\":{}}"), []);
        assert_eq!(held("{\"type\":\"session\",\"id\":\"x\""), []);
    }
}
