//! What the commands share: how to print, and how to read.

use std::env;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use anyhow::Result;
use clap::{Args, Command, ValueEnum};

use super::world;
use crate::core::error::Error;
use crate::core::error::problem::WarningKind;
use crate::core::naming::files::PassedOver;
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::Session;
use crate::ui::interrupts::Interrupts;
use crate::ui::paint::Paint;
use crate::ui::progress::{Count, Counted, Progress};
use crate::ui::report::{AboutFile, Report};
use crate::ui::screen::Screen;

/// Options of every command.
#[derive(Debug, Args)]
pub struct Global {
    /// Do not print warnings and hints
    #[arg(long, short, global = true, hide_short_help = true, help_heading = "Common options")]
    quiet: bool,
    /// When to use colour; auto is on a terminal, unless NO_COLOR is set
    #[arg(
        long,
        value_name = "WHEN",
        global = true,
        hide_short_help = true,
        default_value = "auto",
        help_heading = "Common options"
    )]
    color: When,
    /// Draw lines and marks in ASCII
    #[arg(long, global = true, hide_short_help = true, help_heading = "Common options")]
    ascii: bool,
    /// Say in words what lines, columns and marks show, for screen readers; so does ACCESSIBLE=1
    #[arg(long, global = true, hide_short_help = true, help_heading = "Common options")]
    plain_rows: bool,
    /// Cut or fold rows to N columns; 0 is no limit [default: those of the terminal, else COLUMNS]
    #[arg(long, value_name = "N", global = true, hide_short_help = true, value_parser = columns, help_heading = "Common options")]
    width: Option<usize>,
    /// Work on N threads [default: one per core, four per core to migrate files]
    #[arg(long, value_name = "N", global = true, hide_short_help = true, value_parser = count, help_heading = "Common options")]
    jobs: Option<NonZeroUsize>,
}

/// Reads a number of threads.
fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "it is a number from 1 on")
}

/// Reads a number of columns.
fn columns(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "it is a number of columns, or 0 for no limit")
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
    pub(super) screen: Screen,
    pub(super) jobs: usize,
    pub(super) files_at_once: usize,
    /// The definition of the command line, for what prints it.
    pub(super) program: fn() -> Command,
}

impl App {
    /// Looks at options and environment. `program` is the definition of the command line.
    pub fn new(global: &Global, json: bool, program: fn() -> Command) -> Self {
        world::survive_file_size_limit();
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let in_words = global.plain_rows || is_set("ACCESSIBLE");
        let ascii = global.ascii || in_words;
        let paint = |is_terminal| Paint { color: color(global.color, is_terminal), ascii, in_words };
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_watched = stderr && !json && !global.quiet && !is_dumb;
        let interrupts: Option<&'static dyn Interrupts> = Some(&world::HeldSignals);
        let report = Report { json, quiet: global.quiet, paint: paint(stderr), is_watched, interrupts };
        let default_width = || terminal_width().filter(|_| !in_words);
        let width = global.width.or_else(default_width).filter(|&width| width > 0);
        let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let jobs = global.jobs.map_or(cores, NonZeroUsize::get);
        // A file that is written waits for the disk much longer than it needs a core.
        let files_at_once = global.jobs.map_or(cores * 4, NonZeroUsize::get);
        let home = env::var("HOME").ok().filter(|home| home.starts_with('/') && home.len() > 1);
        let screen = Screen { paint: paint(stdout), width, home, is_terminal: stdout };
        Self { report, screen, jobs, files_at_once, program }
    }

    /// Opens a file, or takes in standard input.
    pub(super) fn open(&self, path: &Path) -> Result<Source, Error> {
        if path != Path::new("-") {
            return Source::session(path);
        }
        let stream = io::stdin().lock();
        if !self.report.is_watched {
            return Source::spool(stream);
        }
        let done = Arc::default();
        let _progress = Progress::new(self.report, "reading", Count::Stream(Arc::clone(&done)));
        Source::spool(Counted { stream, done })
    }

    /// Warns of files of other formats in searched folders.
    pub(super) fn passed_over(&self, files: &PassedOver) {
        if let Some(message) = files.message() {
            self.report.warn(WarningKind::ForeignFormat, &message, None, None);
        }
    }

    /// Shows how much of a file is read.
    pub(super) fn reading(&self, source: &Source) -> Progress {
        Progress::new(self.report, "reading", Count::Bytes(Arc::clone(source.bytes_read()), source.len()))
    }

    /// Reads a session and warns of problems in it.
    pub(super) fn load(&self, path: &Path, keep: LoadOptions<'_>) -> Result<Session> {
        let session = self.open(path).and_then(|source| {
            let _progress = self.reading(&source);
            Session::load(source, keep, self.jobs)
        });
        let session = session.about(path)?;
        self.report.problems(&session.problems.list(), path);
        Ok(session)
    }
}

/// Returns how mistakes on a command line that does not parse are reported to programs.
pub fn json_report() -> Report {
    Report { json: true, ..Report::default() }
}

/// Returns how they are reported to people.
pub fn plain_report() -> Report {
    let paint = Paint { color: color(When::Auto, io::stderr().is_terminal()), ..Paint::default() };
    Report { paint, ..Report::default() }
}

/// Returns whether a variable of the environment asks for something.
fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns whether to use colour: by the option, then `NO_COLOR`, then `CLICOLOR_FORCE`, then the terminal.
fn color(when: When, is_terminal: bool) -> bool {
    match when {
        When::Always => true,
        When::Never => false,
        When::Auto if env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) => false,
        When::Auto if is_set("CLICOLOR_FORCE") => true,
        When::Auto => is_terminal && env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}

fn terminal_width() -> Option<usize> {
    let terminal = rustix::termios::tcgetwinsize(io::stdout()).map(|size| usize::from(size.ws_col));
    let columns = || env::var("COLUMNS").ok()?.parse().ok();
    // A terminal whose size was never set reports 0.
    terminal.ok().filter(|&width| width > 0).or_else(columns).filter(|&width| width > 0)
}
