//! `branch`: forks a session into a new file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::world::{self, HookArgs};
use super::{App, SessionArg};
use crate::core::disk::write;
use crate::core::edit::branch::{self, Fork, Identity, Written};
use crate::core::edit::commit;
use crate::core::edit::draft::World;
use crate::core::entry::header::CURRENT;
use crate::core::entry::{Kind, Role, Traits};
use crate::core::error::Error;
use crate::core::problem::WarningKind;
use crate::core::read::load::Keep;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time;
use crate::core::words::counted;
use crate::hooks::{Answer, Event};
use crate::ui::entry::{self, ShortIds};
use crate::ui::escape;
use crate::ui::exit::Exit;
use crate::ui::json::{BranchRow, Branched, StoredTime};
use crate::ui::list::{Column, Listing};
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};

/// Fork a session into a new file, or list where one can
///
/// Without ENTRY the user messages of the file are listed, those of all branches and those without
/// text too. With ENTRY, a user message, a new session is made of what stands before it, and its
/// text is given back to be edited and sent again; with `--at` any entry is copied, with all that
/// stands above it. Labels go along. The source stays as it is.
#[derive(Debug, Args)]
#[command(after_long_help = super::naming("\
Examples:
  session-tree branch session.jsonl                   where one can branch
  session-tree branch session.jsonl user:1            before the last prompt
  session-tree branch session.jsonl --at label:green  a copy up to a label
  session-tree branch session.jsonl --at @~3 --output short.jsonl
  new=$(session-tree branch session.jsonl user:2) && pi --session \"$new\""))]
pub struct BranchArgs {
    #[command(flatten)]
    session: SessionArg,
    /// User message: an id or its start, label:NAME, user:N, each with ~N
    #[arg(value_name = "ENTRY", conflicts_with = "at")]
    entry: Option<String>,
    /// Copy up to and including any entry [default: the leaf]
    #[arg(long, value_name = "ENTRY", num_args = 0..=1, default_missing_value = "@")]
    at: Option<String>,
    /// Work from this entry instead of the file's leaf
    #[arg(long, value_name = "ENTRY", hide_short_help = true)]
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
    #[command(flatten)]
    hooks: HookArgs,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// What was made, or would be.
#[derive(Default)]
struct Made {
    id: String,
    now: String,
    parent: Option<String>,
    path: Option<PathBuf>,
    written: Option<Written>,
    /// The hook that said no.
    cancelled_by: Option<String>,
}

impl Made {
    /// Returns the new file's path as text, for JSON and for messages.
    fn shown_path(&self) -> Option<String> {
        self.path.as_ref().map(|path| path.display().to_string())
    }
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
    pub fn run(mut self, app: &App) -> Result<ExitCode> {
        self.session.find(app)?;
        self.branch(app).about(&self.session.session)
    }

    fn branch(&self, app: &App) -> Result<ExitCode> {
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
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }

    fn fork(&self, app: &App) -> Result<ExitCode> {
        let session = app.load(&self.session.session, Keep::NOTHING)?;
        let leaf = self.session.leaf(&session, self.leaf.as_deref())?;
        let mut bodies = Bodies::new(&session);
        let name = self.entry.as_deref().or(self.at.as_deref()).unwrap_or("@");
        let entry = self.session.entry(&session, leaf, name)?;
        let fork = match self.at.is_some() {
            true => Fork::at(&session, entry),
            false => Fork::before(&mut bodies, entry)?,
        };
        let parent = match self.session.session == Path::new("-") || self.prints_lines() {
            true => None,
            false => Some(std::path::absolute(&self.session.session)?.display().to_string()),
        };
        let mut made = Made { id: world::session_id(), now: world::timestamp(), parent, ..Made::default() };
        let about = self.session.about(&session);
        if self.dry_run {
            self.warn(app, &mut bodies, &fork)?;
            made.written = Some(self.write(&mut bodies, &fork, &made, &mut io::sink())?);
            self.tell(app, &session, &fork, &made)?;
            return Ok(ExitCode::SUCCESS);
        }
        if session.version > CURRENT {
            commit::check(&session)?;
        }
        let path = if self.prints_lines() { None } else { Some(self.place(&made)?) };
        // Lines that somebody reads slowly are no reason to ignore signals.
        if path.is_some() || !self.hooks.hooks().commands.is_empty() {
            world::prepare()?;
        }
        let event = Event::SessionBeforeBranch { session: &about, entry_id: session.id(entry) };
        if let Answer::Cancel { by } = self.hooks.hooks().ask(&event, None).map_err(world::hook_trouble)? {
            made.cancelled_by = Some(by);
            self.tell(app, &session, &fork, &made)?;
            return Ok(Exit::Cancelled.into());
        }
        self.warn(app, &mut bodies, &fork)?;
        if let Some(path) = &path {
            let rights = session.rights();
            let mut written = None;
            let fill = &mut |out: &mut dyn Write| {
                written = Some(self.write(&mut bodies, &fork, &made, out)?);
                Ok(())
            };
            let absolute = std::path::absolute(path)?;
            let created = write::create(path, &rights, world::patience(Duration::ZERO), fill).about(path)?;
            super::warn_of(app, &created, path);
            (made.written, made.path) = (written, Some(absolute));
        } else {
            let mut output = Output::new();
            output.hold();
            made.written = Some(self.write(&mut bodies, &fork, &made, &mut output)?);
            output.finish()?;
        }
        let file = made.shown_path();
        let event = Event::SessionBranch {
            session: &about,
            previous_session_file: about.file.as_deref(),
            session_file: file.as_deref(),
        };
        // Before the result is printed: nobody may be there to read it.
        let exit = self.session.after_hooks(app, &self.hooks.hooks().tell(&event));
        let printed = self.tell(app, &session, &fork, &made);
        if made.path.is_some() {
            super::ended(printed, made.path.as_deref(), None)?
        } else {
            printed?
        }
        Ok(exit)
    }

