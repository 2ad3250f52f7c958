//! Notes oddities of lines for a check, on the threads that read the lines, so that nothing is read
//! twice. Must stay cheap in memory: a note is a line and a number, and [`crate::core::check`] words
//! only what it reports.

use std::borrow::Cow;

use memchr::memmem::Finder;

use super::members::odd_member;
use super::{foreign, line, pieces};
use crate::core::entry::{BlockKind, Entry, Kind, Role, Scan, ScanError};
use crate::core::json::{self, Cursor, Raw, SyntaxError};

/// A line of more bytes than this is odd, whatever it holds.
pub(crate) const BIG: usize = 10_000_000;

/// An oddity of a single line. Bytes are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// No LF ends the file, and its last line is not a whole object.
    Unfinished {
        /// Whether omp takes what comes next for a value in it.
        wants_value: bool,
    },
    /// No LF ends the file, but its last line is whole.
    NoLineEnd,
    /// The line ends inside its object.
    Cut {
        /// Whether omp takes the next line for a value in it.
        wants_value: bool,
    },
    /// It is not JSON from a byte on.
    NotJson { at: u32 },
    /// It is JSON, but not an object.
    NotAnObject {
        /// Whether it is `null`, which agents handle worse.
        is_null: bool,
    },
    /// It is longer than 4 GiB.
    TooLong,
    /// It consists of NUL bytes.
    Nul { count: u32 },
    /// NUL bytes, then a whole object from a byte on.
    NulBefore { at: u32 },
    /// A fragment, then a whole object from a byte on.
    FragmentBefore { at: u32 },
    /// Several objects, the second from a byte on.
    Glued { at: u32 },
    /// An UTF-8 byte order mark.
    Bom,
    /// Bytes that are not UTF-8, the first of them at a byte.
    BadUtf8 { at: u32 },
    /// Half of a surrogate pair.
    LoneSurrogate { at: u32 },
    /// A terminal escape sequence that does more than set colours.
    Escape { at: u32 },
    /// More than [`BIG`] bytes.
    Big { bytes: u32 },
    /// Neither an entry nor a header: no `id`.
    Foreign,
    /// A title line before the header that is not a title slot to omp; `fault` is the index of the reason in
    /// [`SLOT_MEMBERS`](crate::core::entry::header::SLOT_MEMBERS), or beyond these if it is not the first line.
    NoSlot { fault: u8 },
    /// A title slot of so many bytes, its line feed included, which is not what omp makes of one.
    SlotSize { bytes: u32 },
    /// No `id`, but another program's change of an entry or of the header.
    Patch,
    /// A `session` line after the first.
    SecondHeader,
    /// An entry without a type.
    Untyped,
    /// A message entry whose message is not an object.
    NoMessage,
    /// A message without a known role.
    NoRole,
    /// `content` is missing or null.
    NoContent,
    /// `content` is of a type that it cannot have.
    BadContent,
    /// A block of `content`, counted from 1, has no type, or lacks what its type needs.
    BadBlock { number: u32 },
    /// An assistant message without `usage`.
    NoUsage,
    /// An assistant message, or else a `model_usage` entry, whose `usage` has no `cost`.
    NoCost { is_message: bool },
    /// A tool result without a string `toolCallId`.
    NoCallId,
    /// A member without the form that an agent needs: `index` is that into [`MEMBERS`](super::members::MEMBERS).
    BadMember { index: u8 },
    /// A lone brace, which ends what omp would read on after a torn line.
    LoneBrace,
    /// A root whose `parentId` is neither null nor a string.
    NoParent,
}

/// An oddity and the line that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OddLine {
    /// 1-based line; counted from 0 within its part until [`LineNotes::append`].
    pub(crate) line: u32,
    pub(crate) oddity: Oddity,
}

/// The parent of an entry on a damaged line, as far as it can still be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LostParent {
    /// It cannot be read.
    Unknown,
    /// It had none.
    Root,
    /// The entry with this id.
    Entry(String),
}

