//! What can be odd about a single line.

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
    /// A whole object, then NUL bytes from a byte on.
    NulAfter { at: u32 },
    /// A fragment, then a whole object from a byte on.
    FragmentBefore { at: u32 },
    /// A whole record, then something else from a byte on.
    FragmentAfter { at: u32 },
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

/// Returns a number of bytes; a line has at most 4 GiB.
pub(super) fn count(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Returns a place counted from 1.
pub(super) fn place(at: usize) -> u32 {
    count(at.saturating_add(1))
}
