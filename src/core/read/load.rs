//! Reads the lines after the header block by block, on several threads. Each block becomes a `FilePart`;
//! [`crate::core::session`] puts the parts together. A part must depend on nothing but its own lines, so
//! that every number of threads gives the same session.

use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::Mutex;

use hashbrown::DefaultHashBuilder;

use super::inspect::{Inspector, LineNotes, Oddity};
use super::line::{self, BLOCK, Line, Lines};
use super::source::Source;
use super::warning::{malformed, no_entry};
use crate::core::entry::preview;
use crate::core::entry::usage::{self, RecordedUsage};
use crate::core::entry::{BlockKind, Entry, Kind, Role, Scan, Traits};
use crate::core::error::Result;
use crate::core::error::problem::Problems;
use crate::core::json::text::WordWriter;
use crate::core::json::{Raw, ValueKind};
use crate::core::time::Stamp;
use crate::parallel::Pool;

/// How many models of a session are noted: a damaged file may name one in each line.
pub(crate) const MODELS: usize = 64;

/// How many entries above a tool result the message with its call is looked for at most. Calls are right above
/// their results; without a bound an odd file would cost quadratic time.
pub(crate) const CALLS_ABOVE: usize = 64;

/// Of a message with more calls than this, each result's is not looked for by going through them.
const FEW_CALLS: usize = 16;

/// For so many blocks, two megabytes, one more thread is started.
const THREAD_BLOCKS: usize = 8;

/// What a session keeps of its entries beside the index: what is kept need not be read again.
#[derive(Clone, Copy)]
pub struct LoadOptions<'a> {
    /// Returns whether the row text of entries with these traits is kept.
    pub words: &'a (dyn Fn(Traits) -> bool + Sync),
    /// Whether tool calls are kept, so that rows of results can show them.
    pub calls: bool,
    /// Whether the usage of entries and the names of the models that wrote them are kept.
    pub usage: bool,
}

impl LoadOptions<'_> {
    /// Keeps the index alone.
    pub const INDEX_ONLY: LoadOptions<'static> = LoadOptions { words: &|_| false, calls: false, usage: false };
}

/// A string within the text of its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StrRef {
    at: u32,
    len: u32,
}

impl StrRef {
    pub(crate) const ABSENT: Self = Self { at: u32::MAX, len: 0 };
    /// Absent where something should be.
    pub(crate) const LACKING: Self = Self { at: u32::MAX, len: 1 };

    pub(crate) fn is_absent(self) -> bool {
        self.at == u32::MAX
    }

    /// Appends the string that `with` writes to a text; it is absent if it goes beyond 4 GiB.
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
pub(crate) struct EntryLine {
    /// Offset of the object in the source.
    pub(crate) offset: u64,
    /// Length of the object in bytes.
    pub(crate) len: u32,
    /// Line, counted from 0 at the start of the part.
    pub(crate) line: u32,
    pub(crate) traits: Traits,
    pub(crate) stamp: Stamp,
    pub(crate) id: StrRef,
    /// The hash of the id.
    pub(crate) hash: u64,
    /// Equal to the `id` of the entry before if that is the parent, as it mostly is; lacking if it is
    /// neither an id nor null.
    pub(crate) parent: StrRef,
    /// The text of the row, if it is kept; that of a tool result only if its call is near.
    pub(crate) words: StrRef,
}

/// A `label` entry: its index among the entries of the part, and its members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelLine {
    pub(crate) entry: u32,
    pub(crate) target: StrRef,
    /// Absent if the entry clears the label.
    pub(crate) label: StrRef,
}

/// An entry of an agent that stores where the leaf is: its index among those of the part, and how it
/// changes that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacingLine {
    pub(crate) entry: u32,
    pub(crate) placing: Placing,
}

/// How an entry changes where the leaf is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placing {
    /// A mark: the leaf moves to `target`, and the next entry is appended to `append`. Both are absent for
    /// the place before the first entry, and lacking if they cannot be read.
    Mark { target: StrRef, append: StrRef },
    /// It is kept beside the conversation: the leaf stays.
    Aside,
    /// It becomes the leaf, and so does from then on only what is below it.
    Reset,
}

