//! Fixes of a file that cannot be read as a session since its header is damaged, missing, or further down.

use std::ffi::OsStr;

use uuid::Uuid;

use super::plan::{LineChange, MendPlan, NewLine, OldLine, Segment};
use super::split;
use super::state::{Fix, MendOptions};
use crate::core::check::Checked;
use crate::core::check::codes::Code;
use crate::core::check::finding::Detail;
use crate::core::check::fixes::FixKind;
use crate::core::check::lines::is_name;
use crate::core::entry::{Entry, Kind, Role, Scan};
use crate::core::error::Result;
use crate::core::error::header::HeaderFault;
use crate::core::json::splice::{Members, TextEdits, string_or_null};
use crate::core::json::{Cursor, Object, Raw, ValueKind};
use crate::core::read::line::{self, Line};
use crate::core::read::pieces::{self, PieceKind};
use crate::core::read::source::Source;
use crate::core::read::start;
use crate::core::time::iso;

/// The members of a header that are kept if they can still be read.
const KEPT: [&str; 7] = ["version", "id", "timestamp", "cwd", "title", "titleSource", "parentSession"];

/// Members that can be read, with their values as JSON text.
type KnownMembers = Vec<(String, Vec<u8>)>;

/// What the start of a file has.
#[derive(Default)]
struct Start {
    /// The first line, and the length of a byte order mark before it.
    first: Option<(OldLine, u64)>,
    /// A title slot on it.
    has_slot: bool,
    /// A damaged line before the entries on which a header is whole.
    whole: Option<OldLine>,
    /// A damaged line before the entries that was a header, and what can be read of it.
    remains: Option<(OldLine, KnownMembers)>,
    /// A whole header that comes after an entry.
    later: Option<OldLine>,
    /// A damaged line after an entry on which a header is whole.
    later_whole: Option<OldLine>,
    /// The first entry: its line, id and time.
    entry: Option<(OldLine, String, Vec<u8>)>,
    /// Whether there is a role that only version 2 has.
    is_old: bool,
}

/// Plans a header for a file that has none at its start.
pub(super) fn find(source: &Source, checked: &Checked, options: &MendOptions<'_>) -> Result<(MendPlan, Vec<Fix>)> {
    let nothing = || Ok((MendPlan::default(), Vec::new()));
    let [finding] = &checked.found[..] else { return nothing() };
    let is_header = matches!(finding.code, Code::NotASession | Code::UnreadableHeader);
    if !is_header || matches!(finding.detail, Detail::Foreign(_)) || !(options.wanted)(checked, finding) {
        return nothing();
    }
    let mut scan = Scan::default();
    let mut start = Start::default();
    let mut without_id = None;
    line::each(source, |number, line| {
        if number == finding.line && matches!(finding.detail, Detail::NoHeader(HeaderFault::NoId)) {
            without_id = Some((old(number, line), line.bytes.to_vec()));
        }
        start.take(number, line, &mut scan);
        true
    })?;
    let fix = |kind, line: &OldLine, what: &str, removed| Fix {
        code: finding.code,
        line: line.number,
        entry_id: None,
        kind,
        what: what.to_owned(),
        removed,
    };
    if let Some(line) = start.whole {
        let Some(split) = damaged(source, &line)? else { return nothing() };
        let change = LineChange { old: line, new: split.lines };
        return Ok((MendPlan::new(vec![change]), vec![fix(FixKind::Safe, &line, &split.what, split.removed)]));
    }
    let Some((entry, entry_id, time)) = start.entry.take().filter(|_| options.guesses) else { return nothing() };
    if let Some(line) = start.later_whole.filter(|_| start.later.is_none() && start.remains.is_none())
        && let Some(split) = damaged(source, &line)?
    {
        // The next round moves it to the front.
        let change = LineChange { old: line, new: split.lines };
        return Ok((MendPlan::new(vec![change]), vec![fix(FixKind::Safe, &line, &split.what, split.removed)]));
    }
    let id =
        named_id(options.name).unwrap_or_else(|| Uuid::new_v5(&Uuid::NAMESPACE_OID, entry_id.as_bytes()).to_string());
    if let Some((line, bytes)) = without_id {
        let bom = u64::from(line.offset == 0 && bytes.starts_with(b"\xef\xbb\xbf")) * 3;
        let object = &bytes[usize::try_from(bom).unwrap_or(0)..];
        let mut edits = TextEdits::default();
        Members::of(object).put(&mut edits, object, &[("id", string_or_null(Some(&id)))]);
        let change = LineChange { old: line, new: vec![line.edited(bom, edits)] };
        let what = format!("`id` set to \"{id}\"");
        return Ok((MendPlan::new(vec![change]), vec![fix(FixKind::Guess, &line, &what, 0)]));
    }
    let version: &[u8] = if start.is_old { b"2" } else { b"3" };
    if let Some((line, members)) = start.remains {
        let mut new = vec![NewLine::written(header(&members, &id, version, &time))];
        let what = "a header with what can be read of the damaged one, and the rest made up";
        let rest = rest_of(source, &line)?;
        let kept: u64 = rest.iter().flat_map(|line| line.segments.iter().map(Segment::len)).sum();
        new.extend(rest);
        let change = LineChange { old: line, new };
        return Ok((MendPlan::new(vec![change]), vec![fix(FixKind::Guess, &line, what, line.len - kept)]));
    }
    let Some((first, bom)) = start.first else { return nothing() };
    let (header, removed) = match start.later {
        Some(later) => (later.copy(), Some(later)),
        None => (NewLine::written(header(&[], &id, version, &time)), None),
    };
    let rest = NewLine { terminated: first.terminated, ..first.part(bom, first.len) };
    // A title slot stays the first line.
    let new = if start.has_slot {
        vec![NewLine { terminated: true, ..rest }, header]
    } else {
        vec![NewLine { terminated: true, ..header }, rest]
    };
    let mut changes = vec![LineChange { old: first, new }];
    let what = match removed {
        Some(later) => {
            changes.push(LineChange { old: later, new: Vec::new() });
            format!("the header of line {} moved to the front", later.number)
        }
        None => "a header put before it".to_owned(),
    };
    Ok((MendPlan::new(changes), vec![fix(FixKind::Guess, &entry, &what, bom)]))
}

