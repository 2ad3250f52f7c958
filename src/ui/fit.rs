//! Fitting text into the columns of a terminal: measuring, cutting, sharing and folding. Knows neither
//! tables ([`super::list`]) nor what the text says. Wide characters and emoji take two columns, and no
//! grapheme cluster is ever split.

use std::borrow::Cow;
use std::io;

use memchr::memrchr;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Returns the columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Returns the mark for text that is left out.
pub(crate) fn mark(ascii: bool) -> &'static str {
    if ascii { "..." } else { "…" }
}

/// Cuts a text to at most `columns`, the mark of the cut included.
pub(crate) fn cut<'t>(text: &'t str, columns: usize, ascii: bool) -> Cow<'t, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mark = if columns == 0 { "" } else { mark(ascii) };
    let mark = if ascii { &mark[..mark.len().min(columns)] } else { mark };
    let room = columns - width(mark).min(columns);
    let mut taken = 0;
    let mut end = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        taken += width(cluster);
        if taken > room {
            break;
        }
        end = at + cluster.len();
    }
    let cut = format!("{}{mark}", &text[..end]);
    Cow::Owned(if width(&cut) <= columns { cut } else { mark.to_owned() })
}

/// How a piece of a row, given by its index, makes room for others.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shrink {
    /// Column by column, down to this minimum.
    ByColumn(usize, usize),
    /// At once to this rest, since a part of it is of no use.
    AtOnce(usize, usize),
}

/// Shares the columns of a row among its pieces: they make room in the order of `shrinks` until all fit,
/// then those that made too much get it back. What is still too wide is cut at the end of the row.
pub(crate) fn share<const N: usize>(pieces: &mut [usize], room: usize, shrinks: &[Shrink; N]) {
    let mut over = pieces.iter().fold(0, |sum: usize, columns| sum.saturating_add(*columns)).saturating_sub(room);
    let mut spare = 0;
    let mut returns = [(0, 0); N];
    for (shrink, returns) in shrinks.iter().zip(&mut returns) {
        let (at, given) = match *shrink {
            _ if over == 0 => break,
            Shrink::ByColumn(at, least) => (at, pieces[at].saturating_sub(least).min(over)),
            Shrink::AtOnce(at, rest) => (at, pieces[at].saturating_sub(rest)),
        };
        pieces[at] -= given;
        spare = given.saturating_sub(over);
        over = over.saturating_sub(given);
        *returns = if let Shrink::ByColumn(..) = shrink { (at, given) } else { (at, 0) };
    }
    for (at, given) in returns.into_iter().rev() {
        let back = if pieces[at] > 0 { given.min(spare) } else { 0 };
        pieces[at] += back;
        spare -= back;
    }
    let mut left = room;
    for columns in pieces {
        *columns = (*columns).min(left);
        left -= *columns;
    }
}

/// Folds text into rows of at most `columns`, at blanks where there are any, and calls `out` with each, or
/// with the whole text if it fits. Continued rows are indented by `hang`, or else as their line is.
/// Sequences that set colours take no columns.
///
/// # Errors
/// Those of `out`.
pub(crate) fn fold(
    text: &str,
    columns: Option<usize>,
    hang: Option<usize>,
    out: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    // No character is wider than it is long.
    let Some(columns) = columns.filter(|&columns| text.len() > columns) else { return out(text) };
    for line in text.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        if content.len() <= columns || width(content) <= columns {
            out(line)?;
            continue;
        }
        let hang = hang.unwrap_or_else(|| indent(content)).min(columns / 2);
        match is_printable(content) {
            true => fold_printable(line, content.len(), columns, hang, out)?,
            false => fold_clusters(line, content.len(), columns, hang, out)?,
        }
    }
    Ok(())
}

/// Folds a line as [`fold`] does; its content has this length.
fn fold_clusters(
    line: &str,
    length: usize,
    columns: usize,
    hang: usize,
    out: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let mut row = FoldedRow::default();
    for piece in pieces(&line[..length]) {
        if row.takes(piece, columns) {
            continue;
        }
        let rest = row.split(piece);
        row = row.end(hang, out)?;
        // The rest is one word, which may be too long for the indented row.
        for piece in pieces(&rest) {
            if !row.takes(piece, columns) {
                row = row.end(hang, out)?;
                row.push(piece);
            }
        }
    }
    row.text.push_str(&line[length..]);
    out(&row.text)
}

fn is_printable(text: &str) -> bool {
    // Compilers make vector instructions of this.
    text.bytes().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'))
}

