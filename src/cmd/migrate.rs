//! `migrate`: brings old files to version 3.

use std::collections::HashSet;
use std::convert::Infallible;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::App;
use super::paths::{self, Job, Paths};
use super::world::{self, Writing};
use crate::core::disk;
use crate::core::disk::backup::Backup;
use crate::core::disk::rights::Rights;
use crate::core::disk::write::{self, Place, SideEffects};
use crate::core::error::{Error, ErrorKind};
use crate::core::migrate::{self, Need, Torn};
use crate::core::problem::WarningKind;
use crate::core::read::source::Source;
use crate::parallel::Pool;
use crate::ui::exit::Exit;
use crate::ui::json::Migrated;
use crate::ui::output::Output;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::Failure;
use crate::ui::summary;

/// Bring old session files to version 3
///
/// In place, each file in one step: it is the old one or the new one, never something between. Only
/// what must change in a line changes; permissions and modification time stay. A file that is of
/// version 3 already is not touched, and one bad file does not keep the others. The home folder, and
/// what is above it, is refused: name the sessions' folder.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree migrate old.jsonl --backup            old.jsonl.orig is as before
  session-tree migrate old.jsonl --output new.jsonl
  session-tree migrate ~/.pi/agent/sessions --check  exit 1 if one is old
  session-tree migrate ~/.pi/agent/sessions --dry-run
  find . -name '*.jsonl' -print0 | session-tree migrate --files-from -")]
pub struct MigrateArgs {
    #[command(flatten)]
    paths: Paths,
    /// Only report; exit 1 if any file is of an old version
    #[arg(long, conflicts_with_all = ["dry_run", "backup", "output"])]
    check: bool,
    /// Only report
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// Keep a copy of each original beside it [default suffix: .orig]
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".orig")]
    backup: Option<String>,
    /// Write the one input's new form here instead; - for standard output
    #[arg(long, short, value_name = "FILE", conflicts_with = "backup")]
    output: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// One object a file
    Json,
}

/// How often a file that changes under our hands is tried.
const ATTEMPTS: usize = 3;

/// What became of a file.
struct Outcome {
    from: Option<u32>,
    to: Option<u32>,
    status: Status,
    error: Option<Failure>,
    effects: SideEffects,
}

impl Outcome {
    fn of(from: Option<u32>, to: Option<u32>, status: Status) -> Self {
        Self { from, to, status, error: None, effects: SideEffects::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Migrated,
    Current,
    WouldMigrate,
    Newer,
    NotASession,
    Failed,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Migrated => "migrated",
            Self::Current => "current",
            Self::WouldMigrate => "would-migrate",
            Self::Newer => "newer",
            Self::NotASession => "not-a-session",
            Self::Failed => "failed",
        }
    }
}

