//! `context --stats` of several sessions: a line each, and what they used together.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;

use super::args::ContextArgs;
use super::measure::measure as measure_part;
use crate::cmd::sessions::Unread;
use crate::cmd::{App, paths, world};
use crate::core::context::held;
use crate::core::error::problem::Problem;
use crate::core::naming::files::Named;
use crate::core::read::load::LoadOptions;
use crate::core::session::Session;
use crate::core::session::body::Bodies;
use crate::core::store::sum::{FamilyMember, FamilySum};
use crate::core::tree::walk;
use crate::parallel::Pool;
use crate::ui::exit::Exit;
use crate::ui::json::{SessionName, SessionPart};
use crate::ui::output::{JsonList, Output};
use crate::ui::stats::{self, StatsLine, StatsRow};

/// What is known of a session.
struct Measured {
    line: StatsLine,
    /// The line as an object, with a JSON format.
    object: Vec<u8>,
    member: FamilyMember,
    problems: Vec<Problem>,
}

/// Prints a line for each session, and a sum.
pub(super) fn run(args: &ContextArgs, app: &App) -> Result<ExitCode> {
    let files = args.sessions.files(app)?;
    // An interrupted run takes its bar from the terminal.
    world::prepare_document()?;
    let all = files.iter().map(Named::len).sum();
    let sum = FamilySum::default();
    let measure = |at: usize| measure(args, app, &files[at], &sum, paths::threads(app, &files[at], all));
    let (mut lines, mut objects, mut members) = (Vec::new(), Vec::new(), Vec::new());
    let mut unread = Unread::default();
    paths::work(app, "reading", files.len(), Pool::new(app.jobs, usize::MAX), measure, |at, measured, _| {
        world::wait(Duration::ZERO).check()?;
        let name = args.sessions.name(&files[at].path);
        match measured {
            Ok(Measured { line, object, member, problems }) => {
                app.report.problems(&problems, name);
                lines.push(line);
                objects.push(object);
                members.push(member);
            }
            Err(error) => unread.add(app, &files[at], name, error)?,
        }
        Ok(())
    })?;
    let finished = unread.finish(app, lines.len(), &args.sessions);
    let mut output = Output::new();
    if args.format.is_json() {
        let mut list = JsonList::new(true);
        objects.iter().try_for_each(|object| list.add_json(&mut output, object))?;
        list.end(&mut output)?;
    } else if !lines.is_empty() {
        output.text(&stats::lines(lines, &sum.of(members), &app.screen))?;
    }
    output.finish()?;
    finished?;
    Ok(if unread.has_failed { Exit::CouldNot } else { Exit::Done }.into())
}

/// Measures one session. Runs on any thread.
fn measure(args: &ContextArgs, app: &App, file: &Named, sum: &FamilySum, jobs: usize) -> Result<Measured> {
    let keep = LoadOptions { usage: true, ..LoadOptions::INDEX_ONLY };
    let session = Session::load(app.open(&file.path)?, keep, jobs)?;
    let mut bodies = Bodies::new(&session);
    let context = held::build(&mut bodies, session.leaf(), args.sent.rules(None))?;
    let mut problems = session.problems.list();
    problems.extend(context.problems.list());
    let (part, stats) = measure_part(args.all, &mut bodies, &context, jobs)?;
    let name = SessionName::new(args.sessions.name(&file.path), &session);
    let row = SessionPart { session: Some(name), row: StatsRow::new(&session, part, &stats) };
    let object = if args.format.is_json() { serde_json::to_vec(&row)? } else { Vec::new() };
    let line = StatsLine::new(&session, &bodies.title()?, &stats, &app.screen);
    let on_path = (!args.all).then(|| walk::active(&session, session.leaf()));
    let member = sum.member(file, &session, |node| on_path.as_ref().is_none_or(|path| path[node.index()]))?;
    Ok(Measured { line, object, member, problems })
}
