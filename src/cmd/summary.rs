//! Arguments on the summary of what a move leaves behind, and the program that writes it.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::args::number;
use super::world;
use crate::core::edit::navigate::SummaryRequest;
use crate::core::error::ErrorKind;
use crate::run;
use crate::ui::report::AboutFile;

/// Options of the summary.
#[derive(Debug, Args)]
pub(super) struct SummaryArgs {
    /// Attach this summary of what is left behind
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Attach the summary in this file; - for standard input
    #[arg(long, value_name = "FILE", hide_short_help = true, conflicts_with = "summary")]
    summary_file: Option<PathBuf>,
    /// Let a hook or the summarizer write the summary
    #[arg(long, conflicts_with_all = ["summary", "summary_file"])]
    summarize: bool,
    /// Command that writes it [default: $SESSION_TREE_SUMMARIZER]
    #[arg(long, value_name = "COMMAND", requires = "summarize")]
    #[arg(conflicts_with_all = ["summary", "summary_file"])]
    summarizer: Option<String>,
    /// Time limit of the summarizer; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "600", hide_short_help = true, value_parser = world::seconds)]
    #[arg(requires = "summarize", conflicts_with_all = ["summary", "summary_file"])]
    summarizer_timeout: Duration,
    /// Instructions for the summarizer, instead of its own
    #[arg(long, value_name = "TEXT", hide_short_help = true, requires = "summarize")]
    #[arg(conflicts_with_all = ["summary", "summary_file"])]
    instructions: Option<String>,
    /// How much of the conversation the summarizer gets, the newest first; 0 is all
    #[arg(long, value_name = "TOKENS", default_value_t = 110_000, hide_short_help = true, requires = "summarize")]
    #[arg(value_parser = number, conflicts_with_all = ["summary", "summary_file"])]
    token_budget: usize,
}

impl SummaryArgs {
    /// Returns which summary is asked for.
    pub(super) fn request(&self) -> Result<SummaryRequest> {
        let text = match (&self.summary, &self.summary_file) {
            (Some(text), _) => text.clone(),
            (None, Some(path)) => super::read_text(path).about(path)?,
            (None, None) if self.summarize => {
                let (budget, instructions) = (self.token_budget, self.instructions.clone());
                return Ok(SummaryRequest::Written { budget, instructions });
            }
            (None, None) => return Ok(SummaryRequest::Nothing),
        };
        Ok(SummaryRequest::Given(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
    }

    /// Returns what makes a summary of a prompt, if there is a summarizer.
    pub(super) fn summarizer(&self) -> Option<impl FnOnce(&str) -> Result<String>> {
        let command = self.summarizer.clone().or_else(|| std::env::var("SESSION_TREE_SUMMARIZER").ok());
        let command = command.filter(|command| !command.trim().is_empty())?;
        Some(move |prompt: &str| {
            let hint = "try it by hand: it reads a prompt and prints a summary; nothing was changed";
            run::text(&command, prompt, self.summarizer_timeout, &world::stop).map_err(|why| {
                let what = format!("summarizer `{command}`");
                world::child_failure(ErrorKind::SummarizerFailed, &what, &why, hint).into()
            })
        })
    }
}
