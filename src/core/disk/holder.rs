//! Other processes that have a file open for writing: a running agent keeps its own tree in
//! memory and does not see what is added (help writing, "Files in use").

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::core::error::Holder;

#[cfg(target_os = "linux")]
use {
    rustix::{fs::inotify, io::Errno},
    std::collections::BTreeSet,
    std::mem::MaybeUninit,
    std::sync::{Mutex, MutexGuard, PoisonError},
};

/// How far two looks are apart: a writer that opens, writes and closes is not a holder.
const APART: Duration = Duration::from_millis(100);
/// How long a look under a lock may take: omp gives up on the lock after 500 ms.
const GLANCE: Duration = Duration::from_millis(100);

/// Finds another process that holds a file open for writing, at two looks. Knows only what Linux
/// tells of processes that we may look at; elsewhere it finds none.
pub fn find(path: &Path) -> Option<Holder> {
    let file = fs::metadata(path).ok()?;
    let first = holders(file.dev(), file.ino(), None, None);
    if first.is_empty() {
        return None;
    }
    thread::sleep(APART);
    let pids: Vec<_> = first.iter().map(|holder| holder.pid).collect();
    holders(file.dev(), file.ino(), Some(&pids), None).into_iter().next()
}

/// Finds another process that holds an open file, at one look of at most 100 ms: for the moment
/// before the file is replaced, under its lock.
pub fn glance(file: &File) -> Option<Holder> {
    let file = file.metadata().ok()?;
    holders(file.dev(), file.ino(), None, Some(Instant::now() + GLANCE)).into_iter().next()
}

/// A watch on a file, which tells whether anybody opened it since: cheaper than a look at all processes.
pub(super) struct Watch(Option<i32>);

/// What the watches of this process share: to end one such stream of events takes longer than a look.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Events {
    stream: Option<std::os::fd::OwnedFd>,
    /// The watches whose file was opened.
    seen: BTreeSet<i32>,
}

#[cfg(target_os = "linux")]
impl Events {
    fn shared() -> MutexGuard<'static, Self> {
        static EVENTS: Mutex<Events> = Mutex::new(Events { stream: None, seen: BTreeSet::new() });
        EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&mut self, path: &Path) -> rustix::io::Result<i32> {
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?,
        };
        inotify::add_watch(self.stream.insert(stream), path, inotify::WatchFlags::OPEN)
    }

    /// Ends a watch, and returns whether its file was opened, or may have been.
    fn end(&mut self, watch: i32) -> bool {
        let Some(stream) = &self.stream else { return true };
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let mut reader = inotify::Reader::new(stream, &mut buffer);
        let is_read = loop {
            match reader.next() {
                Ok(event) if event.events().contains(inotify::ReadFlags::OPEN) => {
                    self.seen.insert(event.wd());
                }
                // Too many to be told.
                Ok(event) if event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW) => break false,
                Ok(_) => {}
                Err(cause) => break cause == Errno::AGAIN,
            }
        };
        let _ = inotify::remove_watch(stream, watch);
        self.seen.remove(&watch) || !is_read
    }
}

impl Watch {
    /// Begins it, where the system has such.
    pub(super) fn new(path: &Path) -> Self {
        #[cfg(target_os = "linux")]
        return Self(Events::shared().watch(path).ok());
        #[cfg(not(target_os = "linux"))]
        Self(None)
    }

    /// Ends it. Returns whether somebody opened the file, or may have.
    pub(super) fn has_seen_somebody(mut self) -> bool {
        self.end()
    }

