//! Finds entries by words (help rules, "Search"). [`Query`] decides; [`Prefilter`] only saves time, and
//! must let pass every entry that the query matches.

use std::borrow::Cow;
use std::ops::Range;

use caseless::Caseless;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use crate::core::entry::Entry;
use crate::core::entry::elsewhere::TextElsewhere;
use crate::core::json::text;

mod prefilter;

pub use prefilter::Prefilter;

/// How many bytes of a text are searched at once, so that a text of many megabytes is never copied
/// whole.
const PIECE: usize = 64 * 1024;

/// The members that are searched, of a message or an entry.
const NAMES: [&str; 13] = [
    "role",
    "customType",
    "toolName",
    "summary",
    "shortSummary",
    "command",
    "code",
    "output",
    "errorMessage",
    "name",
    "label",
    "model",
    "text",
];

/// How many bytes of marks may follow a word at the end of a piece.
const MARKS: usize = 64;

/// How many characters of a text an excerpt has before the word.
const BEFORE: usize = 40;
/// How many it has after the word.
const AFTER: usize = 80;

/// Words that must all be found, whatever their case.
#[derive(Clone, Debug)]
pub struct Query(Vec<String>);

/// A word in the text around it. White space is collapsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text before the word.
    pub before: String,
    /// The word as it is spelled in the text.
    pub word: String,
    /// The text after the word.
    pub after: String,
    /// Whether the text starts with `before`.
    pub is_start: bool,
    /// Whether the text ends with `after`.
    pub is_end: bool,
}

impl Query {
    /// Makes a query of words that are separated by white space.
    pub fn new(text: &str) -> Self {
        Self(text.split_whitespace().map(folded).collect())
    }

    /// Returns whether an entry has all words in its texts, its names, its label, or its row.
    pub fn matches(&self, entry: Entry<'_>, label: Option<&str>, row: &str) -> bool {
        let mut missing: Vec<_> = self.0.iter().map(String::as_str).collect();
        let mut look = |text: &str| {
            let longest = missing.iter().map(|word| word.len()).max().unwrap_or(0);
            pieces(text, longest, |_, _, folded| {
                missing.retain(|word| !folded.contains(word));
                missing.is_empty()
            })
        };
        look(row) || look(label.unwrap_or("")) || texts(entry, &mut look)
    }

    /// Returns the first word that is not in a text.
    pub(crate) fn missing_in(&self, text: &str) -> Option<&str> {
        self.0.iter().map(String::as_str).find(|word| find(text, word).is_none())
    }

    /// Returns the byte ranges of the words in a text, in order and not overlapping.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for word in &self.0 {
            let mut from = 0;
            while let Some(place) = find(&text[from..], word) {
                places.push(from + place.start..from + place.end);
                from += place.end;
            }
        }
        places.sort_unstable_by_key(|place| (place.start, place.end));
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(places.len());
        for place in places {
            match apart.last_mut().filter(|last| place.start <= last.end) {
                Some(last) => last.end = last.end.max(place.end),
                None => apart.push(place),
            }
        }
        apart
    }
}

impl Excerpt {
    /// Returns the first occurrence of a word in what is searched: the text first, then the row, then
    /// the names.
    pub fn of(entry: Entry<'_>, label: Option<&str>, row: &str, word: &str) -> Option<Self> {
        let mut found = None;
        let mut look = |text: &str| {
            found = find(text, word).map(|place| Self::around(text, place));
            found.is_some()
        };
        let _ = look(&entry.full_text()) || look(row) || texts(entry, &mut look) || look(label.unwrap_or(""));
        found
    }

    fn around(text: &str, place: Range<usize>) -> Self {
        let (front, rest) = (&text[..place.start], &text[place.end..]);
        let start = front.char_indices().nth_back(BEFORE - 1).map_or(0, |(at, _)| at);
        let end = rest.char_indices().nth(AFTER).map_or(rest.len(), |(at, _)| at);
        // A part of a word would be misleading.
        let start = match front[start..].find(char::is_whitespace) {
            Some(blank) if start > 0 => start + blank,
            _ => start,
        };
        let end = match rest[..end].rfind(char::is_whitespace) {
            Some(blank) if end < rest.len() => blank,
            _ => end,
        };
        Self {
            before: collapsed(&front[start..]).trim_start().to_owned(),
            word: collapsed(&text[place]),
            after: collapsed(&rest[..end]).trim_end().to_owned(),
            is_start: front[..start].trim().is_empty(),
            is_end: rest[end..].trim().is_empty(),
        }
    }
}

