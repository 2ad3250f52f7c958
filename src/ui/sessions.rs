//! Lists of sessions (`list`): rows for people, paths, and objects for programs. Which sessions are listed,
//! in which order, and what they have together comes from [`crate::core::store`].

use std::io;

use serde::Serialize;

use super::entry::LONGEST_ID;
use super::escape;
use super::fit;
use super::list::{CHUNK, Column, Listing};
use super::output::{JsonList, Output};
use super::report::{Failure, ReportRow};
use super::screen::Screen;
use super::stats::AmountsRow;
use crate::core::context::usage::whole;
use crate::core::error::Error;
use crate::core::naming::short::short_ids;
use crate::core::store::arrange::PlacedRow;
use crate::core::store::list::SessionList;
use crate::core::store::row::{SessionHead, SessionRow};
use crate::core::time::{self, Stamp};
use crate::core::words::counted;

/// The most levels of forks that are drawn.
const LEVELS: usize = 12;

/// The columns that are left out where there is no room, in this order: where and when a session was is asked
/// for more than its numbers.
const SPARE: [&str; 9] =
    ["models", "branches", "entries", "size", "messages", "turns", "cost", "folder", "written (UTC)"];

/// The rows of a list, to be drawn for people.
#[derive(Debug)]
pub(crate) struct SessionsTable<'a> {
    pub list: &'a SessionList,
    pub order: &'a [PlacedRow],
    /// Whether the files were read whole.
    pub is_long: bool,
    pub has_headings: bool,
    pub screen: &'a Screen,
}

impl SessionsTable<'_> {
    /// Prints the rows, and a line of sums if the files were read whole.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn print(&self) -> io::Result<()> {
        let mut output = Output::new();
        if !self.order.is_empty() {
            self.rows(&mut output)?;
        }
        if self.is_long {
            output.text(&self.screen.folded(&self.sum(), 2))?;
        }
        output.finish()
    }

    fn rows(&self, output: &mut Output) -> io::Result<()> {
        let has_folder = self.list.has_several_folders();
        let ids = ids(self.list);
        let row = |placed: &PlacedRow| &self.list.rows()[placed.row];
        let width = |text: &dyn Fn(&PlacedRow) -> String| {
            self.order.iter().map(|placed| fit::width(&escape::line(&text(placed)))).max().unwrap_or(0)
        };
        let id = |placed: &PlacedRow| ids[placed.row].clone();
        let mut columns = vec![Column::Whole("id", width(&id).min(LONGEST_ID)), Column::Whole("written (UTC)", 16)];
        columns.push(Column::Number("size", width(&|placed| size(row(placed)))));
        if self.is_long {
            let numbers = ["entries", "messages", "branches", "turns", "cost"];
            let most = |at: usize| width(&|placed| totals(row(placed))[at].clone());
            columns.extend(numbers.iter().enumerate().map(|(at, name)| Column::Number(name, most(at))));
            columns.push(Column::Text("models", 0));
        }
        if has_folder {
            columns.push(Column::Text("folder", 0));
        }
        columns.push(Column::Text("title", 0));
        let mut listing = Listing::new(&columns, self.screen).sparing(&SPARE);
        if !self.has_headings {
            // Numbers without headings say nothing.
            listing = if self.is_long { listing.unframed() } else { listing.bare() };
        }
        let folder = columns.len() - 2;
        for piece in self.order.chunks(CHUNK) {
            let cells = |placed: &PlacedRow| {
                let row = row(placed);
                let mut cells = vec![id(placed), time::minute(stamp(row.written())), size(row)];
                if self.is_long {
                    cells.extend(totals(row));
                    cells.push(row.totals.as_ref().map_or(String::new(), |totals| totals.models.join(", ")));
                }
                if has_folder {
                    let cwd = row.head().and_then(|head| head.cwd.as_deref());
                    cells.push(self.screen.tilde(cwd.unwrap_or("-")));
                }
                cells.push(self.title(row, placed.depth));
                cells
            };
            let mut rows: Vec<_> = piece.iter().map(cells).collect();
            listing.arrange(&rows);
            if has_folder {
                for row in &mut rows {
                    // Of a path the end is of most use.
                    let path = escape::line(&row[folder]);
                    let room = listing.room(folder).unwrap_or(0);
                    row[folder] = fit::cut_front(&path, room, self.screen.paint.ascii).into_owned();
                }
            }
            output.text(&listing.rows(rows))?;
        }
        output.text(&listing.foot())
    }

    /// Returns what a session is about, indented below the session that it is a fork of.
    fn title(&self, row: &SessionRow, depth: usize) -> String {
        let words = match &row.found {
            Ok(head) => {
                head.title.clone().or_else(|| head.first_prompt.clone()).unwrap_or_else(|| "(no prompt)".into())
            }
            Err(error) => format!("{}: {error}", self.screen.tilde(&row.path.display().to_string())),
        };
        if self.screen.paint.in_words && depth > 0 {
            return format!("fork, depth {depth}: {}", self.screen.tilde(&words));
        }
        let mark = if self.screen.paint.ascii { "`- " } else { "└─ " };
        let indent = match depth {
            0 => String::new(),
            depth => format!("{}{mark}", "   ".repeat(depth.min(LEVELS) - 1)),
        };
        indent + &self.screen.tilde(&words)
    }

    /// Returns what the listed sessions have together.
    fn sum(&self) -> String {
        let sum = self.list.sum();
        let sessions = counted(self.list.readable().len(), "session", "sessions");
        let (entries, messages) =
            (counted(sum.entries, "entry", "entries"), counted(sum.messages, "message", "messages"));
        let (turns, tokens) = (counted(sum.turns, "turn", "turns"), whole(sum.usage.total_tokens));
        let odd = match sum.odd {
            0 => String::new(),
            odd => format!("; left out: {}", counted(odd, "impossible amount", "impossible amounts")),
        };
        format!(
            "{sessions}: {entries}, {messages}, {turns}, {tokens} tokens, ${:.4}; what forks share counts once{odd}\n",
            sum.usage.cost
        )
    }
}

