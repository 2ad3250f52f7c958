//! What text is drawn on: how wide it is, which colours and characters it has.

use std::borrow::Cow;

use super::fit;
use super::paint::{Ink, Paint};

/// What is known of standard output, handed down to everything that draws.
#[derive(Clone, Debug, Default)]
pub struct Screen {
    /// Colours and characters.
    pub paint: Paint,
    /// The columns that a row may take.
    pub width: Option<usize>,
    /// The home folder, which is shown as `~`.
    pub home: Option<String>,
    /// Whether a person may be looking, for whom tables have borders.
    pub is_terminal: bool,
}

impl Screen {
    /// Returns the columns of a row, so many if it has no limit that nothing is cut.
    pub fn room(&self) -> usize {
        self.width.unwrap_or(usize::MAX)
    }

    /// Returns what stands for text that is left out.
    pub fn mark(&self) -> &'static str {
        fit::mark(self.paint.ascii)
    }

    /// Returns what stands between the state before and the one after.
    pub fn arrow(&self) -> &'static str {
        if self.paint.ascii { "->" } else { "→" }
    }

    /// Cuts a text to at most `columns`, the mark of the cut included.
    pub fn cut<'t>(&self, text: &'t str, columns: usize) -> Cow<'t, str> {
        fit::cut(text, columns, self.paint.ascii)
    }

    /// Folds a short text to the width; what goes on is set in by `hang`.
    pub fn folded(&self, text: &str, hang: usize) -> String {
        fit::folded(text, self.width, hang)
    }

    /// Draws a row of pieces in their colours, cut where the width ends.
    pub fn row<'t>(&self, pieces: impl IntoIterator<Item = (Ink, &'t str)>) -> String {
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
    pub fn tilde(&self, text: &str) -> String {
        let Some(home) = self.home.as_deref() else { return text.to_owned() };
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(home) {
            let (before, behind) = (&rest[..at], &rest[at + home.len()..]);
            let joins = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '-');
            let is_path = !before.ends_with(|char: char| joins(char) || char == '/') && !behind.starts_with(joins);
            out.push_str(before);
            out.push_str(if is_path { "~" } else { home });
            rest = behind;
        }
        out + rest
    }
}
