//! `list`: the sessions of a folder, or of all.

use std::collections::HashSet;
use std::env;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::args::query;
use super::lookup;
use super::paths;
use super::{App, Task, folders, world};
use crate::core::entry::Traits;
use crate::core::error::Error;
use crate::core::error::problem::WarningKind;
use crate::core::naming::files::{self, Named, Searched};
use crate::core::naming::session::word::is_path;
use crate::core::read::source::Source;
use crate::core::search::Query;
use crate::core::store::list::SessionList;
use crate::core::store::row::SessionRow;
use crate::core::store::search;
use crate::core::store::whole;
use crate::core::time::Stamp;
use crate::core::time::when::Period;
use crate::core::words::shell_word;
use crate::parallel::Pool;
use crate::ui::entry;
use crate::ui::exit::Exit;
use crate::ui::report::Failure;
use crate::ui::sessions::{self, SessionsTable};

use args::Format;
pub use args::ListArgs;

mod args;

/// What standard input is called among paths.
const STDIN: &str = "-";

/// Opens the file of a row.
type OpenFile<'a> = dyn Fn(&Named) -> Result<Source, Error> + Sync + 'a;

impl Task for ListArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        self.check()?;
        let query = query(self.search.as_deref(), self.regex)?;
        let family = self.family.take().map(|word| lookup::file(app, &word, false).map(|file| file.unwrap_or(word)));
        let family = family.transpose()?;
        let (mut list, stream) = self.read(app, family.as_deref())?;
        let open = |file: &Named| open(stream.as_ref(), file);
        self.choose(app, &mut list, family.as_deref());
        let chosen = list.listed().to_vec();
        let is_found = match &query {
            Some(query) => Self::search(app, &mut list, query, &open)?,
            None => true,
        };
        if !self.sort.is_of_totals() {
            self.cut(&mut list);
        }
        if self.long {
            Self::total(app, &mut list, &open)?;
            self.cut(&mut list);
        }
        let is_bad = self.report(app, &list, &chosen);
        // There is nothing to list of a name without a file.
        list.drop_missing();
        let first = self.print(app, &list)?;
        if !is_bad {
            self.guide(app, &list, query.as_ref().map(|_| first));
        }
        Ok(match (is_bad, is_found) {
            (true, _) => Exit::CouldNot,
            (false, false) => Exit::SaysNo,
            (false, true) => Exit::Done,
        }
        .into())
    }
}

impl ListArgs {
    fn check(&self) -> Result<()> {
        let format = self.format.get();
        if self.sort.is_of_totals() && !self.long {
            return Err(
                Failure::usage("`--sort` by cost or messages needs files that are read whole", "add `--long`").into()
            );
        }
        if self.null && format != Format::Path {
            return Err(Failure::usage("`--null` is for paths alone", "add `--format path`").into());
        }
        Ok(())
    }

    /// Returns whether the sessions of agents are listed, not those of paths.
    fn is_of_agents(&self) -> bool {
        self.paths.is_empty() && self.listed.is_empty()
    }

    /// Reads the ends of all files. Standard input is read too if it is one of them, and kept.
    fn read(&self, app: &App, family: Option<&Path>) -> Result<(SessionList, Option<Source>)> {
        let mut given = match self.is_of_agents() {
            true => folders::sessions().all(),
            false => self.listed.with(&self.paths)?,
        };
        let count = given.len();
        given.retain(|path| path != Path::new(STDIN));
        let (stream, row) = (given.len() < count).then(|| self.stream(app)).unzip();
        let mut files = files::find(given, Searched::Packed);
        // The folders of agents are named by nobody.
        files.iter_mut().for_each(|file| file.is_named &= !self.is_of_agents());
        files.extend(family.filter(|&family| family != Path::new(STDIN)).map(Named::at));
        // From here on an interrupted run takes its bar from the terminal before it ends.
        world::prepare_document()?;
        let mut rows = paths::each(app, "reading", &files, |file, _| SessionRow::read(file))?;
        rows.extend(row);
        let (list, passed_over) = SessionList::new(rows);
        app.passed_over(&passed_over);
        Ok((list, stream.flatten()))
    }

    /// Takes in standard input, and reads its ends.
    fn stream(&self, app: &App) -> (Option<Source>, SessionRow) {
        let name = self.listed.name(Path::new(STDIN));
        match app.open(Path::new(STDIN)) {
            Ok(stream) => {
                let row = SessionRow::of_stream(name, &stream);
                (Some(stream), row)
            }
            Err(error) => {
                let file = Named { path: name.to_owned(), is_named: true, state: None };
                (None, SessionRow::of(&file, Err(error)))
            }
        }
    }

    /// Keeps what the options ask for that need no more reading.
    fn choose(&self, app: &App, list: &mut SessionList, family: Option<&Path>) {
        if let Some(family) = family {
            list.keep_family(self.listed.name(family));
        } else if self.is_of_agents() && !self.all {
            let cwd = env::current_dir().unwrap_or_default();
            if let Some(message) = sessions::unread(list) {
                app.report.warn(WarningKind::PassedOver, &message, None, None);
            }
            match list.keep_nearest(&cwd) {
                Some(folder) if folder != cwd => {
                    app.report.hint(&format!(
                        "no session belongs to this folder: these belong to `{}`",
                        app.screen.tilde(&folder.display().to_string())
                    ));
                }
                Some(_) => {}
                None => app
                    .report
                    .hint("no session belongs to this folder or to one above it; `--all` lists those of all folders"),
            }
        }
        let period = Period { since: self.since, until: self.until };
        if period.is_bound() {
            let is_in = |row: &SessionRow| row.written().is_some_and(|ms| period.holds(Stamp::Other(ms)) == Some(true));
            list.keep(|_, row| is_in(row));
        }
    }

