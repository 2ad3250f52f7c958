//! Decodes and encodes strings as session files hold them: JSON escapes, lone surrogates, bad UTF-8.
//!
//! Decoding is lenient and never fails: what is not a character becomes U+FFFD, as it does in the
//! agents. Must not be taken for terminal escaping, which is done in `ui::escape`.

use std::borrow::Cow;

use super::block;

/// Replaces lone surrogates and bytes that are not UTF-8.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Decodes the body of a JSON string: the bytes between its quotes.
pub(crate) fn decode(raw: &[u8]) -> Cow<'_, str> {
    // Most strings are ids: short and plain.
    if plain_end(raw, 0) == raw.len() || !raw.contains(&b'\\') {
        return lossy(raw);
    }
    Cow::Owned(decoded(raw, |_| REPLACEMENT))
}

/// The first of the characters that stand for the 2048 lone surrogates in ids: the last ones that Unicode leaves
/// for private use. An id that has one of these itself is taken for one with a lone surrogate; no agent makes such.
const LONE_SURROGATES: u32 = 0x10_f800;

/// Decodes the body of an id as [`decode`] does, but different ids stay different: a character for private use
/// stands for each lone surrogate. [`push_json_id`] writes it back, and [`shown_id`] is what people see.
pub(crate) fn decode_id(raw: &[u8]) -> Cow<'_, str> {
    if !raw.contains(&b'\\') {
        return lossy(raw);
    }
    Cow::Owned(decoded(raw, |lone| char::from_u32(LONE_SURROGATES + (lone & 0x7ff)).unwrap_or(REPLACEMENT)))
}

/// Decodes a string that has escapes, with something in place of each lone surrogate.
fn decoded(raw: &[u8], of_surrogate: impl Fn(u32) -> char) -> String {
    let mut out = Vec::with_capacity(raw.len());
    let push = |out: &mut Vec<u8>, char: char| out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    for piece in StringParts(raw) {
        match piece {
            StringPart::Plain(bytes) => out.extend_from_slice(bytes),
            StringPart::Char(char) => push(&mut out, char),
            StringPart::Surrogate(lone) => push(&mut out, of_surrogate(lone)),
        }
    }
    // No escape completes a sequence of bytes, so the text can be checked as one.
    String::from_utf8(out).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// Returns whether a character stands for a lone surrogate in an id.
pub(crate) fn is_lone_surrogate(char: char) -> bool {
    u32::from(char) >= LONE_SURROGATES
}

/// Returns an id as it is shown: U+FFFD for each lone surrogate.
pub(crate) fn shown_id(id: &str) -> Cow<'_, str> {
    if id.contains(is_lone_surrogate) {
        Cow::Owned(id.replace(is_lone_surrogate, "\u{fffd}"))
    } else {
        Cow::Borrowed(id)
    }
}

/// Appends an id to `out` as a JSON string with its quotes, and its lone surrogates as they were.
pub(crate) fn push_json_id(out: &mut Vec<u8>, id: &str) {
    out.push(b'"');
    for piece in id.split_inclusive(is_lone_surrogate) {
        let lone = piece.chars().next_back().filter(|&char| is_lone_surrogate(char));
        push_json_body(out, piece.trim_end_matches(is_lone_surrogate));
        if let Some(lone) = lone {
            out.extend_from_slice(format!("\\u{:04x}", 0xd800 + (u32::from(lone) - LONE_SURROGATES)).as_bytes());
        }
    }
    out.push(b'"');
}

/// Returns text with U+FFFD in place of bad UTF-8. A check first is several times as fast as the search
/// for bad bytes.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Appends `text` to `out` as a JSON string with its quotes.
pub fn push_json(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    push_json_body(out, text);
    out.push(b'"');
}

/// Appends `text` to `out` as the body of a JSON string, without quotes.
pub(crate) fn push_json_body(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        let end = plain_end(bytes, at);
        out.extend_from_slice(&bytes[at..end]);
        let Some(&byte) = bytes.get(end) else { break };
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
        at = end + 1;
    }
}

