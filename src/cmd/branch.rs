//! `branch`: forks a session into a new file.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::args::{FormatArg, Formats, HookArgs, SessionArg};
use super::{App, Task, folders, world};
use crate::core::edit::branch::{self, BranchPlan, Fork, NewSession};
use crate::core::edit::commit;
use crate::core::edit::stand_in::StandIns;
use crate::core::edit::tree_copy::TreeCopy;
use crate::core::entry::Traits;
use crate::core::read::load::LoadOptions;
use crate::core::session::Session;
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
/// to be edited and sent again. With `--at`, copies any entry with all that stands above it, with
/// `--all` the whole tree or a part of it. Labels are copied too. The source stays as it is.
#[derive(Debug, Args)]
#[command(after_long_help = super::naming("\
Examples:
  session-tree branch session.jsonl                   where one can branch
  session-tree branch session.jsonl user:1            before the last prompt
  session-tree branch session.jsonl --at label:green  a copy up to a label
  session-tree branch session.jsonl --at @~3 --output short.jsonl
  session-tree branch session.jsonl --at @ --at label:wip    two branches
  session-tree branch session.jsonl --all --without user:1 --leaf user:1~
  session-tree branch session.jsonl --all --anonymize --output report.jsonl
  new=$(session-tree branch session.jsonl user:2) && pi --session \"$new\""))]
pub struct BranchArgs {
    #[command(flatten)]
    session: SessionArg,
    /// User message: an id or its start, label:NAME or user:N, also with ~N
    #[arg(value_name = "ENTRY", conflicts_with = "at")]
    entry: Option<String>,
    /// Copy up to and including any entry [default: the leaf]
    ///
    /// May be given several times: the paths to all of these entries are copied, and the last one is the leaf.
    #[arg(long, value_name = "ENTRY", num_args = 0..=1, default_missing_value = "@")]
    at: Vec<String>,
    /// Copy the whole tree
    ///
    /// Ids, order and bytes of the lines stay.
    #[arg(long, conflicts_with_all = ["entry", "at"], hide_short_help = true)]
    all: bool,
    /// Leave out this entry with all that hangs at it, and their labels
    ///
    /// If the leaf is among them, `--leaf` has to name another one.
    #[arg(long, value_name = "ENTRY", requires = "all", hide_short_help = true)]
    #[arg(conflicts_with_all = ["entry", "at"])]
    without: Vec<String>,
    /// Replace what people and models wrote by stand-ins of the same shape
    ///
    /// For a session that is shown to others, as in a bug report. Words, paths, outputs, titles, labels and
    /// ids of calls get other letters and digits, the same word always the same ones; images become one pixel.
    /// Ids of entries, the structure, roles, types, names of models, times and usage stay.
    #[arg(long)]
    anonymize: bool,
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
        if self.entry.is_some() || !self.at.is_empty() || self.all {
            return self.fork(app);
        }
        self.check_list()?;
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

    /// Refuses the options of a new session where there is none to make.
    fn check_list(&self) -> Result<()> {
        let options = [
            ("--output", self.output.is_some()),
            ("--session-dir", self.session_dir.is_some()),
            ("--leaf", self.leaf.is_some()),
            ("--anonymize", self.anonymize),
            ("--dry-run", self.dry_run),
            ("--hook", self.hooks.are_given()),
        ];
        let Some((option, _)) = options.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let message = format!("`{option}` is for a new session: there is nothing to make without an entry");
        Err(Failure::usage(message, "name a user message, or use `--at` or `--all`").into())
    }

