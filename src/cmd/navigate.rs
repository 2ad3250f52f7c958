//! `navigate`: moves the leaf within a file.

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgGroup, Args};

use super::args::{FormatArg, HookArgs, SessionArg, TextOrJson, Writing};
use super::summary::SummaryArgs;
use super::{App, Task, folders, world};
use crate::core::edit::commit;
use crate::core::edit::navigate::{Move, MoveOutcome, MoveRequest, MoveView};
use crate::core::error::problem::WarningKind;
use crate::core::read::load::LoadOptions;
use crate::core::session::body::Bodies;
use crate::hooks::{HookAnswer, SessionInfo};
use crate::ui::escape;
use crate::ui::exit::Exit;
use crate::ui::moved::MoveReport;
use crate::ui::output::Output;
use crate::ui::report::AboutFile;

/// Move the leaf to another entry of the same file
///
/// A user message is taken back: the leaf goes to its parent and its text is printed, to be edited
/// and sent again. Without `--save`, `--label` or a summary nothing is written: the move is only
/// reported, and `--leaf` lets any command work from there. With one of them a line is appended,
/// and every agent resumes there. An entry has one label: `--label` replaces it. A file of version
/// 1 or 2 is migrated in the same step, without a copy; `migrate --backup` before that keeps the
/// original.
#[derive(Debug, Args)]
#[command(group(
    ArgGroup::new("change").multiple(true).args(["save", "label", "summary", "summary_file", "summarize"])
))]
#[command(mut_args(|arg| Writing::only_with(arg, "change")))]
#[command(after_long_help = super::naming("\
Examples:
  session-tree navigate session.jsonl user:1           take the last prompt back
  session-tree navigate session.jsonl label:ok --save  go back for good
  session-tree navigate session.jsonl @~4 --summary 'Tried rounding: no use.'
  session-tree navigate session.jsonl @~4 --summarize --summarizer 'llm -s'
  session-tree navigate session.jsonl 00c0e277 --dry-run --json"))]
pub struct NavigateArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Entry to go to: an id or its start, @, label:NAME, user:N or assistant:N, also with ~N; or --root
    #[arg(value_name = "ENTRY", required_unless_present = "root", conflicts_with = "root")]
    entry: Option<String>,
    /// Go to the start, before the first entry
    #[arg(long)]
    root: bool,
    /// Go to ENTRY itself, also if it is a message that would be taken back
    #[arg(long, hide_short_help = true, requires = "entry", conflicts_with = "root")]
    exact: bool,
    /// Start from before the first entry: nothing is left behind
    #[arg(long, hide_short_help = true, conflicts_with = "leaf")]
    from_root: bool,
    /// Start from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY", hide_short_help = true)]
    leaf: Option<String>,
    #[command(flatten)]
    summary: SummaryArgs,
    /// Label the summary, or ENTRY if there is none
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Save the move, so that agents resume there
    #[arg(long)]
    save: bool,
    /// Only print what would be done
    #[arg(long)]
    dry_run: bool,
    /// Print what the summarizer would be asked (with --dry-run --summarize)
    #[arg(long, hide_short_help = true, requires_all = ["dry_run", "summarize"])]
    #[arg(conflicts_with_all = ["summary", "summary_file"])]
    prompt: bool,
    #[command(flatten)]
    hooks: HookArgs,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    format: FormatArg<TextOrJson>,
}

impl Task for NavigateArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        let summary = self.summary.request()?;
        let request = MoveRequest { summary, save: self.save, label: self.label.clone() };
        self.session.find(app, request.writes())?;
        self.navigate(app, &request).about(&self.session.session)
    }
}

