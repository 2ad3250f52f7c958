//! Finding entries by words (cli: `tree --search`).

use super::entry::{BlockKind, Entry};

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
        let mut hay = String::new();
        let mut add = |text: &str| {
            hay.push_str(&text.to_lowercase());
            hay.push('\n');
        };
        add(row);
        add(label.unwrap_or(""));
        add(&entry.full_text());
        let message = entry.message();
        for object in [message, Some(entry.object())].into_iter().flatten() {
            for name in NAMES {
                add(&object.get_str(name).unwrap_or_default());
            }
        }
        for block in entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall) {
            add(&block.name().unwrap_or_default());
        }
        for file in message.and_then(|message| message.get("files")).iter().flat_map(|files| files.elements()) {
            add(&file.get_str("content").unwrap_or_default());
        }
        self.0.iter().all(|word| hay.contains(word))
    }
}

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
