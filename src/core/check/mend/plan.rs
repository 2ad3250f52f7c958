//! What a mended file consists of: the lines of the old one, copied by their spans, and for each line that
//! changes what stands in its place. Bytes are held only where they are new, so that a plan is small however
//! long the lines are.

use std::io::Write;

use crate::core::error::{Error, Result};
use crate::core::json::splice::TextEdits;
use crate::core::read::source::Source;

/// A piece of a new line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Bytes of the old file.
    Copied { offset: u64, len: u64 },
    /// Bytes that were not there.
    Written(Vec<u8>),
}

impl Segment {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Copied { len, .. } => *len,
            Self::Written(bytes) => bytes.len() as u64,
        }
    }
}

/// A line that stands in the place of an old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewLine {
    pub(crate) segments: Vec<Segment>,
    /// Whether a LF ends it; only the last line of a file may have none.
    pub(crate) terminated: bool,
}

/// An old line, and the lines that stand in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineChange {
    pub(crate) old: OldLine,
    pub(crate) new: Vec<NewLine>,
}

/// A line of the old file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OldLine {
    /// 1-based.
    pub(crate) number: u32,
    pub(crate) offset: u64,
    /// Its bytes, without the LF.
    pub(crate) len: u64,
    pub(crate) terminated: bool,
}

/// The changes of a file, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MendPlan(Vec<LineChange>);

impl NewLine {
    /// Makes a line of bytes.
    pub(crate) fn written(bytes: Vec<u8>) -> Self {
        Self { segments: vec![Segment::Written(bytes)], terminated: true }
    }

    fn size(&self) -> u64 {
        self.segments.iter().map(Segment::len).sum::<u64>() + u64::from(self.terminated)
    }

    /// Returns whether it is an old line as it is, LF included.
    pub(crate) fn is_copy_of(&self, old: &OldLine) -> bool {
        let whole = Segment::Copied { offset: old.offset, len: old.len };
        self.terminated == old.terminated && (self.segments == [whole] || self.segments.is_empty() && old.len == 0)
    }
}

impl OldLine {
    /// Returns the line as it is.
    pub(crate) fn copy(&self) -> NewLine {
        self.part(0, self.len)
    }

    /// Returns a part of the line, from one offset in it to another, as a line of its own.
    pub(crate) fn part(&self, from: u64, to: u64) -> NewLine {
        let segments = vec![Segment::Copied { offset: self.offset + from, len: to - from }];
        NewLine { segments, terminated: true }
    }

    /// Returns the line with changes of the part of it that starts at `from`.
    pub(crate) fn edited(&self, from: u64, edits: TextEdits) -> NewLine {
        let mut segments = Vec::new();
        let mut at = 0;
        let mut copy = |segments: &mut Vec<Segment>, to: u64, next: u64| {
            if to > at {
                segments.push(Segment::Copied { offset: self.offset + at, len: to - at });
            }
            at = at.max(next);
        };
        for (span, with) in edits.sorted() {
            copy(&mut segments, from + u64::from(span.start), from + u64::from(span.end));
            if !with.is_empty() {
                segments.push(Segment::Written(with));
            }
        }
        copy(&mut segments, self.len, self.len);
        NewLine { segments, terminated: self.terminated }
    }

    fn end(&self) -> u64 {
        self.offset + self.len + u64::from(self.terminated)
    }
}

impl MendPlan {
    /// Makes a plan of changes of different lines, in any order.
    pub(crate) fn new(mut changes: Vec<LineChange>) -> Self {
        changes.sort_by_key(|change| change.old.number);
        Self(changes)
    }

    /// Returns whether nothing is to be changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the changes, in the order of the file.
    pub(crate) fn changes(&self) -> &[LineChange] {
        &self.0
    }