impl MigrateArgs {
    /// Tells whether messages are objects too.
    pub fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }

    /// Runs the command; the exit code tells of failed files and of files to migrate.
    ///
    /// # Errors
    /// A [`Failure`] that keeps all files from being migrated, or what the system says of writing
    /// to stdout.
    pub fn run(self, app: &App) -> Result<ExitCode> {
        self.backup.as_deref().map_or(Ok(()), check_suffix)?;
        let given = self.paths.given()?;
        given.iter().try_for_each(|path| refuse_everything(path, app.screen.home.as_deref()))?;
        let jobs = paths::jobs(given);
        if self.output.as_deref() != Some(Path::new("-")) {
            world::prepare()?;
        }
        if let Some(output) = &self.output {
            return self.one(app, &jobs, output);
        }
        let outcomes = self.all(app, &jobs);
        let is_changed = outcomes.iter().any(|outcome| outcome.status == Status::Migrated);
        let printed = self.tell(app, &jobs, &outcomes);
        if is_changed {
            super::ended(printed, None, None)?
        } else {
            printed?
        }
        if let Some(stopped) = interrupted(&outcomes) {
            return Ok(stopped.into());
        }
        let is_bad = |(job, outcome): (&Job, &Outcome)| match outcome.status {
            Status::Failed => true,
            Status::NotASession => job.is_named,
            _ => false,
        };
        if jobs.iter().zip(&outcomes).any(is_bad) {
            return Ok(Exit::CouldNot.into());
        }
        let needs = self.check && outcomes.iter().any(|outcome| outcome.status == Status::WouldMigrate);
        Ok(if needs { Exit::SaysNo } else { Exit::Done }.into())
    }

    fn all(&self, app: &App, jobs: &[Job]) -> Vec<Outcome> {
        let counted = Arc::default();
        // Of a single file the bytes are counted.
        let files = (jobs.len() > 1).then(|| Count::Things(Arc::clone(&counted), jobs.len(), "files"));
        let _progress = files.map(|files| Progress::new(app.report, "migrating", files));
        let only = Some(app).filter(|_| jobs.len() == 1);
        let mut seen = HashSet::new();
        let is_first = |job: &Job| job.path.canonicalize().map_or(true, |path| seen.insert(path));
        let is_first: Vec<bool> = jobs.iter().map(is_first).collect();
        let migrate = |at: usize| {
            let outcome = self.migrate(&jobs[at].path, only);
            counted.fetch_add(1, Ordering::Relaxed);
            outcome
        };
        let mut outcomes = Vec::with_capacity(jobs.len());
        let pool = Pool::new(app.files_at_once, usize::MAX);
        let worker = || |at: usize| is_first[at].then(|| migrate(at));
        let Ok(()) = pool.run::<_, Infallible>(jobs.len(), worker, |at, outcome| {
            // Another name of a file comes when it is done under its first one.
            outcomes.push(outcome.unwrap_or_else(|| migrate(at)));
            Ok(())
        });
        outcomes
    }

    fn migrate(&self, path: &Path, only: Option<&App>) -> Outcome {
        let mut outcome = Outcome::of(None, None, Status::Failed);
        let mut done = self.try_migrate(path, only, &mut outcome);
        for _ in 1..ATTEMPTS {
            if !matches!(done, Err(Error::Changed { .. })) {
                break;
            }
            // Perhaps another name of the same file was just migrated.
            done = self.try_migrate(path, only, &mut outcome);
        }
        if let Err(error) = done {
            outcome.to = outcome.from;
            let is_none = matches!(error, Error::NotASession { .. } | Error::Empty);
            outcome.status = if is_none { Status::NotASession } else { Status::Failed };
            let mut failure = paths::failure(&error, path);
            let may_be_suffix = self.backup.is_some() && path.to_string_lossy().starts_with('.') && !path.exists();
            if may_be_suffix {
                failure.hint = Some(format!("a suffix is given as `--backup={}`", path.display()));
            }
            if matches!(&error, Error::Exists { .. }) {
                failure.hint = Some("keep that backup and use another suffix, as in `--backup=.orig2`".to_owned());
            }
            outcome.error = Some(failure);
        }
        outcome
    }

    fn try_migrate(&self, path: &Path, only: Option<&App>, outcome: &mut Outcome) -> Result<(), Error> {
        let manners = self.writing.manners();
        manners.patience.check()?;
        let is_other = fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        if is_other || path == Path::new("-") {
            return Err(Error::Usage {
                message: "cannot migrate in place what is no file".to_owned(),
                hint: "use `--output`".to_owned(),
            });
        }
        if !self.check && !self.dry_run {
            disk::clear_left_over(path);
        }
        let source = Source::open(path)?;
        let _progress = only.map(|app| app.reading(&source));
        let (from, status) = match migrate::need(&source)? {
            Need::Nothing => (migrate::CURRENT, Status::Current),
            Need::Newer(version) => (version, Status::Newer),
            Need::Migration(version) => (version, Status::WouldMigrate),
        };
        *outcome = Outcome::of(Some(from), Some(from), status);
        if status != Status::WouldMigrate {
            return Ok(());
        }
        if self.check || self.dry_run {
            migrate::copy(&source, Torn::Refuse, &mut io::sink())?;
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if let Some(suffix) = &self.backup {
                Backup::is_made(&source, &with_suffix(&real, suffix))?;
            }
        } else {
            let stat = source.stat().ok_or_else(|| Error::Usage {
                message: "cannot migrate in place what is no file".to_owned(),
                hint: "use `--output`".to_owned(),
            })?;
            let place = Place::new(path, stat)?;
            let backup =
                |suffix: &String| Backup::make(&place, &source, with_suffix(place.path(), suffix), manners.patience);
            let backup = self.backup.as_ref().map(backup).transpose()?;
            let replaced = write::replace(&place, manners, true, &mut |out| migrate::copy(&source, Torn::Refuse, out));
            if let (Err(_), Some(backup)) = (&replaced, backup) {
                backup.discard(place.path());
            }
            outcome.effects = replaced?;
            outcome.status = Status::Migrated;
        }
        outcome.to = Some(migrate::CURRENT);
        Ok(())
    }

    /// Writes the new form of one file elsewhere.
    fn one(&self, app: &App, jobs: &[Job], output: &Path) -> Result<ExitCode> {
        let [Job { path, is_named: true }] = jobs else {
            let hint = "name one file, or leave `--output` out to migrate in place";
            return Err(Failure::usage("`--output` takes one input file", hint).into());
        };
        let failed = |error: Error| Failure::new(&error, path);
        let source = app.open(path).map_err(failed)?;
        let progress = app.reading(&source);
        let need = migrate::need(&source).map_err(failed)?;
        let copy = |out: &mut dyn Write| match need {
            Need::Migration(_) => migrate::copy(&source, Torn::Copy, out),
            Need::Nothing | Need::Newer(_) => source.copy_to(out),
        };
        let outcome = match need {
            Need::Migration(from) => (from, migrate::CURRENT, Status::Migrated),
            Need::Nothing => (migrate::CURRENT, migrate::CURRENT, Status::Current),
            Need::Newer(version) => (version, version, Status::Newer),
        };
        let (from, to, status) = outcome;
        let mut effects = SideEffects::default();
        if output == Path::new("-") {
            let mut stdout = Output::new();
            stdout.hold();
            copy(&mut stdout).map_err(failed)?;
            drop(progress);
            stdout.finish()?;
        } else {
            let patience = self.writing.manners().patience;
            let created = write::create(output, &Rights::like(&source), patience, &mut |out| copy(out));
            effects = created.map_err(|error| Failure::new(&error, output))?;
            drop(progress);
        }
        super::warn_of(app, &effects, output);
        let outcomes = [Outcome::of(Some(from), Some(to), status)];
        if output == Path::new("-") {
            if self.is_json() {
                app.report.result(&row(&jobs[0], &outcomes[0]));
            } else if status == Status::Newer {
                self.warn_of_newer(app, path, from);
            }
            return Ok(ExitCode::SUCCESS);
        }
        super::ended(self.tell(app, jobs, &outcomes), Some(output), None)?;
        Ok(ExitCode::SUCCESS)
    }

    fn warn_of_newer(&self, app: &App, path: &Path, version: u32) {
        let message = format!("version {version} is newer than {}, the newest known: not touched", migrate::CURRENT);
        app.report.warn(WarningKind::NewerVersion, &message, Some(path), None);
    }

    fn tell(&self, app: &App, jobs: &[Job], outcomes: &[Outcome]) -> Result<()> {
        let mut output = Output::new();
        // All files behind an interruption have the same to say; once is enough.
        let mut stopped = None;
        for (job, outcome) in jobs.iter().zip(outcomes) {
            match (&outcome.error, outcome.status, outcome.from) {
                (Some(failure), ..) if failure.kind == ErrorKind::Interrupted && stopped.replace(()).is_some() => {}
                (Some(failure), Status::NotASession, _) if !self.is_json() && !job.is_named => {
                    let message = format!("skipped: {}", failure.message);
                    app.report.warn(WarningKind::NotASession, &message, Some(&job.path), failure.line);
                }
                (Some(failure), ..) if !self.is_json() => app.report.failure(failure),
                (None, Status::Newer, Some(version)) => self.warn_of_newer(app, &job.path, version),
                _ => {}
            }
            super::warn_of(app, &outcome.effects, &job.path);
            if self.is_json() {
                output.json_line(&row(job, outcome))?;
            }
        }
        if !self.is_json() {
            let files = jobs.iter().zip(outcomes);
            let files: Vec<_> = files
                .map(|(job, outcome)| summary::FileRow {
                    path: &job.path,
                    from: outcome.from,
                    to: outcome.to,
                    status: outcome.status.name(),
                    is_listed: outcome.status != Status::Current,
                })
                .collect();
            output.text(&summary::table(&files, &app.screen))?;
        }
        Ok(output.finish()?)
    }
}

