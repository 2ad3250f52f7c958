//! The ends of branches for people: narrow rows (`tree --tips`), or a table (`check --why`). Which tips
//! there are comes from core, their words from `cmd`.

use std::io;

use super::escape;
use super::fit::{self, Shrink};
use super::list::{Column, Listing};
use super::output::Output;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::time::{self, Stamp};

/// The parts of a tip that are shown.
#[derive(Clone, Debug)]
pub(crate) struct TipText {
    /// The entry's id, as far as it is shown.
    pub id: String,
    /// When the branch was last added to.
    pub stamp: Stamp,
    /// How many messages it has, if they were counted.
    pub messages: Option<usize>,
    /// Whether the leaf is there.
    pub is_active: bool,
    pub label: Option<String>,
    /// The words that distinguish it.
    pub words: String,
    /// The colour of the words.
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
/// [`io::Error`] of the output.
pub(crate) fn table(
    output: &mut Output,
    [id, when, count, text]: [&'static str; 4],
    tips: &[TipText],
    screen: &Screen,
) -> io::Result<()> {
    let [ids, digits] = widths(tips);
    let columns =
        [Column::Whole(id, ids), Column::Whole(when, 16), Column::Number(count, digits), Column::Text(text, 0)];
    Listing::new(&columns, screen).print(output, tips, |tip| Ok(tip.cells(screen)))
}

/// Returns the widths of ids and counts.
fn widths(tips: &[TipText]) -> [usize; 2] {
    let widest = |of: &dyn Fn(&TipText) -> usize| tips.iter().map(of).max().unwrap_or(0);
    [widest(&|tip| fit::width(&escape::line(&tip.id))), widest(&|tip| tip.count().len())]
}

/// Prints tips as rows.
///
/// # Errors
/// [`io::Error`] of the output.
pub(crate) fn rows(output: &mut Output, tips: &[TipText], screen: &Screen) -> io::Result<()> {
    // If the words have less room than this, the time of day is removed, then the word `messages`, then the
    // date.
    const FEW: usize = 24;
    let [ids, digits] = widths(tips);
    let dots = if tips.iter().any(|tip| tip.is_active) { 2 } else { 0 };
    let words = |tip: &TipText| fit::width(&tip.label()) + fit::width(&escape::line(&tip.words));
    let words = tips.iter().map(words).max().unwrap_or(0);
    let mut columns = [ids + 2, "2026-01-31 10:00  ".len(), digits, " messages  ".len(), dots, words];
    fit::share(
        &mut columns,
        screen.room(),
        &[
            Shrink::ByColumn(5, FEW),
            Shrink::AtOnce(1, 12),
            Shrink::AtOnce(3, 2),
            Shrink::ByColumn(5, 8),
            Shrink::AtOnce(1, 0),
        ],
    );
    let [_, dates, _, units, ..] = columns;
    for tip in tips {
        let id = escape::line(&tip.id);
        let pad = " ".repeat((ids + 2).saturating_sub(fit::width(&id)));
        let when: String = time::minute(tip.stamp).chars().take(dates.saturating_sub(2)).collect();
        let unit = match (units > 2, tip.messages) {
            (false, _) => "",
            (true, Some(1)) => " message",
            (true, _) => " messages",
        };
        output.text(&screen.row([
            (Ink::Dim, &*id),
            (Ink::Plain, &*pad),
            (Ink::Dim, &*format!("{when:dates$}")),
            (Ink::Plain, &*format!("{:>digits$}{unit:units$}", tip.count())),
            (Ink::Active, &*format!("{:dots$}", tip.dot(screen))),
            (Ink::Label, &*tip.label()),
            (tip.ink, &*escape::line(&tip.words)),
        ]))?;
    }
    Ok(())
}
