//! What a query asks for: words, phrases, patterns, and where they stand in a text.

use std::fmt;
use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::fold::{Blanks, collapsed, folded, original, pieces};

/// How much memory a compiled pattern may take, and the states that are made while it searches.
const MOST: usize = 8 * 1024 * 1024;

/// How many bytes of white space there may be between two words of a phrase.
const GAP: usize = 256;

/// One thing that is searched for.
#[derive(Clone, Debug)]
pub enum Term {
    /// A word, folded; or several with one blank between, which may be any white space in a text.
    Words(String),
    /// A regular expression, for texts as they are.
    Pattern(Regex),
}

/// Why a text is not a regular expression that can be searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// It is wrong at this character, counted from 1.
    Wrong {
        /// What is wrong.
        why: String,
        /// Where.
        at: usize,
    },
    /// It would take too much memory.
    TooLarge,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong { why, at } => write!(f, "{why} at character {at}"),
            Self::TooLarge => write!(f, "it would take more than {} MiB of memory", MOST / 1024 / 1024),
        }
    }
}

impl std::error::Error for PatternError {}

/// Returns the words of a text, and its phrases: what stands in double quotes that begin and end a word.
pub(super) fn words(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (term, after) = match phrase(rest) {
            Some(split) => split,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        terms.push(Term::Words(collapsed(&folded(term.trim()))));
        rest = after.trim_start();
    }
    terms
}

/// Splits the phrase off that a text begins with, if it does.
fn phrase(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let is_end = |at: usize| inner[at + 1..].chars().next().is_none_or(char::is_whitespace);
    let end = inner.match_indices('"').map(|(at, _)| at).find(|&at| is_end(at))?;
    // Quotes round nothing are a word.
    (!inner[..end].trim().is_empty()).then(|| (&inner[..end], &inner[end + 1..]))
}

/// Compiles a regular expression.
pub(super) fn pattern(text: &str) -> Result<Term, PatternError> {
    let wrong = |why: String, offset: usize| {
        let at = 1 + text.get(..offset).map_or(0, |before| before.chars().count());
        PatternError::Wrong { why, at }
    };
    // The compiler has the reason only as several lines with a picture.
    if let Err(error) = regex_syntax::parse(text) {
        return Err(match error {
            regex_syntax::Error::Parse(error) => wrong(error.kind().to_string(), error.span().start.offset),
            regex_syntax::Error::Translate(error) => wrong(error.kind().to_string(), error.span().start.offset),
            other => wrong(other.to_string(), 0),
        });
    }
    let built = RegexBuilder::new(text).size_limit(MOST).dfa_size_limit(MOST).build();
    built.map(Term::Pattern).map_err(|_| PatternError::TooLarge)
}

impl Term {
    /// Returns how white space is to be folded for it.
    pub(super) fn blanks(&self) -> Blanks {
        self.words().map_or(Blanks::Kept, blanks)
    }

    /// Returns the words, if it is not a pattern.
    pub(super) fn words(&self) -> Option<&str> {
        match self {
            Self::Words(words) => Some(words),
            Self::Pattern(_) => None,
        }
    }

    /// Returns how many bytes of a text must be looked at together.
    pub(super) fn reach(&self) -> usize {
        self.words().map_or(0, reach)
    }

    /// Returns the byte range of its first occurrence in a text.
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Self::Pattern(pattern) => pattern.find(text).map(|found| found.range()),
            Self::Words(words) => find_words(text, words),
        }
    }
}

/// Returns the byte range of a word or a phrase, given folded, at its first occurrence.
pub(super) fn find_words(text: &str, words: &str) -> Option<Range<usize>> {
    let (blanks, mut place) = (blanks(words), None);
    pieces(text, blanks, reach(words), |start, piece, folded| {
        place = folded.find(words).map(|at| {
            let end = start + original(piece, blanks, at + words.len(), true);
            start + original(piece, blanks, at, false)..end
        });
        place.is_some()
    });
    place
}

/// Returns how white space is to be folded to find a word or a phrase.
fn blanks(words: &str) -> Blanks {
    if words.contains(' ') { Blanks::Collapsed } else { Blanks::Kept }
}

/// Returns how many bytes of a text must be looked at together to find a word or a phrase.
fn reach(words: &str) -> usize {
    words.len() + GAP * words.matches(' ').count()
}

