//! The arguments of `tree`.

use std::time::Duration;

use anyhow::Result;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::cmd::args::{FormatArg, Formats, SearchArgs, SessionArg};
use crate::cmd::sessions::SessionsArg;
use crate::cmd::world;
use crate::core::session::{NodeId, Session};
use crate::core::time::when::Period;
use crate::core::tree::filter::Filter;
use crate::core::tree::view::Scope;

/// Print the tree of a session
///
/// Each row starts with the entry's id. The active branch, from the root to the leaf, is marked and
/// comes first at every fork; a connector stands only where an entry has siblings. Reads the whole
/// file once.
///
/// Several sessions, and those in folders, come one after the other under their paths, with --search only
/// those with a hit.
#[derive(Debug, Args)]
#[command(after_long_help = super::super::naming("\
Examples:
  session-tree tree session.jsonl                     the conversation
  session-tree tree                                   the newest of this folder
  session-tree tree session.jsonl --filter user-only  only the prompts
  session-tree tree session.jsonl --branches          its forks and their ends
  session-tree tree session.jsonl --tips              one row per branch
  session-tree tree session.jsonl --search 'login retry' --since 2d
  session-tree tree session.jsonl --search 'HTTP 5[0-9]+' --regex
  session-tree tree ~/.pi/agent/sessions --search '\"cart total\"'
  session-tree tree session.jsonl --path --leaf label:wip
  session-tree tree session.jsonl --entry user:1      the last prompt, whole
  session-tree tree session.jsonl --entry @~3         what led to the leaf
  session-tree tree session.jsonl --entry assistant:1 --body > answer.md
  session-tree tree session.jsonl --filter all --format jsonl | jq -r .id
  session-tree tree latest --follow                   rows as they are appended
  session-tree tree session.jsonl --format dot | dot -Tsvg > session.svg"))]
pub struct TreeArgs {
    #[command(flatten)]
    pub(super) sessions: SessionsArg,
    /// The one, if there is only one.
    #[arg(skip)]
    pub(super) session: SessionArg,
    /// Which entries to show
    #[arg(long, value_enum, default_value_t = Filter::Default)]
    pub(super) filter: Filter,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    /// Show only the path from the root to the leaf
    #[arg(long)]
    pub(super) path: bool,
    /// Show only the entries that are directly below this one
    #[arg(long, value_name = "ENTRY", hide_short_help = true, conflicts_with_all = ["below", "path"])]
    pub(super) children: Option<String>,
    /// Show only the entries that are below none
    #[arg(long, hide_short_help = true, conflicts_with_all = ["children", "below", "path"])]
    pub(super) roots: bool,
    /// Show only this entry and what is below it; --depth counts from there
    #[arg(long, value_name = "ENTRY", hide_short_help = true, conflicts_with = "path")]
    pub(super) below: Option<String>,
    /// Show only branch points, ends of branches, and labels
    #[arg(long, conflicts_with = "tips")]
    pub(super) branches: bool,
    /// Show one row per branch: its end and first words
    #[arg(long)]
    pub(super) tips: bool,
    /// Show only entries at most N steps below the root
    #[arg(long, value_name = "N", value_parser = steps)]
    pub(super) depth: Option<u32>,
    /// Show only entries from then on: a date or 2d, 3h, 90m
    ///
    /// A date is 2026-01-31 or 2026-01-31T10:00, with Z or an offset, else in the local time zone. An
    /// age is a number of weeks (w), days (d), hours (h) or minutes (m).
    #[arg(long, value_name = "WHEN", value_parser = world::since)]
    pub(super) since: Option<i64>,
    /// Show only entries up to then
    #[arg(long, value_name = "WHEN", value_parser = world::until)]
    pub(super) until: Option<i64>,
    /// Go on with each row as it is appended, until interrupted
    ///
    /// The file is looked at four times a second; of one that grows only what is new is read.
    #[arg(long, hide_short_help = true, conflicts_with_all = [
        "path", "children", "roots", "below", "branches", "tips", "depth", "entry", "leaf", "root",
    ])]
    pub(super) follow: bool,
    /// End after that long without a new row (with --follow)
    #[arg(long, value_name = "SECONDS", hide_short_help = true, requires = "follow", value_parser = world::seconds)]
    pub(super) timeout: Option<Duration>,
    /// Print this entry whole; may be given several times
    #[arg(long, value_name = "ENTRY", conflicts_with_all = [
        "search", "path", "children", "roots", "below", "full", "filter", "branches", "tips", "depth", "since", "until",
    ])]
    pub(super) entry: Vec<String>,
    /// Print only the text of the entry, as it was written (with --entry)
    #[arg(long, hide_short_help = true, requires = "entry")]
    pub(super) body: bool,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    pub(super) leaf: Option<String>,
    /// Work from before the first entry
    #[arg(long, hide_short_help = true, conflicts_with = "leaf")]
    pub(super) root: bool,
    /// Add the whole entry to each row (with --format jsonl)
    #[arg(long, hide_short_help = true)]
    pub(super) full: bool,
    #[command(flatten)]
    pub(super) format: FormatArg<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Rows for people
    Text,
    /// Columns: id, when, type, label, text
    Table,
    /// Nested nodes, as deep as the tree
    Json,
    /// One object a row: the form for scripts
    Jsonl,
    /// A picture for Graphviz
    Dot,
    /// A picture for Mermaid, as in Markdown
    Mermaid,
}

impl Formats for Format {
    const JSON: &[Self] = &[Self::Json, Self::Jsonl];
}

// The core knows nothing of the command line.
impl ValueEnum for Filter {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Default, Self::NoTools, Self::UserOnly, Self::LabeledOnly, Self::All]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Default => ("default", "The conversation, without bookkeeping and assistant messages without text"),
            Self::NoTools => ("no-tools", "As default, without tool results"),
            Self::UserOnly => ("user-only", "User messages"),
            Self::LabeledOnly => ("labeled-only", "Entries with a label"),
            Self::All => ("all", "Everything"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl TreeArgs {
    /// Returns which part of the tree is to be shown.
    pub(super) fn scope(&self, session: &Session, leaf: Option<NodeId>) -> Result<Scope> {
        let find = |name: &str| self.session.entry(session, leaf, name);
        Ok(match (&self.children, &self.below) {
            (Some(name), _) => Scope::Children(find(name)?),
            (None, Some(name)) => Scope::Below(find(name)?),
            (None, None) if self.roots => Scope::Roots,
            (None, None) => Scope::Whole,
        })
    }

    /// Returns the time that entries are to be of.
    pub(super) fn period(&self) -> Period {
        Period { since: self.since, until: self.until }
    }
}

/// Reads a number of steps.
fn steps(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a number of steps is a whole number from 0 on, such as 2".to_owned())
}
