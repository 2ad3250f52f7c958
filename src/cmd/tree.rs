//! `tree`: prints the tree.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, SessionArg, world};
use crate::core::entry::{Kind, Traits};
use crate::core::problem::WarningKind;
use crate::core::read::load::Keep;
use crate::core::search::{Query, Sieve};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::when::Period;
use crate::core::tree::filter::Filter;
use crate::core::tree::shape::Shape;
use crate::core::tree::walk;
use crate::core::words::counted;
use crate::ui::entry::speaker;
use crate::ui::graph::GraphFormat;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::{AboutFile, Failure};

mod graph;
mod rows;
mod tips;
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
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
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
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Tells whether messages are objects too.
    pub fn is_json(&self) -> bool {
        matches!(self.format(), Format::Json | Format::Jsonl)
    }

    /// Runs the command.
    ///
    /// # Errors
    /// A [`Failure`], or what the system says of writing to stdout.
    pub fn run(mut self, app: &App) -> Result<()> {
        self.check(app)?;
        self.session.find(app)?;
        self.print(app).about(&self.session.session)
    }

    fn print(&self, app: &App) -> Result<()> {
        let filter = self.filter.filter();
        // Words are kept where it is known beforehand that they are printed; else they are read.
        let prints_words = self.entry.is_empty() && !self.is_nested();
        let prints_most = !(self.branches || self.tips || self.depth.is_some() || self.period().is_bound())
            && matches!(self.format(), Format::Text | Format::Table | Format::Jsonl);
        let looks = self.search.is_some();
        let is_known = prints_words && (prints_most || looks) && !self.path && filter != Filter::LabeledOnly;
        let words = |traits: Traits| is_known && filter.shows(traits, false, false);
        let calls = prints_words && !self.path && !matches!(filter, Filter::NoTools | Filter::UserOnly);
        let session = app.load(&self.session.session, Keep { words: &words, calls })?;
        let leaf = match self.root {
            true => None,
            false => self.session.leaf(&session, self.leaf.as_deref())?,
        };
        let query = self.search.as_deref().map(Query::new);
        let bodies = Bodies::new(&session);
        let mut view = View { app, args: self, session: &session, leaf, query: query.as_ref(), bodies };
        if !self.entry.is_empty() {
            return view.entries();
        }
        if self.tips {
            return view.tips();
        }
        match self.format() {
            Format::Text => view.text(),
            Format::Table => view.table(),
            Format::Json => view.nested(),
            Format::Jsonl => view.lines(),
            Format::Dot => view.graph(GraphFormat::Dot),
            Format::Mermaid => view.graph(GraphFormat::Mermaid),
        }
    }

    fn period(&self) -> Period {
        Period { since: self.since, until: self.until }
    }

    /// Tells whether the whole tree is printed as nested nodes.
    fn is_nested(&self) -> bool {
        self.format() == Format::Json && self.entry.is_empty() && !self.tips
    }

    fn check(&self, app: &App) -> Result<()> {
        if let Some((message, hint)) = self.misuse() {
            return Err(Failure::usage(message, hint).into());
        }
        let works_from = self.leaf.is_some() || self.root;
        let restricts = works_from
            || self.search.is_some()
            || self.path
            || !matches!(self.filter, FilterArg::Default | FilterArg::All);
        if self.is_nested() && restricts {
            let message = "`--format json` holds all entries: `--filter`, `--search`, `--path`, `--leaf` and `--root` do \
                           nothing; `--format jsonl` obeys them";
            app.report.warn(WarningKind::Usage, message, None, None);
        }
        Ok(())
    }

    /// Finds options that do not go together: says so, and what to do.
    fn misuse(&self) -> Option<(String, &'static str)> {
        let format = self.format();
        let plain = |message: &str, hint| Some((message.to_owned(), hint));
        if self.full && self.tips {
            return plain("`--full` goes with rows of entries, not with `--tips`", "leave one of them out");
        }
        if self.full && format != Format::Jsonl {
            return plain("`--full` goes with `--format jsonl`", "use `--format jsonl`");
        }
        if !self.entry.is_empty() && !matches!(format, Format::Text | Format::Json) {
            return plain("`--entry` goes with `--format text` or `json`", "leave `--format` out");
        }
        if self.tips && matches!(format, Format::Dot | Format::Mermaid) {
            return plain("`--tips` is a list, of which there is no picture", "use `--branches`");
        }
        let parts = [
            (self.branches, "--branches"),
            (self.depth.is_some(), "--depth"),
            (self.since.is_some(), "--since"),
            (self.until.is_some(), "--until"),
        ];
        if let Some((_, option)) = parts.into_iter().find(|(is_given, _)| *is_given && self.is_nested()) {
            return Some((format!("`--format json` holds all entries, without `{option}`"), "use `--format jsonl`"));
        }
        if let (Some(since), Some(until)) = (self.since, self.until)
            && since > until
        {
            return plain("nothing is between `--since` and `--until`: it ends before it starts", "swap the two");
        }
        None
    }
}