/// An entry on a damaged line, which readers skip.
#[derive(Clone, Debug)]
pub(crate) struct LostEntry {
    pub(crate) line: u32,
    pub(crate) id: Option<String>,
    pub(crate) parent: LostParent,
}

impl LostEntry {
    /// Takes the value of a member, if that says what the entry is called or where it hangs.
    fn take(&mut self, name: &[u8], value: Raw<'_>) {
        let text = || value.str().filter(|id| !id.is_empty()).map(|id| id.into_owned());
        match name {
            b"id" => self.id = text(),
            b"parentId" => self.parent = text().map_or(LostParent::Root, LostParent::Entry),
            _ => {}
        }
    }
}

/// A second line with the id of an earlier one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DuplicateId {
    pub(crate) line: u32,
    pub(crate) first_line: u32,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) first_offset: u64,
    pub(crate) first_len: u32,
}

/// The notes of a file, each list in its order.
#[derive(Debug, Default)]
pub(crate) struct LineNotes {
    pub(crate) odd: Vec<OddLine>,
    pub(crate) lost: Vec<LostEntry>,
    /// Tool calls: line, and hash of the call's id.
    pub(crate) calls: Vec<(u32, u64)>,
    /// Tool results: line, and hash of the call's id.
    pub(crate) results: Vec<(u32, u64)>,
    /// Images that are kept elsewhere: line, and SHA-256.
    pub(crate) blobs: Vec<(u32, [u8; 32])>,
    pub(crate) duplicates: Vec<DuplicateId>,
}

impl LineNotes {
    /// Notes an oddity.
    pub(crate) fn push(&mut self, line: u32, oddity: Oddity) {
        self.odd.push(OddLine { line, oddity });
    }

    /// Frees the memory that the lists have beyond their lengths.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.odd.shrink_to_fit();
        self.lost.shrink_to_fit();
        self.calls.shrink_to_fit();
        self.results.shrink_to_fit();
        self.blobs.shrink_to_fit();
    }

    /// Appends the notes of the next part, after `lines_before` lines.
    pub(crate) fn append(&mut self, later: Self, lines_before: u32) {
        let number = |line: u32| line.saturating_add(lines_before).saturating_add(1);
        self.odd.extend(later.odd.into_iter().map(|note| OddLine { line: number(note.line), ..note }));
        self.lost.extend(later.lost.into_iter().map(|lost| LostEntry { line: number(lost.line), ..lost }));
        self.calls.extend(later.calls.into_iter().map(|(line, call)| (number(line), call)));
        self.results.extend(later.results.into_iter().map(|(line, call)| (number(line), call)));
        self.blobs.extend(later.blobs.into_iter().map(|(line, hash)| (number(line), hash)));
    }
}

/// Inspects lines; one per thread.
#[derive(Debug)]
pub(crate) struct Inspector {
    escape: Finder<'static>,
    blob: Finder<'static>,
    /// For damaged lines: the reader's own is still in use.
    scan: Scan,
}

impl Default for Inspector {
    fn default() -> Self {
        Self { escape: Finder::new(br"\u"), blob: Finder::new(BLOB), scan: Scan::default() }
    }
}