fn old(number: u32, line: Line<'_>) -> OldLine {
    OldLine { number, offset: line.offset, len: line.bytes.len() as u64, terminated: line.terminated }
}

impl Start {
    fn take(&mut self, number: u32, line: Line<'_>, scan: &mut Scan) {
        let this = old(number, line);
        let bytes = start::without_bom(line);
        if self.first.is_none() {
            self.first = Some((this, (line.bytes.len() - bytes.len()) as u64));
        }
        if line::is_blank(bytes) {
            return;
        }
        match scan.read(bytes) {
            Ok(entry) if entry.kind() == Kind::Header => {
                if self.entry.is_some() && self.later.is_none() && entry.get_str("id").is_some() {
                    self.later = Some(this);
                }
            }
            Ok(entry) => self.take_entry(this, entry),
            Err(_) if self.entry.is_none() && self.whole.is_none() => {
                if has_header(bytes, scan) && bytes.len() == line.bytes.len() {
                    self.whole = Some(this);
                } else if self.remains.is_none() {
                    self.remains = remains(bytes).map(|members| (this, members));
                }
            }
            Err(_) => {
                if self.later.is_none() && self.later_whole.is_none() && has_header(bytes, scan) {
                    self.later_whole = Some(this);
                }
            }
        }
    }

    fn take_entry(&mut self, line: OldLine, entry: Entry<'_>) {
        self.has_slot |= line.number == 1 && entry.kind() == Kind::Title;
        self.is_old |= entry.role() == Role::HookMessage;
        if self.entry.is_none()
            && pieces::is_record(entry)
            && entry.kind().is_entry_type()
            && let Some(id) = entry.id()
        {
            self.entry = Some((line, id.into_owned(), time_of(entry)));
        }
    }
}

/// Returns the time of an entry as the JSON text that a header has it in.
fn time_of(entry: Entry<'_>) -> Vec<u8> {
    let ms = entry.stamp().ms();
    let stored = entry.timestamp().filter(|time| ms.is_some() && time.kind() == ValueKind::String);
    stored.map_or_else(|| string_or_null(Some(&iso(ms.unwrap_or(0)))), |time| time.bytes().to_vec())
}

/// Returns whether a header is whole on a damaged line.
fn has_header(bytes: &[u8], scan: &mut Scan) -> bool {
    let pieces = pieces::cut(bytes, scan);
    let records = pieces.iter().filter(|piece| piece.kind == PieceKind::Record);
    pieces.len() > 1
        && records.into_iter().any(|piece| {
            let record = bytes[piece.range.clone()].trim_ascii_end();
            scan.read(record).is_ok_and(|entry| entry.kind() == Kind::Header)
        })
}

