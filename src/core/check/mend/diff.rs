//! The changes of a plan as hunks of a unified diff, with three lines around them.

use super::plan::{NewLine, OldLine, Segment};
use super::state::Mended;
use crate::core::error::{Error, Result};
use crate::core::read::line;
use crate::core::read::source::Source;

/// How many unchanged lines are shown around a change.
const AROUND: u32 = 3;

/// What a line of a diff says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stays.
    Same,
    /// It goes.
    Removed,
    /// It is new.
    Added,
}

/// A line of a diff.
#[derive(Clone, Debug)]
pub struct DiffLine {
    /// What it says.
    pub mark: Mark,
    pub(crate) line: NewLine,
}

/// A part of a diff: changes that are near each other.
#[derive(Debug, Default)]
pub struct Hunk {
    /// The first line and the number of lines, in the old file.
    pub old: (u32, u32),
    /// The same in the new one.
    pub new: (u32, u32),
    /// The lines.
    pub lines: Vec<DiffLine>,
}

impl DiffLine {
    /// Returns the bytes of the line, at most so many.
    ///
    /// # Errors
    /// As [`Source::read_at`].
    pub(crate) fn bytes(&self, source: &Source, most: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for segment in &self.line.segments {
            let room = most.saturating_sub(bytes.len());
            match segment {
                Segment::Copied { offset, len } => {
                    let from = bytes.len();
                    bytes.resize(from + usize::try_from(*len).unwrap_or(usize::MAX).min(room), 0);
                    source.read_at(&mut bytes[from..], *offset)?;
                }
                Segment::Written(text) => bytes.extend_from_slice(&text[..text.len().min(room)]),
            }
        }
        Ok(bytes)
    }

    /// Returns whether a LF ends it.
    pub(crate) fn is_terminated(&self) -> bool {
        self.line.terminated
    }
}

/// Calls `each` with the hunks of a mended file, in the order of the file.
///
/// # Errors
/// As `Source::read_at`, and what `each` says.
pub fn hunks<E: From<Error>>(
    mended: &Mended,
    source: &Source,
    each: &mut dyn FnMut(Hunk) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let changes = mended.plan.changes();
    let mut at = 0;
    let mut open: Option<Hunk> = None;
    // The lines before the next hunk, and how many lines more the new file has so far.
    let mut before: Vec<OldLine> = Vec::new();
    let (mut shift, mut last) = (0_i64, 0_u32);
    let mut failed = Ok(());
    line::each(source, |number, line| {
        let old = OldLine { number, offset: line.offset, len: line.bytes.len() as u64, terminated: line.terminated };
        if open.is_some() && number > last.saturating_add(AROUND) {
            // It is joined with the next one if that is near.
            let is_near = changes.get(at).is_some_and(|change| change.old.number <= number.saturating_add(AROUND - 1));
            if !is_near && let Some(hunk) = open.take() {
                failed = each(hunk);
            }
        }
        if let Some(change) = changes.get(at).filter(|change| change.old.number == number) {
            at += 1;
            let hunk = open.get_or_insert_with(|| {
                let count = u32::try_from(before.len()).unwrap_or(0);
                let first = number - count;
                let new = u32::try_from(i64::from(first) + shift).unwrap_or(first);
                let lines = before.iter().map(|old| DiffLine { mark: Mark::Same, line: exact(old) }).collect();
                Hunk { old: (first, count), new: (new, count), lines }
            });
            push(hunk, &old, &change.new);
            shift += i64::try_from(change.new.len()).unwrap_or(0) - 1;
            last = number;
            before.clear();
        } else if let Some(hunk) = &mut open {
            hunk.lines.push(DiffLine { mark: Mark::Same, line: exact(&old) });
            hunk.old.1 += 1;
            hunk.new.1 += 1;
            before.clear();
        } else {
            if before.len() == AROUND as usize {
                before.remove(0);
            }
            before.push(old);
        }
        failed.is_ok() && (at < changes.len() || open.is_some())
    })?;
    failed?;
    open.map_or(Ok(()), each)
}

fn exact(old: &OldLine) -> NewLine {
    NewLine { terminated: old.terminated, ..old.copy() }
}

/// Adds a change: a new line that is the old one stays.
fn push(hunk: &mut Hunk, old: &OldLine, new: &[NewLine]) {
    let kept = new.iter().position(|line| line.is_copy_of(old));
    let mut add = |mark, line: NewLine| {
        hunk.old.1 += u32::from(mark != Mark::Added);
        hunk.new.1 += u32::from(mark != Mark::Removed);
        hunk.lines.push(DiffLine { mark, line });
    };
    if kept.is_none() {
        add(Mark::Removed, exact(old));
    }
    for (at, line) in new.iter().enumerate() {
        let mark = if kept == Some(at) { Mark::Same } else { Mark::Added };
        add(mark, line.clone());
    }
}
