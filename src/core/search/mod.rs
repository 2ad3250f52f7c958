//! Finds entries by words (help rules, "Search"). [`Query`] decides; [`Prefilter`] only saves time, and
//! must let pass every entry that the query matches.

use std::borrow::Cow;
use std::ops::Range;

use crate::core::entry::Entry;
use crate::core::entry::elsewhere::TextElsewhere;
use crate::core::json::text;

mod caseless;
pub(crate) mod file;
mod fold;
mod prefilter;
mod term;

pub use prefilter::Prefilter;
pub use term::{PatternError, Term};

use fold::{Blanks, collapsed, pieces};

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

/// How many characters of a text an excerpt has before the word.
const BEFORE: usize = 40;
/// How many it has after the word.
const AFTER: usize = 80;
/// How many characters of what a pattern matched an excerpt has.
const LONGEST: usize = 200;

/// Words and phrases that must all be found, whatever their case, or one pattern.
#[derive(Clone, Debug)]
pub struct Query(Vec<Term>);

/// What was found in the text around it. White space is collapsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The text before what was found.
    pub before: String,
    /// What was found, as it is spelled in the text.
    pub word: String,
    /// The text after it.
    pub after: String,
    /// Whether the text starts with `before`.
    pub is_start: bool,
    /// Whether the text ends with `after`.
    pub is_end: bool,
}

impl Query {
    /// Makes a query of words that are separated by white space. Words in double quotes are one phrase.
    pub fn new(text: &str) -> Self {
        Self(term::words(text))
    }

    /// Makes a query of one regular expression.
    ///
    /// # Errors
    /// [`PatternError`] if it is none, or too large.
    pub fn pattern(text: &str) -> Result<Self, PatternError> {
        Ok(Self(vec![term::pattern(text)?]))
    }

    /// Returns whether an entry has all that is searched for in its texts, its names, its label, or its row.
    /// Each line of `row` is a form of the row by itself.
    pub fn matches(&self, entry: Entry<'_>, label: Option<&str>, row: &str) -> bool {
        let anywhere = |look: &mut dyn FnMut(&str) -> bool| {
            row.split('\n').any(&mut *look) || look(label.unwrap_or("")) || texts(entry, look)
        };
        if let [Term::Pattern(pattern)] = &self.0[..] {
            return anywhere(&mut |text| pattern.is_match(text));
        }
        let is_phrase = self.0.iter().any(|term| term.blanks() == Blanks::Collapsed);
        // In a text without runs of white space words are found as well.
        let blanks = if is_phrase { Blanks::Collapsed } else { Blanks::Kept };
        let mut missing: Vec<_> = self.0.iter().collect();
        anywhere(&mut |text| {
            let longest = missing.iter().map(|term| term.reach()).max().unwrap_or(0);
            pieces(text, blanks, longest, |_, _, folded| {
                missing.retain(|term| !term.words().is_some_and(|words| folded.contains(words)));
                missing.is_empty()
            })
        })
    }

    /// Iterates over all words, folded, those of phrases too.
    fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(Term::words).flat_map(|words| words.split(' '))
    }

    /// Returns the first term that is not in a text.
    pub(crate) fn missing_in(&self, text: &str) -> Option<&Term> {
        self.0.iter().find(|term| term.find(text).is_none())
    }

    /// Returns the term whose place is of most interest; `None` if everything is found.
    pub(crate) fn first(&self) -> Option<&Term> {
        self.0.first()
    }

    /// Returns the byte ranges of what is found in a text, in order and not overlapping.
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for term in &self.0 {
            if let Term::Pattern(pattern) = term {
                places.extend(pattern.find_iter(text).map(|found| found.range()).filter(|place| !place.is_empty()));
                continue;
            }
            let mut from = 0;
            while let Some(place) = term.find(&text[from..]) {
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
    /// Returns the first occurrence of a term in what is searched: the text first, then the row, then
    /// the names.
    pub fn of(entry: Entry<'_>, label: Option<&str>, row: &str, term: &Term) -> Option<Self> {
        let mut found = None;
        let mut look = |text: &str| {
            found = term.find(text).map(|place| Self::around(text, place));
            found.is_some()
        };
        let _ = look(&entry.full_text()) || look(row) || texts(entry, &mut look) || look(label.unwrap_or(""));
        found
    }

    fn around(text: &str, mut place: Range<usize>) -> Self {
        if let Some((end, _)) = text[place.clone()].char_indices().nth(LONGEST) {
            place.end = place.start + end;
        }
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

#[cfg(test)]
mod tests {
    use super::{Excerpt, Query, Term, term};
    use crate::core::entry::Scan;

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
        assert_eq!(places("\"login retry\" fix", "Fix: login  RETRY, login"), "Fix|login  RETRY");
        let missing = |query: &str, text: &str| Query::new(query).missing_in(text).map(|term| format!("{term:?}"));
        assert_eq!(missing("b c", "A B").as_deref(), Some(r#"Words("c")"#));
        assert_eq!(missing("", ""), None);
        let places = |pattern: &str, text: &str| Query::pattern(pattern).unwrap().places(text);
        assert_eq!(places("[ab]+|x*", "ab-ba"), [0..2, 3..5]);
        assert!(places("^", "ab").is_empty());
    }

    fn check_term(text: &str, term: &Term, expected: (&str, &str, &str, bool, bool)) {
        let line = serde_json::json!({"type": "message", "message": {"role": "user", "content": text}}).to_string();
        let mut scan = Scan::default();
        let entry = scan.read(line.as_bytes()).unwrap();
        let Excerpt { before, word, after, is_start, is_end } = Excerpt::of(entry, None, "", term).unwrap();
        assert_eq!((before.as_str(), word.as_str(), after.as_str(), is_start, is_end), expected, "{text}");
    }

    fn check(text: &str, word: &str, expected: (&str, &str, &str, bool, bool)) {
        check_term(text, &term::words(word)[0], expected);
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

    #[test]
    fn excerpt_of_a_long_match_is_cut() {
        let text = format!("{}end", "word ".repeat(100));
        let expected = ("", &*"word ".repeat(40), &*"word ".repeat(16), true, false);
        let (before, word, after, is_start, is_end) = expected;
        check_term(&text, &term::pattern("(?s).*").unwrap(), (before, word, after.trim_end(), is_start, is_end));
    }
}
