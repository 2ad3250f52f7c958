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

/// The members that omp 18 needs in a title slot, each with the values that it takes. It refuses a file that
/// starts with any other title line.
pub(crate) const SLOT_MEMBERS: [&str; 5] = [
    "`v` is not 1",
    "`title` is not a string",
    "`updatedAt` is not a string",
    "`pad` is not a string",
    "`source` is neither `auto` nor `user`",
];

/// The size of a title slot, its line feed included: omp writes as much when it changes the title.
pub(crate) const SLOT_SIZE: u32 = 256;

/// Reads a title slot.
///
/// # Errors
/// The index into [`SLOT_MEMBERS`] of what keeps the line from being one.
pub(crate) fn slot(entry: Entry<'_>) -> Result<Option<String>, u8> {
    let is_string = |name: &str| entry.get(name).is_some_and(|value| value.string_body().is_some());
    let is_source = |source: json::Raw<'_>| source.str().is_some_and(|source| matches!(&*source, "auto" | "user"));
    let found = [
        entry.get("v").is_some_and(|version| version.number() == Some(1.0)),
        is_string("title"),
        is_string("updatedAt"),
        is_string("pad"),
        entry.get("source").is_none_or(is_source),
    ];
    (0..).zip(found).find(|(_, found)| !found).map_or_else(|| Ok(title(entry)), |(at, _)| Err(at))
}

/// Returns the title of a header or a title slot, if it has text.
fn title(entry: Entry<'_>) -> Option<String> {
    entry.get_str("title").filter(|title| !title.trim().is_empty()).map(|title| title.into_owned())
}

/// Returns whether a line may stand before the header, not being an entry.
pub(crate) fn may_precede(entry: Entry<'_>) -> bool {
    entry.id().is_none() && !entry.kind().is_entry_type() && entry.kind() != Kind::Header
}

#[cfg(test)]
mod tests {
    use super::{DeclaredVersion, SLOT_MEMBERS, json::Raw, slot};
    use crate::core::entry::Scan;

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

    #[test]
    fn title_slot_has_what_omp_needs() {
        let check = |change: [&str; 2], expected: Result<Option<&str>, u8>| {
            let line = r#"{"type":"title","v":1,"title":"Tides","source":"auto","updatedAt":"","pad":" "}"#;
            let line = line.replacen(change[0], change[1], 1);
            let mut scan = Scan::default();
            let found = slot(scan.read(line.as_bytes()).unwrap());
            assert_eq!(found, expected.map(|title| title.map(str::to_owned)), "{line}");
        };
        check(["", ""], Ok(Some("Tides")));
        check(["\"Tides\"", "\" \""], Ok(None));
        check(["\"source\":\"auto\",", ""], Ok(Some("Tides")));
        check(["auto", "user"], Ok(Some("Tides")));
        check(["\"v\":1", "\"v\":1.0"], Ok(Some("Tides")));
        for (at, changes) in [
            [["\"v\":1,", ""], ["\"v\":1", "\"v\":2"], ["\"v\":1", "\"v\":\"1\""]],
            [["\"title\":\"Tides\",", ""], ["\"Tides\"", "5"], ["\"Tides\"", "null"]],
            [["\"updatedAt\":\"\",", ""], ["At\":\"\"", "At\":5"], ["At\":\"\"", "At\":null"]],
            [[",\"pad\":\" \"", ""], ["\"pad\":\" \"", "\"pad\":5"], ["\"pad\":\" \"", "\"pad\":null"]],
            [["auto", "me"], ["\"auto\"", "5"], ["\"auto\"", "null"]],
        ]
        .into_iter()
        .zip(0_u8..)
        .map(|(changes, at)| (at, changes))
        {
            assert!(usize::from(at) < SLOT_MEMBERS.len());
            changes.into_iter().for_each(|change| check(change, Err(at)));
        }
    }
}
