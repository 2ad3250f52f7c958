//! Tables, fitted to the width of the screen; with borders only on a terminal.
//!
//! comfy-table shares the width among the columns and cuts cells. Its widths for the first rows are used
//! for the whole table, so that a long one is never in memory whole.

use std::io;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, TableStyle, Width, presets,
};

use super::escape;
use super::fit;
use super::output::Output;
use super::paint::Ink;
use super::screen::Screen;

/// A column: its heading, and how many columns of the screen it needs.
#[derive(Clone, Copy, Debug)]
pub enum Column {
    /// Never cut, since a part is of no use: ids, dates, short names. It has this width.
    Whole(&'static str, usize),
    /// As [`Self::Whole`], for numbers.
    Number(&'static str, usize),
    /// It is cut where there is no room. It has the width that its first rows need, and at least this one.
    Text(&'static str, usize),
}

/// A table that is drawn a few rows at a time.
#[derive(Debug)]
pub struct Listing<'s> {
    screen: &'s Screen,
    frame: Frame,
    columns: Vec<Column>,
    /// The headings of columns that are left out first where there is no room, in this order.
    spare: &'static [&'static str],
    /// The columns that are shown; empty before the first rows.
    shown: Vec<ShownColumn>,
    is_begun: bool,
}

/// What is drawn around the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Nothing,
    Headings,
    Borders,
}

/// A column that is shown.
#[derive(Clone, Copy, Debug)]
struct ShownColumn {
    at: usize,
    column: Column,
    width: usize,
}

/// How many rows are drawn at once, and how many determine the widths.
pub const CHUNK: usize = 1000;
/// The columns below which a text is of little use.
const FEW: usize = 16;
/// The most columns that a text takes.
const MOST: usize = 204;
/// The most columns that anything takes: comfy-table has 16 bits for them.
const LIMIT: usize = 60_000;

impl Column {
    fn heading(self) -> &'static str {
        let (Self::Whole(heading, _) | Self::Number(heading, _) | Self::Text(heading, _)) = self;
        heading
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Text(..))
    }
}

impl ShownColumn {
    /// Returns the fewest useful columns.
    fn needs(self) -> usize {
        if self.column.is_text() { self.width.min(FEW) } else { self.width }
    }
}

impl<'s> Listing<'s> {
    /// Prepares a table.
    pub fn new(columns: &[Column], screen: &'s Screen) -> Self {
        let has_borders = screen.is_terminal && !screen.paint.in_words;
        let frame = if has_borders { Frame::Borders } else { Frame::Headings };
        Self { screen, frame, columns: columns.to_vec(), spare: &[], shown: Vec::new(), is_begun: false }
    }

    /// Returns the table without headings and borders.
    pub(crate) fn bare(self) -> Self {
        Self { frame: Frame::Nothing, ..self }
    }

    /// Returns the table without borders.
    pub(crate) fn unframed(self) -> Self {
        Self { frame: Frame::Headings, ..self }
    }

