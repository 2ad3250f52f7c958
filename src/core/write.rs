//! The only code that changes files: appends, whole-file changes, and new files (semantics:
//! "Writing"). Whatever fails or is interrupted, what was there before stays.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{self as unix, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags};

use super::error::{Error, Result};
use super::holder;
use super::lock::{Lock, Patience, beside, is_alive};
use super::source::Stat;

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
    stat: Stat,
}

impl Place {
    /// Follows links: the target is changed, not the link.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such file any more.
    pub fn new(path: &Path, stat: Stat) -> Result<Self> {
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
            if Stat::of(&now) != self.stat {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn refuse_if_held(&self, manners: Manners<'_>) -> Result<()> {
        if manners.force {
            return Ok(());
        }
        holder::find(&self.path).map_or(Ok(()), |holder| Err(Error::InUse { holder }))
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

/// How an append ended.
#[derive(Debug)]
pub enum Appended {
    /// The lines are in the file and on the disk.
    Done {
        /// Whether an unfinished line of somebody else was closed first.
        closed_torn_line: bool,
    },
    /// The file is not a longer form of what was read: read it again.
    Replaced,
}

/// Appends lines. `lines` makes them under the lock, from what others have added meanwhile; it
/// may be called again after waiting.
///
/// # Errors
/// [`Error::Locked`], [`Error::InUse`], [`Error::ReadOnly`], [`Error::Io`], and what `lines` says.
pub fn append(
    place: &Place,
    read: &ReadTo,
    manners: Manners<'_>,
    is_whole: &dyn Fn(&[u8]) -> bool,
    lines: &mut dyn FnMut(&Added<'_>) -> Result<Vec<u8>>,
) -> Result<Appended> {
    place.refuse_if_held(manners)?;
    clear_left_over(&place.path);
    let mut waited = Duration::ZERO;
    loop {
        let lock = Lock::take(&place.path, manners.patience)?;
        let now = Stat::of(&lock.file().metadata().map_err(Error::io("cannot look at the file"))?);
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
        push(&place.path, &bytes, now.len)?;
        // The sync needs no lock, and takes longest.
        let file = lock.file().try_clone().map_err(Error::io("cannot sync"))?;
        drop(lock);
        file.sync_all().map_err(|cause| Error::writing("cannot sync", cause))?;
        return Ok(Appended::Done { closed_torn_line: is_torn });
    }
}

/// Writes bytes to the end of a file in one write, or takes back what was written of them.
fn push(path: &Path, bytes: &[u8], end: u64) -> Result<()> {
    let cannot = |cause| Error::writing("cannot write", cause);
    let mut file = OpenOptions::new().append(true).open(path).map_err(cannot)?;
    let (count, cause) = match file.write(bytes) {
        Ok(count) if count == bytes.len() => return Ok(()),
        Ok(count) => (count as u64, io::Error::new(io::ErrorKind::StorageFull, "no space left for a whole line")),
        Err(cause) => (0, cause),
    };
    if count > 0 {
        let ours_is_last = file.metadata().is_ok_and(|now| now.len() == end + count);
        if !(ours_is_last && file.set_len(end).is_ok()) {
            // Somebody wrote behind our fragment: it stays, but on a line of its own.
            let _ = file.write(b"\n");
        }
    }
    Err(cannot(cause))
}

/// Replaces a file by what `fill` writes, all at once. `keep_time` keeps the modification time.
/// Tells whether the file had other names, which go on naming the old one.
///
/// # Errors
/// [`Error::Changed`] if it is no longer what was read, [`Error::Locked`], [`Error::InUse`],
/// [`Error::ReadOnly`], [`Error::Io`], and what `fill` says.
pub fn replace(
    place: &Place,
    manners: Manners<'_>,
    keep_time: bool,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<bool> {
    place.refuse_if_held(manners)?;
    // A folder that may be written to is no leave to replace a file that may not.
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
    let now = Stat::of(&lock.file().metadata().map_err(Error::io("cannot look at the file"))?);
    if now != place.stat {
        return Err(Error::Changed { line: None });
    }
    temporary.check()?;
    fs::rename(&temporary.path, &place.path).map_err(|cause| Error::writing("cannot replace the file", cause))?;
    temporary.keep();
    drop(lock);
    // What was the temporary file's own lock is the session's now, and none is held over a sync.
    let _ = temporary.file.unlock();
    sync_folder(&place.path)?;
    Ok(old.nlink() > 1)
}

/// Makes a new file of what `fill` writes, whole or not at all, and replaces nothing.
///
/// # Errors
/// [`Error::Exists`], [`Error::ReadOnly`], [`Error::Io`], and what `fill` says.
pub fn create(
    path: &Path,
    permissions: Permissions,
    patience: Patience<'_>,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<()> {
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
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Err(exists()),
        // Not every file system can rename so; every one that has links can do this.
        Err(_) => match fs::hard_link(&temporary.path, path) {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => return Err(exists()),
            Err(cause) => return Err(Error::writing("cannot put the new file in place", cause)),
        },
    }
    sync_folder(path)
}

/// Copies a file beside itself, whole or not at all, and replaces nothing: a backup.
///
/// # Errors
/// As [`create`].
pub fn copy(from: &Path, to: &Path, patience: Patience<'_>) -> Result<()> {
    let mut source = File::open(from).map_err(Error::io("cannot open"))?;
    let meta = source.metadata().map_err(Error::io("cannot look at the file"))?;
    create(to, meta.permissions(), patience, &mut |out| {
        source.seek(SeekFrom::Start(0)).map_err(Error::io("cannot read"))?;
        let mut window = vec![0; 256 * 1024];
        loop {
            match source.read(&mut window).map_err(Error::io("cannot read"))? {
                0 => return Ok(()),
                count => out.write_all(&window[..count]).map_err(|cause| Error::writing("cannot write", cause))?,
            }
        }
    })
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
        let mode = std::os::unix::fs::PermissionsExt::mode(permissions) & 0o700 | 0o600;
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
fn clear_left_over(path: &Path) {
    static CLEARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !CLEARED.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let pid = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
        let pid = pid.and_then(|name| name.rsplit_once(".session-tree."));
        if let Some(pid) = pid.and_then(|(_, pid)| pid.parse::<u32>().ok())
            && !is_alive(pid)
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

fn sync_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder that may be written to but not read cannot be synced; the change is made all the same.
    let Ok(folder) = File::open(folder) else { return Ok(()) };
    folder.sync_all().map_err(Error::io("cannot sync the folder"))
}
