//! Colours and lines: what they mean, in the terminal's own palette.

use anstyle::{AnsiColor, Style};

/// What a piece of text is, as far as its colour goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Ordinary text.
    Plain,
    /// Ids, tree lines, and what matters less.
    Dim,
    /// What a person said.
    User,
    /// The active path.
    Active,
    /// A label.
    Label,
    /// What was searched for.
    Found,
    /// Summaries and compactions.
    Summary,
    /// A heading.
    Strong,
    /// What goes away.
    Dropped,
    /// What comes in its place.
    Added,
    /// A warning.
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

/// How text is drawn on one stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint {
    /// Whether colours are used.
    pub color: bool,
    /// Whether only ASCII is drawn.
    pub ascii: bool,
}

impl Paint {
    /// Adds a piece of text in its colour.
    pub fn push(self, out: &mut String, ink: Ink, text: &str) {
        if !self.color || ink == Ink::Plain || text.is_empty() {
            out.push_str(text);
            return;
        }
        let style = ink.style();
        out.push_str(&format!("{style}{text}{style:#}"));
    }
}
