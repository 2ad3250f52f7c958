//! The only code that changes files: appends, whole-file changes, and new files (semantics:
//! "Writing"). Whatever fails or is interrupted, what was there before stays.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{self as unix, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags};

use super::holder;
use super::lock::{Lock, Patience, beside, goes_by, is_alive};
use crate::core::error::{Error, Result};
use crate::core::read::source::{FileState, Source};

/// The most bytes that are read under the lock to see what others added.
const ADDED: u64 = 1024 * 1024;
/// How long an unfinished last line is given to be finished.
const GRACE: Duration = Duration::from_secs(1);
/// How long a turn of waiting for it is.
const TURN: Duration = Duration::from_millis(50);

/// How writing behaves towards others.
#[derive(Clone, Copy)]
pub struct Manners<'a> {
    /// How long to wait for a lock.
    pub patience: Patience<'a>,
    /// Whether to write although another process holds the file open.
    pub force: bool,
}

/// A file to change: where it is, and what it was when it was read.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    stat: FileState,
}

impl Place {
    /// Follows links: the target is changed, not the link.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such file any more.
    pub fn new(path: &Path, stat: FileState) -> Result<Self> {
        let path = path.canonicalize().map_err(Error::io("cannot open"))?;
        Ok(Self { path, stat })
    }

