//! `migrate --output`: the new form of one file, elsewhere.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use super::super::{App, ended, warn_of};
use super::MigrateArgs;
use crate::core::disk::rights::Rights;
use crate::core::disk::write;
use crate::core::migrate;
use crate::core::migrate::file::{self, Outcome, Status};
use crate::core::naming::files::Named;
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};
use crate::ui::summary;

/// Writes the new form of one file elsewhere.
pub(super) fn run(args: &MigrateArgs, app: &App, files: &[Named], output: &Path) -> Result<ExitCode> {
    let [Named { path, is_named: true }] = files else {
        let hint = "name one file, or leave `--output` out to migrate in place";
        return Err(Failure::usage("`--output` takes one input file", hint).into());
    };
    let source = app.open(path).about(path)?;
    let progress = app.reading(&source);
    let need = migrate::need(&source).about(path)?;
    let mut outcome = Outcome::of(need);
    if outcome.status == Status::WouldMigrate {
        outcome.status = Status::Migrated;
    }
    if output == Path::new("-") {
        let mut stdout = Output::new();
        stdout.hold();
        file::form(&source, need, &mut stdout).about(path)?;
        drop(progress);
        stdout.finish()?;
        if args.format.is_json() {
            app.report.result(&summary::row(path, &outcome));
        } else {
            args.warn(app, &files[0], &outcome);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let patience = args.writing.manners().patience;
    let fill = &mut |out: &mut dyn Write| file::form(&source, need, out);
    let effects = write::create(output, &Rights::like(&source), patience, fill).about(output)?;
    drop(progress);
    warn_of(app, &effects, output);
    ended(args.print(app, files, &[outcome]), Some(output), None)?;
    Ok(ExitCode::SUCCESS)
}
