//! Findings in single lines, the header included: what the reader noted about each becomes a code.
//! What depends on other entries is up to [`super::tree`].

use std::path::Path;

use super::codes::Code;
use super::finding::{Detail, OddHeader, RawFinding};
use crate::core::entry::header::{CURRENT, DeclaredVersion, Header, SLOT_SIZE};
use crate::core::json::{Raw, ValueKind};
use crate::core::read::inspect::{LineNotes, OddLine, Oddity};
use crate::core::session::{NodeId, Session};
use crate::core::time::{self, Stamp};

pub(super) fn check(session: &Session, notes: &LineNotes, blobs: Option<&Path>, found: &mut Vec<RawFinding>) {
    header(session, found);
    let foreign_leaf = foreign_leaf(session, notes);
    let mut has_patches = false;
    let last_entry = session.nodes().next_back().map_or(0, |last| session.line(last));
    let last = last_entry.max(notes.odd.last().map_or(0, |last| last.line));
    for (at, note) in notes.odd.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| notes.odd.get(before));
        let is_list = session.version == 1;
        let code = match note.oddity {
            Oddity::Unfinished { .. } => Code::UnfinishedLine,
            Oddity::NoLineEnd => Code::NoLineEnd,
            Oddity::NotAnObject { .. } if foreign_leaf == Some(note.line) => Code::ForeignLeaf,
            Oddity::LoneBrace if before.is_some_and(|cut| cut.line + 1 == note.line && is_open(cut)) => continue,
            Oddity::NotAnObject { is_null: false } => Code::ForeignLine,
            Oddity::LoneBrace
            | Oddity::Cut { .. }
            | Oddity::NotJson { .. }
            | Oddity::NotAnObject { .. }
            | Oddity::TooLong => Code::MalformedLine,
            Oddity::Nul { .. } | Oddity::NulBefore { .. } | Oddity::NulAfter { .. } => Code::NulRun,
            Oddity::FragmentBefore { .. } | Oddity::FragmentAfter { .. } | Oddity::Glued { .. } => Code::GluedObjects,
            Oddity::Bom => Code::Bom,
            Oddity::BadUtf8 { .. } => Code::BadUtf8,
            Oddity::LoneSurrogate { .. } => Code::LoneSurrogate,
            Oddity::Escape { .. } => Code::TerminalEscape,
            Oddity::Big { .. } => Code::BigEntry,
            Oddity::Foreign if note.line < session.header.line => Code::HeaderNotFirst,
            Oddity::NoSlot { .. } => Code::HeaderNotFirst,
            Oddity::SlotSize { bytes } if bytes < SLOT_SIZE => Code::ShortSlot,
            Oddity::SlotSize { .. } => Code::LongSlot,
            Oddity::Foreign if is_list => continue,
            // Agents resume at the last line.
            Oddity::Foreign if foreign_leaf == Some(note.line) => Code::ForeignLeaf,
            Oddity::Foreign => Code::ForeignLine,
            // There may be many, and all say the same.
            Oddity::Patch if is_list || std::mem::replace(&mut has_patches, true) => continue,
            Oddity::Patch => Code::ForeignLine,
            Oddity::SecondHeader => Code::SecondHeader,
            Oddity::Untyped => Code::UntypedEntry,
            Oddity::NoMessage | Oddity::NoRole => Code::MalformedMessage,
            Oddity::NoContent => Code::MissingContent,
            Oddity::BadContent | Oddity::BadBlock { .. } => Code::OddContent,
            Oddity::NoUsage => Code::NoUsage,
            Oddity::NoCost { .. } => Code::NoCost,
            Oddity::NoCallId => Code::ResultWithoutId,
            Oddity::BadMember { .. } => Code::OddMember,
            // Reported with the tree.
            Oddity::NoParent => continue,
        };
        let is_harmless = is_open(note) && last != note.line + 1;
        let oddity = if is_harmless { Oddity::Cut { wants_value: false } } else { note.oddity };
        found.push(RawFinding::new(code, note.line, session.on_line(note.line), Detail::Odd(oddity)));
    }
    for node in session.nodes() {
        if matches!(session.stamp(node), Stamp::Absent | Stamp::Unknown) {
            found.push(RawFinding::of(session, Code::UnreadableTime, node, Detail::Nothing));
        }
    }
    missing_blobs(session, notes, blobs, found);
}

/// Returns whether omp takes the line after it for a value in it, if that is the last one.
fn is_open(note: &OddLine) -> bool {
    note.oddity == Oddity::Cut { wants_value: true }
}

