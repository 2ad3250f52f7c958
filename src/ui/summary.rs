//! The outcome of a command for many files: a table of those worth listing, and counts. What is worth
//! listing is decided in `cmd`.

use std::collections::BTreeMap;
use std::path::Path;

use super::escape;
use super::fit;
use super::list::{CHUNK, Column, Listing};
use super::screen::Screen;
use crate::core::words::counted;

/// The outcome for one file.
#[derive(Debug)]
pub(crate) struct FileRow<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The version that it had.
    pub from: Option<u32>,
    /// The version that it has now.
    pub to: Option<u32>,
    /// The outcome, in a word or two.
    pub status: &'a str,
    /// Whether it is listed, not only counted.
    pub is_listed: bool,
}

/// Draws a row for every listed file, and a line of counts.
pub(crate) fn table(files: &[FileRow<'_>], screen: &Screen) -> String {
    let listed: Vec<_> = files.iter().filter(|file| file.is_listed).collect();
    let mut out = String::new();
    if !listed.is_empty() {
        let row =
            |file: &&FileRow<'_>| vec![file.status.to_owned(), version(file, screen), file.path.display().to_string()];
        let widest = |of: &dyn Fn(&FileRow<'_>) -> usize| listed.iter().map(|file| of(file)).max().unwrap_or(0);
        let status = Column::Whole("status", widest(&|file| file.status.len()));
        let version = Column::Whole("version", widest(&|file| fit::width(&version(file, screen))));
        let path = Column::Text("file", widest(&|file| fit::width(&escape::line(&file.path.display().to_string()))));
        let mut listing = Listing::new(&[status, version, path], screen);
        for piece in listed.chunks(CHUNK) {
            let mut rows: Vec<_> = piece.iter().map(row).collect();
            listing.arrange(&rows);
            for row in &mut rows {
                // Of a path the end is of most use.
                let path = escape::line(&row[2]);
                row[2] = fit::cut_front(&path, listing.room(2).unwrap_or(0), screen.paint.ascii).into_owned();
            }
            out.push_str(&listing.rows(rows));
        }
        out.push_str(&listing.foot());
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        *counts.entry(file.status).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    out.push_str(&screen.folded(&format!("{}{counts}\n", counted(files.len(), "file", "files")), 2));
    out
}

fn version(file: &FileRow<'_>, screen: &Screen) -> String {
    let arrow = screen.arrow();
    match (file.from, file.to) {
        (Some(from), Some(to)) if from != to => format!("{from} {arrow} {to}"),
        (Some(from), _) => from.to_string(),
        _ => "-".to_owned(),
    }
}
