//! Values inside a text that has been validated before, looked through as far as is needed. Must only
//! be given text that a [`Cursor`](super::Cursor) accepted; in other text members and elements may be missed.

use std::borrow::Cow;

use super::block;
use super::text;
use super::{Key, Span};

/// The kinds of JSON values, known from their first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number of any size.
    Number,
    /// A string.
    String,
    /// `[…]`
    Array,
    /// `{…}`
    Object,
}

/// The text of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    /// Wraps the text of one value, without white space around it.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the text as stored.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the kind of the value.
    pub fn kind(self) -> ValueKind {
        match self.0.first() {
            Some(b'{') => ValueKind::Object,
            Some(b'[') => ValueKind::Array,
            Some(b'"') => ValueKind::String,
            Some(b't' | b'f') => ValueKind::Bool,
            Some(b'-' | b'0'..=b'9') => ValueKind::Number,
            _ => ValueKind::Null,
        }
    }

    /// Returns the body of a string, undecoded; `None` for other kinds.
    pub(crate) fn string_body(self) -> Option<&'a [u8]> {
        match self.0 {
            [b'"', body @ .., b'"'] => Some(body),
            _ => None,
        }
    }

    /// Decodes a string leniently; `None` for other kinds.
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.string_body().map(text::decode)
    }

    /// Decodes the id of an entry, which is a string whose lone surrogates count.
    pub(crate) fn id(self) -> Option<Cow<'a, str>> {
        self.string_body().map(text::decode_id)
    }

    /// Reads a number as JavaScript would; `None` for other kinds.
    pub fn number(self) -> Option<f64> {
        if self.kind() != ValueKind::Number {
            return None;
        }
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// Returns whether the value is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.kind() == ValueKind::Null
    }

    /// Returns whether the value is `true`.
    pub(crate) fn is_true(self) -> bool {
        self.0 == b"true"
    }

    /// Returns a member of an object; of several with one name the last one counts.
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        let [member] = self.pick([name]);
        member
    }

    /// Returns several members of an object in one pass; of several with one name the last one counts.
    pub(crate) fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Raw<'a>>; N] {
        let mut picked = [None; N];
        for (key, value) in self.members() {
            if let Some(at) = names.iter().position(|name| name.as_bytes() == key.name()) {
                picked[at] = Some(value);
            }
        }
        picked
    }

    /// Returns a member that is a string, decoded.
    pub fn get_str(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.str()
    }

    /// Iterates over the members of an object, in the order of the text; other kinds have none.
    pub fn members(self) -> impl Iterator<Item = (Key<'a>, Raw<'a>)> {
        self.member_spans().map(move |(key, _, value)| (key, Raw(&self.0[value.range()])))
    }

    /// Iterates over the members of an object as [`Self::members`] does. The values at `known` are not walked through.
    pub(crate) fn members_around(self, known: [Span; 3]) -> impl Iterator<Item = (Key<'a>, Raw<'a>)> {
        self.member_spans_around(known).map(move |(key, _, value)| (key, Raw(&self.0[value.range()])))
    }

    /// Iterates over the members of an object, each with the spans of its name, with the quotes, and of its value.
    pub(crate) fn member_spans(self) -> impl Iterator<Item = (Key<'a>, Span, Span)> {
        self.member_spans_around([Span::default(); 3])
    }

    fn member_spans_around(self, known: [Span; 3]) -> impl Iterator<Item = (Key<'a>, Span, Span)> {
        let mut text = ValidText { known, ..ValidText::inside(self, ValueKind::Object) };
        std::iter::from_fn(move || {
            let [b'"', name @ .., b'"'] = text.next()? else { return None };
            let key = text.span_of(name.len() + 2);
            let value = text.next()?.len();
            Some((Key::decode(name), key, text.span_of(value)))
        })
    }

    /// Iterates over the elements of an array; other kinds have none.
    pub fn elements(self) -> impl Iterator<Item = Raw<'a>> {
        let mut text = ValidText::inside(self, ValueKind::Array);
        std::iter::from_fn(move || text.next().map(Raw))
    }
}