    /// Writes the new form of the file that the plan was made of.
    ///
    /// # Errors
    /// As [`Source::copy_part`].
    pub(crate) fn write(&self, source: &Source, out: &mut dyn Write) -> Result<()> {
        let mut at = 0;
        for change in &self.0 {
            source.copy_part(at, change.old.offset, out)?;
            for line in &change.new {
                Self::write_line(source, line, out)?;
            }
            at = change.old.end();
        }
        source.copy_part(at, source.len(), out)
    }

    fn write_line(source: &Source, line: &NewLine, out: &mut dyn Write) -> Result<()> {
        let cannot = |cause| Error::writing("cannot write", cause);
        for segment in &line.segments {
            match segment {
                Segment::Copied { offset, len } => source.copy_part(*offset, offset + len, out)?,
                Segment::Written(bytes) => out.write_all(bytes).map_err(cannot)?,
            }
        }
        if line.terminated { out.write_all(b"\n").map_err(cannot) } else { Ok(()) }
    }

    /// Returns how the file that this plan is for becomes what `later` makes of its new form.
    pub(crate) fn then(self, later: Self) -> Self {
        if self.is_empty() {
            return later;
        }
        let earlier = Earlier::new(self);
        let mut changed = vec![Vec::new(); earlier.changes.len()];
        let mut changes = Vec::new();
        for change in later.0 {
            let new = change.new.into_iter().map(|line| earlier.line(line)).collect::<Vec<_>>();
            match earlier.line_at(change.old.offset) {
                Ok((place, line)) => changed[place].push((line, new)),
                Err((lines, bytes)) => {
                    let number = change.old.number.saturating_add_signed(lines);
                    let offset = change.old.offset.saturating_add_signed(bytes);
                    changes.push(LineChange { old: OldLine { number, offset, ..change.old }, new });
                }
            }
        }
        for (mut change, replaced) in earlier.changes.into_iter().zip(changed) {
            let mut replaced = replaced.into_iter().peekable();
            let mut new = Vec::new();
            for (at, line) in change.new.into_iter().enumerate() {
                match replaced.next_if(|(place, _)| *place == at) {
                    Some((_, lines)) => new.extend(lines),
                    None => new.push(line),
                }
            }
            change.new = new;
            changes.push(change);
        }
        changes.retain(|change| !matches!(&change.new[..], [line] if line.is_copy_of(&change.old)));
        Self::new(changes)
    }

    /// Returns from which old line each line of the new form comes.
    pub(crate) fn origins(&self) -> Origins {
        let mut shift = 0_i64;
        let mut changes = Vec::with_capacity(self.0.len());
        for change in &self.0 {
            let first = i64::from(change.old.number) + shift;
            let count = i64::try_from(change.new.len()).unwrap_or(i64::MAX);
            shift += count - 1;
            changes.push(LineOrigin { first, count, old: change.old.number, shift });
        }
        Origins(changes)
    }
}

/// The lines of a new form, and the old ones that they come from.
pub(crate) struct Origins(Vec<LineOrigin>);

/// Where the lines in the place of an old one are in the new form, and how many lines more that has from then on.
struct LineOrigin {
    first: i64,
    count: i64,
    old: u32,
    shift: i64,
}

impl Origins {
    /// Returns the old line that a line of the new form comes from.
    pub(crate) fn of(&self, new: u32) -> u32 {
        let line = i64::from(new);
        let after = self.0.partition_point(|change| change.first <= line);
        match after.checked_sub(1).map(|at| &self.0[at]) {
            Some(change) if line < change.first + change.count => change.old,
            Some(change) => u32::try_from(line - change.shift).unwrap_or(new),
            None => new,
        }
    }
}

/// A plan with the places of its changes in the new form.
struct Earlier {
    changes: Vec<LineChange>,
    /// By change: where its lines start in the new form.
    starts: Vec<u64>,
    /// By change: where each of its lines ends there; a line may have been taken apart into very many.
    ends: Vec<Vec<u64>>,
    /// By change: how many lines and bytes more the old file has up to the end of it.
    shifts: Vec<(i32, i64)>,
}

