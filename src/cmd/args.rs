//! Arguments that several commands have.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::{Arg, Args, ValueEnum};

use super::{App, world};
use crate::core::disk::write::{Unsynced, WriteOptions};
use crate::core::edit::commit::{Committed, SessionFile};
use crate::core::error::Error;
use crate::core::error::problem::WarningKind;
use crate::core::naming;
use crate::core::naming::files::is_session_name;
use crate::core::search::Query;
use crate::core::session::{NodeId, Session};
use crate::hooks::{HookError, Hooks};
use crate::run::ChildError;
use crate::ui::exit::Exit;
use crate::ui::report::Failure;

/// The formats of a command.
pub(super) trait Formats: ValueEnum + Copy + PartialEq + Send + Sync + 'static {
    /// Those that a program reads: then messages are objects too. The first is what `--json` is short for.
    const JSON: &[Self];
}

/// The formats of a command that reports one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrJson {
    /// Words for people
    Text,
    /// One object
    Json,
}

impl Formats for TextOrJson {
    const JSON: &[Self] = &[Self::Json];
}

/// The formats of a command that reports many things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TextOrList {
    /// A table for people
    Text,
    /// One array of objects
    Json,
    /// One object a line
    Jsonl,
}

impl Formats for TextOrList {
    const JSON: &[Self] = &[Self::Json, Self::Jsonl];
}

/// How to print what a command has to say. All formats have a `text`, which is the default.
#[derive(Debug, Args)]
pub(super) struct FormatArg<F: Formats> {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: F,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl<F: Formats> FormatArg<F> {
    /// Returns the format that was asked for.
    pub(super) fn get(&self) -> F {
        if self.json { F::JSON[0] } else { self.format }
    }

    /// Returns whether messages are objects too.
    pub(super) fn is_json(&self) -> bool {
        F::JSON.contains(&self.get())
    }
}

/// Reads how many of something.
pub(super) fn number(text: &str) -> Result<usize, &'static str> {
    text.parse().map_err(|_| "it is a whole number from 0 on")
}

/// What is to be searched for.
#[derive(Clone, Debug, Args)]
pub(super) struct SearchArgs {
    /// Show only what holds all these words
    ///
    /// Each word is found anywhere and in any case. Words in double quotes are one phrase: --search '"cart
    /// total" invoice'.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Take TEXT of --search as one regular expression, case and all
    ///
    /// The syntax is that of Rust's crate regex: (?i) before it ignores case, (?m) lets ^ and $ match at
    /// lines, (?s) lets a dot match line ends.
    #[arg(long, hide_short_help = true, requires = "search")]
    regex: bool,
}

impl SearchArgs {
    /// Returns the text that is searched for, as it is given.
    pub(super) fn text(&self) -> Option<&str> {
        self.search.as_deref()
    }

    /// Returns in words what an entry does that is found.
    pub(super) fn has(&self) -> &'static str {
        match self.regex {
            true => "matches",
            false => "contains all of",
        }
    }

    /// Returns what is searched for.
    ///
    /// # Errors
    /// A [`Failure`] if it is not a regular expression, but is to be one.
    pub(super) fn query(&self) -> Result<Option<Query>> {
        query(self.text(), self.regex)
    }
}

/// Returns what is searched for: words and phrases, or one regular expression.
///
/// # Errors
/// A [`Failure`] if it is not an expression, but is to be one.
pub(super) fn query(text: Option<&str>, is_pattern: bool) -> Result<Option<Query>> {
    let Some(text) = text else {
        return match is_pattern {
            true => Err(Failure::usage("`--regex` goes with `--search`", "leave it out, or add `--search`").into()),
            false => Ok(None),
        };
    };
    if !is_pattern {
        return Ok(Some(Query::new(text)));
    }
    let query = Query::pattern(text).map_err(|error| {
        let hint = "without `--regex` the words are searched for as they are";
        Failure::usage(format!("`{text}` cannot be searched for as a regular expression: {error}"), hint)
    });
    Ok(Some(query?))
}

/// The session that a command works on.
#[derive(Debug, Default, Args)]
pub(super) struct SessionArg {
    /// A file, an id or its start, latest, current, or - (standard input)
    #[arg(value_name = "SESSION")]
    pub(super) session: PathBuf,
    /// Whether it was not named by its path.
    #[arg(skip)]
    was_found: bool,
}

impl SessionArg {
    /// Makes the argument of a session that is named elsewhere.
    pub(super) fn new(session: PathBuf) -> Self {
        Self { session, was_found: false }
    }

    /// Puts the file in place of another name; done once, before anything else. For a command that `writes`
    /// into the session, files that cannot be written to are passed over.
    pub(super) fn find(&mut self, app: &App, writes: bool) -> Result<()> {
        if let Some(file) = super::lookup::file(app, &self.session, writes)? {
            (self.session, self.was_found) = (file, true);
        }
        Ok(())
    }

    /// Returns the file if it was not named by its path: then results say which file it is.
    pub(super) fn found(&self) -> Option<&Path> {
        self.was_found.then_some(&self.session)
    }

    /// Warns of something about the whole file.
    pub(super) fn warn(&self, app: &App, kind: WarningKind, message: &str) {
        app.report.warn(kind, message, Some(&self.session), None);
    }