/// The rest of the inside of a container: values between white space, commas and colons. Since it was
/// validated, a string needs only its quotes to be found, and a container only its brackets.
struct ValidText<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Values whose ends are known. None starts at 0, where the container does.
    known: [Span; 3],
}

impl<'a> ValidText<'a> {
    /// Starts after the opening bracket of a container; the inside of another kind is empty.
    fn inside(container: Raw<'a>, kind: ValueKind) -> Self {
        let bytes = if container.kind() == kind { container.0 } else { &[] };
        Self { bytes, at: 1, known: [Span::default(); 3] }
    }

    /// Returns the next value, names of members included; `None` at the closing bracket.
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.bytes.get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' => self.at += 1,
                b'}' | b']' => return None,
                _ => break,
            }
        }
        let start = self.at;
        match self.known.iter().find(|known| known.start as usize == start) {
            Some(known) => self.at = known.end as usize,
            None => self.skip_value(),
        }
        self.bytes.get(start..self.at)
    }

    /// Returns the span of the last value, which has this length.
    fn span_of(&self, length: usize) -> Span {
        Span::new(self.at - length, self.at)
    }

    fn skip_value(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'"' => self.skip_string(),
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ if depth > 0 => continue,
                _ => {
                    // A number or a name, up to what cannot be in one.
                    let ends = |byte: &u8| matches!(byte, b',' | b':' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(ends).unwrap_or(rest.len());
                }
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips the rest of a string after its opening quote.
    fn skip_string(&mut self) {
        let start = self.at;
        while let Some(length) = block::find_quote(&self.bytes[self.at..]) {
            let quote = self.at + length;
            self.at = quote + 1;
            // An odd number of backslashes before it makes it a part of the string.
            let slashes = self.bytes[start..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
            if slashes % 2 == 0 {
                return;
            }
        }
        self.at = self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::{Raw, ValueKind};

    #[test]
    fn members_and_elements_are_found_between_blanks() {
        let raw = Raw::new(
            br#"{ "a" : [ 1 ,"]" , {"b":[{}]} , -0.5e+3,true,[ ] ] , "\u0062":"\\\"}" ,"c\\":null , "":{"}\\":"\\\\"}}"#,
        );
        let members: Vec<_> =
            raw.members().map(|(key, value)| (str::from_utf8(key.name()).unwrap().to_owned(), value.bytes())).collect();
        let expected: [(&str, &[u8]); 4] = [
            ("a", br#"[ 1 ,"]" , {"b":[{}]} , -0.5e+3,true,[ ] ]"#),
            ("b", br#""\\\"}""#),
            ("c\\", b"null"),
            ("", br#"{"}\\":"\\\\"}"#),
        ];
        assert_eq!(members, expected.map(|(name, value)| (name.to_owned(), value)));
        let elements: Vec<_> = raw.get("a").unwrap().elements().map(Raw::bytes).collect();
        let expected: [&[u8]; 6] = [b"1", b"\"]\"", br#"{"b":[{}]}"#, b"-0.5e+3", b"true", b"[ ]"];
        assert_eq!(elements, expected);
        assert_eq!(raw.elements().count() + raw.get("a").unwrap().members().count(), 0);
    }

    #[test]
    fn picked_members_are_the_last_of_their_names() {
        let raw = Raw::new(br#"{"a":1,"b":2,"\u0061":{"c":3},"d":"4"}"#);
        let [d, none, a, c] = raw.pick(["d", "none", "a", "c"]);
        assert_eq!(d.and_then(Raw::str).as_deref(), Some("4"));
        assert_eq!(a.map(Raw::kind), Some(ValueKind::Object));
        assert_eq!((none, c), (None, None));
    }

    #[test]
    fn text_that_is_not_json_is_safe() {
        for text in ["{", "[", "{\"", "{\"a", "{\"a\\\"", "{\"a\":", "[\"", "[1", "[[", "{]", "[}", "{1:2}", "[,:]"] {
            let raw = Raw::new(text.as_bytes());
            assert!(raw.members().count() + raw.elements().count() <= 1, "{text}");
        }
    }
}
