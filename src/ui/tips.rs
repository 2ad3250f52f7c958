//! The ends of branches, as rows and as a table.

use std::io;

use super::escape;
use super::fit;
use super::list::{Column, Listing};
use super::output::Output;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::time::{self, Stamp};

/// What is shown of a tip.
#[derive(Clone, Debug)]
pub struct TipText {
    /// The entry's id, as far as it is shown.
    pub id: String,
    /// When the branch was last added to.
    pub stamp: Stamp,
    /// How many messages it has, if they were counted.
    pub messages: Option<usize>,
    /// Whether the leaf is there.
    pub is_active: bool,
    /// Its label.
    pub label: Option<String>,
    /// The words that tell it from others.
    pub words: String,
    /// How these are coloured.
    pub ink: Ink,
}

impl TipText {
    fn dot(&self, screen: &Screen) -> &'static str {
        match (self.is_active, screen.paint.ascii) {
            (true, true) => "* ",
            (true, false) => "• ",
            (false, _) => "",
        }
    }

    fn label(&self) -> String {
        self.label.as_ref().map(|label| format!("[{}] ", escape::line(label))).unwrap_or_default()
    }

    fn count(&self) -> String {
        self.messages.map_or_else(|| "-".to_owned(), |messages| messages.to_string())
    }

    fn cells(&self, screen: &Screen) -> Vec<String> {
        vec![
            escape::line(&self.id).into_owned(),
            time::minute(self.stamp),
            self.count(),
            format!("{}{}{}", self.dot(screen), self.label(), escape::line(&self.words)),
        ]
    }
}

/// Prints tips as a table of id, time, messages and words.
///
/// # Errors
/// What the system says.
pub fn table(
    output: &mut Output,
    [id, when, count, text]: [&'static str; 4],
    tips: &[TipText],
    screen: &Screen,
) -> io::Result<()> {
    let [ids, digits] = widths(tips);
    let columns = [Column::Whole(id, ids), Column::Whole(when, 16), Column::Number(count, digits), Column::Text(text)];
    Listing::new(&columns, screen).print(output, tips, |tip| Ok(tip.cells(screen)))
}

/// Returns the columns that ids and counts take.
fn widths(tips: &[TipText]) -> [usize; 2] {
    let widest = |of: &dyn Fn(&TipText) -> usize| tips.iter().map(of).max().unwrap_or(0);
    [widest(&|tip| fit::width(&escape::line(&tip.id))), widest(&|tip| tip.count().len())]
}

/// Prints tips as rows.
///
/// # Errors
/// What the system says.
pub fn rows(output: &mut Output, tips: &[TipText], screen: &Screen) -> io::Result<()> {
    // Without this much room for the words the time gives way, then the word `messages`.
    const FEW: usize = 24;
    let [ids, digits] = widths(tips);
    let full = [ids, 2 + "2026-01-31 10:00".len(), 2 + digits, " messages".len(), 2, 2];
    let room = screen.room().saturating_sub(full.iter().sum());
    let date = if room >= FEW { 16 } else { 10 };
    let dots = if tips.iter().any(|tip| tip.is_active) { 2 } else { 0 };
    let has_word = room + 16 - date >= FEW;
    for tip in tips {
        let id = escape::line(&tip.id);
        let when: String = time::minute(tip.stamp).chars().take(date).collect();
        let messages = tip.count();
        let word = match (has_word, tip.messages) {
            (false, _) => "",
            (true, Some(1)) => " message ",
            (true, _) => " messages",
        };
        let pad = " ".repeat(ids - fit::width(&id));
        let pieces = [
            (Ink::Dim, id.into_owned()),
            (Ink::Plain, format!("{pad}  ")),
            (Ink::Dim, format!("{when:date$}  ")),
            (Ink::Plain, format!("{messages:>digits$}{word}  ")),
            (Ink::Active, format!("{:dots$}", tip.dot(screen))),
            (Ink::Label, tip.label()),
            (tip.ink, escape::line(&tip.words).into_owned()),
        ];
        let mut out = String::new();
        let mut left = screen.room();
        for (ink, text) in pieces {
            let text = screen.cut(&text, left);
            left -= fit::width(&text).min(left);
            screen.paint.push(&mut out, ink, &text);
        }
        out.truncate(out.trim_end_matches(' ').len());
        output.text(&(out + "\n"))?;
    }
    Ok(())
}
