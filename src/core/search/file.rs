//! Rules out most files of a search from their bytes: those in which a word of the query is nowhere.
//!
//! Must never rule out a file in which an entry matches. What the words of a row have beside the text of
//! entries, names and numbers, is known here: such a word is never looked for.

use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use super::caseless::{CaselessFinder, each_folding};
use super::fold::folded;
use super::prefilter::{folds, folds_at};
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

/// The name of a text, as a line has it.
const TEXT: &[u8] = b"\"text\"";

/// How many letters of a word are looked for: a file without these does not have the word.
const LONGEST: usize = 32;

/// The words of a query that were not seen in a file so far.
///
/// A word mostly stands in a line as in a text. It does not where a letter of it is escaped or is folded to ASCII, or
/// where the text goes on in another block of the content. Only lines in which it may be so are parsed: the letters
/// next to such a place would have to be those of the word.
#[derive(Debug)]
pub(crate) struct UnseenWords<'q> {
    words: Vec<CaselessFinder<'q>>,
    escapes: Finder<'static>,
    texts: Finder<'static>,
    /// Whether the line that goes on has a text already.
    has_text: bool,
    scan: Scan,
}

impl<'q> UnseenWords<'q> {
    /// How many bytes before a place [`Self::look`] needs.
    pub(crate) const BEFORE: usize = LONGEST;
    /// How many bytes after it.
    pub(crate) const AFTER: usize = LONGEST + 32;

    /// Starts with all words that must be in the bytes of a file.
    pub(crate) fn new(query: &'q Query) -> Self {
        let words = query.words().filter(|word| is_of_texts(word));
        let words = words.map(|word| CaselessFinder::new(&word[..word.len().min(LONGEST)]));
        let (escapes, texts) = (Finder::new(b"\\u"), Finder::new(TEXT));
        Self { words: words.collect(), escapes, texts, has_text: false, scan: Scan::default() }
    }

    /// Returns whether all words were seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Looks for the words in bytes of a file, and returns the places in `zone` whose lines may have some although the
    /// bytes do not. Zones come in the order of the file, each where the one before ends.
    pub(crate) fn look(&mut self, bytes: &[u8], zone: Range<usize>) -> Vec<usize> {
        self.words.retain(|word| !word.is_in(bytes));
        let (mut doubts, from) = (Vec::new(), &bytes[zone.start..]);
        if self.words.is_empty() {
            return doubts;
        }
        let may_be_any = |may_be: &dyn Fn(&[u8]) -> bool| self.words.iter().any(|word| may_be(word.word().as_bytes()));
        each_folding(from, |at| {
            let at = zone.start + at;
            if let Some(char) = folds_at(&bytes[at..]).filter(|_| at < zone.end) {
                let (left, folded, right) = (&bytes[..at], folded(char), &bytes[at + char.len()..]);
                doubts.extend(may_be_any(&|word| spans(word, left, folded.as_bytes(), right)).then_some(at));
            }
        });
        for at in self.escapes.find_iter(from).map(|at| zone.start + at).take_while(|&at| at < zone.end) {
            let may_be = match escaped(&bytes[at + 2..]) {
                // Names may be spelled so too, and hide that a text goes on.
                None => true,
                Some(char) if char.is_ascii() => char.is_ascii_alphanumeric() || char == '_',
                Some(char) => {
                    let (left, folded, right) = (&bytes[..at], folded(char.encode_utf8(&mut [0; 4])), &bytes[at + 6..]);
                    folds(char) && may_be_any(&|word| spans(word, left, folded.as_bytes(), right))
                }
            };
            doubts.extend(may_be.then_some(at));
        }
        let mut last = None;
        for at in self.texts.find_iter(from).map(|at| zone.start + at).take_while(|&at| at < zone.end) {
            let Some(text) = value(&bytes[at + TEXT.len()..]) else { continue };
            let is_more = may_be_any(&|word| (1..word.len()).any(|front| goes_on(&word[front..], text))) && {
                let is_same_line = memchr(b'\n', &bytes[last.unwrap_or(zone.start)..at]).is_none();
                is_same_line && (last.is_some() || self.has_text)
            };
            doubts.extend(is_more.then_some(at));
            last = Some(at);
        }
        let line_end = memrchr(b'\n', &bytes[zone.clone()]).map(|end| zone.start + end);
        self.has_text = if line_end.is_some() { last > line_end } else { last.is_some() || self.has_text };
        doubts.sort_unstable();
        doubts
    }

    /// Looks for the words in the texts of a line.
    pub(crate) fn judge(&mut self, line: &[u8]) {
        let Self { words, scan, .. } = self;
        let Ok(entry) = scan.read(line) else { return };
        let mut look = |text: &str| {
            words.retain(|word| find_words(text, word.word()).is_none());
            words.is_empty()
        };
        // A header and a title slot are no entries; the name of the session is searched too.
        let _ = entry.get_str("title").is_some_and(|title| look(&title)) || texts(entry, &mut look);
    }
}