/// Appends the printable ASCII at the front of the body of a JSON string, up to an escape or another byte. Returns
/// how much that is.
#[inline(always)]
pub(crate) fn push_printable(out: &mut Vec<u8>, raw: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = raw[at..].first_chunk::<16>() {
        // To copy all of it and forget the rest is faster than to copy a part.
        let plain = block::printable_front(chunk);
        let length = out.len() + plain;
        out.extend_from_slice(chunk);
        out.truncate(length);
        at += plain;
        if plain < chunk.len() {
            return at;
        }
    }
    let rest = raw[at..].iter().take_while(|&&byte| matches!(byte, b' '..=b'~') && byte != b'\\').count();
    out.extend_from_slice(&raw[at..at + rest]);
    at + rest
}

/// Returns the body of a JSON string without the line ends that its text ends with.
pub(crate) fn trim_line_ends(raw: &[u8]) -> &[u8] {
    let mut body = raw;
    loop {
        let end = [&b"\\n"[..], b"\\u000a", b"\\u000A", b"\n"].into_iter().find(|end| body.ends_with(end));
        let Some(rest) = end.and_then(|end| body.get(..body.len() - end.len())) else { return body };
        // After an odd number of backslashes that of the line end is escaped.
        let slashes = rest.iter().rev().take_while(|&&byte| byte == b'\\').count();
        if slashes % 2 == 1 && body[rest.len()] == b'\\' {
            return body;
        }
        body = rest;
    }
}

/// Appends text to a string as words: runs of white space become one space, leading white space is
/// dropped, and at most a given number of characters is taken.
#[derive(Debug)]
pub struct WordWriter<'a> {
    out: &'a mut String,
    left: usize,
    start: usize,
    space: bool,
}

impl<'a> WordWriter<'a> {
    /// Starts to append to `out`, at most `limit` characters.
    pub fn new(out: &'a mut String, limit: usize) -> Self {
        let start = out.len();
        Self { out, left: limit, start, space: false }
    }

    /// Returns whether the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Returns whether no word has been taken yet.
    pub fn is_empty(&self) -> bool {
        self.out.len() == self.start
    }

    /// Appends plain text.
    pub fn push_str(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && self.left > 0 {
            let plain = plain_words(rest.as_bytes(), self.left - usize::from(self.is_space_due()));
            if plain > 0 {
                self.take(&rest[..plain], plain);
                rest = &rest[plain..];
                continue;
            }
            let Some(char) = rest.chars().next() else { return };
            if char.is_whitespace() {
                self.space = true;
            } else {
                self.take(&rest[..char.len_utf8()], 1);
            }
            rest = &rest[char.len_utf8()..];
        }
    }

    /// Appends the body of a JSON string, decoding no more than is needed.
    pub fn push_json(&mut self, raw: &[u8]) {
        for piece in StringParts(raw) {
            if self.left == 0 {
                return;
            }
            match piece {
                StringPart::Plain(bytes) => self.push_bytes(bytes),
                StringPart::Char(char) => self.push_str(char.encode_utf8(&mut [0; 4])),
                StringPart::Surrogate(_) => self.push_str("\u{fffd}"),
            }
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        // A character is at least one byte, so that more than is left is decoded only where white
        // space collapses.
        const FEWEST: usize = 16;
        let mut rest = bytes;
        while !rest.is_empty() && self.left > 0 {
            let mut end = rest.len().min(self.left.max(FEWEST));
            if end < rest.len() {
                // Not within a character; a longer run of continuation bytes is bad UTF-8 anyway.
                let is_start = |back: &usize| rest[end - back] & 0xc0 != 0x80;
                end -= (0..4).find(is_start).unwrap_or(0);
            }
            self.push_str(&lossy(&rest[..end]));
            rest = &rest[end..];
        }
    }

    /// Returns whether a space is due before the next word.
    fn is_space_due(&self) -> bool {
        self.space && self.out.len() > self.start
    }

    /// Appends text that starts and ends with a word and that has room, after the space that is due.
    fn take(&mut self, text: &str, chars: usize) {
        if self.is_space_due() {
            if self.left < 2 {
                // No room for the space and a character after it.
                self.left = 0;
                return;
            }
            self.out.push(' ');
            self.left -= 1;
        }
        self.space = false;
        self.out.push_str(text);
        self.left -= chars;
    }
}

/// Returns the length of the ASCII words at the front that have single spaces between them, at most
/// `limit`.
fn plain_words(bytes: &[u8], limit: usize) -> usize {
    let bytes = &bytes[..bytes.len().min(limit)];
    let mut at = 0;
    while let Some(chunk) = bytes[at..].first_chunk() {
        let words = block::words(chunk, at > 0);
        at += words;
        if words + 1 < chunk.len() {
            return at;
        }
    }
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_graphic() {
            at += 1;
        } else if *byte == b' ' && at > 0 && bytes.get(at + 1).is_some_and(u8::is_ascii_graphic) {
            at += 2;
        } else {
            break;
        }
    }
    at
}