    fn prints_lines(&self) -> bool {
        self.output.as_deref() == Some(Path::new("-"))
    }

    fn write(
        &self,
        bodies: &mut Bodies<'_>,
        fork: &Fork,
        made: &Made,
        out: &mut dyn Write,
    ) -> crate::core::error::Result<Written> {
        let mut fresh = world::entry_id;
        let mut world = World { now: made.now.clone(), fresh: &mut fresh };
        let identity = Identity { id: made.id.clone(), parent: made.parent.clone() };
        fork.write(bodies, &identity, &mut world, out)
    }

    /// Decides where the new file goes. The header's id is our own, so that no hostile one can
    /// lead out of the folder.
    fn place(&self, made: &Made) -> Result<PathBuf> {
        if let Some(path) = &self.output {
            return Ok(path.clone());
        }
        let name = format!("{}_{}.jsonl", made.now.replace([':', '.'], "-"), made.id);
        if let Some(folder) = &self.session_dir {
            if !folder.is_dir() {
                let cause = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
                return Err(Failure::new(&Error::Io { doing: "cannot make the new file", cause }, folder).into());
            }
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
        let warn = |kind: WarningKind, message: &str, node: NodeId| {
            app.report.warn(kind, message, Some(&self.session.session), Some(session.line(node)));
        };
        let first = fork.kept.first().copied().or(Some(fork.entry));
        if let Some(root) = first.filter(|&root| session.parent(root).is_none() && session.is_cut(root)) {
            let message = "the path is cut here: the new session starts at this entry";
            warn(WarningKind::Unreachable, message, root);
        }
        for call in branch::unanswered(bodies, &fork.kept)? {
            let message = format!("tool call `{call}` has no result in the new session; providers may refuse it");
            warn(WarningKind::UnansweredCall, &message, *fork.kept.last().unwrap_or(&fork.entry));
        }
        Ok(())
    }

    fn tell(&self, app: &App, session: &Session, fork: &Fork, made: &Made) -> Result<()> {
        let is_made = !self.dry_run && made.cancelled_by.is_none();
        let result = Branched {
            cancelled: made.cancelled_by.is_some(),
            dry_run: self.dry_run.then_some(true),
            entry_id: session.id(fork.entry),
            selected_text: fork.selected_text.as_deref(),
            session_file: made.shown_path(),
            session_id: is_made.then_some(&made.id),
            parent_session: made.parent.as_deref(),
            leaf_id: made.written.as_ref().and_then(|written| written.leaf.as_deref()),
            entries: made.written.as_ref().map_or(0, |written| written.entries),
            labels: made.written.as_ref().map_or(0, |written| written.labels),
        };
        if self.prints_lines() && is_made {
            if self.is_json() {
                app.report.result(&result);
            }
            return Ok(());
        }
        let mut output = Output::new();
        match (self.is_json(), &made.path, &made.cancelled_by) {
            (true, ..) => output.json_line(&result)?,
            (false, Some(path), _) => output.path(path)?,
            (false, None, Some(hook)) => {
                let text = format!("cancelled by hook `{}`; nothing was made\n", escape::line(hook));
                output.text(&app.screen.folded(&text, 0))?;
            }
            (false, None, None) => {
                let (entries, labels) = (result.entries, result.labels);
                let entries = counted(entries, "entry", "entries");
                let text = format!("would make a session of {entries}, {labels} of them labels\n");
                output.text(&app.screen.folded(&text, 0))?;
            }
        }
        output.finish()?;
        if made.cancelled_by.is_none() {
            app.report.forked(made.shown_path().as_deref(), fork.selected_text.as_deref());
        }
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
                timestamp: StoredTime::of(&mut bodies, node)?,
                text: &bodies.words(node)?,
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
        let ids = ShortIds::new(session);
        let widest = ids.widest(nodes.iter().copied(), usize::MAX);
        let columns = [Column::Whole("id", widest), Column::Whole("when (UTC)", 16), Column::Text("text", 0)];
        let listing = match is_table {
            true => Listing::new(&columns, &app.screen),
            false => Listing::new(&[columns[0], columns[2]], &app.screen).bare(),
        };
        let mut bodies = Bodies::new(session);
        listing.print(output, nodes, |&node| {
            let words = bodies.words(node)?;
            let mut row = vec![ids.of(node).into_owned()];
            row.extend(is_table.then(|| time::minute(session.stamp(node))));
            row.push(entry::text(&app.screen, &words));
            Ok(row)
        })
    }
}
