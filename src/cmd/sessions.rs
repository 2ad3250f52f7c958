//! SESSION where a command takes one or several of them: files, names, and folders to be searched.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::App;
use super::args::SessionArg;
use super::lookup;
use super::paths::{self, Listed};
use crate::core::error::problem::WarningKind;
use crate::core::error::{Error, ErrorKind};
use crate::core::naming::files::{self, Named, PassedOver, Searched};
use crate::core::naming::session::word::LATEST;
use crate::core::words::shell_word;
use crate::ui::report::Failure;

/// What to do where one session is taken, and a stream with a name is none.
pub(super) const NO_NAME: &str = "leave `--stdin-name` out";

/// The sessions that a command works on.
#[derive(Debug, Args)]
pub(super) struct SessionsArg {
    /// Files, folders, ids, latest, current, - [default: latest]
    ///
    /// One session is shown by itself. Several, and those that are found in folders, come one after the other.
    #[arg(id = "session", value_name = "SESSION")]
    sessions: Vec<PathBuf>,
    #[command(flatten)]
    listed: Listed,
}

impl SessionsArg {
    /// Returns the session if it is named alone, and is not one of many by what is said of it: a folder, a list,
    /// and a stream with a name may be of several.
    pub(super) fn one(&self) -> Option<SessionArg> {
        match &self.sessions[..] {
            [] if self.listed.is_empty() => Some(SessionArg::new(LATEST.into())),
            [session] if self.listed.is_empty() && !session.is_dir() => Some(SessionArg::new(session.clone())),
            _ => None,
        }
    }

    /// Returns the files of all sessions, in the order in which they are given.
    ///
    /// # Errors
    /// A [`Failure`] if a list cannot be read, or a word names no session.
    pub(super) fn files(&self, app: &App) -> Result<Vec<Named>> {
        let mut paths = self.sessions.clone();
        for path in &mut paths {
            *path = lookup::file(app, path, false)
                .map_err(|error| self.hinted(error, path))?
                .unwrap_or_else(|| path.clone());
        }
        Ok(files::find(self.listed.with(&paths)?, Searched::Packed))
    }

    /// Returns what a file is called in what is printed.
    pub(super) fn name<'p>(&'p self, path: &'p Path) -> &'p Path {
        self.listed.name(path)
    }

    /// Returns whether there is standard input alone, which counts as several because it has a name.
    pub(super) fn is_named_stream(&self) -> bool {
        matches!(&self.sessions[..], [path] if path == Path::new("-")) && self.listed.names_stream_only()
    }

    /// Returns the second word, if there are several.
    pub(super) fn second(&self) -> Option<&Path> {
        self.sessions.get(1).map(PathBuf::as_path)
    }

    /// Returns in words where the sessions were looked for.
    fn places(&self) -> String {
        match &self.sessions[..] {
            [] => "the list".to_owned(),
            [first] => format!("`{}`", first.display()),
            [first, ..] => format!("`{}` and the other places", first.display()),
        }
    }

    /// Adds a hint where what names no session may be meant as an entry of the one before.
    fn hinted(&self, error: anyhow::Error, word: &Path) -> anyhow::Error {
        let is_first = self.sessions.first().is_some_and(|first| first == word);
        match error.downcast::<Failure>() {
            Ok(failure) if is_first || failure.kind != ErrorKind::NotFound => failure.into(),
            Ok(failure) => Failure { hint: Some(entry_hint(word)), ..failure }.into(),
            Err(error) => error,
        }
    }
}

/// The files that could not be read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    /// Whether one of them was named.
    pub(super) has_failed: bool,
    passed_over: PassedOver,
}

impl Unread {
    /// Reports a file that cannot be read, and is called `name`: as an error if it was named, else as a warning.
    /// What is not a session in a folder is only counted.
    ///
    /// # Errors
    /// What ends the other files too: that a signal asked to stop, and what is not about the file.
    pub(super) fn add(&mut self, app: &App, file: &Named, name: &Path, error: anyhow::Error) -> Result<()> {
        let error = error.downcast::<Error>()?;
        let failure = paths::failure(&error, name);
        match &error {
            Error::Interrupted { .. } => return Err(failure.into()),
            _ if file.is_named => {
                self.has_failed = true;
                app.report.failure(&failure);
            }
            error if self.passed_over.takes(&file.path, error) => {}
            _ => app.report.warn(WarningKind::Unreadable, &failure.message, Some(name), failure.line),
        }
        Ok(())
    }

    /// Reports what was passed over when all files are read.
    ///
    /// # Errors
    /// A [`Failure`] if there was nothing else.
    pub(super) fn finish(&self, app: &App, sessions: usize, given: &SessionsArg) -> Result<()> {
        app.passed_over(&self.passed_over);
        if sessions > 0 || self.has_failed {
            return Ok(());
        }
        let message = format!("there is no session in {}", given.places());
        let hint =
            "agents keep sessions in folders of their own: `list` shows those of this folder, `latest` is the newest";
        Err(Failure::plain(ErrorKind::NotFound, message, Some(hint.to_owned())).into())
    }
}

/// Returns what to do with an entry that stands where a session may.
pub(super) fn entry_hint(word: &Path) -> String {
    let word = shell_word(word.as_os_str());
    format!("if it is an entry, `--leaf {word}` works from there, and `tree SESSION --entry {word}` prints it")
}
