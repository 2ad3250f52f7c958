//! Reads the lines after the header, block by block, on as many threads as there is work for.
//! Each block becomes a `Part`; putting the parts together is the business of
//! [`crate::core::session`].

use std::hash::BuildHasher;
use std::sync::Mutex;

use hashbrown::DefaultHashBuilder;

use super::inspect::{self, Inspector, Notes, Odd};
use super::line::{self, BLOCK, Line, Lines};
use super::source::Source;
use crate::core::entry::header::{self, DeclaredVersion, Header};
use crate::core::entry::preview;
use crate::core::entry::{BlockKind, Entry, Kind, Role, Scan, Traits};
use crate::core::error::Result;
use crate::core::json::text::WordWriter;
use crate::core::problem::{Problems, WarningKind};
use crate::core::time::Stamp;
use crate::parallel::Pool;

/// What to keep of entries beside their places in the tree, decided while their lines are at hand.
#[derive(Clone, Copy)]
pub struct Keep<'a> {
    /// Tells of which entries the words are kept.
    pub words: &'a (dyn Fn(Traits) -> bool + Sync),
    /// Whether tool calls and results are kept, so that results can show their calls.
    pub calls: bool,
}

impl Keep<'_> {
    /// Keeps nothing.
    pub const NOTHING: Keep<'static> = Keep { words: &|_| false, calls: false };
}

/// A string in the text of its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Str {
    at: u32,
    len: u32,
}

impl Str {
    pub(crate) const ABSENT: Self = Self { at: u32::MAX, len: 0 };

    pub(crate) fn is_absent(self) -> bool {
        self == Self::ABSENT
    }

    /// Adds a string to a text; one that does not fit into 4 GiB counts as absent.
    pub(crate) fn push(text: &mut String, with: impl FnOnce(&mut String)) -> Self {
        let at = text.len();
        with(text);
        match (u32::try_from(at), u32::try_from(text.len() - at)) {
            (Ok(at), Ok(len)) if at < u32::MAX => Self { at, len },
            _ => {
                text.truncate(at);
                Self::ABSENT
            }
        }
    }

    /// Returns the string; an absent one is empty.
    pub(crate) fn of(self, text: &str) -> &str {
        text.get(self.at as usize..self.at as usize + self.len as usize).unwrap_or("")
    }
}

/// A well-formed line: an entry, a second header, or a foreign line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// Offset of the object in the source.
    pub(crate) offset: u64,
    /// Length of the object in bytes.
    pub(crate) len: u32,
    /// Line, counted from 0 at the start of the part.
    pub(crate) line: u32,
    pub(crate) traits: Traits,
    pub(crate) stamp: Stamp,
    pub(crate) id: Str,
    /// Of the id.
    pub(crate) hash: u64,
    /// The same place as the id of the line before if it is that one, as it mostly is.
    pub(crate) parent: Str,
    pub(crate) words: Str,
}

/// A `label` entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelLine {
    pub(crate) found: u32,
    pub(crate) target: Str,
    /// Absent = cleared.
    pub(crate) label: Str,
}

/// A tool call in an assistant message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallLine {
    pub(crate) found: u32,
    pub(crate) id: Str,
    pub(crate) text: Str,
}

/// What one block holds.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// The strings of everything below.
    pub(crate) text: String,
    pub(crate) found: Vec<Found>,
    pub(crate) labels: Vec<LabelLine>,
    /// The last session name that the block sets, absent if it clears it.
    pub(crate) name: Option<Str>,
    pub(crate) calls: Vec<CallLine>,
    /// Tool results with the id of their call.
    pub(crate) results: Vec<(u32, Str)>,
    pub(crate) problems: Problems,
    /// For a check.
    pub(crate) notes: Notes,
    /// How many lines start in the block.
    pub(crate) lines: u32,
    /// Where the last line of the file starts, if no LF ends it.
    pub(crate) open_end: Option<u64>,
}

