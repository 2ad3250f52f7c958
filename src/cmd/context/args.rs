//! The arguments of `context`.

use clap::{Args, ValueEnum};

use super::sent::SentArgs;
use crate::cmd::args::{FormatArg, Formats, SessionArg};
use crate::cmd::sessions::SessionsArg;
use crate::core::context::forms::request::Api;

/// Rebuild what the model would see at the leaf
///
/// Follows the active path and applies compactions, branch summaries, edits and resets. Reads the
/// whole file once and the messages on the path again. With `--stats` it says what fills the
/// context instead, or before a transcript in Markdown, with `--diff` how it differs from another one. `--stats` takes several sessions,
/// and folders: then each is a line, and a last one sums up what they used.
#[derive(Debug, Args)]
#[command(after_long_help = crate::cmd::naming("\
Examples:
  session-tree context session.jsonl                   a transcript
  session-tree context current --stats                 what fills your own
  session-tree context session.jsonl --leaf label:wip  seen from a label
  session-tree context session.jsonl --leaf user:1~    before the last prompt
  session-tree context session.jsonl --leaf @~3 --json
  session-tree context session.jsonl --stats           what fills it, and cost
  session-tree context session.jsonl --stats --all     of all branches
  session-tree context sessions --stats --all          a line each, and a sum
  session-tree context session.jsonl --format markdown --no-tools > talk.md
  session-tree context session.jsonl --diff user:1     how it differs there
  session-tree context session.jsonl --format llm | jq length
  session-tree context session.jsonl --as omp          as omp 18 holds it
  session-tree context session.jsonl --format anthropic   a whole request"))]
pub struct ContextArgs {
    #[command(flatten)]
    pub(super) sessions: SessionsArg,
    /// The one, if there is only one.
    #[arg(skip)]
    pub(super) session: SessionArg,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    pub(super) leaf: Option<String>,
    /// Work from before the first entry
    #[arg(long, conflicts_with = "leaf")]
    pub(super) root: bool,
    /// Print what fills the context, and what was used
    ///
    /// That is instead of the messages, and with `--format markdown` above them.
    #[arg(long)]
    pub(super) stats: bool,
    /// Take in all branches, each entry once, not only the path (with --stats)
    #[arg(long, requires = "stats", conflicts_with_all = ["leaf", "root"])]
    pub(super) all: bool,
    /// Leave out calls of tools and their results (with --format markdown)
    ///
    /// So are messages with nothing else. The others keep their numbers.
    #[arg(long, hide_short_help = true)]
    pub(super) no_tools: bool,
    /// Compare it with the context at this entry: - is only at the leaf, + only there
    ///
    /// Goes from the leaf to ENTRY, as `git diff LEAF ENTRY` would: - is what the model would lose
    /// by going there, + what it would get. Messages of the same entry with the same content are
    /// the same. With `--root` all messages there are new.
    #[arg(long, value_name = "ENTRY")]
    pub(super) diff: Option<String>,
    #[command(flatten)]
    pub(super) sent: SentArgs,
    #[command(flatten)]
    pub(super) format: FormatArg<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A transcript for people
    Text,
    /// The transcript as Markdown, to be read elsewhere
    Markdown,
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
    pub(super) fn api(self) -> Option<Api> {
        match self {
            Self::Anthropic => Some(Api::Anthropic),
            Self::Openai => Some(Api::Completions),
            Self::Responses => Some(Api::Responses),
            Self::Text | Self::Markdown | Self::Json | Self::Llm => None,
        }
    }
}

impl Formats for Format {
    const JSON: &[Self] = &[Self::Json, Self::Llm, Self::Anthropic, Self::Openai, Self::Responses];
}
