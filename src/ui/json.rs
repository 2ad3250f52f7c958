//! The JSON objects of commands. They are a contract, `src/help/json.md`: keys may be added, never changed
//! or removed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::core::entry::prompt::Prompt;
use crate::core::entry::{Kind, Role};
use crate::core::error::Result;
use crate::core::json::text;
use crate::core::json::{Raw, ValueKind};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::{self, Stamp};

/// A row of the tree (`tree --format jsonl`). There may be a million of them, so that [`Self::push`] writes
/// them without serde, at a fraction of its cost.
#[derive(Debug)]
pub(crate) struct TreeRow<'a> {
    pub id: &'a str,
    pub parent_id: Option<&'a str>,
    /// The id that an orphan names as its parent.
    pub missing_parent: Option<&'a str>,
    /// Its distance from its root.
    pub depth: u32,
    /// Its 1-based line in the file.
    pub line: u32,
    pub r#type: Option<&'a str>,
    /// Its message's role.
    pub role: Option<&'a str>,
    pub timestamp: StoredTime,
    pub label: Option<&'a str>,
    pub active: bool,
    pub leaf: bool,
    pub children: usize,
    pub text: &'a str,
}

impl TreeRow<'_> {
    /// Adds the row to `out`, without line end.
    pub(crate) fn push(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"id\":");
        text::push_json(out, self.id);
        out.extend_from_slice(b",\"parentId\":");
        push_or_null(out, self.parent_id);
        push_member(out, b",\"missingParent\":", self.missing_parent);
        out.extend_from_slice(b",\"depth\":");
        push_number(out, self.depth as usize);
        out.extend_from_slice(b",\"line\":");
        push_number(out, self.line as usize);
        out.extend_from_slice(b",\"type\":");
        push_or_null(out, self.r#type);
        push_member(out, b",\"role\":", self.role);
        out.extend_from_slice(b",\"timestamp\":");
        self.timestamp.push(out);
        push_member(out, b",\"label\":", self.label);
        out.extend_from_slice(if self.active { b",\"active\":true" } else { b",\"active\":false" });
        out.extend_from_slice(if self.leaf { b",\"leaf\":true" } else { b",\"leaf\":false" });
        out.extend_from_slice(b",\"children\":");
        push_number(out, self.children);
        out.extend_from_slice(b",\"text\":");
        text::push_json(out, self.text);
        out.push(b'}');
    }
}

fn push_or_null(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => text::push_json(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// Adds a member, unless its value is `None`.
fn push_member(out: &mut Vec<u8>, name: &[u8], text: Option<&str>) {
    if let Some(text) = text {
        out.extend_from_slice(name);
        text::push_json(out, text);
    }
}

fn push_number(out: &mut Vec<u8>, mut number: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len() - 1;
    while number > 9 {
        digits[at] += u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        at -= 1;
    }
    digits[at] += u8::try_from(number).unwrap_or(0);
    out.extend_from_slice(&digits[at..]);
}

/// A row of a session that is one of several, which names it; else the row alone.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionPart<'a, T> {
    #[serde(flatten)]
    pub session: Option<SessionName<'a>>,
    #[serde(flatten)]
    pub row: T,
}

/// What names a session among several.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionName<'a> {
    pub path: String,
    pub session_id: &'a str,
}

impl<'a> SessionName<'a> {
    /// Returns what names a session in a file.
    pub(crate) fn new(file: &Path, session: &'a Session) -> Self {
        Self { path: file.display().to_string(), session_id: &session.header.id }
    }

    /// Returns it as the first members of an object, a comma after each.
    ///
    /// # Errors
    /// None that are known.
    pub(crate) fn members(&self) -> serde_json::Result<String> {
        let object = serde_json::to_string(self)?;
        Ok(format!("{},", object.trim_start_matches('{').trim_end_matches('}')))
    }
}

/// A label (`label SESSION --json`).
#[derive(Debug, Serialize)]
pub(crate) struct LabelRow<'a> {
    /// The labelled entry.
    pub id: &'a str,
    pub label: Option<&'a str>,
    pub timestamp: StoredTime,
    /// In a list only.
    #[serde(flatten)]
    pub place: Option<LabelPlace>,
}