/// Where the session begins.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) header: Header,
    /// The title slot's title, if there is a slot.
    pub(crate) slot: Option<Option<String>>,
    /// Offset of the header's line.
    pub(crate) offset: u64,
    /// Offset of the line after the header.
    pub(crate) behind: u64,
    /// Whether a LF ends the header's line.
    pub(crate) terminated: bool,
    /// Well-formed lines before the header, the slot not counted.
    pub(crate) before: u32,
    pub(crate) problems: Problems,
    /// What is odd about the lines up to the header, numbered from 0.
    pub(crate) notes: Notes,
}

/// Why a file is no session: no line is its header.
pub(crate) const NO_HEADER: &str = "it has no session header";
/// Why a file is no session: what should be its header cannot be read.
pub(crate) const DAMAGED: &str = "its header line is damaged";
/// Why a file is no session: what should be its header names no session.
pub(crate) const NO_ID: &str = "its header has no string `id`";

/// Finds the header (semantics: "Reading", 3).
pub(crate) fn start(source: &Source) -> Result<Start> {
    use crate::core::error::Error::{Empty, NotASession};
    let long = Mutex::new(());
    let mut lines = Lines::new(source, &long);
    let mut scan = Scan::default();
    let (mut inspector, mut notes) = (Inspector::default(), Notes::default());
    let mut number = 0;
    let mut slot = None;
    let mut before = 0;
    let mut problems = Problems::default();
    let mut found = None;
    let mut first = true;
    let mut at = 0;
    while at < source.len() && found.is_none() {
        let end = source.len().min(at + BLOCK as u64);
        lines.in_block(at..end, |line| {
            number += 1;
            let bytes = without_bom(line);
            if bytes.len() < line.bytes.len() {
                notes.push(0, Odd::Bom, 0);
            }
            if line::is_blank(bytes) {
                return true;
            }
            let Ok(entry) = scan.read(bytes) else {
                found = damaged_header(bytes, number).map(Err);
                malformed(&mut problems, number, line, bytes, &mut Scan::default());
                inspector.malformed(&mut notes, number - 1, bytes, line.terminated);
                return found.is_none();
            };
            let was_first = std::mem::take(&mut first);
            if entry.kind() == Kind::Header {
                let behind = line.offset + line.bytes.len() as u64 + u64::from(line.terminated);
                inspector.bytes(&mut notes, number - 1, bytes);
                if !line.terminated {
                    notes.push(number - 1, Odd::NoLineEnd, 0);
                }
                let why = NO_ID;
                found = Some(match Header::read(entry, number) {
                    Some(header) => Ok((header, line.offset, behind, line.terminated)),
                    None => Err(NotASession { line: number, why }),
                });
            } else if entry.kind() == Kind::Title && was_first {
                slot = Some(header::title(entry));
            } else if header::may_precede(entry) {
                before += 1;
                let text = "foreign line before the header; agents refuse such a file";
                problems.push(WarningKind::ForeignLine, Some(number), || text.to_owned());
                notes.push(number - 1, Odd::Foreign, 0);
            } else {
                let why = "its first line is not a session header";
                found = Some(Err(NotASession { line: number, why }));
            }
            found.is_none()
        })?;
        at = end;
    }
    match found {
        Some(Ok((header, offset, behind, terminated))) => {
            Ok(Start { header, slot, offset, behind, terminated, before, problems, notes })
        }
        Some(Err(error)) => Err(error),
        None if problems.is_empty() && slot.is_none() => Err(Empty),
        None => Err(NotASession { line: 1, why: NO_HEADER }),
    }
}

/// Whether lines are looked at for a check while they are at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// No.
    Read,
    /// Yes; it fills [`Part::notes`].
    Inspect,
}

