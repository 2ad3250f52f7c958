//! Temporary files beside the file that they are for, under names that say whose they are, so that those
//! of dead processes can be cleared.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::holder;
use super::lock::{LockWait, is_alive};
use super::name::{beside, folder_of};
use super::rights::Rights;
use crate::core::error::{Error, Result};

/// A file under a hidden name, removed when dropped unless it was kept.
pub(super) struct Temporary {
    pub(super) file: File,
    pub(super) path: PathBuf,
    kept: std::cell::Cell<bool>,
}

impl Temporary {
    /// Makes and fills one in the folder of `path`; clears those that dead processes left there.
    pub(super) fn beside(
        path: &Path,
        rights: &Rights,
        wait: LockWait<'_>,
        fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
    ) -> Result<Self> {
        let cannot = |cause| Error::writing("cannot write a temporary file", cause);
        clear_left_over(path);
        let hidden = beside(path, &format!("session-tree.{}.tmp", process::id()));
        if !ours().insert(hidden.clone()) {
            // Another thread of ours is writing the same file, under another of its names.
            return Err(Error::Changed { line: None });
        }
        // One of this name that is not ours is of an earlier process with our id, or of one with
        // our id in another container.
        remove_if_left(&hidden);
        let file = OpenOptions::new().read(true).append(true).create_new(true).mode(rights.first_mode()).open(&hidden);
        let file = file.map_err(|cause| {
            ours().remove(&hidden);
            cannot(cause)
        })?;
        // Held as long as the file is open: who finds it so knows that it is not left over.
        let _ = file.try_lock();
        let temporary = Self { file, path: hidden, kept: false.into() };
        let mut out = BufWriter::with_capacity(256 * 1024, Stoppable { file: &temporary.file, wait });
        let filled = fill(&mut out).and_then(|()| out.flush().map_err(cannot));
        filled.map_err(|error| wait.check().err().unwrap_or(error))?;
        drop(out);
        Ok(temporary)
    }

    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|cause| Error::writing("cannot sync a temporary file", cause))
    }

    /// Makes sure that its name still leads to it.
    pub(super) fn check(&self) -> Result<()> {
        let id = |meta: fs::Metadata| (meta.dev(), meta.ino());
        match (self.file.metadata().map(id), fs::symlink_metadata(&self.path).map(id)) {
            (Ok(file), Ok(named)) if file == named => Ok(()),
            _ => Err(Error::Changed { line: None }),
        }
    }

    pub(super) fn keep(&self) {
        self.kept.set(true);
    }
}

/// Returns the temporary files of this process, whose threads share one name for each file.
fn ours() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static OURS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that takes nothing more once a signal asked to stop.
struct Stoppable<'f> {
    file: &'f File,
    wait: LockWait<'f>,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not `Interrupted`: that would be tried again.
        self.wait.check().map_err(|_| io::Error::other("interrupted"))?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept.get() {
            let _ = fs::remove_file(&self.path);
        }
        // A child that was just started may still have the file open, and would hold the lock with it.
        let _ = self.file.unlock();
        ours().remove(&self.path);
    }
}

/// Removes the temporary files that dead processes left in the folder of a file; once is enough.
pub fn clear_left_over(path: &Path) {
    static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = folder_of(path);
    if !CLEARED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let pid = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
        let pid = pid.and_then(|name| name.rsplit_once(".session-tree."));
        if let Some(pid) = pid.and_then(|(_, pid)| pid.parse::<u32>().ok())
            && !(is_alive(pid) && holder::runs_this(pid))
        {
            remove_if_left(&entry.path());
        }
    }
}

/// Removes a temporary file that nobody writes any more.
fn remove_if_left(path: &Path) {
    let is_file = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
    if is_file && File::open(path).is_ok_and(|file| file.try_lock().is_ok()) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process;
    use std::time::Duration;

    use super::{LockWait, Temporary, clear_left_over};
    use crate::core::disk::rights::Rights;
    use crate::core::error::Error;

    const WAIT: LockWait<'_> = LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &|| None };

    fn names(folder: &std::path::Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_temporary_file_goes_unless_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let make = || {
            Temporary::beside(&path, &Rights::usual(), WAIT, &mut |out| out.write_all(b"new").map_err(Error::io("x")))
        };
        let temporary = make().unwrap();
        assert!(temporary.check().is_ok() && make().is_err());
        assert_eq!(fs::read_to_string(&temporary.path).unwrap(), "new");
        // Another file under its name is not it.
        fs::remove_file(&temporary.path).unwrap();
        fs::write(&temporary.path, "other").unwrap();
        assert!(temporary.check().is_err());
        drop(temporary);
        assert_eq!(names(folder.path()), Vec::<String>::new());
        let temporary = make().unwrap();
        temporary.keep();
        drop(temporary);
        assert_eq!(names(folder.path()).len(), 1);
    }

    #[test]
    fn files_that_dead_processes_left_are_cleared() {
        let mut child = process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let others = [format!(".s.session-tree.{}.tmp", process::id()), "s.tmp".into(), ".s.session-tree.x.tmp".into()];
        for name in others.iter().chain([&format!(".s.session-tree.{}.tmp", child.id())]) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        clear_left_over(&folder.path().join("s"));
        let (mut left, mut expected) = (names(folder.path()), others.to_vec());
        left.sort();
        expected.sort();
        assert_eq!(left, expected);
    }
}