/// Returns whether the body of a JSON string has anything but white space.
pub(crate) fn has_words(raw: &[u8]) -> bool {
    if raw.first().is_some_and(|&byte| byte.is_ascii_graphic() && byte != b'\\') {
        return true;
    }
    let mut out = String::new();
    let mut words = WordWriter::new(&mut out, 1);
    words.push_json(raw);
    !words.is_empty()
}

/// Returns the offset of the first byte from `at` on that ends a plain run in a string, which is a
/// quote, a backslash or a control character; the length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let plain = block::plain_front(chunk);
        at += plain;
        if plain < chunk.len() {
            return at;
        }
    }
    // Most strings are ids of eight bytes. The lowest flag is exact, those above it may be false.
    if let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * b'"' as u64);
        let slash = word ^ (ONES * b'\\' as u64);
        let flags = (quote.wrapping_sub(ONES) & !quote
            | slash.wrapping_sub(ONES) & !slash
            | word.wrapping_sub(ONES * 0x20) & !word)
            & HIGH;
        if flags != 0 {
            return at + (flags.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

/// A part of the body of a JSON string: a run without escapes, or one decoded escape.
#[derive(Debug)]
pub(crate) enum StringPart<'a> {
    Plain(&'a [u8]),
    Char(char),
    /// A surrogate that is not one of a pair.
    Surrogate(u32),
}

/// Iterator over the parts of the body of a JSON string.
#[derive(Debug)]
pub(crate) struct StringParts<'a>(&'a [u8]);

impl<'a> StringParts<'a> {
    /// Starts at the front.
    pub(crate) fn new(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Returns what is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> Iterator for StringParts<'a> {
    type Item = StringPart<'a>;

    fn next(&mut self) -> Option<StringPart<'a>> {
        let bytes = self.0;
        if *bytes.first()? != b'\\' {
            let end = plain_end(bytes, 0);
            // A quote or control character cannot occur in validated text; it is passed all the same,
            // so that no input stops the iterator.
            let end = if end == 0 || bytes.get(end).is_some_and(|&byte| byte != b'\\') {
                bytes.iter().position(|&byte| byte == b'\\').unwrap_or(bytes.len())
            } else {
                end
            };
            let (plain, rest) = bytes.split_at(end);
            self.0 = rest;
            return Some(StringPart::Plain(plain));
        }
        let (char, length) = match bytes.get(1) {
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            Some(b'r') => ('\r', 2),
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'u') => {
                let (code, length) = unicode_escape(bytes);
                self.0 = &bytes[length.min(bytes.len())..];
                return Some(char::from_u32(code).map_or(StringPart::Surrogate(code), StringPart::Char));
            }
            Some(&other) if other.is_ascii() => (char::from(other), 2),
            _ => (REPLACEMENT, 1),
        };
        self.0 = &bytes[length.min(bytes.len())..];
        Some(StringPart::Char(char))
    }
}

