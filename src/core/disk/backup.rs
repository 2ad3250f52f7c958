//! A copy of a file beside it, before the file is replaced. It is never removed while it may be the only
//! copy of what the file was.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::lock::LockWait;
use super::name::{goes_by, sync_folder};
use super::rights::Rights;
use super::write::{Place, Unsynced, create};
use crate::core::error::{Error, Result};
use crate::core::read::source::{FileState, Source};

/// A copy of a file beside it, open and with a shared lock as long as a run relies on it.
#[derive(Debug)]
pub struct Backup {
    path: PathBuf,
    file: File,
    /// Whether it was there before, as a run that was killed leaves it.
    existed: bool,
}

impl Backup {
    /// Copies what was read of a file, whole or not at all, and replaces nothing: a backup that has
    /// the same bytes is taken as made.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is something else of this name; also as [`create`].
    pub fn make(place: &Place, source: &Source, path: PathBuf, wait: LockWait<'_>) -> Result<Self> {
        if Self::is_made(source, &path)? {
            return Self::hold(path, true);
        }
        let created = match create(&path, &Rights::like(source), wait, &mut |out| source.copy_to(out)) {
            // Another run may have made the same one meanwhile.
            Err(Error::Exists { .. }) if Self::is_made(source, &path)? => return Self::hold(path, true),
            created => created?,
        };
        let made = Self::hold(path, false)?;
        // The old file is about to go: a copy of it that may not be on the disk is none.
        if let Some(Unsynced::Data(cause) | Unsynced::Folder(cause)) = created.unsynced {
            made.discard(place.path());
            return Err(Error::Io { doing: "cannot sync the backup", cause });
        }
        Ok(made)
    }

    /// Opens a backup, and holds it so that no other run discards it.
    fn hold(path: PathBuf, existed: bool) -> Result<Self> {
        let file = File::open(&path).map_err(Error::io("cannot open the backup"))?;
        let is_held = !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let held = Self { path, file, existed };
        if is_held && held.is_there() { Ok(held) } else { Err(Error::Changed { line: None }) }
    }

    /// Returns its path, as the file that it is a copy of was named; where that was a link, the whole path.
    pub fn beside(&self, file: &Path) -> PathBuf {
        let is_link = fs::symlink_metadata(file).is_ok_and(|meta| meta.is_symlink());
        match self.path.file_name().filter(|_| !is_link) {
            Some(name) => file.with_file_name(name),
            None => self.path.clone(),
        }
    }

    /// Returns whether it still goes by its name.
    pub fn is_there(&self) -> bool {
        goes_by(&self.file, &self.path)
    }

    /// Returns whether there is a backup with the bytes of a file; one that cannot be synced is
    /// an error.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is something else of this name, [`Error::Io`].
    pub fn is_made(source: &Source, path: &Path) -> Result<bool> {
        let exists = || Error::Exists { path: path.to_owned() };
        match fs::symlink_metadata(path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(cause) => return Err(Error::Io { doing: "cannot look at the backup", cause }),
            Ok(meta) if !meta.is_file() || meta.len() != source.len() => return Err(exists()),
            // A hard link to the file is not a copy of it.
            Ok(meta) if source.state().is_some_and(|state| state.is_same_file(&FileState::of(&meta))) => {
                return Err(exists());
            }
            Ok(_) => {}
        }
        let backup = Source::open(path)?;
        if backup.len() != source.len() || !source.starts_with(&backup)? {
            return Err(exists());
        }
        // A run that was killed may not have come to this.
        let synced = backup.sync().and_then(|()| sync_folder(path));
        synced.map_err(Error::io("cannot sync the backup")).map(|()| true)
    }

    /// Removes a copy that this run made and nobody needs: the file still starts with all its bytes, and
    /// no other run that is about to replace the file took the copy as made.
    /// Returns whether a copy that this run made stays.
    pub fn discard(self, file: &Path) -> bool {
        let is_needless = || Source::open(file)?.starts_with(&Source::open(&self.path)?);
        if self.existed {
            return false;
        }
        let is_wanted = || matches!(self.file.try_lock(), Err(TryLockError::WouldBlock));
        !(is_needless().unwrap_or(false) && !is_wanted() && self.is_there() && fs::remove_file(&self.path).is_ok())
    }
}

impl Drop for Backup {
    fn drop(&mut self) {
        // A child that was just started may still have the file open, and would hold the lock with it.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::Backup;
    use crate::core::read::source::Source;

    #[test]
    fn a_backup_is_a_copy_with_the_same_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for (name, text) in [("s", "one\n"), ("copy", "one\n"), ("other", "two\n"), ("longer", "one\ntwo\n")] {
            fs::write(at(name), text).unwrap();
        }
        fs::hard_link(at("s"), at("same")).unwrap();
        symlink("copy", at("link")).unwrap();
        let source = Source::open(&at("s")).unwrap();
        let made = |name: &str| Backup::is_made(&source, &at(name)).map_err(|error| error.kind().name());
        assert_eq!((made("copy"), made("gone")), (Ok(true), Ok(false)));
        for name in ["other", "longer", "same", "link"] {
            assert_eq!(made(name), Err("exists"), "{name}");
        }
    }

    #[test]
    fn a_backup_is_named_as_its_file_was() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["s.jsonl", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        let path = folder.path().join("s.jsonl.bak");
        let backup = Backup { path: path.clone(), file: File::open(&file).unwrap(), existed: false };
        // Another spelling of the same folder.
        let spelled = folder.path().join("./s.jsonl");
        assert_eq!(backup.beside(&spelled).as_os_str(), spelled.with_file_name("s.jsonl.bak").as_os_str());
        assert_eq!(backup.beside(&link), path);
        assert_eq!(backup.beside(Path::new("/gone/x")), Path::new("/gone/s.jsonl.bak"));
    }
}
