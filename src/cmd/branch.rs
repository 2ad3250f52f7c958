//! `branch`: forks a session into a new file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, SessionArg, world};
use crate::core::body::Bodies;
use crate::core::branch::{self, Fork, Identity, Written};
use crate::core::entry::{Kind, Role, Traits};
use crate::core::load::Keep;
use crate::core::session::{NodeId, Session};
use crate::core::time;
use crate::core::write;
use crate::ui::escape;
use crate::ui::json::{BranchRow, Branched, Time};
use crate::ui::list::{Listing, PIECE};
use crate::ui::output::Output;
use crate::ui::report::Failure;
use crate::ui::tree::{short_ids, tilde};

/// Fork a session into a new file, or list where one can
///
/// Without ENTRY the user messages of the file are listed, those of all branches and those without
/// text too. With ENTRY, a user message, a new session is made of what stands before it, and its
/// text is given back to be edited and sent again; with `--at` any entry is copied, with all that
/// stands above it. Labels go along. The source stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-tree branch session.jsonl                     where one can branch
  session-tree branch session.jsonl user:1              from before the last prompt
  session-tree branch session.jsonl --at label:green    a copy up to a label
  pi --session \"$(session-tree branch session.jsonl user:2 --quiet)\"")]
pub struct BranchArgs {
    #[command(flatten)]
    session: SessionArg,
    /// User message: an id or its start, label:NAME, user:N, each with ~N
    #[arg(value_name = "ENTRY", conflicts_with = "at")]
    entry: Option<String>,
    /// Copy up to and including this entry, whatever it is [default: the leaf]
    #[arg(long, value_name = "ENTRY", num_args = 0..=1, default_missing_value = "@")]
    at: Option<String>,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY")]
    leaf: Option<String>,
    /// Folder of the new file [default: that of SESSION]
    #[arg(long, value_name = "DIR")]
    session_dir: Option<PathBuf>,
    /// The new file; - for standard output
    #[arg(long, short, value_name = "FILE", conflicts_with = "session_dir")]
    output: Option<PathBuf>,
    /// Only tell what would be done
    #[arg(long)]
    dry_run: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// What was made.
struct Made<'a> {
    identity: &'a Identity,
    path: Option<&'a Path>,
    written: Option<Written>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Id and text
    Text,
    /// Columns: id, when, text
    Table,
    /// One array of objects
    Json,
    /// One object a line
    Jsonl,
}