    /// Keeps the sessions that hold the words of a search; returns whether there are any.
    fn search(app: &App, list: &mut SessionList, query: &Query, open: &OpenFile<'_>) -> Result<bool> {
        let row = |traits: Traits, words: &str| entry::searched(&app.screen, traits, words);
        let readable = list.readable();
        let files: Vec<_> = readable.iter().map(|&at| list.rows()[at].file()).collect();
        let found = paths::each(app, "searching", &files, |file, threads| {
            open(file).and_then(|source| search::holds(source, query, &row, threads))
        })?;
        let mut hits = HashSet::new();
        for (at, found) in readable.into_iter().zip(found) {
            match found {
                Ok(false) => {}
                Ok(true) => _ = hits.insert(at),
                Err(error) => list.fail(at, error),
            }
        }
        list.keep(|at, _| hits.contains(&at));
        Ok(!hits.is_empty())
    }

    /// Reads all listed files whole.
    fn total(app: &App, list: &mut SessionList, open: &OpenFile<'_>) -> Result<()> {
        let (reader, mut sums) = whole::prepare(list);
        let files: Vec<_> = reader.order().iter().map(|&at| list.rows()[at].file()).collect();
        let all = files.iter().map(Named::len).sum();
        let read = |at: usize| {
            let source = open(&files[at])?;
            reader.read(reader.order()[at], source, paths::threads(app, &files[at], all))
        };
        let pool = Pool::new(app.jobs, usize::MAX);
        paths::work(app, "reading", files.len(), pool, read, |at, read, _| {
            world::wait(Duration::ZERO).check()?;
            list.take(&mut sums, reader.order()[at], read);
            Ok(())
        })
    }

    fn cut(&self, list: &mut SessionList) {
        if let Some(count) = self.limit {
            let order = list.place(self.sort, self.flat);
            list.keep_first(&order, count);
        }
    }

    /// Prints the list; returns its first row.
    fn print(&self, app: &App, list: &SessionList) -> Result<Option<usize>> {
        let order = list.place(self.sort, self.flat);
        match self.format.get() {
            Format::Text | Format::Table => {
                let has_headings = self.format.get() == Format::Table;
                let table =
                    SessionsTable { list, order: &order, is_long: self.long, has_headings, screen: &app.screen };
                table.print()?;
            }
            Format::Path => sessions::paths(list, &order, self.null)?,
            Format::Json | Format::Jsonl => sessions::json(list, &order, self.format.get() == Format::Json)?,
        }
        Ok(order.first().map(|placed| placed.row))
    }

    /// Reports what cannot be read: as an error if it was named, else as a warning. Returns whether any was named.
    fn report(&self, app: &App, list: &SessionList, chosen: &[usize]) -> bool {
        let mut is_bad = false;
        for row in chosen.iter().map(|&at| &list.rows()[at]) {
            let Err(error) = &row.found else { continue };
            let mut failure = paths::failure(error, &row.path);
            if row.is_named {
                if let Some(text) = self.search.as_deref().filter(|_| row.is_missing() && !is_path(&row.path)) {
                    let words = shell_word(format!("{text} {}", row.path.display()).as_ref());
                    failure.hint = Some(format!("several words to search for are one argument: `--search {words}`"));
                }
                app.report.failure(&failure);
                is_bad = true;
            } else {
                app.report.warn(WarningKind::Unreadable, &failure.message, Some(&row.path), failure.line);
            }
        }
        is_bad
    }

    fn is_for_programs(&self) -> bool {
        !matches!(self.format.get(), Format::Text | Format::Table)
    }

    /// Prints a hint how to look into what was found, the first of which is in `found`, or where else to look.
    fn guide(&self, app: &App, list: &SessionList, found: Option<Option<usize>>) {
        let text = self.search.as_deref().unwrap_or_default();
        match found {
            None if list.rows().is_empty() && !self.is_of_agents() => {
                app.report.hint("without a PATH `list` shows the sessions of this folder, wherever agents keep them");
            }
            None => {}
            Some(None) => {
                let all = if self.is_of_agents() && !self.all { "; `--all` searches those of all folders" } else { "" };
                let has = if self.regex { "matches" } else { "has all the words" };
                app.report.hint(&format!("no session that was searched {has}: {text}{all}"));
            }
            // A stream is gone when it was read.
            Some(Some(row)) if !self.is_for_programs() && list.rows()[row].state.is_some() => {
                let name = match self.is_of_agents() {
                    true => sessions::ids(list)[row].clone(),
                    false => list.rows()[row].path.display().to_string(),
                };
                let (name, words) = (shell_word(name.as_ref()), shell_word(text.as_ref()));
                let regex = if self.regex { " --regex" } else { "" };
                app.report.hint(&format!("`session-tree tree {name} --search {words}{regex}` shows where"));
            }
            Some(Some(_)) => {}
        }
    }
}

/// Opens the file of a row that can be read, once more if it is the stream: nothing else has no state.
fn open(stream: Option<&Source>, file: &Named) -> Result<Source, Error> {
    match stream.filter(|_| file.state.is_none()) {
        Some(stream) => stream.again(),
        None => Source::session(&file.path),
    }
}
