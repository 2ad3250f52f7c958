//! A JSON parser that validates a text in one pass and returns byte spans. [`self::text`] decodes
//! and encodes strings, [`Raw`] looks into values that were validated before, [`Object`] writes.
//!
//! Accepts what JavaScript's `JSON.parse` accepts, in text that may hold bad UTF-8: any nesting depth,
//! lone surrogate escapes, numbers of any size, duplicate keys. Must never recurse, since the depth is
//! up to the file, and never copy what it reads.

pub(crate) mod splice;
pub mod text;

use std::borrow::Cow;
use std::ops::Range;

use block::{Inside, StringBlock};
pub use object::Object;
pub use value::{Raw, ValueKind};

mod block;
mod object;
mod value;

/// A range of bytes within one line; `0..0` stands for "absent".
///
/// 32 bits are enough: a line longer than `u32::MAX` bytes is never parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes a span; offsets above 32 bits are cut, see the type.
    pub(crate) fn new(start: usize, end: usize) -> Self {
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: narrow(start), end: narrow(end) }
    }

    /// Returns whether the span is empty.
    pub(crate) fn is_absent(self) -> bool {
        self.start == self.end
    }

    /// Returns the span as a range of indices.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The place at which a text stops being JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Offset of the first byte that is not allowed there.
    pub at: usize,
}

/// A member's name, decoded only if it holds an escape.
#[derive(Debug)]
pub struct Key<'a>(Cow<'a, [u8]>);

impl<'a> Key<'a> {
    /// Returns the decoded bytes of the name.
    pub fn name(&self) -> &[u8] {
        &self.0
    }

    /// Decodes a name, given as the body of a string.
    fn decode(body: &'a [u8]) -> Self {
        Self(if body.contains(&b'\\') { Self::unescape(body) } else { Cow::Borrowed(body) })
    }

    fn unescape(body: &[u8]) -> Cow<'a, [u8]> {
        Cow::Owned(text::decode(body).into_owned().into_bytes())
    }
}

