//! `tree` of several sessions: one after the other, each read and printed on a thread of its own into a
//! buffer, and written in their order as soon as they are there.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::args::{Format, TreeArgs};
use super::printer::OneOfSeveral;
use crate::cmd::Task;
use crate::cmd::sessions::Unread;
use crate::cmd::{App, paths, world};
use crate::core::error::problem::Problem;
use crate::core::naming::files::Named;
use crate::core::naming::short::short_ids;
use crate::core::read::front::front;
use crate::core::read::load::LoadOptions;
use crate::core::search::Query;
use crate::core::session::Session;
use crate::core::store::search;
use crate::parallel::Pool;
use crate::ui::exit::Exit;
use crate::ui::output::{Kept, Output};

/// How many printed sessions each thread may be ahead of the output.
const AHEAD: usize = 4;

/// What is printed of a session.
struct Printed {
    /// `None` if nothing of it is to be printed.
    kept: Option<Kept>,
    problems: Vec<Problem>,
}

/// Prints all sessions, in order.
pub(super) fn run(args: &TreeArgs, app: &App, query: Option<&Query>) -> Result<ExitCode> {
    let files = args.sessions.files(app)?;
    let mut several = Several::new(args, app);
    // An interrupted run closes its document, and takes its bar from the terminal.
    world::prepare_document()?;
    let (is_terminal, all) = (several.output.is_terminal(), files.iter().map(Named::len).sum());
    let ids = ids(args, app, &files)?;
    let print = |at: usize| {
        let one = OneOfSeveral { file: args.sessions.name(&files[at].path), id: &ids[at] };
        print(args, app, query, (&files[at], one), paths::threads(app, &files[at], all), is_terminal)
    };
    let jobs = app.jobs.min(files.len()).max(1);
    let pool = Pool::new(jobs, jobs.saturating_mul(AHEAD));
    let doing = if query.is_some() { "searching" } else { "reading" };
    let done = paths::work(app, doing, files.len(), pool, print, |at, printed, progress| {
        world::wait(Duration::ZERO).check()?;
        match progress {
            Some(progress) => progress.aside(|| several.take(&files[at], printed)),
            None => several.take(&files[at], printed),
        }
    });
    several.finish(query.is_some(), done)
}

/// Returns as much of the id of each session as tells it apart from the others, where ids are printed; empty for
/// what is no file.
fn ids(args: &TreeArgs, app: &App, files: &[Named]) -> Result<Vec<String>> {
    if args.is_json() {
        return Ok(vec![String::new(); files.len()]);
    }
    let read = |file: &Named, _| file.state.and_then(|_| front(&file.path).ok()).map(|(_, start)| start.header.id);
    let ids: Vec<_> = paths::each(app, "reading", files, read)?.into_iter().map(Option::unwrap_or_default).collect();
    Ok(short_ids(&ids.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// Prints one session to be written later. Runs on any thread.
fn print(
    args: &TreeArgs,
    app: &App,
    query: Option<&Query>,
    (file, one): (&Named, OneOfSeveral<'_>),
    jobs: usize,
    is_terminal: bool,
) -> Result<Printed> {
    let source = app.open(&file.path)?;
    let nothing = Printed { kept: None, problems: Vec::new() };
    // What was named has to be a session in any case.
    if let Some(query) = query.filter(|_| !file.is_named)
        && !search::may_hold(&source, query)?
    {
        return Ok(nothing);
    }
    let mut output = Output::later(is_terminal);
    let mut problems = Vec::new();
    let load = |keep: LoadOptions<'_>| -> Result<Session> {
        let session = Session::load(source, keep, jobs)?;
        problems = session.problems.list();
        Ok(session)
    };
    let is_shown = args.show(app, query, &mut output, jobs, Some(one), load)?;
    Ok(if is_shown { Printed { kept: Some(output.kept()?), problems } } else { nothing })
}

/// The sessions that were printed so far.
struct Several<'a> {
    args: &'a TreeArgs,
    app: &'a App,
    output: Output,
    /// How many files are sessions.
    sessions: usize,
    /// How many of them are printed.
    printed: usize,
    unread: Unread,
}

impl<'a> Several<'a> {
    fn new(args: &'a TreeArgs, app: &'a App) -> Self {
        Self { args, app, output: Output::new(), sessions: 0, printed: 0, unread: Unread::default() }
    }

    /// Writes what was printed of a file, or reports why there is nothing.
    fn take(&mut self, file: &Named, printed: Result<Printed>) -> Result<()> {
        let name = self.args.sessions.name(&file.path);
        let Printed { kept, problems } = match printed {
            Ok(printed) => printed,
            Err(error) => return self.unread.add(self.app, file, name, error),
        };
        self.sessions += 1;
        self.app.report.problems(&problems, name);
        let Some(kept) = kept else { return Ok(()) };
        self.output.text(match (self.args.format.get(), self.printed) {
            (Format::Json, 0) => "[",
            (Format::Json, _) => ",",
            (Format::Text | Format::Table, 1..) => "\n",
            _ => "",
        })?;
        self.printed += 1;
        self.output.add(kept)?;
        // Whoever reads the rows need not wait for the next file.
        Ok(self.output.flush()?)
    }

    /// Ends the output after all files, or after an error that `done` is.
    fn finish(mut self, is_search: bool, done: Result<()>) -> Result<ExitCode> {
        if done.is_ok() {
            self.unread.finish(self.app, self.sessions, &self.args.sessions)?;
        }
        if self.args.format.get() == Format::Json {
            self.output.text(if self.printed == 0 { "[]\n" } else { "]\n" })?;
        }
        self.output.finish()?;
        done?;
        Ok(match (self.unread.has_failed, is_search && self.printed == 0) {
            (true, _) => Exit::CouldNot,
            (false, true) => {
                self.args.tell_of_nothing(self.app);
                Exit::SaysNo
            }
            (false, false) => Exit::Done,
        }
        .into())
    }
}
