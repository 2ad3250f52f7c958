//! Files to work on: named, listed in a file, or found in folders.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;

use super::read_bytes;
use crate::core::error::Error;
use crate::core::naming;
use crate::ui::report::{AboutFile, Failure};

/// The files that a command works on.
#[derive(Clone, Debug, Args)]
pub(super) struct Paths {
    /// Files, or folders to search for *.jsonl files
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub(super) paths: Vec<PathBuf>,
    /// Take paths from this file, on lines or separated by NUL; - for standard input
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
}

/// A file to work on.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) path: PathBuf,
    /// Whether it was named, not found in a folder.
    pub(super) is_named: bool,
}

impl Paths {
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

/// Returns the files of paths, in their order; those of a folder by name.
pub(super) fn jobs(paths: Vec<PathBuf>) -> Vec<Job> {
    let mut jobs = Vec::new();
    for path in paths {
        if path.is_dir() {
            let (found, unreadable) = search(&path);
            jobs.extend(found.into_iter().map(|path| Job { path, is_named: false }));
            jobs.extend(unreadable.into_iter().map(|path| Job { path, is_named: true }));
        } else {
            jobs.push(Job { path, is_named: true });
        }
    }
    jobs
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

/// Searches a folder for session files: `*.jsonl`, no hidden names; links to files, not to folders.
/// What cannot be looked at comes apart.
fn search(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) else {
            // Opening it will say why; the others go on.
            unreadable.push(folder);
            continue;
        };
        for entry in entries {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                match fs::metadata(&path) {
                    Ok(meta) if meta.is_file() => found.push(path),
                    // Links are followed; folders behind them, links to nothing, and pipes hold no session.
                    Ok(_) => {}
                    Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                    // A folder that can be listed, but not looked into: opening the file will say why.
                    Err(_) => unreadable.push(path),
                }
            }
        }
    }
    found.sort_unstable();
    (found, unreadable)
}