/// Returns as much of the id of each row as names it among all others.
pub(crate) fn ids(list: &SessionList) -> Vec<String> {
    let ids = list.rows().iter().map(|row| row.head().map_or("-", |head| &head.id));
    short_ids(&ids.collect::<Vec<_>>())
}

/// Returns the numbers of a session that was read whole; empty ones for others.
fn totals(row: &SessionRow) -> [String; 5] {
    let Some(totals) = &row.totals else { return Default::default() };
    let all = &totals.all;
    let cost = format!("${:.4}", all.usage.cost);
    [all.entries.to_string(), all.messages.to_string(), totals.branches.to_string(), all.turns.to_string(), cost]
}

/// Returns a length in the largest fitting unit.
fn size(row: &SessionRow) -> String {
    let Some(size) = row.size() else { return String::new() };
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if size < 1000 {
        return format!("{size} B");
    }
    // In tenths of the unit.
    let (mut tenths, mut unit) = (size / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        (tenths, unit) = (tenths / 1000, unit + 1);
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

fn stamp(ms: Option<i64>) -> Stamp {
    ms.map_or(Stamp::Absent, Stamp::Other)
}

/// Returns what to say of files that the system does not let be read, if there are any.
pub(crate) fn unread(list: &SessionList) -> Option<String> {
    let rows = list.listed().iter().map(|&at| &list.rows()[at]);
    let mut closed = rows.filter(|row| matches!(row.found, Err(Error::Io { .. })));
    let first = closed.next()?;
    let files = counted(1 + closed.count(), "file", "files");
    Some(format!("{files} cannot be read, so that they may be of this folder; the first is `{}`", first.path.display()))
}

/// Prints the paths of the listed files, each on a line, or ended by NUL.
///
/// # Errors
/// [`io::Error`] of the output.
pub(crate) fn paths(list: &SessionList, order: &[PlacedRow], is_null: bool) -> io::Result<()> {
    let mut output = Output::new();
    // What cannot even be looked at may be a folder.
    let is_file = |row: &&SessionRow| row.found.is_ok() || row.state.is_some();
    for row in order.iter().map(|placed| &list.rows()[placed.row]).filter(is_file) {
        output.path_with(&row.path, if is_null { "\0" } else { "\n" })?;
    }
    output.finish()
}

/// Prints an object for each listed session, all of them as an array or one a line.
///
/// # Errors
/// [`io::Error`] of the output.
pub(crate) fn json(list: &SessionList, order: &[PlacedRow], is_array: bool) -> io::Result<()> {
    let (mut output, mut objects) = (Output::new(), JsonList::new(is_array));
    for placed in order {
        let row = &list.rows()[placed.row];
        let failure = row.found.as_ref().err().map(|error| Failure::new(error, &row.path));
        objects.add(&mut output, &ListedRow::new(list, placed.row, failure.as_ref()))?;
    }
    objects.end(&mut output)?;
    output.finish()
}

/// A session of a list, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedRow<'a> {
    path: String,
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_session: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_path: Option<String>,
    title: Option<&'a str>,
    first_prompt: Option<&'a str>,
    cwd: Option<&'a str>,
    version: Option<u32>,
    created: Option<String>,
    written: Option<String>,
    size: Option<u64>,
    #[serde(flatten)]
    totals: Option<TotalsRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ReportRow<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TotalsRow<'a> {
    entries: usize,
    messages: usize,
    branches: usize,
    turns: usize,
    labels: usize,
    models: &'a [String],
    usage: AmountsRow,
    own_usage: AmountsRow,
}

impl<'a> ListedRow<'a> {
    fn new(list: &'a SessionList, row: usize, failure: Option<&'a Failure>) -> Self {
        let parent_path = list.parent_path(row).map(|path| path.display().to_string());
        let row = &list.rows()[row];
        let head = row.head();
        let text = |of: fn(&SessionHead) -> Option<&str>| head.and_then(of);
        let totals = row.totals.as_ref().map(|totals| TotalsRow {
            entries: totals.all.entries,
            messages: totals.all.messages,
            branches: totals.branches,
            turns: totals.all.turns,
            labels: totals.labels,
            models: &totals.models,
            usage: totals.all.usage.into(),
            own_usage: totals.own.usage.into(),
        });
        Self {
            path: row.path.display().to_string(),
            session_id: head.map(|head| head.id.as_str()),
            parent_session: text(|head| head.parent.as_deref()),
            parent_path,
            title: text(|head| head.title.as_deref()),
            first_prompt: text(|head| head.first_prompt.as_deref()),
            cwd: text(|head| head.cwd.as_deref()),
            version: head.map(|head| head.version),
            created: head.and_then(|head| head.created).map(time::iso),
            written: row.written().map(time::iso),
            size: row.size(),
            totals,
            problem: failure.map(ReportRow::from),
        }
    }
}
