//! Where the bytes come from: a file that can be read at any place, by several threads.
//!
//! Never maps a file into memory: another program may truncate it at any time.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::error::{Error, Result};

/// An open session file, with the length it had when it was opened.
#[derive(Debug)]
pub struct Source {
    file: File,
    len: u64,
}

impl Source {
    /// Opens a path. What cannot seek (a pipe, a terminal) is spooled first.
    ///
    /// # Errors
    /// [`Error::Io`] if it is missing, a folder, or unreadable.
    pub fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(Error::io("cannot open"))?;
        let meta = file.metadata().map_err(Error::io("cannot open"))?;
        if meta.is_dir() {
            let cause = io::Error::new(io::ErrorKind::IsADirectory, "it is a folder");
            return Err(Error::Io { doing: "cannot read", cause });
        }
        if !meta.is_file() || file.stream_position().is_err() {
            return Self::spool(file);
        }
        Ok(Self { file, len: meta.len() })
    }

    /// Copies a stream into an unlinked temporary file.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails or the temporary folder is full.
    pub fn spool(mut stream: impl Read) -> Result<Self> {
        let mut file = tempfile::tempfile().map_err(Error::io("cannot make a temporary file"))?;
        let len = io::copy(&mut stream, &mut file).map_err(Error::io("cannot copy the input to a temporary file"))?;
        Ok(Self { file, len })
    }

    /// Gives the length in bytes when the source was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Tells whether there was nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Fills `buffer` with what stands at `offset`.
    ///
    /// # Errors
    /// [`Error::Changed`] if the file is shorter now, [`Error::Io`] if reading fails.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<()> {
        self.file.read_exact_at(buffer, offset).map_err(|cause| {
            if cause.kind() == io::ErrorKind::UnexpectedEof {
                return Error::Changed { line: None };
            }
            Error::Io { doing: "cannot read", cause }
        })
    }
}