/// A position in one JSON text; every byte before it has been validated.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the offset of the next unread byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the text of a span.
    pub fn text(&self, span: Span) -> &'a [u8] {
        &self.bytes[span.range()]
    }

    /// Skips white space and returns the next byte, without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                // Nearly always: white space is below all else that may come.
                Some(&byte) if byte > b' ' => return Some(byte),
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Consumes `{`.
    #[inline]
    pub(crate) fn begin_object(&mut self) -> Result<(), SyntaxError> {
        self.expect(b'{')
    }

    /// Consumes `[`.
    #[inline]
    pub(crate) fn begin_array(&mut self) -> Result<(), SyntaxError> {
        self.expect(b'[')
    }

    /// Consumes the next member's name and colon and returns the name, or `None` after the closing
    /// brace. `first` must be true in the first call for an object; this method then clears it.
    #[inline]
    pub(crate) fn next_member(&mut self, first: &mut bool) -> Result<Option<Key<'a>>, SyntaxError> {
        match self.peek() {
            Some(b'}') => {
                self.at += 1;
                return Ok(None);
            }
            Some(b',') if !*first => {
                self.at += 1;
                self.peek();
            }
            Some(_) if *first => {}
            _ => return self.fail(),
        }
        *first = false;
        self.key().map(Some)
    }

    /// Consumes a comma, or the closing bracket, and returns whether an element follows. `first` as in
    /// [`Self::next_member`].
    #[inline]
    pub(crate) fn next_element(&mut self, first: &mut bool) -> Result<bool, SyntaxError> {
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !*first => {
                self.at += 1;
                Ok(true)
            }
            Some(_) if *first => {
                *first = false;
                Ok(true)
            }
            _ => self.fail(),
        }
    }

    /// Consumes one value of any kind and returns its span.
    #[inline]
    pub fn value(&mut self) -> Result<Span, SyntaxError> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => {
                self.at += 1;
                self.string()?;
            }
            Some(b'{' | b'[') => self.container()?,
            Some(byte) => self.scalar(byte)?,
            None => return self.fail(),
        }
        Ok(Span::new(start, self.at))
    }

    /// Checks that only white space is left.
    pub fn end(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail(),
        }
    }

    fn fail<T>(&self) -> Result<T, SyntaxError> {
        Err(SyntaxError { at: self.at })
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), SyntaxError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.fail()
    }

    #[inline]
    fn key(&mut self) -> Result<Key<'a>, SyntaxError> {
        let start = self.at + 1;
        let (end, escaped) = self.name()?;
        let raw = &self.bytes[start..end];
        Ok(Key(if escaped { Key::unescape(raw) } else { Cow::Borrowed(raw) }))
    }

    /// Consumes a member's name and its colon; returns the end of the name and whether it holds an
    /// escape.
    #[inline]
    fn name(&mut self) -> Result<(usize, bool), SyntaxError> {
        if self.bytes.get(self.at) != Some(&b'"') {
            return self.fail();
        }
        self.at += 1;
        let escaped = self.string()?;
        let end = self.at - 1;
        self.expect(b':')?;
        Ok((end, escaped))
    }

    /// Consumes the rest of a string after its opening quote; returns whether it may hold an escape.
    #[inline]
    fn string(&mut self) -> Result<bool, SyntaxError> {
        // Most strings are names, ids and times: handled here, without a call, they cost half as much.
        for _ in 0..2 {
            let Some(front) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) else { break };
            let plain = block::plain_front(front);
            self.at += plain;
            if plain == front.len() {
                continue;
            }
            if front[plain] == b'"' {
                self.at += 1;
                return Ok(false);
            }
            break;
        }
        self.long_string().map(|()| true)
    }

    /// Consumes the rest of a string, whole blocks of it at once.
    #[inline(never)]
    fn long_string(&mut self) -> Result<(), SyntaxError> {
        while let Some(bytes) = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk) {
            let Inside { end, done, mut unsure } = StringBlock::new(bytes).inside();
            while unsure != 0 {
                self.escape_at(self.at + unsure.trailing_zeros() as usize - 1)?;
                unsure &= unsure - 1;
            }
            if end < block::SIZE {
                self.at += end;
                return self.expect_quote();
            }
            self.at += done;
        }
        loop {
            self.at = text::plain_end(self.bytes, self.at);
            if self.bytes.get(self.at) != Some(&b'\\') {
                return self.expect_quote();
            }
            self.at += self.escape_at(self.at)?;
        }
    }

    fn expect_quote(&mut self) -> Result<(), SyntaxError> {
        if self.take(b'"') { Ok(()) } else { self.fail() }
    }

    /// Returns the length of the escape at a backslash.
    #[inline(always)]
    fn escape_at(&self, at: usize) -> Result<usize, SyntaxError> {
        let digits = || self.bytes.get(at + 2..at + 6);
        match self.bytes.get(at + 1) {
            Some(b'n' | b'"' | b'\\' | b't' | b'/' | b'r' | b'b' | b'f') => Ok(2),
            Some(b'u') if digits().is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) => Ok(6),
            _ => Err(SyntaxError { at }),
        }
    }

    #[inline]
    fn scalar(&mut self, byte: u8) -> Result<(), SyntaxError> {
        match byte {
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.number(),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), SyntaxError> {
        if !self.bytes[self.at..].starts_with(word) {
            return self.fail();
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(())
    }

    /// Consumes a byte if it is the next one; returns whether it is.
    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.bytes.get(self.at) == Some(&byte);
        if is_next {
            self.at += 1;
        }
        is_next
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return self.fail();
        }
        self.at += count;
        Ok(())
    }

    /// Consumes an object or array with everything in it.
    fn container(&mut self) -> Result<(), SyntaxError> {
        let mut open = ContainerStack::default();
        'value: loop {
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        open.push(true);
                        self.name()?;
                        continue 'value;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        open.push(false);
                        continue 'value;
                    }
                }
                Some(b'"') => {
                    self.at += 1;
                    self.string()?;
                }
                Some(byte) => self.scalar(byte)?,
                None => return self.fail(),
            }
            loop {
                let Some(in_object) = open.top() else { return Ok(()) };
                match (self.peek(), in_object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.peek();
                        self.name()?;
                        continue 'value;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        continue 'value;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return self.fail(),
                }
            }
        }
    }
}

/// The open containers around a value, one bit per level (set = object): hostile nesting costs an
/// eighth of a byte per level and no call stack.
#[derive(Default)]
struct ContainerStack {
    depth: u32,
    current: u64,
    full: Vec<u64>,
}

