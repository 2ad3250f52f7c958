//! Rules out most entries of a search from the bytes of their lines, without decoding them.
//!
//! A word of plain ASCII has the same bytes in a line and in its text, except for case and for the few letters
//! that are folded to ASCII, unless the line has escapes, or the text is joined from several blocks. Must never
//! rule out an entry that matches.

use memchr::memchr3_iter;
use memchr::memmem::{self, Finder};

use super::Query;
use super::fold::{PIECE, folded};

/// The smallest first byte of a character that folds to ASCII: that of `ß`.
const FIRST: u8 = 0xc3;

/// Searches lines for the words of a query.
#[derive(Debug)]
pub struct Prefilter<'q> {
    words: Vec<Finder<'q>>,
    doubts: Doubts,
    lower: Vec<u8>,
    folded: Vec<u8>,
}

impl<'q> Prefilter<'q> {
    /// Prepares the search. Words that JSON may spell in another way are left out, and so are patterns.
    pub fn new(query: &'q Query) -> Self {
        let is_plain = |char: char| char.is_ascii_graphic() && !['"', '\\', '/'].contains(&char);
        let words = query.words().filter(|word| word.chars().all(is_plain));
        let words = words.map(Finder::new);
        Self { words: words.collect(), doubts: Doubts::default(), lower: Vec::new(), folded: Vec::new() }
    }

    /// Returns whether an entry may have all words; if not, [`Query::matches`] returns false too.
    pub fn may_match(&mut self, line: &[u8], label: Option<&str>, row: &str) -> bool {
        let longest = self.words.iter().map(|word| word.needle().len()).max().unwrap_or(0);
        // A letter of up to three bytes may be folded to one.
        let overlap = 3 * longest + 3;
        let mut missing: Vec<_> = self.words.iter().collect();
        let mut from = 0;
        while from < line.len() && !missing.is_empty() {
            let to = line.len().min(from + PIECE + overlap);
            self.lower.clear();
            self.lower.extend_from_slice(&line[from..to]);
            self.lower.make_ascii_lowercase();
            missing.retain(|word| word.find(&self.lower).is_none());
            if !missing.is_empty() && folds_to_ascii(&self.lower) {
                fold_to_ascii(&self.lower, &mut self.folded);
                missing.retain(|word| word.find(&self.folded).is_none());
            }
            // A word across the end of a piece is whole in the next one.
            from += PIECE;
        }
        if missing.is_empty() || self.doubts.are_about(line) {
            return true;
        }
        for text in [Some(row), label].into_iter().flatten() {
            self.lower.clear();
            self.lower.extend_from_slice(text.as_bytes());
            self.lower.make_ascii_lowercase();
            if folds_to_ascii(&self.lower) {
                fold_to_ascii(&self.lower, &mut self.folded);
                std::mem::swap(&mut self.lower, &mut self.folded);
            }
            missing.retain(|word| word.find(&self.lower).is_none());
        }
        missing.is_empty()
    }
}

/// Finds lines whose texts may have a word that the line itself does not have.
#[derive(Debug)]
struct Doubts {
    escapes: Finder<'static>,
    texts: Finder<'static>,
}

impl Default for Doubts {
    fn default() -> Self {
        Self { escapes: Finder::new(b"\\u"), texts: Finder::new(b"\"text\"") }
    }
}

impl Doubts {
    /// Returns whether a word may be in a text of a line although it is not in the line, folded to ASCII.
    fn are_about(&self, line: &[u8]) -> bool {
        // A text of several blocks is searched as one text; each block has `"text"` twice.
        self.texts.find_iter(line).nth(2).is_some()
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

/// Returns whether there may be a character in UTF-8 that [`folds`].
pub(super) fn folds_to_ascii(bytes: &[u8]) -> bool {
    if bytes.is_ascii() {
        return false;
    }
    // The first bytes of all of them but two, which are looked for whole: theirs are those of umlauts and dashes.
    let firsts = [[0xc4, 0xc5, 0xc7], [0xcd, 0xe1, 0xef]].into_iter();
    let mut found = firsts.flat_map(|[a, b, c]| memchr3_iter(a, b, c, bytes));
    found.any(|at| folds_at(&bytes[at..]).is_some())
        || ["ß", "\u{212a}"].iter().any(|char| memmem::find(bytes, char.as_bytes()).is_some())
}

/// Writes bytes of UTF-8 with the characters that [`folds`] folded, others as they are.
fn fold_to_ascii(bytes: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte >= FIRST) {
        let (before, from) = rest.split_at(at);
        out.extend_from_slice(before);
        let taken = match folds_at(from) {
            Some(char) => {
                out.extend_from_slice(folded(char).as_bytes());
                char.len()
            }
            None => {
                out.push(from[0]);
                1
            }
        };
        rest = &from[taken..];
    }
    out.extend_from_slice(rest);
}

/// Returns the character in UTF-8 that some bytes start with, if it [`folds`].
pub(super) fn folds_at(bytes: &[u8]) -> Option<&str> {
    let char = bytes.get(..width(*bytes.first()?)).and_then(|bytes| std::str::from_utf8(bytes).ok());
    char.filter(|char| char.chars().any(folds))
}

/// Returns the width of a character that may fold to ASCII, by its first byte.
fn width(first: u8) -> usize {
    if first < 0xe0 { 2 } else { 3 }
}

/// Returns whether a character beyond ASCII is folded to something with ASCII in it: ligatures, letters that
/// stand for several, and a few that are the same as one of ASCII.
pub(super) fn folds(char: char) -> bool {
    matches!(char, 'ß' | 'İ' | 'ŉ' | 'ſ' | 'ǰ' | '\u{37e}' | 'ẖ'..='ẛ' | 'ẞ' | '\u{1fef}' | '\u{212a}' | 'ﬀ'..='ﬆ')
}

#[cfg(test)]
mod tests {
    use super::{Prefilter, Query, folded};
    use crate::core::entry::Scan;
    use crate::random::Random;

