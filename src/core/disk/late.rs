//! What programs without a lock write to a file in the moment in which it is replaced: into the old file,
//! which nobody finds any more. Nothing of it is lost silently.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::holder;
use super::lock::{Lock, LockWait};
use super::name::goes_by;
use crate::core::error::{Error, Holder, Result};
use crate::core::read::source::FileState;

/// How long somebody who opened the old file is given to close it.
const GRACE: Duration = Duration::from_millis(500);
/// How long a turn of waiting for that is.
const TURN: Duration = Duration::from_millis(20);
/// How many bytes are copied or compared at once.
const WINDOW: usize = 256 * 1024;

/// What became of it.
#[derive(Debug, Default)]
pub struct Late {
    /// How many bytes were appended to the old file, which follow in the new one as they are.
    pub carried: u64,
    /// The file beside it that holds what is not a longer form of what was read.
    pub aside: Option<PathBuf>,
    /// Who still has the old file open: what it writes from then on goes into that.
    pub holder: Option<Holder>,
    /// Why what was written is not kept, or may not be on the disk.
    pub lost: Option<io::Error>,
}

/// An old file, its new form, and the place where the new one is now.
pub(super) struct Replaced<'r> {
    pub(super) old: &'r File,
    pub(super) new: &'r File,
    pub(super) path: &'r Path,
    /// What the old file was when its new form was made of it.
    pub(super) state: FileState,
}

impl Replaced<'_> {
    /// Waits a moment for somebody who has the old file open for writing.
    /// Returns who has not closed it by then.
    fn wait_for_holder(&self) -> Option<Holder> {
        let start = Instant::now();
        loop {
            let holder = holder::glance(self.old)?;
            if start.elapsed() >= GRACE {
                return Some(holder);
            }
            thread::sleep(TURN);
        }
    }

    /// Returns whether somebody wrote to the old file, or may have.
    pub(super) fn is_changed(&self) -> bool {
        self.old.metadata().map_or(true, |now| FileState::of(&now) != self.state)
    }

    /// Keeps what was written to the old file: what was appended follows in the new one, and what else it
    /// holds goes into a file beside. `fill` makes the new form of what was read once more. No lock may be held
    /// over it.
    pub(super) fn keep(&self, wait: LockWait<'_>, fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> Late {
        let mut late = Late { holder: self.wait_for_holder(), ..Late::default() };
        if let Err(cause) = self.keep_in(&mut late, wait, fill) {
            late.lost = Some(cause);
        }
        late
    }

    fn keep_in(
        &self,
        late: &mut Late,
        wait: LockWait<'_>,
        fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>,
    ) -> io::Result<()> {
        let now = FileState::of(&self.old.metadata()?);
        if now == self.state {
            return Ok(());
        }
        let len = self.state.len;
        let is_longer = now.len >= len && self.is_form_of_old(fill);
        if is_longer && now.len == len {
            return Ok(());
        }
        let lock = Lock::take(self.path, wait);
        if is_longer && lock.is_ok() && goes_by(self.new, self.path) {
            copy(self.old, self.new, len, now.len)?;
            late.carried = now.len - len;
            drop(lock);
            return self.new.sync_all();
        }
        drop(lock);
        let (path, file) = aside(self.path)?;
        late.aside = Some(path);
        copy(self.old, &file, if is_longer { len } else { 0 }, now.len)?;
        file.sync_all()
    }

    /// Returns whether the new form is that of the bytes which the old file has now, as far as it was read.
    fn is_form_of_old(&self, fill: &mut dyn FnMut(&mut dyn Write) -> Result<()>) -> bool {
        let mut out = io::BufWriter::with_capacity(WINDOW, Comparison { file: self.new, at: 0 });
        let same = fill(&mut out).and_then(|()| out.flush().map_err(Error::io("cannot read")));
        same.is_ok()
    }
}

/// A file that takes only the bytes that it has.
struct Comparison<'f> {
    file: &'f File,
    at: u64,
}

impl Write for Comparison<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut own = vec![0; bytes.len()];
        self.file.read_exact_at(&mut own, self.at)?;
        self.at += bytes.len() as u64;
        if own == bytes { Ok(bytes.len()) } else { Err(io::Error::other("other bytes")) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes a file for what is left of an old one; replaces none.
fn aside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut count = 1;
    loop {
        let mut name = OsString::from(path);
        name.push(if count == 1 { ".late".to_owned() } else { format!(".late.{count}") });
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&name) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => count += 1,
            file => return file.map(|file| (name.into(), file)),
        }
    }
}

