//! Tables: borders only on a terminal, cut to its width.

use comfy_table::presets;
use comfy_table::{ColumnConstraint, ContentArrangement, LineStyle, Table, Width};

use super::escape;
use super::fit;
use super::paint::{Ink, Paint};
use super::screen::Screen;

/// A table that is drawn in pieces, so that a long one never stands in memory whole.
#[derive(Debug)]
pub struct Listing {
    /// The shown columns: which they are, their headings and their widths.
    columns: Vec<(usize, &'static str, usize)>,
    borders: bool,
    paint: Paint,
}

/// Fewer columns than this in the last column say little.
pub(super) const FEW: usize = 16;
/// How many rows are drawn at once.
pub const PIECE: usize = 1000;

impl Listing {
    /// Prepares a table whose columns hold up to `widest`. If `width` has not enough room, the last
    /// column gives way first. If too little is left of it, the borders go, then middle columns, the
    /// widest first: half a date says nothing.
    pub fn new(headings: &[&'static str], widest: &[usize], borders: bool, screen: &Screen) -> Self {
        let columns = headings.iter().zip(widest).enumerate();
        let mut columns: Vec<_> =
            columns.map(|(at, (&heading, &widest))| (at, heading, widest.max(fit::width(heading)))).collect();
        let paint = screen.paint;
        let Some(width) = screen.width else { return Self { columns, borders, paint } };
        let mut borders = borders;
        let needs = |columns: &[(usize, &str, usize)], borders: bool| {
            let front: usize = columns.iter().rev().skip(1).map(|(.., width)| *width).sum();
            let last = columns.last().map_or(0, |(.., width)| *width);
            front + last.min(FEW) + Self::gaps(columns.len(), borders)
        };
        while needs(&columns, borders) > width && (borders || columns.len() > 1) {
            let middle = 1..columns.len().max(2) - 1;
            let long = columns[middle.clone()].iter_mut().find(|(.., width)| *width > FEW);
            if let Some((.., long)) = long {
                // No date, but some name that can be cut.
                *long = FEW - 2;
            } else if borders {
                borders = false;
            } else if let Some(widest) = middle.rev().max_by_key(|at| columns[*at].2) {
                columns.remove(widest);
            } else if columns.len() + Self::gaps(columns.len(), borders) > width {
                columns.truncate(1);
            } else {
                break;
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
        Self { columns, borders, paint }
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
        let headings = self.columns.iter().map(|(_, heading, width)| fit::cut(heading, *width, self.paint.ascii));
        table.set_header(headings);
        self.draw(table, true)
    }

    /// Draws some rows.
    pub fn rows(&self, rows: impl IntoIterator<Item = Vec<String>>) -> String {
        let mut table = Table::new();
        for cells in rows {
            let cell = |(at, _, width): &(usize, &str, usize)| {
                fit::cut(&escape::line(&cells[*at]), *width, self.paint.ascii).into_owned()
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
        let (left, line, cross, right) =
            if self.paint.ascii { ("+", "-", "+", "+") } else { ("╰", "─", "┴", "╯") };
        let pieces: Vec<_> = self.columns.iter().map(|(.., width)| line.repeat(width + 2)).collect();
        let mut out = String::new();
        self.paint.push(&mut out, Ink::Dim, &format!("{left}{}{right}", pieces.join(cross)));
        out + "\n"
    }

    fn draw(&self, mut table: Table, is_head: bool) -> String {
        table.set_content_arrangement(ContentArrangement::Disabled);
        let full = if self.paint.ascii { presets::ASCII_FULL_CONDENSED } else { presets::UTF8_FULL_CONDENSED };
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
            self.push_line(&mut out, if self.borders { &line } else { line.trim_end() }, is_head);
            out.push('\n');
        }
        out
    }

    /// Adds a line: what is in it matters more than what is around it.
    fn push_line(&self, out: &mut String, line: &str, is_head: bool) {
        let ink = if is_head { Ink::Strong } else { Ink::Plain };
        if !self.borders || !self.paint.color {
            return self.paint.push(out, ink, line);
        }
        let is_border = |char: char| {
            if self.paint.ascii {
                "|+-=".contains(char)
            } else {
                "│┆┌┬┐╞═╪╡├─┼┤".contains(char)
            }
        };
        let is_rule = line.chars().all(is_border);
        let mut from = 0;
        // In a row the borders stand in blanks; a border that a cell holds is the cell's.
        for (at, char) in line.char_indices() {
            let end = at + char.len_utf8();
            let is_edge = at == 0 || end == line.len();
            let is_between = line[..at].ends_with(' ') && line[end..].starts_with(' ');
            if is_rule || !is_border(char) || !(is_edge || is_between) {
                continue;
            }
            self.paint.push(out, ink, &line[from..at]);
            self.paint.push(out, Ink::Dim, &line[at..end]);
            from = end;
        }
        self.paint.push(out, if is_rule { Ink::Dim } else { ink }, &line[from..]);
    }
}
