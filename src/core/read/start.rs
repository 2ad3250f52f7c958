//! The start of a session: finds the header, and notes what is before it (help rules, "Reading", 3). It looks
//! at no line after the header.

use std::sync::Mutex;

use super::foreign;
use super::inspect::{Inspector, LineNotes, Oddity};
use super::line::{self, BLOCK, Line, Lines};
use super::source::Source;
use super::warning::malformed;
use crate::core::entry::header::{self, Header};
use crate::core::entry::{Kind, Scan};
use crate::core::error::Result;
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::header::HeaderFault;
use crate::core::error::problem::{Problems, WarningKind};

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
pub(crate) fn read(source: &Source) -> Result<SessionStart> {
    use crate::core::error::Error::{Empty, Foreign, NotASession};
    source.check_first_line()?;
    let long = Mutex::new(());
    let mut lines = Lines::new(source, &long);
    let mut scan = Scan::default();
    let (mut inspector, mut notes) = (Inspector::default(), LineNotes::default());
    let mut number = 0;
    let mut slot = None;
    let mut before = 0;
    let mut problems = Problems::default();
    let mut found = None;
    let mut at = 0;
    while at < source.len() && found.is_none() {
        let end = source.len().min(at + BLOCK as u64);
        lines.in_block(at..end, |line| {
            number += 1;
            let bytes = without_bom(line);
            if bytes.len() < line.bytes.len() {
                notes.push(0, Oddity::Bom);
            }
            if line::is_blank(bytes) {
                return true;
            }
            if line.offset == 0
                && let Some(format) = foreign::magic(bytes)
            {
                found = Some(Err(Foreign(format)));
                return false;
            }
            let Ok(entry) = scan.read(bytes) else {
                // The error names a damaged header, and not the line after it.
                let was_header = bytes.starts_with(b"{\"type\":\"session\"");
                found = was_header.then_some(Err(NotASession { line: number, fault: HeaderFault::Damaged }));
                malformed(&mut problems, number, line, bytes, &mut Scan::default());
                inspector.malformed(&mut notes, number - 1, bytes, line.terminated);
                return found.is_none();
            };
            if entry.kind() == Kind::Header {
                let end = line.offset + line.bytes.len() as u64 + u64::from(line.terminated);
                inspector.bytes(&mut notes, number - 1, bytes);
                if !line.terminated {
                    notes.push(number - 1, Oddity::NoLineEnd);
                }
                found = Some(match Header::read(entry, number) {
                    Some(_) if foreign::is_event(line.next) => Err(Foreign(ForeignFormat::EventStream)),
                    Some(header) => Ok((header, line.offset, end, line.terminated)),
                    None => Err(NotASession { line: number, fault: HeaderFault::NoId }),
                });
            } else if line.offset == 0
                && entry.kind() == Kind::Title
                && let Ok(title) = header::slot(entry)
            {
                slot = Some(title);
                let size = u32::try_from(bytes.len() + usize::from(line.terminated)).unwrap_or(u32::MAX);
                if size != header::SLOT_SIZE {
                    notes.push(number - 1, Oddity::SlotSize { bytes: size });
                }
            } else if let Some(format) = foreign::line(entry) {
                found = Some(Err(Foreign(format)));
            } else if header::may_precede(entry) {
                before += 1;
                let text = "foreign line before the header; agents refuse such a file";
                problems.push(WarningKind::ForeignLine, Some(number), || text.to_owned());
                match header::slot(entry) {
                    _ if entry.kind() != Kind::Title => notes.push(number - 1, Oddity::Foreign),
                    Ok(_) => notes.push(number - 1, Oddity::NoSlot { fault: u8::MAX }),
                    Err(fault) => notes.push(number - 1, Oddity::NoSlot { fault }),
                }
            } else {
                found = Some(Err(NotASession { line: number, fault: HeaderFault::NotFirst }));
            }
            found.is_none()
        })?;
        at = end;
    }
    match found {
        Some(Ok((header, offset, end, terminated))) => {
            Ok(SessionStart { header, slot, offset, end, terminated, before, problems, notes })
        }
        Some(Err(error)) => Err(error),
        None if problems.is_empty() && slot.is_none() => Err(Empty),
        None => Err(NotASession { line: 1, fault: HeaderFault::Missing }),
    }
}
/// Returns a line without the byte order mark that some editors put at the start of a file.
pub(crate) fn without_bom<'l>(line: Line<'l>) -> &'l [u8] {
    match line.bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] if line.offset == 0 => rest,
        bytes => bytes,
    }
}