/// Folds a line as [`fold_clusters`] does, by arithmetic: its content is printable ASCII, where each character is a
/// column.
fn fold_printable(
    line: &str,
    length: usize,
    columns: usize,
    hang: usize,
    out: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let bytes = &line.as_bytes()[..length];
    let mut row = String::new();
    let mut start = 0;
    loop {
        let word = start + bytes[start..].iter().take_while(|&&byte| byte == b' ').count();
        // Blanks before the first word of a continued row are dropped.
        let first = if start == 0 { start } else { word };
        // The first character of a word always has room.
        let end = (word + 1).max(first + columns.saturating_sub(row.len()));
        if end >= length {
            row.push_str(&line[first..]);
            return out(&row);
        }
        let gap = memrchr(b' ', &bytes[word..end]).map(|at| word + at + 1);
        let cut = if bytes[end] == b' ' { end } else { gap.unwrap_or(end) };
        row.push_str(if gap == Some(cut) { line[first..cut].trim_end_matches(' ') } else { &line[first..cut] });
        row.push('\n');
        out(&row)?;
        row.clear();
        row.extend(std::iter::repeat_n(' ', hang));
        start = cut;
    }
}

/// Returns a short text folded.
pub(crate) fn folded(text: &str, columns: Option<usize>, hang: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    // Adding to a string cannot fail.
    let _ = fold(text, columns, Some(hang), &mut |row| {
        out.push_str(row);
        Ok(())
    });
    out
}

/// Returns the indentation of a line, with the mark of a list item.
fn indent(line: &str) -> usize {
    let blanks = line.len() - line.trim_start_matches(' ').len();
    let is_item = ["- ", "* "].iter().any(|mark| line[blanks..].starts_with(mark));
    blanks + if is_item { 2 } else { 0 }
}

/// Returns the pieces of a text that are never split: clusters, and sequences that set colours. These end
/// at a character, since a combining mark after it would hide that end in a cluster.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match rest.as_bytes() {
            [0x1b, ..] => rest.find('m').map_or(rest.len(), |at| at + 1),
            // Most text is ASCII, where every character but a line end is a cluster of its own.
            [b' '..=b'~', b' '..=b'~', ..] => 1,
            _ => rest.graphemes(true).next()?.len(),
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

fn is_sequence(piece: &str) -> bool {
    piece.starts_with('\u{1b}')
}

/// A row of folded text that is being filled.
#[derive(Default)]
struct FoldedRow {
    text: String,
    columns: usize,
    /// The range of the last blanks after a word.
    gap: Option<(usize, usize)>,
    has_word: bool,
    /// Whether it continues a line: then blanks before its first word are dropped.
    goes_on: bool,
}

impl FoldedRow {
    /// Adds a piece if there is room, and returns whether it did.
    fn takes(&mut self, piece: &str, columns: usize) -> bool {
        if self.goes_on && !self.has_word && piece == " " {
            return true;
        }
        if !is_sequence(piece) && self.has_word && self.columns + width(piece) > columns {
            return false;
        }
        self.push(piece);
        true
    }

    fn push(&mut self, piece: &str) {
        let at = self.text.len();
        self.text.push_str(piece);
        if is_sequence(piece) {
            return;
        }
        self.columns += width(piece);
        if piece != " " {
            self.has_word = true;
        } else if self.has_word {
            self.gap = match self.gap {
                Some((start, end)) if end == at => Some((start, at + 1)),
                _ => Some((at, at + 1)),
            };
        }
    }

