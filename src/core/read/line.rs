//! Framing: cuts a source into lines, block by block, so that several threads can share the work.
//!
//! A line belongs to the block in which it starts. It ends at LF and must never be cut anywhere else:
//! CR and Unicode line separators are part of it.

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use memchr::{memchr, memchr_iter, memrchr};

use super::source::Source;
use crate::core::error::Result;

/// The unit of reading, in bytes: small enough to stay in a core's cache.
pub const BLOCK: usize = 256 * 1024;

/// A line of more bytes than this is read into a buffer of its own, which is freed afterwards.
const LONG: usize = 4 * 1024 * 1024;

/// One line of a source.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its bytes, without the LF.
    pub bytes: &'a [u8],
    /// Offset of its first byte in the source.
    pub offset: u64,
    /// Whether a LF ends it; only the last line of a source may have none.
    pub terminated: bool,
    /// Bytes after it that are in memory anyway: a few, or none.
    pub(crate) next: &'a [u8],
}

thread_local! {
    /// The buffer of the last reader on this thread: of many small files each would need a new one, and to
    /// clear it takes as long as to read them.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Reads lines of one source; one per thread.
#[derive(Debug)]
pub struct Lines<'s> {
    source: &'s Source,
    /// Reused for every block and never cleared: clearing costs as much as reading.
    buffer: Vec<u8>,
    /// How many bytes of the buffer are read data.
    filled: usize,
    /// Locked during a long line, so that only one is in memory however many threads there are.
    long: &'s Mutex<()>,
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        // A larger one held a long line.
        if self.buffer.len() <= 2 * BLOCK {
            SPARE.set(std::mem::take(&mut self.buffer));
        }
    }
}

impl<'s> Lines<'s> {
    /// Starts to read. All readers of a source share one `long`.
    pub fn new(source: &'s Source, long: &'s Mutex<()>) -> Self {
        Self { source, buffer: SPARE.take(), filled: 0, long }
    }

    /// Calls `each` for every line that starts in `block` until it returns false.
    ///
    /// # Errors
    /// As `Source::read_at`.
    pub fn in_block(&mut self, block: Range<u64>, each: impl FnMut(Line<'_>) -> bool) -> Result<()> {
        if block.start == 0 {
            return self.starting_at(block, each);
        }
        // The byte before the block shows whether a line starts exactly at the block.
        let front = block.start - 1;
        self.fill(front..block.end)?;
        match memchr(b'\n', &self.buffer[..self.filled]) {
            Some(end) => self.cut(front, end + 1, block.end, each),
            None => Ok(()),
        }
    }

    /// Does the same as [`Self::in_block`] for a block that is known to start with a line.
    ///
    /// # Errors
    /// As [`Source::read_at`].
    pub(crate) fn starting_at(&mut self, block: Range<u64>, each: impl FnMut(Line<'_>) -> bool) -> Result<()> {
        self.fill(block.clone())?;
        self.cut(block.start, 0, block.end, each)
    }

    fn fill(&mut self, range: Range<u64>) -> Result<()> {
        self.filled = 0;
        self.read_on(range.start, usize::try_from(range.end - range.start).unwrap_or(usize::MAX))
    }

    /// Reads `more` bytes at `offset` and appends them to the buffer.
    fn read_on(&mut self, offset: u64, more: usize) -> Result<()> {
        let old = self.filled;
        self.filled += more;
        if self.buffer.len() < self.filled {
            self.buffer.resize(self.filled, 0);
        }
        self.source.read_at(&mut self.buffer[old..self.filled], offset)
    }

    /// Cuts the buffer, whose first byte is at `front` in the source, from `at` on.
    fn cut(&mut self, front: u64, mut at: usize, end: u64, mut each: impl FnMut(Line<'_>) -> bool) -> Result<()> {
        let len = self.filled;
        while at < len {
            let Some(length) = memchr(b'\n', &self.buffer[at..len]) else {
                return self.across_end(front + at as u64, at, end, each);
            };
            let (bytes, next) = (&self.buffer[at..at + length], &self.buffer[at + length + 1..len]);
            let line = Line { bytes, offset: front + at as u64, terminated: true, next };
            if !each(line) {
                return Ok(());
            }
            at += length + 1;
        }
        Ok(())
    }

    /// Handles the last line of a block, which starts at `at` in the buffer and goes on after the block.
    fn across_end(&mut self, offset: u64, at: usize, end: u64, mut each: impl FnMut(Line<'_>) -> bool) -> Result<()> {
        // Most such lines end soon, and bytes read after the end are read again with the next block:
        // start with a small step.
        let mut step = BLOCK / 16;
        let mut from = end;
        while from < self.source.len() && self.filled - at <= LONG {
            let old = self.filled;
            let more = step.min(usize::try_from(self.source.len() - from).unwrap_or(step));
            step = (step * 2).min(BLOCK / 4);
            self.read_on(from, more)?;
            if let Some(stop) = memchr(b'\n', &self.buffer[old..self.filled]) {
                let (bytes, next) = (&self.buffer[at..old + stop], &self.buffer[old + stop + 1..self.filled]);
                each(Line { bytes, offset, terminated: true, next });
                return Ok(());
            }
            from += more as u64;
        }
        if from == self.source.len() {
            each(Line { bytes: &self.buffer[at..self.filled], offset, terminated: false, next: &[] });
            return Ok(());
        }
        // The buffer is freed first: only one copy of a long line may be in memory.
        self.buffer = Vec::new();
        let (stop, terminated) = self.find_end(from)?;
        let _one_at_a_time = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes = vec![0; usize::try_from(stop - offset).unwrap_or(usize::MAX)];
        self.source.read_at(&mut bytes, offset)?;
        each(Line { bytes: &bytes, offset, terminated, next: &[] });
        Ok(())
    }

    /// Returns the offset of the first LF from `from` on, or of the end of the source, and whether it is
    /// a LF.
    fn find_end(&self, mut from: u64) -> Result<(u64, bool)> {
        let mut window = [0; 16 * 1024];
        while from < self.source.len() {
            let len = window.len().min(usize::try_from(self.source.len() - from).unwrap_or(usize::MAX));
            self.source.read_at(&mut window[..len], from)?;
            if let Some(at) = memchr(b'\n', &window[..len]) {
                return Ok((from + at as u64, true));
            }
            from += len as u64;
        }
        Ok((from, false))
    }
}

/// Reads a source from its start to its end in windows, without cutting it into lines. Each has the bytes around its
/// zone too, so that what is across the end of a zone is seen.
#[derive(Debug)]
pub(crate) struct Windows<'s> {
    source: &'s Source,
    before: usize,
    after: usize,
    size: usize,
    /// As that of [`Lines`].
    buffer: Vec<u8>,
    filled: usize,
    /// The offset of the first byte of the buffer.
    offset: u64,
    /// The bytes of the buffer that are the zone.
    zone: Range<usize>,
    /// The offset of the line which goes on at the start of the buffer, or starts there.
    line: u64,
}

/// Some bytes of a source.
#[derive(Debug)]
pub(crate) struct Window<'w> {
    pub(crate) bytes: &'w [u8],
    /// The places that are this window's, and no other one's.
    pub(crate) zone: Range<usize>,
    offset: u64,
    line: u64,
    is_last: bool,
}

impl Drop for Windows<'_> {
    fn drop(&mut self) {
        SPARE.set(std::mem::take(&mut self.buffer));
    }
}

impl<'s> Windows<'s> {
    /// Starts to read `size` bytes at once. Windows have so many bytes before and after their zones, if there are so
    /// many.
    pub(crate) fn new(source: &'s Source, before: usize, after: usize, size: usize) -> Self {
        let (offset, line) = (0, 0);
        Self { source, before, after, size, buffer: SPARE.take(), filled: 0, offset, zone: 0..0, line }
    }

