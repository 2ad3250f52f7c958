//! Bad input that can be lived with: what is odd in a file, and on which line.

use std::collections::BTreeMap;

/// How many problems of one kind are kept whole; further ones are only counted, so that a file of
/// nothing but bad lines costs neither memory nor a screen.
const KEPT: usize = 20;

/// The kinds of problems. The names are part of the JSON interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// A line that is not one complete JSON object.
    MalformedLine,
    /// An unfinished last line: a crash, or a writer still at work.
    TornLine,
    /// A line without an id, of another program.
    ForeignLine,
    /// A second session header.
    SecondHeader,
    /// A version that is no version.
    OddVersion,
    /// A version that this program does not know yet.
    NewerVersion,
    /// An id that stands on more than one line.
    DuplicateId,
    /// An entry whose parent is not in the file.
    Orphan,
    /// Entries that are each other's ancestors.
    Cycle,
    /// A message that no agent could read.
    MalformedMessage,
    /// A compaction that does not say what it kept.
    KeptRangeUnknown,
    /// Not a fault of the file: the path asked for leaves something out.
    Unreachable,
}

impl ProblemKind {
    /// Gives the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::MalformedLine => "malformed-line",
            Self::TornLine => "torn-line",
            Self::ForeignLine => "foreign-line",
            Self::SecondHeader => "second-header",
            Self::OddVersion => "odd-version",
            Self::NewerVersion => "newer-version",
            Self::DuplicateId => "duplicate-id",
            Self::Orphan => "orphan",
            Self::Cycle => "cycle",
            Self::MalformedMessage => "malformed-message",
            Self::KeptRangeUnknown => "kept-range-unknown",
            Self::Unreachable => "unreachable",
        }
    }
}

/// One odd thing in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of thing.
    pub kind: ProblemKind,
    /// 1-based line, if it is about one.
    pub line: Option<u32>,
    /// What is odd and what was made of it, in words.
    pub message: String,
}

/// The problems of a file: the first of every kind, and how many more there are.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    kept: Vec<Problem>,
    counts: BTreeMap<ProblemKind, usize>,
}

impl Problems {
    /// Adds a problem; its words are only made if they are kept.
    pub fn push(&mut self, kind: ProblemKind, line: Option<u32>, message: impl FnOnce() -> String) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count <= KEPT {
            self.kept.push(Problem { kind, line, message: message() });
        }
    }

    /// Takes over what was found in a later part of the file, whose lines are counted from 0.
    pub(crate) fn append(&mut self, later: Self, lines_before: u32) {
        let mut room: BTreeMap<ProblemKind, usize> = BTreeMap::new();
        for (&kind, &more) in &later.counts {
            let count = self.counts.entry(kind).or_default();
            room.insert(kind, KEPT.saturating_sub(*count));
            *count += more;
        }
        for mut problem in later.kept {
            let left = room.entry(problem.kind).or_default();
            if *left > 0 {
                *left -= 1;
                problem.line = problem.line.map(|line| line.saturating_add(lines_before));
                self.kept.push(problem);
            }
        }
    }

    /// Tells how many problems of a kind there are.
    pub fn count(&self, kind: ProblemKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// Gives the problems in order of their lines, each kind that has more than are kept followed
    /// by one that says how many.
    pub fn list(&self) -> Vec<Problem> {
        let mut list = self.kept.clone();
        list.sort_by_key(|problem| (problem.line.unwrap_or(u32::MAX), problem.kind));
        for (&kind, &count) in &self.counts {
            if count > KEPT {
                let message = format!("{} more of the kind {} are not listed", count - KEPT, kind.name());
                list.push(Problem { kind, line: None, message });
            }
        }
        list
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{ProblemKind, Problems};

    #[test]
    fn keeps_the_first_and_counts_the_rest() {
        let mut first = Problems::default();
        let mut later = Problems::default();
        for line in 0..15 {
            first.push(ProblemKind::MalformedLine, Some(line + 1), || format!("first {line}"));
            later.push(ProblemKind::MalformedLine, Some(line + 1), || format!("later {line}"));
        }
        later.push(ProblemKind::Orphan, Some(3), || "orphan".to_owned());
        first.append(later, 100);
        let list = first.list();
        assert_eq!(first.count(ProblemKind::MalformedLine), 30);
        assert_eq!(list.len(), 22);
        assert_eq!(list[15].line, Some(101));
        assert_eq!(list[18].message, "orphan");
        assert_eq!(list[21].message, "10 more of the kind malformed-line are not listed");
    }
}