/// Decodes `\uXXXX`, or a surrogate pair of them; returns the character's number and the length in bytes.
fn unicode_escape(bytes: &[u8]) -> (u32, usize) {
    let Some(first) = hex4(bytes, 2) else { return (u32::from(REPLACEMENT), 2) };
    if (0xd800..0xdc00).contains(&first)
        && bytes.get(6..8) == Some(b"\\u")
        && let Some(second) = hex4(bytes, 8)
        && (0xdc00..0xe000).contains(&second)
    {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (code, 12);
    }
    (first, 6)
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = std::str::from_utf8(bytes.get(at..at + 4)?).ok()?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{WordWriter, decode, has_words, plain_words, push_json};

    fn words(raw: &str, limit: usize) -> String {
        let mut out = String::from("> ");
        WordWriter::new(&mut out, limit).push_json(raw.as_bytes());
        out.split_off(2)
    }

    #[test]
    fn decodes_escapes_and_pairs() {
        assert_eq!(decode(br#"a\n\"\\\/\u00e9\ud83d\ude42"#), "a\n\"\\/é🙂");
    }

    #[test]
    fn lone_surrogates_and_bad_utf8_become_replacements() {
        assert_eq!(decode(br"x\ud83d"), "x\u{fffd}");
        assert_eq!(decode(br"\ude42\ud83dy\ud83d\u0041"), "\u{fffd}\u{fffd}y\u{fffd}A");
        assert_eq!(decode(b"a\xffb\\n"), "a\u{fffd}b\n");
    }

    #[test]
    fn ids_keep_their_lone_surrogates() {
        let ids = [&br"a\ud83d"[..], br"a\ud83e", br"a\ude42", br"a\udfffb\ud800", br"\ud83d\ude42", br"a\u00e9"];
        let decoded = ids.map(super::decode_id);
        for (at, (raw, id)) in ids.iter().zip(&decoded).enumerate() {
            assert!(decoded[..at].iter().all(|other| other != id), "{id:?}");
            let mut written = Vec::new();
            super::push_json_id(&mut written, id);
            let body = &written[1..written.len() - 1];
            assert_eq!(super::decode_id(body), *id);
            assert_eq!(super::shown_id(id), decode(raw));
            assert_eq!(body.contains(&b'\\'), at < 4, "{}", String::from_utf8_lossy(body));
        }
        let mut written = Vec::new();
        super::push_json_id(&mut written, &super::decode_id(br#"\ud800x\"\udfff\udabc"#));
        assert_eq!(String::from_utf8(written).unwrap(), r#""\ud800x\"\udfff\udabc""#);
    }

    #[test]
    fn white_space_collapses_and_the_limit_holds() {
        assert_eq!(words(r"  a\n\n b\tc  ", 99), "a b c");
        assert_eq!(words("a\u{2028}b\u{85}c", 99), "a b c");
        assert_eq!(words("abcdef", 3), "abc");
        assert_eq!(words("ab cdef", 4), "ab c");
        assert_eq!(words(r"ab\n\n cd", 4), "ab c");
        assert_eq!(words("ab cd", 3), "ab");
        assert_eq!(words(r#"\ta \"b\" \\n\u0063 é\r\n"#, 99), r#"a "b" \nc é"#);
        assert_eq!(words("日本語日本語", 4), "日本語日");
        let long = format!("{}x", " ".repeat(5000));
        assert_eq!(words(&long, 4), "x");
        assert_eq!(words(&"é".repeat(3000), 2000), "é".repeat(2000));
    }

    #[test]
    fn words_end_where_a_reader_of_bytes_would_stop() {
        /// Reads byte by byte.
        fn expected(bytes: &[u8]) -> usize {
            let is_word = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_graphic);
            let goes_on =
                |&at: &usize| is_word(at) || bytes[at] == b' ' && at > 0 && is_word(at - 1) && is_word(at + 1);
            (0..bytes.len()).take_while(goes_on).count()
        }
        for length in 0..50 {
            for first in 0..length {
                for (second, odd) in
                    (first..length).flat_map(|second| [b' ', b'\t', 0x7f, 0xe9].map(|odd| (second, odd)))
                {
                    let mut text = vec![b'x'; length];
                    (text[first], text[second]) = (b' ', odd);
                    assert_eq!(plain_words(&text, 99), expected(&text), "{text:?}");
                    assert_eq!(plain_words(&text, 20), expected(&text[..length.min(20)]), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn text_of_white_space_has_no_words() {
        assert!(!has_words(br" \n\t\u00a0"));
        assert!(has_words(br" \n."));
    }

    #[test]
    fn encoded_strings_decode_to_the_same_text() {
        for text in ["", "plain", "q\"b\\s\n\r\t\u{1}\u{1f}\u{7f}é🙂\u{2028}"] {
            let mut out = Vec::new();
            push_json(&mut out, text);
            assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
        }
    }

    #[test]
    fn characters_are_not_cut_where_the_room_ends() {
        for (text, limit) in [("日", 16), ("é", 17), ("🙂", 17), ("aé", 19)] {
            let cut = words(&text.repeat(40), limit);
            assert!(cut.chars().count() + 1 >= limit && !cut.contains('\u{fffd}'), "{text}: {cut}");
        }
    }
}
