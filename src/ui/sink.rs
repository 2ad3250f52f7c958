//! Where the text of messages goes: into a buffer that is written later, or, if there may be many megabytes of it, on
//! at once.

use std::io;
use std::mem;

use super::fit;
use super::in_order::PIECE;
use super::parts::PartText;
use crate::core::json::text::lossy;

/// What takes pieces of text.
type Pass<'o> = &'o mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Takes text that is safe to print.
pub(super) struct TextSink<'o> {
    /// What was not passed on yet.
    pub(super) bytes: Vec<u8>,
    /// Where it goes if it is not kept.
    pass: Option<Pass<'o>>,
    /// Text that is not yet in the form in which it is to stand, without memory of its own between two parts of a
    /// long message.
    lines: Vec<u8>,
}

impl<'o> TextSink<'o> {
    /// Keeps everything in a buffer.
    pub(super) fn keeping(bytes: Vec<u8>) -> Self {
        Self { bytes, pass: None, lines: Vec::new() }
    }

    /// Passes everything on, in pieces.
    pub(super) fn passing(pass: Pass<'o>) -> Self {
        Self { bytes: Vec::new(), pass: Some(pass), lines: Vec::new() }
    }

    /// Adds text.
    pub(super) fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Adds a text of any length.
    ///
    /// # Errors
    /// Those of what it is passed on to.
    pub(super) fn long(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.pass {
            Some(pass) => {
                pass(&self.bytes)?;
                self.bytes.clear();
                pass(bytes)
            }
            None => {
                self.bytes.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Adds a part of a message, folded to the width. It ends its line.
    ///
    /// # Errors
    /// As [`Self::long`].
    pub(super) fn part(&mut self, part: &PartText<'_>, width: Option<usize>) -> io::Result<()> {
        if part.is_empty() {
            return Ok(());
        }
        let Self { bytes, pass, lines } = self;
        if width.is_none() {
            part.push(bytes, false, &mut |bytes| settle(bytes, pass))?;
            bytes.push(b'\n');
            return settle(bytes, pass);
        }
        let mut fold = |lines: &mut Vec<u8>| {
            let add = &mut |row: &str| {
                bytes.extend_from_slice(row.as_bytes());
                settle(bytes, pass)
            };
            fit::fold(&lossy(lines), width, None, add)?;
            lines.clear();
            lines.shrink_to(PIECE);
            Ok(())
        };
        part.push(lines, true, &mut fold)?;
        lines.push(b'\n');
        fold(lines)
    }

    /// Adds what `write` makes of a whole part of a message.
    ///
    /// # Errors
    /// Those of `write`.
    pub(super) fn whole(
        &mut self,
        part: &PartText<'_>,
        write: impl FnOnce(&mut Self, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut lines = mem::take(&mut self.lines);
        part.push(&mut lines, false, &mut |_| Ok(()))?;
        write(self, &lossy(&lines))?;
        lines.clear();
        lines.shrink_to(PIECE);
        self.lines = lines;
        Ok(())
    }

    /// Passes on what there is, if that is to be done and it is enough.
    ///
    /// # Errors
    /// As [`Self::long`].
    pub(super) fn settle(&mut self) -> io::Result<()> {
        settle(&mut self.bytes, &mut self.pass)
    }

    /// Passes on the rest.
    ///
    /// # Errors
    /// As [`Self::long`].
    pub(super) fn end(mut self) -> io::Result<()> {
        self.long(b"")
    }
}

fn settle(bytes: &mut Vec<u8>, pass: &mut Option<Pass<'_>>) -> io::Result<()> {
    if let Some(pass) = pass.as_mut().filter(|_| bytes.len() >= PIECE) {
        pass(bytes)?;
        bytes.clear();
    }
    Ok(())
}
