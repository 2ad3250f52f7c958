//! Values inside a text that has been validated before, looked into as far as is needed.

use std::borrow::Cow;

use super::text;
use super::{Cursor, Key};

/// The kinds of JSON values, told by their first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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

/// One value inside a text that has been validated before; wrong text reads as `null` or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    /// Takes the trimmed text of one value.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the text as it stands in the file.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Returns the kind of the value.
    pub fn kind(self) -> Kind {
        match self.0.first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// Returns what stands between the quotes of a string, undecoded.
    pub fn string_body(self) -> Option<&'a [u8]> {
        match self.0 {
            [b'"', body @ .., b'"'] => Some(body),
            _ => None,
        }
    }

    /// Decodes a string leniently; `None` for other kinds.
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.string_body().map(text::decode)
    }

    /// Reads a number as JavaScript would; `None` for other kinds.
    pub fn number(self) -> Option<f64> {
        if self.kind() != Kind::Number {
            return None;
        }
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// Returns whether the value is `true`.
    pub fn is_true(self) -> bool {
        self.0 == b"true"
    }

    /// Finds a member of an object; of several with the same name the last one counts.
    pub fn get(self, name: &str) -> Option<Raw<'a>> {
        self.members().filter(|(key, _)| key.name() == name.as_bytes()).last().map(|(_, value)| value)
    }

    /// Finds a member that is a string and decodes it.
    pub fn get_str(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.str()
    }

    /// Goes through the members of an object, in the order of the text.
    pub fn members(self) -> Members<'a> {
        let mut cursor = Cursor::new(self.0);
        let open = self.kind() == Kind::Object && cursor.begin_object().is_ok();
        Members { cursor, first: true, open }
    }

    /// Goes through the elements of an array.
    pub fn elements(self) -> Elements<'a> {
        let mut cursor = Cursor::new(self.0);
        let open = self.kind() == Kind::Array && cursor.begin_array().is_ok();
        Elements { cursor, first: true, open }
    }
}

/// Iterator over the members of an object.
#[derive(Debug)]
pub struct Members<'a> {
    cursor: Cursor<'a>,
    first: bool,
    open: bool,
}

impl<'a> Iterator for Members<'a> {
    type Item = (Key<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if !self.open {
            return None;
        }
        let member = self.cursor.next_member(&mut self.first).ok().flatten().and_then(|key| {
            let span = self.cursor.value().ok()?;
            Some((key, Raw(&self.cursor.bytes[span.range()])))
        });
        self.open = member.is_some();
        member
    }
}

/// Iterator over the elements of an array.
#[derive(Debug)]
pub struct Elements<'a> {
    cursor: Cursor<'a>,
    first: bool,
    open: bool,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.open || self.cursor.next_element(&mut self.first) != Ok(true) {
            self.open = false;
            return None;
        }
        match self.cursor.value() {
            Ok(span) => Some(Raw(&self.cursor.bytes[span.range()])),
            Err(_) => {
                self.open = false;
                None
            }
        }
    }
}