    /// Returns the table that leaves out columns with these headings first where there is no room, in this order.
    pub(crate) fn sparing(self, spare: &'static [&'static str]) -> Self {
        Self { spare, ..self }
    }

    /// Sets the widths by the first rows; later calls do nothing.
    pub(crate) fn arrange(&mut self, rows: &[Vec<String>]) {
        if !self.shown.is_empty() || self.screen.paint.in_words {
            return;
        }
        let measured = |at: usize| rows.iter().map(|row| fit::width(&escape::line(&row[at]))).max().unwrap_or(0);
        // Later rows may be longer than the first ones, and no column is after the last one.
        let is_open = |at: usize| at + 1 == self.columns.len() && (rows.len() >= CHUNK || self.screen.width.is_none());
        let shown = self.columns.iter().enumerate().map(|(at, &column)| {
            let width = match column {
                Column::Whole(_, width) | Column::Number(_, width) => width,
                Column::Text(_, least) if is_open(at) => least.max(MOST),
                Column::Text(_, least) => measured(at).min(MOST).max(least),
            };
            ShownColumn { at, column, width: width.max(fit::width(column.heading())).clamp(1, LIMIT) }
        });
        self.shown = shown.collect();
        self.make_room();
        self.share();
    }

    /// Removes what has no room: first the borders, then columns that can be spared, then others in the middle, the
    /// widest first, since half a date is of no use. The first column stays, and is whole as long as possible.
    fn make_room(&mut self) {
        let Some(width) = self.screen.width else { return };
        while self.shown.len() > 1 && self.shown.iter().map(|shown| shown.needs()).sum::<usize>() + self.gaps() > width
        {
            let middle = 1..self.shown.len() - 1;
            let at = |name: &&str| middle.clone().find(|&at| self.shown[at].column.heading() == *name);
            let spare = self.spare.iter().find_map(at);
            let middle = spare.or_else(|| middle.clone().rev().max_by_key(|&at| self.shown[at].needs()));
            if self.frame == Frame::Borders {
                self.frame = Frame::Headings;
            } else if let Some(widest) = middle {
                self.shown.remove(widest);
            } else if self.shown[0].width + self.gaps() + 2 > width {
                self.shown.truncate(1);
            } else {
                break;
            }
        }
        self.shown[0].width = self.shown[0].width.min(width);
    }

    /// Sets the widths that comfy-table chooses. It does not tell them, so they are counted in a row as wide
    /// as the widest ones, each cell of which is filled with a letter of its own.
    fn share(&mut self) {
        let letters = || self.shown.iter().zip('a'..);
        let ruler = letters().map(|(shown, letter)| String::from(letter).repeat(shown.width)).collect();
        let mut table = self.table(None, [ruler], false);
        table.set_truncation_indicator("");
        let line = table.lines().find(|line| line.contains('a')).unwrap_or_default();
        let widths: Vec<_> = letters().map(|(_, letter)| line.matches(letter).count()).collect();
        self.shown.iter_mut().zip(widths).for_each(|(shown, width)| shown.width = width);
    }

    /// Returns the width of the column at an index; `None` if it is not shown.
    pub(crate) fn room(&self, at: usize) -> Option<usize> {
        if self.screen.paint.in_words {
            return Some(usize::MAX);
        }
        self.shown.iter().find(|shown| shown.at == at).map(|shown| shown.width)
    }

    /// Returns how many columns are between and around the cells.
    fn gaps(&self) -> usize {
        let columns = self.shown.len();
        if self.frame == Frame::Borders { 3 * columns + 1 } else { 2 * (columns - 1) }
    }

    /// Prints a whole table, with a row for each item.
    ///
    /// # Errors
    /// The first error of `cells`, or that of the output.
    pub(crate) fn print<T, E: From<io::Error>>(
        mut self,
        output: &mut Output,
        items: &[T],
        mut cells: impl FnMut(&T) -> Result<Vec<String>, E>,
    ) -> Result<(), E> {
        for piece in items.chunks(CHUNK) {
            let rows = piece.iter().map(&mut cells).collect::<Result<_, E>>()?;
            output.text(&self.rows(rows))?;
        }
        Ok(output.text(&self.foot())?)
    }

    /// Draws some rows, with the headings above the first.
    pub fn rows(&mut self, rows: Vec<Vec<String>>) -> String {
        if self.screen.paint.in_words {
            return rows.iter().map(|row| self.in_words(row)).collect();
        }
        let mut out = String::new();
        self.arrange(&rows);
        if !std::mem::replace(&mut self.is_begun, true) && self.frame != Frame::Nothing {
            let headings = self.shown.iter().map(|shown| shown.column.heading().to_owned()).collect();
            self.push(&mut out, &self.table(Some(headings), [], true), Ink::Strong);
        }
        let cell = |row: &[String], shown: &ShownColumn| {
            let text = escape::line(&row[shown.at]);
            // comfy-table would put a wide character into one column, and a word that is much longer than its column
            // takes it quadratic time.
            let most = if shown.width == 1 { 1 } else { shown.width * 4 };
            self.screen.cut(&text, most).into_owned()
        };
        let cells = |row: Vec<String>| self.shown.iter().map(|shown| cell(&row, shown)).collect();
        self.push(&mut out, &self.table(None, rows.into_iter().map(cells), true), Ink::Plain);
        out
    }

    /// Returns a row in words: each cell after the name of its column, if the table has headings.
    fn in_words(&self, row: &[String]) -> String {
        let cells = self.columns.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
        let word = |(column, cell): (&Column, &String)| match self.frame {
            Frame::Nothing => escape::line(cell).into_owned(),
            _ => format!("{} {}", column.heading(), escape::line(cell)),
        };
        let words = cells.map(word).collect::<Vec<_>>().join(", ");
        self.screen.row([(Ink::Plain, &*words)])
    }

    /// Draws the end of the table.
    pub fn foot(mut self) -> String {
        let mut out = self.rows(Vec::new());
        if self.frame == Frame::Borders {
            let mut table = self.table(None, [vec![String::new(); self.shown.len()]], true);
            table.load_style(self.borders());
            self.screen.paint.push(&mut out, Ink::Dim, &table.lines().last().unwrap_or_default());
            out.push('\n');
        }
        out
    }

    fn borders(&self) -> TableStyle {
        if self.screen.paint.ascii { presets::ASCII_FULL_CONDENSED } else { presets::UTF8_FULL_CONDENSED }
    }

    /// Returns a table with some of the rows; widths of texts are fixed only if they `are_fixed`.
    fn table(&self, head: Option<Vec<String>>, rows: impl IntoIterator<Item = Vec<String>>, are_fixed: bool) -> Table {
        let open = self.borders().bottom_border(LineStyle::none());
        let mut table = Table::new();
        table.load_style(match (self.frame, &head) {
            (Frame::Borders, Some(_)) => open,
            (Frame::Borders, None) => open.top_border(LineStyle::none()),
            _ => presets::NOTHING,
        });
        table.set_content_arrangement(ContentArrangement::Dynamic).set_truncation_indicator(self.screen.mark());
        // No cell has a line end, so that texts are cut at the width and not at a blank.
        table.set_delimiter('\n');
        self.screen.width.map(|width| table.set_width(u16::try_from(width).unwrap_or(u16::MAX)));
        let one_line = |cells: Vec<String>| {
            let mut row = Row::from(cells);
            row.max_height(1);
            row
        };
        if let Some(head) = head {
            table.set_header(one_line(head));
        }
        table.add_rows(rows.into_iter().map(one_line));
        let last = self.shown.len() - 1;
        for (at, (column, shown)) in table.column_iter_mut().zip(&self.shown).enumerate() {
            let padding = match self.frame {
                Frame::Borders => (1, 1),
                _ => (0, if at == last { 0 } else { 2 }),
            };
            column.set_padding(padding);
            if matches!(shown.column, Column::Number(..)) {
                column.set_cell_alignment(CellAlignment::Right);
            }
            if are_fixed || !shown.column.is_text() {
                let width = u16::try_from(shown.width).unwrap_or(u16::MAX) + padding.0 + padding.1;
                column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
            }
        }
        table
    }

    /// Adds the lines of a table, with borders in a dim colour.
    fn push(&self, out: &mut String, table: &Table, ink: Ink) {
        let paint = self.screen.paint;
        for line in table.lines() {
            if self.frame == Frame::Borders && paint.color {
                self.push_in_borders(out, &line, ink);
            } else {
                paint.push(out, ink, if self.frame == Frame::Borders { &line } else { line.trim_end() });
            }
            out.push('\n');
        }
    }

    fn push_in_borders(&self, out: &mut String, line: &str, ink: Ink) {
        let paint = self.screen.paint;
        let borders = if paint.ascii { "|+-=" } else { "│┆┌┬┐╞═╪╡├─┼┤" };
        let mut from = 0;
        let is_rule = !line.contains(' ');
        // Borders are between blanks; other such characters belong to a cell.
        for (at, char) in line.char_indices() {
            let end = at + char.len_utf8();
            let is_edge = at == 0 || end == line.len();
            let is_between = line[..at].ends_with(' ') && line[end..].starts_with(' ');
            if is_rule || !borders.contains(char) || !(is_edge || is_between) {
                continue;
            }
            paint.push(out, ink, &line[from..at]);
            paint.push(out, Ink::Dim, &line[at..end]);
            from = end;
        }
        paint.push(out, if is_rule { Ink::Dim } else { ink }, &line[from..]);
    }
}
