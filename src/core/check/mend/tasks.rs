//! What is to be done to lines, collected by their numbers, and how it becomes a plan: one pass over the file
//! reads the lines concerned.

use std::collections::HashSet;

use super::plan::{LineChange, MendPlan, NewLine, OldLine};
use super::repair::{self, Repair};
use super::split;
use super::state::Fix;
use crate::core::check::codes::Code;
use crate::core::check::fixes::FixKind;
use crate::core::entry::Scan;
use crate::core::error::Result;
use crate::core::json::splice::TextEdits;
use crate::core::read::line;
use crate::core::read::pieces;
use crate::core::read::source::Source;

/// What is done to a line, and why.
#[derive(Clone, Debug)]
pub(super) struct LineTask {
    pub(super) code: Code,
    pub(super) kind: FixKind,
    pub(super) entry_id: Option<String>,
    pub(super) action: Action,
}

/// What is done to a line.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// The byte order mark goes.
    DropBom,
    /// The line gets its line end.
    AddLineEnd,
    /// Records on it get lines of their own; `objects` if all whole objects count.
    Split { objects: bool },
    /// It goes, and its bytes are damaged.
    Remove(&'static str),
    /// The same, if there is no whole record on it, as those of version 1 are (`is_list`).
    RemoveDamaged { what: &'static str, is_list: bool },
    /// It goes, and is there once more: which is what is said.
    RemoveCopy(String),
    /// Members of the entry are set to JSON text.
    Set(Vec<(&'static str, Vec<u8>)>, String),
    /// What agents cannot do without is set in the entry, its message, or a title slot.
    Message(Repair),
    /// Lines follow it, in their order.
    Append(Vec<NewLine>, String),
    /// It goes to another place, where another task puts it.
    Move(String),
}

/// What is done to the lines of a file: in one list, since a line seldom has more than one task and there may be a
/// million lines.
#[derive(Debug, Default)]
pub(super) struct Tasks(Vec<(LinePlace, LineTask)>);

/// A line, and which of its tasks it is.
type LinePlace = (u32, u32);

/// What became of a line.
struct Applied {
    lines: Vec<NewLine>,
    what: String,
    removed: u64,
}

impl Tasks {
    pub(super) fn push(&mut self, line: u32, task: LineTask) {
        let at = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.push(((line, at), task));
    }

    /// Returns the lines to which something is to be done.
    pub(super) fn lines(&self) -> HashSet<u32> {
        self.0.iter().map(|((line, _), _)| *line).collect()
    }

    /// Reads the lines, and makes the changes and what they mend.
    pub(super) fn plan(mut self, source: &Source) -> Result<(MendPlan, Vec<Fix>)> {
        let (mut changes, mut fixes) = (Vec::new(), Vec::new());
        if self.0.is_empty() {
            return Ok((MendPlan::default(), fixes));
        }
        let mut scan = Scan::default();
        self.0.sort_unstable_by_key(|(place, _)| *place);
        let mut all = self.0.into_iter().peekable();
        line::each(source, |number, line| {
            let tasks: Vec<_> = std::iter::from_fn(|| Some(all.next_if(|((at, _), _)| *at == number)?.1)).collect();
            if !tasks.is_empty() {
                let old =
                    OldLine { number, offset: line.offset, len: line.bytes.len() as u64, terminated: line.terminated };
                if let Some(new) = apply(&old, line.bytes, tasks, &mut scan, &mut fixes) {
                    changes.push(LineChange { old, new });
                }
            }
            all.peek().is_some()
        })?;
        Ok((MendPlan::new(changes), fixes))
    }
}

/// Returns the lines in the place of one, if it changes.
fn apply(
    old: &OldLine,
    bytes: &[u8],
    tasks: Vec<LineTask>,
    scan: &mut Scan,
    fixes: &mut Vec<Fix>,
) -> Option<Vec<NewLine>> {
    let mut edits = TextEdits::default();
    let mut lines = None;
    let mut appended = Vec::new();
    for LineTask { code, kind, entry_id, action } in tasks {
        let done = match action {
            Action::DropBom => {
                Some(Applied { lines: vec![without_bom(old)], what: "byte order mark removed".to_owned(), removed: 3 })
            }
            Action::AddLineEnd => {
                let line = NewLine { terminated: true, ..old.copy() };
                Some(Applied { lines: vec![line], what: "line end added".to_owned(), removed: 0 })
            }
            Action::Split { objects } => split::split(old, bytes, objects, scan).map(|split| Applied {
                lines: split.lines,
                what: split.what,
                removed: split.removed,
            }),
            Action::RemoveDamaged { is_list, .. } if pieces::holds_record(bytes, is_list, scan) => None,
            Action::Remove(what) | Action::RemoveDamaged { what, .. } => {
                Some(Applied { lines: vec![], what: format!("line removed: {what}"), removed: old.len })
            }
            Action::RemoveCopy(what) | Action::Move(what) => Some(Applied { lines: vec![], what, removed: 0 }),
            Action::Set(changes, what) => {
                repair::set(&mut edits, bytes, &changes);
                fixes.push(Fix { code, line: old.number, entry_id, kind, what, removed: 0 });
                continue;
            }
            Action::Message(what) => {
                if let Some(what) = repair::repair(&mut edits, bytes, what) {
                    fixes.push(Fix { code, line: old.number, entry_id, kind, what, removed: 0 });
                }
                continue;
            }
            Action::Append(more, what) => {
                appended.extend(more);
                // The step that moves a line away says so itself.
                if !what.is_empty() {
                    fixes.push(Fix { code, line: old.number, entry_id, kind, what, removed: 0 });
                }
                continue;
            }
        };
        // One task is enough for a line that is taken apart or goes; the others come in the next round.
        if let Some(Applied { lines: new, what, removed }) = done.filter(|_| lines.is_none()) {
            fixes.push(Fix { code, line: old.number, entry_id, kind, what, removed });
            lines = Some(new);
        }
    }
    if !edits.is_empty() && lines.is_none() {
        lines = Some(vec![old.edited(0, edits)]);
    }
    if !appended.is_empty() {
        let lines = lines.get_or_insert_with(|| vec![old.copy()]);
        if let Some(last) = lines.last_mut() {
            last.terminated = true;
        }
        lines.extend(appended);
    }
    lines
}

fn without_bom(old: &OldLine) -> NewLine {
    NewLine { terminated: old.terminated, ..old.part(3.min(old.len), old.len) }
}