/// Reads everything after the header. The parts are in the order of the file.
pub(crate) fn parts(
    source: &Source,
    start: &Start,
    keep: Keep<'_>,
    look: Look,
    hasher: &DefaultHashBuilder,
    jobs: usize,
) -> Result<Vec<Part>> {
    let behind = start.behind;
    // In a plain list every line may be an entry; else lines without id are only told of.
    let is_list = matches!(start.header.version, DeclaredVersion::Absent | DeclaredVersion::Number(1));
    let long = Mutex::new(());
    let block = BLOCK as u64;
    let count = (source.len() - behind.min(source.len())).div_ceil(block);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let worker = || {
        let inspector = (look == Look::Inspect).then(Inspector::default);
        let (lines, scan, hasher) = (Lines::new(source, &long), Scan::default(), hasher.clone());
        let mut reader = Reader { lines, scan, inspector, keep, is_list, hasher, part: Part::default() };
        move |index| {
            let from = behind + index as u64 * block;
            reader.part(from, source.len().min(from + block), behind)
        }
    };
    let mut parts = Vec::with_capacity(count);
    // All parts are kept. A further thread is not worth its start for a single block.
    Pool::new(jobs.min(1 + count / 2), usize::MAX).run(count, worker, |_, part| {
        parts.push(part?);
        Ok(())
    })?;
    Ok(parts)
}

/// What one thread needs to read blocks.
struct Reader<'s, 'k> {
    lines: Lines<'s>,
    scan: Scan,
    inspector: Option<Inspector>,
    keep: Keep<'k>,
    is_list: bool,
    hasher: DefaultHashBuilder,
    /// The last part, empty again: its memory is used for the next one.
    part: Part,
}

impl Reader<'_, '_> {
    fn part(&mut self, from: u64, to: u64, behind: u64) -> Result<Part> {
        let Self { lines, scan, inspector, keep, is_list, hasher, part } = self;
        let each = |line: Line<'_>| {
            part.take(line, scan, inspector.as_mut(), *keep, *is_list, hasher);
            true
        };
        // The header's line is cut off by its offset, not by a LF, as far as this block can tell.
        if from == behind {
            lines.starting_at(from..to, each)?
        } else {
            lines.in_block(from..to, each)?
        }
        Ok(part.take_all())
    }
}

impl Part {
    /// Returns what it holds, in memory of just that size, and leaves an empty one.
    fn take_all(&mut self) -> Self {
        let (text, found) = (self.text.as_str().to_owned(), self.found.clone());
        self.text.clear();
        self.found.clear();
        let empty =
            Self { text: std::mem::take(&mut self.text), found: std::mem::take(&mut self.found), ..Self::default() };
        Self { text, found, ..std::mem::replace(self, empty) }
    }

    fn take(
        &mut self,
        line: Line<'_>,
        scan: &mut Scan,
        inspector: Option<&mut Inspector>,
        keep: Keep<'_>,
        is_list: bool,
        hasher: &DefaultHashBuilder,
    ) {
        let number = self.lines;
        self.lines += 1;
        if !line.terminated {
            self.open_end = Some(line.offset);
        }
        match scan.read(line.bytes) {
            Ok(entry) => {
                if let Some(inspector) = inspector {
                    inspector.entry(&mut self.notes, number, line.bytes, entry);
                    if !line.terminated {
                        self.notes.push(number, Odd::NoLineEnd, 0);
                    }
                }
                match no_entry(entry) {
                    Some((kind, message)) if !is_list => {
                        self.problems.push(kind, Some(self.lines), || message.to_owned());
                    }
                    _ => self.entry(entry, number, line.offset, keep, hasher),
                }
            }
            Err(_) if line::is_blank(line.bytes) => {}
            Err(_) => {
                malformed(&mut self.problems, self.lines, line, line.bytes, scan);
                if let Some(inspector) = inspector {
                    inspector.malformed(&mut self.notes, number, line.bytes, line.terminated);
                }
            }
        }
    }

