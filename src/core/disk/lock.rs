//! The lock on a session file, shared with other programs (help writing, "Locks").
//!
//! First an exclusive `flock` on the file itself, which leaves nothing behind; then a record
//! `.NAME.lock` beside it, which agents respect too. Neither is held for longer than a short
//! append or a rename takes. What is checked and written under the lock goes through its one
//! descriptor, so that no other file can come in between.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use rustix::process::Pid;

use super::name::{beside, goes_by, rename_new};
use crate::core::error::{Error, Result};

/// How long a turn of waiting is.
const TURN: Duration = Duration::from_millis(10);
/// How old a record that is not valid must be before it is taken over, in milliseconds.
const RIPE: i64 = 2000;
/// The longest record that is read, in bytes.
const RECORD: u64 = 256;

/// How long to wait for a lock, and what that needs: the clock, and the signal that ends it.
#[derive(Clone, Copy)]
pub struct LockWait<'a> {
    /// How long to wait for another holder.
    pub timeout: Duration,
    /// Returns the time, in milliseconds since 1970.
    pub now: &'a (dyn Fn() -> i64 + Sync),
    /// Returns the signal that asked to stop, if one did.
    pub stop: &'a (dyn Fn() -> Option<i32> + Sync),
}

impl LockWait<'_> {
    /// Ends what is being done if a signal asked to.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check(&self) -> Result<()> {
        (self.stop)().map_or(Ok(()), |signal| Err(Error::Interrupted { signal }))
    }
}

/// A held lock; released when dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    record: Record,
}

impl Lock {
    /// Locks a file, whose links have been followed, and opens it for reading and appending.
    ///
    /// # Errors
    /// [`Error::Locked`] if another program holds it for too long, [`Error::ReadOnly`] if the
    /// file may not be written to or the record cannot be made, [`Error::Io`].
    pub fn take(path: &Path, wait: LockWait<'_>) -> Result<Self> {
        let record = beside(path, "lock");
        let mut waited = Duration::ZERO;
        let mut suspect = Suspect::default();
        loop {
            if let Some(file) = flock(path)? {
                let cannot = |cause| Error::writing("cannot make the lock file", cause);
                match Record::make(&record, (wait.now)()).map_err(cannot)? {
                    Some(record) => {
                        let lock = Self { file, record };
                        // Whoever knows only the record may have replaced the file until now.
                        if lock.holds(path) {
                            return Ok(lock);
                        }
                    }
                    None => suspect.clear(&record, (wait.now)(), waited)?,
                }
            }
            wait.check()?;
            if waited >= wait.timeout {
                return Err(Error::Locked { holder: holder(&record), record });
            }
            thread::sleep(TURN);
            waited += TURN;
        }
    }

    /// Returns the locked file, open for reading and appending.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether the locked file still goes by a name.
    pub fn holds(&self, path: &Path) -> bool {
        goes_by(&self.file, path)
    }

    /// Releases the lock and returns the file, still open.
    pub fn unlock(self) -> File {
        let Self { file, record } = self;
        drop(record);
        // If it cannot be unlocked, it is when it is closed.
        let _ = file.unlock();
        file
    }
}

/// Returns whether a process exists, also one that is not ours.
pub(crate) fn is_alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// Takes the file's own lock, if it is free and the file still goes by its name.
fn flock(path: &Path) -> Result<Option<File>> {
    let file = OpenOptions::new().read(true).append(true).open(path);
    let file = file.map_err(|cause| Error::writing("cannot open it for writing", cause))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(cause)) => match cause.kind() {
            io::ErrorKind::Unsupported => {}
            io::ErrorKind::Interrupted => return Ok(None),
            _ => return Err(Error::Io { doing: "cannot lock", cause }),
        },
    }
    Ok(goes_by(&file, path).then_some(file))
}

/// A record beside the file that is ours; removed when dropped. It is kept open, so that reading
/// it back and removing it need no further descriptor.
#[derive(Debug)]
struct Record {
    file: File,
    path: PathBuf,
}

