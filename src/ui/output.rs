//! Standard output: buffered, safe for terminals, and all or nothing if wanted. Errors and warnings go
//! through [`super::report`].

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use tempfile::{SpooledData, SpooledTempFile};

use super::escape;

/// How many held bytes are kept in memory before they go to a temporary file.
const HELD: usize = 4 * 1024 * 1024;

/// How many bytes of the output for one of many sessions are kept in memory: there may be several for each
/// thread.
const KEPT: usize = 256 * 1024;

/// How many bytes are written at once.
const BUFFER: usize = 128 * 1024;

/// How many bytes are held back at once; more than that, as threads make them, go on without a copy.
const HELD_BUFFER: usize = 32 * 1024;

/// Stdout, or what is to go there later. A closed pipe is an error here and a success in `main`.
#[derive(Debug)]
pub(crate) struct Output {
    /// `None` if all is kept for later.
    stream: Option<BufWriter<io::StdoutLock<'static>>>,
    is_terminal: bool,
    held: Option<BufWriter<SpooledTempFile>>,
    /// What stands before all that is held.
    front: Vec<u8>,
}

/// What was printed to be written later, as a thread does for the one that has stdout.
#[derive(Debug)]
pub(crate) struct Kept {
    front: Vec<u8>,
    rest: SpooledTempFile,
}

impl Output {
    /// Locks stdout.
    pub(crate) fn new() -> Self {
        let stdout = io::stdout().lock();
        let is_terminal = stdout.is_terminal();
        Self { stream: Some(BufWriter::with_capacity(BUFFER, stdout)), is_terminal, held: None, front: Vec::new() }
    }

    /// Keeps all that is printed, for an output that is a terminal or not.
    pub(crate) fn later(is_terminal: bool) -> Self {
        let held = Some(BufWriter::new(SpooledTempFile::new(KEPT)));
        Self { stream: None, is_terminal, held, front: Vec::new() }
    }

    /// Returns what was kept.
    ///
    /// # Errors
    /// [`io::Error`] of a temporary file.
    pub(crate) fn kept(self) -> io::Result<Kept> {
        let held = self.held.map(BufWriter::into_inner).transpose().map_err(io::IntoInnerError::into_error)?;
        Ok(Kept { front: self.front, rest: held.unwrap_or_else(|| SpooledTempFile::new(0)) })
    }

    /// Writes what was kept elsewhere.
    ///
    /// # Errors
    /// [`io::Error`] of the output, or of a temporary file.
    pub(crate) fn add(&mut self, kept: Kept) -> io::Result<()> {
        self.put(&kept.front)?;
        match (&mut self.held, &mut self.stream) {
            (Some(held), _) => copy(kept.rest, held),
            (None, Some(stream)) => copy(kept.rest, stream),
            (None, None) => Ok(()),
        }
    }

    /// Returns whether stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Holds everything back until [`Self::finish`], so that an error while a session is read does not leave
    /// half of a JSON text.
    pub(crate) fn hold(&mut self) {
        if self.held.is_none() {
            self.held = Some(BufWriter::with_capacity(HELD_BUFFER, SpooledTempFile::new(HELD)));
        }
    }

