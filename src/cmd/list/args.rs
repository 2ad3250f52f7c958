//! The arguments of `list`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use crate::cmd::args::{FormatArg, Formats, number};
use crate::cmd::paths::Listed;
use crate::cmd::world;
use crate::core::store::arrange::SortKey;

/// List sessions, the newest first
///
/// Without PATH, lists the sessions that belong to this folder, else to the nearest folder above it
/// that has some; with PATH, those in files and folders. A fork stands below its parent, and a family
/// where its newest session does. Names and prompts come from the start and the end of each file;
/// --long reads the files whole.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree list                          those of this folder
  session-tree list --all --limit 20         those of all folders
  session-tree list --all --search 'retry deadline'
  session-tree list sessions --long          with messages, turns and cost
  session-tree list --all --long --sort cost --since 7d
  session-tree list --family latest          a session, its ancestors and forks
  session-tree list sessions --format path --null | xargs -0 session-tree check
  session-tree list sessions --format jsonl | jq -r .sessionId")]
pub struct ListArgs {
    /// Files, folders to search for *.jsonl and *.jsonl.gz files, or - for standard input
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) listed: Listed,
    /// List the sessions of all folders
    #[arg(long, conflicts_with_all = ["paths", "files_from", "stdin_name"])]
    pub(super) all: bool,
    /// Read the files whole, and add turns, cost and more
    #[arg(long)]
    pub(super) long: bool,
    /// Do not put forks below their parents
    #[arg(long, hide_short_help = true)]
    pub(super) flat: bool,
    /// List only sessions that hold these words
    ///
    /// They are all in one entry that `tree --search` finds, or in the name. Reads the files whole.
    #[arg(long, value_name = "TEXT")]
    pub(super) search: Option<String>,
    /// Take TEXT of --search as one regular expression, case and all
    #[arg(long, hide_short_help = true, requires = "search")]
    pub(super) regex: bool,
    /// List only sessions written from then on: a date or 2d, 3h, 90m
    #[arg(long, value_name = "WHEN", value_parser = world::since)]
    pub(super) since: Option<i64>,
    /// List only sessions written up to then
    #[arg(long, value_name = "WHEN", value_parser = world::until, hide_short_help = true)]
    pub(super) until: Option<i64>,
    /// List only the first N [default: all]
    #[arg(long, value_name = "N", value_parser = number)]
    pub(super) limit: Option<usize>,
    /// What to sort by; cost and messages need --long
    #[arg(long, value_enum, value_name = "KEY", default_value_t = SortKey::Written)]
    pub(super) sort: SortKey,
    /// List only this session, its ancestors and all their forks
    #[arg(long, value_name = "SESSION")]
    pub(super) family: Option<PathBuf>,
    #[command(flatten)]
    pub(super) format: FormatArg<Format>,
    /// End each path with NUL (with --format path)
    #[arg(long, hide_short_help = true)]
    pub(super) null: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Rows for people
    Text,
    /// The same with headings
    Table,
    /// The paths of the files
    Path,
    /// One array of objects
    Json,
    /// One object a line
    Jsonl,
}

impl Formats for Format {
    const JSON: &[Self] = &[Self::Json, Self::Jsonl];
}

// The core knows nothing of the command line.
impl ValueEnum for SortKey {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Written, Self::Created, Self::Size, Self::Cost, Self::Messages]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::Written => ("written", "When the file was last written to"),
            Self::Created => ("created", "When the session was started"),
            Self::Size => ("size", "The length of the file"),
            Self::Cost => ("cost", "What all of its entries cost"),
            Self::Messages => ("messages", "How many messages it has"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}