impl BranchArgs {
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
        if self.entry.is_some() || self.at.is_some() {
            return self.fork(app);
        }
        if self.output.is_some() || self.session_dir.is_some() || self.dry_run {
            let message = "there is nothing to make without an entry";
            return Err(Failure::usage(message, "name a user message, or use `--at`").into());
        }
        let is_user = |traits: Traits| traits.kind == Kind::Message && traits.role == Role::User;
        let session = app.load(&self.session.session, Keep { words: &is_user, calls: false })?;
        let nodes: Vec<_> = session.nodes().filter(|&node| session.is_user(node)).collect();
        let mut output = Output::new();
        match self.format() {
            Format::Text | Format::Table => self.rows(app, &session, &nodes, &mut output)?,
            Format::Json | Format::Jsonl => self.json(&session, &nodes, &mut output)?,
        }
        Ok(output.finish()?)
    }

    fn fork(self, app: &App) -> Result<()> {
        let failed = self.session.failed();
        let session = app.load(&self.session.session, Keep::NOTHING)?;
        let leaf = self.session.leaf(&session, self.leaf.as_deref())?;
        let mut bodies = Bodies::new(&session);
        let name = self.entry.as_deref().or(self.at.as_deref()).unwrap_or("@");
        let entry = self.session.entry(&session, leaf, name)?;
        let fork = match self.at.is_some() {
            true => Fork::at(&session, entry),
            false => Fork::before(&mut bodies, entry).map_err(&failed)?,
        };
        self.warn(app, &mut bodies, &fork)?;
        let to_stdout = self.output.as_deref() == Some(Path::new("-"));
        let parent = match self.session.session == Path::new("-") || to_stdout {
            true => None,
            false => Some(std::path::absolute(&self.session.session)?.display().to_string()),
        };
        let mut fresh = world::entry_id;
        let mut world = world::world(&mut fresh);
        let identity = Identity { id: world::session_id(), parent };
        let path = if to_stdout { None } else { Some(self.place(&identity.id, &world.now)?) };
        let mut made = Made { identity: &identity, path: None, written: None };
        if self.dry_run {
            made.written = Some(fork.write(&mut bodies, &identity, &mut world, &mut io::sink()).map_err(&failed)?);
            return self.tell(app, &session, &fork, &made);
        }
        let Some(path) = path else {
            let mut output = Output::new();
            output.hold();
            made.written = Some(fork.write(&mut bodies, &identity, &mut world, &mut output).map_err(&failed)?);
            output.finish()?;
            return self.tell(app, &session, &fork, &made);
        };
        world::prepare()?;
        let permissions = session.permissions().unwrap_or_else(world::private);
        let patience = world::patience(Duration::ZERO);
        let write = &mut |out: &mut dyn Write| {
            made.written = Some(fork.write(&mut bodies, &identity, &mut world, out)?);
            Ok(())
        };
        write::create(&path, permissions, patience, write).map_err(|error| Failure::new(&error, &path))?;
        made.path = Some(&path);
        self.tell(app, &session, &fork, &made)
    }

    /// Decides where the new file goes. The header's id is our own, so that no hostile one can
    /// lead out of the folder.
    fn place(&self, id: &str, now: &str) -> Result<PathBuf> {
        if let Some(path) = &self.output {
            return Ok(path.clone());
        }
        let name = format!("{}_{id}.jsonl", now.replace([':', '.'], "-"));
        if let Some(folder) = &self.session_dir {
            return Ok(folder.join(name));
        }
        if self.session.session == Path::new("-") {
            let message = "standard input has no folder for the new file";
            return Err(Failure::usage(message, "add `--session-dir DIR`, `--output FILE` or `--output -`").into());
        }
        Ok(self.session.session.with_file_name(name))
    }

    /// Warns of what the fork leaves out or leaves open.
    fn warn(&self, app: &App, bodies: &mut Bodies<'_>, fork: &Fork) -> Result<()> {
        let session = bodies.session();
        let warn = |kind: &str, message: &str, node: NodeId| {
            app.report.warn(kind, message, Some(&self.session.session), Some(session.line(node)));
        };
        let first = fork.kept.first().copied().or(Some(fork.entry));
        if let Some(root) = first.filter(|&root| session.parent(root).is_none() && session.is_cut(root)) {
            let message = "the path is cut here: the new session starts at this entry";
            warn("unreachable", message, root);
        }
        for call in branch::unanswered(bodies, &fork.kept).map_err(self.session.failed())? {
            let message = format!("tool call `{call}` has no result in the new session; providers may refuse it");
            warn("unanswered-call", &message, *fork.kept.last().unwrap_or(&fork.entry));
        }
        Ok(())
    }

    fn tell(&self, app: &App, session: &Session, fork: &Fork, made: &Made<'_>) -> Result<()> {
        let Some(written) = &made.written else { return Ok(()) };
        let path = made.path.map(std::path::absolute).transpose()?;
        let to_stdout = self.output.as_deref() == Some(Path::new("-"));
        let result = Branched {
            cancelled: false,
            dry_run: self.dry_run.then_some(true),
            entry_id: session.id(fork.entry),
            selected_text: fork.selected_text.as_deref(),
            session_file: path.as_ref().map(|path| path.display().to_string()),
            session_id: (!self.dry_run).then_some(&made.identity.id),
            parent_session: made.identity.parent.as_deref(),
            leaf_id: written.leaf.as_deref(),
            entries: written.entries,
            labels: written.labels,
        };
        if to_stdout && !self.dry_run {
            if self.is_json() {
                app.report.result(&result);
            }
            return Ok(());
        }
        let mut output = Output::new();
        if self.is_json() {
            output.json_line(&result)?;
            return Ok(output.finish()?);
        }
        if self.dry_run {
            let count = written.entries;
            let text = format!("would make a session of {count} entries, {} of them labels\n", written.labels);
            output.text(&text)?;
        }
        if let Some(path) = &path {
            output.text(&format!("{}\n", escape::line(&path.display().to_string())))?;
        }
        output.finish()?;
        app.report.forked(path.as_deref(), fork.selected_text.as_deref());
        Ok(())
    }

    fn json(&self, session: &Session, nodes: &[NodeId], output: &mut Output) -> Result<()> {
        output.hold();
        let mut bodies = Bodies::new(session);
        let is_array = self.format() == Format::Json;
        let mut mark = if is_array { "[" } else { "" };
        for &node in nodes {
            let row = BranchRow {
                entry_id: session.id(node),
                parent_id: session.parent(node).map(|parent| session.id(parent)),
                timestamp: Time::of(&mut bodies, node).map_err(self.session.failed())?,
                text: &bodies.words(node).map_err(self.session.failed())?,
            };
            output.text(mark)?;
            output.json(&serde_json::to_vec(&row)?)?;
            mark = if is_array { "," } else { "\n" };
        }
        let end = match (is_array, nodes.is_empty()) {
            (true, true) => "[]\n",
            (true, false) => "]\n",
            (false, true) => "",
            (false, false) => "\n",
        };
        Ok(output.text(end)?)
    }

    fn rows(&self, app: &App, session: &Session, nodes: &[NodeId], output: &mut Output) -> Result<()> {
        let is_table = self.format() == Format::Table;
        let ids = short_ids(session);
        let widest = nodes.iter().map(|node| ids[node.index()]).max().unwrap_or(0).min(36);
        let borders = is_table && output.is_terminal();
        let listing = if is_table {
            Listing::new(&["id", "when", "text"], &[widest, 16, 204], app.width, borders, app.paint)
        } else {
            Listing::new(&["", ""], &[widest, 204], app.width, false, app.paint)
        };
        if is_table {
            output.text(&listing.head())?;
        }
        let mut bodies = Bodies::new(session);
        for piece in nodes.chunks(PIECE) {
            let mut cells = Vec::with_capacity(piece.len());
            for &node in piece {
                let words = bodies.words(node).map_err(self.session.failed())?;
                let mut row = vec![session.id(node).chars().take(ids[node.index()]).collect()];
                row.extend(is_table.then(|| time::minute(session.stamp(node))));
                row.push(tilde(&words, app.home.as_deref()));
                cells.push(row);
            }
            output.text(&listing.rows(cells))?;
        }
        Ok(output.text(&listing.foot())?)
    }
}
