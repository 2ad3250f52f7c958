//! The session header and the title slot before it.

use crate::core::entry::{Entry, Kind};
use crate::core::json;
use crate::core::time::Stamp;

/// The version that this program writes.
pub const CURRENT: u32 = 3;

/// The first line that counts: what the session says of itself.
#[derive(Clone, Debug)]
pub struct Header {
    /// The line as stored, without what stands around the object.
    pub raw: Vec<u8>,
    /// 1-based line.
    pub line: u32,
    /// The session's id; any string, also an empty or hostile one.
    pub id: String,
    /// What `version` means.
    pub version: Declared,
    /// The working folder, if it is a string.
    pub cwd: Option<String>,
    /// The header's own title, if it has words.
    pub title: Option<String>,
    /// When the session was started.
    pub stamp: Stamp,
}

/// What a header says of its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// Nothing: version 1, unless the entries say otherwise.
    Absent,
    /// A whole number from 1.
    Number(u32),
    /// Something that is no version; read as the current one.
    Odd,
}

impl Header {
    /// Takes a `session` line; `None` if it has no string `id`.
    pub(crate) fn read(entry: Entry<'_>, line: u32) -> Option<Self> {
        let id = entry.get_str("id")?;
        Some(Self {
            raw: entry.object().bytes().to_vec(),
            line,
            id: id.into_owned(),
            version: Declared::read(entry.get("version")),
            cwd: entry.get_str("cwd").map(|cwd| cwd.into_owned()),
            title: title(entry),
            stamp: entry.stamp(),
        })
    }
}

impl Declared {
    fn read(raw: Option<json::Raw<'_>>) -> Self {
        let Some(raw) = raw else { return Self::Absent };
        let number = match raw.kind() {
            json::ValueKind::Null => return Self::Absent,
            json::ValueKind::Number => raw.number(),
            json::ValueKind::String => raw.str().and_then(|text| text.trim().parse().ok()),
            _ => None,
        };
        match number {
            Some(number) if number >= 1.0 && number.fract() == 0.0 => {
                // In range and whole: the cast is exact, and beyond the range it saturates.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                Self::Number(number as u32)
            }
            _ => Self::Odd,
        }
    }
}

/// Returns the title of a header or a title slot, if it has words.
pub(crate) fn title(entry: Entry<'_>) -> Option<String> {
    entry.get_str("title").filter(|title| !title.trim().is_empty()).map(|title| title.into_owned())
}

/// Returns whether a line without being an entry may stand before the header.
pub(crate) fn may_precede(entry: Entry<'_>) -> bool {
    entry.id().is_none() && !entry.kind().is_entry_type() && entry.kind() != Kind::Header
}

#[cfg(test)]
mod tests {
    use super::{Declared, json::Raw};

    #[test]
    fn versions_are_read_leniently() {
        let read = |text: &str| Declared::read(Some(Raw::new(text.as_bytes())));
        for (text, expected) in [
            ("null", Declared::Absent),
            ("1", Declared::Number(1)),
            ("3.0", Declared::Number(3)),
            ("\"3\"", Declared::Number(3)),
            ("\" 2 \"", Declared::Number(2)),
            ("4", Declared::Number(4)),
            ("1e400", Declared::Odd),
            ("0", Declared::Odd),
            ("-1", Declared::Odd),
            ("2.5", Declared::Odd),
            ("\"three\"", Declared::Odd),
            ("[]", Declared::Odd),
            ("true", Declared::Odd),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(Declared::read(None), Declared::Absent);
    }
}
