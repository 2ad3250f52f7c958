//! `check --fix` and `check --diff`: mends files, or shows how they would be mended.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::super::args::Writing;
use super::super::{App, folders, paths, warn_of, world};
use super::format::needs_plain_format;
use super::tally::Tally;
use crate::core::check;
use crate::core::check::mend::file::{self, FileOptions};
use crate::core::check::mend::{self, MendOptions, Mended};
use crate::core::check::policy::{Judged, Policy};
use crate::core::check::{Checked, Code};
use crate::core::disk::write::SideEffects;
use crate::core::error::Error;
use crate::core::migrate::file::check_suffix;
use crate::core::naming::files::{self, Named};
use crate::core::read::source::Source;
use crate::parallel::Pool;
use crate::ui;
use crate::ui::check::{FindingFormat, Findings, Mending};
use crate::ui::mend::MendReport;
use crate::ui::screen::Screen;

/// What is done with files instead of mending them, or showing how: beside these `requires` is not looked at.
const NO_MENDING: [&str; 3] = ["why_leaf", "update_baseline", "explain"];

/// What is done with files instead of changing them.
const NO_CHANGE: [&str; 4] = ["why_leaf", "update_baseline", "explain", "diff"];

/// Options of mending.
#[derive(Debug, Args)]
#[command(mut_args(|arg| match arg.get_id().as_str() {
    "force" | "lock_timeout" => Writing::only_with(arg, "fix").conflicts_with_all(NO_CHANGE),
    _ => arg,
}))]
pub(super) struct MendArgs {
    /// Print what --fix would change, as a diff
    #[arg(long, conflicts_with_all = ["fix", "why_leaf", "update_baseline"])]
    pub(super) diff: bool,
    /// Mend what needs no guess, and check the result
    #[arg(long, conflicts_with_all = ["why_leaf", "update_baseline"])]
    pub(super) fix: bool,
    /// Also make the guesses that the findings name
    #[arg(long, requires = "mending", conflicts_with_all = NO_MENDING)]
    unsafe_fixes: bool,
    /// Keep a copy of each original under this suffix [default: .orig, then .orig.2]
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".orig")]
    #[arg(requires = "fix", conflicts_with_all = NO_CHANGE, hide_short_help = true)]
    backup: Option<String>,
    /// Keep no copy of the originals
    #[arg(long, requires = "fix", conflicts_with = "backup", conflicts_with_all = NO_CHANGE, hide_short_help = true)]
    no_backup: bool,
    #[command(flatten)]
    writing: Writing,
}

/// What became of a file.
struct Done {
    judged: Judged,
    mended: Option<Mended>,
    backup: Option<PathBuf>,
    effects: SideEffects,
    /// The file, if only a diff is shown.
    source: Option<Source>,
}

impl Done {
    fn of(judged: Judged) -> Self {
        Self { judged, mended: None, backup: None, effects: SideEffects::default(), source: None }
    }
}

impl MendArgs {
    /// Returns whether files are mended, or shown as they would be.
    pub(super) fn is_asked_for(&self) -> bool {
        self.diff || self.fix
    }

    /// Returns how files are mended.
    pub(super) fn mending(&self, files: &[Named]) -> Mending {
        match self.is_asked_for() {
            true if self.unsafe_fixes => Mending::Guesses,
            true => Mending::Safe,
            false if files.iter().any(|file| file.path == Path::new("-")) => Mending::Impossible,
            false => Mending::Offered,
        }
    }

    /// Refuses a format that a diff has not, and a suffix that backups cannot have.
    pub(super) fn check(&self, format: FindingFormat) -> Result<()> {
        if self.diff {
            needs_plain_format("--diff", format)?;
        }
        Ok(self.suffix().map_or(Ok(()), check_suffix)?)
    }

    fn suffix(&self) -> Option<&str> {
        if self.no_backup { None } else { Some(self.backup.as_deref().unwrap_or(".orig")) }
    }

