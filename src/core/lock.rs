//! The lock on a session file, shared with other programs (semantics: "Writing", Lock).
//!
//! First an exclusive `flock` on the file itself, which leaves nothing behind; then a record
//! `.NAME.lock` beside it, which agents respect too. Neither is held for longer than a short
//! append or a rename takes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use rustix::process::Pid;

use super::error::{Error, Result};

/// How long a turn of waiting is.
const TURN: Duration = Duration::from_millis(10);
/// How old a record that is not valid must be before it is taken over, in milliseconds.
const RIPE: i64 = 2000;
/// The longest record that is read, in bytes.
const RECORD: u64 = 256;

/// What a lock needs to know of the world.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// How long to wait for another holder.
    pub timeout: Duration,
    /// Gives the time, in milliseconds since 1970.
    pub now: &'a (dyn Fn() -> i64 + Sync),
    /// Gives the signal that asked to stop, if one did.
    pub stop: &'a (dyn Fn() -> Option<i32> + Sync),
}

impl Patience<'_> {
    /// Ends what is being done if a signal asked to.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        (self.stop)().map_or(Ok(()), |signal| Err(Error::Interrupted { signal }))
    }
}

/// A held lock; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    record: PathBuf,
}

impl Lock {
    /// Locks a file, whose links have been followed.
    ///
    /// # Errors
    /// [`Error::Locked`] if another program holds it for too long, [`Error::ReadOnly`] if the
    /// record cannot be made, [`Error::Io`].
    pub fn take(path: &Path, patience: Patience<'_>) -> Result<Self> {
        let record = beside(path, "lock");
        let mut waited = Duration::ZERO;
        let mut suspect = None;
        loop {
            if let Some(file) = flock(path)? {
                match make(&record, (patience.now)()) {
                    Ok(()) => {
                        let lock = Self { file, record: record.clone() };
                        // Whoever knows only the record may have replaced the file until now.
                        if goes_by(&lock.file, path) {
                            return Ok(lock);
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        clear_stale(&record, (patience.now)(), &mut suspect)?;
                    }
                    Err(cause) => return Err(Error::writing("cannot make the lock file", cause)),
                }
            }
            patience.check()?;
            if waited >= patience.timeout {
                return Err(Error::Locked { holder: holder(&record) });
            }
            thread::sleep(TURN);
            waited += TURN;
        }
    }

    /// Gives the locked file, open for reading.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Only our own record: if somebody took it over, it is theirs to remove.
        if read(&self.record).is_some_and(|(text, _)| pid_of(&text) == Some(process::id())) {
            let _ = fs::remove_file(&self.record);
        }
    }
}

/// Gives the hidden name of a companion of a file.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

/// Tells whether a process exists, also one that is not ours.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// Takes the file's own lock, if it is free and the file still goes by its name.
fn flock(path: &Path) -> Result<Option<File>> {
    let file = File::open(path).map_err(Error::io("cannot open"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(cause)) if cause.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(cause)) => return Err(Error::Io { doing: "cannot lock", cause }),
    }
    Ok(goes_by(&file, path).then_some(file))
}

/// Tells whether an open file still goes by a name.
fn goes_by(file: &File, path: &Path) -> bool {
    let (opened, named) = (file.metadata(), fs::metadata(path));
    let same = |a: &fs::Metadata, b: &fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    matches!((opened, named), (Ok(opened), Ok(named)) if same(&opened, &named))
}

/// Makes the record, and makes sure that it is ours.
fn make(record: &Path, now: i64) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(record)?;
    let text = format!("{}:{now}\n", process::id());
    let written = file.write_all(text.as_bytes());
    if let Err(cause) = written {
        let _ = fs::remove_file(record);
        return Err(cause);
    }
    match read(record) {
        Some((read, _)) if read == text => Ok(()),
        _ => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

/// Takes away a record that nobody holds, if it looks so twice. `suspect` is the first look.
fn clear_stale(record: &Path, now: i64, suspect: &mut Option<String>) -> Result<()> {
    let Some((text, age)) = read(record).map(|(text, modified)| (text, now - modified)) else {
        *suspect = None;
        return Ok(());
    };
    let is_stale = match pid_of(&text) {
        // We hold the file's own lock, so a record of ours is of an earlier process with our id.
        Some(pid) => pid == process::id() || !is_alive(pid),
        None => age > RIPE,
    };
    if !is_stale {
        *suspect = None;
        return Ok(());
    }
    if suspect.as_ref() != Some(&text) {
        *suspect = Some(text);
        return Ok(());
    }
    *suspect = None;
    // Renamed first: a record that another taker has made meanwhile is put back.
    let aside = record.with_extension(format!("lock.session-tree.{}.tmp", process::id()));
    if fs::rename(record, &aside).is_err() {
        return Ok(());
    }
    if read(&aside).is_some_and(|(taken, _)| taken != text) {
        let _ = fs::hard_link(&aside, record);
    }
    fs::remove_file(&aside).map_err(Error::io("cannot clear a stale lock"))
}

/// Gives a record's text and its time in milliseconds.
fn read(record: &Path) -> Option<(String, i64)> {
    // Opening a pipe would wait for somebody at its other end.
    fs::symlink_metadata(record).ok().filter(fs::Metadata::is_file)?;
    let file = File::open(record).ok()?;
    let modified = file.metadata().ok()?;
    let modified = modified.mtime() * 1000 + modified.mtime_nsec() / 1_000_000;
    let mut text = Vec::new();
    file.take(RECORD).read_to_end(&mut text).ok()?;
    Some((String::from_utf8_lossy(&text).into_owned(), modified))
}

/// Gives the process that a valid record names.
fn pid_of(text: &str) -> Option<u32> {
    let (pid, time) = text.strip_suffix('\n')?.split_once(':')?;
    time.parse::<i64>().ok()?;
    pid.parse().ok().filter(|&pid| pid > 0)
}

fn holder(record: &Path) -> Option<u32> {
    read(record).and_then(|(text, _)| pid_of(&text))
}
