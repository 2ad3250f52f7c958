//! The start of a session: finds the header, and notes what is before it (help rules, "Reading", 3). It looks
//! at no line after the header.

use super::foreign;
use super::inspect::{Inspector, LineNotes, Oddity};
use super::line::{self, Line};
use super::source::Source;
use super::warning::malformed;
use crate::core::entry::header::{self, Header};
use crate::core::entry::{Entry, Kind, Scan};
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::header::HeaderFault;
use crate::core::error::problem::{Problems, WarningKind};
use crate::core::error::{Error, Result};

/// The start of a session: what is before the entries.
#[derive(Debug)]
pub(crate) struct SessionStart {
    pub(crate) header: Header,
    /// The title slot's title, if there is a slot.
    pub(crate) slot: Option<Option<String>>,
    /// Offset of the header's line.
    pub(crate) offset: u64,
    /// Offset of the line after the header.
    pub(crate) end: u64,
    /// Whether a LF ends the header's line.
    pub(crate) terminated: bool,
    /// Number of well-formed lines before the header, without the slot.
    pub(crate) before: u32,
    pub(crate) problems: Problems,
    /// Oddities of the lines up to the header, numbered from 0.
    pub(crate) notes: LineNotes,
}

/// Finds and reads the header (help rules, "Reading", 3).
///
/// # Errors
/// [`Error::Foreign`], [`Error::NotASession`], [`Error::Empty`]; as [`Source::read_at`].
pub(crate) fn read(source: &Source) -> Result<SessionStart> {
    source.check_first_line()?;
    let mut search = HeaderSearch::default();
    let mut found = Ok(None);
    line::each(source, |number, line| {
        found = search.look(number, line);
        matches!(found, Ok(None))
    })?;
    let HeaderSearch { slot, before, problems, notes, .. } = search;
    match found? {
        Some(HeaderLine { header, offset, end, terminated }) => {
            Ok(SessionStart { header, slot, offset, end, terminated, before, problems, notes })
        }
        None if problems.is_empty() && slot.is_none() => Err(Error::Empty),
        None => Err(Error::NotASession { line: 1, fault: HeaderFault::Missing }),
    }
}

/// A header, and where its line is.
struct HeaderLine {
    header: Header,
    offset: u64,
    end: u64,
    terminated: bool,
}

/// What was seen before the header.
#[derive(Default)]
struct HeaderSearch {
    scan: Scan,
    inspector: Inspector,
    slot: Option<Option<String>>,
    before: u32,
    problems: Problems,
    notes: LineNotes,
}

impl HeaderSearch {
    /// Looks at the next line. Returns the header if it is that, and an error if none can follow it.
    fn look(&mut self, number: u32, line: Line<'_>) -> Result<Option<HeaderLine>> {
        let Self { scan, inspector, slot, before, problems, notes } = self;
        // The notes count from 0.
        let place = number - 1;
        let bytes = without_bom(line);
        if bytes.len() < line.bytes.len() {
            notes.push(place, Oddity::Bom);
        }
        if line::is_blank(bytes) {
            return Ok(None);
        }
        if let Some(format) = foreign::magic(bytes).filter(|_| line.offset == 0) {
            return Err(Error::Foreign(format));
        }
        let Ok(entry) = scan.read(bytes) else {
            // The error names a damaged header, and not the line after it.
            if bytes.starts_with(b"{\"type\":\"session\"") {
                return Err(Error::NotASession { line: number, fault: HeaderFault::Damaged });
            }
            malformed(problems, number, line, bytes, &mut Scan::default());
            inspector.malformed(notes, place, bytes, line.terminated);
            return Ok(None);
        };
        if entry.kind() == Kind::Header {
            inspector.bytes(notes, place, bytes);
            if !line.terminated {
                notes.push(place, Oddity::NoLineEnd);
            }
            return header_line(entry, number, line).map(Some);
        }
        if line.offset == 0
            && entry.kind() == Kind::Title
            && let Ok(title) = header::slot(entry)
        {
            *slot = Some(title);
            let size = u32::try_from(bytes.len() + usize::from(line.terminated)).unwrap_or(u32::MAX);
            if size != header::SLOT_SIZE {
                notes.push(place, Oddity::SlotSize { bytes: size });
            }
            return Ok(None);
        }
        if let Some(format) = foreign::line(entry) {
            return Err(Error::Foreign(format));
        }
        if !header::may_precede(entry) {
            return Err(Error::NotASession { line: number, fault: HeaderFault::NotFirst });
        }
        *before += 1;
        let text = "foreign line before the header; agents refuse such a file";
        problems.push(WarningKind::ForeignLine, Some(number), || text.to_owned());
        let oddity = match header::slot(entry) {
            _ if entry.kind() != Kind::Title => Oddity::Foreign,
            Ok(_) => Oddity::NoSlot { fault: u8::MAX },
            Err(fault) => Oddity::NoSlot { fault },
        };
        notes.push(place, oddity);
        Ok(None)
    }
}

/// Reads the header on a line.
fn header_line(entry: Entry<'_>, number: u32, line: Line<'_>) -> Result<HeaderLine> {
    let no_id = Error::NotASession { line: number, fault: HeaderFault::NoId };
    let header = Header::read(entry, number).ok_or(no_id)?;
    if foreign::is_event(line.next) {
        return Err(Error::Foreign(ForeignFormat::EventStream));
    }
    let end = line.offset + line.bytes.len() as u64 + u64::from(line.terminated);
    Ok(HeaderLine { header, offset: line.offset, end, terminated: line.terminated })
}

/// Returns a line without the byte order mark that some editors put at the start of a file.
pub(crate) fn without_bom<'l>(line: Line<'l>) -> &'l [u8] {
    match line.bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] if line.offset == 0 => rest,
        bytes => bytes,
    }
}
