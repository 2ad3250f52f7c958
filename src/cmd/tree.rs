//! `tree`: prints the tree.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, SessionArg};
use crate::core::body::Bodies;
use crate::core::entry::{Kind, Role, Traits};
use crate::core::error;
use crate::core::filter::Filter;
use crate::core::load::Keep;
use crate::core::rows::{self, Row};
use crate::core::search::Query;
use crate::core::session::{NodeId, Session};
use crate::core::time::{self, Stamp};
use crate::core::walk;
use crate::ui::json::{self as shape, Time, TreeRow};
use crate::ui::list::{Listing, PIECE};
use crate::ui::output::Output;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::Failure;
use crate::ui::tree::{TreeText, speaker, tilde, whole_or_cut};
use crate::ui::{context as transcript, escape, fit};

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
  session-tree tree session.jsonl --search 'login retry'
  session-tree tree session.jsonl --path --leaf label:wip
  session-tree tree session.jsonl --entry user:1      the last prompt, whole
  session-tree tree session.jsonl --entry @~3         what led to the leaf
  session-tree tree session.jsonl --filter all --format jsonl | jq -r .id"))]
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
    /// Print this entry whole; may be given several times
    #[arg(long, value_name = "ENTRY", conflicts_with_all = ["search", "path", "full", "filter"])]
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
        let filter = self.filter.filter();
        // Words are kept where it is known beforehand that they are printed; else they are read.
        let prints_words = self.entry.is_empty() && self.format() != Format::Json;
        let is_known = prints_words && self.search.is_none() && !self.path && filter != Filter::LabeledOnly;
        let words = |traits: Traits| is_known && filter.shows(traits, false, false);
        let calls = prints_words && !self.path && !matches!(filter, Filter::NoTools | Filter::UserOnly);
        let session = app.load(&self.session.session, Keep { words: &words, calls })?;
        let leaf = match self.root {
            true => None,
            false => self.session.leaf(&session, self.leaf.as_deref())?,
        };
        let mut view = View { app, args: &self, session: &session, leaf, bodies: Bodies::new(&session) };
        if !self.entry.is_empty() {
            return view.entries();
        }
        match self.format() {
            Format::Text => view.text(),
            Format::Table => view.table(),
            Format::Json => view.nested(),
            Format::Jsonl => view.lines(),
        }
    }

    fn check(&self, app: &App) -> Result<()> {
        if self.full && self.format() != Format::Jsonl {
            let failure = Failure::usage("`--full` goes with `--format jsonl`", "use `--format jsonl`");
            return Err(failure.into());
        }
        if !self.entry.is_empty() && matches!(self.format(), Format::Table | Format::Jsonl) {
            let failure = Failure::usage("`--entry` goes with `--format text` or `json`", "leave `--format` out");
            return Err(failure.into());
        }
        let works_from = self.leaf.is_some() || self.root;
        let restricts = works_from
            || self.search.is_some()
            || self.path
            || !matches!(self.filter, FilterArg::Default | FilterArg::All);
        if self.format() == Format::Json && self.entry.is_empty() && restricts {
            let message = "`--format json` holds all entries: `--filter`, `--search`, `--path`, `--leaf` and `--root` do \
                           nothing; `--format jsonl` obeys them";
            app.report.warn("usage", message, None, None);
        }
        Ok(())
    }
}

/// A tree and how it is asked for.
struct View<'v> {
    app: &'v App,
    args: &'v TreeArgs,
    session: &'v Session,
    leaf: Option<NodeId>,
    bodies: Bodies<'v>,
}

