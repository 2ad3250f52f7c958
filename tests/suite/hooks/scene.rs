//! What the tests of hooks and summarizers share: small programs to run as such, and a watch that
//! none of them outlives a run.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::Scratch;
use crate::support::Run;
use crate::write::scene::{bytes, lines, wait_for};

/// How long a run may take that nothing holds up.
const SOON: Duration = Duration::from_secs(30);

/// What a program does that would never end by itself, with children of its own; `$T/ready` tells
/// that they are there.
pub const HANG: &str = "sleep 60 &\n(sleep 60; echo late) &\n: >\"$T/ready\"\nwait";

/// A session, and a folder beside it for programs and what they note.
///
/// Programs find that folder in `$T`, the session's file in `$S` and its folder in `$D`.
pub struct Scene {
    pub session: Scratch,
    tools: TempDir,
}

impl Scene {
    pub fn new(session: Scratch) -> Self {
        Self { session, tools: tempfile::tempdir().unwrap() }
    }

    pub fn tool(&self, name: &str) -> PathBuf {
        self.tools.path().join(name)
    }

    /// Returns the session's path as the binary sees it.
    pub fn file(&self) -> PathBuf {
        self.session.path("s.jsonl").canonicalize().unwrap()
    }

    /// Makes a program of a shell script; returns the command that runs it.
    pub fn program(&self, name: &str, script: &str) -> String {
        let path = self.tool(name);
        // Another process writes it: a fork of this one would keep it open, and it could not be run.
        let mut writer = Command::new("sh");
        writer.args(["-c", r#"cat >"$1" && chmod 755 "$1""#, "sh"]).arg(&path).stdin(Stdio::piped());
        let mut writer = writer.spawn().unwrap();
        writer.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        shell_words::quote(path.to_str().unwrap()).into_owned()
    }

    /// Makes a hook that notes all events, and which came when (see [`Self::order`]), and then runs
    /// a script that finds the event's type in `$kind`.
    pub fn hook(&self, name: &str, script: &str) -> String {
        let note = format!(
            r#"cat >"$T/{name}.event"
cat "$T/{name}.event" >>"$T/{name}.events"
kind=$(head -c 60 "$T/{name}.event")
kind=${{kind#*'"type":"'}}
kind=${{kind%%'"'*}}
echo "{name} $kind" >>"$T/order"
"#
        );
        self.program(name, &(note + script))
    }

    /// Makes a hook that notes events as well, and answers all of them in the same way.
    pub fn answering(&self, name: &str, answer: impl AsRef<[u8]>) -> String {
        fs::write(self.tool(&format!("{name}.answer")), answer).unwrap();
        self.hook(name, &format!(r#"cat "$T/{name}.answer""#))
    }

    /// Makes a summarizer that notes its prompt and that it ran, and then runs a script.
    pub fn summarizer(&self, script: &str) -> String {
        self.program("summarizer", &format!("cat >\"$T/prompt\"\necho summarizer >>\"$T/order\"\n{script}"))
    }

    /// Returns what programs wrote into a file; nothing if there is none.
    pub fn note(&self, name: &str) -> String {
        fs::read_to_string(self.tool(name)).unwrap_or_default()
    }

    /// Returns which hooks got which events, and when the summarizer ran.
    pub fn order(&self) -> Vec<String> {
        self.note("order").lines().map(str::to_owned).collect()
    }

    /// Returns the events that a hook got.
    pub fn events(&self, name: &str) -> Vec<Value> {
        lines(self.note(&format!("{name}.events")).as_bytes())
    }

    /// Prepares a run; the arguments in `line` are separated by blanks.
    pub fn command(&self, line: &str, more: &[&str]) -> Command {
        let mut command = self.session.command(line.split_whitespace().chain(more.iter().copied()));
        let file = self.file();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/bin:/bin")));
        command.env("T", self.tools.path()).env("D", file.parent().unwrap()).env("S", &file);
        command
    }

    /// Runs the binary, and checks that nothing is left of what it started.
    #[track_caller]
    pub fn run(&self, line: &str, more: &[&str]) -> Run {
        self.finish(self.command(line, more))
    }

    #[track_caller]
    pub fn finish(&self, command: Command) -> Run {
        let run = self.start(command).end();
        self.is_alone();
        run
    }

    /// Starts a prepared run.
    pub fn start(&self, mut command: Command) -> Started {
        // Files, not pipes: a process that outlives a run would hold a pipe open.
        let [stdout, stderr] = [(); 2].map(|()| tempfile::tempfile().unwrap());
        command.stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
        Started { child: command.spawn().unwrap(), stdout, stderr }
    }

    /// Checks that none of the processes that a run started is still there.
    #[track_caller]
    pub fn is_alone(&self) {
        let start = Instant::now();
        while !self.processes().is_empty() {
            // One that was killed may need a moment for its end.
            assert!(start.elapsed() < Duration::from_secs(2), "still there: {:?}", self.processes());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the processes that have the folder of the programs in their environment.
    pub fn processes(&self) -> Vec<(i32, String)> {
        let mark = format!("T={}", self.tools.path().display());
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes()) {
                let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                found.push((pid, String::from_utf8_lossy(&command).replace('\0', " ")));
            }
        }
        found
    }

    /// Ends the processes that a run left.
    pub fn clear(&self) {
        for (pid, _) in self.processes() {
            let _ = rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL);
        }
    }

    /// Checks that a move failed in a certain way, that nothing was written, and that no hook was
    /// told of a move; returns the error.
    #[track_caller]
    pub fn refused(&self, old: &[u8], run: &Run, kind: &str) -> Value {
        let after = ["session_tree", "session_branch"];
        let told = self.order().into_iter().find(|note| after.iter().any(|kind| note.ends_with(&format!(" {kind}"))));
        assert_eq!(told, None, "{run:?}");
        crate::write::scene::refused(&self.session, old, run, kind)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A run that goes on.
pub struct Started {
    child: Child,
    stdout: File,
    stderr: File,
}

impl Started {
    /// Sends a signal to the binary alone.
    pub fn send(&self, signal: Signal) {
        rustix::process::kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end.
    #[track_caller]
    pub fn end(mut self) -> Run {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > SOON {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("it does not end");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let [stdout, stderr] = [self.stdout, self.stderr].map(text);
        Run { stdout, stderr, code: status.code().unwrap_or(-1) }
    }
}

fn text(mut file: File) -> String {
    use std::io::Seek;
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

/// Checks cases at the same time, a few at once: most of their time they wait.
pub fn each<T: Sync>(cases: &[T], check: impl Fn(&T) + Sync) {
    for some in cases.chunks(4) {
        std::thread::scope(|scope| some.iter().for_each(|case| drop(scope.spawn(|| check(case)))));
    }
}

/// Waits until a program says that it and its children are there.
#[track_caller]
pub fn wait_until_ready(scene: &Scene) {
    wait_for("the program starts", || scene.tool("ready").exists());
}

/// Returns the only line that a run appended.
#[track_caller]
pub fn the_new_line(scene: &Scene, old: &[u8]) -> Value {
    let new = crate::write::scene::appended(old, &bytes(&scene.session));
    let [line] = &new[..] else { panic!("not one line: {new:?}") };
    line.clone()
}

/// Returns an answer that supplies a summary.
pub fn answer(text: &str) -> String {
    json!({"summary": {"summary": text}}).to_string()
}