/// Returns the last line if agents take it for the leaf although it is not an entry. They drop `null`.
fn foreign_leaf(session: &Session, notes: &LineNotes) -> Option<u32> {
    let is_taken = |note: &&OddLine| matches!(note.oddity, Oddity::Foreign | Oddity::NotAnObject { is_null: false });
    let last = notes.odd.iter().rev().find(is_taken).map(|note| note.line)?;
    let is_last = session.nodes().next_back().is_none_or(|entry| session.line(entry) < last);
    (is_last && last > session.header.line).then_some(last)
}

fn header(session: &Session, found: &mut Vec<RawFinding>) {
    let header = &session.header;
    let mut push = |code, detail| found.push(RawFinding::new(code, header.line, None, detail));
    match header.version {
        DeclaredVersion::Invalid if is_below_2(header) => push(Code::UnknownVersion, Detail::Nothing),
        DeclaredVersion::Invalid => push(Code::OddHeader, Detail::Header(OddHeader::Version)),
        DeclaredVersion::Absent if session.version > 1 => push(Code::UnknownVersion, Detail::Nothing),
        _ if session.version > CURRENT => push(Code::NewerVersion, Detail::Count(session.version)),
        _ if session.version < CURRENT => push(Code::OldVersion, Detail::Count(session.version)),
        _ => {}
    }
    if let Some(what) = odd_header(session) {
        push(Code::OddHeader, Detail::Header(what));
    }
}

/// Returns whether agents take an invalid version for 1: they compare it with 2, as JavaScript does.
fn is_below_2(header: &Header) -> bool {
    let Some(version) = Raw::new(&header.raw).get("version") else { return false };
    match version.kind() {
        ValueKind::Number => version.number().is_some_and(|number| number < 2.0),
        ValueKind::Bool => true,
        ValueKind::String => version.str().is_some_and(|text| {
            let text = text.trim();
            text.is_empty() || text.parse().is_ok_and(|number: f64| number < 2.0)
        }),
        ValueKind::Array => version.elements().next().is_none(),
        _ => false,
    }
}

fn odd_header(session: &Session) -> Option<OddHeader> {
    let header = &session.header;
    let raw = Raw::new(&header.raw);
    let is_string = |name: &str| raw.get(name).is_some_and(|value| value.string_body().is_some());
    let oddities = [
        (!is_name(&header.id), OddHeader::Id),
        (!is_string("cwd"), OddHeader::Cwd),
        (header.stamp.ms().is_none() || !is_string("timestamp"), OddHeader::Timestamp),
    ];
    oddities.into_iter().find_map(|(is_odd, what)| is_odd.then_some(what))
}

/// Returns whether an id can be a part of file names, in which agents use that of a session.
pub(super) fn is_name(id: &str) -> bool {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-');
    id.starts_with(|char: char| char.is_ascii_alphanumeric()) && id.chars().all(is_plain)
}

fn missing_blobs(session: &Session, notes: &LineNotes, blobs: Option<&Path>, found: &mut Vec<RawFinding>) {
    // Sorted by hash: each file is looked for once, and a million hashes need no map.
    let mut places: Vec<u32> = (0..).zip(&notes.blobs).map(|(place, _)| place).collect();
    let hash = |place: u32| &notes.blobs[place as usize].1;
    places.sort_unstable_by(|&a, &b| hash(a).cmp(hash(b)).then(a.cmp(&b)));
    let is_there = |place: u32| blobs.is_some_and(|folder| folder.join(hex(hash(place))).exists());
    let same = |a: &u32, b: &u32| hash(*a) == hash(*b);
    let mut missing: Vec<u32> = places.chunk_by(same).filter(|same| !is_there(same[0])).flatten().copied().collect();
    missing.sort_unstable();
    found.extend(missing.into_iter().map(|place| {
        let line = notes.blobs[place as usize].0;
        RawFinding::new(Code::MissingBlob, line, session.on_line(line), Detail::Index(place))
    }));
}

/// Returns a hash as the name of its file.
pub(super) fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the time of the nearest entry before a line that has one.
pub(super) fn time_before(session: &Session, line: u32) -> String {
    let from = session.nodes.partition_point(|node| node.line < line);
    let before = (0..from).rev().take(64).filter_map(|at| session.stamp(NodeId(u32::try_from(at).ok()?)).ms());
    time::iso(before.into_iter().next().or(session.header.stamp.ms()).unwrap_or(0))
}
