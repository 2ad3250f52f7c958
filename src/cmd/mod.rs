//! The subcommands: arguments, a few calls into core, one into ui.

use std::env;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::core::disk::write::{SideEffects, Unsynced};
use crate::core::edit::commit::Committed;
use crate::core::error::{Error, reason};
use crate::core::naming;
use crate::core::problem::WarningKind;
use crate::core::read::load::Keep;
use crate::core::read::source::Source;
use crate::core::session::{NodeId, Session};
use crate::hooks::{About, HookFailed};
use crate::run::Failed;
use crate::ui::exit::Exit;
use crate::ui::paint::Paint;
use crate::ui::progress::{Count, Counted, Progress};
use crate::ui::report::{AboutFile, Failure, Report};
use crate::ui::screen::Screen;

pub mod branch;
pub mod check;
mod complete;
pub mod completions;
pub mod context;
pub mod label;
mod lookup;
pub mod man;
pub mod migrate;
pub mod navigate;
mod paths;
pub mod tree;
mod world;

/// Options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Drop warnings and hints
    #[arg(long, short, global = true, hide_short_help = true, help_heading = "Common options")]
    quiet: bool,
    /// When to use colour; auto is on a terminal
    #[arg(long, value_name = "WHEN", global = true, hide_short_help = true, help_heading = "Common options")]
    color: Option<When>,
    /// Draw lines and marks in ASCII
    #[arg(long, global = true, hide_short_help = true, help_heading = "Common options")]
    ascii: bool,
    /// Cut or fold rows to N columns; else to the terminal's or COLUMNS
    #[arg(long, value_name = "N", global = true, hide_short_help = true, value_parser = count, help_heading = "Common options")]
    width: Option<NonZeroUsize>,
    /// Work on N threads; else one a core, or four to migrate files
    #[arg(long, value_name = "N", global = true, hide_short_help = true, value_parser = count, help_heading = "Common options")]
    jobs: Option<NonZeroUsize>,
}

/// Reads a number of columns or threads.
fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "it is a number from 1 on")
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

/// What the commands share: how to print, and how to read.
#[derive(Debug)]
pub struct App {
    /// Where messages go.
    pub report: Report,
    screen: Screen,
    jobs: usize,
    files_at_once: usize,
}

impl App {
    /// Looks at options and environment.
    pub fn new(global: &Global, json: bool) -> Self {
        world::survive_file_size_limit();
        let paint = |stream: &dyn IsTerminalDyn| Paint { color: color(global.color, stream), ascii: global.ascii };
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_watched = !json && !global.quiet && !is_dumb && IsTerminalDyn::is_terminal(&io::stderr());
        let report = Report { json, quiet: global.quiet, paint: paint(&io::stderr()), is_watched };
        let width = global.width.map(NonZeroUsize::get).or_else(terminal_width);
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let jobs = global.jobs.map_or(cores, NonZeroUsize::get);
        // A file that is written waits for the disk much longer than it needs a core.
        let files_at_once = global.jobs.map_or(cores * 4, NonZeroUsize::get);
        let home = env::var("HOME").ok().filter(|home| home.starts_with('/') && home.len() > 1);
        let is_terminal = IsTerminalDyn::is_terminal(&io::stdout());
        let screen = Screen { paint: paint(&io::stdout()), width, home, is_terminal };
        Self { report, screen, jobs, files_at_once }
    }

    /// Opens a file, or takes in standard input.
    fn open(&self, path: &Path) -> Result<Source, Error> {
        if path != Path::new("-") {
            return Source::open(path);
        }
        let stream = io::stdin().lock();
        if !self.report.is_watched {
            return Source::spool(stream);
        }
        let done = Arc::default();
        let _progress = Progress::new(self.report, "reading", Count::Stream(Arc::clone(&done)));
        Source::spool(Counted { stream, done })
    }

    /// Shows how much of a file is read.
    fn reading(&self, source: &Source) -> Progress {
        Progress::new(self.report, "reading", Count::Bytes(Arc::clone(source.read()), source.len()))
    }

    /// Reads a session and tells of what is odd in it.
    fn load(&self, path: &Path, keep: Keep<'_>) -> Result<Session> {
        let session = self.open(path).and_then(|source| {
            let _progress = self.reading(&source);
            Session::load(source, keep, self.jobs)
        });
        let session = session.about(path)?;
        self.report.problems(&session.problems.list(), path);
        Ok(session)
    }
}

/// Adds to the examples of a command how entries are named.
fn naming(examples: &str) -> String {
    let forms = "\
ENTRY is user:1 (the last prompt; user:2 the one before), label:x, @ (the leaf),
@~3 (3 steps above it; ~N goes with every form), an id or its first characters.";
    format!("{examples}\n\n{forms}")
}

/// Warns of what a write did, or could not do, beside what was asked for.
fn warn_of(app: &App, effects: &SideEffects, path: &Path) {
    let warn = |kind, message: &str| app.report.warn(kind, message, Some(path), None);
    if effects.broke_links {
        warn(WarningKind::HardLink, "the file has other names (hard links): they go on naming what it was");
    }
    if effects.dropped_rights {
        warn(WarningKind::RightsDropped, "its group or access list could not be kept: their rights are dropped");
    }
    if let Some(Unsynced::Folder(cause)) = &effects.unsynced {
        let message = format!("written, but cannot sync its folder to the disk: {}", reason(cause));
        warn(WarningKind::FolderNotSynced, &message);
    }
}

