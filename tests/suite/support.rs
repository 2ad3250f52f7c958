//! What the tests share: running the binary in a clean environment, and files to run it on.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::rows::{self, Rows};
use session_tree::core::tree::shape::Shape;

/// What a run of the binary left.
#[derive(Debug)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

/// Prepares the binary with nothing of this machine in its environment.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_session-tree"));
    command.env_clear().env("HOME", "/home/mia").stdin(Stdio::null());
    command
}

/// Runs the binary.
pub fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Run {
    finish(command().args(args))
}

/// Runs the binary with some bytes on its standard input.
pub fn run_with_input<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>, input: &[u8]) -> Run {
    let mut command = command();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the binary ends");
    feeder.join().expect("the feeder ends");
    Run::of(output)
}

/// Runs a prepared command.
pub fn finish(command: &mut Command) -> Run {
    loop {
        match command.output() {
            // A process that another test starts has a copy of the binary open until it is a program of its own.
            Err(cause) if cause.kind() == ErrorKind::ExecutableFileBusy => thread::sleep(Duration::from_millis(1)),
            output => return Run::of(output.expect("the binary starts")),
        }
    }
}

impl Run {
    fn of(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("all output is UTF-8");
        let code = output.status.code().unwrap_or(-1);
        Self { stdout: text(output.stdout), stderr: text(output.stderr), code }
    }

    /// Returns stdout of a run that must have gone well.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    /// Returns stdout of a run that must have gone well, as JSON.
    pub fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("stdout is JSON")
    }

    /// Returns the rows of a search, whose exit code says whether there are any.
    pub fn found(self) -> Vec<serde_json::Value> {
        assert_eq!(self.code, i32::from(self.stdout.is_empty()), "{self:?}");
        Self { code: 0, ..self }.json_lines()
    }

    /// Returns stdout of a run that must have gone well, as one JSON value a line.
    pub fn json_lines(self) -> Vec<serde_json::Value> {
        self.ok().lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
    }
}

/// Returns the path of a file in `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Reads a session from bytes.
pub fn session(bytes: &[u8]) -> Session {
    Session::load(Source::spool(bytes).unwrap(), LoadOptions::INDEX_ONLY, 2).unwrap()
}

/// Lays out the entries that `shows` lets through; `order` is the order of display of all.
pub fn lay_out(session: &Session, leaf: Option<NodeId>, order: &[NodeId], shows: impl Fn(NodeId) -> bool) -> Rows {
    rows::of_shape(session, leaf, &Shape::new(session, order, shows))
}