/// Returns the character that the digits of an escape stand for; `None` if there are no such digits. Half of a pair
/// is a character that is never part of a word.
fn escaped(digits: &[u8]) -> Option<char> {
    let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok())?;
    let code = u16::from_str_radix(digits, 16).ok()?;
    Some(char::from_u32(code.into()).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// Returns what follows the quote of a string, given what is after the name of a member; empty if that is not known
/// by these bytes, and `None` if it is no string.
fn value(after: &[u8]) -> Option<&[u8]> {
    let Some(after) = after.trim_ascii_start().strip_prefix(b":") else {
        return after.trim_ascii_start().is_empty().then_some(&[]);
    };
    let value = after.trim_ascii_start();
    if value.is_empty() { Some(value) } else { value.strip_prefix(b"\"") }
}

/// Returns whether a word may stand in a text as `left`, the last bytes as they are, then `middle`, the first thing
/// that is spelled in another way, and then `right`.
fn spans(word: &[u8], left: &[u8], middle: &[u8], right: &[u8]) -> bool {
    let fits = |front: usize, skipped: usize| {
        let (front, rest) = word.split_at(front);
        let middle = &middle[skipped..];
        let count = middle.len().min(rest.len());
        let start = left.len().checked_sub(front.len());
        middle[..count] == rest[..count]
            && start.is_some_and(|start| left[start..].eq_ignore_ascii_case(front))
            && goes_on(&rest[count..], right)
    };
    (0..word.len()).any(|front| fits(front, 0)) || (1..middle.len()).any(|skipped| fits(0, skipped))
}

/// Returns whether some letters may go on with these bytes: in them, or after another place where something is
/// spelled in another way.
fn goes_on(letters: &[u8], bytes: &[u8]) -> bool {
    let other = letters.iter().zip(bytes).find(|(letter, byte)| byte.to_ascii_lowercase() != **letter);
    other.is_none_or(|(_, byte)| matches!(byte, b'"' | b'\\') || !byte.is_ascii())
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

    /// Returns whether all words that have to be in a file are in its lines, and how many places were doubtful.
    fn look(words: &str, lines: &[&str]) -> (bool, usize) {
        let query = Query::new(words);
        let mut unseen = UnseenWords::new(&query);
        let text = lines.join("\n");
        let doubts = unseen.look(text.as_bytes(), 0..text.len());
        for &place in &doubts {
            let start = text[..place].rfind('\n').map_or(0, |end| end + 1);
            unseen.judge(text[start..].split('\n').next().unwrap().as_bytes());
        }
        (unseen.is_empty(), doubts.len())
    }

    fn sees(words: &str, lines: &[&str]) -> bool {
        look(words, lines).0
    }

    fn block(text: &str) -> String {
        format!(r#"{{"type":"text","text":"{text}"}}"#)
    }

    fn message(content: &str) -> String {
        format!(r#"{{"type":"message","id":"a","message":{{"role":"user","content":{content}}}}}"#)
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
        let check = |content: &str, word: &str, other: &str| {
            let line = message(content);
            assert!(sees(word, &[&line]), "{word} in {line}");
            assert!(!sees(other, &[&line]), "{other} in {line}");
        };
        check(&format!("[{},{}]", block("nee"), block("dle")), "needle", "needles");
        check(&format!("[{},{},{}]", block("n"), block(""), block("eedle")), "needle", "needles");
        let spaced = r#"[{"text" :	"nee","type":"text"} , {"type":"text","signature":"x","text":  "dle"}]"#;
        check(spaced, "needle", "needles");
        check(&format!("[{},{}]", block("nee"), r#"{"type":"text","te\u0078t":"dle"}"#), "needle", "needles");
        check(r#""n\u0065edle""#, "needle", "needles");
        check(r#""n\u0045\u0065\u0064le""#, "needle", "needles");
        check("\"\u{212a}elvin\"", "kelvin", "kelvins");
        check(r#""\u212aelvin""#, "kelvin", "kelvins");
        check("\"mi\u{df}ma\u{df}\"", "missmass", "missmasses");
        check("\"mi\u{df}ma\u{df}\"", "smas", "smis");
        check("\"\u{df}\u{fb03}\\u017f\u{df}\"", "sffisss", "ssssffi");
        check(&format!("[{},{}]", block("mi"), block("\u{df}maß")), "missmass", "missmasses");
        // A name of the session, which is in no entry.
        let header = r#"{"type":"session","id":"s","title":"n\u0065edle"}"#;
        assert!(sees("needle", &[header]) && !sees("needles", &[header]));
        // Only the first letters of a long word are looked for.
        let long = "needle".repeat(20);
        check(&format!("\"{long}\""), &long, &format!("x{long}"));
    }

    #[test]
    fn lines_are_parsed_only_if_a_word_may_be_in_them() {
        let check = |content: &str, word: &str, doubts: usize| {
            assert_eq!(look(word, &[&message(content)]), (false, doubts), "{word} in {content}");
        };
        check("\"Die Straße größer, süß\u{212a}\"", "marmalade", 0);
        check("\"Die Straße größer, süßer\"", "session", 0);
        check("\"Die Straße größer, süßer\"", "strassen", 0);
        // Another text may go on.
        check("\"süß\"", "session", 1);
        check("\"Die Straße.\"", "strassex", 0);
        check("\"Die Straße\"", "strassex", 1);
        check("\"Straß\u{e9}\"", "strassex", 1);
        check(r#""\u001b[31m\u003c\ud83d\ude00\u00e9""#, "needle", 0);
        check(r#""\u0041""#, "needle", 1);
        check(&format!("[{},{}]", block("one"), block("two")), "needle", 0);
        check(&format!("[{},{}]", block("one"), block("lot")), "needle", 0);
        check(&format!("[{},{}]", block("one"), block("le")), "needle", 1);
        check(&format!("[{}]", block("le")), "needle", 0);
        // The text before is on another line.
        let line = message(&format!("[{}]", block("le")));
        assert_eq!(look("needle", &[&line, &line]), (false, 0));
    }
}
