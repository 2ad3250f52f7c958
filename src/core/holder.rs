//! Other processes that have a file open for writing: a running agent keeps its own tree in
//! memory and does not see what is added (semantics: "Writing", A running agent).

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How far two looks are apart: a writer that opens, writes and closes is no holder.
const APART: Duration = Duration::from_millis(100);

/// A process that holds a file open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its id.
    pub pid: u32,
    /// Its program's name.
    pub program: String,
}

/// Finds another process that holds a file open for writing, at two looks. Knows only what Linux
/// tells of processes that we may look at; elsewhere it finds none.
pub fn find(path: &Path) -> Option<Holder> {
    let file = fs::metadata(path).ok()?;
    let first = holders(file.dev(), file.ino(), None);
    if first.is_empty() {
        return None;
    }
    thread::sleep(APART);
    let pids: Vec<_> = first.iter().map(|holder| holder.pid).collect();
    holders(file.dev(), file.ino(), Some(&pids)).into_iter().next()
}

/// Looks through the open files of all processes, or of some.
fn holders(dev: u64, ino: u64, only: Option<&[u32]>) -> Vec<Holder> {
    let own = std::process::id();
    let mut found = Vec::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == own || only.is_some_and(|only| !only.contains(&pid)) {
            continue;
        }
        if holds(&process.path(), dev, ino) {
            let program = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            found.push(Holder { pid, program: program.trim_end().to_owned() });
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

/// Tells from the flags of an open file whether it can be written to.
fn is_writable(info: &Path) -> bool {
    let Ok(mut info) = File::open(info) else { return false };
    let mut text = String::new();
    if std::io::Read::read_to_string(&mut info, &mut text).is_err() {
        return false;
    }
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let mode = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).unwrap_or(0) & 3;
    mode == 1 || mode == 2
}