    /// Gives the path with all links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives a writer that may be in the middle of a line some time; tells whether it used it.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Io`].
    pub fn changes_soon(&self, manners: Manners<'_>) -> Result<bool> {
        let mut waited = Duration::ZERO;
        while waited < GRACE {
            manners.patience.check()?;
            thread::sleep(TURN);
            waited += TURN;
            let now = fs::metadata(&self.path).map_err(Error::io("cannot look at the file"))?;
            if FileState::of(&now) != self.stat {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn refuse_if_held(&self, manners: Manners<'_>, replaces: bool) -> Result<()> {
        if manners.force {
            return Ok(());
        }
        holder::find(&self.path).map_or(Ok(()), |holder| Err(Error::InUse { holder, replaces }))
    }
}

/// How far a file has been understood: the end of its last line, or the start of a last line
/// without LF; and what stands before, by which a file that was written anew in place is told.
#[derive(Clone, Debug)]
pub struct ReadTo {
    /// The offset.
    pub at: u64,
    /// The bytes before it, as many as tell one session from another.
    pub before: Vec<u8>,
}

impl ReadTo {
    fn is_there(&self, file: &File) -> Result<bool> {
        let mut before = vec![0; self.before.len()];
        let at = self.at.saturating_sub(before.len() as u64);
        file.read_exact_at(&mut before, at).map_err(Error::io("cannot read"))?;
        Ok(before == self.before)
    }
}

/// What stands behind the part of a file that was read before.
#[derive(Debug)]
pub struct Added<'a> {
    /// Whole lines that others added, and a complete last line without LF.
    pub bytes: &'a [u8],
}

/// What the system could not bring to the disk, although the change is made.
#[derive(Debug)]
pub enum Unsynced {
    /// What was written.
    Data(io::Error),
    /// That the file is in its folder under this name; what is in it is on the disk.
    Folder(io::Error),
}

/// How an append ended.
#[derive(Debug)]
pub enum Appended {
    /// The lines are in the file.
    Done {
        /// Whether an unfinished line of somebody else was closed first.
        closed_torn_line: bool,
        /// What is not on the disk.
        unsynced: Option<Unsynced>,
    },
    /// The file is not a longer form of what was read: read it again.
    Replaced,
}

/// Appends lines. `lines` makes them under the lock, from what others have added meanwhile; it
/// may be called again after waiting. What is checked, written and synced is one open file.
///
/// # Errors
/// [`Error::Locked`], [`Error::InUse`], [`Error::ReadOnly`], [`Error::Io`], and what `lines` says.
/// After an error none of the lines is in the file.
pub fn append(
    place: &Place,
    read: &ReadTo,
    manners: Manners<'_>,
    is_whole: &dyn Fn(&[u8]) -> bool,
    lines: &mut dyn FnMut(&Added<'_>) -> Result<Vec<u8>>,
) -> Result<Appended> {
    place.refuse_if_held(manners, false)?;
    clear_left_over(&place.path);
    let mut waited = Duration::ZERO;
    loop {
        let lock = Lock::take(&place.path, manners.patience)?;
        let now = FileState::of(&lock.file().metadata().map_err(Error::io("cannot look at the file"))?);
        let is_longer = now.is_same_file(&place.stat) && now.len >= place.stat.len;
        if !is_longer || now.len - read.at.min(now.len) > ADDED || !read.is_there(lock.file())? {
            return Ok(Appended::Replaced);
        }
        let mut added = vec![0; usize::try_from(now.len - read.at).unwrap_or(usize::MAX)];
        lock.file().read_exact_at(&mut added, read.at).map_err(Error::io("cannot read"))?;
        let tail = added.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let is_torn = tail < added.len() && !is_whole(&added[tail..]);
        if is_torn && waited < GRACE {
            drop(lock);
            manners.patience.check()?;
            thread::sleep(TURN);
            waited += TURN;
            continue;
        }
        let known = if is_torn { &added[..tail] } else { &added[..] };
        let mut bytes = if tail < added.len() { b"\n".to_vec() } else { Vec::new() };
        bytes.extend_from_slice(&lines(&Added { bytes: known })?);
        if !lock.holds(&place.path) {
            return Ok(Appended::Replaced);
        }
        push(lock.file(), &bytes, now.len)?;
        // The sync needs no lock, and takes longest.
        let unsynced = lock.unlock().sync_all().err().map(Unsynced::Data);
        return Ok(Appended::Done { closed_torn_line: is_torn, unsynced });
    }
}

/// Writes bytes to the end of a file in one write, or takes back what was written of them.
fn push(mut file: &File, bytes: &[u8], end: u64) -> Result<()> {
    let written = loop {
        match file.write(bytes) {
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            written => break written,
        }
    };
    let (count, cause) = match written {
        Ok(count) if count == bytes.len() => return Ok(()),
        Ok(count) => (count as u64, io::Error::new(io::ErrorKind::StorageFull, "no space left for a whole line")),
        Err(cause) => (0, cause),
    };
    let mut cause = cause;
    if count > 0 {
        let ours_is_last = file.metadata().is_ok_and(|now| now.len() == end + count);
        if !(ours_is_last && file.set_len(end).is_ok()) {
            // Somebody wrote after our fragment: it stays, but on a line of its own.
            let _ = file.write(b"\n");
            let text =
                format!("no space left for a whole line; {count} bytes of it stay in the file, as a damaged line");
            cause = io::Error::new(io::ErrorKind::StorageFull, text);
        }
    }
    Err(Error::writing("cannot write", cause))
}

/// What became of a file that was replaced.
#[derive(Debug)]
pub struct Replaced {
    /// Whether the file had other names, which go on naming the old one.
    pub broke_links: bool,
    /// What is not on the disk.
    pub unsynced: Option<Unsynced>,
}

/// Replaces a file by what `fill` writes, all at once. `keep_time` keeps the modification time.
///
/// # Errors
/// [`Error::Changed`] if it is no longer what was read, [`Error::Locked`], [`Error::InUse`],
/// [`Error::ReadOnly`], [`Error::Io`], and what `fill` says. After an error the file is what it was.
pub fn replace(
    place: &Place,
    manners: Manners<'_>,
    keep_time: bool,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<Replaced> {
    place.refuse_if_held(manners, true)?;
    // A folder that may be written to is no leave to replace a file that may not: this is found out
    // again under the lock, but before the work is done.
    let may_write = OpenOptions::new().append(true).open(&place.path);
    may_write.map_err(|cause| Error::writing("cannot open it for writing", cause))?;
    let old = fs::metadata(&place.path).map_err(Error::io("cannot look at the file"))?;
    let temporary = Temporary::beside(&place.path, &old.permissions(), manners.patience, fill)?;
    let dress = |file: &File| -> io::Result<()> {
        // Not everybody may give a file away; its permissions matter more than its owner.
        let _ = unix::fchown(file, Some(old.uid()), Some(old.gid()));
        file.set_permissions(old.permissions())?;
        if keep_time {
            file.set_modified(old.modified()?)?;
        }
        Ok(())
    };
    dress(&temporary.file).map_err(|cause| Error::writing("cannot keep permissions and time", cause))?;
    temporary.sync()?;
    let lock = Lock::take(&place.path, manners.patience)?;
    let now = FileState::of(&lock.file().metadata().map_err(Error::io("cannot look at the file"))?);
    if now != place.stat {
        return Err(Error::Changed { line: None });
    }
    // Who opened it while its new form was written would go on in a file that nobody finds.
    if let Some(holder) = holder::glance(lock.file()).filter(|_| !manners.force) {
        return Err(Error::InUse { holder, replaces: true });
    }
    temporary.check()?;
    if !lock.holds(&place.path) {
        return Err(Error::Changed { line: None });
    }
    match fs::rename(&temporary.path, &place.path) {
        // A network file system may fail to say that it is done.
        Err(cause) if !goes_by(&temporary.file, &place.path) => {
            return Err(Error::writing("cannot replace the file", cause));
        }
        _ => temporary.keep(),
    }
    drop(lock);
    // What was the temporary file's own lock is the session's now, and none is held over a sync.
    let _ = temporary.file.unlock();
    let unsynced = sync_folder(&place.path).err().map(Unsynced::Folder);
    Ok(Replaced { broke_links: old.nlink() > 1, unsynced })
}

/// Makes a new file of what `fill` writes, whole or not at all, and replaces nothing. Returns what
/// is not on the disk.
///
/// # Errors
/// [`Error::Exists`], [`Error::ReadOnly`], [`Error::Io`], and what `fill` says. After an error there
/// is no new file.
pub fn create(
    path: &Path,
    permissions: Permissions,
    patience: Patience<'_>,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<Option<Unsynced>> {
    let exists = || Error::Exists { path: path.to_owned() };
    if fs::symlink_metadata(path).is_ok() {
        return Err(exists());
    }
    let temporary = Temporary::beside(path, &permissions, patience, fill)?;
    let dressed = temporary.file.set_permissions(permissions);
    dressed.map_err(|cause| Error::writing("cannot set permissions", cause))?;
    temporary.sync()?;
    let moved = rustix::fs::renameat_with(CWD, &temporary.path, CWD, path, RenameFlags::NOREPLACE);
    match moved.map_err(io::Error::from) {
        Ok(()) => temporary.keep(),
        Err(_) if goes_by(&temporary.file, path) => temporary.keep(),
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Err(exists()),
        // Not every file system can rename so; every one that has links can do this.
        Err(_) => match fs::hard_link(&temporary.path, path) {
            Ok(()) => {}
            Err(_) if goes_by(&temporary.file, path) => {}
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Err(exists()),
            Err(cause) => return Err(Error::writing("cannot put the new file in place", cause)),
        },
    }
    Ok(sync_folder(path).err().map(Unsynced::Folder))
}

/// A copy of a file beside it.
#[derive(Debug)]
pub struct Backup {
    path: PathBuf,
    /// Whether it was there before, as a run that was killed leaves it.
    existed: bool,
}

impl Backup {
    /// Copies what was read of a file, whole or not at all, and replaces nothing: a backup that has
    /// the same bytes is taken as made.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is something else of this name; also as [`create`].
    pub fn make(place: &Place, source: &Source, path: PathBuf, patience: Patience<'_>) -> Result<Self> {
        if Self::is_made(source, &path)? {
            return Ok(Self { path, existed: true });
        }
        let permissions = source.permissions().unwrap_or_else(|| Permissions::from_mode(0o600));
        match create(&path, permissions, patience, &mut |out| source.copy_to(out)) {
            // The old file is about to go: a copy of it that may not be on the disk is none.
            Ok(Some(Unsynced::Data(cause) | Unsynced::Folder(cause))) => {
                let made = Self { path, existed: false };
                made.discard(&place.path);
                Err(Error::Io { doing: "cannot sync the backup", cause })
            }
            Ok(None) => Ok(Self { path, existed: false }),
            Err(error) => Err(error),
        }
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

    /// Removes a copy that this run made and nobody needs: the file still starts with all its bytes.
    pub fn discard(self, file: &Path) {
        let is_needless = || Source::open(file)?.starts_with(&Source::open(&self.path)?);
        if !self.existed && is_needless().unwrap_or(false) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A file under a hidden name, removed when dropped unless it was kept.
struct Temporary {
    file: File,
    path: PathBuf,
    kept: std::cell::Cell<bool>,
}

impl Temporary {
    /// Makes and fills one in the folder of `path`; clears those that dead processes left there.
    fn beside(
        path: &Path,
        permissions: &Permissions,
        patience: Patience<'_>,
        fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
    ) -> Result<Self> {
        let cannot = |cause| Error::writing("cannot write a temporary file", cause);
        clear_left_over(path);
        let hidden = beside(path, &format!("session-tree.{}.tmp", process::id()));
        if !ours().insert(hidden.clone()) {
            // Another thread of ours is writing the same file.
            return Err(Error::Locked { holder: Some(process::id()) });
        }
        // One of this name that is not ours is of an earlier process with our id, or of one with
        // our id in another container.
        remove_if_left(&hidden);
        let mode = permissions.mode() & 0o700 | 0o600;
        let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&hidden);
        let file = file.map_err(|cause| {
            ours().remove(&hidden);
            cannot(cause)
        })?;
        // Held as long as the file is open: who finds it so knows that it is not left over.
        let _ = file.try_lock();
        let temporary = Self { file, path: hidden, kept: false.into() };
        let mut out = BufWriter::with_capacity(256 * 1024, Stoppable { file: &temporary.file, patience });
        let filled = fill(&mut out).and_then(|()| out.flush().map_err(cannot));
        filled.map_err(|error| patience.check().err().unwrap_or(error))?;
        drop(out);
        Ok(temporary)
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|cause| Error::writing("cannot sync a temporary file", cause))
    }

    /// Makes sure that its name still leads to it.
    fn check(&self) -> Result<()> {
        let id = |meta: fs::Metadata| (meta.dev(), meta.ino());
        match (self.file.metadata().map(id), fs::symlink_metadata(&self.path).map(id)) {
            (Ok(file), Ok(named)) if file == named => Ok(()),
            _ => Err(Error::Changed { line: None }),
        }
    }

    fn keep(&self) {
        self.kept.set(true);
    }
}

/// Gives the temporary files of this process, whose threads share one name for each file.
fn ours() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static OURS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that takes nothing more once a signal asked to stop.
struct Stoppable<'f> {
    file: &'f File,
    patience: Patience<'f>,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Not `Interrupted`: that would be tried again.
        self.patience.check().map_err(|_| io::Error::other("interrupted"))?;
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

fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path)) {
        // A folder that may be written to but not read cannot be synced; the change is made all the same.
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        folder => folder?.sync_all(),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
