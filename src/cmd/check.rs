//! `check`: what is wrong with session files, what it costs, and how to fix it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{ArgGroup, Args};

use self::mend::MendArgs;
use self::tally::Tally;
use super::args::FormatArg;
use super::folders;
use super::lookup;
use super::paths::{self, Listed, Paths};
use super::world;
use super::{App, Task};
use crate::core::check;
use crate::core::check::policy::{AHEAD, Counts, Found, Judged, Policy};
use crate::core::error::ErrorKind;
use crate::core::error::problem::WarningKind;
use crate::core::naming::files::{self, Named, Searched};
use crate::parallel::Pool;
use crate::ui::check::{FindingFormat, Findings};
use crate::ui::exit::Exit;
use crate::ui::report::{AboutFile, Failure};

mod format;
mod mend;
mod tally;
mod why;

/// Report problems in session files, their effects and fixes
///
/// Errors are what an agent loses or misreads, warnings what is suspicious. Exit code 1 if there is
/// an error or a denied warning, 2 if a file cannot be read. Reads each file once. Where standard
/// output is no terminal, prints nothing for a single file in which nothing is found. `--fix` mends what loses nothing, keeps the
/// original beside the file, and checks the result; `--diff` shows that and changes nothing. What is not reported is not mended.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("mending").args(["diff", "fix"])))]
#[command(after_long_help = "\
Examples:
  session-tree check session.jsonl
  session-tree check latest
  session-tree check session.jsonl --diff              what could be mended
  session-tree check session.jsonl --fix --unsafe-fixes
  session-tree check --explain orphan                  one code, or all
  session-tree check ~/.pi/agent/sessions --deny W002  exit 1 if one is old
  session-tree check sessions --deny warnings --allow terminal-escape
  session-tree check sessions --format github          for GitHub Actions
  session-tree check sessions --baseline known.txt --update-baseline
  session-tree check sessions --baseline known.txt     only what is new
  session-tree check --why-leaf latest                 where agents resume")]
pub struct CheckArgs {
    /// Files, folders to search for *.jsonl files, or ids of sessions, or latest
    #[arg(value_name = "PATH", required_unless_present_any = ["files_from", "explain"])]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    listed: Listed,
    /// Fail on this warning, by code or name; `warnings` for all of them
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    deny: Vec<String>,
    /// Do not report this code
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
    /// Do not report what this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all that is found to the baseline file
    ///
    /// What it lists of files that were not checked stays. Reports only what cannot be read.
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Say which entry agents resume at and why, with all tips
    #[arg(long, conflicts_with_all = ["deny", "allow", "baseline", "update_baseline"])]
    why_leaf: bool,
    /// Explain a code: meaning, effect, fix, example; `all` for all
    #[arg(long, value_name = "CODE", conflicts_with_all = ["paths", "files_from", "stdin_name", "deny", "allow"])]
    #[arg(conflicts_with_all = ["baseline", "why_leaf", "update_baseline", "diff", "fix"])]
    explain: Option<String>,
    #[command(flatten)]
    mend: MendArgs,
    #[command(flatten)]
    format: FormatArg<FindingFormat>,
}

impl Task for CheckArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(self: Box<Self>, app: &App) -> Result<ExitCode> {
        if let Some(code) = &self.explain {
            return mend::explain(code, self.format.get(), &app.screen);
        }
        let paths = Paths::new(self.paths.clone(), self.listed.clone());
        if self.why_leaf {
            return why::run(app, &paths, self.format.get());
        }
        self.mend.check(self.format.get())?;
        let policy = self.policy()?;
        let given = lookup::files(app, paths.given()?, self.mend.fix)?;
        let files = files::find(given.clone(), Searched::Plain);
        let mut out = Findings::new(self.format.get(), self.mend.mending(&files), app.screen.clone(), world::stop)?;
        let mut tally = Tally::default();
        let done = if self.mend.is_asked_for() {
            self.mend.run(app, self.format.get(), &files, &policy, &mut out, &mut tally)
        } else {
            self.all(app, &paths, &files, &policy, &mut out, &mut tally)
        };
        if done.is_ok() {
            tally.tell_bare(app, &given);
            tally.tell(app, &policy, self.baseline.as_deref().filter(|_| !self.update_baseline));
        }
        let counts = tally.counts;
        if done.is_err() || self.mend.is_asked_for() {
            // A diff has nothing after it on standard output.
            let hint = out.mendable().filter(|_| self.mend.diff && done.is_ok());
            let finished = out.finish(Some(counts).filter(|_| self.mend.fix && done.is_ok()));
            let printed = done.and(finished.map_err(Into::into));
            if tally.is_written {
                super::ended(printed, None, None)?
            } else {
                printed?
            }
            if let Some(hint) = hint {
                app.report.hint(&hint);
            }
            return Ok(exit(counts));
        }
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
                super::warn_of(app, &tally.baseline(&policy).save(path, wait).about(path)?, path);
                super::ended(out.finish(Some(counts)).map_err(Into::into), None, None)?;
            }
        }
        Ok(exit(counts))
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

    /// Checks all files, several at once, and prints what is found in their order.
    fn all(
        &self,
        app: &App,
        paths: &Paths,
        files: &[Named],
        policy: &Policy,
        out: &mut Findings,
        tally: &mut Tally,
    ) -> Result<()> {
        let workers = app.jobs.min(files.len()).max(1);
        let threads = (app.jobs / workers).max(1);
        let check = |at: usize| {
            let path = &files[at].path;
            let checked = app.open(path).and_then(|source| {
                // Of a single file the bytes are counted.
                let _progress = (files.len() == 1).then(|| app.reading(&source));
                check::check(source, folders::blobs(path).as_deref(), threads)
            });
            policy.judge(paths.name(path), checked, files[at].is_named)
        };
        let pool = Pool::new(workers, workers.saturating_mul(AHEAD)).weighing(Judged::weight);
        paths::work(app, "checking", files.len(), pool, check, |at, judged, progress| {
            if at == 0 && self.format.get().is_document() {
                world::prepare_document()?;
            }
            world::wait(Duration::ZERO).check()?;
            let path = paths.name(&files[at].path);
            let found = tally.add(&files[at].path, judged);
            if matches!(&found, Found::Few(findings, _) if findings.is_empty()) {
                return Ok(());
            }
            let print = || -> Result<()> {
                let printed = out.file(path, policy, found);
                tally.count(app, path, printed)?;
                if progress.is_some() { Ok(out.flush()?) } else { Ok(()) }
            };
            match progress {
                Some(progress) => progress.aside(print),
                None => print(),
            }
        })
    }
}

/// Returns the exit code for what counts.
fn exit(counts: Counts) -> ExitCode {
    match counts {
        Counts { unread: 1.., .. } => Exit::CouldNot,
        Counts { errors: 1.., .. } | Counts { denied: 1.., .. } => Exit::SaysNo,
        _ => Exit::Done,
    }
    .into()
}