/// A tool call of an assistant message: the index of its entry, the call's id, and the row text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallLine {
    pub(crate) entry: u32,
    pub(crate) id: StrRef,
    pub(crate) text: StrRef,
}

/// The calls of the assistant message that the last line hangs below, each line between at the one before it.
#[derive(Debug)]
struct NearCalls {
    /// Their indices among the calls of the part.
    calls: Range<usize>,
    /// How many lines the message is above the next one.
    steps: usize,
}

/// A tool result: the index of its entry among those of the part, and the id of its call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultLine {
    pub(crate) entry: u32,
    pub(crate) call: StrRef,
}

/// The usage that an entry records: the index of the entry among those of the part, and the amounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsageLine {
    pub(crate) entry: u32,
    pub(crate) recorded: RecordedUsage,
}

/// The lines of one block.
#[derive(Debug, Default)]
pub(crate) struct FilePart {
    /// All strings of the part, but for those of `labels`.
    pub(crate) text: String,
    /// The strings of `labels`: most of them are not needed for long.
    pub(crate) label_text: String,
    pub(crate) entries: Vec<EntryLine>,
    pub(crate) labels: Vec<LabelLine>,
    pub(crate) placings: Vec<PlacingLine>,
    /// The last session name that the part sets; empty if it clears the name.
    pub(crate) name: Option<StrRef>,
    pub(crate) calls: Vec<CallLine>,
    /// The calls that a tool result on the next line may answer.
    near: Option<NearCalls>,
    pub(crate) results: Vec<ResultLine>,
    /// Empty unless usage is kept, as are the models.
    pub(crate) usages: Vec<UsageLine>,
    /// The models that wrote messages, each once, as PROVIDER/ID.
    pub(crate) models: Vec<String>,
    pub(crate) problems: Problems,
    /// Empty unless lines are inspected.
    pub(crate) notes: LineNotes,
    /// Number of lines.
    pub(crate) lines: u32,
    /// Offset of the last line of the file, if no LF ends it.
    pub(crate) open_end: Option<u64>,
}

/// Whether lines are inspected for a check while they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inspection {
    /// They are not.
    Off,
    /// They are, which fills [`FilePart::notes`].
    On,
}

/// Lines that are to be read, and how.
pub(crate) struct Reading<'a> {
    pub(crate) source: &'a Source,
    /// The offset from which on lines are read; one starts there.
    pub(crate) front: u64,
    /// Whether every line may be an entry; else a line needs an id.
    pub(crate) is_list: bool,
    pub(crate) options: LoadOptions<'a>,
    pub(crate) inspection: Inspection,
    /// Hashes the ids.
    pub(crate) hasher: &'a DefaultHashBuilder,
    /// On how many threads.
    pub(crate) jobs: usize,
}

impl Reading<'_> {
    /// Reads the lines and passes each part to `take`, in the order of the file; meanwhile the next ones are
    /// read on the other threads.
    ///
    /// # Errors
    /// As [`Source::read_at`].
    pub(crate) fn parts(&self, mut take: impl FnMut(FilePart)) -> Result<()> {
        let Self { source, front, is_list, options, hasher, .. } = *self;
        let long = Mutex::new(());
        let block = BLOCK as u64;
        let count = (source.len() - front.min(source.len())).div_ceil(block);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let worker = || {
            let inspector = (self.inspection == Inspection::On).then(Inspector::default);
            let (scan, hasher, part) = (Scan::default(), hasher.clone(), FilePart::default());
            let mut reader = PartReader { scan, inspector, options, is_list, hasher, part };
            let mut lines = Lines::new(source, &long);
            move |index| {
                let from = front + index as u64 * block;
                let range = from..source.len().min(from + block);
                let each = |line: Line<'_>| {
                    reader.line(line);
                    true
                };
                // The first block starts with a line, but not after a LF that it could see.
                if index == 0 {
                    lines.starting_at(range, each)?
                } else {
                    lines.in_block(range, each)?
                }
                Ok(reader.part.take())
            }
        };
        // All parts are kept, so nothing limits how far threads are ahead. To start a thread takes as long as to
        // read some blocks.
        Pool::new(self.jobs.min(1 + count / THREAD_BLOCKS), usize::MAX).run(count, worker, |_, part| {
            take(part?);
            Ok(())
        })
    }
}

