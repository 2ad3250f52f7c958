//! Colours by meaning, in the terminal's own palette. Nothing else writes colour sequences.

use anstyle::{AnsiColor, Style};

/// The meaning of a piece of text, which determines its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Ordinary text.
    Plain,
    /// Ids, lines of trees, and minor details.
    Dim,
    /// Words of a user.
    User,
    /// The active path.
    Active,
    Label,
    /// A word that was searched for.
    Found,
    /// Summaries and compactions.
    Summary,
    /// A heading.
    Strong,
    /// What a change removes.
    Dropped,
    /// What a change adds.
    Added,
    Warning,
    /// A failure.
    Error,
}

impl Ink {
    fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Dim => Style::new().dimmed(),
            Self::User => color(AnsiColor::Cyan).bold(),
            Self::Active => color(AnsiColor::Green).bold(),
            Self::Label => color(AnsiColor::Yellow),
            Self::Found => Style::new().bold().underline(),
            Self::Summary => color(AnsiColor::Magenta),
            Self::Strong => Style::new().bold(),
            Self::Dropped => color(AnsiColor::Red),
            Self::Added => color(AnsiColor::Green),
            Self::Warning => color(AnsiColor::Yellow).bold(),
            Self::Error => color(AnsiColor::Red).bold(),
        }
    }
}

/// The colours and characters of one stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    /// Whether to use colours.
    pub color: bool,
    /// Whether to draw only ASCII.
    pub ascii: bool,
    /// Whether to say in words what is drawn otherwise, for screen readers; then with ASCII, too.
    pub in_words: bool,
}

impl Paint {
    /// Adds a piece of text in its colour.
    pub(crate) fn push(self, out: &mut String, ink: Ink, text: &str) {
        if !self.color || ink == Ink::Plain || text.is_empty() {
            out.push_str(text);
            return;
        }
        let style = ink.style();
        out.push_str(&format!("{style}{text}{style:#}"));
    }
}