impl NavigateArgs {
    fn navigate(&self, app: &App, request: &MoveRequest) -> Result<ExitCode> {
        request.check(self.root)?;
        if request.writes() && !self.dry_run {
            self.session.must_be_a_file()?;
        }
        let session = app.load(&self.session.session, LoadOptions::INDEX_ONLY)?;
        if request.writes() {
            commit::check(&session)?;
        }
        let mut bodies = Bodies::new(&session);
        let plan = self.plan(app, request, &mut bodies)?;
        let would_write = if self.dry_run { request.types(&mut bodies, &plan)? } else { Vec::new() };
        let prompt = if self.prompt { request.prompt(&mut bodies, &plan)? } else { None };
        if let Some(prompt) = prompt.as_deref().filter(|_| !self.format.is_json()) {
            let mut output = Output::new();
            output.text(&escape::lines(prompt))?;
            return Ok(output.finish().map(|()| ExitCode::SUCCESS)?);
        }
        let print = |view: &MoveView, outcome: &MoveOutcome, synced: Option<bool>| -> Result<()> {
            let report = MoveReport {
                session: &session,
                plan: &plan,
                view,
                outcome,
                is_dry: self.dry_run,
                would_write: &would_write,
                label: self.label.as_deref(),
                prompt: prompt.as_deref(),
                writes: request.writes(),
                synced,
                path: &self.session.session,
                was_found: self.session.found().is_some(),
                agent: folders::agent(&self.session.session, &session),
            };
            Ok(report.print(self.format.is_json(), &app.screen, app.report)?)
        };
        if plan.is_noop || self.dry_run {
            let view = MoveView::read(&mut bodies, &plan, plan.position)?;
            print(&view, &MoveOutcome::Unwritten, None)?;
            return Ok(ExitCode::SUCCESS);
        }
        world::prepare()?;
        let hooks = self.hooks.hooks();
        let info = SessionInfo::new(&self.session.session, &session);
        let answer = hooks.before_move(&info, &mut bodies, &plan, request.wants_summary());
        let from_hook = match answer.map_err(world::hook_trouble)? {
            HookAnswer::Go => None,
            HookAnswer::Summary(summary) => Some(summary),
            HookAnswer::Cancel { by } => {
                let view = MoveView::read(&mut bodies, &plan, plan.old)?;
                print(&view, &MoveOutcome::Cancelled { by }, None)?;
                return Ok(Exit::Cancelled.into());
            }
        };
        let summary = request.summary(&mut bodies, &plan, from_hook, self.summary.summarizer())?;
        let is_unsummarized = request.wants_summary() && summary.is_none();
        let record = request.clone().record(summary);
        if is_unsummarized {
            let label = if self.root && self.label.is_some() { ", so there is nothing to label" } else { "" };
            let what = if record.is_empty() { "nothing is written" } else { "moved without a summary" };
            let message = format!("nothing that is left behind has any text: {what}{label}");
            self.session.warn(app, WarningKind::NothingToSummarize, &message);
        }
        let view = MoveView::read(&mut bodies, &plan, plan.position)?;
        // From here on nothing but printing can fail after the move is in the file.
        let (mut outcome, mut not_synced) = (MoveOutcome::Unwritten, None);
        if !record.is_empty() {
            let (file, mut fresh) = (self.session.file(app, &self.writing), world::entry_id);
            let mut ids = world::ids_and_time(&mut fresh);
            let mut written = record.write(file, &session, &plan, self.from_root || self.leaf.is_some(), &mut ids)?;
            not_synced = self.session.committed(app, &mut written.committed);
            outcome = MoveOutcome::Written(written);
        }
        let exit = self.session.after_hooks(app, &hooks.after_move(&info, &session, &plan, &outcome));
        let printed = print(&view, &outcome, not_synced.as_ref().map(|_| false));
        if record.is_empty() { printed } else { super::ended(printed, None, not_synced) }.map(|()| exit)
    }

    /// Returns the move, which may be made as it is asked for.
    fn plan(&self, app: &App, request: &MoveRequest, bodies: &mut Bodies<'_>) -> Result<Move> {
        let session = bodies.session();
        let leaf = self.session.leaf(session, self.leaf.as_deref())?;
        let old = leaf.filter(|_| !self.from_root);
        let target = self.entry.as_ref().map(|name| self.session.place(session, leaf, name)).transpose()?;
        let plan = match self.exact {
            true => Move::exact(session, old, target),
            false => Move::plan(bodies, old, target)?,
        };
        let plan = request.settle(bodies, plan)?;
        if plan.is_noop {
            self.warn_of_noop(app, request);
            return Ok(plan);
        }
        if request.writes() {
            plan.check(session)?;
        }
        request.check_writers(self.hooks.are_given() || self.prompt, self.summary.summarizer().is_some())?;
        Ok(plan)
    }

    fn warn_of_noop(&self, app: &App, request: &MoveRequest) {
        let ignored = request.options();
        if !ignored.is_empty() {
            let message = format!("the leaf is already there: {} did nothing", ignored.join(", "));
            self.session.warn(app, WarningKind::Noop, &message);
        }
    }
}