/// What a label of a list hangs at.
#[derive(Debug, Serialize)]
pub(crate) struct LabelPlace {
    pub exists: bool,
    /// The words of the entry.
    pub text: Option<String>,
}

/// A label that was set or cleared (`label SESSION ENTRY NAME --json`).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LabelChange<'a> {
    /// The file that it was written into.
    pub path: String,
    /// The labelled entry.
    pub target_id: &'a str,
    /// The label; null if it was cleared.
    pub label: Option<&'a str>,
    /// The label before.
    pub was: Option<&'a str>,
    /// The entries that it was taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_from: Option<&'a [String]>,
    /// The ids of the new entries.
    pub written: &'a [String],
    /// False if the line is in the file, but could not be synced to the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<bool>,
}

/// What a move did (`navigate --json`).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Navigated<'a> {
    /// The file that was read, or written into.
    pub path: String,
    /// Whether the leaf was already there.
    pub noop: bool,
    /// Whether a hook said no.
    pub cancelled: bool,
    /// Whether this only reports what would be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// The entry that was named.
    pub target_id: Option<&'a str>,
    /// The leaf that was left.
    pub old_leaf_id: Option<&'a str>,
    /// The parent of what was written: where the move went.
    pub position_id: Option<&'a str>,
    pub new_leaf_id: Option<&'a str>,
    /// The deepest entry on both paths.
    pub common_ancestor_id: Option<&'a str>,
    /// The abandoned entries.
    pub entries_to_summarize: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor_text: Option<&'a str>,
    /// The blocks of its images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub editor_images: Vec<&'a RawValue>,
    /// The summary's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_entry: Option<&'a RawValue>,
    /// Whether a hook made the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_extension: Option<bool>,
    pub written: &'a [String],
    /// The label of the target that another one takes the place of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<&'a str>,
    /// The types of what would be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_write: Option<&'a [&'static str]>,
    /// What the summarizer would be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<&'a str>,
    /// The context at the new leaf.
    pub context: ContextSize<'a>,
    /// False if what was written is in the file, but could not be synced to the disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<bool>,
}

/// Returns the images of what is taken back, as stored.
pub(crate) fn raw(prompt: Option<&Prompt>) -> Vec<&RawValue> {
    let images = prompt.into_iter().flat_map(|prompt| &prompt.images);
    images.filter_map(|image| serde_json::from_str(image).ok()).collect()
}

/// A context in brief.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextSize<'a> {
    pub messages: usize,
    pub thinking_level: &'a str,
    pub models: &'a BTreeMap<String, String>,
    pub mode: &'a str,
}

/// What a fork made (`branch SESSION ENTRY --json`).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Branched<'a> {
    /// Whether a hook said no.
    pub cancelled: bool,
    /// Whether this only reports what would be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<bool>,
    /// The file that was read.
    pub path: String,
    /// The entry that was named; of a part of the tree, the one where the copy stands.
    pub target_id: Option<&'a str>,
    /// The text of the user message that it forks at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected_text: Option<&'a str>,
    /// The blocks of its images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub selected_images: Vec<&'a RawValue>,
    /// The new file.
    pub session_file: Option<String>,
    pub session_id: Option<&'a str>,
    /// The file that it comes from.
    pub parent_session: Option<&'a str>,
    pub leaf_id: Option<&'a str>,
    /// How many lines are after the header.
    pub entries: usize,
    pub labels: usize,
}

/// An entry that one can branch from (`branch SESSION --json`).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchRow<'a> {
    pub id: &'a str,
    pub parent_id: Option<&'a str>,
    pub timestamp: StoredTime,
    pub text: &'a str,
}

/// A timestamp as stored: a string, a number, or nothing.
#[derive(Debug)]
pub(crate) enum StoredTime {
    /// Nothing that could be a time.
    Absent,
    /// A time in the form that agents write.
    Plain([u8; 24]),
    /// Another string.
    Text(String),
    /// A number, with all its digits.
    Number(Box<RawValue>),
}