    fn entry(&mut self, entry: Entry<'_>, line: u32, offset: u64, keep: Keep<'_>, hasher: &DefaultHashBuilder) {
        let traits = entry.traits();
        let span = entry.object_span();
        let found = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        let before = self.found.last().map_or(Str::ABSENT, |before| before.id);
        let text = &mut self.text;
        let store = |text: &mut String, value: Option<std::borrow::Cow<'_, str>>| {
            value.map_or(Str::ABSENT, |value| Str::push(text, |text| text.push_str(&value)))
        };
        let parent = match entry.parent_id() {
            Some(parent) if !before.is_absent() && before.of(text) == parent => before,
            parent => store(text, parent),
        };
        let id = entry.id();
        let hash = id.as_deref().map_or(0, |id| hasher.hash_one(id));
        let id = store(text, id);
        let mut words = Str::ABSENT;
        // What a tool result shows, its call, stands in another entry.
        if (keep.words)(traits) && traits.role != Role::ToolResult {
            words = Str::push(text, |text| preview::write(text, entry));
        }
        match (traits.kind, traits.role) {
            (Kind::Label, _) => {
                let target = store(text, entry.get_str("targetId"));
                let label = store(text, entry.get_str("label").filter(|label| !label.is_empty()));
                self.labels.push(LabelLine { found, target, label });
            }
            (Kind::SessionInfo, _) => {
                let name = entry.get_str("name").filter(|name| !name.trim().is_empty());
                self.name =
                    Some(Str::push(text, |text| WordWriter::new(text, 200).push_str(name.as_deref().unwrap_or(""))));
            }
            (Kind::Message, Role::ToolResult) if keep.calls => {
                if let Some(call) = entry.tool_call_id() {
                    let call = store(text, Some(call));
                    self.results.push((found, call));
                }
            }
            (Kind::Message, Role::Assistant) if keep.calls => {
                for block in entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall) {
                    let Some(id) = block.id() else { continue };
                    let id = store(text, Some(id));
                    let name = block.name().unwrap_or_default();
                    let shown = Str::push(text, |text| preview::call(text, &name, block.arguments()));
                    self.calls.push(CallLine { found, id, text: shown });
                }
            }
            _ => {}
        }
        let offset = offset + u64::from(span.start);
        let stamp = entry.stamp();
        self.found.push(Found { offset, len: span.end - span.start, line, traits, stamp, id, hash, parent, words });
    }
}

/// Returns why a well-formed line is no entry of a tree, if it is none.
pub(crate) fn no_entry(entry: Entry<'_>) -> Option<(WarningKind, &'static str)> {
    if entry.kind() == Kind::Header {
        return Some((WarningKind::SecondHeader, SECOND_HEADER));
    }
    (!entry.has_id()).then_some((WarningKind::ForeignLine, FOREIGN))
}

/// Said of a second header.
pub(crate) const SECOND_HEADER: &str = "second session header; ignored";
/// Said of a line without id.
pub(crate) const FOREIGN: &str = "foreign line without an `id`; it is not an entry (agents would take it as the leaf)";

/// Notes a line that is not one JSON object, as exactly as can be told.
fn malformed(problems: &mut Problems, number: u32, line: Line<'_>, bytes: &[u8], scan: &mut Scan) {
    if !line.terminated {
        return problems.push(WarningKind::UnfinishedLine, Some(number), || {
            format!("unterminated last line at byte {}: cut off, or a writer is still at work; skipped", line.offset)
        });
    }
    problems.push(WarningKind::MalformedLine, Some(number), || match inspect::damage(bytes, scan) {
        (Odd::Nul, count) => format!("{count} NUL bytes; skipped"),
        (Odd::NulBefore, at) => format!("NUL bytes and a complete record (from byte {at}) on one line; skipped"),
        (Odd::FragmentBefore, at) => format!("a fragment and a complete record (from byte {at}) on one line; skipped"),
        (Odd::Glued, at) => format!("two records on one line, the second from byte {at} on; skipped"),
        (Odd::NotAnObject, _) => "not a JSON object; skipped".to_owned(),
        (Odd::TooLong, _) => "longer than 4 GiB; skipped".to_owned(),
        (Odd::NotJson, at) => format!("not JSON from byte {at} on; skipped"),
        _ => "cut short; skipped".to_owned(),
    });
}

/// Returns whether a damaged line was a header, so that the error names it and not the next line.
fn damaged_header(bytes: &[u8], line: u32) -> Option<crate::core::error::Error> {
    let was_header = bytes.starts_with(b"{\"type\":\"session\"");
    was_header.then_some(crate::core::error::Error::NotASession { line, why: DAMAGED })
}

/// Returns a line without the mark that some editors put at the start of a file.
pub(crate) fn without_bom<'l>(line: Line<'l>) -> &'l [u8] {
    match line.bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] if line.offset == 0 => rest,
        bytes => bytes,
    }
}
