//! `tree --follow`: rows as they come, until a signal or the time limit.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use super::args::{Format, TreeArgs};
use super::printer::Printer;
use crate::cmd::{App, world};
use crate::core::entry::Traits;
use crate::core::read::load::LoadOptions;
use crate::core::search::Query;
use crate::core::session::body::Bodies;
use crate::core::tree::follow::{FollowedSession, Look, NewRow};
use crate::core::tree::view::{Search, View};
use crate::ui::entry;
use crate::ui::exit::Exit;
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};

/// How many looks in a row find no session before that is said: whoever writes a file anew may empty it first.
const PATIENCE: u32 = 4;

/// Prints the tree, then each row as it comes.
pub(super) fn run(args: &TreeArgs, app: &App, query: Option<&Query>) -> Result<ExitCode> {
    world::prepare_document()?;
    let file = &args.session.session;
    let row = |traits: Traits, words: &str| entry::searched(&app.screen, traits, words);
    let search = query.map(|query| Search { query, row: &row, step: &|| {} });
    let view = View { filter: args.filter, period: args.period(), search, ..View::default() };
    let words = |traits: Traits| view.keeps(traits, true);
    let options = LoadOptions { words: &words, calls: view.keeps_calls(), usage: false };
    let followed = FollowedSession::open(file, options, app.jobs).about(file)?;
    let mut follower = Follower { args, app, query, view, followed, output: Output::new() };
    follower.whole()?;
    let mut looks = world::Looks::new(args.timeout);
    let mut failed = 0;
    while looks.wait(&follower.output)? {
        let look = follower.followed.look(file, app.jobs);
        failed = if look.is_ok() { 0 } else { failed + 1 };
        let has_rows = match look {
            Ok(Look::Nothing) => false,
            Ok(Look::Appended | Look::ReadAgain) => follower.added().about(file)?,
            Ok(Look::OtherSession) => follower.whole()?,
            Err(error) => {
                if failed == PATIENCE {
                    let why = Failure::new(&error, Path::new("-")).message;
                    app.report.hint(&format!("{why}: waiting for a session in `{}`", file.display()));
                }
                false
            }
        };
        if has_rows {
            looks.row_came();
        }
    }
    Ok(Exit::Done.into())
}

/// A session that is followed, and where its rows go.
struct Follower<'a> {
    args: &'a TreeArgs,
    app: &'a App,
    query: Option<&'a Query>,
    view: View<'a>,
    followed: FollowedSession,
    output: Output,
}

impl Follower<'_> {
    /// Prints all of a session, as without `--follow`. Returns whether there was a row.
    fn whole(&mut self) -> Result<bool> {
        self.warn();
        let session = self.followed.session();
        let leaf = session.leaf();
        let shown = self.view.show(&mut Bodies::new(session), leaf).about(&self.args.session.session)?;
        let mut printer = printer(self.args, self.app, self.query, &self.followed, &mut self.output);
        let nodes = shown.shape.nodes.clone();
        match self.args.format.get() {
            Format::Jsonl => printer.lines(&shown),
            _ => printer.text(&shown),
        }
        .about(&self.args.session.session)?;
        self.output.release()?;
        self.followed.printed(nodes.iter().copied());
        Ok(!nodes.is_empty())
    }

    /// Prints the rows that the last look brought. Returns whether there are any.
    fn added(&mut self) -> Result<bool> {
        self.warn();
        let rows = self.followed.new_rows(&self.view)?;
        if rows.is_empty() {
            return Ok(false);
        }
        let mut printer = printer(self.args, self.app, self.query, &self.followed, &mut self.output);
        match self.args.format.get() {
            Format::Jsonl => printer.new_lines(&rows)?,
            _ => printer.new_text(&rows)?,
        }
        self.output.release()?;
        self.followed.printed(rows.iter().map(|NewRow { node, .. }| *node));
        Ok(true)
    }

    fn warn(&mut self) {
        self.app.report.problems(&self.followed.new_problems(), &self.args.session.session);
    }
}

fn printer<'v>(
    args: &'v TreeArgs,
    app: &'v App,
    query: Option<&'v Query>,
    followed: &'v FollowedSession,
    output: &'v mut Output,
) -> Printer<'v> {
    let session = followed.session();
    let (leaf, bodies) = (session.leaf(), Bodies::new(session));
    Printer { app, args, session, leaf, query, bodies, output, jobs: app.jobs, file: None, id: "" }
}