impl Record {
    /// Makes the record and reads it back; returns `None` if there is one of another holder.
    fn make(path: &Path, now: i64) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path);
        let file = match file {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            file => file?,
        };
        let mut record = Self { file, path: path.to_owned() };
        let text = format!("{}:{now}\n", process::id());
        record.file.write_all(text.as_bytes())?;
        let is_ours = record.text()? == text && goes_by(&record.file, path);
        Ok(is_ours.then_some(record))
    }

    fn text(&self) -> io::Result<String> {
        let mut text = vec![0; usize::try_from(self.file.metadata()?.len().min(RECORD)).unwrap_or(0)];
        self.file.read_exact_at(&mut text, 0)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        // If somebody took it over, it is theirs to remove. What cannot be read is still ours.
        let is_theirs = self.text().is_ok_and(|text| pid_of(&text).is_some_and(|pid| pid != process::id()));
        if !is_theirs && goes_by(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A record that seems to be nobody's any more: what it said when it was first looked at, and how
/// long had been waited by then.
#[derive(Debug, Default)]
struct Suspect(Option<(String, Duration)>);

impl Suspect {
    /// Takes away a record that nobody holds, if it looks so twice.
    fn clear(&mut self, record: &Path, now: i64, waited: Duration) -> Result<()> {
        let cannot = |doing| move |cause| Error::Io { doing, cause };
        let Some((text, modified)) = read(record).map_err(cannot("cannot read the lock file"))? else {
            self.0 = None;
            return Ok(());
        };
        let first = self.0.as_ref().filter(|(first, _)| *first == text).map(|(_, since)| *since);
        let age = now.saturating_sub(modified);
        let is_stale = match pid_of(&text) {
            // We hold the file's own lock, so a record of ours is of an earlier process with our id.
            Some(pid) => pid == process::id() || !is_alive(pid),
            None => age > RIPE,
        };
        // A time in the future says nothing of its age: that is waited for.
        let seen = first.map_or(0, |since| i64::try_from((waited - since).as_millis()).unwrap_or(i64::MAX));
        let may_become = is_stale || age < 0 && pid_of(&text).is_none();
        if !may_become || first.is_none() || !is_stale && seen <= RIPE {
            self.0 = may_become.then(|| (text, first.unwrap_or(waited)));
            return Ok(());
        }
        self.0 = None;
        // Renamed first: a record that another taker has made meanwhile is put back.
        let aside = record.with_file_name(aside_name(record));
        if fs::rename(record, &aside).is_err() {
            return Ok(());
        }
        if matches!(read(&aside), Ok(Some((taken, _))) if taken == text) {
            return fs::remove_file(&aside).map_err(cannot("cannot clear a stale lock"));
        }
        match rename_new(&aside, record) {
            // A third taker has the name by now: of two records one has to go.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(&aside),
            // There are no links here; a record that comes in this moment is less than one that is held.
            Err(_) => fs::rename(&aside, record),
            Ok(()) => Ok(()),
        }
        .map_err(cannot("cannot put back a lock"))
    }
}

/// Returns the name of a record that is being taken away; it is cleared like a temporary file.
fn aside_name(record: &Path) -> PathBuf {
    let hidden = beside(record, &format!("session-tree.{}.tmp", process::id()));
    PathBuf::from(hidden.file_name().unwrap_or_default())
}

/// Returns a record's text and its time in milliseconds; `None` if there is none.
fn read(record: &Path) -> io::Result<Option<(String, i64)>> {
    let is_there = |cause: io::Error| if cause.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(cause) };
    // Opening a pipe would wait for somebody at its other end.
    match fs::symlink_metadata(record) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Ok(None),
        Err(cause) => return is_there(cause),
    }
    let file = match File::open(record) {
        Ok(file) => file,
        // A record of another user may be unreadable: it is somebody's.
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        Err(cause) => return is_there(cause),
    };
    let modified = file.metadata()?;
    let modified = modified.mtime() * 1000 + modified.mtime_nsec() / 1_000_000;
    let mut text = Vec::new();
    file.take(RECORD).read_to_end(&mut text)?;
    Ok(Some((String::from_utf8_lossy(&text).into_owned(), modified)))
}

