//! Rules out most entries of a search from the bytes of their lines, without decoding them.
//!
//! A word of plain ASCII has the same bytes in a line and in its text, except for case, unless the line
//! has escapes, or the text is joined from several blocks. Must never rule out an entry that matches.

use memchr::memmem::Finder;

use super::Query;
use super::fold::{PIECE, folded};

/// Searches lines for the words of a query.
#[derive(Debug)]
pub struct Prefilter<'q> {
    words: Vec<Finder<'q>>,
    doubts: Doubts,
    lower: Vec<u8>,
}

impl<'q> Prefilter<'q> {
    /// Prepares the search. Words that JSON may spell in another way are left out, and so are patterns.
    pub fn new(query: &'q Query) -> Self {
        let is_plain = |char: char| char.is_ascii_graphic() && !['"', '\\', '/'].contains(&char);
        let words = query.words().filter(|word| word.chars().all(is_plain));
        let words = words.map(Finder::new);
        Self { words: words.collect(), doubts: Doubts::default(), lower: Vec::new() }
    }

    /// Returns whether an entry may have all words; if not, [`Query::matches`] returns false too.
    pub fn may_match(&mut self, line: &[u8], label: Option<&str>, row: &str) -> bool {
        let longest = self.words.iter().map(|word| word.needle().len()).max().unwrap_or(0);
        let mut missing: Vec<_> = self.words.iter().collect();
        let mut from = 0;
        while from < line.len() && !missing.is_empty() {
            let to = line.len().min(from + PIECE + longest);
            self.lower.clear();
            self.lower.extend_from_slice(&line[from..to]);
            self.lower.make_ascii_lowercase();
            missing.retain(|word| word.find(&self.lower).is_none());
            // A word across the end of a piece is whole in the next one.
            from += PIECE;
        }
        if missing.is_empty() || self.doubts.are_about(line) {
            return true;
        }
        let has = |text: &str, word: &Finder<'_>| word.find(folded(text).as_bytes()).is_some();
        missing.iter().all(|word| has(row, word) || label.is_some_and(|label| has(label, word)))
    }
}

/// Finds lines whose texts may have a word that the line itself does not have.
#[derive(Debug)]
pub(super) struct Doubts {
    escapes: Finder<'static>,
    texts: Finder<'static>,
}

impl Default for Doubts {
    fn default() -> Self {
        Self { escapes: Finder::new(b"\\u"), texts: Finder::new(b"\"text\"") }
    }
}

impl Doubts {
    /// Returns whether a word of plain ASCII may be in a text of a line although it is not in the line.
    pub(super) fn are_about(&self, line: &[u8]) -> bool {
        let folds =
            || std::str::from_utf8(line).map_or(true, |text| text.chars().any(|char| char > '\u{7f}' && folds(char)));
        let folds = !line.is_ascii() && folds();
        // A text of several blocks is searched as one text; each block has `"text"` twice.
        folds
            || self.texts.find_iter(line).nth(2).is_some()
            || self.escapes.find_iter(line).any(|at| may_be_plain(&line[at + 2..]))
    }
}

/// Returns whether the digits of an escape may spell a character of ASCII other than controls, or one
/// that has such a lower case.
fn may_be_plain(digits: &[u8]) -> bool {
    let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
    let code = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let is_plain = |code: u16| (0x20..0x80).contains(&code) || char::from_u32(code.into()).is_some_and(folds);
    code.is_none_or(is_plain)
}

/// Returns whether a character beyond ASCII is folded to something with ASCII in it: ligatures, letters that
/// stand for several, and a few that are the same as one of ASCII.
fn folds(char: char) -> bool {
    matches!(char, 'ß' | 'İ' | 'ŉ' | 'ſ' | 'ǰ' | '\u{37e}' | 'ẖ'..='ẛ' | 'ẞ' | '\u{1fef}' | '\u{212a}' | 'ﬀ'..='ﬆ')
}

#[cfg(test)]
mod tests {
    use super::{Prefilter, Query};

    fn check(word: &str, line: &str, expected: bool) {
        let query = Query::new(word);
        let found = Prefilter::new(&query).may_match(line.as_bytes(), Some("Label"), "the Row");
        assert_eq!(found, expected, "{word} in {line}");
    }

    #[test]
    fn every_character_that_is_folded_to_ascii_is_known() {
        for char in ('\u{80}'..=char::MAX).filter(|&char| !super::folds(char)) {
            assert!(!super::folded(&char.to_string()).bytes().any(|byte| byte.is_ascii()), "{char:?}");
        }
    }

    #[test]
    fn lines_without_a_word_are_ruled_out() {
        check("abc", r#"{"text":"xabcx"}"#, true);
        check("abc", r#"{"text":"xABcx"}"#, true);
        check("abc", r#"{"text":"xab cx"}"#, false);
        check("abc xyz", r#"{"text":"abc"}"#, false);
        check("abc row label", r#"{"text":"abc"}"#, true);
        check("", "{}", true);
        check("\"abc row\"", r#"{"text":"abc\n\tROW"}"#, true);
        check("\"abc xyz\"", r#"{"text":"abc"}"#, false);
    }

    #[test]
    fn words_across_pieces_are_found() {
        for before in super::PIECE - 12..super::PIECE + 3 {
            let line = format!("{}needle{}", "x".repeat(before), "y".repeat(9));
            check("needle", &line, true);
            check("needles", &line, false);
        }
    }

    #[test]
    fn uncertain_lines_pass() {
        check("abc", r#"{"text":"\u0061bc"}"#, true);
        check("abc", r#"{"text":"\u001b[31m\u00e9"}"#, false);
        check("abc", r#"{"text":"\u00"}"#, true);
        check("kelvin", "{\"text\":\"\u{212a}elvin\"}", true);
        check("kelvin", r#"{"text":"\u212Aelvin"}"#, true);
        check("istanbul", "{\"text\":\"\u{130}stanbul\"}", true);
        let block = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        check("abc", &block("ab"), false);
        check("abc", &[block("ab"), block("c")].concat(), true);
        // JSON may escape these, or spell them in another way.
        for word in ["a\"b", "a\\b", "a/b", "é", "\u{7f}"] {
            check(word, "{}", true);
        }
    }
}