/// The bytes before the SHA-256 of an image that is kept in a file of its own.
const BLOB: &[u8] = b"\"blob:sha256:";

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
        for lost in remains(line, oddity) {
            notes.lost.push(LostEntry { line: number, ..lost });
        }
        match terminated {
            true => notes.push(number, oddity),
            false => notes.push(number, Oddity::Unfinished { wants_value: line::wants_value(line) }),
        }
    }

    /// Inspects the bytes of any line.
    pub(crate) fn bytes(&self, notes: &mut LineNotes, number: u32, line: &[u8]) {
        if line.len() > BIG {
            notes.push(number, Oddity::Big { bytes: count(line.len()) });
        }
        if let Err(error) = std::str::from_utf8(line) {
            notes.push(number, Oddity::BadUtf8 { at: place(error.valid_up_to()) });
        }
        let (mut surrogate, mut escape) = (None, control(line));
        let mut from = 0;
        while let Some(found) = self.escape.find(&line[from..]) {
            let at = from + found;
            from = at + 2;
            if is_escaped(line, at) {
                continue;
            }
            match line.get(at + 2..at + 6).map(|digits| digits.to_ascii_lowercase()).as_deref() {
                Some([b'd', b'8'..=b'9' | b'a'..=b'b', ..]) if has_low_half(line, at + 6) => from = at + 12,
                Some([b'd', b'8'..=b'9' | b'a'..=b'f', ..]) => surrogate = surrogate.or(Some(at)),
                Some(b"001b") if is_color(&line[at + 6..]) => {}
                // The control character NEL is a line end.
                Some(b"0085") => {}
                Some(b"001b" | [b'0', b'0', b'8' | b'9', _]) => escape = escape.or(Some(at)),
                _ => {}
            }
        }
        if let Some(at) = surrogate {
            notes.push(number, Oddity::LoneSurrogate { at: place(at) });
        }
        if let Some(at) = escape {
            notes.push(number, Oddity::Escape { at: place(at) });
        }
        for at in self.blob.find_iter(line) {
            let hex = line.get(at + BLOB.len()..at + BLOB.len() + 64);
            if let Some(hash) = hex.and_then(sha256)
                && line.get(at + BLOB.len() + 64) == Some(&b'"')
                && is_image(&line[..at])
            {
                notes.blobs.push((number, hash));
            }
        }
    }
}

