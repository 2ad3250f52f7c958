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
use crate::core::entry::Traits;
use crate::core::read::load::LoadOptions;
use crate::core::session::body::Bodies;
use crate::hooks::{HookAnswer, SessionInfo};
use crate::ui::branch::{self as list, ForkReport};
use crate::ui::exit::Exit;
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};

/// Fork a session into a new file, or list where one can
///
/// Without ENTRY, lists the user messages of the file, of all branches, also those without text.
/// With ENTRY, a user message, makes a new session of what stands before it, and prints its text,
/// to be edited and sent again. With `--at`, copies any entry with all that stands above it. Labels
/// are copied too. The source stays as it is.
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
    /// User message: an id or its start, label:NAME or user:N, also with ~N
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
    /// The new file; - for standard output [default: a new name in that folder]
    #[arg(long, short, value_name = "FILE", conflicts_with = "session_dir")]
    output: Option<PathBuf>,
    /// Only print what would be done
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
    const JSON: &[Self] = &[Self::Json, Self::Jsonl];
}

impl Task for BranchArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        self.session.find(app, false)?;
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
        let session =
            app.load(&self.session.session, LoadOptions { words: &Traits::is_user, ..LoadOptions::INDEX_ONLY })?;
        let nodes: Vec<_> = session.nodes().filter(|&node| session.is_user(node)).collect();
        let (format, mut output) = (self.format.get(), Output::new());
        match format {
            Format::Text => list::rows(&session, &nodes, false, &app.screen, &mut output)?,
            Format::Table => list::rows(&session, &nodes, true, &app.screen, &mut output)?,
            Format::Json | Format::Jsonl => list::json(&session, &nodes, format == Format::Json, &mut output)?,
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }

    fn fork(&self, app: &App) -> Result<ExitCode> {
        let source = &self.session.session;
        let session = app.load(source, LoadOptions::INDEX_ONLY)?;
        let leaf = self.session.leaf(&session, self.leaf.as_deref())?;
        let mut bodies = Bodies::new(&session);
        let fork = match (&self.entry, &self.at) {
            (_, Some(name)) => Fork::at(&session, self.session.place(&session, leaf, name)?),
            (name, None) => {
                let entry = self.session.entry(&session, leaf, name.as_deref().unwrap_or("@"))?;
                Fork::before(&mut bodies, entry)?
            }
        };
        let is_stdout_taken = self.output.as_deref() == Some(Path::new("-"));
        let new = NewSession::of(source, !is_stdout_taken, world::session_id(), world::timestamp())?;
        let mut report = ForkReport::new((&session, source), &fork, &new, folders::agent(source, &session));
        (report.is_dry, report.is_stdout_taken) = (self.dry_run, is_stdout_taken);
        let print = |report: &ForkReport<'_>| report.print(self.format.is_json(), &app.screen, app.report);
        if self.dry_run {
            app.report.problems(&fork.problems(&mut bodies)?.list(), source);
            report.written = Some(fork.write(&mut bodies, &new, &mut world::entry_id, &mut io::sink())?);
            print(&report)?;
            return Ok(ExitCode::SUCCESS);
        }
        commit::check_known(&session)?;
        let path = if is_stdout_taken { None } else { Some(self.place(&new)?) };
        // Lines that somebody reads slowly are no reason to ignore signals.
        if path.is_some() || self.hooks.are_given() {
            world::prepare()?;
        }
        let (hooks, info) = (self.hooks.hooks(), SessionInfo::new(source, &session));
        let answer = hooks.before_branch(&info, session.id(fork.entry)).map_err(world::hook_trouble)?;
        if let HookAnswer::Cancel { by } = answer {
            report.cancelled_by = Some(by);
            print(&report)?;
            return Ok(Exit::Cancelled.into());
        }
        app.report.problems(&fork.problems(&mut bodies)?.list(), source);
        let Some(path) = path else {
            let mut output = Output::new();
            output.hold();
            report.written = Some(fork.write(&mut bodies, &new, &mut world::entry_id, &mut output)?);
            output.finish()?;
            let exit = self.session.after_hooks(app, &hooks.after_branch(&info, None));
            print(&report)?;
            return Ok(exit);
        };
        let absolute = std::path::absolute(&path)?;
        let (rights, wait) = (session.rights(), world::wait(Duration::ZERO));
        let made = fork.create(&mut bodies, &new, &mut world::entry_id, &path, &rights, wait);
        let (written, effects) = made.about(&path)?;
        super::warn_of(app, &effects, &path);
        (report.written, report.path) = (Some(written), Some(&*absolute));
        report.agent = folders::agent(&path, &session);
        // Before the result is printed: nobody may be there to read it.
        let exit = self.session.after_hooks(app, &hooks.after_branch(&info, Some(&absolute.display().to_string())));
        super::ended(print(&report).map_err(Into::into), Some(&absolute), None).map(|()| exit)
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
