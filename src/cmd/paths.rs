//! Files to work on: named, listed in a file, or found in folders.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::Result;
use clap::Args;

use super::{App, read_bytes, world};
use crate::core::error::Error;
use crate::core::naming;
use crate::core::naming::files::Named;
use crate::parallel::Pool;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::{AboutFile, Failure};

/// The files that a command works on.
#[derive(Clone, Debug, Args)]
pub(super) struct Paths {
    /// Files, or folders to search for *.jsonl files
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    listed: Listed,
}

/// Paths that are not on the command line, and what standard input is called.
#[derive(Clone, Debug, Args)]
pub(super) struct Listed {
    /// Take paths from this file, on lines or separated by NUL; - for standard input
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    files_from: Option<PathBuf>,
    /// Call standard input this in rows and messages, as one of many files [default: -]
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    stdin_name: Option<PathBuf>,
}

impl Listed {
    /// Returns whether nothing of it is given.
    pub(super) fn is_empty(&self) -> bool {
        self.files_from.is_none() && self.stdin_name.is_none()
    }

    /// Returns whether standard input has a name, and there is no list.
    pub(super) fn names_stream_only(&self) -> bool {
        self.files_from.is_none() && self.stdin_name.is_some()
    }

    /// Returns paths, and those of the list.
    ///
    /// # Errors
    /// A [`Failure`] if the list cannot be read, if standard input has a name and is not read, or if it is to be read
    /// twice.
    pub(super) fn with(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let stdin = Path::new("-");
        if self.files_from.as_deref() == Some(stdin) && paths.iter().any(|path| path == stdin) {
            let message = "standard input cannot be both a file and the list of files";
            return Err(Failure::usage(message, "leave `-` or `--files-from -` out").into());
        }
        let paths = with_listed(paths, self.files_from.as_deref())?;
        match paths.iter().filter(|path| *path == stdin).count() {
            0 if self.stdin_name.is_some() => {
                Err(Failure::usage("`--stdin-name` is for standard input", "give `-` as the file").into())
            }
            0 | 1 => Ok(paths),
            _ => Err(Failure::usage("standard input can be read only once", "give `-` once").into()),
        }
    }

    /// Returns what a file is called in what is printed.
    pub(super) fn name<'p>(&'p self, path: &'p Path) -> &'p Path {
        self.stdin_name.as_deref().filter(|_| path == Path::new("-")).unwrap_or(path)
    }
}

impl Paths {
    /// Makes them of their parts, for a command that can do without paths.
    pub(super) fn new(paths: Vec<PathBuf>, listed: Listed) -> Self {
        Self { paths, listed }
    }

    /// Returns the paths as they are given, those of a list too.
    ///
    /// # Errors
    /// A [`Failure`] if a list cannot be read.
    pub(super) fn given(&self) -> Result<Vec<PathBuf>> {
        self.listed.with(&self.paths)
    }

    /// Returns what a file is called in what is printed.
    pub(super) fn name<'p>(&'p self, path: &'p Path) -> &'p Path {
        self.listed.name(path)
    }
}

/// Returns paths, and those that are listed in a file.
///
/// # Errors
/// A [`Failure`] if the list cannot be read.
fn with_listed(paths: &[PathBuf], files_from: Option<&Path>) -> Result<Vec<PathBuf>> {
    let mut paths = paths.to_vec();
    if let Some(from) = files_from {
        let text = read_bytes(from).about(from)?;
        let separator = if text.contains(&0) { 0 } else { b'\n' };
        let names = text.split(|&byte| byte == separator);
        let names = names.map(|name| name.strip_suffix(b"\r").unwrap_or(name)).filter(|name| !name.is_empty());
        paths.extend(names.map(|name| PathBuf::from(OsStr::from_bytes(name))));
    }
    Ok(paths)
}

/// Makes a failure of a file; a word that could stand for a session elsewhere is told that here only
/// paths go.
pub(super) fn failure(error: &Error, path: &Path) -> Failure {
    let mut failure = Failure::new(error, path);
    let is_missing = matches!(error, Error::Io { .. });
    if failure.hint.is_none() && is_missing && !naming::session::word::is_path(path) {
        failure.hint = Some("this command takes files and folders only, no ids and no `latest`".to_owned());
    }
    failure
}

/// Works on files, the largest first, and returns what became of each, in their order. `make` gets a file and on
/// how many threads it may be read.
///
/// # Errors
/// That a signal asked to stop.
pub(super) fn each<T: Send>(
    app: &App,
    doing: &'static str,
    files: &[Named],
    make: impl Fn(&Named, usize) -> T + Sync,
) -> Result<Vec<T>> {
    let order = largest_first(files);
    let mut made: Vec<Option<T>> = files.iter().map(|_| None).collect();
    let pool = Pool::new(app.jobs, usize::MAX);
    let all = files.iter().map(Named::len).sum();
    let make = |at: usize| make(&files[order[at]], threads(app, &files[order[at]], all));
    work(app, doing, files.len(), pool, make, |at, result, _| {
        world::wait(Duration::ZERO).check()?;
        made[order[at]] = Some(result);
        Ok(())
    })?;
    Ok(made.into_iter().flatten().collect())
}

/// Returns the order in which files are best worked on where results need not come one by one: no thread is left
/// with the largest at the end.
pub(super) fn largest_first(files: &[Named]) -> Vec<usize> {
    let mut order: Vec<_> = (0..files.len()).collect();
    order.sort_by_key(|&at| Reverse(files[at].len()));
    order
}

/// Returns on how many threads one of several files is to be read, given the length of all: on all, if it is
/// longer than what there is for each. A stream, whose length is not known before, is mostly alone.
pub(super) fn threads(app: &App, file: &Named, all: u64) -> usize {
    let jobs = u64::try_from(app.jobs).unwrap_or(u64::MAX);
    if all == 0 || file.len().saturating_mul(jobs) > all { app.jobs } else { 1 }
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
