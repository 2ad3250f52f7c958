//! Child processes: hooks and summarizers. Each runs without a shell in a process group of its
//! own, for no longer than it may, and is ended with all its children when a signal asks us to
//! stop.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::core::error::reason;
use crate::core::words::shell_word;

/// The most that a child may print, in bytes.
const OUTPUT: u64 = 16 * 1024 * 1024;
/// How long a child that was asked to end is given.
const GRACE: Duration = Duration::from_secs(5);
/// How long to wait between two looks at a child.
const TURN: Duration = Duration::from_millis(10);
/// How far apart a signal may reach us and a child that it is sent to at once.
const SAME: Duration = Duration::from_millis(100);
/// How long output is waited for that a child's own children may still hold open.
const REST: Duration = Duration::from_secs(1);

/// Why a child gave no answer.
#[derive(Debug)]
pub enum ChildError {
    /// The command line is not a list of words, or it is empty.
    NoCommand(String),
    /// This program cannot be started.
    NotStarted(String, io::Error),
    /// It went on for longer than it may.
    TooLong(Duration),
    /// It printed more than it may.
    TooMuch,
    /// It failed by itself.
    Status(ExitStatus),
    /// What it printed makes no sense.
    Answer(String),
    /// A signal asked us to stop.
    Interrupted(i32),
    /// The system failed.
    Io(io::Error),
}

impl std::fmt::Display for ChildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoCommand(why) => write!(f, "it is not a command: {why}"),
            Self::NotStarted(_, cause) => write!(f, "it cannot be started: {}", reason(cause)),
            Self::TooLong(limit) => write!(f, "it took longer than {} s and was ended", limit.as_secs_f64()),
            Self::TooMuch => f.write_str("it printed more than 16 MiB and was ended"),
            Self::Status(status) => write!(f, "it failed: {status}"),
            Self::Answer(why) => f.write_str(why),
            Self::Interrupted(_) => f.write_str("interrupted"),
            Self::Io(cause) => f.write_str(&reason(cause)),
        }
    }
}

impl ChildError {
    /// Returns what to do about a program that cannot be started, if that is known.
    pub fn hint(&self) -> Option<String> {
        let Self::NotStarted(program, cause) = self else { return None };
        let file = Path::new(program);
        let (is_path, is_file) = (program.contains('/'), file.is_file());
        let here = shell_word(Path::new(".").join(file).as_os_str());
        Some(match cause.kind() {
            io::ErrorKind::NotFound if is_path && is_file => {
                format!("the program in the first line of `{program}` does not exist")
            }
            io::ErrorKind::NotFound if is_path => format!("there is no file `{program}`"),
            io::ErrorKind::NotFound if is_file => format!("programs are looked for in PATH: `{here}` is the one here"),
            io::ErrorKind::NotFound => format!("there is no program `{program}` in PATH"),
            io::ErrorKind::PermissionDenied if file.is_dir() => format!("`{program}` is a folder"),
            io::ErrorKind::PermissionDenied if is_file => {
                let file = shell_word(file.as_os_str());
                format!("`chmod +x {file}` makes it a program")
            }
            _ => return None,
        })
    }
}

/// Runs a command that gets a text and prints another one, which must not be blank.
///
/// # Errors
/// [`ChildError`].
pub fn text(command: &str, text: &str, limit: Duration, stop: &dyn Fn() -> Option<i32>) -> Result<String, ChildError> {
    let spool = || -> io::Result<File> {
        let mut input = tempfile::tempfile()?;
        input.write_all(text.as_bytes())?;
        input.seek(SeekFrom::Start(0))?;
        Ok(input)
    };
    capture(command, spool().map_err(ChildError::Io)?, limit, stop, |answer| {
        let answer = String::from_utf8_lossy(&answer).into_owned();
        if answer.trim().is_empty() { Err("it printed nothing".to_owned()) } else { Ok(answer) }
    })
}

/// Runs a command with `input` as its standard input and returns what `accept` makes of what it
/// printed. Its stderr passes through. `limit` zero means none; `stop` returns the signal that asked
/// us to stop. Whatever goes wrong, it is ended with all its children.
///
/// # Errors
/// [`ChildError`].
pub fn capture<T>(
    command: &str,
    input: File,
    limit: Duration,
    stop: &dyn Fn() -> Option<i32>,
    accept: impl FnOnce(Vec<u8>) -> Result<T, String>,
) -> Result<T, ChildError> {
    let words = shell_words::split(command).map_err(|error| ChildError::NoCommand(error.to_string()))?;
    let Some((program, arguments)) = words.split_first() else {
        return Err(ChildError::NoCommand("it is empty".to_owned()));
    };
    // The input is a file, so that a child that never reads it, or closes it, holds up nothing.
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::from(input))
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|cause| ChildError::NotStarted(program.clone(), cause))?;
    let ended = read_in_background(&mut child).and_then(|output| watch(&mut child, &output, limit, stop));
    let answer = match ended {
        Ok(ExitedChild { status, output }) if status.success() => accept(output).map_err(ChildError::Answer),
        Ok(ExitedChild { status, .. }) => Err(ChildError::Status(status)),
        Err(failed) => Err(failed),
    };
    answer.map_err(|failed| {
        end(&mut child);
        // A signal to all of us may reach the child first: then it is why it failed.
        let since = Instant::now();
        while stop().is_none()
            && matches!(failed, ChildError::Status(_) | ChildError::Answer(_))
            && since.elapsed() < SAME
        {
            thread::sleep(TURN);
        }
        stop().map_or(failed, ChildError::Interrupted)
    })
}

