//! `tree`: prints the tree.

use std::borrow::Cow;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, SessionArg};
use crate::core::body::Bodies;
use crate::core::entry::{Kind, Role, Traits};
use crate::core::error;
use crate::core::filter::Filter;
use crate::core::load::Keep;
use crate::core::rows;
use crate::core::search::Query;
use crate::core::session::{NodeId, Session};
use crate::core::time;
use crate::core::walk;
use crate::ui::list::{Listing, PIECE};
use crate::ui::output::{Output, safe_json};
use crate::ui::report::Failure;
use crate::ui::rows::{self as in_order, LineRows, Place};
use crate::ui::tree::{TreeText, speaker, tilde, whole_or_cut};
use crate::ui::{context as transcript, escape};

/// Print the tree of a session
///
/// Each row starts with the entry's id. The active branch, from the root to the leaf, is marked and
/// comes first at every fork; a connector stands only where an entry has siblings. Reads the whole
/// file once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-tree tree session.jsonl                    the conversation
  session-tree tree session.jsonl --filter user-only only the prompts
  session-tree tree session.jsonl --search 'login retry'
  session-tree tree session.jsonl --path --leaf label:wip
  session-tree tree session.jsonl --entry user:1     the last prompt, whole
  session-tree tree session.jsonl --filter all --format jsonl | jq -r .id")]
pub struct TreeArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Which entries to show
    #[arg(long, value_enum, default_value_t = FilterArg::Default, hide_default_value = true)]
    filter: FilterArg,
    /// Show only entries that contain all these words, in any case
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Show only the path from the root to the leaf
    #[arg(long)]
    path: bool,
    /// Print this entry whole instead of the tree; may be given several times
    #[arg(long, value_name = "ENTRY", conflicts_with_all = ["search", "path", "full", "filter"])]
    entry: Vec<String>,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    /// Work from before the first entry
    #[arg(long, conflicts_with = "leaf")]
    root: bool,
    /// Add the whole entry to each row (with --format jsonl)
    #[arg(long)]
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
    pub fn run(self, app: &App) -> Result<()> {
        self.check(app)?;
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
        let mut shown = vec![false; session.len()];
        for node in session.nodes() {
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
        let lines = LineRows::new(&mut self.bodies);
        let reads = rows.rows.iter().any(|row| session.row_words(row.node).is_none());
        let jobs = if reads { 1 } else { self.app.jobs };
        let made = in_order::write(&mut output, rows.rows.len(), jobs, |range, out| {
            for at in range {
                let words = lines.words(rows.rows[at].node)?;
                out.extend_from_slice(text.row(at, &words).as_bytes());
            }
            Ok(())
        });
        made.map_err(|error: LineError| error.with(&failed))?;
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
        let nodes: Vec<_> = order.into_iter().filter(|node| shown[node.index()]).collect();
        let leaf = self.leaf;
        let rows = LineRows::new(&mut self.bodies);
        let add = |out: &mut Vec<u8>, node: NodeId| {
            let place =
                Place { depth: depths[node.index()], is_active: active[node.index()], is_leaf: Some(node) == leaf };
            rows.push_json(out, node, place)
        };
        let reads = nodes.iter().any(|&node| rows.reads(node));
        if self.args.full || reads {
            output.hold();
        }
        if self.args.full {
            let mut line = Vec::new();
            for &node in &nodes {
                line.clear();
                add(&mut line, node).map_err(&failed)?;
                rows.add_entry(&mut line, node).map_err(&failed)?;
                line.push(b'\n');
                output.json(&line)?;
            }
            return Ok(output.finish()?);
        }
        let (jobs, is_terminal) = (if reads { 1 } else { self.app.jobs }, output.is_terminal());
        let made = in_order::write(&mut output, nodes.len(), jobs, |range, out| {
            for &node in &nodes[range] {
                add(out, node)?;
                out.push(b'\n');
            }
            if let Cow::Owned(safe) = safe_json(out, is_terminal) {
                *out = safe;
            }
            Ok(())
        });
        made.map_err(|error: LineError| error.with(&failed))?;
        Ok(output.finish()?)
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
        output.text(&format!("{}\n", escape::line(&head)))?;
        let words = self.bodies.words(node)?;
        if session.traits(node).role == Role::ToolResult {
            output.text(&format!("{}\n", escape::line(&words)))?;
        }
        let entry = self.bodies.entry(node)?;
        let object = entry.message().filter(|_| entry.kind() == Kind::Message).unwrap_or(entry.object());
        let mut is_blank = true;
        transcript::body(object, &mut |part| {
            is_blank &= part.trim().is_empty();
            output.text(part)
        })?;
        if is_blank {
            output.text(&format!("{}\n", escape::line(&words)))?;
        }
        if !entry.kind().is_conversation() {
            // Nothing of it reads as text, so here is what is stored.
            output.text(&format!("{}\n", escape::lines(&String::from_utf8_lossy(entry.object().bytes()))))?;
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
