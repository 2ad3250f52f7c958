//! Fixes of the place where agents resume: a saved move after the last line, as `navigate --save` writes it.

use super::links;
use super::plan::NewLine;
use super::state::FileView;
use super::tasks::{Action, LineTask, Tasks};
use crate::core::check::RawFinding;
use crate::core::check::codes::Code;
use crate::core::check::finding::Detail;
use crate::core::check::fixes::FixKind;
use crate::core::edit::draft::{Draft, IdsAndTime};
use crate::core::edit::navigate;
use crate::core::entry::Scan;
use crate::core::error::Result;
use crate::core::read::inspect::Oddity;
use crate::core::read::{line, pieces};
use crate::core::session::NodeId;

/// Saves a move if the last line is not where agents should resume.
pub(super) fn save(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    // There every line is an entry, and they are counted.
    if view.counts_lines() {
        return Ok(());
    }
    const CODES: &[Code] = &[Code::ForeignLeaf, Code::SecondHeader, Code::LeafOnOlderBranch, Code::LeafNotLast];
    // omp 18 takes a header after the last entry for the leaf.
    let last_entry = view.session.nodes().next_back().map_or(u32::MAX, |last| view.session.line(last));
    let guesses = view.options.guesses;
    // Which branch is meant is a guess.
    let counts = |finding: &&RawFinding| match finding.code {
        Code::SecondHeader => finding.line > last_entry,
        Code::ForeignLeaf => true,
        _ => guesses,
    };
    let Some(finding) = view.found(CODES).find(counts) else { return Ok(()) };
    let (mut last, mut holds_record) = (0, false);
    line::each(view.source, |number, line| {
        last = number;
        holds_record |= number == finding.line && pieces::holds_record(line.bytes, false, &mut Scan::default());
        true
    })?;
    let (kind, target) = match (finding.code, finding.detail) {
        (Code::ForeignLeaf, Detail::Odd(Oddity::NotAnObject { .. })) if guesses && !holds_record => {
            let action = Action::Remove("not an object, and agents would resume there");
            tasks.push(finding.line, LineTask { code: finding.code, kind: FixKind::Guess, entry_id: None, action });
            return Ok(());
        }
        (Code::ForeignLeaf | Code::SecondHeader, _) => (FixKind::Safe, view.session.leaf()),
        (_, Detail::Node(newest)) => (FixKind::Guess, Some(newest)),
        _ => return Ok(()),
    };
    let (line, what) = saved_move(view, target);
    let entry_id = finding.node.map(|node| view.session.id(node).to_owned());
    let action = Action::Append(vec![NewLine::written(line)], what);
    tasks.push(last, LineTask { code: finding.code, kind, entry_id, action });
    Ok(())
}

/// Returns the line of a move to an entry, and what it does.
fn saved_move(view: &FileView<'_>, target: Option<NodeId>) -> (Vec<u8>, String) {
    let session = view.session;
    let id = target.map(|target| session.id(target));
    let mut fresh = || links::fresh_id(session);
    let now = || view.options.now.to_owned();
    let mut ids = IdsAndTime { now: &now, fresh: &mut fresh };
    let is_taken = |_: &str| false;
    // A mark hangs at the leaf, as its writer has it.
    let marks = session.stores_leaf();
    let leaf = if marks { session.leaf().map(|leaf| session.id(leaf)) } else { id };
    let mut draft = Draft::new(&mut ids, leaf.map(str::to_owned), &is_taken);
    if marks {
        navigate::append_mark(&mut draft, id);
    } else {
        navigate::append_saved(&mut draft);
    }
    let mut line = draft.lines;
    line.pop_if(|byte| *byte == b'\n');
    let what = match target {
        Some(target) => format!("a move to \"{}\", line {}, saved after it", session.id(target), view.old_line(target)),
        None => "a move to before the first entry saved after it".to_owned(),
    };
    (line, what)
}
