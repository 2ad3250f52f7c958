//! `context`: what the model would see.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::args::{FormatArg, Formats, SessionArg};
use super::{App, Task};
use crate::core::context::forms::request::Api;
use crate::core::context::rules::Rules;
use crate::core::context::{compare, held, stats};
use crate::core::read::load::LoadOptions;
use crate::core::session::body::Bodies;
use crate::ui::compare::{DifferenceRow, DifferenceText};
use crate::ui::context as transcript;
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};
use crate::ui::request;
use crate::ui::stats::{self as table, StatsRow};

use sent::SentArgs;

mod sent;

/// Rebuild what the model would see at the leaf
///
/// Follows the active path and applies compactions, branch summaries, edits and resets. Reads the
/// whole file once and the messages on the path again. With `--stats` it says what fills the
/// context instead, with `--diff` how it differs from another one.
#[derive(Debug, Args)]
#[command(after_long_help = super::naming("\
Examples:
  session-tree context session.jsonl                   a transcript
  session-tree context current --stats                 what fills your own
  session-tree context session.jsonl --leaf label:wip  seen from a label
  session-tree context session.jsonl --leaf user:1~    before the last prompt
  session-tree context session.jsonl --leaf @~3 --json
  session-tree context session.jsonl --stats           what fills it, and cost
  session-tree context session.jsonl --diff user:1     how it differs there
  session-tree context session.jsonl --format llm | jq length
  session-tree context session.jsonl --as omp          as omp 18 holds it
  session-tree context session.jsonl --format anthropic   a whole request"))]
pub struct ContextArgs {
    #[command(flatten)]
    session: SessionArg<true>,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    /// Work from before the first entry
    #[arg(long, conflicts_with = "leaf")]
    root: bool,
    /// Print what fills the context and what was used for it, instead of the messages
    #[arg(long)]
    stats: bool,
    /// Compare it with the context at this entry: - is only at the leaf, + only there
    ///
    /// Goes from the leaf to ENTRY, as `git diff LEAF ENTRY` would: - is what the model would lose
    /// by going there, + what it would get. Messages of the same entry with the same content are
    /// the same. With `--root` all messages there are new.
    #[arg(long, value_name = "ENTRY")]
    diff: Option<String>,
    #[command(flatten)]
    sent: SentArgs,
    #[command(flatten)]
    format: FormatArg<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A transcript for people
    Text,
    /// State and messages, as agents hold them
    Json,
    /// The messages, as a model gets them
    Llm,
    /// A request as pi sends it to Anthropic's Messages API
    Anthropic,
    /// A request as pi sends it to OpenAI's Chat Completions API
    Openai,
    /// A request as pi sends it to OpenAI's Responses API
    Responses,
}

impl Format {
    /// Returns the API whose request it is.
    fn api(self) -> Option<Api> {
        match self {
            Self::Anthropic => Some(Api::Anthropic),
            Self::Openai => Some(Api::Completions),
            Self::Responses => Some(Api::Responses),
            Self::Text | Self::Json | Self::Llm => None,
        }
    }
}

impl Formats for Format {
    const JSON: &[Self] = &[Self::Json, Self::Llm, Self::Anthropic, Self::Openai, Self::Responses];
}

impl Task for ContextArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        self.check()?;
        self.session.find(app, false)?;
        self.print(app).about(&self.session.session)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl ContextArgs {
    fn print(&self, app: &App) -> Result<()> {
        // Rows of tool results show their calls.
        let keep = LoadOptions { calls: self.diff.is_some(), ..LoadOptions::INDEX_ONLY };
        let session = app.load(&self.session.session, keep)?;
        let leaf = match self.root {
            true => None,
            false => self.session.leaf(&session, self.leaf.as_deref())?,
        };
        let other = self.diff.as_ref().map(|name| self.session.entry(&session, leaf, name)).transpose()?;
        let mut bodies = Bodies::new(&session);
        let rules = self.sent.rules(self.format.get().api());
        let model = self.sent.model();
        let context = held::build(&mut bodies, leaf, rules)?;
        app.report.problems(&context.problems.list(), &self.session.session);
        let mut output = Output::new();
        output.hold();
        if let Some(file) = self.session.found().filter(|_| !self.format.is_json()) {
            output.text(&transcript::file(&app.screen, file))?;
        }
        match (other, self.format.get()) {
            _ if self.stats => {
                let stats = stats::measure(&mut bodies, &context)?;
                let leaf = context.leaf.map(|leaf| session.id(leaf));
                match self.format.is_json() {
                    true => output.json_line(&StatsRow::new(&session, leaf, &stats))?,
                    false => output.text(&table::text(&session, leaf, &stats, &app.screen))?,
                }
            }
            (Some(other), _) => {
                let other = held::build(&mut bodies, Some(other), rules)?;
                // Those on the common path have been reported.
                let known = context.problems.list();
                let mut problems = other.problems.list();
                problems.retain(|problem| !known.contains(problem));
                app.report.problems(&problems, &self.session.session);
                let difference = compare::messages(&mut bodies, &context, &other)?;
                match self.format.is_json() {
                    true => output.json_line(&DifferenceRow::new(&mut bodies, &context, &other, &difference)?)?,
                    false => {
                        let text = DifferenceText::new(&session, &difference, &app.screen);
                        text.print(&mut output, &mut bodies, [&context, &other], &difference)?;
                    }
                }
            }
            (None, Format::Json) => transcript::json(&mut output, &mut bodies, &context)?,
            (None, Format::Llm) if rules != Rules::Shared => {
                request::messages(&mut output, &mut bodies, &context, model)?
            }
            (None, Format::Llm) => transcript::for_model(&mut output, &mut bodies, &context)?,
            (None, Format::Text) => {
                let size = stats::size(&mut bodies, &context.messages)?;
                transcript::text(&mut output, &mut bodies, &context, size, &app.screen)?;
            }
            (None, format) => {
                let api = format.api().unwrap_or(Api::Anthropic);
                request::body(&mut output, &mut bodies, &context, api, model)?;
            }
        }
        Ok(output.finish()?)
    }

    fn check(&self) -> Result<()> {
        let format = self.format.get();
        let is_for_model = format == Format::Llm || format.api().is_some();
        let (option, hint) = match (self.stats, self.diff.is_some()) {
            (true, true) => ("`--stats` and `--diff` do not go together", "leave one of them out"),
            (true, false) if is_for_model => ("`--stats` has no form for a model", "use `--format text` or `--json`"),
            (false, true) if is_for_model => ("`--diff` has no form for a model", "use `--format text` or `--json`"),
            _ => return self.sent.check(format.api(), format == Format::Llm),
        };
        Err(Failure::usage(option, hint).into())
    }
}
