//! Tables: borders only on a terminal, cut to its width.

use comfy_table::presets;
use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, Width};

use super::escape;
use super::fit;
use super::paint::Paint;

/// A table that is drawn in pieces, so that a long one never stands in memory whole.
#[derive(Debug)]
pub struct Listing {
    headings: Vec<&'static str>,
    widths: Vec<usize>,
    borders: bool,
    ascii: bool,
}

/// How many rows are drawn at once.
pub const PIECE: usize = 1000;

impl Listing {
    /// Prepares a table whose columns are at most `widest` wide before the last one; the last
    /// column takes what is left of `width`.
    pub fn new(headings: &[&'static str], widest: &[usize], width: Option<usize>, borders: bool, paint: Paint) -> Self {
        let mut widths: Vec<usize> = headings.iter().map(|heading| fit::width(heading)).collect();
        for (column, &widest) in widths.iter_mut().zip(widest) {
            *column = (*column).max(widest);
        }
        let gaps = Self::gaps(widths.len(), borders);
        if let Some(width) = width {
            let last = widths.len() - 1;
            let taken: usize = widths[..last].iter().sum::<usize>() + gaps;
            // On a narrow terminal the columns in front give way too, widest first.
            let mut over = (taken + widths[last].min(8)).saturating_sub(width);
            while over > 0 {
                let Some(widest) =
                    widths[..last].iter_mut().max_by_key(|column| **column).filter(|column| **column > 1)
                else {
                    break;
                };
                *widest -= 1;
                over -= 1;
            }
            let taken: usize = widths[..last].iter().sum::<usize>() + gaps;
            widths[last] = widths[last].min(width.saturating_sub(taken)).max(1);
        }
        Self { headings: headings.to_vec(), widths, borders, ascii: paint.ascii }
    }

    fn gaps(columns: usize, borders: bool) -> usize {
        if borders { 3 * columns + 1 } else { 2 * (columns - 1) }
    }

    /// Draws the headings.
    pub fn head(&self) -> String {
        let mut table = Table::new();
        table.set_header(self.headings.clone());
        self.draw(table, true)
    }

    /// Draws some rows.
    pub fn rows(&self, rows: impl IntoIterator<Item = Vec<String>>) -> String {
        let mut table = Table::new();
        for cells in rows {
            let cells = cells.iter().zip(&self.widths);
            let cells = cells.map(|(cell, &width)| fit::cut(&escape::line(cell), width, self.ascii).into_owned());
            table.add_row(cells.collect::<Vec<_>>());
        }
        self.draw(table, false)
    }

    /// Draws the end of the table.
    pub fn foot(&self) -> String {
        if !self.borders {
            return String::new();
        }
        let (left, line, cross, right) = if self.ascii { ("+", "-", "+", "+") } else { ("╰", "─", "┴", "╯") };
        let pieces: Vec<_> = self.widths.iter().map(|width| line.repeat(width + 2)).collect();
        format!("{left}{}{right}\n", pieces.join(cross))
    }

    fn draw(&self, mut table: Table, is_head: bool) -> String {
        table.set_content_arrangement(ContentArrangement::Disabled);
        let full = if self.ascii { presets::ASCII_FULL_CONDENSED } else { presets::UTF8_FULL_CONDENSED };
        let style = match (self.borders, is_head) {
            (false, _) => presets::NOTHING,
            (true, true) => full.bottom_border(LineStyle::none()),
            (true, false) => full.bottom_border(LineStyle::none()).top_border(LineStyle::none()),
        };
        table.load_style(style);
        let last = self.widths.len() - 1;
        for (at, column) in table.column_iter_mut().enumerate() {
            let padding = match (self.borders, at) {
                (true, _) => (1, 1),
                (false, at) => (0, if at == last { 0 } else { 2 }),
            };
            column.set_padding(padding);
            let width = self.widths[at] + usize::from(padding.0) + usize::from(padding.1);
            let width = u16::try_from(width).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
        }
        let mut out = String::new();
        for line in table.lines() {
            out.push_str(if self.borders { &line } else { line.trim_end() });
            out.push('\n');
        }
        out
    }
}
