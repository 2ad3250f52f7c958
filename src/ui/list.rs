//! Tables: borders only on a terminal, cut to its width.

use comfy_table::presets;
use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, Width};

use super::escape;
use super::fit;
use super::paint::Paint;

/// A table that is drawn in pieces, so that a long one never stands in memory whole.
#[derive(Debug)]
pub struct Listing {
    /// The shown columns: which they are, their headings and their widths.
    columns: Vec<(usize, &'static str, usize)>,
    borders: bool,
    ascii: bool,
}

/// How many rows are drawn at once.
pub const PIECE: usize = 1000;

impl Listing {
    /// Prepares a table whose columns hold up to `widest`. If `width` has not enough room, columns
    /// give way, the last one first; if it has not even room for that, the middle ones are left out.
    pub fn new(headings: &[&'static str], widest: &[usize], width: Option<usize>, borders: bool, paint: Paint) -> Self {
        let columns = headings.iter().zip(widest).enumerate();
        let mut columns: Vec<_> =
            columns.map(|(at, (&heading, &widest))| (at, heading, widest.max(fit::width(heading)))).collect();
        let Some(width) = width else { return Self { columns, borders, ascii: paint.ascii } };
        // Fewer columns than this in the last column say nothing.
        const FEW: usize = 8;
        let mut borders = borders;
        while columns.len() > 1 && columns.len() + Self::gaps(columns.len(), borders) > width {
            if borders {
                borders = false;
            } else {
                columns.remove(if columns.len() > 2 { columns.len() - 2 } else { 1 });
            }
        }
        let room = width.saturating_sub(Self::gaps(columns.len(), borders));
        let sum = |columns: &[(usize, &str, usize)]| columns.iter().map(|(.., width)| *width).sum::<usize>();
        let last = columns.len() - 1;
        let over = sum(&columns).saturating_sub(room);
        columns[last].2 -= over.min(columns[last].2.saturating_sub(FEW.min(room)));
        while sum(&columns) > room {
            // The first column is the id, which is of no use unless it is whole.
            let first = columns.iter().skip(1).all(|(.., width)| *width == 1);
            let mut wide: Vec<_> = columns.iter_mut().skip(usize::from(!first)).collect();
            let Some((.., widest)) = wide.iter_mut().max_by_key(|(.., width)| *width) else { break };
            *widest -= 1;
        }
        Self { columns, borders, ascii: paint.ascii }
    }

    /// Gives the columns that a cell has; `None` if it is not shown.
    pub fn room(&self, at: usize) -> Option<usize> {
        self.columns.iter().find(|(column, ..)| *column == at).map(|(.., width)| *width)
    }

    fn gaps(columns: usize, borders: bool) -> usize {
        if borders { 3 * columns + 1 } else { 2 * (columns - 1) }
    }

    /// Draws the headings.
    pub fn head(&self) -> String {
        let mut table = Table::new();
        let headings = self.columns.iter().map(|(_, heading, width)| fit::cut(heading, *width, self.ascii));
        table.set_header(headings);
        self.draw(table, true)
    }

    /// Draws some rows.
    pub fn rows(&self, rows: impl IntoIterator<Item = Vec<String>>) -> String {
        let mut table = Table::new();
        for cells in rows {
            let cell = |(at, _, width): &(usize, &str, usize)| {
                fit::cut(&escape::line(&cells[*at]), *width, self.ascii).into_owned()
            };
            table.add_row(self.columns.iter().map(cell));
        }
        self.draw(table, false)
    }

    /// Draws the end of the table.
    pub fn foot(&self) -> String {
        if !self.borders {
            return String::new();
        }
        let (left, line, cross, right) = if self.ascii { ("+", "-", "+", "+") } else { ("╰", "─", "┴", "╯") };
        let pieces: Vec<_> = self.columns.iter().map(|(.., width)| line.repeat(width + 2)).collect();
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
        let last = self.columns.len() - 1;
        for (at, column) in table.column_iter_mut().enumerate() {
            let padding = match (self.borders, at) {
                (true, _) => (1, 1),
                (false, at) => (0, if at == last { 0 } else { 2 }),
            };
            column.set_padding(padding);
            let width = self.columns[at].2 + usize::from(padding.0) + usize::from(padding.1);
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
