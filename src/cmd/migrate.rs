//! `migrate`: brings old files to version 3.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::args::{FormatArg, TextOrList, Writing};
use super::paths::{self, Paths};
use super::{App, Task, world};
use crate::core::error::Error;
use crate::core::error::problem::WarningKind;
use crate::core::migrate::CURRENT;
use crate::core::migrate::file::{self, MigratedFile, MigrationOptions, MigrationStatus};
use crate::core::naming::files::{self, Named, PassedOver, Searched};
use crate::core::read::source::Source;
use crate::core::words::shell_word;
use crate::parallel::Pool;
use crate::ui::exit::Exit;
use crate::ui::output::{JsonList, Output};
use crate::ui::report::Failure;
use crate::ui::summary::{self, MigrationRow};

mod output;

/// Bring old session files to version 3
///
/// Changes files in place, each in one step: there is the old one or the new one, never something
/// between. Only what must change in a line changes; permissions and modification time stay. A file
/// that is of version 3 already is not touched, and a bad file does not stop the others. Refuses the
/// home folder and the folders above it: name the folder of the sessions.
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
    #[arg(long, conflicts_with_all = ["dry_run", "backup", "output", "force", "lock_timeout"])]
    check: bool,
    /// Only print what would be done
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,
    /// Keep a copy of each original beside it [default suffix: .orig]
    #[arg(long, value_name = "SUFFIX", num_args = 0..=1, require_equals = true, default_missing_value = ".orig")]
    backup: Option<String>,
    /// Write the new form of the one PATH here; - for standard output [default: in place]
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["backup", "force"])]
    output: Option<PathBuf>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    format: FormatArg<TextOrList>,
}

impl Task for MigrateArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(self: Box<Self>, app: &App) -> Result<ExitCode> {
        self.backup.as_deref().map_or(Ok(()), file::check_suffix)?;
        let given = self.paths.given()?;
        let home = app.screen.home.as_deref().map(Path::new);
        given.iter().try_for_each(|path| file::refuse_everything(path, home))?;
        let files = files::find(given, Searched::Plain);
        if self.output.as_deref() != Some(Path::new("-")) {
            world::prepare()?;
        }
        if let Some(output) = &self.output {
            let outcome = output::write(app, &files, &self.paths, output, self.writing.options().wait)?;
            if output != Path::new("-") {
                super::ended(self.print(app, &files, &[outcome]), Some(output), None)?;
            } else if self.format.is_json() {
                app.report.result(&MigrationRow::new(self.paths.name(&files[0].path), &outcome, None));
            } else {
                self.warn(app, &files[0], &outcome);
            }
            return Ok(ExitCode::SUCCESS);
        }
        let outcomes = self.all(app, &files)?;
        let has = |status: MigrationStatus| outcomes.iter().any(|outcome| outcome.status == status);
        let printed = self.print(app, &files, &outcomes);
        if has(MigrationStatus::Migrated) {
            super::ended(printed, None, None)?
        } else {
            printed?
        }
        if let Some(signal) = outcomes.iter().find_map(MigratedFile::signal) {
            return Ok(Exit::after(signal).into());
        }
        // What is found in a folder need not be a session.
        let mut is_named = files.iter().zip(&outcomes).filter(|(file, _)| file.is_named);
        let is_bad =
            has(MigrationStatus::Failed) || is_named.any(|(_, outcome)| outcome.status == MigrationStatus::NotASession);
        Ok(match (is_bad, self.check && has(MigrationStatus::WouldMigrate)) {
            (true, _) => Exit::CouldNot,
            (false, true) => Exit::SaysNo,
            (false, false) => Exit::Done,
        }
        .into())
    }
}

impl MigrateArgs {
    /// Migrates all files, several at once.
    fn all(&self, app: &App, files: &[Named]) -> Result<Vec<MigratedFile>> {
        let options = MigrationOptions {
            only_report: self.check || self.dry_run,
            backup: self.backup.as_deref(),
            writing: self.writing.options(),
        };
        // Of a single file the bytes are counted.
        let watch = |source: &Source| (files.len() == 1).then(|| app.reading(source));
        let migrate = |at: usize| file::migrate(&files[at].path, &options, &watch);
        let (is_first, order) = (files::are_first(files), paths::largest_first(files));
        let mut outcomes: Vec<_> = files.iter().map(|_| None).collect();
        let pool = Pool::new(app.files_at_once, usize::MAX);
        let make = |at: usize| is_first[order[at]].then(|| migrate(order[at]));
        paths::work(app, "migrating", files.len(), pool, make, |at, outcome, _| {
            outcomes[order[at]] = outcome;
            Ok(())
        })?;
        // Another name of a file comes when it is done under its first one.
        let all = outcomes.into_iter().enumerate();
        Ok(all.map(|(at, outcome)| outcome.unwrap_or_else(|| migrate(at))).collect())
    }

    fn print(&self, app: &App, files: &[Named], outcomes: &[MigratedFile]) -> Result<()> {
        // All files after an interruption have the same to say; once is enough.
        let mut is_told = false;
        for (file, outcome) in files.iter().zip(outcomes) {
            if outcome.signal().is_none() || !std::mem::replace(&mut is_told, true) {
                self.warn(app, file, outcome);
            }
        }
        let mut passed_over = PassedOver::default();
        let mut listed = Vec::with_capacity(files.len());
        for (file, outcome) in files.iter().zip(outcomes) {
            match outcome.foreign().filter(|_| !file.is_named) {
                Some(format) => passed_over.add(&file.path, format),
                None => listed.push((self.paths.name(&file.path), outcome)),
            }
        }
        app.passed_over(&passed_over);
        if !self.format.is_json() {
            return Ok(summary::print(&listed, &app.screen)?);
        }
        let (mut output, mut list) = (Output::new(), JsonList::new(self.format.get() == TextOrList::Json));
        for (path, outcome) in listed {
            let failure = outcome.error.as_ref().map(|error| self.failure(error, path));
            list.add(&mut output, &MigrationRow::new(path, outcome, failure.as_ref()))?;
        }
        list.end(&mut output)?;
        Ok(output.finish()?)
    }

    /// Reports what there is to say of a file beside its row.
    fn warn(&self, app: &App, file: &Named, outcome: &MigratedFile) {
        let path = self.paths.name(&file.path);
        let warn = |kind, message: &str, line| app.report.warn(kind, message, Some(path), line);
        match (&outcome.error, outcome.from) {
            (None, Some(version)) if outcome.status == MigrationStatus::Newer => {
                let message = format!("version {version} is newer than {CURRENT}, the newest known: not touched");
                warn(WarningKind::NewerVersion, &message, None);
            }
            // Its row has the error.
            _ if self.format.is_json() => {}
            // Counted together.
            (Some(Error::Foreign(_)), _) if !file.is_named => {}
            (Some(error), _) if outcome.status == MigrationStatus::NotASession && !file.is_named => {
                warn(WarningKind::NotASession, &format!("skipped: {error}"), error.line());
            }
            (Some(error), _) => app.report.failure(&self.failure(error, path)),
            (None, _) => {}
        }
        super::warn_of(app, &outcome.effects, path);
    }

    fn failure(&self, error: &Error, path: &Path) -> Failure {
        let mut failure = paths::failure(error, path);
        if matches!(error, Error::Exists { .. }) {
            failure.hint = Some("keep that backup and use another suffix, as in `--backup=.orig2`".to_owned());
        } else if self.backup.is_some() && path.to_string_lossy().starts_with('.') && !path.exists() {
            failure.hint = Some(format!("a suffix is given as `--backup={}`", shell_word(path.as_os_str())));
        }
        failure
    }
}