#[cfg(test)]
mod tests {
    use super::super::fold::{PIECE, folded};
    use super::{GAP, PatternError, Term, pattern, words};

    fn finds(text: &str, word: &str) -> bool {
        let found = words(word)[0].find(text);
        found.is_some_and(|place| folded(&text[place]) == word)
    }

    #[test]
    fn words_across_pieces_are_found() {
        for before in (PIECE - 12..PIECE + 3).step_by(2) {
            let text = format!("{}NÄHE der Naht{}", "é".repeat(before / 2), "x".repeat(9));
            assert!(finds(&text, "nähe"), "{before}");
            assert!(!finds(&text, "nähen"), "{before}");
        }
    }

    #[test]
    fn words_in_quotes_are_one_phrase() {
        let check = |text: &str, expected: &[&str]| {
            let terms: Vec<_> = words(text)
                .into_iter()
                .map(|term| match term {
                    Term::Words(words) => words,
                    Term::Pattern(pattern) => panic!("{pattern}"),
                })
                .collect();
            assert_eq!(terms, expected, "{text}");
        };
        check("a  B\tc", &["a", "b", "c"]);
        check(r#"a "B \t C" d"#.replace(r"\t", "\t").as_str(), &["a", "b c", "d"]);
        check(r#" " one " "#, &["one"]);
        // Quotes within a word, round nothing, and without an end are as they are typed.
        check(r#"say"hi" it's 5" x"#, &[r#"say"hi""#, "it's", r#"5""#, "x"]);
        check(r#""" " " "a b"#, &[r#""""#, r#"""#, r#"""#, r#""a"#, "b"]);
        check(r#""say "hi" now" x"#, &[r#"say "hi"#, r#"now""#, "x"]);
        check(r#""ÄÖ STRAßE""#, &["äö strasse"]);
        check("", &[]);
    }

    #[test]
    fn phrase_is_found_with_any_white_space_between() {
        let check = |text: &str, phrase: &str, expected: Option<&str>| {
            let found = words(&format!("\"{phrase}\""))[0].find(text).map(|place| &text[place]);
            assert_eq!(found, expected, "{phrase} in {text:?}");
        };
        check("the Login  retry", "login retry", Some("Login  retry"));
        check("the \n\t login\r\n\u{2003}RETRY é", "login retry", Some("login\r\n\u{2003}RETRY"));
        check("é \u{2003} Éa  b", "éa b", Some("Éa  b"));
        check("login-retry login x retry", "login retry", None);
        check("logins retry blogin retrying", "login retry", Some("login retry"));
        check("aaa b", "aa b", Some("aa b"));
        check("a b a  c", "a c", Some("a  c"));
        for before in [PIECE - 300, PIECE - 10, PIECE - 3, PIECE] {
            let text = format!("{}one{}two", "x".repeat(before), " ".repeat(GAP));
            assert!(words("\"one two\"")[0].find(&text).is_some_and(|place| place == (before..text.len())), "{before}");
        }
    }

    #[test]
    fn pattern_is_found_in_the_text_as_it_is() {
        let check = |text: &str, regex: &str, expected: Option<&str>| {
            let found = pattern(regex).unwrap().find(text).map(|place| &text[place]);
            assert_eq!(found, expected, "{regex} in {text:?}");
        };
        check("see E042 and e043", r"e\d+", Some("e043"));
        check("see E042 and e043", r"(?i)e\d+", Some("E042"));
        check("a\nb", "(?m)^b$", Some("b"));
        check("a\nb", "^b$", None);
        check("Straße", "strasse", None);
        check("日本語", r"\p{Han}+", Some("日本語"));
    }

    #[test]
    fn bad_pattern_says_what_is_wrong_and_where() {
        let check = |regex: &str, expected: &str| {
            assert_eq!(pattern(regex).unwrap_err().to_string(), expected, "{regex}");
        };
        check("ab(c", "unclosed group at character 3");
        check("é*+[", "unclosed character class at character 4");
        check("*", "repetition operator missing expression at character 1");
        check(r"x\p{Klingon}", "Unicode property not found at character 2");
        assert_eq!(pattern(r"(\w{200}){200}").unwrap_err(), PatternError::TooLarge);
    }

    #[test]
    fn pattern_takes_linear_time() {
        // A matcher that goes back would never end.
        assert_eq!(pattern("(a*)*(a|a)*b$").unwrap().find(&"a".repeat(200_000)), None);
    }
}
