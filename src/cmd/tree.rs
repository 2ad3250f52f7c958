//! `tree`: prints the tree.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::args::{FormatArg, Formats, SessionArg};
use super::{App, Task, world};
use crate::core::entry::{Kind, Traits};
use crate::core::read::load::Keep;
use crate::core::search::Query;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::when::Period;
use crate::core::tree::filter::Filter;
use crate::core::tree::view::{Search, Shown, View};
use crate::core::words::counted;
use crate::ui::entry::speaker;
use crate::ui::graph::Form;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::About;

mod graph;
mod rows;
mod tips;
mod usage;
mod whole;

/// Print the tree of a session
///
/// Each row starts with the entry's id. The active branch, from the root to the leaf, is marked and
/// comes first at every fork; a connector stands only where an entry has siblings. Reads the whole
/// file once.
#[derive(Debug, Args)]
#[command(after_long_help = super::naming("\
Examples:
  session-tree tree session.jsonl                     the conversation
  session-tree tree latest                            the newest one held here
  session-tree tree session.jsonl --filter user-only  only the prompts
  session-tree tree session.jsonl --branches          its forks and their ends
  session-tree tree session.jsonl --tips              a row a branch
  session-tree tree session.jsonl --search 'login retry' --since 2d
  session-tree tree session.jsonl --path --leaf label:wip
  session-tree tree session.jsonl --entry user:1      the last prompt, whole
  session-tree tree session.jsonl --entry @~3         what led to the leaf
  session-tree tree session.jsonl --filter all --format jsonl | jq -r .id
  session-tree tree session.jsonl --format dot | dot -Tsvg > session.svg"))]
pub struct TreeArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Which entries to show
    #[arg(long, value_enum, default_value_t = FilterArg::Default, hide_default_value = true)]
    filter: FilterArg,
    /// Show only entries that hold all these words
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Show only the path from the root to the leaf
    #[arg(long)]
    path: bool,
    /// Show only branch points, ends of branches, and labels
    #[arg(long, conflicts_with = "tips")]
    branches: bool,
    /// Show a row a branch: its end and first words
    #[arg(long)]
    tips: bool,
    /// Show only entries at most N steps below the root
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Show only entries from then on: a date or 2d, 3h, 90m
    ///
    /// A date is as 2026-01-31 or 2026-01-31T10:00, with Z, an offset, or in the local time zone; an
    /// age is a number of weeks (w), days (d), hours (h) or minutes (m).
    #[arg(long, value_name = "WHEN", value_parser = world::since)]
    since: Option<i64>,
    /// Show only entries up to then
    #[arg(long, value_name = "WHEN", value_parser = world::until)]
    until: Option<i64>,
    /// Print this entry whole; may be given several times
    #[arg(long, value_name = "ENTRY", conflicts_with_all = [
        "search", "path", "full", "filter", "branches", "tips", "depth", "since", "until",
    ])]
    entry: Vec<String>,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    /// Work from before the first entry
    #[arg(long, hide_short_help = true, conflicts_with = "leaf")]
    root: bool,
    /// Add the whole entry to each row (with --format jsonl)
    #[arg(long, hide_short_help = true)]
    full: bool,
    #[command(flatten)]
    format: FormatArg<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FilterArg {
    /// The conversation: no bookkeeping, no silent assistant messages
    Default,
    /// As default, without tool results
    NoTools,
    /// User messages
    UserOnly,
    /// Entries with a label
    LabeledOnly,
    /// Everything
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Rows for people
    Text,
    /// Columns: id, when, type, label, text
    Table,
    /// The whole tree as nested nodes
    Json,
    /// One object a row: the form for scripts
    Jsonl,
    /// A picture for Graphviz
    Dot,
    /// A picture for Mermaid, as in Markdown
    Mermaid,
}

impl Formats for Format {
    const JSON: Self = Self::Json;

    fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }
}

impl Task for TreeArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        usage::check(&self, app)?;
        self.session.find(app)?;
        self.print(app).about(&self.session.session)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl FilterArg {
    fn filter(self) -> Filter {
        match self {
            Self::Default => Filter::Default,
            Self::NoTools => Filter::NoTools,
            Self::UserOnly => Filter::UserOnly,
            Self::LabeledOnly => Filter::LabeledOnly,
            Self::All => Filter::All,
        }
    }
}

