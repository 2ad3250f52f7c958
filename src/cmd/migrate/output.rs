//! `migrate --output`: the new form of one file, elsewhere.

use std::io::Write;
use std::path::Path;

use anyhow::Result;

use super::super::{App, warn_of};
use crate::core::disk::lock::LockWait;
use crate::core::disk::rights::Rights;
use crate::core::disk::write;
use crate::core::migrate;
use crate::core::migrate::file::{self, MigratedFile, MigrationStatus};
use crate::core::naming::files::Named;
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};

/// Writes the new form of one file elsewhere.
pub(super) fn write(app: &App, files: &[Named], output: &Path, wait: LockWait<'_>) -> Result<MigratedFile> {
    let [Named { path, is_named: true }] = files else {
        let hint = "name one file, or leave `--output` out to migrate in place";
        return Err(Failure::usage("`--output` takes one input file", hint).into());
    };
    let source = app.open(path).about(path)?;
    let progress = app.reading(&source);
    let need = migrate::need(&source).about(path)?;
    if output == Path::new("-") {
        let mut stdout = Output::new();
        stdout.hold();
        file::form(&source, need, &mut stdout).about(path)?;
        drop(progress);
        stdout.finish()?;
    } else {
        let fill = &mut |out: &mut dyn Write| file::form(&source, need, out);
        let effects = write::create(output, &Rights::like(&source), wait, fill).about(output)?;
        drop(progress);
        warn_of(app, &effects, output);
    }
    let outcome = MigratedFile::of(need);
    let status =
        if outcome.status == MigrationStatus::WouldMigrate { MigrationStatus::Migrated } else { outcome.status };
    Ok(MigratedFile { status, ..outcome })
}
