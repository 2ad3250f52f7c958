//! Files to work on: named, listed in a file, or found in folders.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use clap::Args;

use super::{App, read_bytes};
use crate::core::error::Error;
use crate::core::naming;
use crate::parallel::Pool;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::{AboutFile, Failure};

/// The files that a command works on.
#[derive(Clone, Debug, Args)]
pub(super) struct Paths {
    /// Files, or folders to search for *.jsonl files
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    paths: Vec<PathBuf>,
    /// Take paths from this file, on lines or separated by NUL; - for standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
}

impl Paths {
    /// Makes them of the values of the two arguments.
    pub(super) fn new(paths: Vec<PathBuf>, files_from: Option<PathBuf>) -> Self {
        Self { paths, files_from }
    }

    /// Returns the paths as they are given, those of a list too.
    ///
    /// # Errors
    /// A [`Failure`] if a list cannot be read.
    pub(super) fn given(&self) -> Result<Vec<PathBuf>> {
        let mut paths = self.paths.clone();
        if let Some(from) = &self.files_from {
            let text = read_bytes(from).about(from)?;
            let separator = if text.contains(&0) { 0 } else { b'\n' };
            let names = text.split(|&byte| byte == separator);
            let names = names.map(|name| name.strip_suffix(b"\r").unwrap_or(name)).filter(|name| !name.is_empty());
            paths.extend(names.map(|name| PathBuf::from(OsStr::from_bytes(name))));
        }
        Ok(paths)
    }
}

/// Makes a failure of a file; a word that could stand for a session elsewhere is told that here only
/// paths go.
pub(super) fn failure(error: &Error, path: &Path) -> Failure {
    let mut failure = Failure::new(error, path);
    if failure.hint.is_none() && !naming::session::is_path(path) {
        failure.hint = Some("this command takes files and folders only, no ids and no `latest`".to_owned());
    }
    failure
}

/// Works on numbered files, several at once, and shows how many are done. `take` gets what became of
/// each, in order, and what may be seen meanwhile.
pub(super) fn work<T: Send>(
    app: &App,
    doing: &'static str,
    count: usize,
    pool: Pool<T>,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(usize, T, Option<&Progress>) -> Result<()>,
) -> Result<()> {
    let done = Arc::default();
    let files = (count > 1).then(|| Count::Things(Arc::clone(&done), count, "files"));
    let progress = files.map(|files| Progress::new(app.report, doing, files)).filter(Progress::is_shown);
    let worker = || {
        |at: usize| {
            let made = make(at);
            done.fetch_add(1, Ordering::Relaxed);
            made
        }
    };
    pool.run(count, worker, |at, made| take(at, made, progress.as_ref()))
}
