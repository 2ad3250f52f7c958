//! `check`: what is wrong with session files, what it costs, and how to fix it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::args::{FormatArg, Formats};
use super::folders;
use super::paths::{self, Paths};
use super::world;
use super::{App, Task};
use crate::core::check;
use crate::core::check::Checked;
use crate::core::check::baseline::Baseline;
use crate::core::check::policy::{AHEAD, Counts, Found, Judged, Policy};
use crate::core::error::problem::WarningKind;
use crate::core::error::{Error, ErrorKind};
use crate::core::naming::files::{self, Named, PassedOver, Searched};
use crate::parallel::Pool;
use crate::ui::check::{FindingFormat, Findings};
use crate::ui::exit::Exit;
use crate::ui::report::{AboutFile, Failure};

mod why;

/// Report problems in session files, their effects and fixes
///
/// Errors are what an agent loses or misreads, warnings what is suspicious. Nothing is changed.
/// Exit code 1 if there is an error or a denied warning, 2 if a file cannot be read. Reads each
/// file once, and prints nothing for a single file in which nothing is found.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree check session.jsonl
  session-tree check ~/.pi/agent/sessions --deny W002  exit 1 if one is old
  session-tree check sessions --deny warnings --allow terminal-escape
  session-tree check sessions --format github          for GitHub Actions
  session-tree check sessions --baseline known.txt --update-baseline
  session-tree check sessions --baseline known.txt     only what is new
  session-tree check --why-leaf latest                 where agents resume")]
pub struct CheckArgs {
    #[command(flatten)]
    paths: Paths,
    /// Fail on this warning, by code or name; `warnings` for all of them
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    deny: Vec<String>,
    /// Do not report this code
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
    /// Do not report what this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all that is found to the baseline file, and report only what cannot be read
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Say which entry agents resume at and why, and list the tips of all branches
    #[arg(long, conflicts_with_all = ["deny", "allow", "baseline", "update_baseline"])]
    why_leaf: bool,
    #[command(flatten)]
    format: FormatArg<FindingFormat>,
}

impl Formats for FindingFormat {
    const JSON: &[Self] = &[Self::Json, Self::Jsonl, Self::Sarif];
}

impl Task for CheckArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(self: Box<Self>, app: &App) -> Result<ExitCode> {
        if self.why_leaf {
            return why::run(app, &self.paths, self.format.get());
        }
        let policy = self.policy()?;
        let given = self.paths.given()?;
        let files = files::find(given.clone(), Searched::Plain);
        let mut out = Findings::new(self.format.get(), app.screen.clone(), world::stop)?;
        let mut sessions = Vec::new();
        let (counts, known) = match self.all(app, &files, &policy, &mut out, &mut sessions) {
            Ok((counts, known)) => {
                let bare = Self::without_session(&given, &sessions);
                bare.iter().for_each(|bare| app.report.failure(bare));
                (Counts { unread: counts.unread + bare.len(), ..counts }, known)
            }
            Err(error) => {
                out.finish(None)?;
                return Err(error);
            }
        };
        match self.baseline.as_deref().filter(|_| self.update_baseline) {
            None => out.finish(Some(counts))?,
            Some(path) if counts.unread > 0 => {
                let message = "not updated: what it lists of files that cannot be read would be lost";
                app.report.warn(WarningKind::BaselineNotUpdated, message, Some(path), None);
                out.finish(None)?;
            }
            Some(path) => {
                world::prepare()?;
                let wait = world::wait(Duration::from_secs(10));
                super::warn_of(app, &known.save(path, wait).about(path)?, path);
                super::ended(out.finish(Some(counts)).map_err(Into::into), None, None)?;
            }
        }
        Ok(match counts {
            Counts { unread: 1.., .. } => Exit::CouldNot,
            Counts { errors: 1.., .. } | Counts { denied: 1.., .. } => Exit::SaysNo,
            _ => Exit::Done,
        }
        .into())
    }
}

impl CheckArgs {
    fn policy(&self) -> Result<Policy> {
        let policy = Policy::new(&self.deny, &self.allow, self.format.get().most())?;
        let Some(path) = &self.baseline else { return Ok(policy) };
        let policy = policy.with_baseline(path, self.update_baseline).map_err(|error| {
            let is_missing = error.kind() == ErrorKind::Io && !path.exists();
            let hint = if is_missing { Some("`--update-baseline` writes it".to_owned()) } else { error.hint() };
            Failure { hint, ..Failure::new(&error, path) }
        });
        Ok(policy?)
    }

    /// Returns the failures of folders, or of a list, in which there is no session.
    fn without_session(given: &[PathBuf], sessions: &[&Path]) -> Vec<Failure> {
        let hint = || Some("sessions are files whose names end in `.jsonl`".to_owned());
        if given.is_empty() {
            let message = "the list names no file".to_owned();
            return vec![Failure::plain(ErrorKind::NotASession, message, None)];
        }
        let is_bare = |path: &&PathBuf| path.is_dir() && !sessions.iter().any(|file| file.starts_with(path));
        let failure = |path: &PathBuf| Failure {
            file: Some(path.clone()),
            ..Failure::plain(ErrorKind::NotASession, "there is no session in this folder".to_owned(), hint())
        };
        given.iter().filter(is_bare).map(failure).collect()
    }

    /// Checks all files, several at once, and prints what is found in their order. `sessions` are those that are
    /// not passed over.
    fn all<'f>(
        &self,
        app: &App,
        files: &'f [Named],
        policy: &Policy,
        out: &mut Findings,
        sessions: &mut Vec<&'f Path>,
    ) -> Result<(Counts, Baseline)> {
        let workers = app.jobs.min(files.len()).max(1);
        let threads = (app.jobs / workers).max(1);
        let check = |at: usize| {
            let path = &files[at].path;
            let checked = app.open(path).and_then(|source| {
                // Of a single file the bytes are counted.
                let _progress = (files.len() == 1).then(|| app.reading(&source));
                check::check(source, folders::blobs(path).as_deref(), threads)
            });
            match checked.as_ref().ok().and_then(Checked::other_format).filter(|_| !files[at].is_named) {
                Some(format) => Judged::passed_over(format),
                None => policy.judge(self.paths.name(path), checked),
            }
        };
        let (mut counts, mut known) = (Counts::default(), Baseline::default());
        let mut passed_over = PassedOver::default();
        let pool = Pool::new(workers, workers.saturating_mul(AHEAD)).weighing(Judged::weight);
        paths::work(app, "checking", files.len(), pool, check, |at, judged, progress| {
            if at == 0 && self.format.get().is_document() {
                world::prepare_document()?;
            }
            world::wait(Duration::ZERO).check()?;
            counts.add(judged.counts);
            known.merge(judged.known);
            match judged.passed_over {
                Some(format) => passed_over.add_as(&files[at].path, format),
                None => sessions.push(&files[at].path),
            }
            if matches!(&judged.found, Found::Few(findings, _) if findings.is_empty()) {
                return Ok(());
            }
            let path = self.paths.name(&files[at].path);
            let print = || -> Result<()> {
                if let Err(error) = out.file(path, policy, judged.found) {
                    let error = error.downcast::<Error>()?;
                    if matches!(error, Error::Interrupted { .. }) {
                        return Err(error.into());
                    }
                    app.report.failure(&paths::failure(&error, path));
                    counts.unread += 1;
                }
                if progress.is_some() { Ok(out.flush()?) } else { Ok(()) }
            };
            match progress {
                Some(progress) => progress.aside(print),
                None => print(),
            }
        })?;
        app.passed_over(&passed_over);
        Ok((counts, known))
    }
}
