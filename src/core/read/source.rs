//! The bytes of a session: a file that several threads can read at any offset. What has no offsets, a stream or a
//! compressed file, is copied to a temporary file first.
//!
//! Must never map a file into memory, since another program may truncate it at any time, and never
//! change one: that is done in [`crate::core::disk`].

use std::fs::{File, Metadata};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

use super::foreign::GZIP;
use crate::core::error::header::HeaderFault;
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

    /// Returns when the file was last written to, in milliseconds since 1970.
    pub(crate) fn written(&self) -> i64 {
        self.modified.0.saturating_mul(1000).saturating_add(self.modified.1 / 1_000_000)
    }

    /// Returns what identifies the file: its device, and its number there.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.dev, self.ino)
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
    /// The file that was unpacked into `file`.
    packed: Option<File>,
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
        Ok(Self::of(file, meta.len(), Some(FileState::of(&meta))))
    }

    /// Opens a session file: as [`Self::open`], but one that is compressed with gzip, and named so, is unpacked into a
    /// temporary file.
    ///
    /// # Errors
    /// As [`Self::open`]; [`Error::Unpacking`] if the compressed data is cut off or damaged, [`Error::Io`] if the
    /// temporary folder is full: as for a stream, nothing else limits what comes out.
    pub fn session(path: &Path) -> Result<Self> {
        let source = Self::open(path)?;
        if is_named_gzip(path) { source.unpacked(u64::MAX) } else { Ok(source) }
    }

    /// Opens a session that is a regular file as if it ended after `limit` bytes.
    ///
    /// # Errors
    /// As [`Self::session`]; also if it is not a regular file.
    pub(crate) fn front(path: &Path, limit: u64) -> Result<Self> {
        let file = File::open(path).map_err(Error::io("cannot open"))?;
        let meta = file.metadata().map_err(Error::io("cannot open"))?;
        if !meta.is_file() {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
            return Err(Error::Io { doing: "cannot read", cause });
        }
        let source = Self::of(file, meta.len(), Some(FileState::of(&meta)));
        if is_named_gzip(path) {
            return source.unpacked(limit);
        }
        Ok(Self { len: source.len.min(limit), ..source })
    }

    /// Copies a stream into an unlinked temporary file.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails or the temporary folder is full.
    pub fn spool(mut stream: impl Read) -> Result<Self> {
        const COPYING: &str = "cannot copy the input to a temporary file";
        let mut file = tempfile::tempfile().map_err(Error::io("cannot make a temporary file"))?;
        let (mut first, mut len, mut window) = (FirstLine::default(), 0, vec![0; 64 * 1024]);
        while !first.is_over {
            let count = match stream.read(&mut window) {
                Ok(0) => return Ok(Self::of(file, len, None)),
                Ok(count) => count,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(cause) => return Err(Error::io(COPYING)(cause)),
            };
            first.add(&window[..count])?;
            file.write_all(&window[..count]).map_err(Error::io(COPYING))?;
            len += count as u64;
        }
        len += io::copy(&mut stream, &mut file).map_err(Error::io(COPYING))?;
        Ok(Self::of(file, len, None))
    }

    /// Makes a source of what `fill` writes, in an unlinked temporary file.
    ///
    /// # Errors
    /// [`Error::Io`] if the temporary folder is full, and what `fill` says.
    pub(crate) fn made(fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<Self> {
        let cannot = Error::io("cannot write a temporary file");
        let mut out = BufWriter::with_capacity(256 * 1024, tempfile::tempfile().map_err(cannot)?);
        fill(&mut out)?;
        let file = out.into_inner().map_err(|error| Error::io("cannot write a temporary file")(error.into_error()))?;
        let len = file.metadata().map_err(Error::io("cannot write a temporary file"))?.len();
        Ok(Self::of(file, len, None))
    }

    fn of(file: File, len: u64, state: Option<FileState>) -> Self {
        Self { file, len, state, packed: None, read: Arc::default() }
    }

    /// Opens the same bytes once more, as long as they were; they are counted together.
    ///
    /// # Errors
    /// [`Error::Io`] if the system has no room for another open file.
    pub(crate) fn again(&self) -> Result<Self> {
        let file = self.file.try_clone().map_err(Error::io("cannot open"))?;
        let packed = self.packed.as_ref().map(File::try_clone).transpose().map_err(Error::io("cannot open"))?;
        Ok(Self { file, len: self.len, state: self.state, packed, read: Arc::clone(&self.read) })
    }

    /// Opens the same bytes once more as if they ended after `limit`.
    ///
    /// # Errors
    /// As [`Self::again`].
    pub(crate) fn start(&self, limit: u64) -> Result<Self> {
        Ok(Self { len: self.len.min(limit), ..self.again()? })
    }

    /// Unpacks up to `limit` bytes into a temporary file if the source is compressed.
    fn unpacked(self, limit: u64) -> Result<Self> {
        if !self.is_gzip() {
            return Ok(self);
        }
        let mut unpacker = MultiGzDecoder::new(BufReader::new(&self.file)).take(limit);
        let mut file = tempfile::tempfile().map_err(Error::io("cannot make a temporary file"))?;
        let (mut first, mut unpacked, mut window) = (FirstLine::default(), 0, vec![0; 64 * 1024]);
        loop {
            let count = unpacker.read(&mut window).map_err(|cause| Error::Unpacking { unpacked, cause })?;
            if count == 0 {
                break;
            }
            first.add(&window[..count])?;
            file.write_all(&window[..count]).map_err(Error::io("cannot unpack it to a temporary file"))?;
            unpacked += count as u64;
        }
        Ok(Self { packed: Some(self.file), ..Self::of(file, unpacked, None) })
    }

    /// Refuses what has no line end in its first 64 MiB, before it is read in search of one.
    ///
    /// # Errors
    /// [`Error::NotASession`]; as [`Self::read_at`].
    pub(crate) fn check_first_line(&self) -> Result<()> {
        // A shorter file is soon read.
        if self.len <= FIRST_LINE {
            return Ok(());
        }
        let mut first = FirstLine::default();
        let mut window = vec![0; 64 * 1024];
        let mut at = 0;
        while !first.is_over {
            self.read_at(&mut window, at)?;
            first.add(&window)?;
            at += window.len() as u64;
        }
        Ok(())
    }

    /// Returns the state of the file when it was opened; `None` for a stream and for a compressed file.
    pub fn state(&self) -> Option<FileState> {
        self.state
    }

    /// Returns the file that was opened, compressed or not; `None` for a spooled stream.
    pub(crate) fn file(&self) -> Option<&File> {
        self.packed.as_ref().or_else(|| self.state.map(|_| &self.file))
    }

    /// Returns whether its bytes are compressed; reads the first of them.
    pub(crate) fn is_gzip(&self) -> bool {
        let mut front = [0; GZIP.len()];
        self.len >= GZIP.len() as u64 && self.read_at(&mut front, 0).is_ok() && front == GZIP
    }

    /// Returns whether it was unpacked, so that nothing can be written to it.
    pub(crate) fn is_compressed(&self) -> bool {
        self.packed.is_some()
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
        self.copy_part(0, self.len, out)
    }

    /// Copies the bytes from one offset to another to `out`.
    ///
    /// # Errors
    /// As [`Self::read_at`]; also if `out` fails.
    pub(crate) fn copy_part(&self, mut at: u64, end: u64, out: &mut dyn Write) -> Result<()> {
        let size = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
        let mut window = vec![0; size.min(256 * 1024)];
        while at < end {
            let count = window.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
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

    /// Returns the source as if it ended after `len` bytes.
    #[must_use]
    pub(crate) fn up_to(self, len: u64) -> Self {
        Self { len: self.len.min(len), ..self }
    }

    /// Returns the offset after the last line end that is at `from` or later, if there is one.
    ///
    /// # Errors
    /// As [`Self::read_at`].
    pub(crate) fn last_line_end(&self, from: u64) -> Result<Option<u64>> {
        let mut window = vec![0; 64 * 1024];
        let mut end = self.len;
        while end > from {
            let start = end.saturating_sub(window.len() as u64).max(from);
            let piece = &mut window[..usize::try_from(end - start).unwrap_or(0)];
            self.read_at(piece, start)?;
            if let Some(at) = memchr::memrchr(b'\n', piece) {
                return Ok(Some(start + at as u64 + 1));
            }
            end = start;
        }
        Ok(None)
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

/// The longest first line of a session, in bytes. Without this limit a device that never ends would be read
/// until the disk is full.
pub(crate) const FIRST_LINE: u64 = 64 * 1024 * 1024;

/// The search for the end of the first line.
#[derive(Debug, Default)]
struct FirstLine {
    len: u64,
    is_over: bool,
}

impl FirstLine {
    /// Goes on with the next bytes.
    ///
    /// # Errors
    /// [`Error::NotASession`] if the line is too long for a session.
    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.is_over = self.is_over || memchr::memchr(b'\n', bytes).is_some();
        self.len += bytes.len() as u64;
        if self.is_over || self.len < FIRST_LINE {
            return Ok(());
        }
        Err(Error::NotASession { line: 1, fault: HeaderFault::Endless })
    }
}

/// Returns whether the name of a file says that it is compressed.
pub(crate) fn is_named_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::{Error, Source};

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Returns the text of a file of these bytes, or how many bytes came out before it failed.
    fn read(name: &str, bytes: &[u8], open: impl Fn(&std::path::Path) -> super::Result<Source>) -> Result<String, u64> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        match open(&path) {
            Ok(source) => {
                let mut text = Vec::new();
                source.copy_to(&mut text).unwrap();
                assert_eq!(source.is_compressed(), text != bytes, "{name}");
                Ok(String::from_utf8(text).unwrap())
            }
            Err(Error::Unpacking { unpacked, .. }) => Err(unpacked),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn files_named_and_compressed_as_gzip_are_unpacked() {
        let (text, more) = ("one\n".repeat(50_000), "two\n".repeat(3));
        let packed = gzip(text.as_bytes());
        let several = [packed.clone(), gzip(b""), gzip(more.as_bytes())].concat();
        assert_eq!(read("s.jsonl.gz", &packed, Source::session), Ok(text.clone()));
        assert_eq!(read("s.jsonl.gz", &several, Source::session), Ok(text.clone() + &more));
        assert_eq!(read("s.jsonl.gz", &gzip(b"x"), Source::session), Ok("x".to_owned()));
        // The name alone does not make it compressed.
        for plain in ["", "\u{1f}", "{}\n"] {
            assert_eq!(read("s.jsonl.gz", plain.as_bytes(), Source::session), Ok(plain.to_owned()));
        }
        // Its front alone, too; what follows may be damaged.
        let front = |path: &std::path::Path| Source::front(path, 6);
        assert_eq!(read("s.jsonl.gz", &packed[..packed.len() - 9], front), Ok("one\non".to_owned()));
        assert_eq!(read("s.jsonl", text.as_bytes(), Source::open), Ok(text));
    }

    #[test]
    fn what_has_no_line_end_in_its_first_64_mib_is_no_session() {
        let limit = usize::try_from(super::FIRST_LINE).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // Where the first line ends, or nowhere; the length; and whether it may be a session.
        for (end, len, expected) in [
            (None, limit - 1, true),
            (Some(limit - 2), limit - 1, true),
            (Some(limit - 1), limit + 5, true),
            (Some(9), limit + 5, true),
            (None, limit, false),
            (None, limit + 5, false),
        ] {
            // A hole, which takes no room on the disk.
            let path = folder.path().join("s.jsonl");
            let file = fs::File::create(&path).unwrap();
            file.set_len(len as u64).unwrap();
            end.into_iter().for_each(|end| file.write_all_at(b"\n", end as u64).unwrap());
            let by_path = Source::open(&path).unwrap().check_first_line();
            let spooled = Source::spool(fs::File::open(&path).unwrap());
            // A file of that length is still read at once.
            assert_eq!(by_path.is_ok(), expected || len == limit, "{end:?} {len}");
            assert_eq!(spooled.is_ok(), expected, "{end:?} {len}");
            assert!(spooled.err().is_none_or(|error| error.kind().name() == "not-a-session"));
        }
        // Zeros without an end, as they come and compressed.
        assert!(Source::spool(std::io::repeat(0)).is_err());
        fs::write(folder.path().join("z.gz"), gzip(&vec![0; limit + 1])).unwrap();
        assert!(Source::session(&folder.path().join("z.gz")).is_err());
    }

    #[test]
    fn damaged_gzip_is_an_error_that_says_how_much_came_out() {
        let text = "one\n".repeat(50_000);
        let packed = gzip(text.as_bytes());
        let cut = read("s.gz", &packed[..packed.len() / 2], Source::session).unwrap_err();
        assert!(0 < cut && cut < text.len() as u64, "{cut}");
        let whole = Err(text.len() as u64);
        // Without the checksum, with a wrong one, and with something else after it.
        assert_eq!(read("s.gz", &packed[..packed.len() - 8], Source::session), whole);
        let wrong = [&packed[..packed.len() - 8], &[0; 8]].concat();
        assert_eq!(read("s.gz", &wrong, Source::session), whole);
        assert_eq!(read("s.gz", &[&packed[..], b"junk of some length"].concat(), Source::session), whole);
        for front in 2..10 {
            assert_eq!(read("s.gz", &packed[..front], Source::session), Err(0));
        }
    }
}