/// Appends a part of a file to another one.
fn copy(from: &File, mut to: &File, mut at: u64, end: u64) -> io::Result<()> {
    let mut window = vec![0; WINDOW.min(usize::try_from(end.saturating_sub(at)).unwrap_or(WINDOW))];
    while at < end {
        let count = window.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
        from.read_exact_at(&mut window[..count], at)?;
        to.write_all(&window[..count])?;
        at += count as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs::{self, File, OpenOptions};
    use std::io::Write;
    use std::time::Duration;

    use super::{Comparison, LockWait, Replaced, WINDOW};
    use crate::core::error::Error;
    use crate::core::read::source::FileState;

    /// Checks what becomes of `text` in the old file, which was `read`: the new file, what is aside, and
    /// how many bytes were carried over.
    #[track_caller]
    fn check(text: &str, new: &str, aside: &str, carried: usize) {
        let folder = tempfile::tempdir().unwrap();
        let [old_path, path] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old_path, "read\n").unwrap();
        fs::write(&path, "READ\n").unwrap();
        let [old, file] = [&old_path, &path].map(|path| OpenOptions::new().read(true).append(true).open(path).unwrap());
        let state = FileState::of(&old.metadata().unwrap());
        fs::write(&old_path, text).unwrap();
        // A clock may be too coarse to tell two writes.
        old.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(1)).unwrap();
        let replaced = Replaced { old: &old, new: &file, path: &path, state };
        let wait = LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &|| None };
        for count in 1..3 {
            let made = Cell::new(0);
            let late = replaced.keep(wait, &mut |out| {
                made.set(made.get() + 1);
                let text = fs::read_to_string(&old_path).unwrap();
                let bytes = text.get(..5).ok_or(Error::Changed { line: None })?.to_uppercase();
                out.write_all(bytes.as_bytes()).map_err(Error::io("cannot write"))
            });
            assert!(late.lost.is_none() && late.carried == carried as u64, "{late:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), new);
            assert_eq!(late.aside.is_some(), !aside.is_empty());
            if let Some(path) = late.aside {
                let name = if count == 1 { "new.late" } else { "new.late.2" };
                assert_eq!(
                    (path.file_name().unwrap().to_str(), fs::read_to_string(&path).unwrap()),
                    (Some(name), aside.to_owned())
                );
            }
            if carried > 0 {
                break;
            }
        }
    }

    #[test]
    fn what_is_appended_follows_and_what_is_rewritten_is_kept_aside() {
        let long = "x".repeat(2 * WINDOW + 7);
        check("read\n", "READ\n", "", 0);
        check("read\nlate\n", "READ\nlate\n", "", 5);
        check(&format!("read\n{long}"), &format!("READ\n{long}"), "", long.len());
        for rewritten in ["rEwrittEn\n", "rite\n", "rea", &format!("wrote\n{long}")] {
            let rewritten = rewritten.replace("rE", "xe");
            check(&rewritten, "READ\n", &rewritten, 0);
        }
    }

    #[test]
    fn what_cannot_be_kept_is_not_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "READ\n").unwrap();
        let file = File::open(&path).unwrap();
        let state = FileState::of(&file.metadata().unwrap());
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"late\n").unwrap();
        let replaced = Replaced { old: &file, new: &file, path: &path, state };
        let wait = LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &|| None };
        let late = replaced.keep(wait, &mut |out| out.write_all(b"READ\n").map_err(Error::io("cannot write")));
        assert!(late.lost.is_some() && late.carried == 0, "{late:?}");
    }

    #[test]
    fn a_file_that_nobody_wrote_to_has_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "read\n").unwrap();
        let file = File::open(&path).unwrap();
        let replaced =
            Replaced { old: &file, new: &file, path: &path, state: FileState::of(&file.metadata().unwrap()) };
        assert!(!replaced.is_changed());
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"late\n").unwrap();
        assert!(replaced.is_changed());
    }

    #[test]
    fn bytes_are_compared_from_where_the_last_ones_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "one two six").unwrap();
        let file = File::open(&path).unwrap();
        let mut comparison = Comparison { file: &file, at: 0 };
        for (bytes, expected) in [("one", true), (" two", true), (" ten", false)] {
            assert_eq!(comparison.write(bytes.as_bytes()).is_ok(), expected, "{bytes}");
        }
    }
}
