//! The only code that changes files: appends, whole-file changes, and new files (help writing,
//! "Guarantees"). Whatever fails or is interrupted, what was there before stays.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::holder::{self, Watch};
use super::late::{Late, Replaced};
use super::lock::{Lock, LockWait};
use super::name::{goes_by, rename_new, sync_folder};
use super::rights::Rights;
use super::temporary::{Temporary, clear_left_over};
use crate::core::error::{Error, Result};
use crate::core::read::line::wants_value;
use crate::core::read::source::{FileState, is_named_gzip};

/// The most bytes that are read under the lock to see what others added.
const ADDED: u64 = 1024 * 1024;
/// How long an unfinished last line is given to be finished.
const GRACE: Duration = Duration::from_secs(1);
/// How long a turn of waiting for it is.
const TURN: Duration = Duration::from_millis(50);

/// How long to wait for locks, and whether to write to a file in use.
#[derive(Clone, Copy)]
pub struct WriteOptions<'a> {
    /// How long to wait for a lock.
    pub wait: LockWait<'a>,
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

    /// Returns the path with all links followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for a writer that may be in the middle of a line, and returns whether it wrote.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Io`].
    pub fn changes_soon(&self, options: WriteOptions<'_>) -> Result<bool> {
        let mut waited = Duration::ZERO;
        while waited < GRACE {
            options.wait.check()?;
            thread::sleep(TURN);
            waited += TURN;
            let now = fs::metadata(&self.path).map_err(Error::io("cannot look at the file"))?;
            if FileState::of(&now) != self.stat {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn refuse_if_held(&self, options: WriteOptions<'_>, replaces: bool) -> Result<()> {
        if options.force {
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
    /// The first bytes of the file, with its header, and those before the offset: as many as tell one
    /// session from another.
    pub ends: [Vec<u8>; 2],
}

impl ReadTo {
    /// Returns whether this still stands in a file.
    ///
    /// # Errors
    /// [`Error::Io`], also if the file is shorter.
    pub(crate) fn is_there(&self, file: &File) -> Result<bool> {
        let [front, before] = &self.ends;
        for (expected, at) in [(front, 0), (before, self.at.saturating_sub(before.len() as u64))] {
            let mut found = vec![0; expected.len()];
            file.read_exact_at(&mut found, at).map_err(Error::io("cannot read"))?;
            if found != *expected {
                return Ok(false);
            }
        }
        Ok(true)
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
        closed_unfinished_line: bool,
        /// What else there is to say.
        effects: SideEffects,
    },
    /// The file is not a longer form of what was read: read it again.
    Replaced,
}

/// Appends lines. `lines` makes them under the lock, from what others have added meanwhile; it
/// may be called again after waiting; if there are none, nothing is written. What is checked, written and synced
/// is one open file.
///
/// # Errors
/// [`Error::Locked`], [`Error::InUse`], [`Error::ReadOnly`], [`Error::Io`], and what `lines` says.
/// After an error none of the lines is in the file.
pub fn append(
    place: &Place,
    read: &ReadTo,
    options: WriteOptions<'_>,
    is_whole: &dyn Fn(&[u8]) -> bool,
    lines: &mut dyn FnMut(&Added<'_>) -> Result<Vec<u8>>,
) -> Result<Appended> {
    place.refuse_if_held(options, false)?;
    clear_left_over(&place.path);
    let mut waited = Duration::ZERO;
    loop {
        let lock = Lock::take(&place.path, options.wait)?;
        let now = FileState::of(&lock.file().metadata().map_err(Error::io("cannot look at the file"))?);
        let is_longer = now.is_same_file(&place.stat) && now.len >= place.stat.len;
        if !is_longer || now.len - read.at.min(now.len) > ADDED || !read.is_there(lock.file())? {
            return Ok(Appended::Replaced);
        }
        let mut added = vec![0; usize::try_from(now.len - read.at).unwrap_or(usize::MAX)];
        lock.file().read_exact_at(&mut added, read.at).map_err(Error::io("cannot read"))?;
        let tail = added.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let is_unfinished = tail < added.len() && !is_whole(&added[tail..]);
        if is_unfinished && waited < GRACE {
            drop(lock);
            options.wait.check()?;
            thread::sleep(TURN);
            waited += TURN;
            continue;
        }
        let known = if is_unfinished { &added[..tail] } else { &added[..] };
        let mut bytes = if tail < added.len() { b"\n".to_vec() } else { Vec::new() };
        if is_unfinished && wants_value(&added[tail..]) {
            bytes.extend_from_slice(b"}\n");
        }
        let lines = lines(&Added { bytes: known })?;
        if lines.is_empty() {
            return Ok(Appended::Done { closed_unfinished_line: false, effects: SideEffects::default() });
        }
        bytes.extend_from_slice(&lines);
        if !lock.holds(&place.path) {
            return Ok(Appended::Replaced);
        }
        push(lock.file(), &bytes, now.len)?;
        // The sync needs no lock, and takes longest.
        let unsynced = lock.unlock().sync_all().err().map(Unsynced::Data);
        let effects = SideEffects { unsynced, ..SideEffects::default() };
        return Ok(Appended::Done { closed_unfinished_line: is_unfinished, effects });
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

/// What a write did, or could not do, beside what was asked for. The change is made.
#[derive(Debug, Default)]
pub struct SideEffects {
    /// The file had other names (hard links), which go on naming the old one.
    pub broke_links: bool,
    /// The group or access list of the old file could not be kept: their rights are dropped.
    pub dropped_rights: bool,
    /// What became of that which somebody without a lock wrote to the file while it was replaced.
    pub late: Late,
    /// What is not on the disk.
    pub unsynced: Option<Unsynced>,
}

/// Replaces a file by what `fill` writes, all at once. `keep_time` keeps the modification time;
/// `may_replace` is asked under the lock, last of all.
///
/// # Errors
/// [`Error::Changed`] if it is no longer what was read or may not be replaced, [`Error::Locked`], [`Error::InUse`],
/// [`Error::ReadOnly`], [`Error::Io`], and what `fill` says. After an error the file is what it was.
pub fn replace(
    place: &Place,
    options: WriteOptions<'_>,
    keep_time: bool,
    may_replace: &dyn Fn() -> bool,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<SideEffects> {
    place.refuse_if_held(options, true)?;
    // A folder that may be written to is no leave to replace a file that may not: this is found out
    // again under the lock, but before the work is done.
    let may_write = OpenOptions::new().append(true).open(&place.path);
    let may_write = may_write.map_err(|cause| Error::writing("cannot open it for writing", cause))?;
    let old = may_write.metadata().map_err(Error::io("cannot look at the file"))?;
    let rights = Rights::of(&may_write).map_err(Error::io("cannot look at the file"))?;
    drop(may_write);
    let temporary = Temporary::beside(&place.path, &rights, options.wait, fill)?;
    let cannot = |cause| Error::writing("cannot keep permissions and time", cause);
    let mut dropped_rights = !rights.give(&temporary.file).map_err(cannot)?;
    if keep_time {
        old.modified().and_then(|time| temporary.file.set_modified(time)).map_err(cannot)?;
    }
    temporary.sync()?;
    let lock = Lock::take(&place.path, options.wait)?;
    let watch = Watch::new(&place.path);
    // Who opened it while its new form was written would go on in a file that nobody finds.
    if let Some(holder) = holder::glance(lock.file()).filter(|_| !options.force) {
        return Err(Error::InUse { holder, replaces: true });
    }
    // Somebody may have taken rights away while the new form was written.
    let now = Rights::of(lock.file()).map_err(Error::io("cannot look at the file"))?;
    if now != rights {
        dropped_rights = !now.give(&temporary.file).map_err(cannot)?;
    }
    temporary.check()?;
    // Last of all: what comes after this look is only noticed when it is done.
    let now = FileState::of(&lock.file().metadata().map_err(Error::io("cannot look at the file"))?);
    if now != place.stat || !lock.holds(&place.path) || !may_replace() {
        return Err(Error::Changed { line: None });
    }
    match fs::rename(&temporary.path, &place.path) {
        // A network file system may fail to say that it is done.
        Err(cause) if !goes_by(&temporary.file, &place.path) => {
            return Err(Error::writing("cannot replace the file", cause));
        }
        _ => temporary.keep(),
    }
    // What was the temporary file's own lock is the session's now, and none is held over a sync.
    let _ = temporary.file.unlock();
    let file = lock.unlock();
    let replaced = Replaced { old: &file, new: &temporary.file, path: &place.path, state: place.stat };
    // Whoever was let in by force, or came after the look, may still write to the old file.
    let is_watched = options.force || watch.has_seen_somebody() || replaced.is_changed();
    let late = if is_watched { replaced.keep(options.wait, fill) } else { Late::default() };
    let unsynced = sync_folder(&place.path).err().map(Unsynced::Folder);
    Ok(SideEffects { broke_links: old.nlink() > 1, dropped_rights, late, unsynced })
}

/// Makes a new file of what `fill` writes, whole or not at all, and replaces nothing.
///
/// # Errors
/// [`Error::Exists`], [`Error::ReadOnly`], [`Error::Io`], [`Error::Usage`] for a name that ends in `.gz`, and what
/// `fill` says. After an error there is no new file.
pub fn create(
    path: &Path,
    rights: &Rights,
    wait: LockWait<'_>,
    fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
) -> Result<SideEffects> {
    let exists = || Error::Exists { path: path.to_owned() };
    if fs::symlink_metadata(path).is_ok() {
        return Err(exists());
    }
    if is_named_gzip(path) {
        return Err(Error::usage("compressed files are read, not written", "leave out `.gz`, and `gzip` the new file"));
    }
    let temporary = Temporary::beside(path, rights, wait, fill)?;
    let given = rights.give(&temporary.file);
    let dropped_rights = !given.map_err(|cause| Error::writing("cannot set permissions", cause))?;
    temporary.sync()?;
    temporary.check()?;
    rename_new(&temporary.path, path).map_err(|cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => Error::writing("cannot put the new file in place", cause),
    })?;
    temporary.keep();
    let unsynced = sync_folder(path).err().map(Unsynced::Folder);
    Ok(SideEffects { dropped_rights, unsynced, ..SideEffects::default() })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;
    use std::time::Duration;

    use super::{Appended, LockWait, Place, ReadTo, WriteOptions, append, replace};
    use crate::core::error::Error;
    use crate::core::read::source::FileState;

    const WAIT: LockWait<'_> = LockWait { timeout: Duration::from_secs(9), now: &|| 0, stop: &|| None };
    const OPTIONS: WriteOptions<'_> = WriteOptions { wait: WAIT, force: false };

    fn place(path: &Path, text: &str) -> Place {
        fs::write(path, text).unwrap();
        Place::new(path, FileState::of(&fs::metadata(path).unwrap())).unwrap()
    }

    fn add(path: &Path, text: &str) {
        OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Appends `new` to what was read up to the end of the first line; `is_whole` sees what is unfinished after it.
    /// Returns whether that was closed.
    fn append_to(place: &Place, is_whole: &dyn Fn(&[u8]) -> bool) -> Option<bool> {
        let read = ReadTo { at: 4, ends: [b"one".to_vec(), b"one\n".to_vec()] };
        match append(place, &read, OPTIONS, is_whole, &mut |_| Ok(b"new\n".to_vec())).unwrap() {
            Appended::Done { closed_unfinished_line, effects } => {
                assert!(effects.unsynced.is_none());
                Some(closed_unfinished_line)
            }
            Appended::Replaced => None,
        }
    }

    fn ends_in_brace(line: &[u8]) -> bool {
        line.ends_with(b"}")
    }

    #[test]
    fn a_writer_in_the_middle_of_a_line_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let place = place(&path, "cut");
        add(&path, " off");
        assert!(place.changes_soon(OPTIONS).unwrap());
    }

    #[test]
    fn lines_follow_what_others_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        for (added, expected, closed) in [
            ("", "one\nnew\n", Some(false)),
            ("two\n", "one\ntwo\nnew\n", Some(false)),
            // A whole line without its end, and one that nobody finishes.
            ("{}", "one\n{}\nnew\n", Some(false)),
            ("{\"a\":1,\"b", "one\n{\"a\":1,\"b\nnew\n", Some(true)),
            ("{\"a\":", "one\n{\"a\":\n}\nnew\n", Some(true)),
        ] {
            let place = place(&path, "one\n");
            add(&path, added);
            assert_eq!(append_to(&place, &ends_in_brace), closed, "{added}");
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        }
        // Another file, or a shorter one.
        let place = place(&path, "one\n");
        fs::write(&path, "on").unwrap();
        assert_eq!(append_to(&place, &ends_in_brace), None);
        fs::write(&path, "two\n").unwrap();
        assert_eq!(append_to(&place, &ends_in_brace), None);
    }

    #[test]
    fn a_line_that_is_being_written_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let place = place(&path, "one\n{");
        let looks = Cell::new(0);
        let finish = |_: &[u8]| {
            looks.set(looks.get() + 1);
            add(&path, "}\n");
            false
        };
        assert_eq!((append_to(&place, &finish), looks.get()), (Some(false), 1));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n{}\nnew\n");
    }

    #[test]
    fn a_file_is_replaced_if_it_is_what_was_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let mut fill = |out: &mut dyn Write| out.write_all(b"ONE\n").map_err(Error::io("cannot write"));
        let first = place(&path, "one\n");
        assert!(matches!(replace(&first, OPTIONS, true, &|| false, &mut fill), Err(Error::Changed { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
        // What comes after the last look follows in the new file.
        let late = || {
            add(&path, "late\n");
            true
        };
        let effects = replace(&first, OPTIONS, true, &late, &mut fill).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), effects.late.carried), ("ONE\nlate\n", 5));
        assert!(matches!(replace(&first, OPTIONS, true, &|| true, &mut fill), Err(Error::Changed { .. })));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