/// Takes the line apart on which a header is whole.
fn damaged(source: &Source, line: &OldLine) -> Result<Option<split::Split>> {
    let mut bytes = vec![0; usize::try_from(line.len).unwrap_or(usize::MAX)];
    source.read_at(&mut bytes, line.offset)?;
    Ok(split::split(line, &bytes, false, &mut Scan::default()))
}

/// Returns the whole records on a damaged header's line, as lines.
fn rest_of(source: &Source, line: &OldLine) -> Result<Vec<NewLine>> {
    let mut bytes = vec![0; usize::try_from(line.len).unwrap_or(usize::MAX)];
    source.read_at(&mut bytes, line.offset)?;
    let pieces = pieces::cut(&bytes, &mut Scan::default()).into_iter();
    let records = pieces.filter(|piece| piece.kind == PieceKind::Record);
    Ok(records.map(|piece| line.part(piece.range.start as u64, piece.range.end as u64)).collect())
}

/// Returns the members that can be read of a damaged line, if that was a header.
fn remains(bytes: &[u8]) -> Option<KnownMembers> {
    // A header is short.
    let front = bytes.trim_ascii_start();
    let front = &front[..front.len().min(64 * 1024)];
    // What can be read before the damage, and the most that can be behind it.
    let (mut members, mut behind): (KnownMembers, KnownMembers) = Default::default();
    let mut is_header = front.starts_with(b"{\"type\":\"session\"");
    let starts = std::iter::once(0).chain(memchr::memchr_iter(b',', front).take(64));
    for start in starts {
        let mut text = b"{".to_vec();
        text.extend_from_slice(front.get(start + 1..).unwrap_or_default());
        let mut cursor = Cursor::new(&text);
        if cursor.begin_object().is_err() {
            continue;
        }
        let (mut first, mut found) = (true, Vec::new());
        while let Ok(Some(key)) = cursor.next_member(&mut first) {
            let Ok(span) = cursor.value() else { break };
            let name = String::from_utf8_lossy(key.name()).into_owned();
            found.push((name, cursor.text(span).to_vec()));
        }
        let has = |name: &str| found.iter().any(|(other, _)| other == name);
        is_header |= has("cwd") && (has("version") || has("timestamp"));
        if start == 0 {
            members = found;
        } else if found.len() > behind.len() {
            behind = found;
        }
    }
    behind.retain(|(name, _)| members.iter().all(|(other, _)| other != name));
    members.extend(behind);
    is_header.then_some(members)
}

/// Returns a header with what is known of one.
fn header(known: &[(String, Vec<u8>)], id: &str, version: &[u8], time: &[u8]) -> Vec<u8> {
    let stored = |name: &str| known.iter().rfind(|(other, _)| other == name).map(|(_, value)| &value[..]);
    let is_text = |value: &&[u8]| Raw::new(value).kind() == ValueKind::String;
    let mut line = Vec::new();
    let mut object = Object::new(&mut line);
    object.str("type", "session").json("version", stored("version").unwrap_or(version));
    // What is left of an id goes on with what stood behind it.
    let is_name = |id: &&[u8]| Raw::new(id).str().is_some_and(|id| is_name(&id));
    match stored("id").filter(is_name) {
        Some(id) => object.json("id", id),
        None => object.str("id", id),
    };
    object.json("timestamp", stored("timestamp").filter(is_text).unwrap_or(time));
    object.json("cwd", stored("cwd").filter(is_text).unwrap_or(b"\"\""));
    for name in KEPT.iter().skip(4) {
        if let Some(value) = stored(name) {
            object.json(name, value);
        }
    }
    drop(object);
    line
}

/// Returns the id of a session that is in the name of its file, after the `_`.
fn named_id(name: Option<&OsStr>) -> Option<String> {
    let name = name?.to_string_lossy();
    let stem = name.strip_suffix(".jsonl")?;
    let id = stem.rsplit_once('_')?.1;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (id.len() >= 8 && id.bytes().all(is_plain)).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn only_an_id_that_is_a_name_is_kept() {
        for (left, id) in [("\"0198f\"", "0198f"), ("\"0198f{\"", "made"), ("5", "made"), ("\"\"", "made")] {
            let line = header(&[("id".to_owned(), left.as_bytes().to_vec())], "made", b"3", b"\"t\"");
            let expected = format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"t","cwd":""}}"#);
            assert_eq!(String::from_utf8(line).unwrap(), expected, "{left}");
        }
    }
}