    fn fork(&self, app: &App) -> Result<ExitCode> {
        let source = &self.session.session;
        if self.output.is_none() && self.session_dir.is_none() && folders::is_archived(source) {
            let message = "the session is in an archive, where agents would not find a new one beside it";
            let hint = "`--session-dir DIR` puts it into a folder of sessions, `--output FILE` anywhere";
            return Err(Failure::usage(message, hint).into());
        }
        let session = app.load(source, LoadOptions::INDEX_ONLY)?;
        let mut bodies = Bodies::new(&session);
        let plan = self.plan(&session, &mut bodies)?;
        let stand_ins = self.anonymize.then(|| StandIns::new(&session, world::stand_in_key()));
        let is_stdout_taken = self.output.as_deref() == Some(Path::new("-"));
        let new = NewSession::of(source, !is_stdout_taken, stand_ins, world::session_id(), world::timestamp())?;
        let mut report = ForkReport::new((&session, source), &plan, &new, folders::agent(source, &session));
        (report.is_dry, report.is_stdout_taken) = (self.dry_run, is_stdout_taken);
        let print = |report: &ForkReport<'_>| report.print(self.format.is_json(), &app.screen, app.report);
        if self.dry_run {
            app.report.problems(&plan.problems(&mut bodies)?.list(), source);
            report.written = Some(plan.write(&mut bodies, &new, &mut world::entry_id, &mut io::sink())?);
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
        let answer =
            hooks.before_branch(&info, plan.entry().map(|entry| session.id(entry))).map_err(world::hook_trouble)?;
        if let HookAnswer::Cancel { by } = answer {
            report.cancelled_by = Some(by);
            print(&report)?;
            return Ok(Exit::Cancelled.into());
        }
        app.report.problems(&plan.problems(&mut bodies)?.list(), source);
        let Some(path) = path else {
            let mut output = Output::new();
            output.hold();
            report.written = Some(plan.write(&mut bodies, &new, &mut world::entry_id, &mut output)?);
            output.finish()?;
            let exit = self.session.after_hooks(app, &hooks.after_branch(&info, None));
            print(&report)?;
            return Ok(exit);
        };
        let absolute = std::path::absolute(&path)?;
        let (rights, wait) = (session.rights(), world::wait(Duration::ZERO));
        let made =
            branch::create(&path, &rights, wait, &mut |out| plan.write(&mut bodies, &new, &mut world::entry_id, out));
        let (written, effects) = made.about(&path)?;
        super::warn_of(app, &effects, &path);
        (report.written, report.path) = (Some(written), Some(&*absolute));
        report.agent = folders::agent(&path, &session);
        // Before the result is printed: nobody may be there to read it.
        let exit = self.session.after_hooks(app, &hooks.after_branch(&info, Some(&absolute.display().to_string())));
        super::ended(print(&report).map_err(Into::into), Some(&absolute), None).map(|()| exit)
    }

    /// Returns what the new session holds.
    fn plan(&self, session: &Session, bodies: &mut Bodies<'_>) -> Result<BranchPlan> {
        let leaf = self.session.leaf(session, self.leaf.as_deref())?;
        if self.all {
            // Where the copy is to stand is no place to count from.
            let without = self.without.iter().map(|name| self.session.entry(session, session.leaf(), name));
            let without = without.collect::<Result<Vec<_>>>()?;
            let stands = leaf.filter(|_| self.leaf.is_some());
            return Ok(BranchPlan::Tree(TreeCopy::without(bodies, &without, stands)?));
        }
        let at = self.at.iter().map(|name| self.session.place(session, leaf, name)).collect::<Result<Vec<_>>>()?;
        Ok(match (&self.entry, &at[..]) {
            (Some(name), _) => BranchPlan::Path(Fork::before(bodies, self.session.entry(session, leaf, name)?)?),
            (None, &[entry]) => BranchPlan::Path(Fork::at(session, entry)),
            (None, entries) => BranchPlan::Tree(TreeCopy::of_paths(bodies, entries)?),
        })
    }

    /// Returns where the new file goes.
    fn place(&self, new: &NewSession<'_>) -> Result<PathBuf> {
        match (&self.output, &self.session_dir) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(folder)) => new.file_in(folder).about(folder),
            (None, None) => Ok(new.file_beside(&self.session.session)?),
        }
    }
}
