//! `navigate`: moves the leaf within a file.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::value::RawValue;

use super::world::{self, Writing};
use super::{App, SessionArg};
use crate::core::body::Bodies;
use crate::core::commit::{self, Anchor, Commit, Committed, Guard};
use crate::core::context::{self, Context};
use crate::core::draft::Draft;
use crate::core::files::Files;
use crate::core::label;
use crate::core::load::Keep;
use crate::core::navigate::{Move, Summary, Trace};
use crate::core::session::{NodeId, Session};
use crate::ui::json::{ContextSize, Navigated};
use crate::ui::moved::{self, Told};
use crate::ui::output::Output;
use crate::ui::report::Failure;

/// Move the leaf to another entry of the same file
///
/// A user message is taken back: the leaf goes to its parent and its text is printed, to be edited
/// and sent again. Without `--save`, `--label` or a summary nothing is written: the move is only
/// reported, and `--leaf` lets any command work from there. With one of them a line is appended,
/// and every agent resumes there.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-tree navigate session.jsonl user:1             take the last prompt back
  session-tree navigate session.jsonl label:ok --save    go back to a label, for good
  session-tree navigate session.jsonl @~4 --summary 'Tried rounding at the end: two carts are still off.'
  session-tree navigate session.jsonl 00c0e277 --dry-run --json")]
pub struct NavigateArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Entry to go to: an id or its start, @, label:NAME, user:N, each with ~N
    #[arg(value_name = "ENTRY", required_unless_present = "root", conflicts_with = "root")]
    entry: Option<String>,
    /// Go to before the first entry
    #[arg(long)]
    root: bool,
    /// Come from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    /// Attach this summary of what is left behind
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Attach the summary in this file; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "summary")]
    summary_file: Option<PathBuf>,
    /// Label the summary, else ENTRY
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Make the move last: agents resume there
    #[arg(long)]
    save: bool,
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    writing: Writing,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Words for people
    Text,
    /// One object for programs
    Json,
}