    fn end(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        return self.0.take().is_none_or(|watch| Events::shared().end(watch));
        #[cfg(not(target_os = "linux"))]
        true
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns whether a process runs this program, as far as the system shows: ids are used again.
pub(crate) fn runs_this(pid: u32) -> bool {
    name(&Path::new("/proc").join(pid.to_string())).is_none_or(|name| Some(name) == own_name())
}

fn own_name() -> Option<String> {
    name(Path::new("/proc/self"))
}

fn name(process: &Path) -> Option<String> {
    fs::read_to_string(process.join("comm")).ok().map(|name| name.trim_end().to_owned())
}

/// Looks through the open files of all processes, or of some, until a deadline.
fn holders(dev: u64, ino: u64, only: Option<&[u32]>, deadline: Option<Instant>) -> Vec<Holder> {
    // Other runs of this program have it open for a moment only, and know the lock.
    let own = own_name();
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            break;
        }
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() || only.is_some_and(|only| !only.contains(&pid)) {
            continue;
        }
        if holds(&process.path(), dev, ino) {
            let program = name(&process.path());
            if program.is_none() || program != own {
                found.push(Holder { pid, program: program.unwrap_or_default() });
            }
        }
    }
    found
}

fn holds(process: &Path, dev: u64, ino: u64) -> bool {
    let Ok(open) = fs::read_dir(process.join("fd")) else { return false };
    open.flatten().any(|entry| {
        let is_file = fs::metadata(entry.path()).is_ok_and(|file| (file.dev(), file.ino()) == (dev, ino));
        is_file && is_writable(&process.join("fdinfo").join(entry.file_name()))
    })
}

/// Returns whether an open file can be written to, by its flags.
fn is_writable(info: &Path) -> bool {
    let Ok(mut info) = File::open(info) else { return false };
    let mut text = String::new();
    if info.read_to_string(&mut text).is_err() {
        return false;
    }
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let mode = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).unwrap_or(0) & 3;
    mode == 1 || mode == 2
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    use super::{Watch, glance, is_writable, runs_this};

    #[test]
    fn who_has_a_file_open_for_writing_holds_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "").unwrap();
        let file = File::open(&path).unwrap();
        for (how, holds) in [(">>", true), ("<", false), ("<>", true)] {
            let script = format!("exec 3{how} \"$0\"; echo; read line");
            let mut shell = Command::new("sh");
            let shell = shell.arg("-c").arg(script).arg(&path).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut shell = shell.spawn().unwrap();
            shell.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            // One look may be too short on a busy machine.
            let found = (0..if holds { 100 } else { 1 }).find_map(|_| glance(&file));
            shell.stdin.take().unwrap().write_all(b"\n").unwrap();
            shell.wait().unwrap();
            assert_eq!(found.map(|holder| holder.pid), holds.then_some(shell.id()), "{how}");
        }
        // This process does not hold it from itself.
        let _own = File::options().append(true).open(&path).unwrap();
        assert!(glance(&file).is_none());
    }

    #[test]
    fn a_file_is_writable_by_its_flags() {
        let folder = tempfile::tempdir().unwrap();
        let info = folder.path().join("info");
        for (text, expected) in [
            ("pos:\t0\nflags:\t0100000\n", false),
            ("pos:\t0\nflags:\t0100001\n", true),
            ("flags:\t02102002\nmnt_id:\t1\n", true),
            // Only a path: nothing can be read or written.
            ("flags:\t010000003\n", false),
            ("flags:\tx\n", false),
            ("", false),
        ] {
            fs::write(&info, text).unwrap();
            assert_eq!(is_writable(&info), expected, "{text}");
        }
        assert!(!is_writable(&folder.path().join("gone")));
    }

    #[test]
    fn a_watch_sees_who_opens_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let [path, other] = ["s", "other"].map(|name| folder.path().join(name));
        fs::write(&path, "").unwrap();
        fs::write(&other, "").unwrap();
        let (seen, unseen) = (Watch::new(&path), Watch::new(&other));
        File::open(&path).unwrap();
        assert!(seen.has_seen_somebody() && !unseen.has_seen_somebody());
        // What cannot be watched may have been opened.
        assert!(Watch::new(&folder.path().join("gone")).has_seen_somebody());
    }

    #[test]
    fn this_process_runs_this_program() {
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        // Until it has begun, the child goes by the name of who started it.
        let is_other = (0..1000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            !runs_this(other.id())
        });
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(is_other && runs_this(std::process::id()));
    }
}