    /// Warns of what was done to the file besides what was asked for. Returns the failure to report after
    /// the result, if the system could not sync what was written.
    pub(super) fn committed(&self, app: &App, done: &mut Committed) -> Option<Failure> {
        if let Some(version) = done.migrated_from {
            let message = format!(
                "the file was version {version}: it was migrated to 3 in the same step, without a copy; `migrate --backup` before that keeps one"
            );
            self.warn(app, WarningKind::Migrated, &message);
        }
        if done.closed_unfinished_line {
            let message = "its last line was unfinished: the new entry starts on a line of its own";
            self.warn(app, WarningKind::UnfinishedLine, message);
        }
        let effects = std::mem::take(&mut done.effects);
        super::warn_of(app, &effects, &self.session);
        match effects.unsynced? {
            Unsynced::Data(cause) => Some(Failure::new(&Error::NotSynced { cause }, &self.session)),
            Unsynced::Folder(_) => None,
        }
    }

    /// Warns of hooks that failed after everything was done, and returns the exit code: that of a signal, if
    /// one came meanwhile.
    pub(super) fn after_hooks(&self, app: &App, failed: &[HookError]) -> ExitCode {
        let mut exit = Exit::Done;
        for failed in failed {
            if let ChildError::Interrupted(signal) = failed.why {
                exit = Exit::after(signal);
            }
            let message = format!("{failed}; what was done stays");
            self.warn(app, WarningKind::HookFailed, &message);
        }
        exit.into()
    }

    /// Returns whether it is standard input.
    pub(super) fn is_stdin(&self) -> bool {
        is_stdin(&self.session)
    }

    /// Returns the file, to be written to.
    pub(super) fn file(&self, app: &App, writing: &Writing) -> SessionFile<'_> {
        SessionFile { path: &self.session, options: writing.options(), jobs: app.jobs }
    }

    /// Refuses standard input, for commands that write into the session.
    pub(super) fn must_be_a_file(&self) -> Result<()> {
        if self.is_stdin() {
            let failure = Failure::usage("cannot write into standard input", "give the path of a session file");
            return Err(failure.into());
        }
        Ok(())
    }

    /// Finds the entry that a command is about.
    pub(super) fn entry(&self, session: &Session, leaf: Option<NodeId>, name: &str) -> Result<NodeId> {
        naming::entry::find(session, leaf, name).map_err(|error| self.unnamed(error, name))
    }

    /// Finds where somebody stands: `@` is the leaf itself, also if that is a mark.
    pub(super) fn place(&self, session: &Session, leaf: Option<NodeId>, name: &str) -> Result<NodeId> {
        naming::entry::find_place(session, leaf, name).map_err(|error| self.unnamed(error, name))
    }

    /// Finds the leaf to work from: the named one, else the file's.
    pub(super) fn leaf(&self, session: &Session, name: Option<&str>) -> Result<Option<NodeId>> {
        let own = session.leaf();
        name.map_or(Ok(own), |name| self.place(session, own, name).map(Some))
    }

    /// Returns why a name means no entry. A file in the place of an entry is told so.
    fn unnamed(&self, error: Error, name: &str) -> anyhow::Error {
        let file = Path::new(name);
        if !matches!(error, Error::NotFound { .. }) || !(is_session_name(file) || file.is_file()) {
            return error.into();
        }
        let hint = "it is a file, and the command takes one session: run it once for each".to_owned();
        Failure { hint: Some(hint), ..Failure::new(&error, &self.session) }.into()
    }
}

/// Returns whether a path is standard input by one of its names.
fn is_stdin(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}

/// Options of commands that write into a file that others may have open.
#[derive(Clone, Debug, Args)]
pub(super) struct Writing {
    /// Write even if another process has the file open
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// How long to wait for the lock of another writer
    #[arg(long, value_name = "SECONDS", default_value = "10", hide_short_help = true, value_parser = world::seconds)]
    lock_timeout: Duration,
}

impl Writing {
    /// Returns an argument of a command; one of these goes only with the change that `change` asks for.
    pub(super) fn only_with(arg: Arg, change: &'static str) -> Arg {
        match arg.get_id().as_str() {
            "force" | "lock_timeout" => arg.requires(change),
            _ => arg,
        }
    }

    /// Returns how to behave towards others.
    pub(super) fn options(&self) -> WriteOptions<'static> {
        WriteOptions { wait: world::wait(self.lock_timeout), force: self.force }
    }
}

/// Options of commands that run hooks.
#[derive(Clone, Debug, Args)]
pub(super) struct HookArgs {
    /// Call this program before and after; may be given several times
    #[arg(long, value_name = "COMMAND")]
    hook: Vec<String>,
    /// Time limit of each hook; 0 is no limit
    #[arg(long, value_name = "SECONDS", default_value = "60", hide_short_help = true, value_parser = world::seconds)]
    #[arg(requires = "hook")]
    hook_timeout: Duration,
}

impl HookArgs {
    /// Returns whether there are any hooks.
    pub(super) fn are_given(&self) -> bool {
        !self.hook.is_empty()
    }

    /// Returns the hooks.
    pub(super) fn hooks(&self) -> Hooks<'_> {
        Hooks { commands: &self.hook, limit: self.hook_timeout, stop: &world::stop }
    }
}
