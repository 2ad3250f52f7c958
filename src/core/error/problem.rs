//! Bad input that a reader can live with: what is wrong in a file, and on which line. What stops an
//! operation is an [`Error`](crate::core::error::Error) instead.

use std::collections::BTreeMap;

use crate::core::words::listed;

/// How many problems of one kind are kept; further ones are only counted, so that a file of nothing
/// but bad lines fills neither memory nor the screen.
const KEPT: usize = 20;

listed! {
    /// The kinds of warnings: first those of files, then those of commands.
    WarningKind,
    /// Returns the stable name, as JSON warnings carry it.
    name: &'static str {
        /// not one JSON object; skipped
        MalformedLine = "malformed-line",
        /// an unfinished last line, of a crash or of a writer still at work; skipped
        UnfinishedLine = "unfinished-line",
        /// a line without id, of another program; not an entry
        ForeignLine = "foreign-line",
        /// changes of entries and of the header that a fork of omp stored as lines; not applied
        PatchLine = "patch-line",
        /// ignored
        SecondHeader = "second-header",
        /// the header's version is not a version; read as far as possible
        OddVersion = "odd-version",
        /// the header's version is newer than 3; read as far as possible
        NewerVersion = "newer-version",
        /// the last line with the id counts
        DuplicateId = "duplicate-id",
        /// the parent is not in the file; shown as a root, or at the leaf where the file stores that
        Orphan = "orphan",
        /// entries that are each other's ancestors; cut above the first of them
        Cycle = "cycle",
        /// a mark moves the leaf to an entry that is not before it in the file; ignored
        MarkWithoutTarget = "mark-without-target",
        /// a message without a known role; adds nothing to the context
        MalformedMessage = "malformed-message",
        /// a compaction whose first kept entry is not on its path; nothing before it is in the context
        KeptRangeUnknown = "kept-range-unknown",
        /// the path starts at an orphan: earlier entries are cut off
        Unreachable = "unreachable",
        /// a request without a model: the session names none
        NoModel = "no-model",
        /// the file was of an old version and was migrated in the same step
        Migrated = "migrated",
        /// a file in a folder of sessions is not a session
        NotASession = "not-a-session",
        /// files of other formats in a folder of sessions: not looked at
        ForeignFormat = "foreign-format",
        /// a file in a folder of sessions cannot be read: it is listed with its problem
        Unreadable = "unreadable",
        /// some files or folders could not be searched for sessions: permission denied
        PassedOver = "passed-over",
        /// a label with `--leaf` moves the leaf to another branch
        LeafMoved = "leaf-moved",
        /// the leaf is already there; the other options of the move did nothing; or a label with `--leaf` was there,
        /// so that the leaf stays
        Noop = "noop",
        /// another entry has the label that was set, so that it names none of them
        SharedLabel = "shared-label",
        /// the new session ends between a tool call and its result
        UnansweredCall = "unanswered-call",
        /// what is left behind has no text: moved without a summary
        NothingToSummarize = "nothing-to-summarize",
        /// the change is made, but the system could not sync the folder: after a power failure the old state may be back
        FolderNotSynced = "folder-not-synced",
        /// a new form, a copy or a fork of a file could not get its group or access list: their rights are dropped
        RightsDropped = "rights-dropped",
        /// another program, without a lock, wrote to the file in the moment in which it was replaced
        LateBytes = "late-bytes",
        /// the file has other names (hard links), which keep its old content
        HardLink = "hard-link",
        /// the baseline is left as it was, since a file could not be read: its known findings would be lost
        BaselineNotUpdated = "baseline-not-updated",
        /// the baseline lists findings that are no more
        BaselineStale = "baseline-stale",
        /// a hook failed after the change was made; the change stays
        HookFailed = "hook-failed",
    }
}

/// Returns how many problems of a kind are kept.
fn most(kind: WarningKind) -> usize {
    // Of a file of a program that writes such lines this is said once.
    if kind == WarningKind::PatchLine { 1 } else { KEPT }
}

/// One thing that is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub kind: WarningKind,
    /// 1-based line, if it is about one.
    pub line: Option<u32>,
    /// What is wrong and how it was read, in words.
    pub message: String,
}

/// The problems of a file: the first of every kind, and how many more there are.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    kept: Vec<Problem>,
    counts: BTreeMap<WarningKind, usize>,
}

impl Problems {
    /// Adds a problem; its message is made only if it is kept.
    pub fn push(&mut self, kind: WarningKind, line: Option<u32>, message: impl FnOnce() -> String) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count <= most(kind) {
            self.kept.push(Problem { kind, line, message: message() });
        }
    }

    /// Appends the problems of the next part of the file, after `lines_before` lines.
    pub(crate) fn append(&mut self, later: Self, lines_before: u32) {
        let mut room: BTreeMap<WarningKind, usize> = BTreeMap::new();
        for (&kind, &more) in &later.counts {
            let count = self.counts.entry(kind).or_default();
            room.insert(kind, most(kind).saturating_sub(*count));
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

    /// Returns how many problems of a kind there are.
    pub fn count(&self, kind: WarningKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// Returns the problems in the order of their lines, and at the end one for each kind of which more
    /// were found than are kept.
    pub fn list(&self) -> Vec<Problem> {
        let mut list = self.kept.clone();
        list.sort_by_key(|problem| (problem.line.unwrap_or(u32::MAX), problem.kind));
        for (&kind, &count) in &self.counts {
            if count > KEPT && most(kind) == KEPT {
                let message = format!("{} more of the kind {} are not listed", count - KEPT, kind.name());
                list.push(Problem { kind, line: None, message });
            }
        }
        list
    }

    /// Returns whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{Problems, WarningKind};

    #[test]
    fn first_problems_of_a_kind_are_kept_and_the_rest_counted() {
        let mut first = Problems::default();
        let mut later = Problems::default();
        for line in 0..15 {
            first.push(WarningKind::MalformedLine, Some(line + 1), || format!("first {line}"));
            later.push(WarningKind::MalformedLine, Some(line + 1), || format!("later {line}"));
        }
        later.push(WarningKind::Orphan, Some(3), || "orphan".to_owned());
        first.append(later, 100);
        let list = first.list();
        assert_eq!(first.count(WarningKind::MalformedLine), 30);
        assert_eq!(list.len(), 22);
        assert_eq!(list[15].line, Some(101));
        assert_eq!(list[18].message, "orphan");
        assert_eq!(list[21].message, "10 more of the kind malformed-line are not listed");
    }

    #[test]
    fn lines_that_change_others_are_said_once() {
        let mut problems = Problems::default();
        for part in 0..3 {
            let mut more = Problems::default();
            (1..30).for_each(|line| more.push(WarningKind::PatchLine, Some(line), || format!("{part} {line}")));
            problems.append(more, part * 100);
        }
        let list: Vec<_> = problems.list().into_iter().map(|problem| problem.message).collect();
        assert_eq!((list, problems.count(WarningKind::PatchLine)), (vec!["0 1".to_owned()], 87));
    }
}
