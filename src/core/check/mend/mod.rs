//! Mends what a check found (help checks, "Fixes"): plans which lines change and how, and never writes.
//!
//! A file is mended in rounds. Each takes the first step that has something to do, makes a new form of the file
//! in a temporary file, and checks that again, so that later fixes count with earlier ones: an orphan whose
//! parent is on a damaged line gets its parent by the line being mended. The rounds end when nothing is left to
//! be done, so that what is mended once is not changed by being mended again. The plans of all rounds together
//! are one plan for the file as it was.
//!
//! What a fix must not do: write a line anew that it does not have to change, throw away a whole record, change
//! the number of well-formed lines of version 1, or bring a file to another version.

mod damage;
pub mod diff;
pub mod file;
mod header;
mod leaf;
mod links;
mod members;
pub(crate) mod plan;
mod repair;
mod split;
pub(crate) mod state;
mod tasks;

use self::plan::MendPlan;
use self::state::FileView;
pub use self::state::{Fix, MendOptions, Mended};
use self::tasks::Tasks;
use super::Checked;
use crate::core::entry::header::CURRENT;
use crate::core::error::Result;
use crate::core::read::source::Source;

/// The most rounds. Each step is mostly done in one; a second turn is for what only shows after the first.
const ROUNDS: usize = 24;

/// Plans the fixes of a file. Returns the check of its new form, too.
///
/// # Errors
/// [`Error`](crate::core::error::Error) if the file cannot be read, or the temporary folder is full.
pub fn mend(source: &Source, options: &MendOptions<'_>) -> Result<(Mended, Checked)> {
    let (mut plan, mut fixes) = (MendPlan::default(), Vec::new());
    let mut current = source.again()?;
    let mut after = super::check(current.again()?, options.blobs, options.jobs)?;
    for _ in 0..ROUNDS {
        options.wait.check()?;
        let (step, made) = round(&current, &after, options)?;
        if step.is_empty() {
            break;
        }
        let origins = plan.origins();
        fixes.extend(made.into_iter().map(|fix| Fix { line: origins.of(fix.line), ..fix }));
        current = Source::made(|out| step.write(&current, out))?;
        plan = plan.then(step);
        after = super::check(current.again()?, options.blobs, options.jobs)?;
    }
    fixes.sort_by_key(|fix| (fix.line, fix.code));
    Ok((Mended { plan, fixes }, after))
}

/// Plans the first step that has something to do.
fn round(source: &Source, checked: &Checked, options: &MendOptions<'_>) -> Result<(MendPlan, Vec<Fix>)> {
    let Some(session) = &checked.session else {
        return header::find(source, checked, options);
    };
    let view = FileView { source, checked, session, notes: &checked.notes, options };
    // What is not known is not changed.
    if session.version > CURRENT {
        return Ok((MendPlan::default(), Vec::new()));
    }
    let steps: [fn(&FileView<'_>, &mut Tasks) -> Result<()>; 6] = [
        damage::repair,
        links::duplicate_lines,
        links::duplicate_ids,
        links::parents_and_members,
        damage::remove,
        leaf::save,
    ];
    for step in steps {
        let mut tasks = Tasks::default();
        step(&view, &mut tasks)?;
        let (plan, fixes) = tasks.plan(source)?;
        if !plan.is_empty() {
            return Ok((plan, fixes));
        }
    }
    Ok((MendPlan::default(), Vec::new()))
}