impl ContainerStack {
    fn push(&mut self, object: bool) {
        if self.depth == u64::BITS {
            self.full.push(self.current);
            self.depth = 0;
        }
        self.current = self.current << 1 | u64::from(object);
        self.depth += 1;
    }

    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.current & 1 == 1)
    }

    fn pop(&mut self) {
        self.current >>= 1;
        self.depth -= 1;
        if self.depth == 0
            && let Some(word) = self.full.pop()
        {
            self.current = word;
            self.depth = u64::BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cursor, Raw, ValueKind};

    fn accepts(text: &[u8]) -> bool {
        let mut cursor = Cursor::new(text);
        cursor.value().and_then(|_| cursor.end()).is_ok()
    }

    #[test]
    fn accepts_what_json_parse_accepts() {
        let short = ["{}", "[]", "1e400", "-0", "0.5E+3", "true", "null"];
        let long = [
            " [ 1 , 2 ] ",
            r#"{"a":{"b":[{}]}}"#,
            r#""\ud83d""#,
            r#"{"a":1,"a":2}"#,
            "\"\u{7f}\u{2028}\"",
            r#""\/\b\f\n\r\t\\\"\u00e9""#,
            "12345678901234567890",
        ];
        for text in short.into_iter().chain(long) {
            assert!(accepts(text.as_bytes()), "{text}");
        }
        assert!(accepts(b"\"\xff\xfe bad UTF-8\""));
    }

    #[test]
    fn rejects_what_json_parse_rejects() {
        let brackets = ["", "{", "}", "[1,]", "{,}", "[,1]", "[1}", "{]", "{} {}", "1 2", "[1 2]"];
        let scalars = ["01", "1.", ".5", "+1", "1e", "--1", "tru", "nul", "NaN", "\"open", r#""\x""#];
        let long = [
            "{\"a\":1,}",
            r#"{"a" 1}"#,
            r#"{a:1}"#,
            r#""\u12g4""#,
            "\"a\nb\"",
            "\"tab\tb\"",
            r#"{"a":1 "b":2}"#,
            "\u{feff}1",
        ];
        for text in brackets.into_iter().chain(scalars).chain(long) {
            assert!(!accepts(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn an_error_is_where_a_reader_of_bytes_would_stop() {
        let place = |text: &str| Cursor::new(text.as_bytes()).value().unwrap_err().at;
        for front in [0, 1, 60, 61, 62, 63, 64, 65, 200] {
            let front = format!("\"\\n{}", "x".repeat(front));
            for end in [String::new(), "x".repeat(200)] {
                let checks =
                    [(r"\x", 0), (r"\\\u12G4", 2), ("\\\n", 0), ("\\\\\n", 2), ("\t", 0), (r"\u00e9\t\/\r\q\x", 12)];
                for (bad, at) in checks {
                    assert_eq!(place(&format!("{front}{bad}{end}\"")), front.len() + at, "{front}{bad}{end}");
                }
            }
            assert_eq!(place(&front), front.len());
            assert_eq!(place(&format!("{front}\\")), front.len());
            assert_eq!(place(&format!("{front}\\\"")), front.len() + 2);
        }
    }

    #[test]
    fn deep_nesting_needs_no_call_stack() {
        let deep = 200_000;
        let mut text = "[{\"a\":".repeat(deep).into_bytes();
        text.extend_from_slice(b"1");
        assert!(!accepts(&text));
        text.extend("}]".repeat(deep).into_bytes());
        assert!(accepts(&text));
        *text.last_mut().unwrap() = b'}';
        assert!(!accepts(&text));
    }

    #[test]
    fn agrees_with_serde_json_on_mutated_text() {
        // A string of several blocks with all escapes, so that they fall on and across their ends.
        let long = r#"a\nbc \"\\ \t\/\r\b\f\u00e9"#.repeat(9);
        let seed = format!(r#"{{"type":"message","id":"a1","n":[-1.5e3,true,null,{{"k\u00e9":"v\\"}}],"s":"{long}"}}"#);
        let bytes = b"{}[]\",:\\u0e1.-+tn \x01\xffz";
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % bound as u64).unwrap()
        };
        for _ in 0..60_000 {
            let mut text = seed.clone().into_bytes();
            for _ in 0..=next(2) {
                let at = next(text.len());
                match next(3) {
                    0 => text[at] = bytes[next(bytes.len())],
                    1 => drop(text.remove(at)),
                    _ => text.insert(at, bytes[next(bytes.len())]),
                }
            }
            let theirs = serde_json::from_slice::<serde::de::IgnoredAny>(&text).is_ok();
            assert_eq!(accepts(&text), theirs, "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn last_of_duplicate_members_counts() {
        let raw = Raw::new(br#"{"a":1,"b":"x","\u0061":[2, {}]}"#);
        assert_eq!(raw.get("a").map(Raw::bytes), Some(&b"[2, {}]"[..]));
        assert_eq!(raw.get("a").map(|a| a.elements().count()), Some(2));
        assert_eq!(raw.get_str("b").as_deref(), Some("x"));
        assert_eq!(raw.get("c"), None);
        assert_eq!(raw.get("a").map(Raw::kind), Some(ValueKind::Array));
    }
}
