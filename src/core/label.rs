//! Setting and clearing labels (semantics: "Labels").

use super::draft::{Draft, Value};
use super::error::{Error, Result};

/// A label to set, or to clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The labelled entry.
    pub target: String,
    /// The label; `None` clears.
    pub name: Option<String>,
}

impl Change {
    /// Adds the entry that makes the change.
    pub fn append(&self, draft: &mut Draft<'_>) {
        let target = ("targetId", Value::Str(&self.target));
        match &self.name {
            Some(name) => draft.append("label", &[target, ("label", Value::Str(name))]),
            None => draft.append("label", &[target]),
        }
    }
}

/// Checks that a name can be a label: one line, not blank, no control characters.
///
/// # Errors
/// [`Error::Usage`].
pub fn check_name(name: &str) -> Result<()> {
    let (message, hint) = if name.trim().is_empty() {
        ("a label must not be blank", "`--clear` takes a label away")
    } else if name.chars().any(|char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')) {
        ("a label is one line without control characters", "leave line ends and tabs out")
    } else {
        return Ok(());
    };
    Err(Error::Usage { message: message.to_owned(), hint: hint.to_owned() })
}