    /// Writes the row, and returns the next one.
    fn end(mut self, hang: usize, out: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<Self> {
        self.text.push('\n');
        out(&self.text)?;
        Ok(Self { text: " ".repeat(hang), columns: hang, goes_on: true, ..Self::default() })
    }

    /// Removes what belongs in the next row, and returns it with the piece that has no room in this one.
    fn split(&mut self, piece: &str) -> String {
        let Some((start, end)) = self.gap.filter(|gap| piece != " " || gap.1 == self.text.len()) else {
            return piece.trim_start_matches(' ').to_owned();
        };
        let piece = piece.trim_start_matches(' ');
        let rest = format!("{}{piece}", &self.text[end..]);
        self.text.truncate(start);
        rest
    }
}

/// Cuts a path at its front to at most `columns`: its end is of more use.
pub(crate) fn cut_front<'t>(text: &'t str, columns: usize, ascii: bool) -> Cow<'t, str> {
    let wide = width(text);
    if wide <= columns {
        return Cow::Borrowed(text);
    }
    let mark = mark(ascii);
    let mut over = (wide + width(mark)).saturating_sub(columns);
    for (at, cluster) in text.grapheme_indices(true) {
        if over == 0 {
            return Cow::Owned(format!("{mark}{}", &text[at..]));
        }
        over = over.saturating_sub(width(cluster));
    }
    cut(mark, columns, ascii).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::{Shrink, cut, fold, fold_clusters, fold_printable, folded, share, width};
    use crate::random::Random;

    #[test]
    fn cuts_by_columns() {
        assert_eq!(cut("plain", 5, false), "plain");
        assert_eq!(cut("plain text", 6, false), "plain…");
        assert_eq!(cut("plain text", 6, true), "pla...");
        assert_eq!(cut("日本語", 4, false), "日…");
        assert_eq!(cut("日本語", 1, false), "…");
        assert_eq!(cut("x", 0, false), "");
    }

    #[test]
    fn pieces_make_room_in_the_order_given() {
        let check = |room: usize, expected: [usize; 4]| {
            let mut pieces = [8, 18, 9, 50];
            share(
                &mut pieces,
                room,
                &[Shrink::ByColumn(3, 20), Shrink::AtOnce(1, 12), Shrink::AtOnce(2, 0), Shrink::ByColumn(3, 4)],
            );
            assert_eq!(pieces, expected, "{room}");
        };
        check(usize::MAX, [8, 18, 9, 50]);
        check(85, [8, 18, 9, 50]);
        check(60, [8, 18, 9, 25]);
        check(54, [8, 12, 9, 25]);
        check(48, [8, 12, 0, 28]);
        check(30, [8, 12, 0, 10]);
        check(22, [8, 12, 0, 2]);
        check(5, [5, 0, 0, 0]);
    }

    #[test]
    fn folds_at_blanks() {
        assert_eq!(folded("one two three\n", Some(8), 0), "one two\nthree\n");
        assert_eq!(folded("one two three", Some(7), 2), "one two\n  three");
        assert_eq!(folded("one   two", Some(5), 0), "one\ntwo");
        assert_eq!(folded("    indented", Some(6), 0), "    in\ndented");
        assert_eq!(folded("abcdefgh ij", Some(4), 0), "abcd\nefgh\nij");
        assert_eq!(folded("日本語の文字", Some(5), 1), "日本\n 語の\n 文字");
        assert_eq!(folded("\u{1b}[1mone\u{1b}[0m two", Some(4), 0), "\u{1b}[1mone\u{1b}[0m\ntwo");
        assert_eq!(folded("a b", None, 0), "a b");
        // A combining mark does not hide the end of a sequence.
        assert_eq!(folded("\u{1b}[2m\u{e33}one\u{1b}[0m two", Some(4), 0), "\u{1b}[2m\u{e33}one\u{1b}[0m\ntwo");
        let mut rows = Vec::new();
        let text = "  - one two\n\nx";
        fold(text, Some(8), None, &mut |row| {
            rows.push(row.to_owned());
            Ok(())
        })
        .unwrap();
        assert_eq!(rows, ["  - one\n", "    two\n", "\n", "x"]);
    }

    #[test]
    fn folding_loses_nothing_and_no_row_is_too_wide() {
        let text = "a👩‍👩‍👧‍👦é\u{301} 日🇩🇪x👍🏽  \u{301}b longer words   and ﷽ ends   ";
        let words = |text: &str| text.split_whitespace().collect::<String>();
        for (columns, hang) in (4..60).flat_map(|columns| [(columns, 0), (columns, 4), (columns, 99)]) {
            let folded = folded(text, Some(columns), hang);
            assert!(folded.lines().all(|row| width(row) <= columns), "{folded:?} in {columns}");
            assert_eq!(words(&folded), words(text), "{columns}");
        }
    }

    #[test]
    fn printable_lines_are_folded_as_all_others() {
        let mut random = Random::new(3);
        let mut next = |bound: usize| random.below(bound);
        for _ in 0..20_000 {
            let line: String =
                (0..next(24)).map(|_| [" ", " ", "   ", "a", "bc", "- ", "longer", "~"][next(8)]).collect();
            let (columns, end) = (1 + next(20), ["\n", ""][next(2)]);
            let (hang, text) = (next(columns / 2 + 1), format!("{line}{end}"));
            let (mut rows, mut expected) = (Vec::new(), Vec::new());
            let mut add = |row: &str| {
                rows.push(row.to_owned());
                Ok(())
            };
            fold_printable(&text, line.len(), columns, hang, &mut add).unwrap();
            let mut add = |row: &str| {
                expected.push(row.to_owned());
                Ok(())
            };
            fold_clusters(&text, line.len(), columns, hang, &mut add).unwrap();
            assert_eq!(rows, expected, "{text:?} in {columns} with {hang}");
        }
    }

    #[test]
    fn cuts_are_not_too_wide_and_split_no_cluster() {
        let text = "a👩‍👩‍👧‍👦é\u{301}日🇩🇪x👍🏽";
        for columns in 0..20 {
            for ascii in [false, true] {
                let cut = cut(text, columns, ascii);
                assert!(width(&cut) <= columns, "{cut:?} in {columns}");
                assert!(!cut.contains('👩') || cut.contains('👦'), "{cut:?}");
            }
        }
    }
}