/// Ends a command that changed a file: a failure to print what was done says that it is done, and
/// a failed sync is told last. `made` is the new file, if there is one.
fn ended(printed: Result<()>, made: Option<&Path>, not_synced: Option<Failure>) -> Result<()> {
    if let Some(failure) = not_synced {
        return Err(failure.into());
    }
    printed.map_err(|error| match error.downcast::<io::Error>() {
        // A reader that went away is none the wiser, as ever.
        Ok(cause) if cause.kind() == io::ErrorKind::BrokenPipe => cause.into(),
        Ok(cause) => {
            let hint = match made {
                Some(path) => format!("the new file is there: `{}`", path.display()),
                None => "the change is in the file: do not repeat the command".to_owned(),
            };
            Failure { hint: Some(hint), ..Failure::output(&cause) }.into()
        }
        Err(error) => error,
    })
}

/// The session that a command works on.
#[derive(Debug, Args)]
struct SessionArg {
    /// A file, an id or its start, latest, or - (standard input)
    #[arg(value_name = "SESSION")]
    session: PathBuf,
    /// Whether it was named by other than its path.
    #[arg(skip)]
    was_found: bool,
}

impl SessionArg {
    /// Puts the file in place of an id or `latest`; done once, before anything else.
    fn find(&mut self, app: &App) -> Result<()> {
        if let Some(file) = lookup::file(app, &self.session)? {
            (self.session, self.was_found) = (file, true);
        }
        Ok(())
    }

    /// Gives the file, if it was named by other than its path: then it is told where things went.
    fn found(&self) -> Option<&Path> {
        self.was_found.then_some(&self.session)
    }

    /// Warns of what was done to the file beside what was asked for. Returns the failure to tell
    /// once the result is printed, if the system could not sync what was written.
    fn committed(&self, app: &App, done: &mut Committed) -> Option<Failure> {
        if let Some(version) = done.migrated_from {
            let message = format!("the file was version {version}: it was migrated to 3 in the same step");
            app.report.warn(WarningKind::Migrated, &message, Some(&self.session), None);
        }
        if done.closed_torn_line {
            let message = "its last line was unfinished: the new entry starts on a line of its own";
            app.report.warn(WarningKind::TornLine, message, Some(&self.session), None);
        }
        let effects = std::mem::take(&mut done.effects);
        warn_of(app, &effects, &self.session);
        match effects.unsynced? {
            Unsynced::Data(cause) => Some(Failure::new(&Error::NotSynced { cause }, &self.session)),
            Unsynced::Folder(_) => None,
        }
    }

    /// Gives what hooks are told of the session.
    fn about(&self, session: &Session) -> About {
        let file = std::path::absolute(&self.session).ok().filter(|_| self.session != Path::new("-"));
        About {
            file: file.map(|file| file.display().to_string()),
            id: session.header.id.clone(),
            cwd: session.header.cwd.clone(),
        }
    }

    /// Warns of hooks that failed after everything was done; gives the exit code, which tells of a
    /// signal that came meanwhile.
    fn after_hooks(&self, app: &App, failed: &[HookFailed]) -> ExitCode {
        let mut exit = Exit::Done;
        for failed in failed {
            if let Failed::Interrupted(signal) = failed.why {
                exit = Exit::after(signal);
            }
            let message = format!("{failed}; what was done stays");
            app.report.warn(WarningKind::HookFailed, &message, Some(&self.session), None);
        }
        exit.into()
    }

    /// Refuses standard input, for commands that write into the session.
    fn must_be_a_file(&self) -> Result<()> {
        if self.session == Path::new("-") {
            let failure = Failure::usage("cannot write into standard input", "give the path of a session file");
            return Err(failure.into());
        }
        Ok(())
    }

    /// Finds an entry.
    fn entry(&self, session: &Session, leaf: Option<NodeId>, name: &str) -> Result<NodeId> {
        Ok(naming::entry::find(session, leaf, name)?)
    }

    /// Finds the leaf to work from: the named one, else the file's.
    fn leaf(&self, session: &Session, name: Option<&str>) -> Result<Option<NodeId>> {
        let own = session.leaf();
        name.map_or(Ok(own), |name| self.entry(session, own, name).map(Some))
    }
}

/// Reads what is given in a file, or on standard input.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    bytes.map_err(Error::io("cannot read"))
}

/// Reads a text that is given in a file, or on standard input.
fn read_text(path: &Path) -> Result<String, Error> {
    String::from_utf8(read_bytes(path)?).map_err(|_| {
        let cause = io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
        Error::Io { doing: "cannot read", cause }
    })
}

/// Gives how mistakes on a command line that does not parse are reported to programs.
pub fn json_report() -> Report {
    Report { json: true, quiet: false, paint: Paint::default(), is_watched: false }
}

/// Gives how hints on such mistakes are told to people.
pub fn plain_report() -> Report {
    Report {
        json: false,
        quiet: false,
        paint: Paint { color: color(None, &io::stderr()), ascii: false },
        is_watched: false,
    }
}

/// Lets streams of different types be asked one question.
trait IsTerminalDyn {
    fn is_terminal(&self) -> bool;
}

impl<T: IsTerminal> IsTerminalDyn for T {
    fn is_terminal(&self) -> bool {
        IsTerminal::is_terminal(self)
    }
}

/// Decides on colour: option, then `NO_COLOR`, then `CLICOLOR_FORCE`, then the stream.
fn color(when: Option<When>, stream: &dyn IsTerminalDyn) -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    match when {
        Some(When::Always) => true,
        Some(When::Never) => false,
        _ if is_set("NO_COLOR") => false,
        _ if env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") => true,
        _ => stream.is_terminal() && env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

fn terminal_width() -> Option<usize> {
    let terminal = rustix::termios::tcgetwinsize(io::stdout()).map(|size| usize::from(size.ws_col));
    let columns = || env::var("COLUMNS").ok()?.parse().ok();
    // A terminal that nobody has told its size says 0.
    terminal.ok().filter(|&width| width > 0).or_else(columns).filter(|&width| width > 0)
}
