//! The command line as its users meet it: what is printed, where, and with which exit code.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use crate::lines::{HEADER, entry, label, message};
use crate::support::{self, Run};

mod completions;
mod context;
mod elsewhere;
mod errors;
mod follow;
mod foreign;
mod lists;
mod lookup;
mod markdown;
mod naming;
mod pipes;
mod rows;
mod search;
mod sessions;
mod several;
mod snapshots;
mod views;

/// A folder with a session `s.jsonl` in it, where the binary is run.
pub struct Scratch(TempDir);

impl Scratch {
    /// Makes a session of a header and some entries.
    pub fn new<S: AsRef<str>>(entries: &[S]) -> Self {
        let lines = [HEADER].into_iter().chain(entries.iter().map(AsRef::as_ref));
        Self::bytes(lines.flat_map(|line| [line, "\n"]).collect::<String>().as_bytes())
    }

    /// Makes a session of the bytes of a whole file.
    pub fn bytes(bytes: &[u8]) -> Self {
        let scratch = Self(tempfile::tempdir().unwrap());
        fs::write(scratch.path("s.jsonl"), bytes).unwrap();
        scratch
    }

    pub fn path(&self, name: impl AsRef<std::path::Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Prepares the binary to be run in the folder.
    pub fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = support::command();
        command.current_dir(self.0.path()).args(args);
        command
    }

    /// Runs the binary in the folder.
    pub fn args<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        support::finish(&mut self.command(args))
    }

    /// Runs the binary in the folder; the arguments are separated by blanks.
    pub fn run(&self, line: &str) -> Run {
        self.args(line.split_whitespace())
    }
}

/// Returns the ids of rows in `jsonl`.
pub fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect()
}