    /// Mends all files, several at once, and prints what is done and what is left, in their order.
    pub(super) fn run(
        &self,
        app: &App,
        format: FindingFormat,
        files: &[Named],
        policy: &Policy,
        out: &mut Findings,
        tally: &mut Tally,
    ) -> Result<()> {
        if self.fix {
            world::prepare()?;
        } else if format.is_document() {
            world::prepare_document()?;
        }
        let workers = if self.fix { app.files_at_once } else { app.jobs }.min(files.len()).max(1);
        let now = world::timestamp();
        let make = |at: usize| self.one(app, &files[at], policy, &now, (app.jobs / workers).max(1), files.len() == 1);
        let is_first = files::are_first(files);
        let make_first = |at: usize| is_first[at].then(|| make(at));
        let pool = Pool::new(workers, usize::MAX);
        paths::work(app, "mending", files.len(), pool, make_first, |at, done, progress| {
            // Another name of a file comes when it is done under its first one.
            let done = done.unwrap_or_else(|| make(at));
            let path = &files[at].path;
            let print = || self.print(app, path, policy, done, tally, out);
            match progress {
                Some(progress) => progress.aside(print)?,
                None => print()?,
            }
            // What was done is said before a signal is obeyed.
            Ok(world::wait(Duration::ZERO).check()?)
        })
    }

    /// Mends a file, or plans how.
    fn one(&self, app: &App, file: &Named, policy: &Policy, now: &str, jobs: usize, is_only: bool) -> Done {
        let path = &file.path;
        let (blobs, wanted) = (folders::blobs(path), policy.reports(path));
        let options = self.writing.options();
        let mend = MendOptions {
            guesses: self.unsafe_fixes,
            now,
            name: path.file_name(),
            blobs: blobs.as_deref(),
            jobs,
            wait: options.wait,
            wanted: &wanted,
        };
        let done = if self.diff {
            self.planned(file, policy, &mend)
        } else {
            let backup = self.suffix();
            // Of a single file the bytes are counted.
            let watch = |source: &Source| is_only.then(|| app.reading(source));
            file::fix(path, &FileOptions { mend, backup, options }, &watch).map(|done| {
                let judged = judge(file, policy, Ok(done.after), &done.mended);
                Done { mended: Some(done.mended), backup: done.backup, effects: done.effects, ..Done::of(judged) }
            })
        };
        done.unwrap_or_else(|error| match error {
            Error::Foreign(format) if !file.is_named => Done::of(Judged::passed_over(format.name())),
            error => Done::of(Judged::failed(error)),
        })
    }

    /// Plans how a file would be mended; what counts is the file as it is.
    fn planned(&self, found: &Named, policy: &Policy, options: &MendOptions<'_>) -> crate::core::error::Result<Done> {
        let source = file::open(&found.path)?;
        let (mended, after) = mend::mend(&source, options)?;
        if let Some(format) = after.foreign() {
            return Err(Error::Foreign(format));
        }
        let checked = check::check(source.again()?, options.blobs, options.jobs);
        let judged = judge(found, policy, checked, &mended);
        Ok(Done { mended: Some(mended), source: Some(source), ..Done::of(judged) })
    }

    fn print(
        &self,
        app: &App,
        path: &Path,
        policy: &Policy,
        done: Done,
        tally: &mut Tally,
        out: &mut Findings,
    ) -> Result<()> {
        let Done { judged, mended, backup, effects, source } = done;
        warn_of(app, &effects, path);
        tally.is_written |= self.fix && mended.as_ref().is_some_and(|mended| !mended.is_empty());
        let found = tally.add(path, judged);
        let (backup, source) = (backup.as_deref(), source.as_ref());
        let printed = match &mended {
            Some(mended) => out.mended(&MendReport { path, mended, backup, source }, policy, found),
            None => out.file(path, policy, found),
        };
        tally.count(app, path, printed)
    }
}

/// Judges a file; one that was mended, or would be, is a session also where it was found in a folder.
fn judge(file: &Named, policy: &Policy, checked: crate::core::error::Result<Checked>, mended: &Mended) -> Judged {
    policy.judge(&file.path, checked, file.is_named || !mended.is_empty())
}

/// Explains one code, or all.
pub(super) fn explain(name: &str, format: FindingFormat, screen: &Screen) -> Result<ExitCode> {
    let codes = if name == "all" { Code::all().collect() } else { vec![Code::named(name)?] };
    needs_plain_format("--explain", format)?;
    let json = (format != FindingFormat::Text).then_some(format == FindingFormat::Json);
    ui::mend::explain(&codes, json, screen)?;
    Ok(ExitCode::SUCCESS)
}