impl StoredTime {
    /// Returns an entry's timestamp; its body is read only if the time is not in the form that agents write.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub(crate) fn of(bodies: &mut Bodies<'_>, node: NodeId) -> Result<Self> {
        match Self::kept(bodies.session(), node) {
            Some(time) => Ok(time),
            None => Ok(bodies.entry(node)?.timestamp().map_or(Self::Absent, Self::stored)),
        }
    }

    /// Returns an entry's timestamp if it is known without the body.
    pub(crate) fn kept(session: &Session, node: NodeId) -> Option<Self> {
        match session.stamp(node) {
            Stamp::Absent => Some(Self::Absent),
            Stamp::Plain(ms) => Some(time::plain(ms).map_or_else(|| Self::Text(time::iso(ms)), Self::Plain)),
            Stamp::Other(_) | Stamp::Unknown => None,
        }
    }

    fn push(&self, out: &mut Vec<u8>) {
        match self {
            Self::Absent => out.extend_from_slice(b"null"),
            Self::Plain(text) => {
                out.push(b'"');
                out.extend_from_slice(text);
                out.push(b'"');
            }
            Self::Text(text) => text::push_json(out, text),
            Self::Number(number) => out.extend_from_slice(number.get().as_bytes()),
        }
    }

    fn stored(raw: Raw<'_>) -> Self {
        let number = || RawValue::from_string(String::from_utf8_lossy(raw.bytes()).into_owned()).ok();
        match (raw.str(), raw.kind()) {
            (Some(text), _) => Self::Text(text.into_owned()),
            (None, ValueKind::Number) => number().map_or(Self::Absent, Self::Number),
            _ => Self::Absent,
        }
    }
}

impl Serialize for StoredTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::Absent => serializer.serialize_none(),
            Self::Plain(text) => serializer.serialize_str(str::from_utf8(text).unwrap_or_default()),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => number.serialize(serializer),
        }
    }
}

/// Returns the names of an entry's type and role, read from the file where they are not known ones.
///
/// # Errors
/// As [`Bodies::entry`].
pub(crate) fn names(bodies: &mut Bodies<'_>, node: NodeId) -> Result<(Option<String>, Option<String>)> {
    let session: &Session = bodies.session();
    let traits = session.traits(node);
    let (mut kind, mut role) = (traits.kind.name().map(str::to_owned), session.role_name(node).map(str::to_owned));
    if traits.kind == Kind::Unknown || traits.role == Role::Unknown {
        let entry = bodies.entry(node)?;
        kind = entry.type_name().map(|name| name.into_owned());
        role = entry.role_name().map(|name| name.into_owned());
    }
    Ok((kind, role))
}

#[cfg(test)]
mod tests {
    use super::{RawValue, StoredTime, TreeRow};

    #[test]
    fn a_row_is_written_as_serde_would_write_it() {
        let odd = "q\"b\\s\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}é🙂\u{2028}";
        let whole = TreeRow {
            id: odd,
            parent_id: Some("p"),
            missing_parent: Some(odd),
            depth: 0,
            line: u32::MAX,
            r#type: Some("t"),
            role: Some("user"),
            timestamp: StoredTime::Number(RawValue::from_string("1.50e3".to_owned()).unwrap()),
            label: Some("wip"),
            active: true,
            leaf: false,
            children: 10_203,
            text: "",
        };
        let mut out = Vec::new();
        whole.push(&mut out);
        let odd = serde_json::to_string(odd).unwrap();
        let expected = format!(
            r#"{{"id":{odd},"parentId":"p","missingParent":{odd},"depth":0,"line":4294967295,"type":"t","role":"user","timestamp":1.50e3,"label":"wip","active":true,"leaf":false,"children":10203,"text":""}}"#
        );
        assert_eq!(str::from_utf8(&out), Ok(expected.as_str()));
        let least = TreeRow {
            id: "a",
            parent_id: None,
            missing_parent: None,
            r#type: None,
            role: None,
            timestamp: StoredTime::Absent,
            label: None,
            active: false,
            leaf: true,
            ..whole
        };
        out.clear();
        least.push(&mut out);
        let expected = r#"{"id":"a","parentId":null,"depth":0,"line":4294967295,"type":null,"timestamp":null,"active":false,"leaf":true,"children":10203,"text":""}"#;
        assert_eq!(str::from_utf8(&out), Ok(expected));
    }
}
