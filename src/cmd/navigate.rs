//! `navigate`: moves the leaf within a file.

use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::value::RawValue;

use super::world::{self, HookArgs, Writing};
use super::{App, SessionArg};
use crate::core::context::files::TouchedFiles;
use crate::core::context::summary;
use crate::core::context::{self, Context};
use crate::core::edit::commit::{self, Anchor, Commit, Committed, Guard};
use crate::core::edit::draft::Draft;
use crate::core::edit::label;
use crate::core::edit::navigate::{Move, Summary, Trace};
use crate::core::error::ErrorKind;
use crate::core::problem::WarningKind;
use crate::core::read::load::Keep;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::hooks::{About, Answer, Event, Preparation};
use crate::run::{self, Failed};
use crate::ui::escape;
use crate::ui::exit::Exit;
use crate::ui::json::{ContextSize, Navigated};
use crate::ui::moved::{self, Ends, Told};
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};

/// Move the leaf to another entry of the same file
///
/// A user message is taken back: the leaf goes to its parent and its text is printed, to be edited
/// and sent again. Without `--save`, `--label` or a summary nothing is written: the move is only
/// reported, and `--leaf` lets any command work from there. With one of them a line is appended,
/// and every agent resumes there.
#[derive(Debug, Args)]
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
    /// Entry to go to: an id or its start, @, label:NAME, user:N, each with ~N
    #[arg(value_name = "ENTRY", required_unless_present = "root", conflicts_with = "root")]
    entry: Option<String>,
    /// Go to before the first entry
    #[arg(long)]
    root: bool,
    /// Come from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY", hide_short_help = true)]
    leaf: Option<String>,
    /// Attach this summary of what is left behind
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Attach the summary in this file; - for standard input
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with = "summary")]
    summary_file: Option<PathBuf>,
    /// Let a hook or the summarizer write the summary
    #[arg(long, conflicts_with_all = ["summary", "summary_file"])]
    summarize: bool,
    /// Command that writes it; else SESSION_TREE_SUMMARIZER
    #[arg(long, value_name = "COMMAND", requires = "summarize")]
    summarizer: Option<String>,
    /// How long the summarizer may take; 0 is for ever
    #[arg(long, value_name = "SECONDS", default_value = "600", hide_short_help = true, value_parser = world::seconds)]
    summarizer_timeout: Duration,
    /// What to tell the summarizer to do, instead of the usual
    #[arg(long, value_name = "TEXT", hide_short_help = true, requires = "summarize")]
    instructions: Option<String>,
    /// How much of the conversation the summarizer gets, the newest first; 0 is all
    #[arg(long, value_name = "TOKENS", default_value_t = 110_000, hide_short_help = true, requires = "summarize")]
    token_budget: usize,
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
    hooks: HookArgs,
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
    pub fn run(mut self, app: &App) -> Result<ExitCode> {
        self.session.find(app)?;
        self.go(app).about(&self.session.session)
    }

    fn go(&self, app: &App) -> Result<ExitCode> {
        let text = self.summary_text()?;
        self.check(text.is_some())?;
        let writes = text.is_some() || self.summarize || self.save || self.label.is_some();
        if writes && !self.dry_run {
            self.session.must_be_a_file()?;
        }
        let session = app.load(&self.session.session, Keep::NOTHING)?;
        if writes {
            commit::check(&session)?;
        }
        let old = self.session.leaf(&session, self.leaf.as_deref())?;
        let target = match &self.entry {
            Some(name) => Some(self.session.entry(&session, old, name)?),
            None => None,
        };
        let mut bodies = Bodies::new(&session);
        let plan = Move::plan(&mut bodies, old, target)?;
        let saves_elsewhere = self.save && target != session.leaf();
        if plan.is_noop() && !saves_elsewhere {
            self.noop(app, &mut bodies, &plan, text.is_some() || self.summarize)?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.summarize && self.summarizer().is_none() && self.hooks.hooks().commands.is_empty() {
            return Err(no_summarizer().into());
        }
        let mut result = Moved::of(&plan);
        if !self.dry_run {
            world::prepare()?;
            let about = self.session.about(&session);
            let answer = self.ask(&mut bodies, &about, &plan, text.is_some())?;
            if let Answer::Cancel { by } = answer {
                result.cancelled_by = Some(by);
                let view = self.view(app, &mut bodies, &plan, old)?;
                self.tell(app, &session, &result, &view)?;
                return Ok(Exit::Cancelled.into());
            }
            let summary = self.summary(app, &mut bodies, &plan, text, answer)?;
            result.from_extension = summary.as_ref().is_some_and(|summary| summary.from_extension);
            let trace = Trace { summary, save: self.save, label: self.label.clone() };
            let view = self.view(app, &mut bodies, &plan, plan.position)?;
            let mut not_synced = None;
            if !trace.is_empty() {
                let (mut done, summary) = self.commit(app, &session, &plan, &trace)?;
                not_synced = self.session.committed(app, &mut done);
                (result.done, result.summary) = (Some(done), summary);
            }
            result.synced = not_synced.as_ref().map(|_| false);
            let exit = self.announce(app, &session, &about, &result);
            let printed = self.tell(app, &session, &result, &view);
            return match result.done.is_some() {
                true => super::ended(printed, None, not_synced),
                false => printed,
            }
            .map(|()| exit);
        }
        let view = self.view(app, &mut bodies, &plan, plan.position)?;
        self.tell(app, &session, &result, &view)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses what makes no sense before anything is read.
    fn check(&self, has_text: bool) -> Result<()> {
        self.label.as_deref().map_or(Ok(()), label::check_name)?;
        if self.root && self.label.is_some() && !has_text && !self.summarize {
            let message = "`--label` with `--root` has nothing to label";
            return Err(Failure::usage(message, "add a summary, or leave `--label` out").into());
        }
        Ok(())
    }

    fn summarizer(&self) -> Option<String> {
        let command = self.summarizer.clone().or_else(|| std::env::var("SESSION_TREE_SUMMARIZER").ok());
        command.filter(|command| !command.trim().is_empty())
    }

    /// Asks the hooks.
    fn ask(&self, bodies: &mut Bodies<'_>, about: &About, plan: &Move, has_text: bool) -> Result<Answer> {
        let session = bodies.session();
        let id = |node: Option<NodeId>| node.map(|node| session.id(node));
        let preparation = Preparation {
            target_id: id(plan.target),
            old_leaf_id: id(plan.old),
            common_ancestor_id: id(plan.ancestor),
            user_wants_summary: has_text || self.summarize,
        };
        let event = Event::SessionBeforeTree { session: about, preparation };
        let entries = &mut |out: &mut dyn Write| -> Result<()> {
            for (at, &node) in plan.abandoned.iter().enumerate() {
                let entry = bodies.entry(node)?;
                out.write_all(if at > 0 { b"," } else { b"" })?;
                out.write_all(String::from_utf8_lossy(entry.object().bytes()).as_bytes())?;
            }
            Ok(())
        };
        self.hooks.hooks().ask(&event, Some(entries)).map_err(world::hook_trouble)
    }

    /// Gives the summary to attach: the given text, a hook's, or the summarizer's.
    fn summary(
        &self,
        app: &App,
        bodies: &mut Bodies<'_>,
        plan: &Move,
        text: Option<String>,
        answer: Answer,
    ) -> Result<Option<Summary>> {
        let files = |bodies: &mut Bodies<'_>| TouchedFiles::of(bodies, &plan.abandoned);
        if let Some(text) = text {
            let details = Some(files(bodies)?.json());
            return Ok(Some(Summary { text, details, from_extension: false }));
        }
        if !self.summarize {
            return Ok(None);
        }
        if let Answer::Summary { text, details } = answer {
            return Ok(Some(Summary { text, details, from_extension: true }));
        }
        let conversation = summary::conversation(bodies, &plan.abandoned, self.token_budget)?;
        let Some(conversation) = conversation else {
            let label = if self.root && self.label.is_some() { ", so there is nothing to label" } else { "" };
            let message = format!("nothing that is left behind has any text: moved without a summary{label}");
            app.report.warn(WarningKind::NothingToSummarize, &message, Some(&self.session.session), None);
            return Ok(None);
        };
        if conversation.is_empty() {
            let message = "not even the newest entry that is left behind fits into `--token-budget`";
            return Err(Failure::usage(message, "give it more tokens; 0 is no limit").into());
        }
        let answer = self.summarized(&conversation)?;
        let files = files(bodies)?;
        let text = summary::finished(&answer, &files);
        Ok(Some(Summary { text, details: Some(files.json()), from_extension: false }))
    }

    /// Lets the summarizer write.
    fn summarized(&self, conversation: &str) -> Result<String> {
        let Some(command) = self.summarizer() else { return Err(no_summarizer().into()) };
        let prompt = summary::prompt(conversation, self.instructions.as_deref().unwrap_or(summary::INSTRUCTIONS));
        let mut input = tempfile::tempfile()?;
        input.write_all(prompt.as_bytes())?;
        input.seek(SeekFrom::Start(0))?;
        let what = format!("summarizer `{command}`");
        let hint = "try it by hand: it reads a prompt and prints a summary; nothing was changed";
        let failed = |why: &Failed| world::child_failure(ErrorKind::SummarizerFailed, &what, why, hint);
        let accept = |answer: Vec<u8>| match String::from_utf8_lossy(&answer).into_owned() {
            blank if blank.trim().is_empty() => Err("it printed nothing".to_owned()),
            answer => Ok(answer),
        };
        let answer = run::capture(&command, input, self.summarizer_timeout, &world::stop, accept);
        Ok(answer.map_err(|why| failed(&why))?)
    }

    /// Tells the hooks what was done; one that fails changes nothing any more.
    fn announce(&self, app: &App, session: &Session, about: &About, result: &Moved<'_>) -> ExitCode {
        let summary = result.summary_json();
        let event = Event::SessionTree {
            session: about,
            new_leaf_id: result.new_leaf(session),
            old_leaf_id: result.plan.old.map(|node| session.id(node)),
            summary_entry: summary.as_deref(),
            from_extension: summary.is_some().then_some(result.from_extension),
        };
        self.session.after_hooks(app, &self.hooks.hooks().tell(&event))
    }

    /// Gives the summary's text as it is stored.
    fn summary_text(&self) -> Result<Option<String>> {
        let text = match (&self.summary, &self.summary_file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => super::read_text(path).about(path)?,
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
            app.report.warn(WarningKind::Noop, &message, Some(&self.session.session), None);
        }
        let plan = Move { position: plan.old, ..plan.clone() };
        let result = Moved::of(&plan);
        let view = self.view(app, bodies, &plan, plan.old)?;
        self.tell(app, bodies.session(), &result, &view)
    }

    /// Reads what is shown of a move. This is done before anything is written, so that nothing but
    /// printing can fail afterwards.
    fn view(&self, app: &App, bodies: &mut Bodies<'_>, plan: &Move, leaf: Option<NodeId>) -> Result<View> {
        let context = context::build(bodies, leaf)?;
        let ends = Ends::read(bodies, plan, &app.screen)?;
        Ok(View { context, ends })
    }

    /// Writes what the move leaves in the file; gives the summary's entry too.
    fn commit(&self, app: &App, session: &Session, plan: &Move, trace: &Trace) -> Result<(Committed, Option<String>)> {
        let id = |node: Option<NodeId>| node.map(|node| session.id(node).to_owned());
        let guard = match (&trace.summary, self.writing_is_forced(), &self.leaf) {
            (None, ..) | (_, true, _) => Guard::None,
            (Some(_), false, Some(_)) => Guard::Childless(id(plan.old)),
            (Some(_), false, None) => Guard::Unmoved(id(plan.old)),
        };
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
        let done = commit.write(session, &mut world, write)?;
        let first = String::from_utf8_lossy(&lines).lines().next().map(str::to_owned);
        Ok((done, first.filter(|_| trace.summary.is_some())))
    }

    fn writing_is_forced(&self) -> bool {
        self.writing.manners().force
    }

    fn tell(&self, app: &App, session: &Session, result: &Moved<'_>, view: &View) -> Result<()> {
        let View { context, ends } = view;
        let plan = result.plan;
        let id = |node: Option<NodeId>| node.map(|node| session.id(node));
        let is_noop = plan.is_noop() && result.done.is_none() && result.cancelled_by.is_none();
        // A summary is a message of its own; nothing else that a move writes is.
        let messages = context.messages.len() + usize::from(result.summary.is_some());
        let mut output = Output::new();
        if self.is_json() {
            let summary = result.summary_json();
            output.json_line(&Navigated {
                noop: is_noop,
                cancelled: result.cancelled_by.is_some(),
                dry_run: self.dry_run.then_some(true),
                target_id: id(plan.target),
                old_leaf_id: id(plan.old),
                position_id: id(plan.position),
                new_leaf_id: result.new_leaf(session),
                common_ancestor_id: id(plan.ancestor),
                entries_to_summarize: plan.abandoned.iter().map(|&node| session.id(node)).collect(),
                editor_text: plan.editor_text.as_deref(),
                summary_entry: summary.as_deref(),
                from_extension: summary.is_some().then_some(result.from_extension),
                written: result.written(),
                context: ContextSize {
                    messages,
                    thinking_level: &context.settings.thinking_level,
                    models: &context.settings.models,
                    mode: &context.settings.mode,
                },
                session_file: self.session.found().map(|file| file.display().to_string()),
                synced: result.synced,
            })?;
            return Ok(output.finish()?);
        }
        if let Some(hook) = &result.cancelled_by {
            let text = format!("cancelled by hook `{}`; nothing was changed\n", escape::line(hook));
            output.text(&app.screen.folded(&text, 0))?;
            return Ok(output.finish()?);
        }
        let (is_dry, written) = (self.dry_run, result.written());
        let lasts = self.save || self.label.is_some() || self.summarize || self.summary.is_some();
        let lasts = lasts || self.summary_file.is_some();
        let file = self.session.found();
        let told = Told { plan, is_noop, is_dry, lasts, written, file, messages, state: &context.settings };
        output.text(&moved::text(ends, &told, &app.screen))?;
        output.flush()?;
        app.report.hint(&moved::hint(&self.session.session, session, &told));
        if let Some(text) = &plan.editor_text {
            output.text(&moved::editor(text))?;
        }
        Ok(output.finish()?)
    }
}

/// What came of a move.
struct Moved<'m> {
    plan: &'m Move,
    done: Option<Committed>,
    /// The summary's line.
    summary: Option<String>,
    from_extension: bool,
    /// The hook that said no.
    cancelled_by: Option<String>,
    /// False if what was written could not be synced.
    synced: Option<bool>,
}

/// What is shown of a move.
struct View {
    context: Context,
    ends: Ends,
}

impl<'m> Moved<'m> {
    fn of(plan: &'m Move) -> Self {
        Self { plan, done: None, summary: None, from_extension: false, cancelled_by: None, synced: None }
    }

    fn written(&self) -> &[String] {
        self.done.as_ref().map_or(&[], |done| &done.ids)
    }

    fn new_leaf<'l>(&'l self, session: &'l Session) -> Option<&'l str> {
        let position = if self.cancelled_by.is_some() { self.plan.old } else { self.plan.position };
        self.written().last().map(String::as_str).or(position.map(|node| session.id(node)))
    }

    fn summary_json(&self) -> Option<Box<RawValue>> {
        self.summary.as_ref().and_then(|line| RawValue::from_string(line.clone()).ok())
    }
}

fn no_summarizer() -> Failure {
    let hint = "add `--summarizer COMMAND`, set SESSION_TREE_SUMMARIZER, or give the text with `--summary`";
    Failure::plain(ErrorKind::NoSummarizer, "nothing can write the summary".to_owned(), Some(hint.to_owned()))
}