    /// Reads the next window; `None` after the last one.
    ///
    /// # Errors
    /// As [`Source::read_at`].
    pub(crate) fn next(&mut self) -> Result<Option<Window<'_>>> {
        let end = self.offset + self.filled as u64;
        if self.zone.end == self.filled && end == self.source.len() {
            return Ok(None);
        }
        let dropped = self.zone.end.saturating_sub(self.before);
        if let Some(last) = memrchr(b'\n', &self.buffer[..dropped]) {
            self.line = self.offset + last as u64 + 1;
        }
        self.buffer.copy_within(dropped..self.filled, 0);
        (self.offset, self.filled) = (self.offset + dropped as u64, self.filled - dropped);
        let start = self.zone.end - dropped;
        let more = self.size.min(usize::try_from(self.source.len() - end).unwrap_or(self.size));
        let old = self.filled;
        self.filled += more;
        if self.buffer.len() < self.filled {
            self.buffer.resize(self.filled, 0);
        }
        self.source.read_at(&mut self.buffer[old..self.filled], end)?;
        let is_last = end + more as u64 == self.source.len();
        self.zone = start..if is_last { self.filled } else { self.filled.saturating_sub(self.after).max(start) };
        let bytes = &self.buffer[..self.filled];
        Ok(Some(Window { bytes, zone: self.zone.clone(), offset: self.offset, line: self.line, is_last }))
    }
}

impl<'w> Window<'w> {
    /// Returns the offset of the line at a place, and the line itself if all of it is in the window.
    pub(crate) fn line(&self, place: usize) -> (u64, Option<&'w [u8]>) {
        let start = memrchr(b'\n', &self.bytes[..place]).map(|end| end + 1);
        let start = start.or((self.line == self.offset).then_some(0));
        let end = memchr(b'\n', &self.bytes[place..]).map(|length| place + length);
        let end = end.or(self.is_last.then_some(self.bytes.len()));
        let offset = start.map_or(self.line, |start| self.offset + start as u64);
        (offset, start.zip(end).map(|(start, end)| &self.bytes[start..end]))
    }

    /// Returns the offset of a place in the source.
    pub(crate) fn offset(&self, place: usize) -> u64 {
        self.offset + place as u64
    }
}

