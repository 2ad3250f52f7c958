//! Setting and clearing labels (semantics: "Labels").

use super::draft::{Draft, Value};
use crate::core::error::{Error, Result};

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

#[cfg(test)]
mod tests {
    use crate::core::edit::draft::drafted;

    use super::{Change, check_name};

    #[test]
    fn a_change_is_one_label_entry() {
        let check = |name: Option<&str>, members: &str| {
            let change = Change { target: "u1".to_owned(), name: name.map(str::to_owned) };
            let expected =
                format!(r#"{{"type":"label","id":"n1","parentId":"b2","timestamp":"T","targetId":"u1"{members}}}"#);
            assert_eq!(drafted(Some("b2"), |draft| change.append(draft)), [expected]);
        };
        check(Some("start"), r#","label":"start""#);
        check(Some(" \"q\" \\ é "), r#","label":" \"q\" \\ é ""#);
        // A label without a name clears.
        check(None, "");
    }

    /// Checks whether a name can be a label, and what the hint advises if not: `--clear` or one line.
    fn check(name: &str, advice: Option<&str>) {
        let hint = check_name(name).err().and_then(|error| error.hint());
        assert_eq!(hint.is_some(), advice.is_some(), "{name:?}: {hint:?}");
        assert!(hint.unwrap_or_default().contains(advice.unwrap_or_default()), "{name:?}");
    }

    #[test]
    fn a_label_is_one_line_without_control_characters() {
        for name in
            ["plan b", " padded ", "\"quoted\" \\ back", "größer 日本 👩\u{200d}💻", "--clear it", "\u{202e}rtl", "<b>"]
        {
            check(name, None);
        }
        for name in ["", " ", "\u{3000}", "\t", "\n"] {
            check(name, Some("--clear"));
        }
        for name in ["two\nlines", "cr\r", "tab\there", "\u{1b}[31m", "\u{7f}", "\u{85}x", "\u{2028}x", "x\u{2029}"] {
            check(name, Some("line ends and tabs"));
        }
    }
}
