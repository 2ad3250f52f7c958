//! The front of a file: its first bytes, read as if it ended there, so that the header of a session is found
//! without reading the session.

use std::path::Path;

use super::source::{FIRST_LINE, Source};
use super::start::{self, SessionStart};
use crate::core::entry::header::Header;
use crate::core::error::Error;
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::header::HeaderFault;

/// How many bytes of a file are read to find its header: first a few, which mostly are enough, then
/// more. A file without the start of a header in these is not a session.
const FRONTS: [u64; 2] = [8 * 1024, 1028 * 1024];
/// How many bytes are read to find the end of a longer header: as long as the first line of a session may be.
const LONGEST_HEADER: u64 = FIRST_LINE;

/// Reads the header of a file, and whether anything follows it.
///
/// # Errors
/// The format, if it is of a known other one; `None` for other files that are not sessions.
pub(crate) fn header(path: &Path) -> Result<(Header, bool), Option<ForeignFormat>> {
    let (source, start) = front(path).map_err(|error| error.format())?;
    let follows = |source: &Source| {
        let mut rest = vec![0; usize::try_from(source.len().saturating_sub(start.end)).unwrap_or(0)];
        source.read_at(&mut rest, start.end).is_ok() && !rest.trim_ascii().is_empty()
    };
    let [.., longest] = FRONTS;
    let has_entries = follows(&source)
        // What follows may be beyond what was read.
        || FRONTS.contains(&source.len())
            && Source::front(path, longest).is_ok_and(|source| source.len() == longest || follows(&source));
    Ok((start.header, has_entries))
}

/// Opens a file as if it ended soon after its header, and reads what is before the entries.
///
/// # Errors
/// Why it is not a session, or cannot be read.
pub(crate) fn front(path: &Path) -> Result<(Source, SessionStart), Error> {
    front_of(&|limit| Source::front(path, limit))
}

/// Reads what is before the entries of what `open` opens up to a limit.
///
/// # Errors
/// As [`front`].
pub(crate) fn front_of(open: &dyn Fn(u64) -> Result<Source, Error>) -> Result<(Source, SessionStart), Error> {
    let (mut last, mut is_cut) = (Error::Empty, false);
    for limit in FRONTS {
        let source = open(limit)?;
        last = match start::read(&source) {
            Ok(start) => return Ok((source, start)),
            Err(error) => error,
        };
        let mut front = vec![0; usize::try_from(source.len()).unwrap_or(0)];
        source.read_at(&mut front, 0)?;
        let whole = memchr::memchr_iter(b'\n', &front).count();
        // The reader has seen the whole line: more of the file does not change the answer.
        let is_certain = match &last {
            Error::Foreign(_) => true,
            Error::NotASession { line, fault } => *line as usize <= whole && *fault != HeaderFault::Missing,
            _ => false,
        };
        is_cut = !is_certain && source.len() == limit && ends_in_object(&front);
        if is_certain || source.len() < limit {
            break;
        }
    }
    if is_cut { beyond(open) } else { Err(last) }
}

/// Reads a header whose line is longer than the fronts, and as much after it as the longest of them.
fn beyond(open: &dyn Fn(u64) -> Result<Source, Error>) -> Result<(Source, SessionStart), Error> {
    let source = open(LONGEST_HEADER)?;
    let start = start::read(&source).map_err(|error| match error {
        Error::NotASession { line, fault: HeaderFault::Damaged } if source.len() == LONGEST_HEADER => {
            Error::NotASession { line, fault: HeaderFault::TooLong }
        }
        error => error,
    })?;
    let [.., longest] = FRONTS;
    Ok((open(start.end.saturating_add(longest))?, start))
}

/// Returns whether the last line has no end, and may be an object.
fn ends_in_object(front: &[u8]) -> bool {
    let start = memchr::memrchr(b'\n', front).map_or(0, |end| end + 1);
    front[start..].trim_ascii_start().starts_with(b"{")
}