/// Calls `each` for every line of a source, with its number from 1 on, until it returns false.
///
/// # Errors
/// As [`Source::read_at`].
pub(crate) fn each(source: &Source, mut each: impl FnMut(u32, Line<'_>) -> bool) -> Result<()> {
    let long = Mutex::new(());
    let mut lines = Lines::new(source, &long);
    let (mut number, mut goes_on) = (0_u32, true);
    let mut at = 0;
    while at < source.len() && goes_on {
        let end = source.len().min(at + BLOCK as u64);
        lines.in_block(at..end, |line| {
            number = number.saturating_add(1);
            goes_on = each(number, line);
            goes_on
        })?;
        at = end;
    }
    Ok(())
}

/// Returns whether a line is blank.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\r' | b'\t'))
}

/// Returns the offsets at which a whole object may start on a line whose front is damaged: each `{"`, the
/// leftmost first, but only a few, so that a hostile line does not cost quadratic time.
pub(crate) fn record_starts(line: &[u8]) -> impl Iterator<Item = usize> {
    memchr_iter(b'{', line).filter(|&at| at > 0 && line.get(at + 1) == Some(&b'"')).take(16)
}

/// Returns whether a line is cut where a value has to come: omp then takes the next line for it, and the
/// entry there is lost.
pub(crate) fn wants_value(line: &[u8]) -> bool {
    let mut open = Vec::new();
    let (mut is_text, mut is_escaped, mut last) = (false, false, 0);
    for &byte in line.trim_ascii_end() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
        last = byte;
    }
    !is_text && (matches!(last, b':' | b'[') || last == b',' && open.last() == Some(&b'['))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::{Lines, Source, Windows};

    /// Cuts `text` in blocks of `block` bytes and returns the lines with their offsets.
    fn cut(text: &str, block: u64) -> Vec<(u64, String, bool)> {
        let source = Source::spool(text.as_bytes()).unwrap();
        let long = Mutex::new(());
        let mut lines = Lines::new(&source, &long);
        let mut out = Vec::new();
        let mut start = 0;
        while start < source.len() {
            let end = source.len().min(start + block);
            lines
                .in_block(start..end, |line| {
                    out.push((line.offset, String::from_utf8_lossy(line.bytes).into_owned(), line.terminated));
                    true
                })
                .unwrap();
            start = end;
        }
        out
    }

    #[test]
    fn lines_do_not_depend_on_the_size_of_blocks() {
        for text in ["", "\n", "a", "a\n", "a\n\nbc\n", "abc\ndefghij\n\n\nk", "\n\n\n", "a\r\nb\u{2028}c\n"] {
            let mut offset = 0;
            let mut expected = Vec::new();
            for line in text.split_inclusive('\n') {
                expected.push((offset, line.trim_end_matches('\n').to_owned(), line.ends_with('\n')));
                offset += line.len() as u64;
            }
            for block in 1..=16 {
                assert_eq!(cut(text, block), expected, "{text:?} in blocks of {block}");
            }
        }
    }

    #[test]
    fn windows_have_all_bytes_once_with_those_around_them() {
        let text = "a\n\nbcdefghijklmnop\nq\nrs";
        let source = Source::spool(text.as_bytes()).unwrap();
        for (before, after, size) in [(0, 0, 1), (1, 2, 1), (3, 5, 2), (2, 9, 7), (4, 4, 99)] {
            let (mut windows, mut zones) = (Windows::new(&source, before, after, size), String::new());
            while let Some(window) = windows.next().unwrap() {
                let at = zones.len();
                zones += std::str::from_utf8(&window.bytes[window.zone.clone()]).unwrap();
                assert_eq!(window.offset(window.zone.start), at as u64);
                assert!(window.zone.start >= before.min(at), "{size}");
                let left = window.bytes.len() - window.zone.end;
                assert!(window.zone.is_empty() || left >= after.min(text.len() - zones.len()), "{size}");
                for place in window.zone.clone().filter(|&place| window.bytes[place] != b'\n') {
                    let at = usize::try_from(window.offset(place)).unwrap();
                    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
                    let line = text[start..].split('\n').next().unwrap();
                    let (offset, found) = window.line(place);
                    assert_eq!(offset, start as u64, "{size}");
                    assert!(found.is_none_or(|found| found == line.as_bytes()), "{size}");
                    assert!(found.is_some() || size < 99);
                }
            }
            assert_eq!(zones, text);
        }
        let empty = Source::spool(&b""[..]).unwrap();
        assert!(Windows::new(&empty, 1, 1, 9).next().unwrap().is_none());
    }

    #[test]
    fn long_lines_are_read_whole() {
        let long = "x".repeat(9 * 1024 * 1024);
        let text = format!("a\n{long}\nb\n{long}");
        let lines = cut(&text, 1024 * 1024);
        let lengths: Vec<_> = lines.iter().map(|line| line.1.len()).collect();
        assert_eq!(lengths, [1, long.len(), 1, long.len()]);
    }
}