/// Returns a number of bytes; a line has at most 4 GiB.
fn count(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Returns a place counted from 1.
fn place(at: usize) -> u32 {
    count(at.saturating_add(1))
}

/// Returns whether the backslash at `at` is itself escaped.
fn is_escaped(line: &[u8], at: usize) -> bool {
    line[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Returns whether an escape sequence only sets colours, as the output of many tools does; `rest` is
/// what follows its ESC.
fn is_color(rest: &[u8]) -> bool {
    let Some(rest) = rest.strip_prefix(b"[") else { return false };
    let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'));
    end.is_some_and(|end| rest[end] == b'm')
}

/// Returns whether the second half of a surrogate pair is at `at`.
fn has_low_half(line: &[u8], at: usize) -> bool {
    matches!(line.get(at..at + 4), Some([b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F']))
}

/// Returns the offset of the first control character of two bytes (C1) other than NEL, if any.
fn control(line: &[u8]) -> Option<usize> {
    memchr::memchr_iter(0xc2, line).find(|&at| matches!(line.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9f)))
}

/// Returns whether a value is where omp looks for an image; `before` is the line up to it.
fn is_image(before: &[u8]) -> bool {
    let key = before.trim_ascii_end().strip_suffix(b":").map(<[u8]>::trim_ascii_end);
    key.is_some_and(|key| [&b"\"data\""[..], b"\"image_url\"", b"\"result\""].iter().any(|name| key.ends_with(name)))
}

fn sha256(hex: &[u8]) -> Option<[u8; 32]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(hash)
}

fn is_null_or_string(raw: Raw<'_>) -> bool {
    matches!(raw.kind(), json::ValueKind::Null | json::ValueKind::String)
}

fn message(notes: &mut LineNotes, number: u32, entry: Entry<'_>) {
    let Some(message) = entry.message().filter(|message| message.kind() == json::ValueKind::Object) else {
        return notes.push(number, Oddity::NoMessage);
    };
    let role = entry.role();
    match role {
        Role::None | Role::Unknown => return notes.push(number, Oddity::NoRole),
        Role::BashExecution | Role::PythonExecution | Role::FileMention => return,
        Role::BranchSummary | Role::CompactionSummary => return,
        Role::ToolResult => match entry.tool_call_id() {
            Some(call) => notes.results.push((number, hash(call.as_bytes()))),
            None => notes.push(number, Oddity::NoCallId),
        },
        Role::Assistant => {
            for block in entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall) {
                if let Some(id) = block.id() {
                    notes.calls.push((number, hash(id.as_bytes())));
                }
            }
            let usage = usage(message, entry.content()).filter(|usage| !usage.is_null());
            if usage.is_none_or(|usage| usage.get("cost").is_none_or(Raw::is_null)) {
                notes.push(number, if usage.is_some() { Oddity::NoCost { is_message: true } } else { Oddity::NoUsage });
            }
        }
        _ => {}
    }
    content(notes, number, entry, role);
}

/// Returns the `usage` of a message. It mostly follows the content, which is long and need not be parsed
/// again.
fn usage<'l>(message: Raw<'l>, content: Option<Raw<'l>>) -> Option<Raw<'l>> {
    let front = message.bytes().as_ptr().addr();
    let after = content.map(|content| content.bytes().as_ptr().addr() + content.bytes().len());
    let tail = after.and_then(|after| message.bytes().get(after.checked_sub(front)?..));
    if let Some(tail) = tail {
        let mut cursor = Cursor::new(tail);
        while let Ok(Some(key)) = cursor.next_member(&mut false) {
            let Ok(value) = cursor.value() else { break };
            if key.name() == b"usage" {
                return Some(Raw::new(cursor.text(value)));
            }
        }
    }
    message.get("usage")
}

/// Returns whether what a block of an image or of reasoning holds is no text: agents cannot send it.
fn has_odd_data(block: Raw<'_>) -> bool {
    let name = match block.get_str("type").as_deref() {
        Some("image") => "data",
        Some("thinking") => "thinking",
        _ => return false,
    };
    block.get(name).is_some_and(|value| value.kind() != json::ValueKind::String)
}

/// Inspects the content of a message.
fn content(notes: &mut LineNotes, number: u32, entry: Entry<'_>, role: Role) {
    let Some(content) = entry.content().filter(|content| content.kind() != json::ValueKind::Null) else {
        return notes.push(number, Oddity::NoContent);
    };
    let may_be_string = !matches!(role, Role::Assistant | Role::ToolResult);
    match content.kind() {
        json::ValueKind::String if may_be_string => return,
        json::ValueKind::Array => {}
        _ => return notes.push(number, Oddity::BadContent),
    }
    let is_sound = |raw: Option<Raw<'_>>| raw.is_some_and(|raw| raw.kind() == json::ValueKind::String);
    let mut other = false;
    for (at, block) in entry.blocks().enumerate() {
        let sound = match block.kind() {
            BlockKind::Text => is_sound(block.text()),
            BlockKind::ToolCall => {
                let is_object = |raw: Raw<'_>| raw.kind() == json::ValueKind::Object;
                let is_named = |name: Option<Cow<'_, str>>| name.is_some_and(|name| !name.is_empty());
                is_named(block.id()) && is_named(block.name()) && block.arguments().is_some_and(is_object)
            }
            BlockKind::Image | BlockKind::Other => {
                other = true;
                true
            }
        };
        if !sound {
            return notes.push(number, Oddity::BadBlock { number: place(at) });
        }
    }
    // Blocks of other types need a type, and nothing else is known of most of them.
    if other && let Some(at) = content.elements().position(|block| !has_type(block) || has_odd_data(block)) {
        notes.push(number, Oddity::BadBlock { number: place(at) });
    }
}

fn has_type(block: Raw<'_>) -> bool {
    block.bytes().starts_with(b"{\"type\":\"") || block.get("type").is_some_and(|name| name.string_body().is_some())
}

/// Returns a hash of a call's id, so that a million ids need no text. FNV-1a: a collision would only
/// suppress a warning.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

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
fn remains(line: &[u8], oddity: Oddity) -> Vec<LostEntry> {
    let mut found = Vec::new();
    match oddity {
        Oddity::Nul { .. } | Oddity::NotAnObject { .. } | Oddity::TooLong | Oddity::LoneBrace => {}
        Oddity::NulBefore { at } | Oddity::FragmentBefore { at } => {
            let (before, mut rest) = line.split_at((at as usize).saturating_sub(1).min(line.len()));
            if matches!(oddity, Oddity::FragmentBefore { .. }) {
                found.extend(fragment(before));
            }
            while let Some(end) = value_end(rest) {
                found.extend(fragment(&rest[..end]));
                rest = rest[end..].trim_ascii_start();
            }
            found.extend(fragment(rest));
        }
        Oddity::Glued { .. } => {
            let mut rest = line;
            while let Some(end) = value_end(rest) {
                found.extend(fragment(&rest[..end]));
                rest = &rest[end..];
            }
            found.extend(fragment(rest));
        }
        _ => found.extend(fragment(line)),
    }
    found
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
    use super::{Inspector, LineNotes, LostParent, Oddity, damage};
    use crate::core::entry::Scan;

    /// Returns the oddities of the bytes of a line.
    fn odd(line: &[u8]) -> Vec<Oddity> {
        let mut notes = LineNotes::default();
        Inspector::default().bytes(&mut notes, 0, line);
        notes.odd.iter().map(|note| note.oddity).collect()
    }

    #[test]
    fn odd_bytes_are_noted_and_similar_ones_are_not() {
        assert_eq!(odd(br#""a\u001b[2J""#), [Oddity::Escape { at: 3 }]);
        assert_eq!(odd(br#""a\\u001b[2J \u00e9""#), []);
        assert_eq!(odd(br#""\\\u001B""#), [Oddity::Escape { at: 4 }]);
        assert_eq!(odd(br#""\u0085\u00a0""#), []);
        assert_eq!(odd(br#""\u009B2J""#), [Oddity::Escape { at: 2 }]);
        assert_eq!(odd(br#""\u001b[1;32mok\u001b[0m\u001b[m""#), []);
        assert_eq!(odd(br#""\u001b[1;32H\u001b[1""#), [Oddity::Escape { at: 2 }]);
        assert_eq!(odd("\"\u{9b}2J\"".as_bytes()), [Oddity::Escape { at: 2 }]);
        assert_eq!(odd("\"caf\u{e9} \u{85} \u{a0}\"".as_bytes()), []);
        assert_eq!(odd(br#""\ud83d\ude42 \uD83D\uDE42""#), []);
        assert_eq!(odd(br#""\ud83d\ud83d\ude42""#), [Oddity::LoneSurrogate { at: 2 }]);
        assert_eq!(odd(br#""\ude42""#), [Oddity::LoneSurrogate { at: 2 }]);
        assert_eq!(odd(b"\"ab\xff\""), [Oddity::BadUtf8 { at: 4 }]);
    }

    #[test]
    fn each_kind_of_damage_is_recognised() {
        let mut scan = Scan::default();
        let mut of = |line: &[u8]| damage(line, &mut scan);
        assert_eq!(of(b"\0\0\0"), Oddity::Nul { count: 3 });
        let whole = r#"{"type":"label","id":"b","parentId":null,"timestamp":"t"}"#;
        assert_eq!(of(format!("\0\0{whole}").as_bytes()), Oddity::NulBefore { at: 3 });
        assert_eq!(of(b"{\"a\":1}{\"a\":1}"), Oddity::Glued { at: 8 });
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
    fn images_and_reasoning_have_text() {
        let odd = |block: &str| super::has_odd_data(crate::core::json::Raw::new(block.as_bytes()));
        for block in [r#"{"type":"image","data":5}"#, r#"{"type":"thinking","thinking":null}"#] {
            assert!(odd(block), "{block}");
        }
        for block in [r#"{"type":"image","data":"x"}"#, r#"{"type":"thinking"}"#, r#"{"type":"new","data":5}"#] {
            assert!(!odd(block), "{block}");
        }
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
