//! The session header, and the title slot that may stand before it. [`crate::core::read::load`] finds
//! the line; here it is read.

use crate::core::entry::{Entry, Kind};
use crate::core::json;
use crate::core::time::Stamp;

/// The version that this program writes.
pub(crate) const CURRENT: u32 = 3;

/// The session header: id, version and folder of the session.
#[derive(Clone, Debug)]
pub struct Header {
    /// The object as stored, without white space around it.
    pub raw: Vec<u8>,
    /// Its line, 1-based.
    pub line: u32,
    /// The session's id: any string, even an empty or hostile one.
    pub id: String,
    /// The version, as `version` declares it.
    pub version: DeclaredVersion,
    /// The working folder, if `cwd` is a string.
    pub cwd: Option<String>,
    /// The title, if it has text.
    pub title: Option<String>,
    /// When the session was started.
    pub stamp: Stamp,
}

/// The meaning of a header's `version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredVersion {
    /// Missing or null: version 1, unless the entries have ids.
    Absent,
    /// A whole number of at least 1.
    Number(u32),
    /// Any other value; the file is read as the current version.
    Invalid,
}

impl Header {
    /// Reads a `session` line; `None` if it has no string `id`.
    pub(crate) fn read(entry: Entry<'_>, line: u32) -> Option<Self> {
        let id = entry.get_str("id")?;
        Some(Self {
            raw: entry.object().bytes().to_vec(),
            line,
            id: id.into_owned(),
            version: DeclaredVersion::read(entry.get("version")),
            cwd: entry.get_str("cwd").map(|cwd| cwd.into_owned()),
            title: title(entry),
            stamp: entry.stamp(),
        })
    }
}

impl DeclaredVersion {
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
            _ => Self::Invalid,
        }
    }
}

/// Returns the title of a header or a title slot, if it has text.
pub(crate) fn title(entry: Entry<'_>) -> Option<String> {
    entry.get_str("title").filter(|title| !title.trim().is_empty()).map(|title| title.into_owned())
}

/// Returns whether a line may stand before the header, not being an entry.
pub(crate) fn may_precede(entry: Entry<'_>) -> bool {
    entry.id().is_none() && !entry.kind().is_entry_type() && entry.kind() != Kind::Header
}

#[cfg(test)]
mod tests {
    use super::{DeclaredVersion, json::Raw};

    #[test]
    fn versions_are_read_leniently() {
        let check = |texts: &[&str], expected: DeclaredVersion| {
            for text in texts {
                assert_eq!(DeclaredVersion::read(Some(Raw::new(text.as_bytes()))), expected, "{text}");
            }
        };
        check(&["null"], DeclaredVersion::Absent);
        check(&["1", "1.0", "\"1\""], DeclaredVersion::Number(1));
        check(&["3.0", "\"3\"", "\" 3 \""], DeclaredVersion::Number(3));
        check(&["4"], DeclaredVersion::Number(4));
        check(&["1e400", "0", "-1", "2.5", "\"three\"", "[]", "true"], DeclaredVersion::Invalid);
        assert_eq!(DeclaredVersion::read(None), DeclaredVersion::Absent);
    }
}
