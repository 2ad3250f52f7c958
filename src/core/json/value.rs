//! Values inside a text that has been validated before, parsed again as far as is needed. Must only
//! be given text that a [`Cursor`] accepted; other text is safe, but reads as `null` or empty.

use std::borrow::Cow;

use super::text;
use super::{Cursor, Key};

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
        self.members().filter(|(key, _)| key.name() == name.as_bytes()).last().map(|(_, value)| value)
    }

    /// Returns a member that is a string, decoded.
    pub fn get_str(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.str()
    }

    /// Iterates over the members of an object, in the order of the text; other kinds have none.
    pub fn members(self) -> impl Iterator<Item = (Key<'a>, Raw<'a>)> {
        let mut cursor = Cursor::new(self.0);
        let mut open = self.kind() == ValueKind::Object && cursor.begin_object().is_ok();
        let mut first = true;
        std::iter::from_fn(move || {
            let key = if open { cursor.next_member(&mut first).ok().flatten() } else { None };
            let member = key.and_then(|key| cursor.value().ok().map(|span| (key, Raw(cursor.text(span)))));
            open = member.is_some();
            member
        })
    }

    /// Iterates over the elements of an array; other kinds have none.
    pub fn elements(self) -> impl Iterator<Item = Raw<'a>> {
        let mut cursor = Cursor::new(self.0);
        let mut open = self.kind() == ValueKind::Array && cursor.begin_array().is_ok();
        let mut first = true;
        std::iter::from_fn(move || {
            open = open && cursor.next_element(&mut first) == Ok(true);
            let value = if open { cursor.value().ok() } else { None };
            open = value.is_some();
            value.map(|span| Raw(cursor.text(span)))
        })
    }
}
