//! `branch`: forks a session into a new file.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::args::{FormatArg, Formats, HookArgs, SessionArg};
use super::{App, Task, folders, world};
use crate::core::edit::branch::{Fork, NewSession};
use crate::core::edit::commit;
use crate::core::entry::header::CURRENT;
use crate::core::entry::{Kind, Role, Traits};
use crate::core::read::load::Keep;
use crate::core::session::body::Bodies;
use crate::hooks::{HookAnswer, SessionInfo};
use crate::ui::branch::{self as list, ForkReport};
use crate::ui::exit::Exit;
use crate::ui::output::Output;
use crate::ui::report::{About as _, Failure};

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
    #[command(flatten)]
    format: FormatArg<Format>,
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

impl Formats for Format {
    const JSON: Self = Self::Json;

    fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }
}

impl Task for BranchArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        self.session.find(app)?;
        self.branch(app).about(&self.session.session)
    }
}

impl BranchArgs {
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
        let (format, mut output) = (self.format.get(), Output::new());
        match format {
            Format::Text | Format::Table => {
                list::rows(&session, &nodes, format == Format::Table, &app.screen, &mut output)?;
            }
            Format::Json | Format::Jsonl => list::json(&session, &nodes, format == Format::Json, &mut output)?,
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
        let is_stdout_taken = self.output.as_deref() == Some(Path::new("-"));
        let new = self.new_session(is_stdout_taken)?;
        let mut report = ForkReport {
            session: &session,
            fork: &fork,
            new: &new,
            written: None,
            path: None,
            agent: folders::agent(&self.session.session, &session),
            cancelled_by: None,
            is_dry: self.dry_run,
            is_stdout_taken,
        };
        let print = |report: &ForkReport<'_>| report.print(self.format.is_json(), &app.screen, app.report);
        if self.dry_run {
            app.report.problems(&fork.problems(&mut bodies)?.list(), &self.session.session);
            report.written = Some(fork.write(&mut bodies, &new, &mut world::entry_id, &mut io::sink())?);
            print(&report)?;
            return Ok(ExitCode::SUCCESS);
        }
        if session.version > CURRENT {
            commit::check(&session)?;
        }
        let path = if is_stdout_taken { None } else { Some(self.place(&new)?) };
        let hooks = self.hooks.hooks();
        // Lines that somebody reads slowly are no reason to ignore signals.
        if path.is_some() || !hooks.commands.is_empty() {
            world::prepare()?;
        }
        let info = SessionInfo::new(&self.session.session, &session);
        let answer = hooks.before_branch(&info, session.id(entry)).map_err(world::hook_trouble)?;
        if let HookAnswer::Cancel { by } = answer {
            report.cancelled_by = Some(by);
            print(&report)?;
            return Ok(Exit::Cancelled.into());
        }
        app.report.problems(&fork.problems(&mut bodies)?.list(), &self.session.session);
        let mut absolute = None;
        if let Some(path) = &path {
            absolute = Some(std::path::absolute(path)?);
            let permissions = session.permissions().unwrap_or_else(world::private);
            let patience = world::patience(Duration::ZERO);
            let made = fork.create(&mut bodies, &new, &mut world::entry_id, path, permissions, patience);
            let (written, unsynced) = made.about(path)?;
            unsynced.iter().for_each(|unsynced| super::warn_unsynced(app, unsynced, path));
            report.written = Some(written);
            report.agent = folders::agent(path, &session);
        } else {
            let mut output = Output::new();
            output.hold();
            report.written = Some(fork.write(&mut bodies, &new, &mut world::entry_id, &mut output)?);
            output.finish()?;
        }
        report.path = absolute.as_deref();
        // Before the result is printed: nobody may be there to read it.
        let file = absolute.as_ref().map(|path| path.display().to_string());
        let exit = self.session.after_hooks(app, &hooks.after_branch(&info, file.as_deref()));
        let printed = print(&report).map_err(Into::into);
        if absolute.is_some() { super::ended(printed, absolute.as_deref(), None) } else { printed }.map(|()| exit)
    }

    /// Returns what the header says; a session that goes to stdout names no file that it comes from.
    fn new_session(&self, is_stdout_taken: bool) -> Result<NewSession> {
        let parent = match self.session.session == Path::new("-") || is_stdout_taken {
            true => None,
            false => Some(std::path::absolute(&self.session.session)?.display().to_string()),
        };
        Ok(NewSession { id: world::session_id(), now: world::timestamp(), parent })
    }

    /// Returns where the new file goes.
    fn place(&self, new: &NewSession) -> Result<PathBuf> {
        match (&self.output, &self.session_dir) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(folder)) => new.file_in(folder).about(folder),
            (None, None) => Ok(new.file_beside(&self.session.session)?),
        }
    }
}
