//! `check --why-leaf`: where agents resume a session.

use std::process::ExitCode;

use anyhow::Result;

use super::super::paths::Paths;
use super::super::{App, lookup};
use super::format::needs_plain_format;
use crate::core::check::why;
use crate::core::naming::files::{self, Named, Searched};
use crate::ui;
use crate::ui::check::FindingFormat;
use crate::ui::report::{AboutFile, Failure};

/// Explains where agents resume the one session.
pub(super) fn run(app: &App, paths: &Paths, form: FindingFormat) -> Result<ExitCode> {
    needs_plain_format("--why-leaf", form)?;
    let given = lookup::files(app, paths.given()?, false)?;
    let [Named { path, .. }] = &files::find(given, Searched::Plain)[..] else {
        return Err(Failure::usage("`--why-leaf` takes one file", "name one session file").into());
    };
    let why = app.open(path).and_then(|source| {
        let _progress = app.reading(&source);
        why::explain(source, app.jobs)
    });
    let is_json = form != FindingFormat::Text;
    let name = paths.name(path);
    ui::check::why(&name.display().to_string(), &why.about(name)?, is_json, &app.screen).about(name)?;
    Ok(ExitCode::SUCCESS)
}
