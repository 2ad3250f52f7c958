//! The bytes of a session: a file that several threads can read at any offset.
//!
//! Must never map a file into memory, since another program may truncate it at any time, and never
//! change one: that is done in [`crate::core::disk`].

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::core::error::{Error, Result};

/// The identity, length and time of a file, to detect that it was replaced or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    dev: u64,
    ino: u64,
    /// Length in bytes.
    pub len: u64,
    modified: (i64, i64),
}

impl FileState {
    /// Takes the state from the metadata of a file.
    pub fn of(meta: &Metadata) -> Self {
        Self { dev: meta.dev(), ino: meta.ino(), len: meta.len(), modified: (meta.mtime(), meta.mtime_nsec()) }
    }

    /// Returns whether both are of one file, even if its length or time differ.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

/// An open session file, with the length it had when it was opened.
#[derive(Debug)]
pub struct Source {
    file: File,
    len: u64,
    state: Option<FileState>,
    read: Arc<AtomicU64>,
}

impl Source {
    /// Opens a path. A pipe or terminal, which cannot seek, is spooled first.
    ///
    /// # Errors
    /// [`Error::Io`] if it is missing, a folder, or unreadable.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::io("cannot open"))?;
        let meta = file.metadata().map_err(Error::io("cannot open"))?;
        if meta.is_dir() {
            let is_folder = || io::Error::new(io::ErrorKind::IsADirectory, "it is a folder");
            let cause = std::fs::read_dir(path).err().unwrap_or_else(is_folder);
            return Err(Error::Io { doing: "cannot read", cause });
        }
        if !meta.is_file() || file.stream_position().is_err() {
            return Self::spool(file);
        }
        Ok(Self { file, len: meta.len(), state: Some(FileState::of(&meta)), read: Arc::default() })
    }

    /// Opens a regular file as if it ended after `limit` bytes.
    ///
    /// # Errors
    /// As [`Self::open`]; also if it is not a regular file.
    pub(crate) fn front(path: &Path, limit: u64) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("cannot open"))?;
        let meta = file.metadata().map_err(Error::io("cannot open"))?;
        if !meta.is_file() {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(Error::Io { doing: "cannot read", cause });
        }
        Ok(Self { file, len: meta.len().min(limit), state: Some(FileState::of(&meta)), read: Arc::default() })
    }

    /// Copies a stream into an unlinked temporary file.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails or the temporary folder is full.
    pub fn spool(mut stream: impl Read) -> Result<Self> {
        let mut file = tempfile::tempfile().map_err(Error::io("cannot make a temporary file"))?;
        let len = io::copy(&mut stream, &mut file).map_err(Error::io("cannot copy the input to a temporary file"))?;
        Ok(Self { file, len, state: None, read: Arc::default() })
    }

    /// Returns the state of the file when it was opened; `None` for a spooled stream.
    pub fn state(&self) -> Option<FileState> {
        self.state
    }

    /// Returns the open file; `None` for a spooled stream.
    pub(crate) fn file(&self) -> Option<&File> {
        self.state.map(|_| &self.file)
    }

    /// Returns the length in bytes when the source was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the counter of bytes read so far, for a display of progress.
    pub(crate) fn bytes_read(&self) -> &Arc<AtomicU64> {
        &self.read
    }

    /// Returns whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies all bytes to `out`.
    ///
    /// # Errors
    /// As [`Self::read_at`]; also if `out` fails.
    pub(crate) fn copy_to(&self, out: &mut dyn Write) -> Result<()> {
        let mut window = vec![0; 256 * 1024];
        let mut at = 0;
        while at < self.len {
            let count = window.len().min(usize::try_from(self.len - at).unwrap_or(usize::MAX));
            self.read_at(&mut window[..count], at)?;
            out.write_all(&window[..count]).map_err(|cause| Error::writing("cannot write", cause))?;
            at += count as u64;
        }
        Ok(())
    }

    /// Returns whether it starts with all bytes of `other`.
    ///
    /// # Errors
    /// As `Self::read_at`.
    pub fn starts_with(&self, other: &Self) -> Result<bool> {
        if other.len > self.len {
            return Ok(false);
        }
        let (mut own, mut theirs) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        let mut at = 0;
        while at < other.len {
            let count = own.len().min(usize::try_from(other.len - at).unwrap_or(usize::MAX));
            self.read_at(&mut own[..count], at)?;
            other.read_at(&mut theirs[..count], at)?;
            if own[..count] != theirs[..count] {
                return Ok(false);
            }
            at += count as u64;
        }
        Ok(true)
    }

    /// Syncs the file to the disk.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Fills `buffer` with the bytes at `offset`.
    ///
    /// # Errors
    /// [`Error::Changed`] if the file is shorter now, [`Error::Io`] if reading fails.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.file.read_exact_at(buffer, offset).map_err(|cause| {
            if cause.kind() == io::ErrorKind::UnexpectedEof {
                return Error::Changed { line: None };
            }
            Error::Io { doing: "cannot read", cause }
        })
    }
}
