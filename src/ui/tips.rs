//! The ends of branches (`tree --tips`, `check --why-leaf`): narrow rows, a table, or objects for programs.

use serde::Serialize;

use super::entry::{self, ShortIds};
use super::escape;
use super::fit::{self, Shrink};
use super::json::StoredTime;
use super::list::{Column, Listing};
use super::output::Output;
use super::paint::{Ink, Paint};
use super::screen::Screen;
use super::stats::AmountsRow;
use crate::core::error::Result;
use crate::core::session::body::Bodies;
use crate::core::time;
use crate::core::tree::tips::{BranchTotals, Tip};
use crate::core::words::counted;

/// A tip, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TipRow<'s> {
    id: &'s str,
    fork_id: Option<&'s str>,
    timestamp: StoredTime,
    /// Those of the branch below the fork.
    #[serde(flatten)]
    own: TipTotalsRow,
    /// Those of the whole path.
    whole: TipTotalsRow,
    leaf: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'s str>,
    text: String,
}

/// What the entries of a branch come to, for programs.
#[derive(Debug, Serialize)]
struct TipTotalsRow {
    messages: usize,
    turns: usize,
    usage: AmountsRow,
}

impl From<BranchTotals> for TipTotalsRow {
    fn from(totals: BranchTotals) -> Self {
        Self { messages: totals.messages, turns: totals.turns, usage: totals.usage.into() }
    }
}

impl<'s> TipRow<'s> {
    /// Makes the row of a tip.
    ///
    /// # Errors
    /// As [`Bodies::words`].
    pub(crate) fn new(bodies: &mut Bodies<'s>, tip: &Tip) -> Result<Self> {
        let session = bodies.session();
        Ok(Self {
            id: session.id(tip.node),
            fork_id: tip.fork.map(|fork| session.id(fork)),
            timestamp: StoredTime::of(bodies, tip.node)?,
            own: tip.own.into(),
            whole: tip.whole.into(),
            leaf: tip.has_leaf,
            label: session.label(tip.node).map(|label| label.name.as_str()),
            text: bodies.words(tip.first)?,
        })
    }
}

/// The parts of a tip that people see, escaped.
struct TipText {
    id: String,
    when: String,
    messages: usize,
    /// Whether these are only those since a fork.
    is_fork: bool,
    turns: usize,
    cost: f64,
    dot: &'static str,
    label: String,
    words: String,
    ink: Ink,
}

/// Returns what is shown of tips.
fn texts(bodies: &mut Bodies<'_>, tips: &[Tip], screen: &Screen) -> Result<Vec<TipText>> {
    let session = bodies.session();
    let ids = ShortIds::new(session);
    let mut text = |tip: &Tip| {
        let traits = session.traits(tip.first);
        let label = session.label(tip.node).map(|label| format!("[{}] ", escape::line(&label.name)));
        Ok(TipText {
            id: escape::line(&ids.of(tip.node)).into_owned(),
            when: time::minute(session.stamp(tip.node)),
            messages: tip.own.messages,
            is_fork: tip.fork.is_some(),
            turns: tip.own.turns,
            cost: tip.own.usage.cost,
            dot: match screen.paint {
                _ if !tip.has_leaf => "",
                Paint { in_words: true, .. } => "has the leaf, ",
                Paint { ascii: true, .. } => "* ",
                _ => "• ",
            },
            label: label.unwrap_or_default(),
            words: escape::line(&entry::row(screen, traits, &bodies.words(tip.first)?)).into_owned(),
            ink: entry::ink(traits),
        })
    };
    tips.iter().map(&mut text).collect()
}

/// Returns the widths of ids and counts.
fn widths(tips: &[TipText]) -> [usize; 2] {
    let widest = |of: &dyn Fn(&TipText) -> usize| tips.iter().map(of).max().unwrap_or(0);
    [widest(&|tip| fit::width(&tip.id)), widest(&|tip| tip.messages.to_string().len())]
}