/// A child that came to its end.
struct ExitedChild {
    status: ExitStatus,
    output: Vec<u8>,
}

/// Reads what a child prints, so that it never has to wait for us.
fn read_in_background(child: &mut Child) -> Result<Receiver<io::Result<Vec<u8>>>, ChildError> {
    let (sender, receiver) = mpsc::channel();
    let pipe = child.stdout.take();
    let read = move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |pipe| pipe.take(OUTPUT + 1).read_to_end(&mut bytes));
        // Nobody listens any more if the child was ended.
        let _ = sender.send(read.map(|_| bytes));
    };
    // It cannot be started where there may be no more processes: then the child is ended, too.
    thread::Builder::new().spawn(read).map_err(ChildError::Io)?;
    Ok(receiver)
}

fn watch(
    child: &mut Child,
    output: &Receiver<io::Result<Vec<u8>>>,
    limit: Duration,
    stop: &dyn Fn() -> Option<i32>,
) -> Result<ExitedChild, ChildError> {
    let start = Instant::now();
    let mut read = None;
    let mut exited: Option<(ExitStatus, Instant)> = None;
    loop {
        if let Some(signal) = stop() {
            return Err(ChildError::Interrupted(signal));
        }
        if read.is_none() {
            read = match output.recv_timeout(TURN) {
                Ok(bytes) => Some(bytes.map_err(ChildError::Io)?),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(Vec::new()),
            };
        } else {
            thread::sleep(TURN);
        }
        if read.as_ref().is_some_and(|bytes| bytes.len() as u64 > OUTPUT) {
            return Err(ChildError::TooMuch);
        }
        if exited.is_none() {
            exited = child.try_wait().map_err(ChildError::Io)?.map(|status| (status, Instant::now()));
        }
        match (&exited, read.take()) {
            (Some((status, _)), Some(output)) => return Ok(ExitedChild { status: *status, output }),
            (Some((_, at)), None) if at.elapsed() > REST => {
                return Err(ChildError::Io(io::Error::other("its output stays open after its end")));
            }
            (_, bytes) => read = bytes,
        }
        if exited.is_none() && !limit.is_zero() && start.elapsed() > limit {
            return Err(ChildError::TooLong(limit));
        }
    }
}

/// Ends a child and its children: asks first.
fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let send = |signal: Signal| group.is_some_and(|group| rustix::process::kill_process_group(group, signal).is_ok());
    send(Signal::TERM);
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        // The group is there as long as any of its processes is, the child itself until it is waited for.
        let is_gone = !matches!(child.try_wait(), Ok(None));
        if is_gone && group.is_none_or(|group| !has_members(group)) {
            return;
        }
        thread::sleep(TURN);
    }
    send(Signal::KILL);
    let _ = child.wait();
}

/// Returns whether anything of a process group still runs. Orphans that nobody has buried yet count
/// as gone, as far as the system shows which those are.
fn has_members(group: Pid) -> bool {
    if rustix::process::test_kill_process_group(group).is_err() {
        return false;
    }
    let Ok(processes) = fs::read_dir("/proc") else { return true };
    let mut stats = processes.flatten().filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    // After the name, which may hold anything: state, parent, group.
    stats.any(|stat| {
        let mut fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
        let is_dead = matches!(fields.next(), Some("Z" | "X"));
        let of_group = fields.nth(1).and_then(|id| id.parse().ok()) == Some(group.as_raw_nonzero().get());
        of_group && !is_dead
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;

    use super::text;

    #[test]
    fn a_program_that_cannot_be_started_gets_a_hint_that_fits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        for (name, program, mode) in [("plain", "#!/bin/sh\n", 0o644), ("lost", "#!/no/such/shell\n", 0o755)] {
            fs::write(at(name), program).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        for (command, expected) in [
            ("no-such-program", "there is no program `no-such-program` in PATH".to_owned()),
            // Tests run where this file is.
            ("Cargo.toml", "programs are looked for in PATH: `./Cargo.toml` is the one here".to_owned()),
            (&at("gone"), format!("there is no file `{}`", at("gone"))),
            (&at("plain"), format!("`chmod +x {}` makes it a program", at("plain"))),
            (&at("lost"), format!("the program in the first line of `{}` does not exist", at("lost"))),
            (&at(""), format!("`{}` is a folder", at(""))),
        ] {
            let failed = text(command, "", Duration::ZERO, &|| None).unwrap_err();
            assert_eq!(failed.hint(), Some(expected), "{command}");
        }
        assert_eq!(text("false", "", Duration::ZERO, &|| None).unwrap_err().hint(), None);
    }
}