    /// Writes text that has been escaped.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.put(text.as_bytes())
    }

    /// Puts escaped text before all that is held back.
    pub(crate) fn put_before(&mut self, text: &str) {
        self.front.splice(..0, text.bytes());
    }

    /// Writes bytes that have been escaped.
    pub(super) fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match (&mut self.held, &mut self.stream) {
            (Some(held), _) => held.write_all(bytes),
            (None, Some(stream)) => stream.write_all(bytes),
            (None, None) => Ok(()),
        }
    }

    /// Writes a path on a line of its own, escaped only on a terminal: a program has to find the file by it.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn path(&mut self, path: &Path) -> io::Result<()> {
        self.path_with(path, "\n")
    }

    /// Writes a path and what ends it, escaped only on a terminal.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn path_with(&mut self, path: &Path, end: &str) -> io::Result<()> {
        if self.is_terminal {
            self.put(escape::line(&path.display().to_string()).as_bytes())?;
        } else {
            self.put(path.as_os_str().as_bytes())?;
        }
        self.put(end.as_bytes())
    }

    /// Writes JSON text, whole strings only; bad UTF-8 becomes U+FFFD.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn json(&mut self, json: &[u8]) -> io::Result<()> {
        self.put(&safe_json(json, self.is_terminal))
    }

    /// Writes a value as one line of JSON.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        if let Some(stream) = self.stream.as_mut().filter(|_| !self.is_terminal && self.held.is_none()) {
            serde_json::to_writer(&mut *stream, value)?;
            return stream.write_all(b"\n");
        }
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.json(&line)
    }

    /// Writes what was held back, and flushes; what is kept for later stays so.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        if self.stream.is_some()
            && let Some(held) = self.held.take()
        {
            let held = held.into_inner().map_err(io::IntoInnerError::into_error)?;
            let front = std::mem::take(&mut self.front);
            self.add(Kept { front, rest: held })?;
        }
        self.flush()
    }

    /// Waits as long as stdout is read, but no longer than `limit`; a signal ends that too.
    ///
    /// # Errors
    /// [`io::Error`]: a broken pipe if nobody reads it any more.
    pub(crate) fn wait(&self, limit: Duration) -> io::Result<()> {
        let limit = Timespec::try_from(limit).unwrap_or_default();
        let Some(stream) = &self.stream else { return Ok(()) };
        // Without an event to wait for, what is reported is that the other end is closed.
        let mut output = [PollFd::new(stream.get_ref(), PollFlags::empty())];
        match poll(&mut output, Some(&limit)) {
            Ok(0) | Err(Errno::INTR) => Ok(()),
            Ok(_) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(cause) => Err(cause.into()),
        }
    }

    /// Writes what was held back, and flushes.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.release()
    }
}

/// Copies all of a temporary file. Where it is one of the system's, the system may do it without a copy in memory,
/// which the standard library finds out by the types.
fn copy<W: Write>(file: SpooledTempFile, to: &mut W) -> io::Result<()> {
    match file.into_inner() {
        SpooledData::InMemory(bytes) => to.write_all(bytes.get_ref()),
        SpooledData::OnDisk(mut file) => {
            file.seek(SeekFrom::Start(0))?;
            io::copy(&mut file, to).map(drop)
        }
    }
}

/// A list for programs: one array, or one item a line.
#[derive(Debug)]
pub(crate) struct JsonList {
    /// What stands before the next item of an array; `None` for lines.
    mark: Option<&'static str>,
}

impl JsonList {
    /// Begins a list.
    pub(crate) fn new(is_array: bool) -> Self {
        Self { mark: is_array.then_some("[") }
    }

    /// Writes a value as an item.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn add(&mut self, output: &mut Output, value: &impl Serialize) -> io::Result<()> {
        self.add_json(output, &serde_json::to_vec(value)?)
    }

    /// Writes JSON text as an item.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn add_json(&mut self, output: &mut Output, json: &[u8]) -> io::Result<()> {
        output.text(self.mark.unwrap_or_default())?;
        output.json(json)?;
        match &mut self.mark {
            Some(mark) => *mark = ",",
            None => output.text("\n")?,
        }
        Ok(())
    }

    /// Writes the end of the list, with a line end.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn end(self, output: &mut Output) -> io::Result<()> {
        let is_array = self.mark.is_some();
        self.close(output)?;
        output.text(if is_array { "\n" } else { "" })
    }

    /// Writes the end of a list that is a part of a larger document.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn close(self, output: &mut Output) -> io::Result<()> {
        output.text(match self.mark {
            Some("[") => "[]",
            Some(_) => "]",
            None => "",
        })
    }
}

/// Returns JSON text, whole strings only, safe to be written: invalid UTF-8 becomes U+FFFD, and for a
/// terminal characters that it might obey are escaped.
pub(crate) fn safe_json(json: &[u8], is_terminal: bool) -> Cow<'_, [u8]> {
    if !is_terminal && std::str::from_utf8(json).is_ok() {
        return Cow::Borrowed(json);
    }
    let text = String::from_utf8_lossy(json);
    let text = if is_terminal { escape::json(&text).into_owned() } else { text.into_owned() };
    Cow::Owned(text.into_bytes())
}

/// For the lines of a session file, which are copied.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_terminal && self.held.is_some() {
            // On a terminal lines are for people; their bytes do not matter.
            let text = String::from_utf8_lossy(bytes);
            let text = escape::lines(&text).into_owned();
            self.put(text.as_bytes())?;
            return Ok(bytes.len());
        }
        self.put(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.as_mut().map_or(Ok(()), Write::flush)
    }
}
