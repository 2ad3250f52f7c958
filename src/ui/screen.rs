//! The properties of standard output as one value, which is handed down to everything that draws. They are
//! found out in `cmd`, never here.

use std::borrow::Cow;

use super::fit;
use super::paint::{Ink, Paint};

/// The properties of standard output.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    /// Colours and characters.
    pub paint: Paint,
    /// The columns of a row; `None` for no limit.
    pub width: Option<usize>,
    /// The home folder, which is shown as `~`.
    pub home: Option<String>,
    /// Whether it is a terminal, where tables have borders.
    pub is_terminal: bool,
}

impl Screen {
    /// Returns the columns of a row, the largest number if there is no limit.
    pub(crate) fn room(&self) -> usize {
        self.width.unwrap_or(usize::MAX)
    }

    /// Returns the mark for text that is left out.
    pub(crate) fn mark(&self) -> &'static str {
        fit::mark(self.paint.ascii)
    }

    /// Returns what stands between a value before and after.
    pub(crate) fn arrow(&self) -> &'static str {
        match self.paint {
            Paint { in_words: true, .. } => "to",
            Paint { ascii: true, .. } => "->",
            _ => "→",
        }
    }

    /// Cuts a text to at most `columns`, the mark of the cut included.
    pub(crate) fn cut<'t>(&self, text: &'t str, columns: usize) -> Cow<'t, str> {
        fit::cut(text, columns, self.paint.ascii)
    }

    /// Returns a short text folded to the width; continued rows are indented by `hang`.
    pub(crate) fn folded(&self, text: &str, hang: usize) -> String {
        fit::folded(text, self.width, hang)
    }

    /// Draws a row of pieces in their colours, cut at the width.
    pub(crate) fn row<'t>(&self, pieces: impl IntoIterator<Item = (Ink, &'t str)>) -> String {
        let mut out = String::new();
        let mut left = self.room();
        for (ink, text) in pieces {
            let text = self.cut(text, left);
            left -= fit::width(&text).min(left);
            self.paint.push(&mut out, ink, &text);
        }
        out.truncate(out.trim_end_matches(' ').len());
        out + "\n"
    }

    /// Returns a text in which the home folder is `~` wherever a path starts with it.
    pub(crate) fn tilde(&self, text: &str) -> String {
        let Some(home) = self.home.as_deref() else { return text.to_owned() };
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(home) {
            let (before, after) = (&rest[..at], &rest[at + home.len()..]);
            let joins = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '-');
            let is_path = !before.ends_with(|char: char| joins(char) || char == '/') && !after.starts_with(joins);
            out.push_str(before);
            out.push_str(if is_path { "~" } else { home });
            rest = after;
        }
        out + rest
    }
}