/// A tree and how it is asked for.
struct View<'v> {
    app: &'v App,
    args: &'v TreeArgs,
    session: &'v Session,
    leaf: Option<NodeId>,
    query: Option<&'v Query>,
    bodies: Bodies<'v>,
}

impl View<'_> {
    /// Decides which entries are shown, as far as depth does not matter.
    fn shown(&mut self) -> Result<Vec<bool>> {
        let session = self.session;
        let filter = self.args.filter.filter();
        let on_path = self.args.path.then(|| walk::active(session, self.leaf));
        let period = self.args.period();
        let done = Arc::default();
        let entries = self.query.map(|_| Count::Things(Arc::clone(&done), session.len(), "entries"));
        let progress = entries.map(|entries| Progress::new(self.app.report, "searching", entries));
        // Version 3 may say other things than what is stored.
        let mut sieve = self.query.filter(|_| !session.is_migrated()).map(Sieve::new);
        let mut shown = vec![false; session.len()];
        let mut timeless = 0;
        for node in session.nodes() {
            done.fetch_add(1, Ordering::Relaxed);
            let label = session.label(node).map(|label| label.name.as_str());
            let is_leaf = Some(node) == self.leaf;
            let passes = filter.shows(session.traits(node), label.is_some(), is_leaf)
                && on_path.as_ref().is_none_or(|path| path[node.index()]);
            if !passes {
                continue;
            }
            let is_in_time = !period.is_bound()
                || period.holds(session.stamp(node)).unwrap_or_else(|| {
                    timeless += 1;
                    false
                });
            shown[node.index()] = is_in_time
                && match self.query {
                    Some(query) => {
                        let words = self.bodies.words(node)?;
                        let shown = self.app.screen.tilde(&words);
                        let row = format!("{}{words}\n{shown}", speaker(session.traits(node)));
                        let line = self.bodies.bytes(node)?;
                        sieve.as_mut().is_none_or(|sieve| sieve.lets_through(line, label, &row))
                            && query.matches(self.bodies.entry(node)?, label, &row)
                    }
                    None => true,
                };
        }
        drop(progress);
        self.explain(shown.contains(&true), timeless);
        Ok(shown)
    }

    /// Says what is not there although one may look for it.
    fn explain(&self, has_some: bool, timeless: usize) {
        let report = self.app.report;
        match (&self.args.search, self.args.period().is_bound()) {
            _ if has_some => {}
            (Some(text), false) => report.hint(&format!("no entry that is shown contains all of: {text}")),
            (Some(text), true) => {
                report.hint(&format!("no entry that is shown is of that time and contains all of: {text}"))
            }
            (None, true) => report.hint("no entry that is shown is of that time"),
            (None, false) => {}
        }
        if timeless > 0 {
            let entries = counted(timeless, "entry", "entries");
            report.hint(&format!("left out: {entries} without a time that can be read"));
        }
    }

    /// Gives all entries in the order of display, and the shape of the shown ones.
    fn shape(&mut self) -> Result<(Vec<NodeId>, Shape)> {
        let session = self.session;
        let shown = self.shown()?;
        let order = walk::display_order(session, self.leaf);
        let Some(most) = self.args.depth else {
            let shape = Shape::new(session, &order, |node| shown[node.index()]);
            return Ok((order, shape));
        };
        let depths = walk::depths(session, &order);
        let is_deep = |node: NodeId| depths[node.index()] > most;
        let mut shape = Shape::new(session, &order, |node| shown[node.index()] && !is_deep(node));
        let untold = shape.omit_below(session.nodes().filter(|&node| shown[node.index()] && is_deep(node)));
        if untold > 0 && !self.args.is_json() {
            let entries = counted(untold, "entry is", "entries are");
            self.app.report.hint(&format!("{entries} deeper, with nothing shown above"));
        }
        Ok((order, shape))
    }

    /// Gives the same of what is shown in rows.
    fn row_shape(&mut self) -> Result<(Vec<NodeId>, Shape)> {
        let (order, shape) = self.shape()?;
        if !self.args.branches {
            return Ok((order, shape));
        }
        let landmarks = shape.landmarks(self.session, self.leaf);
        Ok((order, shape.folded(&landmarks)))
    }

    /// Names an entry by its message's role, or by its type.
    fn kind(&self, node: NodeId) -> &'static str {
        let traits = self.session.traits(node);
        let role = self.session.role_name(node).filter(|_| traits.kind == Kind::Message);
        role.or(traits.kind.name()).unwrap_or("?")
    }
}
