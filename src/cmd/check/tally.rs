//! What all checked files come to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::super::{App, paths};
use crate::core::check::baseline::Baseline;
use crate::core::check::policy::{Counts, Found, Judged, Policy};
use crate::core::error::problem::WarningKind;
use crate::core::error::{Error, ErrorKind};
use crate::core::naming::files::PassedOver;
use crate::core::words::counted;
use crate::ui::report::Failure;

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
    /// The files that were not passed over.
    sessions: Vec<PathBuf>,
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
        match judged.passed_over {
            Some(format) => self.passed_over.add_as(path, format),
            None => self.sessions.push(path.to_owned()),
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

    /// Reports folders, or a list, in which there is no session, and counts them as not read.
    pub(super) fn tell_bare(&mut self, app: &App, given: &[PathBuf]) {
        let mut fail = |file: Option<PathBuf>, message: &str, hint: Option<&str>| {
            let failure = Failure::plain(ErrorKind::NotASession, message.to_owned(), hint.map(str::to_owned));
            app.report.failure(&Failure { file, ..failure });
            self.counts.unread += 1;
        };
        if given.is_empty() {
            fail(None, "the list names no file", None);
        }
        for path in given.iter().filter(|path| path.is_dir()) {
            if !self.sessions.iter().any(|file| file.starts_with(path)) {
                let hint = "sessions are files whose names end in `.jsonl`";
                fail(Some(path.clone()), "there is no session in this folder", Some(hint));
            }
        }
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