/// Reads lines into a part; one per thread.
struct PartReader<'k> {
    scan: Scan,
    inspector: Option<Inspector>,
    options: LoadOptions<'k>,
    is_list: bool,
    hasher: DefaultHashBuilder,
    part: FilePart,
}

impl PartReader<'_> {
    fn line(&mut self, line: Line<'_>) {
        let Self { scan, inspector, options, is_list, hasher, part } = self;
        let number = part.lines;
        part.lines += 1;
        if !line.terminated {
            part.open_end = Some(line.offset);
        }
        match scan.read(line.bytes) {
            Ok(entry) => {
                if let Some(inspector) = inspector {
                    inspector.entry(&mut part.notes, number, line.bytes, entry);
                    if !line.terminated {
                        part.notes.push(number, Oddity::NoLineEnd);
                    }
                }
                match no_entry(entry) {
                    Some((kind, message)) if !*is_list => {
                        part.problems.push(kind, Some(part.lines), || message.to_owned());
                    }
                    _ => part.entry(entry, number, line.offset, *options, hasher),
                }
            }
            Err(_) if line::is_blank(line.bytes) => {}
            Err(_) => {
                malformed(&mut part.problems, part.lines, line, line.bytes, scan);
                if let Some(inspector) = inspector {
                    inspector.malformed(&mut part.notes, number, line.bytes, line.terminated);
                }
            }
        }
    }
}

impl FilePart {
    /// Returns whether it has an entry of a known type.
    pub(crate) fn has_entry(&self) -> bool {
        self.entries.iter().any(|entry| entry.traits.kind.is_entry_type())
    }

    /// Returns the part in memory of just its size, and leaves an empty one that keeps its memory.
    fn take(&mut self) -> Self {
        let mut full = std::mem::take(self);
        let (text, entries) = (full.text.as_str().to_owned(), full.entries.clone());
        self.text = std::mem::replace(&mut full.text, text);
        self.entries = std::mem::replace(&mut full.entries, entries);
        self.text.clear();
        self.entries.clear();
        // Of these there are few, unless the file is odd.
        full.label_text.shrink_to_fit();
        full.labels.shrink_to_fit();
        full.calls.shrink_to_fit();
        full.results.shrink_to_fit();
        full.notes.shrink_to_fit();
        full
    }

