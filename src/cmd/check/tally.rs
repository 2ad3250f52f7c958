//! What all checked files come to.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::super::{App, paths};
use crate::core::check::baseline::Baseline;
use crate::core::check::policy::{Counts, Found, Judged, Policy};
use crate::core::error::Error;
use crate::core::error::problem::WarningKind;
use crate::core::naming::files::PassedOver;
use crate::core::words::counted;

/// What all files come to.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) counts: Counts,
    /// What goes into a new baseline, and what of the old one was found again.
    pub(super) known: Baseline,
    listed: Baseline,
    /// The names of the files in the baseline.
    names: BTreeSet<String>,
    passed_over: PassedOver,
    /// Whether a file was changed.
    pub(super) is_written: bool,
}

impl Tally {
    /// Adds what was found in a file. Returns what there is to print of it.
    pub(super) fn add(&mut self, path: &Path, judged: Judged) -> Found {
        self.counts.add(judged.counts);
        self.known.merge(judged.known);
        self.listed.merge(judged.listed);
        self.names.extend(judged.name);
        if let Some(format) = judged.passed_over {
            self.passed_over.add(path, format);
        }
        judged.found
    }

    /// Counts a file that could not be read, and says why.
    pub(super) fn count(&mut self, app: &App, path: &Path, printed: Result<()>) -> Result<()> {
        let Err(error) = printed else { return Ok(()) };
        let error = error.downcast::<Error>()?;
        if matches!(error, Error::Interrupted { .. }) {
            return Err(error.into());
        }
        app.report.failure(&paths::failure(&error, path));
        self.counts.unread += 1;
        Ok(())
    }

    /// Warns of files that were passed over, and of what a baseline lists in vain.
    pub(super) fn tell(&self, app: &App, policy: &Policy, baseline: Option<&Path>) {
        app.passed_over(&self.passed_over);
        let Some(path) = baseline else { return };
        let (count, words) = policy.stale(&self.listed, &self.names);
        if count > 0 {
            let lines = counted(count, "line lists a finding that is", "lines list findings that are");
            let more = if count > words.len() { ", …" } else { "" };
            let message = format!("{lines} no more: {}{more}; `--update-baseline` drops them", words.join(", "));
            app.report.warn(WarningKind::BaselineStale, &message, Some(path), None);
        }
    }
}
