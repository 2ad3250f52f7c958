//! What became of many files, as a table.

use std::collections::BTreeMap;
use std::path::Path;

use super::escape;
use super::fit;
use super::list::{FEW, Listing, PIECE};
use super::screen::Screen;

/// One file.
#[derive(Debug)]
pub struct File<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// The version that it had.
    pub from: Option<u32>,
    /// The version that it has now.
    pub to: Option<u32>,
    /// What became of it.
    pub status: &'a str,
    /// Whether it is listed, not only counted.
    pub is_news: bool,
}

/// Draws a row for every file that there is something to say of, and a line of counts.
pub fn table(files: &[File<'_>], screen: &Screen) -> String {
    let news: Vec<_> = files.iter().filter(|file| file.is_news).collect();
    let mut out = String::new();
    if !news.is_empty() {
        let widest = |text: &dyn Fn(&File<'_>) -> usize| news.iter().map(|file| text(file)).max().unwrap_or(0);
        let status = widest(&|file| file.status.len());
        // What is left beside the other columns and their gaps.
        let borders = screen.is_terminal && screen.width.is_none_or(|width| width >= status + 7 + 10 + FEW);
        let gaps = if borders { 10 } else { 4 };
        let room = screen.width.map_or(usize::MAX, |width| width.saturating_sub(status + 7 + gaps));
        let path = |file: &File<'_>| {
            let path = file.path.display().to_string();
            fit::cut_front(&escape::line(&path), room.max(8), screen.paint.ascii).into_owned()
        };
        let widths = [status, 7, widest(&|file| fit::width(&path(file)))];
        let listing = Listing::new(&["status", "version", "file"], &widths, borders, screen);
        out.push_str(&listing.head());
        for piece in news.chunks(PIECE) {
            let cells = |file: &&File<'_>| vec![file.status.to_owned(), version(file, screen), path(file)];
            out.push_str(&listing.rows(piece.iter().map(cells)));
        }
        out.push_str(&listing.foot());
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        *counts.entry(file.status).or_default() += 1;
    }
    let counts: Vec<_> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    let plural = if files.len() == 1 { "file" } else { "files" };
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    out.push_str(&screen.folded(&format!("{} {plural}{counts}\n", files.len()), 2));
    out
}

fn version(file: &File<'_>, screen: &Screen) -> String {
    let arrow = screen.arrow();
    match (file.from, file.to) {
        (Some(from), Some(to)) if from != to => format!("{from} {arrow} {to}"),
        (Some(from), _) => from.to_string(),
        _ => "-".to_owned(),
    }
}
