//! Fits text into columns of a terminal: wide characters and emoji take two.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Gives the columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Cuts a text to at most `columns`, the mark of the cut included.
pub fn cut<'t>(text: &'t str, columns: usize, ascii: bool) -> Cow<'t, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mark = if ascii { &"..."[..columns.min(3)] } else { &"…"[..if columns == 0 { 0 } else { "…".len() }] };
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

/// Cuts a path to at most `columns`; its end says most.
pub fn cut_front<'t>(text: &'t str, columns: usize, ascii: bool) -> Cow<'t, str> {
    let wide = width(text);
    if wide <= columns {
        return Cow::Borrowed(text);
    }
    let mark = if ascii { "..." } else { "…" };
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
    use super::{cut, width};

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
    fn no_cut_is_wider_than_asked_and_none_splits_a_cluster() {
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
