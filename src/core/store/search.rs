//! Whether a session holds the words of a search: it does if `tree --search` finds an entry, or if they are
//! all in its name.

use std::sync::Mutex;

use crate::core::entry::Traits;
use crate::core::error::Result;
use crate::core::read::line::{BLOCK, Lines, Windows};
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::search::Query;
use crate::core::search::file::UnseenWords;
use crate::core::session::Session;
use crate::core::session::body::Bodies;
use crate::core::tree::view::{Search, View};

/// Returns whether a session holds the words of a search. `row` makes the text that is shown of an entry out
/// of its words, which is searched too.
pub(crate) fn holds(
    source: Source,
    query: &Query,
    row: &(dyn Fn(Traits, &str) -> String + Sync),
    jobs: usize,
) -> Result<bool> {
    Ok(may_hold(&source, query)? && does_hold(source, query, row, jobs)?)
}

/// Reads all of a session to decide it.
fn does_hold(
    source: Source,
    query: &Query,
    row: &(dyn Fn(Traits, &str) -> String + Sync),
    jobs: usize,
) -> Result<bool> {
    let view = View { search: Some(Search { query, row, step: &|| {} }), ..View::default() };
    // Mostly there is a hit, and words of what is behind it would be kept for nothing.
    let options = LoadOptions { calls: view.keeps_calls(), ..LoadOptions::INDEX_ONLY };
    let session = Session::load(source, options, jobs)?;
    if session.name().is_some_and(|name| query.missing_in(name).is_none()) {
        return Ok(true);
    }
    view.finds(&mut Bodies::new(&session), session.leaf())
}

/// Returns whether a file has every word that must be in its bytes; stops where the last of them is.
pub(crate) fn may_hold(source: &Source, query: &Query) -> Result<bool> {
    may_hold_in(source, query, BLOCK)
}

/// Does the same with so many bytes at once.
fn may_hold_in(source: &Source, query: &Query, size: usize) -> Result<bool> {
    let mut unseen = UnseenWords::new(query);
    let long = Mutex::new(());
    let mut windows = Windows::new(source, UnseenWords::BEFORE, UnseenWords::AFTER, size);
    let mut lines = Lines::new(source, &long);
    // The offset up to which lines were judged.
    let mut judged = 0;
    while !unseen.is_empty() {
        let Some(window) = windows.next()? else { return Ok(false) };
        for place in unseen.look(window.bytes, window.zone.clone()) {
            if window.offset(place) < judged {
                continue;
            }
            let (start, line) = window.line(place);
            let mut judge = |line: &[u8]| {
                unseen.judge(line);
                judged = start + line.len() as u64;
            };
            match line {
                Some(line) => judge(line),
                None => lines.starting_at(start..start + 1, |line| {
                    judge(line.bytes);
                    false
                })?,
            }
            if unseen.is_empty() {
                break;
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Query, Source, does_hold, may_hold_in};
    use crate::random::Random;

    /// What sessions are made of: letters as they are and as they may be spelled, and places where a text goes on.
    const PIECES: [&str; 32] = [
        "s",
        "S",
        "k",
        "K",
        "f",
        "i",
        "a",
        "A",
        "_",
        "1",
        "ß",
        "\u{212a}",
        "\u{17f}",
        "\u{fb01}",
        "\u{130}",
        "a\u{301}",
        "—",
        "日",
        r"\u0073",
        r"\u004B",
        r"\u00df",
        r"\u212a",
        r"\u001b",
        r"\ud83d\ude00",
        r"\\u0073",
        r"\n",
        r#"\""#,
        " ",
        r#""},{"type":"text","text":""#,
        r#"" } , { "text" :  "", "type":"text"},{"type":"thinking","thinking":"s"},{"type":"text","text" : ""#,
        r#""},{"type":"t\u0065xt","te\u0078t":""#,
        r#""},{"type":"toolCall","id":"c","name":"k","arguments":{"text":"s"}},{"type":"text","text":""#,
    ];

    /// Makes sessions.
    struct Maker(Random);

    impl Maker {
        fn below(&mut self, bound: usize) -> usize {
            self.0.below(bound)
        }

        /// Returns a letter as a text may have it, which may go on with it in another block.
        fn spelled(&mut self, letter: char) -> String {
            match (self.below(6), letter) {
                (0, _) => letter.to_ascii_uppercase().to_string(),
                (1, _) => format!("\\u{:04x}", u32::from(letter)),
                (2, 's') => "\u{17f}".to_owned(),
                (2, 'k') => "\u{212a}".to_owned(),
                (3, _) => format!("{}{letter}", PIECES[PIECES.len() - 1 - self.below(4)]),
                _ => letter.to_string(),
            }
        }

        fn session(&mut self, word: &str) -> Vec<u8> {
            let mut text = String::from("{\"type\":\"session\",\"id\":\"5\",\"version\":3");
            if self.below(4) == 0 {
                text += &format!(",\"title\":\"{}\"", ["s\\u0061", "kA", "\u{212a}"][self.below(3)]);
            }
            text += "}\n";
            for number in 0..1 + self.below(3) {
                text += &format!(
                    r#"{{"type":"message","id":"0{number}","parentId":null,"message":{{"role":"user","content":[{{"type":"text","text":""#
                );
                for _ in 0..self.below(9) {
                    text += PIECES[self.below(PIECES.len())];
                    if self.below(9) == 0 {
                        word.chars().for_each(|letter| text += &self.spelled(letter));
                    }
                }
                // The last line may be cut short.
                text += if self.below(9) == 0 { "\n" } else { "\"}]}}\n" };
            }
            let mut bytes = text.into_bytes();
            if self.below(9) == 0 {
                let at = self.below(bytes.len());
                bytes[at] = 0xc3;
            }
            bytes
        }
    }

    #[test]
    fn no_session_with_a_hit_is_ruled_out_by_its_bytes() {
        let mut random = Maker(Random::new(1));
        let (mut held, mut ruled_out, mut others) = (0, 0, 0);
        for _ in 0..1000 {
            let word: String =
                (0..2 + random.below(4)).map(|_| ["s", "k", "ss", "f", "fi", "a", "1", "_"][random.below(8)]).collect();
            let bytes = random.session(&word);
            let query = Query::new(&word);
            let source = Source::spool(&*bytes).unwrap();
            let size = [1, 7, 64, BLOCK][random.below(4)];
            let may_hold = may_hold_in(&source, &query, size).unwrap();
            let Ok(holds) = does_hold(source, &query, &|_, words| words.to_owned(), 1) else { continue };
            assert!(may_hold || !holds, "{word} in windows of {size} of {}", String::from_utf8_lossy(&bytes));
            match (may_hold, holds) {
                (true, true) => held += 1,
                (false, _) => ruled_out += 1,
                (true, false) => others += 1,
            }
        }
        assert!(held > 150 && ruled_out > 150 && others < ruled_out, "{held} {ruled_out} {others}");
    }
}