impl View<'_> {
    fn failed(&self) -> impl Fn(error::Error) -> anyhow::Error + use<> {
        let path = self.args.session.session.clone();
        move |error| Failure::new(&error, &path).into()
    }

    /// Decides which entries are shown.
    fn shown(&mut self) -> Result<Vec<bool>> {
        let session = self.session;
        let filter = self.args.filter.filter();
        let on_path = self.args.path.then(|| walk::active(session, self.leaf));
        let query = self.args.search.as_deref().map(Query::new);
        let failed = self.failed();
        let done = Arc::default();
        let entries = query.as_ref().map(|_| Count::Things(Arc::clone(&done), session.len(), "entries"));
        let progress = entries.map(|entries| Progress::new(self.app.report, "searching", entries));
        let mut shown = vec![false; session.len()];
        for node in session.nodes() {
            done.fetch_add(1, Ordering::Relaxed);
            let label = session.label(node).map(|label| label.name.as_str());
            let is_leaf = Some(node) == self.leaf;
            let passes = filter.shows(session.traits(node), label.is_some(), is_leaf)
                && on_path.as_ref().is_none_or(|path| path[node.index()]);
            shown[node.index()] = match &query {
                Some(query) if passes => {
                    let words = self.bodies.words(node).map_err(&failed)?;
                    let shown = tilde(&words, self.app.home.as_deref());
                    let row = format!("{}{words}\n{shown}", speaker(session.traits(node)));
                    query.matches(self.bodies.entry(node).map_err(&failed)?, label, &row)
                }
                _ => passes,
            };
        }
        drop(progress);
        if let (Some(text), false) = (&self.args.search, shown.contains(&true)) {
            self.app.report.hint(&format!("no entry that is shown contains all of: {text}"));
        }
        Ok(shown)
    }

    fn text(&mut self) -> Result<()> {
        let (session, failed) = (self.session, self.failed());
        let shown = self.shown()?;
        let order = walk::display_order(session, self.leaf);
        let rows = rows::lay_out(session, self.leaf, &order, |node| shown[node.index()]);
        let text = TreeText::new(session, &rows, self.app.paint, self.app.width, self.app.home.as_deref());
        let mut output = Output::new();
        let name = match session.name() {
            Some(name) => name.to_owned(),
            None => match session.first_prompt() {
                Some(prompt) => self.bodies.words(prompt).map_err(&failed)?,
                None => String::new(),
            },
        };
        output.text(&text.heading(&name, session.len(), walk::tips(session).len()))?;
        for (at, row) in rows.rows.iter().enumerate() {
            let words = self.bodies.words(row.node).map_err(&failed)?;
            output.text(&text.row(at, &words))?;
        }
        Ok(output.finish()?)
    }

    fn table(&mut self) -> Result<()> {
        let (session, failed) = (self.session, self.failed());
        let shown = self.shown()?;
        let order = walk::display_order(session, self.leaf);
        let nodes: Vec<_> = order.into_iter().filter(|node| shown[node.index()]).collect();
        let mut output = Output::new();
        let widest = |of: &dyn Fn(NodeId) -> usize| nodes.iter().map(|&node| of(node)).max().unwrap_or(0);
        let ids = crate::ui::tree::short_ids(session);
        let label = |node: NodeId| session.label(node).map_or("", |label| label.name.as_str());
        let widths = [
            widest(&|node| ids[node.index()]),
            16,
            widest(&|node| self.kind(node).len()),
            widest(&|node| crate::ui::fit::width(&escape::line(label(node)))).min(24),
            204,
        ];
        let headings = ["id", "when (UTC)", "type", "label", "text"];
        let listing = Listing::new(&headings, &widths, self.app.width, output.is_terminal(), self.app.paint);
        output.text(&listing.head())?;
        for piece in nodes.chunks(PIECE) {
            let mut cells = Vec::with_capacity(piece.len());
            for &node in piece {
                let words = self.bodies.words(node).map_err(&failed)?;
                cells.push(vec![
                    session.id(node).chars().take(ids[node.index()]).collect(),
                    time::minute(session.stamp(node)),
                    self.kind(node).to_owned(),
                    label(node).to_owned(),
                    tilde(&whole_or_cut(&words, self.app.paint), self.app.home.as_deref()),
                ]);
            }
            output.text(&listing.rows(cells))?;
        }
        output.text(&listing.foot())?;
        Ok(output.finish()?)
    }

    /// Names an entry by its message's role, or by its type.
    fn kind(&self, node: NodeId) -> &'static str {
        let traits = self.session.traits(node);
        let role = self.session.role_name(node).filter(|_| traits.kind == Kind::Message);
        role.or(traits.kind.name()).unwrap_or("?")
    }

    fn lines(&mut self) -> Result<()> {
        let (session, failed) = (self.session, self.failed());
        let shown = self.shown()?;
        let order = walk::display_order(session, self.leaf);
        let depths = walk::depths(session, &order);
        let active = walk::active(session, self.leaf);
        let mut output = Output::new();
        if self.args.full || session.nodes().any(|node| shown[node.index()] && needs_body(session, node)) {
            output.hold();
        }
        for &node in order.iter().filter(|node| shown[node.index()]) {
            let row = Row { node, branch: None, is_head: false, is_active: active[node.index()] };
            self.line(&mut output, row, depths[node.index()]).map_err(|error| error.with(&failed))?;
        }
        Ok(output.finish()?)
    }

    fn line(&mut self, output: &mut Output, row: Row, depth: u32) -> Result<(), LineError> {
        let (session, node) = (self.session, row.node);
        let timestamp = Time::of(&mut self.bodies, node)?;
        let named = (session.traits(node).kind.name(), session.role_name(node));
        let (kind, role) = match named {
            (Some(kind), role) if session.traits(node).role != Role::Unknown => {
                (Some(Cow::Borrowed(kind)), role.map(Cow::Borrowed))
            }
            _ => {
                let (kind, role) = shape::names(&mut self.bodies, node)?;
                (kind.map(Cow::Owned), role.map(Cow::Owned))
            }
        };
        let words = match session.row_words(node) {
            Some(words) => Cow::Borrowed(words),
            None => Cow::Owned(self.bodies.words(node)?),
        };
        let line = TreeRow {
            id: session.id(node),
            parent_id: session.parent(node).map(|parent| session.id(parent)),
            missing_parent: session.missing_parent(node),
            depth,
            line: session.line(node),
            r#type: kind.as_deref(),
            role: role.as_deref(),
            timestamp,
            label: session.label(node).map(|label| label.name.as_str()),
            active: row.is_active,
            leaf: Some(node) == self.leaf,
            children: session.children(node).len(),
            text: &words,
        };
        if !self.args.full {
            return Ok(output.json_line(&line)?);
        }
        let mut json = serde_json::to_vec(&line).map_err(std::io::Error::from)?;
        json.pop();
        json.extend_from_slice(b",\"entry\":");
        json.extend_from_slice(self.bodies.entry(node)?.object().bytes());
        json.extend_from_slice(b"}\n");
        Ok(output.json(&json)?)
    }

    fn nested(&mut self) -> Result<()> {
        let (session, failed) = (self.session, self.failed());
        let mut output = Output::new();
        output.hold();
        output.text("[")?;
        // What is still to be written: entries, and the ends of entries whose children come first.
        enum Step {
            Open(NodeId, bool),
            Close(NodeId),
        }
        let push = |stack: &mut Vec<Step>, family: &[NodeId]| {
            let steps = family.iter().enumerate().rev();
            stack.extend(steps.map(|(at, &node)| Step::Open(node, at > 0)));
        };
        let mut stack = Vec::new();
        push(&mut stack, session.roots());
        while let Some(step) = stack.pop() {
            match step {
                Step::Open(node, comma) => {
                    output.text(if comma { ",{\"entry\":" } else { "{\"entry\":" })?;
                    output.json(self.bodies.entry(node).map_err(&failed)?.object().bytes())?;
                    output.text(",\"children\":[")?;
                    stack.push(Step::Close(node));
                    push(&mut stack, session.children(node));
                }
                Step::Close(node) => {
                    output.text("]")?;
                    if let Some(label) = session.label(node) {
                        let name = serde_json::to_vec(&label.name)?;
                        output.text(",\"label\":")?;
                        output.json(&name)?;
                    }
                    output.text("}")?;
                }
            }
        }
        output.text("]\n")?;
        Ok(output.finish()?)
    }

    /// Prints the entries that were asked for, whole.
    fn entries(&mut self) -> Result<()> {
        let failed = self.failed();
        let mut nodes = Vec::new();
        for name in &self.args.entry {
            nodes.push(self.args.session.entry(self.session, self.leaf, name)?);
        }
        let mut output = Output::new();
        output.hold();
        for (at, &node) in nodes.iter().enumerate() {
            if self.args.is_json() {
                output.json(self.bodies.entry(node).map_err(&failed)?.object().bytes())?;
                output.text("\n")?;
                continue;
            }
            if at > 0 {
                output.text("\n")?;
            }
            self.whole(node, &mut output).map_err(|error| error.with(&failed))?;
        }
        Ok(output.finish()?)
    }

    /// Prints an entry's head and its whole text.
    fn whole(&mut self, node: NodeId, output: &mut Output) -> Result<(), LineError> {
        let session = self.session;
        let label = session.label(node).map(|label| format!("  [{}]", label.name)).unwrap_or_default();
        let when = time::minute(session.stamp(node));
        let head = format!("{}  {}  {when} UTC{label}", session.id(node), self.kind(node));
        let width = self.app.width;
        let mut print = |text: &str| fit::fold(text, width, None, &mut |row| output.text(row));
        print(&format!("{}\n", escape::line(&head)))?;
        let words = self.bodies.words(node)?;
        if session.traits(node).role == Role::ToolResult {
            print(&format!("{}\n", escape::line(&words)))?;
        }
        let entry = self.bodies.entry(node)?;
        let object = entry.message().filter(|_| entry.kind() == Kind::Message).unwrap_or(entry.object());
        let mut is_blank = true;
        transcript::body(object, &mut |part| {
            is_blank &= part.trim().is_empty();
            print(part)
        })?;
        if is_blank {
            print(&format!("{}\n", escape::line(&words)))?;
        }
        if !entry.kind().is_conversation() {
            // Nothing of it reads as text, so here is what is stored.
            print(&format!("{}\n", escape::lines(&String::from_utf8_lossy(entry.object().bytes()))))?;
        }
        Ok(())
    }
}

/// Why a row could not be printed.
enum LineError {
    Core(error::Error),
    Output(std::io::Error),
}

impl LineError {
    /// Adds the file's name to a failure of the core.
    fn with(self, failed: impl Fn(error::Error) -> anyhow::Error) -> anyhow::Error {
        match self {
            Self::Core(error) => failed(error),
            Self::Output(error) => error.into(),
        }
    }
}

impl From<error::Error> for LineError {
    fn from(error: error::Error) -> Self {
        Self::Core(error)
    }
}

impl From<std::io::Error> for LineError {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

/// Tells whether a row cannot be printed from the index alone.
fn needs_body(session: &Session, node: NodeId) -> bool {
    let traits = session.traits(node);
    session.row_words(node).is_none()
        || matches!(session.stamp(node), Stamp::Other(_) | Stamp::Unknown)
        || matches!(traits.kind, Kind::Unknown)
        || traits.role == Role::Unknown
}
