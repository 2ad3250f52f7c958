//! `context`: what the model would see.

use std::process::ExitCode;

use anyhow::Result;

use super::sessions::{NO_NAME, entry_hint};
use super::{App, Task};
use crate::core::context::forms::request::Api;
use crate::core::context::rules::Rules;
use crate::core::context::{compare, held, stats};
use crate::core::error::problem::WarningKind;
use crate::core::read::load::LoadOptions;
use crate::core::session::body::Bodies;
use crate::ui::compare::{DifferenceRow, DifferenceText};
use crate::ui::context as transcript;
use crate::ui::markdown::MarkdownText;
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};
use crate::ui::request;
use crate::ui::stats::{self as table, StatsRow};

pub use args::ContextArgs;
use args::Format;
use measure::measure;

mod args;
mod many;
mod measure;
mod sent;

impl Task for ContextArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        self.check()?;
        let Some(session) = self.sessions.one() else { return many::run(&self, app) };
        self.session = session;
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
        // Nothing has a name on an empty path: there they are seen from the leaf of the file.
        let seen_from = if self.root { session.leaf() } else { leaf };
        let other = self.diff.as_ref().map(|name| self.session.entry(&session, seen_from, name)).transpose()?;
        let mut bodies = Bodies::new(&session);
        let rules = self.sent.rules(self.format.get().api());
        let model = self.sent.model();
        let context = held::build(&mut bodies, leaf, rules)?;
        app.report.problems(&context.problems.list(), &self.session.session);
        let mut output = Output::new();
        output.hold();
        let is_markdown = self.format.get() == Format::Markdown;
        if let Some(file) = self.session.found().filter(|_| !self.format.is_json() && !is_markdown) {
            output.text(&transcript::file(&app.screen, file))?;
        }
        match (other, self.format.get()) {
            _ if self.stats && !is_markdown => {
                let (part, stats) = measure(self.all, &mut bodies, &context, app.jobs)?;
                match self.format.is_json() {
                    true => output.json_line(&StatsRow::new(&session, part, &stats))?,
                    false => output.text(&table::text(&session, part, &stats, &app.screen))?,
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
                let size = stats::size(&mut bodies, &context.messages, app.jobs)?;
                transcript::text(&mut output, &mut bodies, &context, size, &app.screen)?;
            }
            (None, Format::Markdown) => {
                let size = stats::size(&mut bodies, &context.messages, app.jobs)?;
                let measured = self.stats.then(|| measure(self.all, &mut bodies, &context, app.jobs)).transpose()?;
                let text = MarkdownText { context: &context, size, measured, has_tools: !self.no_tools };
                text.print(&mut output, &mut bodies)?;
            }
            (None, format) => {
                let api = format.api().unwrap_or(Api::Anthropic);
                if !request::body(&mut output, &mut bodies, &context, api, model)? {
                    let message = "the session names no model: `model` is empty; `--model PROVIDER/ID` sets it";
                    self.session.warn(app, WarningKind::NoModel, message);
                }
            }
        }
        Ok(output.finish()?)
    }

    fn check(&self) -> Result<()> {
        let format = self.format.get();
        if self.sessions.one().is_none() && (!self.stats || self.leaf.is_some() || self.root) {
            let name = || if self.sessions.is_named_stream() { NO_NAME } else { "name one session" }.to_owned();
            let hint = self.sessions.second().map_or_else(name, entry_hint);
            let message = "several sessions go with `--stats`, and without `--leaf` and `--root`";
            return Err(Failure::usage(message, hint).into());
        }
        let is_markdown = format == Format::Markdown;
        if is_markdown && self.sessions.one().is_none() {
            return Err(Failure::usage("a transcript is of one session", "name one session").into());
        }
        let is_for_model = format == Format::Llm || format.api().is_some();
        let (option, hint) = match (self.stats, self.diff.is_some()) {
            _ if self.no_tools && !is_markdown => {
                ("`--no-tools` goes with `--format markdown`", "add `--format markdown`, or leave it out")
            }
            (_, true) if is_markdown => ("`--diff` has no form in Markdown", "use `--format text` or `--json`"),
            (true, true) => ("`--stats` and `--diff` do not go together", "leave one of them out"),
            (true, false) if is_for_model => ("`--stats` has no form for a model", "use `--format text` or `--json`"),
            (false, true) if is_for_model => ("`--diff` has no form for a model", "use `--format text` or `--json`"),
            _ => return self.sent.check(format.api(), format == Format::Llm),
        };
        Err(Failure::usage(option, hint).into())
    }
}
