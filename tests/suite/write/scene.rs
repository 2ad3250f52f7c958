//! What the tests of everything that writes share: what a run changed and said, and other programs
//! that are there at the same time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::Scratch;
pub(crate) use crate::lines::calls;
use crate::support::Run;

/// After this long, what a test waits for will not come.
const DEADLINE: Duration = Duration::from_secs(30);

/// Makes the session of [`lines::forked`](crate::lines::forked): its leaf is `b2`.
pub fn forked() -> Scratch {
    Scratch::new(&crate::lines::forked())
}

/// Returns the bytes of the scratch folder's session.
pub fn bytes(scratch: &Scratch) -> Vec<u8> {
    fs::read(scratch.path("s.jsonl")).unwrap()
}

/// Returns all names in a folder, hidden ones too.
pub fn names(folder: impl AsRef<Path>) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// Checks that nothing was written: the session is what it was, and nothing else is in the folder.
#[track_caller]
pub fn untouched(scratch: &Scratch, old: &[u8]) {
    assert_eq!(String::from_utf8_lossy(&bytes(scratch)), String::from_utf8_lossy(old), "the file changed");
    assert_eq!(names(scratch.path("")), ["s.jsonl"], "something was left behind");
}

/// Returns the lines that were appended, having checked that all bytes before them stayed.
#[track_caller]
pub fn appended(old: &[u8], new: &[u8]) -> Vec<Value> {
    assert!(new.starts_with(old), "what was there changed: {}", String::from_utf8_lossy(new));
    let added = &new[old.len()..];
    assert!(old.ends_with(b"\n") || added.starts_with(b"\n"), "the new line is glued to the old one");
    assert!(new.ends_with(b"\n"), "the last line is open");
    let added = added.strip_prefix(b"\n").filter(|_| !old.ends_with(b"\n")).unwrap_or(added);
    lines(added)
}

/// Parses lines, none of which may be blank.
#[track_caller]
pub fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|cause| panic!("{cause}: {line}"))).collect()
}

/// Returns the names of an object's members, sorted.
pub fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Returns the kinds of the warnings of a run with a JSON format.
#[track_caller]
pub fn warnings(run: &Run) -> Vec<String> {
    let all = lines(run.stderr.as_bytes());
    let warnings = all.iter().filter_map(|line| line.get("warning"));
    warnings.map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
}

/// Returns the error of a run with a JSON format that must have failed.
#[track_caller]
pub fn error(run: &Run) -> Value {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    lines(run.stderr.as_bytes()).pop().unwrap()["error"].clone()
}

/// Checks that a run failed in a certain way and that nothing was written.
#[track_caller]
pub fn refused(scratch: &Scratch, old: &[u8], run: &Run, kind: &str) -> Value {
    let error = error(run);
    assert_eq!(error["kind"], kind, "{run:?}");
    untouched(scratch, old);
    error
}

/// Checks that an id looks as agents make them.
#[track_caller]
pub fn is_fresh_id(id: &Value) {
    let id = id.as_str().unwrap();
    assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)), "{id}");
}

/// Returns permissions without the file's type.
pub fn mode(path: impl AsRef<Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

pub fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Waits for a condition.
#[track_caller]
pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "{what}: it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a run of the binary has read what it reads and obeys signals: it is about to write.
#[track_caller]
pub fn wait_until_prepared(child: &Child) {
    const STOPPING: u64 = 1 << 1 | 1 << 14;
    let status = format!("/proc/{}/status", child.id());
    wait_for("the binary gets ready to write", || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|caught| u64::from_str_radix(caught.trim(), 16).unwrap() & STOPPING == STOPPING)
    });
}

/// Starts a command whose output is wanted later.
pub fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of a command.
pub fn end(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap_or(-1) }
}

/// A shell that does something with a file and keeps on until it is dropped.
pub struct Other {
    child: Child,
    /// Closed to let it end.
    stdin: Option<ChildStdin>,
}

impl Other {
    /// Starts one; `script` has the file as `$1`, and its end is awaited.
    pub fn start(script: &str, file: &Path) -> Self {
        let script = format!("{script}\necho ready\nread line");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let stdin = child.stdin.take();
        Self { child, stdin }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// Returns the id of a process that has ended.
pub fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

/// Numbers that look random and are the same every time.
pub struct Random(pub u64);

impl Random {
    /// Returns a number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Writes bytes to the end of a file as agents do: open, one write, close.
pub fn append_like_an_agent(path: &Path, line: &str) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}