    fn check(word: &str, line: &str, expected: bool) {
        let query = Query::new(word);
        let found = Prefilter::new(&query).may_match(line.as_bytes(), Some("Label"), "the Row");
        assert_eq!(found, expected, "{word} in {line}");
    }

    #[test]
    fn every_character_that_is_folded_to_ascii_is_known() {
        // Beyond are ideographs and what has no meaning yet.
        for char in '\u{80}'..='\u{20fff}' {
            let has_ascii = || folded(&char.to_string()).bytes().any(|byte| byte.is_ascii());
            assert!(super::folds(char) || !has_ascii(), "{char:?}");
        }
        for char in '\u{80}'..='\u{ffff}' {
            let text = format!("a—{char}ü");
            assert_eq!(super::folds_to_ascii(text.as_bytes()), super::folds(char), "{char:?}");
        }
        let mut out = Vec::new();
        super::fold_to_ascii("a—ßü\u{212a}\u{fb03}é🙂".as_bytes(), &mut out);
        assert_eq!(String::from_utf8_lossy(&out), "a—ssükffié🙂");
        // Half a character at the end is none.
        assert!(!super::folds_to_ascii(b"a\xc5") && super::folds_to_ascii(b"\xff\xef\xac\x80"));
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
        for before in super::PIECE - 24..super::PIECE + 3 {
            let line = format!("{}needle{}", "x".repeat(before), "y".repeat(9));
            check("needle", &line, true);
            check("needles", &line, false);
            let line = format!("{}mi\u{df}ma\u{df}{}", "x".repeat(before), "y".repeat(9));
            check("missmass", &line, true);
            check("missmasses", &line, false);
        }
    }

    #[test]
    fn letters_that_are_folded_to_ascii_are_looked_through() {
        check("strasse", r#"{"text":"Die Straße—"}"#, true);
        check("strass", r#"{"text":"Die Straße—"}"#, true);
        check("strassen", r#"{"text":"Die Straße—"}"#, false);
        check("zzyzx", r#"{"text":"Die Straße—"}"#, false);
        check("kelvin", "{\"text\":\"\u{212a}elvin\"}", true);
        check("istanbul", "{\"text\":\"\u{130}stanbul\"}", false);
        check("stanbul", "{\"text\":\"\u{130}stanbul\"}", true);
        check("office", "{\"text\":\"o\u{fb03}ce\"}", true);
    }

    #[test]
    fn no_line_with_folded_letters_is_ruled_out_wrongly() {
        let letters = ["ß", "\u{212a}", "\u{fb03}", "İ", "ŉ", "s", "K", "f", "i", "n", "é", "e\u{301}", "—", " "];
        let mut random = Random::new(1);
        let mut any = |bound: usize| random.below(bound);
        let (mut scan, mut found) = (Scan::default(), 0);
        for _ in 0..3000 {
            let text: String = (0..12).map(|_| letters[any(letters.len())]).collect();
            let word: String = (0..1 + any(3)).map(|_| ["s", "k", "ff", "i", "n", "e"][any(6)]).collect();
            let line = format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#);
            let query = Query::new(&word);
            let passes = Prefilter::new(&query).may_match(line.as_bytes(), None, "");
            let matches = query.matches(scan.read(line.as_bytes()).unwrap(), None, "");
            assert!(passes || !matches, "{word} in {text}");
            found += usize::from(matches);
        }
        assert!(found > 300, "{found}");
    }

    #[test]
    fn uncertain_lines_pass() {
        check("abc", r#"{"text":"\u0061bc"}"#, true);
        check("abc", r#"{"text":"\u001b[31m\u00e9"}"#, false);
        check("abc", r#"{"text":"\u00"}"#, true);
        check("kelvin", r#"{"text":"\u212Aelvin"}"#, true);
        let block = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        check("abc", &block("ab"), false);
        check("abc", &[block("ab"), block("c")].concat(), true);
        // JSON may escape these, or spell them in another way.
        for word in ["a\"b", "a\\b", "a/b", "é", "\u{7f}"] {
            check(word, "{}", true);
        }
    }
}
