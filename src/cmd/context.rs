//! `context`: what the model would see.

use std::io;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, SessionArg};
use crate::core::context::compare;
use crate::core::context::message;
use crate::core::context::stats;
use crate::core::context::{self, Context};
use crate::core::json::{Object, Raw};
use crate::core::read::load::Keep;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::ui::compare::{DifferenceRow, DifferenceText, Side};
use crate::ui::context as transcript;
use crate::ui::fit;
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};
use crate::ui::stats::{self as table, StatsRow};

/// Rebuild what the model would see at the leaf
///
/// Follows the active path and applies compactions, branch summaries, edits and resets. Reads the
/// whole file once and the messages on the path again. With `--stats` it tells what fills the
/// context instead, with `--diff` how it differs from another one.
#[derive(Debug, Args)]
#[command(after_long_help = super::naming("\
Examples:
  session-tree context session.jsonl                   a transcript
  session-tree context session.jsonl --leaf label:wip  seen from a label
  session-tree context session.jsonl --leaf user:1~    before the last prompt
  session-tree context session.jsonl --leaf @~3 --json
  session-tree context session.jsonl --stats           what fills it, and cost
  session-tree context session.jsonl --diff user:1     how it differs there
  session-tree context session.jsonl --format llm | jq length"))]
pub struct ContextArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    /// Work from before the first entry
    #[arg(long, conflicts_with = "leaf")]
    root: bool,
    /// Tell what fills it and what was used for it, instead of the messages
    #[arg(long)]
    stats: bool,
    /// Compare it with what is seen at this entry: - only at the leaf, + only there
    ///
    /// Goes from the leaf to ENTRY, as `git diff LEAF ENTRY` would: - is what the model would lose
    /// by going there, + what it would get. Messages of the same entry with the same content are
    /// the same. With `--root` all messages there are new.
    #[arg(long, value_name = "ENTRY")]
    diff: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A transcript for people
    Text,
    /// State and messages, as agents hold them
    Json,
    /// The messages, as a model gets them
    Llm,
}

impl ContextArgs {
    /// Tells whether messages are objects too.
    pub fn is_json(&self) -> bool {
        self.json || self.format != Format::Text
    }

    /// Runs the command.
    ///
    /// # Errors
    /// A [`Failure`], or what the system says of writing to stdout.
    pub fn run(mut self, app: &App) -> Result<()> {
        self.check()?;
        self.session.find(app)?;
        self.print(app).about(&self.session.session)
    }

    fn print(&self, app: &App) -> Result<()> {
        // Rows of tool results show their calls.
        let keep = Keep { calls: self.diff.is_some(), ..Keep::NOTHING };
        let session = app.load(&self.session.session, keep)?;
        let leaf = match self.root {
            true => None,
            false => self.session.leaf(&session, self.leaf.as_deref())?,
        };
        let other = self.diff.as_ref().map(|name| self.session.entry(&session, leaf, name)).transpose()?;
        let mut bodies = Bodies::new(&session);
        let context = context::build(&mut bodies, leaf)?;
        app.report.problems(&context.problems.list(), &self.session.session);
        let mut output = Output::new();
        output.hold();
        if let Some(file) = self.session.found().filter(|_| !self.is_json()) {
            output.text(&transcript::file(&app.screen, file))?;
        }
        match (self.json, self.format) {
            _ if self.stats => self.stats(&mut output, app, &session, &mut bodies, &context)?,
            _ if other.is_some() => self.diff(&mut output, app, &mut bodies, &context, other)?,
            (true, _) | (_, Format::Json) => self.json(&mut output, &session, &mut bodies, &context)?,
            (_, Format::Llm) => {
                output.text("[")?;
                self.messages(&mut output, &mut bodies, &context, true)?;
                output.text("]\n")?;
            }
            (_, Format::Text) => self.transcript(&mut output, app, &session, &mut bodies, &context)?,
        }
        Ok(output.finish()?)
    }

    fn check(&self) -> Result<()> {
        let (option, hint) = match (self.stats, self.diff.is_some(), self.format) {
            (true, true, _) => ("`--stats` and `--diff` do not go together", "leave one of them out"),
            (true, false, Format::Llm) => ("`--stats` has no form for a model", "use `--format text` or `--json`"),
            (false, true, Format::Llm) => ("`--diff` has no form for a model", "use `--format text` or `--json`"),
            _ => return Ok(()),
        };
        Err(Failure::usage(option, hint).into())
    }

