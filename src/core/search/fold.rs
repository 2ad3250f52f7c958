//! Brings texts into the form in which words are compared: one case, one spelling of each letter and, for
//! phrases, one blank for each run of white space.

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// How many bytes of a text are searched at once, so that a text of many megabytes is never copied
/// whole.
pub(super) const PIECE: usize = 64 * 1024;

/// How many bytes of marks may follow a word at the end of a piece.
const MARKS: usize = 64;

/// How a text is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    /// White space stays as it is.
    Kept,
    /// A run of white space becomes one space.
    Collapsed,
}

impl Blanks {
    /// Returns a text as it is compared.
    fn fold(self, text: &str) -> String {
        match self {
            Self::Kept => folded(text),
            Self::Collapsed => collapsed(&folded(text)),
        }
    }
}

/// Returns a text with each run of white space as one space, at both ends too.
pub(super) fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char.is_whitespace() {
            true if out.ends_with(' ') => {}
            true => out.push(' '),
            false => out.push(char),
        }
    }
    out
}

/// Returns a text with all its letters in one case and in one spelling, so that equal texts are the same.
pub(super) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|char: char| !char.is_ascii()) {
        // A mark may join the letter before it.
        let start = start.saturating_sub(1);
        let (plain, other) = rest.split_at(rest.floor_char_boundary(start));
        out.extend(plain.chars().map(|char| char.to_ascii_lowercase()));
        let end = other.char_indices().skip(1).find(|(_, char)| char.is_ascii()).map_or(other.len(), |(end, _)| end);
        out.extend(other[..end].nfd().default_case_fold().nfc());
        rest = &other[end..];
    }
    out.extend(rest.chars().map(|char| char.to_ascii_lowercase()));
    out
}

/// Returns the offset in a text of an offset in what it is folded to. Within what one letter is folded to it is
/// that letter's start, or its end if `end` is set.
pub(super) fn original(text: &str, blanks: Blanks, folded_at: usize, end: bool) -> usize {
    if text.is_ascii() && blanks == Blanks::Kept {
        return folded_at;
    }
    let (mut before, mut is_after_blank) = (0, false);
    for (at, letter) in text.grapheme_indices(true) {
        let folded = blanks.fold(letter);
        // One blank stands for the whole run.
        let is_more = blanks == Blanks::Collapsed && is_after_blank && folded.starts_with(' ');
        let width = folded.len() - usize::from(is_more);
        if before >= folded_at && width > 0 || (before + width > folded_at && !end) {
            return at;
        }
        is_after_blank = folded.ends_with(' ');
        before += width;
    }
    text.len()
}

/// Passes a text to `look` in pieces, each with its offset and folded, until it returns true;
/// returns whether it did. What is folded to up to `longest` bytes is whole in one of the pieces.
pub(super) fn pieces(
    text: &str,
    blanks: Blanks,
    longest: usize,
    mut look: impl FnMut(usize, &str, &str) -> bool,
) -> bool {
    let mut from = 0;
    loop {
        let to = text.floor_char_boundary(from + PIECE.max(8 * longest));
        let piece = &text[from..to];
        if look(from, piece, &blanks.fold(piece)) {
            return true;
        }
        if to == text.len() {
            return false;
        }
        // A word may stand across the end of a piece. Folding changes the length, but no letter of a word is
        // more than four times as long as what it is folded to; and marks may follow it.
        from = text.floor_char_boundary(to - 4 * longest - MARKS);
    }
}