impl TreeArgs {
    fn print(&self, app: &App) -> Result<()> {
        let query = self.search.as_deref().filter(|_| !self.is_nested()).map(Query::new);
        let row = |traits: Traits, words: &str| format!("{}{words}\n{}", speaker(traits), app.screen.tilde(words));
        let done = Arc::new(AtomicU64::new(0));
        let step = || _ = done.fetch_add(1, Ordering::Relaxed);
        let view = View {
            filter: self.filter.filter(),
            path: self.path,
            period: self.period(),
            search: query.as_ref().map(|query| Search { query, row: &row, step: &step }),
            depth: self.depth,
            branches: self.branches,
        };
        let shows_view = self.entry.is_empty() && !self.is_nested();
        let prints_rows =
            shows_view && !self.tips && matches!(self.format.get(), Format::Text | Format::Table | Format::Jsonl);
        let words = |traits: Traits| shows_view && view.keeps(traits, prints_rows);
        let calls = shows_view && view.shows_calls();
        let session = app.load(&self.session.session, Keep { words: &words, calls })?;
        let leaf = match self.root {
            true => None,
            false => self.session.leaf(&session, self.leaf.as_deref())?,
        };
        let bodies = Bodies::new(&session);
        let mut printer = Printer { app, args: self, session: &session, leaf, query: query.as_ref(), bodies };
        if !self.entry.is_empty() {
            return printer.entries();
        }
        if self.is_nested() {
            return printer.nested();
        }
        let entries = query.as_ref().map(|_| Count::Things(Arc::clone(&done), session.len(), "entries"));
        let progress = entries.map(|entries| Progress::new(app.report, "searching", entries));
        let shown = view.show(&mut printer.bodies, leaf)?;
        drop(progress);
        self.explain(app, &shown);
        match self.format.get() {
            format if self.tips => printer.tips(&shown, format),
            Format::Table => printer.table(&shown),
            Format::Jsonl => printer.lines(&shown),
            Format::Dot => printer.graph(&shown, Form::Dot),
            Format::Mermaid => printer.graph(&shown, Form::Mermaid),
            Format::Text | Format::Json => printer.text(&shown),
        }
    }

    fn period(&self) -> Period {
        Period { since: self.since, until: self.until }
    }

    /// Returns whether the whole tree is printed as nested nodes.
    fn is_nested(&self) -> bool {
        self.format.get() == Format::Json && self.entry.is_empty() && !self.tips
    }

    /// Says what is not there although one may look for it.
    fn explain(&self, app: &App, shown: &Shown) {
        match (&self.search, self.period().is_bound()) {
            _ if !shown.is_empty => {}
            (Some(text), false) => app.report.hint(&format!("no entry that is shown contains all of: {text}")),
            (Some(text), true) => {
                app.report.hint(&format!("no entry that is shown is of that time and contains all of: {text}"))
            }
            (None, true) => app.report.hint("no entry that is shown is of that time"),
            (None, false) => {}
        }
        if shown.timeless > 0 {
            let entries = counted(shown.timeless, "entry", "entries");
            app.report.hint(&format!("left out: {entries} without a time that can be read"));
        }
        if shown.rowless > 0 && !self.format.is_json() {
            let entries = counted(shown.rowless, "entry is", "entries are");
            app.report.hint(&format!("{entries} deeper, with nothing shown above"));
        }
    }
}

/// Prints a tree as it is asked for.
struct Printer<'v> {
    app: &'v App,
    args: &'v TreeArgs,
    session: &'v Session,
    leaf: Option<NodeId>,
    query: Option<&'v Query>,
    bodies: Bodies<'v>,
}

impl Printer<'_> {
    /// Names an entry by its message's role, or by its type.
    fn kind(&self, node: NodeId) -> &'static str {
        let traits = self.session.traits(node);
        let role = self.session.role_name(node).filter(|_| traits.kind == Kind::Message);
        role.or(traits.kind.name()).unwrap_or("?")
    }
}
