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
        let row = |&&(path, outcome): &&(&Path, &MigratedFile)| {
            vec![status_word(outcome.status).to_owned(), version(outcome, screen), path.display().to_string()]
        };
        let widest = |of: &dyn Fn(&Path, &MigratedFile) -> usize| {
            listed.iter().map(|(path, outcome)| of(path, outcome)).max().unwrap_or(0)
        };
        let status = Column::Whole("status", widest(&|_, outcome| status_word(outcome.status).len()));
        let version = Column::Whole("version", widest(&|_, outcome| fit::width(&version(outcome, screen))));
        let path = Column::Text("file", widest(&|path, _| fit::width(&escape::line(&path.display().to_string()))));
        let columns = [status, version, path];
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
    out.push_str(&kept(files));
    out
}

/// Returns how the outcome stands in a row: as it does in the counts.
fn status_word(status: MigrationStatus) -> &'static str {
    match status {
        MigrationStatus::WouldMigrate => status.words(),
        status => status.name(),
    }
}

/// Says where the originals are, and how to go back. Names are not cut: they are to be copied.
fn kept(files: &[(&Path, &MigratedFile)]) -> String {
    let kept: Vec<_> = files.iter().filter_map(|(path, outcome)| Some((*path, outcome.backup.as_deref()?))).collect();
    let suffix = |(path, backup): &(&Path, &Path)| {
        let suffix = backup.file_name()?.to_str()?.strip_prefix(path.file_name()?.to_str()?)?;
        Some(suffix.to_owned())
    };
    let show = |path: &Path| escape::line(&path.display().to_string()).into_owned();
    match &kept[..] {
        [] => String::new(),
        [(_, backup)] => format!("the original is kept, `mv` it back to undo: {}\n", show(backup)),
        [first, ..] => match suffix(first) {
            Some(end) if kept.iter().all(|one| suffix(one).as_ref() == Some(&end)) => {
                let end = escape::line(&end).into_owned();
                format!("{} originals are kept beside them as NAME{end}; `mv` one back to undo\n", kept.len())
            }
            _ => kept.iter().map(|(_, backup)| format!("the original is kept: {}\n", show(backup))).collect(),
        },
    }
}

fn version(outcome: &MigratedFile, screen: &Screen) -> String {
    let arrow = screen.arrow();
    match (outcome.from, outcome.to) {
        (Some(from), Some(to)) if from != to => format!("{from} {arrow} {to}"),
        (Some(from), _) => from.to_string(),
        _ => "-".to_owned(),
    }
}
