//! What is odd about the bytes of a line, whatever they mean, and which images it keeps elsewhere.

use memchr::memmem::Finder;

use super::notes::LineNotes;
use super::oddity::{BIG, Oddity, count, place};

/// Inspects the bytes of lines; one per thread.
#[derive(Debug)]
pub(super) struct ByteInspector {
    escape: Finder<'static>,
    blob: Finder<'static>,
}

impl Default for ByteInspector {
    fn default() -> Self {
        Self { escape: Finder::new(br"\u"), blob: Finder::new(BLOB) }
    }
}

/// The bytes before the SHA-256 of an image that is kept in a file of its own.
const BLOB: &[u8] = b"\"blob:sha256:";

impl ByteInspector {
    /// Inspects the bytes of any line.
    pub(super) fn inspect(&self, notes: &mut LineNotes, number: u32, line: &[u8]) {
        if line.len() > BIG {
            notes.push(number, Oddity::Big { bytes: count(line.len()) });
        }
        if let Err(error) = std::str::from_utf8(line) {
            notes.push(number, Oddity::BadUtf8 { at: place(error.valid_up_to()) });
        }
        let (mut surrogate, mut escape) = (None, control(line));
        let mut from = 0;
        while let Some(found) = self.escape.find(&line[from..]) {
            let at = from + found;
            from = at + 2;
            if is_escaped(line, at) {
                continue;
            }
            match line.get(at + 2..at + 6).map(|digits| digits.to_ascii_lowercase()).as_deref() {
                Some([b'd', b'8'..=b'9' | b'a'..=b'b', ..]) if has_low_half(line, at + 6) => from = at + 12,
                Some([b'd', b'8'..=b'9' | b'a'..=b'f', ..]) => surrogate = surrogate.or(Some(at)),
                Some(b"001b") if is_color(&line[at + 6..]) => {}
                // The control character NEL is a line end.
                Some(b"0085") => {}
                Some(b"001b" | [b'0', b'0', b'8' | b'9', _]) => escape = escape.or(Some(at)),
                _ => {}
            }
        }
        if let Some(at) = surrogate {
            notes.push(number, Oddity::LoneSurrogate { at: place(at) });
        }
        if let Some(at) = escape {
            notes.push(number, Oddity::Escape { at: place(at) });
        }
        for at in self.blob.find_iter(line) {
            let hex = line.get(at + BLOB.len()..at + BLOB.len() + 64);
            if let Some(hash) = hex.and_then(sha256)
                && line.get(at + BLOB.len() + 64) == Some(&b'"')
                && is_image(&line[..at])
            {
                notes.blobs.push((number, hash));
            }
        }
    }
}

/// Returns whether the backslash at `at` is itself escaped.
fn is_escaped(line: &[u8], at: usize) -> bool {
    line[..at].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Returns whether an escape sequence only sets colours, as the output of many tools does; `rest` is
/// what follows its ESC.
fn is_color(rest: &[u8]) -> bool {
    let Some(rest) = rest.strip_prefix(b"[") else { return false };
    let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'));
    end.is_some_and(|end| rest[end] == b'm')
}

/// Returns whether the second half of a surrogate pair is at `at`.
fn has_low_half(line: &[u8], at: usize) -> bool {
    matches!(line.get(at..at + 4), Some([b'\\', b'u', b'd' | b'D', b'c'..=b'f' | b'C'..=b'F']))
}

/// Returns the offset of the first control character of two bytes (C1) other than NEL, if any.
fn control(line: &[u8]) -> Option<usize> {
    memchr::memchr_iter(0xc2, line).find(|&at| matches!(line.get(at + 1), Some(0x80..=0x84 | 0x86..=0x9f)))
}

/// Returns whether a value is where omp looks for an image; `before` is the line up to it.
fn is_image(before: &[u8]) -> bool {
    let key = before.trim_ascii_end().strip_suffix(b":").map(<[u8]>::trim_ascii_end);
    key.is_some_and(|key| [&b"\"data\""[..], b"\"image_url\"", b"\"result\""].iter().any(|name| key.ends_with(name)))
}

fn sha256(hex: &[u8]) -> Option<[u8; 32]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(hex.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::{ByteInspector, LineNotes, Oddity};

    /// Returns the oddities of the bytes of a line.
    fn odd(line: &[u8]) -> Vec<Oddity> {
        let mut notes = LineNotes::default();
        ByteInspector::default().inspect(&mut notes, 0, line);
        notes.odd.iter().map(|note| note.oddity).collect()
    }

    #[test]
    fn odd_bytes_are_noted_and_similar_ones_are_not() {
        assert_eq!(odd(br#""a\u001b[2J""#), [Oddity::Escape { at: 3 }]);
        assert_eq!(odd(br#""a\\u001b[2J \u00e9""#), []);
        assert_eq!(odd(br#""\\\u001B""#), [Oddity::Escape { at: 4 }]);
        assert_eq!(odd(br#""\u0085\u00a0""#), []);
        assert_eq!(odd(br#""\u009B2J""#), [Oddity::Escape { at: 2 }]);
        assert_eq!(odd(br#""\u001b[1;32mok\u001b[0m\u001b[m""#), []);
        assert_eq!(odd(br#""\u001b[1;32H\u001b[1""#), [Oddity::Escape { at: 2 }]);
        assert_eq!(odd("\"\u{9b}2J\"".as_bytes()), [Oddity::Escape { at: 2 }]);
        assert_eq!(odd("\"caf\u{e9} \u{85} \u{a0}\"".as_bytes()), []);
        assert_eq!(odd(br#""\ud83d\ude42 \uD83D\uDE42""#), []);
        assert_eq!(odd(br#""\ud83d\ud83d\ude42""#), [Oddity::LoneSurrogate { at: 2 }]);
        assert_eq!(odd(br#""\ude42""#), [Oddity::LoneSurrogate { at: 2 }]);
        assert_eq!(odd(b"\"ab\xff\""), [Oddity::BadUtf8 { at: 4 }]);
    }
}