/// Returns a text with each run of white space as one space, at both ends too.
fn collapsed(text: &str) -> String {
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

/// Passes all texts of an entry that are searched to `look`, until it returns true; returns whether it
/// did.
fn texts(entry: Entry<'_>, look: &mut dyn FnMut(&str) -> bool) -> bool {
    let message = entry.message();
    let mut look = |text: Option<Cow<'_, str>>| text.is_some_and(|text| look(&text));
    for object in [message, Some(entry.object())].into_iter().flatten() {
        if NAMES.iter().any(|name| look(object.get_str(name))) {
            return true;
        }
    }
    if entry.calls().any(|call| look(call.name())) || look(Some(entry.full_text().into())) {
        return true;
    }
    for block in entry.content().iter().flat_map(|content| content.elements()) {
        // Names and strings of the arguments, as they read and not as JSON spells them.
        let arguments = || block.get("arguments").map(|arguments| text::decode(arguments.bytes()));
        if look(block.get_str("thinking")) || look(arguments()) {
            return true;
        }
    }
    if TextElsewhere::of(entry).iter().flat_map(TextElsewhere::searched).any(|text| look(Some(text))) {
        return true;
    }
    let files = message.and_then(|message| message.get("files"));
    let mut files = files.iter().flat_map(|files| files.elements());
    files.any(|file| look(file.get_str("content")))
}

/// Returns a text with all its letters in one case and in one spelling, so that equal texts are the same.
fn folded(text: &str) -> String {
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

/// Returns the byte range of a word, given folded, at its first occurrence.
fn find(text: &str, word: &str) -> Option<Range<usize>> {
    let mut place = None;
    pieces(text, word.len(), |start, piece, folded| {
        place = folded.find(word).map(|at| {
            let end = start + original(piece, at + word.len(), true);
            start + original(piece, at, false)..end
        });
        place.is_some()
    });
    place
}

/// Returns the offset in a text of an offset in what it is folded to. Within what one letter is folded to it is
/// that letter's start, or its end if `end` is set.
fn original(text: &str, folded_at: usize, end: bool) -> usize {
    if text.is_ascii() {
        return folded_at;
    }
    let mut before = 0;
    for (at, letter) in text.grapheme_indices(true) {
        let width = folded(letter).len();
        if before >= folded_at || (before + width > folded_at && !end) {
            return at;
        }
        before += width;
    }
    text.len()
}

/// Passes a text to `look` in pieces, each with its offset and folded, until it returns true;
/// returns whether it did. A word of up to `longest` bytes is whole in one of the pieces.
fn pieces(text: &str, longest: usize, mut look: impl FnMut(usize, &str, &str) -> bool) -> bool {
    let mut from = 0;
    loop {
        let to = text.floor_char_boundary(from + PIECE.max(8 * longest));
        let piece = &text[from..to];
        if look(from, piece, &folded(piece)) {
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

#[cfg(test)]
mod tests {
    use super::{Excerpt, Query, find};
    use crate::core::entry::Scan;

    fn finds(text: &str, word: &str) -> bool {
        find(text, word).is_some_and(|place| super::folded(&text[place]) == word)
    }

    #[test]
    fn words_across_pieces_are_found() {
        for before in super::PIECE - 12..super::PIECE + 3 {
            let text = format!("{}NÄHE der Naht{}", "é".repeat(before / 2), "x".repeat(9));
            assert!(finds(&text, "nähe"), "{before}");
            assert!(!finds(&text, "nähen"), "{before}");
        }
    }

    #[test]
    fn places_are_offsets_in_the_original_text() {
        let places = |query: &str, text: &str| {
            let found: Vec<_> = Query::new(query).places(text).into_iter().map(|place| &text[place]).collect();
            found.join("|")
        };
        assert_eq!(places("login retry", "Retry the LOGIN; login-retry"), "Retry|LOGIN|login|retry");
        assert_eq!(places("abc bcd x", "xabcd"), "xabcd");
        assert_eq!(places("aa", "aaaaa"), "aaaa");
        // The lower case of the first is longer, that of the second is shorter.
        assert_eq!(places("stanbul kelvin", "İSTANBUL \u{212a}elvin"), "STANBUL|\u{212a}elvin");
        assert_eq!(places("i", "İ"), "İ");
        // Letters that are folded to several, and those that are spelled with marks.
        assert_eq!(places("strasse", "Die STRAßE, strasse"), "STRAßE|strasse");
        assert_eq!(places("caf\u{e9}", "Cafe\u{301} CAFÉ"), "Cafe\u{301}|CAFÉ");
        assert_eq!(places("cafe", "caf\u{e9} cafe\u{301} cafe"), "cafe");
        assert_eq!(places("한", "\u{1112}\u{1161}\u{11ab}국"), "\u{1112}\u{1161}\u{11ab}");
        assert_eq!(places("σίσυφος", "ΣΊΣΥΦΟΣ"), "ΣΊΣΥΦΟΣ");
        assert_eq!(places("", "all"), "");
        assert_eq!(Query::new("b c").missing_in("A B"), Some("c"));
        assert_eq!(Query::new("").missing_in(""), None);
    }

    fn check(text: &str, word: &str, expected: (&str, &str, &str, bool, bool)) {
        let line = serde_json::json!({"type": "message", "message": {"role": "user", "content": text}}).to_string();
        let mut scan = Scan::default();
        let entry = scan.read(line.as_bytes()).unwrap();
        let Excerpt { before, word, after, is_start, is_end } = Excerpt::of(entry, None, "", word).unwrap();
        assert_eq!((before.as_str(), word.as_str(), after.as_str(), is_start, is_end), expected, "{text}");
    }

    #[test]
    fn excerpt_has_whole_words_around_the_first_occurrence() {
        check("one  two\n Three four", "three", ("one two ", "Three", " four", true, true));
        check("  x", "x", ("", "x", "", true, true));
        let long = format!("{}needle{}", "hay ".repeat(30), " straw".repeat(30));
        let (before, after) = ("hay ".repeat(9), " straw".repeat(13));
        check(&long, "needle", (&before, "needle", &after, false, false));
        let glued = format!("{}needle{}", "x".repeat(100), "y".repeat(100));
        check(&glued, "needle", (&"x".repeat(40), "needle", &"y".repeat(80), false, false));
    }
}