/// Returns the process that a valid record names.
fn pid_of(text: &str) -> Option<u32> {
    let (pid, time) = text.strip_suffix('\n')?.split_once(':')?;
    time.parse::<i64>().ok()?;
    pid.parse().ok().filter(|&pid| pid > 0)
}

/// Returns the process that holds a lock, if its record can be read.
fn holder(record: &Path) -> Option<u32> {
    read(record).ok().flatten().and_then(|(text, _)| pid_of(&text))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process;
    use std::time::Duration;

    use super::{Lock, LockWait, RIPE, Suspect, aside_name, pid_of, read};
    use crate::core::disk::name::beside;
    use crate::core::error::Error;

    const WAIT: LockWait<'_> = LockWait { timeout: Duration::from_millis(30), now: &|| 1_000, stop: &|| None };

    #[test]
    fn a_lock_keeps_others_out_until_it_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "").unwrap();
        let record = beside(&path, "lock");
        let lock = Lock::take(&path, WAIT).unwrap();
        assert_eq!(fs::read_to_string(&record).unwrap(), format!("{}:1000\n", process::id()));
        let Err(Error::Locked { holder, .. }) = Lock::take(&path, WAIT) else { panic!("it was taken twice") };
        assert_eq!(holder, Some(process::id()));
        // A child that another test starts may hold the file open for a moment, and with it the lock.
        lock.unlock();
        assert!(!record.exists() && Lock::take(&path, WAIT).is_ok());
    }

    #[test]
    fn a_record_is_cleared_when_it_was_nobodys_at_two_looks() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join(".s.lock");
        // What the record says, how old it is in milliseconds, and whether it is cleared.
        let dead = {
            let mut child = process::Command::new("true").spawn().unwrap();
            child.wait().unwrap();
            child.id()
        };
        for (text, age, expected) in [
            (format!("{dead}:5\n"), 0, true),
            (format!("{}:5\n", process::id()), 0, true),
            // The process that started the tests.
            (format!("{}:5\n", std::os::unix::process::parent_id()), 100_000, false),
            ("cut".to_owned(), RIPE + 1, true),
            ("cut".to_owned(), RIPE, false),
        ] {
            fs::write(&record, &text).unwrap();
            let (_, modified) = read(&record).unwrap().unwrap();
            let mut suspect = Suspect::default();
            suspect.clear(&record, modified + age, Duration::ZERO).unwrap();
            assert!(record.exists(), "{text} at the first look");
            suspect.clear(&record, modified + age, Duration::from_millis(10)).unwrap();
            assert_eq!(!record.exists(), expected, "{text} {age}");
            let _ = fs::remove_file(&record);
        }
        // Another record at the second look is looked at anew.
        let mut suspect = Suspect::default();
        for pid in [format!("{dead}:5\n"), format!("{dead}:6\n")] {
            fs::write(&record, pid).unwrap();
            suspect.clear(&record, 0, Duration::ZERO).unwrap();
        }
        assert!(record.exists());
    }

    #[test]
    fn a_record_names_a_process_and_a_time() {
        for (text, expected) in [
            ("12:1700000000000\n", Some(12)),
            ("12:-1\n", Some(12)),
            ("12:1", None),
            ("0:1\n", None),
            ("-1:1\n", None),
            ("12:x\n", None),
            ("x:1\n", None),
            ("12\n", None),
            ("", None),
        ] {
            assert_eq!(pid_of(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_a_file_is_a_record() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("gone")).unwrap(), None);
        assert_eq!(read(folder.path()).unwrap(), None);
        let record = folder.path().join("record");
        fs::write(&record, "x".repeat(300)).unwrap();
        assert_eq!(read(&record).unwrap().map(|(text, _)| text.len()), Some(256));
    }

    #[test]
    fn a_record_that_is_taken_away_is_named_like_a_temporary_file() {
        let name = aside_name(Path::new("/f/.s.lock"));
        let name = name.to_str().unwrap();
        assert!(name.starts_with('.') && name.ends_with(&format!(".session-tree.{}.tmp", process::id())), "{name}");
    }
}
