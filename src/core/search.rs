//! Finding entries by words (cli: `tree --search`).

use std::borrow::Cow;

use super::entry::{BlockKind, Entry};
use super::text;

/// How much of a text is looked at in one piece, in bytes: a text of many megabytes is never
/// copied whole.
const PIECE: usize = 64 * 1024;

/// The members that a search looks into, of a message or of an entry.
const NAMES: [&str; 13] = [
    "role",
    "customType",
    "toolName",
    "summary",
    "shortSummary",
    "command",
    "code",
    "output",
    "errorMessage",
    "name",
    "label",
    "model",
    "text",
];

/// Words that must all be found, whatever their case.
#[derive(Clone, Debug)]
pub struct Query(Vec<String>);

impl Query {
    /// Takes words separated by white space.
    pub fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Tells whether an entry has all words in its whole text, its names, or its row.
    pub fn matches(&self, entry: Entry<'_>, label: Option<&str>, row: &str) -> bool {
        let mut missing = Missing(self.0.iter().map(String::as_str).collect());
        missing.look(row);
        missing.look(label.unwrap_or(""));
        let message = entry.message();
        for object in [message, Some(entry.object())].into_iter().flatten() {
            for name in NAMES {
                missing.look_with(|| object.get_str(name));
            }
        }
        for block in entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall) {
            missing.look_with(|| block.name());
        }
        missing.look_with(|| Some(entry.full_text().into()));
        for block in entry.content().iter().flat_map(|content| content.elements()) {
            missing.look_with(|| block.get_str("thinking"));
            // Names and strings of the arguments, as they read and not as JSON spells them.
            missing.look_with(|| block.get("arguments").map(|arguments| text::decode(arguments.bytes())));
        }
        for file in message.and_then(|message| message.get("files")).iter().flat_map(|files| files.elements()) {
            missing.look_with(|| file.get_str("content"));
        }
        missing.0.is_empty()
    }
}

/// The words that have not been found yet.
struct Missing<'q>(Vec<&'q str>);

impl Missing<'_> {
    /// Looks into a text, unless there is nothing left to find.
    fn look_with<'t>(&mut self, text: impl FnOnce() -> Option<Cow<'t, str>>) {
        if !self.0.is_empty()
            && let Some(text) = text()
        {
            self.look(&text);
        }
    }

    fn look(&mut self, text: &str) {
        let longest = self.0.iter().map(|word| word.len()).max().unwrap_or(0);
        let mut from = 0;
        while from < text.len() && !self.0.is_empty() {
            let to = text.floor_char_boundary(from + PIECE.max(8 * longest));
            let lower = text[from..to].to_lowercase();
            self.0.retain(|word| !lower.contains(word));
            if to == text.len() {
                return;
            }
            // A word may stand across the end of a piece. Some characters have a lower case of
            // another length, but no form is more than three times as long as the other.
            from = text.floor_char_boundary(to - 3 * longest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Missing;

    fn finds(text: &str, word: &str) -> bool {
        let mut missing = Missing(vec![word]);
        missing.look(text);
        missing.0.is_empty()
    }

    #[test]
    fn words_across_pieces_are_found() {
        for before in super::PIECE - 12..super::PIECE + 3 {
            let text = format!("{}NÄHE der Naht{}", "é".repeat(before / 2), "x".repeat(9));
            assert!(finds(&text, "nähe"), "{before}");
            assert!(!finds(&text, "nähen"), "{before}");
        }
    }
}