impl Earlier {
    fn new(plan: MendPlan) -> Self {
        let (mut starts, mut ends, mut shifts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut lines, mut bytes) = (0_i32, 0_i64);
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        for change in &plan.0 {
            let start = change.old.offset.saturating_add_signed(-bytes);
            let mut end = start;
            let line_ends = change.new.iter().map(|line| {
                end += line.size();
                end
            });
            ends.push(line_ends.collect());
            starts.push(start);
            lines += 1 - i32::try_from(change.new.len()).unwrap_or(i32::MAX);
            bytes += signed(change.old.end() - change.old.offset) - signed(end - start);
            shifts.push((lines, bytes));
        }
        Self { changes: plan.0, starts, ends, shifts }
    }

    /// Returns the change that a place in the new form is in, if it is in one; else how many lines and bytes
    /// more the old file has before it.
    fn place(&self, offset: u64) -> std::result::Result<usize, (i32, i64)> {
        // Of several changes at one place all but the last left nothing.
        let after = self.starts.partition_point(|start| *start <= offset);
        match after.checked_sub(1) {
            Some(place) if self.ends[place].last().is_some_and(|end| offset < *end) => Ok(place),
            Some(place) => Err(self.shifts[place]),
            None => Err((0, 0)),
        }
    }

    /// Returns the change whose line starts at a place in the new form, and its index there; as for
    /// [`Self::place`].
    fn line_at(&self, offset: u64) -> std::result::Result<(usize, usize), (i32, i64)> {
        let place = self.place(offset)?;
        Ok((place, self.index(place, offset)))
    }

    /// Returns which line of a change is at a place in the new form.
    fn index(&self, place: usize, offset: u64) -> usize {
        self.ends[place].partition_point(|end| *end <= offset)
    }

    /// Returns a line with its spans in the old file.
    fn line(&self, line: NewLine) -> NewLine {
        let mut segments: Vec<Segment> = Vec::new();
        let mut push = |segment: Segment| match (segments.last_mut(), &segment) {
            (Some(Segment::Copied { offset, len }), Segment::Copied { offset: next, len: more })
                if *offset + *len == *next =>
            {
                *len += more;
            }
            (Some(Segment::Written(bytes)), Segment::Written(more)) => bytes.extend_from_slice(more),
            _ => segments.push(segment),
        };
        for segment in line.segments {
            match segment {
                Segment::Copied { offset, len } => self.part(offset, len, &mut push),
                written => push(written),
            }
        }
        NewLine { segments, ..line }
    }