fn row<'a>(job: &Job, outcome: &'a Outcome) -> Migrated<'a> {
    Migrated {
        path: job.path.display().to_string(),
        from: outcome.from,
        to: outcome.to,
        status: outcome.status.name(),
        error: outcome.error.as_ref().map(|failure| failure.message.as_str()),
    }
}

/// Gives the exit code of a signal that came in between.
fn interrupted(outcomes: &[Outcome]) -> Option<Exit> {
    let failures = outcomes.iter().filter_map(|outcome| outcome.error.as_ref());
    failures.filter(|failure| failure.kind == ErrorKind::Interrupted).map(|failure| failure.exit).next()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Refuses a folder that holds much more than sessions, such as the home folder: every old session
/// of the machine would be rewritten.
fn refuse_everything(path: &Path, home: Option<&str>) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let home = home.map(|home| real(Path::new(home)));
    if !migrate::is_everything(&real(path), home.as_deref()) {
        return Ok(());
    }
    let real = real(path);
    let what = if home.as_ref() == Some(&real) { "your home folder" } else { "a folder of much more than sessions" };
    let message = format!("cannot migrate all of `{}`: it is {what}, `{}`", path.display(), real.display());
    let hint = "name the sessions' folder, such as `~/.pi/agent/sessions` or `~/.omp/agent/sessions`";
    Err(Failure::usage(message, hint).into())
}

/// Refuses suffixes that lead elsewhere, or that an agent takes for backups of its own.
fn check_suffix(suffix: &str) -> Result<()> {
    let stem = suffix.strip_suffix(".bak").and_then(|stem| stem.rsplit_once('.'));
    let is_agents =
        stem.is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if suffix.is_empty() || suffix.contains(['/', '\0']) {
        return Err(Failure::usage("a backup suffix is not empty and has no `/`", "`--backup=.orig` is usual").into());
    }
    if is_agents {
        let message = "omp takes files that end in `.<digits>.bak` for backups of its own";
        return Err(Failure::usage(message, "use another suffix, such as `.orig`").into());
    }
    Ok(())
}