/// Prints tips as a table of id, time, messages, turns, cost if there is any, and words.
///
/// # Errors
/// As [`Bodies::words`], or what the system says of writing.
pub(crate) fn table(output: &mut Output, bodies: &mut Bodies<'_>, tips: &[Tip], screen: &Screen) -> anyhow::Result<()> {
    let tips = texts(bodies, tips, screen)?;
    let [ids, digits] = widths(&tips);
    let cost = |tip: &TipText| format!("${:.4}", tip.cost);
    let costs = tips.iter().filter(|tip| tip.cost > 0.0).map(|tip| cost(tip).len()).max();
    let mut columns = vec![
        Column::Whole("id", ids),
        Column::Whole("when (UTC)", 16),
        Column::Number("messages", digits),
        Column::Number("turns", digits),
    ];
    columns.extend(costs.map(|widest| Column::Number("cost", widest)));
    columns.push(Column::Text("text", 0));
    Listing::new(&columns, screen).print(output, &tips, |tip| {
        let TipText { id, when, messages, turns, dot, label, words, .. } = tip;
        let mut row = vec![id.clone(), when.clone(), messages.to_string(), turns.to_string()];
        row.extend(costs.map(|_| cost(tip)));
        row.push(format!("{dot}{label}{words}"));
        Ok(row)
    })
}

/// Prints tips as rows.
///
/// # Errors
/// As [`table`].
pub(crate) fn rows(output: &mut Output, bodies: &mut Bodies<'_>, tips: &[Tip], screen: &Screen) -> anyhow::Result<()> {
    // If the words have less room than this, what the messages are counted from is removed, then the time of day,
    // then the word `messages`, then the date.
    const FEW: usize = 24;
    const SINCE: &str = " messages since fork";
    const MESSAGES: usize = " messages  ".len();
    let tips = texts(bodies, tips, screen)?;
    let [ids, digits] = widths(&tips);
    let dots = if tips.iter().any(|tip| !tip.dot.is_empty()) { 2 } else { 0 };
    let units = if tips.iter().any(|tip| tip.is_fork) { SINCE.len() + 2 } else { MESSAGES };
    let words = tips.iter().map(|tip| fit::width(&tip.label) + fit::width(&tip.words)).max().unwrap_or(0);
    let mut columns = [ids + 2, "2026-01-31 10:00  ".len(), digits, units, dots, words];
    fit::share(
        &mut columns,
        screen.room(),
        &[
            Shrink::ByColumn(5, FEW),
            Shrink::AtOnce(3, MESSAGES),
            Shrink::AtOnce(1, 12),
            Shrink::AtOnce(3, 2),
            Shrink::ByColumn(5, 8),
            Shrink::AtOnce(1, 0),
        ],
    );
    let [_, dates, _, units, ..] = columns;
    for TipText { id, when, messages, is_fork, dot, label, words, ink, .. } in &tips {
        if screen.paint.in_words {
            let size = counted(*messages, "message", "messages");
            let since = if *is_fork { " since the fork" } else { "" };
            let row = [id.clone(), when.clone(), format!("{size}{since}, {dot}{label}{words}")];
            let row = row.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
            output.text(&screen.row([(Ink::Plain, &*row)]))?;
            continue;
        }
        let pad = " ".repeat((ids + 2).saturating_sub(fit::width(id)));
        let when: String = when.chars().take(dates.saturating_sub(2)).collect();
        let unit = match (units > 2, messages) {
            (false, _) => "",
            (true, 1) => " message",
            (true, _) => " messages",
        };
        let since = if *is_fork && units > MESSAGES { " since fork" } else { "" };
        let unit = format!("{unit}{since}");
        output.text(&screen.row([
            (Ink::Dim, &**id),
            (Ink::Plain, &*pad),
            (Ink::Dim, &*format!("{when:dates$}")),
            (Ink::Plain, &*format!("{messages:>digits$}{unit:units$}")),
            (Ink::Active, &*format!("{dot:dots$}")),
            (Ink::Label, &**label),
            (*ink, &**words),
        ]))?;
    }
    Ok(())
}
