//! What a check keeps of the lines that were read: a note is a line and a number, and
//! [`crate::core::check`] words only what it reports.

use super::oddity::Oddity;
use crate::core::json::Raw;

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
    pub(super) fn take(&mut self, name: &[u8], value: Raw<'_>) {
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
#[derive(Clone, Debug, Default)]
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

/// Returns a hash of a call's id, so that a million ids need no text. FNV-1a: a collision would only
/// suppress a warning.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
