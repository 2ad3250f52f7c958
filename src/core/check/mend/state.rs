//! What is mended and how, and what became of it: what the steps of mending share.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;

use super::plan::{MendPlan, Origins};
use crate::core::check::codes::Code;
use crate::core::check::fixes::FixKind;
use crate::core::check::{Checked, RawFinding};
use crate::core::disk::lock::LockWait;
use crate::core::error::Result;
use crate::core::read::inspect::LineNotes;
use crate::core::read::source::Source;
use crate::core::session::{NodeId, Session};

/// A change that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The kind of problem.
    pub code: Code,
    /// The 1-based line of the file as it was.
    pub line: u32,
    /// The entry that it is about.
    pub entry_id: Option<String>,
    /// How sure it is.
    pub kind: FixKind,
    /// What is changed.
    pub what: String,
    /// How many bytes of damaged lines are no longer in the file.
    pub removed: u64,
}

/// How files are mended.
pub struct MendOptions<'m> {
    /// Whether guesses are made too.
    pub guesses: bool,
    /// The time that new entries get, in the spelling of agents.
    pub now: &'m str,
    /// The name of the file, which mostly has the session's id.
    pub name: Option<&'m OsStr>,
    /// The folder of the images that a session refers to by name.
    pub blobs: Option<&'m Path>,
    /// How many threads may read.
    pub jobs: usize,
    /// Returns the signal that asked to stop.
    pub wait: LockWait<'m>,
    /// Returns whether a finding is reported: what is not, is not mended.
    pub wanted: &'m dyn Fn(&Checked, &RawFinding) -> bool,
}

/// The fixes of a file.
#[derive(Debug)]
pub struct Mended {
    /// The changes.
    pub(crate) plan: MendPlan,
    /// What they mend, in the order of lines.
    pub fixes: Vec<Fix>,
}

impl Mended {
    /// Returns whether there is nothing to be changed.
    pub fn is_empty(&self) -> bool {
        self.plan.is_empty()
    }

    /// Writes the new form of the file.
    ///
    /// # Errors
    /// What reading the file or `out` says.
    pub fn write(&self, source: &Source, out: &mut dyn Write) -> Result<()> {
        self.plan.write(source, out)
    }

    /// Returns how many bytes of damaged lines are no longer in the file.
    pub fn removed(&self) -> u64 {
        self.fixes.iter().map(|fix| fix.removed).sum()
    }
}

/// A checked form of a file, as the steps see it.
pub(super) struct FileView<'v> {
    pub(super) source: &'v Source,
    pub(super) checked: &'v Checked,
    pub(super) session: &'v Session,
    pub(super) notes: &'v LineNotes,
    pub(super) options: &'v MendOptions<'v>,
    /// The lines of the file as it was, by those of this form.
    pub(super) origins: &'v Origins,
}

impl<'v> FileView<'v> {
    /// Returns the line of an entry in the file as it was: where fixes were made before, people know no other one.
    pub(super) fn old_line(&self, node: NodeId) -> u32 {
        self.origins.of(self.session.line(node))
    }

    /// Iterates over the findings that are reported and of one of these codes.
    pub(super) fn found(&self, codes: &'static [Code]) -> impl Iterator<Item = &'v RawFinding> + use<'v> {
        let (checked, wanted) = (self.checked, self.options.wanted);
        let found = checked.found.iter().filter(move |finding| codes.contains(&finding.code));
        found.filter(move |finding| wanted(checked, finding))
    }

    /// Returns whether the lines of the file are counted, so that none may be added or removed.
    pub(super) fn counts_lines(&self) -> bool {
        self.session.version == 1
    }
}