    /// Calls `push` with the pieces of a part of one line of the new form.
    fn part(&self, offset: u64, len: u64, push: &mut dyn FnMut(Segment)) {
        let place = match self.place(offset) {
            Ok(place) => place,
            Err((_, shift)) => return push(Segment::Copied { offset: offset.saturating_add_signed(shift), len }),
        };
        let first = self.index(place, offset);
        let mut at = first.checked_sub(1).map_or(self.starts[place], |before| self.ends[place][before]);
        let end = offset + len;
        for line in &self.changes[place].new[first..] {
            if at >= end {
                break;
            }
            for segment in &line.segments {
                let (from, to) = (at.max(offset), (at + segment.len()).min(end));
                if from < to {
                    let (skipped, taken) = (from - at, to - from);
                    push(match segment {
                        Segment::Copied { offset, .. } => Segment::Copied { offset: offset + skipped, len: taken },
                        Segment::Written(bytes) => {
                            let range = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
                            Segment::Written(bytes[range(skipped)..range(skipped + taken)].to_vec())
                        }
                    });
                }
                at += segment.len();
            }
            at += u64::from(line.terminated);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineChange, MendPlan, NewLine, OldLine, Segment, Source};
    use crate::random::Random;

    /// Returns the lines of a text.
    fn lines(text: &str) -> Vec<OldLine> {
        let mut offset = 0;
        let lines = text.split_inclusive('\n').zip(1..).map(|(line, number)| {
            let terminated = line.ends_with('\n');
            let len = (line.len() - usize::from(terminated)) as u64;
            let old = OldLine { number, offset, len, terminated };
            offset += line.len() as u64;
            old
        });
        lines.collect()
    }

    fn apply(plan: &MendPlan, text: &str) -> String {
        let mut out = Vec::new();
        plan.write(&Source::spool(text.as_bytes()).unwrap(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Makes a random plan: lines are removed, split, changed, doubled, moved, or get company.
    fn random(text: &str, next: &mut dyn FnMut(usize) -> usize) -> MendPlan {
        let all = lines(text);
        let mut changes = Vec::new();
        for old in &all {
            let half = old.len / 2;
            let changed = NewLine {
                segments: vec![
                    Segment::Copied { offset: old.offset, len: half },
                    Segment::Written(b"+".to_vec()),
                    Segment::Copied { offset: old.offset + half, len: old.len - half },
                ],
                terminated: true,
            };
            let other = all[next(all.len())].copy();
            let new = match next(9) {
                0 => vec![],
                1 => vec![old.part(0, half), old.part(half, old.len)],
                2 => vec![changed],
                3 => vec![other, old.copy()],
                4 => vec![NewLine::written(b"new".to_vec()), changed],
                _ => continue,
            };
            changes.push(LineChange { old: *old, new });
        }
        // Their order does not matter.
        changes.reverse();
        MendPlan::new(changes)
    }

    #[test]
    fn plans_after_each_other_are_one_plan() {
        let mut numbers = Random::new(1);
        let mut next = |bound: usize| numbers.below(bound);
        for _ in 0..2000 {
            let count = 1 + next(8);
            let mut text: String = (0..count).map(|at| format!("{at}{}\n", "x".repeat(next(5)))).collect();
            if next(3) == 0 {
                text.pop();
            }
            let (mut plan, mut expected) = (MendPlan::default(), text.clone());
            for _ in 0..3 {
                if expected.is_empty() {
                    break;
                }
                let later = random(&expected, &mut next);
                expected = apply(&later, &expected);
                plan = plan.then(later);
                assert_eq!(apply(&plan, &text), expected, "{text:?} {plan:?}");
            }
        }
    }

    #[test]
    fn a_line_of_many_records_takes_linear_time() {
        // In quadratic time this would take minutes.
        const COUNT: u32 = 100_000;
        let text = "ab".repeat(COUNT as usize) + "\n";
        let [whole] = lines(&text)[..] else { panic!("it is one line") };
        let parts = (0..u64::from(COUNT)).map(|at| whole.part(2 * at, 2 * at + 2)).collect();
        let split = MendPlan::new(vec![LineChange { old: whole, new: parts }]);
        // Each of the new lines changes once more.
        let change = |old: OldLine| {
            let text = vec![Segment::Written(b"+".to_vec()), old.part(1, 2).segments.remove(0)];
            LineChange { old, new: vec![NewLine { segments: text, terminated: true }] }
        };
        let later = lines(&apply(&split, &text)).into_iter().map(change);
        let plan = split.then(MendPlan::new(later.collect()));
        assert_eq!(apply(&plan, &text), "+b\n".repeat(COUNT as usize));
    }

    #[test]
    fn lines_of_the_new_form_are_traced_to_old_ones() {
        let all = lines("a\nb\nc\nd\ne\n");
        let plan = MendPlan::new(vec![
            LineChange { old: all[1], new: vec![] },
            LineChange { old: all[3], new: vec![all[3].copy(), NewLine::written(b"x".to_vec())] },
        ]);
        assert_eq!(apply(&plan, "a\nb\nc\nd\ne\n"), "a\nc\nd\nx\ne\n");
        assert_eq!([1, 2, 3, 4, 5].map(|line| plan.origins().of(line)), [1, 3, 4, 4, 5]);
    }
}
