//! Rules out most files of a search from their bytes: those in which a word of the query is nowhere.
//!
//! Must never rule out a file in which an entry matches. What the words of a row have beside the text of
//! entries, names and numbers, is known here: such a word is never looked for.

use memchr::memmem::Finder;

use super::fold::PIECE;
use super::prefilter::{Doubts, folds_to_ascii};
use super::term::find_words;
use super::{Query, texts};
use crate::core::entry::Scan;

/// Words that rows have beside what is stored, in one case. See [`crate::core::entry::preview`].
const OF_ROWS: [&str; 32] = [
    "user",
    "assistant",
    "developer",
    "system",
    "custom",
    "aborted",
    "no",
    "content",
    "empty",
    "image",
    "tool",
    "in",
    "tokens",
    "compaction",
    "branch",
    "summary",
    "model",
    "unknown",
    "thinking",
    "off",
    "label",
    "cleared",
    "leaf",
    "none",
    "mode",
    "type",
    "bash",
    "python",
    "files",
    "malformed",
    "message",
    "role",
];

/// The words of a query that were not seen in a file so far.
#[derive(Debug)]
pub(crate) struct UnseenWords<'q> {
    words: Vec<(&'q str, Finder<'q>)>,
    doubts: Doubts,
    lower: Vec<u8>,
    scan: Scan,
}

impl<'q> UnseenWords<'q> {
    /// Starts with all words that must be in the bytes of a file.
    pub(crate) fn new(query: &'q Query) -> Self {
        let words = query.words().filter(|word| is_of_texts(word));
        let words = words.map(|word| (word, Finder::new(word.as_bytes()))).collect();
        Self { words, doubts: Doubts::default(), lower: Vec::new(), scan: Scan::default() }
    }

    /// Returns whether all words were seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Looks for the words in a line.
    pub(crate) fn look(&mut self, line: &[u8]) {
        let Self { words, doubts, lower, scan } = self;
        let longest = words.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
        let mut from = 0;
        while from < line.len() && !words.is_empty() {
            let to = line.len().min(from + PIECE + longest);
            lower.clear();
            lower.extend_from_slice(&line[from..to]);
            lower.make_ascii_lowercase();
            words.retain(|(_, finder)| finder.find(lower).is_none());
            // A word across the end of a piece is whole in the next one.
            from += PIECE;
        }
        if words.is_empty() || !(doubts.are_about(line) || folds_to_ascii(line)) {
            return;
        }
        let Ok(entry) = scan.read(line) else { return };
        texts(entry, &mut |text| {
            words.retain(|(word, _)| find_words(text, word).is_none());
            words.is_empty()
        });
    }
}

/// Returns whether a word can only be found where its letters stand in a file as they are: it is of letters
/// and digits of ASCII, is not a number, and is not part of a word that rows add.
fn is_of_texts(word: &str) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // As `12k` and as the last line of a range.
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || b"kinfae_".contains(&byte));
    is_plain && !is_number && !OF_ROWS.iter().any(|other| other.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{Query, UnseenWords};

    /// Returns whether all words that have to be in a file are in its lines.
    fn sees(words: &str, lines: &[&str]) -> bool {
        let query = Query::new(words);
        let mut unseen = UnseenWords::new(&query);
        lines.iter().for_each(|line| unseen.look(line.as_bytes()));
        unseen.is_empty()
    }

    #[test]
    fn files_without_a_word_are_ruled_out() {
        let (abc, xyz) = (r#"{"text":"an ABC"}"#, r#"{"text":"xyz"}"#);
        assert!(sees("abc", &[xyz, abc]) && sees("abc xyz", &[xyz, abc]) && sees("", &[]));
        assert!(!sees("abc xyz", &[abc]) && !sees("abd", &[abc, xyz]));
        // Nothing is known of these.
        for word in ["a/b", "a-b", "é", "user", "ken", "12k", "80", "\"", "mess"] {
            assert!(sees(word, &[abc]), "{word}");
        }
    }

    #[test]
    fn words_that_are_spelled_in_another_way_are_seen() {
        let block = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let message =
            |content: &str| format!(r#"{{"type":"message","id":"a","message":{{"role":"user","content":{content}}}}}"#);
        let two = message(&format!("[{},{}]", block("nee"), block("dle")));
        assert!(sees("needle", &[&two]) && !sees("needles", &[&two]));
        let escaped = message(r#""n\u0065edle""#);
        assert!(sees("needle", &[&escaped]) && !sees("needles", &[&escaped]));
        let kelvin = message("\"\u{212a}elvin\"");
        assert!(sees("kelvin", &[&kelvin]) && !sees("kelvins", &[&kelvin]));
        let long = format!("{}needle", "x".repeat(super::PIECE - 3));
        assert!(sees("needle", &[&long]) && !sees("needles", &[&long]));
    }
}
