//! The outcome of a command for many files: a table of those worth listing, and counts. What is worth
//! listing is decided in `cmd`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::escape;
use super::fit;
use super::list::{CHUNK, Column, Listing};
use super::output::Output;
use super::report::{Failure, ReportRow};
use super::screen::Screen;
use crate::core::migrate::file::{MigratedFile, MigrationStatus};
use crate::core::words::counted;

/// What became of a file, for programs.
#[derive(Debug, Serialize)]
pub(crate) struct MigrationRow<'a> {
    path: String,
    from: Option<u32>,
    to: Option<u32>,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ReportRow<'a>>,
}

impl<'a> MigrationRow<'a> {
    /// Makes the row of a file, with what is to be said of its error.
    pub(crate) fn new(path: &Path, outcome: &MigratedFile, failure: Option<&'a Failure>) -> Self {
        let MigratedFile { from, to, status, .. } = *outcome;
        let error = failure.map(ReportRow::from);
        let backup = outcome.backup.as_ref().map(|backup| backup.display().to_string());
        Self { path: path.display().to_string(), from, to, status: status.name(), backup, error }
    }
}

/// Prints a table and a line of counts.
///
/// # Errors
/// [`io::Error`] of the output.
pub(crate) fn print(files: &[(&Path, &MigratedFile)], screen: &Screen) -> io::Result<()> {
    let mut output = Output::new();
    output.text(&table(files, screen))?;
    output.finish()
}

/// Draws a row for every listed file, and a line of counts.
fn table(files: &[(&Path, &MigratedFile)], screen: &Screen) -> String {
    let listed: Vec<_> = files.iter().filter(|(_, outcome)| outcome.status != MigrationStatus::Current).collect();
    let mut out = String::new();
    if !listed.is_empty() {
        let has_backups = listed.iter().any(|(_, outcome)| outcome.backup.is_some());
        let row = |&&(path, outcome): &&(&Path, &MigratedFile)| {
            let mut row = vec![outcome.status.name().to_owned(), version(outcome, screen)];
            row.extend(has_backups.then(|| backup(outcome)));
            row.push(path.display().to_string());
            row
        };
        let widest = |of: &dyn Fn(&Path, &MigratedFile) -> usize| {
            listed.iter().map(|(path, outcome)| of(path, outcome)).max().unwrap_or(0)
        };
        let status = Column::Whole("status", widest(&|_, outcome| outcome.status.name().len()));
        let version = Column::Whole("version", widest(&|_, outcome| fit::width(&version(outcome, screen))));
        let path = Column::Text("file", widest(&|path, _| fit::width(&escape::line(&path.display().to_string()))));
        let mut columns = vec![status, version];
        columns
            .extend(has_backups.then(|| Column::Whole("original", widest(&|_, outcome| fit::width(&backup(outcome))))));
        columns.push(path);
        let last = columns.len() - 1;
        let mut listing = Listing::new(&columns, screen);
        for piece in listed.chunks(CHUNK) {
            let mut rows: Vec<_> = piece.iter().map(row).collect();
            listing.arrange(&rows);
            for row in &mut rows {
                // Of a path the end is of most use.
                let path = escape::line(&row[last]);
                row[last] = fit::cut_front(&path, listing.room(last).unwrap_or(0), screen.paint.ascii).into_owned();
            }
            out.push_str(&listing.rows(rows));
        }
        out.push_str(&listing.foot());
    }
    let mut counts: BTreeMap<MigrationStatus, usize> = BTreeMap::new();
    for (_, outcome) in files {
        *counts.entry(outcome.status).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(status, count)| format!("{count} {}", status.words())).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    out.push_str(&screen.folded(&format!("{}{counts}\n", counted(files.len(), "file", "files")), 2));
    out
}

/// Returns the name of the copy of the old file, if there is one.
fn backup(outcome: &MigratedFile) -> String {
    let name = outcome.backup.as_ref().and_then(|backup| backup.file_name());
    name.map(|name| escape::line(&name.to_string_lossy()).into_owned()).unwrap_or_default()
}

fn version(outcome: &MigratedFile, screen: &Screen) -> String {
    let arrow = screen.arrow();
    match (outcome.from, outcome.to) {
        (Some(from), Some(to)) if from != to => format!("{from} {arrow} {to}"),
        (Some(from), _) => from.to_string(),
        _ => "-".to_owned(),
    }
}