impl NavigateArgs {
    /// Tells whether messages are objects too.
    pub fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }

    /// Runs the command.
    ///
    /// # Errors
    /// A [`Failure`], or what the system says of writing to stdout.
    pub fn run(self, app: &App) -> Result<()> {
        let failed = self.session.failed();
        let text = self.summary_text()?;
        self.label.as_deref().map_or(Ok(()), label::check_name).map_err(&failed)?;
        if self.root && self.label.is_some() && text.is_none() {
            let message = "`--label` with `--root` has nothing to label";
            return Err(Failure::usage(message, "add a summary, or leave `--label` out").into());
        }
        let writes = text.is_some() || self.save || self.label.is_some();
        if writes && !self.dry_run {
            self.session.must_be_a_file()?;
        }
        let session = app.load(&self.session.session, Keep::NOTHING)?;
        if writes {
            commit::check(&session).map_err(&failed)?;
        }
        let old = self.session.leaf(&session, self.leaf.as_deref())?;
        let target = match &self.entry {
            Some(name) => Some(self.session.entry(&session, old, name)?),
            None => None,
        };
        let mut bodies = Bodies::new(&session);
        let plan = Move::plan(&mut bodies, old, target).map_err(&failed)?;
        let saves_elsewhere = self.save && target != session.leaf();
        if plan.is_noop() && !saves_elsewhere {
            return self.noop(app, &mut bodies, &plan, text.is_some());
        }
        let summary = match text {
            Some(text) => {
                let files = Files::of(&mut bodies, &plan.abandoned).map_err(&failed)?;
                Some(Summary { text, details: Some(files.json()) })
            }
            None => None,
        };
        let trace = Trace { summary, save: self.save, label: self.label.clone() };
        let (done, summary) = match self.dry_run || trace.is_empty() {
            true => (None, None),
            false => self.commit(app, &session, &plan, &trace)?,
        };
        let context = context::build(&mut bodies, plan.position).map_err(&failed)?;
        self.tell(app, &mut bodies, &plan, &context, done.as_ref(), summary.as_deref())
    }

    /// Gives the summary's text as it is stored.
    fn summary_text(&self) -> Result<Option<String>> {
        let text = match (&self.summary, &self.summary_file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => super::read_text(path).map_err(|error| Failure::new(&error, path))?,
            (None, None) => return Ok(None),
        };
        if text.trim().is_empty() {
            return Err(Failure::usage("the summary is blank", "leave it out, or say something").into());
        }
        Ok(Some(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
    }

    fn noop(&self, app: &App, bodies: &mut Bodies<'_>, plan: &Move, has_summary: bool) -> Result<()> {
        let given = [(self.save, "--save"), (self.label.is_some(), "--label"), (has_summary, "the summary")];
        let given: Vec<_> = given.iter().filter(|(is_given, _)| *is_given).map(|(_, name)| *name).collect();
        if !given.is_empty() {
            let message = format!("the leaf is already there: {} did nothing", given.join(", "));
            app.report.warn("noop", &message, Some(&self.session.session), None);
        }
        let plan = Move { position: plan.old, ..plan.clone() };
        let context = context::build(bodies, plan.old).map_err(self.session.failed())?;
        self.tell(app, bodies, &plan, &context, None, None)
    }

    /// Writes what the move leaves in the file; gives the summary's entry too.
    fn commit(
        &self,
        app: &App,
        session: &Session,
        plan: &Move,
        trace: &Trace,
    ) -> Result<(Option<Committed>, Option<String>)> {
        let id = |node: Option<NodeId>| node.map(|node| session.id(node).to_owned());
        let guard = match (&trace.summary, self.writing_is_forced(), &self.leaf) {
            (None, ..) | (_, true, _) => Guard::None,
            (Some(_), false, Some(_)) => Guard::Childless(id(plan.old)),
            (Some(_), false, None) => Guard::Unmoved(id(plan.old)),
        };
        world::prepare()?;
        let commit = Commit {
            path: &self.session.session,
            manners: self.writing.manners(),
            jobs: app.jobs,
            anchor: Anchor::At(id(plan.position)),
            guard,
            needs: id(plan.target).into_iter().collect(),
        };
        let mut fresh = world::entry_id;
        let mut world = world::world(&mut fresh);
        let target = id(plan.target);
        let mut lines = Vec::new();
        let write = &mut |draft: &mut Draft<'_>| {
            trace.append(draft, target.as_deref());
            lines.clone_from(&draft.lines);
        };
        let done = commit.write(session, &mut world, write).map_err(self.session.failed())?;
        self.session.committed(app, &done);
        let first = String::from_utf8_lossy(&lines).lines().next().map(str::to_owned);
        Ok((Some(done), first.filter(|_| trace.summary.is_some())))
    }

    fn writing_is_forced(&self) -> bool {
        self.writing.manners().force
    }

    fn tell(
        &self,
        app: &App,
        bodies: &mut Bodies<'_>,
        plan: &Move,
        context: &Context,
        done: Option<&Committed>,
        summary: Option<&str>,
    ) -> Result<()> {
        let session = bodies.session();
        let id = |node: Option<NodeId>| node.map(|node| session.id(node));
        let written = done.map_or(&[][..], |done| &done.ids);
        let is_noop = plan.is_noop() && done.is_none();
        // A summary is a message of its own; nothing else that a move writes is.
        let messages = context.items.len() + usize::from(summary.is_some());
        let mut output = Output::new();
        if self.is_json() {
            let summary = summary.and_then(|line| RawValue::from_string(line.to_owned()).ok());
            output.json_line(&Navigated {
                noop: is_noop,
                cancelled: false,
                dry_run: self.dry_run.then_some(true),
                target_id: id(plan.target),
                old_leaf_id: id(plan.old),
                position_id: id(plan.position),
                new_leaf_id: written.last().map(String::as_str).or(id(plan.position)),
                common_ancestor_id: id(plan.ancestor),
                entries_to_summarize: plan.abandoned.iter().map(|&node| session.id(node)).collect(),
                editor_text: plan.editor_text.as_deref(),
                summary_entry: summary.as_deref(),
                from_extension: summary.is_some().then_some(false),
                written,
                context: ContextSize {
                    messages,
                    thinking_level: &context.state.thinking_level,
                    models: &context.state.models,
                    mode: &context.state.mode,
                },
            })?;
            return Ok(output.finish()?);
        }
        let told = Told { plan, is_noop, is_dry: self.dry_run, written, messages, state: &context.state };
        let text = moved::text(bodies, &told, app.paint, app.width, app.home.as_deref());
        output.text(&text.map_err(self.session.failed())?)?;
        output.flush()?;
        app.report.hint(&moved::hint(&self.session.session, session, &told));
        if let Some(text) = &plan.editor_text {
            output.text(&moved::editor(text))?;
        }
        Ok(output.finish()?)
    }
}