    fn stats(
        &self,
        output: &mut Output,
        app: &App,
        session: &Session,
        bodies: &mut Bodies<'_>,
        context: &Context,
    ) -> Result<()> {
        let stats = stats::measure(bodies, context)?;
        let leaf = context.leaf.map(|leaf| session.id(leaf));
        if self.is_json() {
            return Ok(output.json_line(&StatsRow::new(session, leaf, &stats))?);
        }
        Ok(output.text(&table::text(session, leaf, &stats, &app.screen))?)
    }

    fn diff(
        &self,
        output: &mut Output,
        app: &App,
        bodies: &mut Bodies<'_>,
        from: &Context,
        to: Option<NodeId>,
    ) -> Result<()> {
        let session = bodies.session();
        let to = &context::build(bodies, to)?;
        // What is odd on the common path has been told.
        let told = from.problems.list();
        let problems: Vec<_> = to.problems.list().into_iter().filter(|problem| !told.contains(problem)).collect();
        app.report.problems(&problems, &self.session.session);
        let difference = compare::messages(bodies, from, to)?;
        if self.is_json() {
            return Ok(output.json_line(&DifferenceRow::new(bodies, from, to, &difference)?)?);
        }
        let text = DifferenceText::new(session, &difference, &app.screen);
        output.text(&text.heading(from, to, &difference))?;
        let mut gap = "\n";
        for (side, messages) in [(Side::Dropped, &difference.dropped), (Side::Added, &difference.added)] {
            for message in messages {
                output.text(std::mem::take(&mut gap))?;
                output.text(&text.row(bodies, side, message)?)?;
            }
        }
        Ok(())
    }

    fn json(&self, output: &mut Output, session: &Session, bodies: &mut Bodies<'_>, context: &Context) -> Result<()> {
        output.text("{\"leafId\":")?;
        output.json(&serde_json::to_vec(&context.leaf.map(|leaf| session.id(leaf)))?)?;
        output.text(",\"messages\":[")?;
        self.messages(output, bodies, context, false)?;
        let state = &context.settings;
        let mut rest = b"]".to_vec();
        let mut settings = Object::resume(&mut rest);
        settings.str("thinkingLevel", &state.thinking_level);
        settings.json("models", &serde_json::to_vec(&state.models)?).str("mode", &state.mode);
        let stored = [
            ("modeData", &state.mode_data),
            ("serviceTier", &state.service_tier),
            ("selectedMcpToolNames", &state.mcp_tools),
        ];
        for (name, value) in stored {
            value.iter().for_each(|value| _ = settings.json(name, value.as_bytes()));
        }
        settings.strings("injectedTtsrRules", &state.ttsr_rules);
        drop(settings);
        output.json(&rest)?;
        Ok(output.text("\n")?)
    }

    fn messages(&self, output: &mut Output, bodies: &mut Bodies<'_>, context: &Context, for_model: bool) -> Result<()> {
        let mut scratch = Vec::new();
        let mut mark = "";
        for &item in &context.messages {
            let written = message::with(bodies, item, &mut scratch, |message| -> io::Result<bool> {
                if !for_model {
                    output.text(mark)?;
                    return output.json(message.bytes()).map(|()| true);
                }
                let mut sent = Vec::new();
                if !message::write_for_model(&mut sent, message) {
                    return Ok(false);
                }
                output.text(mark)?;
                output.json(&sent).map(|()| true)
            });
            if written?? {
                mark = ",";
            }
        }
        Ok(())
    }

    fn transcript(
        &self,
        output: &mut Output,
        app: &App,
        session: &Session,
        bodies: &mut Bodies<'_>,
        context: &Context,
    ) -> Result<()> {
        let mut scratch = Vec::new();
        let mut tokens = 0;
        for &item in &context.messages {
            tokens += message::with(bodies, item, &mut scratch, message::tokens)?;
        }
        let leaf = context.leaf.map(|leaf| session.id(leaf));
        output.text(&transcript::heading(&app.screen, leaf, &context.settings, context.messages.len(), tokens))?;
        for (at, &item) in context.messages.iter().enumerate() {
            let write = |message: Raw<'_>| -> io::Result<()> {
                let title = transcript::title(&app.screen, at + 1, session.id(item.node()), message);
                output.text(&app.screen.folded(&title, 3))?;
                transcript::body(message, &mut |part| {
                    fit::fold(part, app.screen.width, None, &mut |row| output.text(row))
                })
            };
            message::with(bodies, item, &mut scratch, write)??;
        }
        Ok(())
    }
}