    fn entry(
        &mut self,
        entry: Entry<'_>,
        line: u32,
        offset: u64,
        options: LoadOptions<'_>,
        hasher: &DefaultHashBuilder,
    ) {
        let traits = entry.traits();
        let span = entry.object_span();
        let place = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        let before = self.entries.last().map_or(StrRef::ABSENT, |before| before.id);
        let text = &mut self.text;
        let store = |text: &mut String, value: Option<std::borrow::Cow<'_, str>>| {
            value.map_or(StrRef::ABSENT, |value| StrRef::push(text, |text| text.push_str(&value)))
        };
        let parent = match entry.parent_id() {
            Some(parent) if !before.is_absent() && before.of(text) == parent => before,
            None if !entry.is_root() => StrRef::LACKING,
            parent => store(text, parent),
        };
        let is_next = !before.is_absent() && parent == before && traits.kind != Kind::Header;
        let near = self.near.take().filter(|near| is_next && near.steps <= CALLS_ABOVE);
        let id = entry.id();
        let hash = id.as_deref().map_or(0, |id| hasher.hash_one(id));
        let id = store(text, id);
        let mut words = StrRef::ABSENT;
        // The row of a tool result shows its call, which is in another entry.
        if (options.words)(traits) && traits.role != Role::ToolResult {
            words = StrRef::push(text, |text| preview::write(text, entry));
        }
        if options.usage {
            self.usages.extend(usage::of(entry, traits).map(|recorded| UsageLine { entry: place, recorded }));
            note_model(&mut self.models, entry);
        }
        if let Some(placing) = placing(text, entry) {
            self.placings.push(PlacingLine { entry: place, placing });
        }
        let first_call = self.calls.len();
        match (traits.kind, traits.role) {
            (Kind::Label, _) => {
                let text = &mut self.label_text;
                let target = store(text, entry.get_id("targetId"));
                let label = store(text, entry.get_str("label").filter(|label| !label.is_empty()));
                self.labels.push(LabelLine { entry: place, target, label });
            }
            (Kind::SessionInfo, _) => {
                let name = entry.get_str("name").filter(|name| !name.trim().is_empty());
                self.name =
                    Some(StrRef::push(text, |text| WordWriter::new(text, 200).push_str(name.as_deref().unwrap_or(""))));
            }
            (Kind::Message, Role::ToolResult) if options.calls => {
                if let Some(call) = entry.tool_call_id() {
                    let own = near.iter().filter(|near| near.calls.len() <= FEW_CALLS);
                    let mut own = own.flat_map(|near| &self.calls[near.calls.clone()]);
                    words = own.find(|own| own.id.of(text) == call).map_or(StrRef::ABSENT, |own| own.text);
                    let call = store(text, Some(call));
                    self.results.push(ResultLine { entry: place, call });
                }
            }
            (Kind::Message, Role::Assistant) if options.calls => {
                for block in entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall) {
                    let Some(id) = block.id() else { continue };
                    let id = store(text, Some(id));
                    let name = block.name().unwrap_or_default();
                    let shown = StrRef::push(text, |text| preview::call(text, &name, block.arguments()));
                    self.calls.push(CallLine { entry: place, id, text: shown });
                }
            }
            _ => {}
        }
        self.near = near.map(|near| NearCalls { steps: near.steps + 1, ..near });
        if traits.role == Role::Assistant {
            self.near = Some(NearCalls { calls: first_call..self.calls.len(), steps: 1 });
        }
        let offset = offset + u64::from(span.start);
        let stamp = entry.stamp();
        self.entries.push(EntryLine {
            offset,
            len: span.end - span.start,
            line,
            traits,
            stamp,
            id,
            hash,
            parent,
            words,
        });
    }
}

/// Adds the model that wrote an assistant message, if it is a new one.
fn note_model(models: &mut Vec<String>, entry: Entry<'_>) {
    let Some((provider, model)) = entry.written_by().filter(|_| entry.role() == Role::Assistant) else { return };
    let is_same = |name: &String| match name.strip_prefix(&*provider) {
        Some(rest) if !provider.is_empty() => rest.strip_prefix('/') == Some(&*model),
        _ => provider.is_empty() && *name == model,
    };
    // Mostly it is the last one.
    if models.len() < MODELS && !models.iter().rev().any(is_same) {
        models.push(if provider.is_empty() { model.into_owned() } else { format!("{provider}/{model}") });
    }
}

/// Returns how an entry changes where the leaf is, if it is of an agent that stores that; `text` gets its
/// strings.
fn placing(text: &mut String, entry: Entry<'_>) -> Option<Placing> {
    let mut place = |raw: Option<Raw<'_>>| match raw {
        Some(raw) if raw.kind() == ValueKind::Null => StrRef::ABSENT,
        raw => raw
            .and_then(Raw::id)
            .filter(|id| !id.is_empty())
            .map_or(StrRef::LACKING, |id| StrRef::push(text, |text| text.push_str(&id))),
    };
    match entry.kind() {
        Kind::Leaf => {
            let target = place(entry.get("targetId"));
            let append = entry.get("appendParentId").map_or(target, |append| place(Some(append)));
            Some(Placing::Mark { target, append })
        }
        _ if entry.is_aside() => Some(Placing::Aside),
        Kind::Reset => Some(Placing::Reset),
        _ => None,
    }
}
