//! The ids of calls in the alphabet of the API that they are sent to. The ids of the target model's own calls
//! stay as they are; those of other models may hold what the API refuses.

use std::collections::HashMap;

/// What an API takes as the id of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alphabet {
    /// Anything: the ids are not sent to an API yet.
    Any,
    /// Letters, digits, `_` and `-`, at most 64.
    Anthropic,
    /// Anything but an id in two parts (`call|item`), at most 40 of it, and of others if they are for OpenAI.
    Completions {
        /// Whether they are for OpenAI itself.
        is_openai: bool,
    },
    /// Letters, digits, `_` and `-`, at most 64, no `_` at the end.
    Responses {
        /// Whether the API knows ids in two parts.
        takes_items: bool,
    },
}

impl Alphabet {
    /// Returns an id in this alphabet.
    pub fn spell(self, id: &str) -> String {
        match self {
            Self::Any => id.to_owned(),
            Self::Anthropic => cut(&plain(id), 64),
            Self::Completions { is_openai } => match id.split_once('|') {
                Some((call, "")) => plain(call),
                Some((call, item)) => {
                    let whole = format!("{}_{}", plain(call), plain(item));
                    let tail = || format!("_{:08x}", hash(id));
                    if whole.len() > 40 { cut(&whole, 31) + &tail() } else { whole }
                }
                None if is_openai => cut(id, 40),
                None => id.to_owned(),
            },
            Self::Responses { takes_items } => match id.split_once('|').filter(|_| takes_items) {
                Some((call, item)) => format!("{}|{item}", cut(&plain(call), 64).trim_end_matches('_')),
                None => cut(&plain(id), 64).trim_end_matches('_').to_owned(),
            },
        }
    }
}

/// Returns an id with `_` for each unit of UTF-16 that is no letter, digit, `_` or `-` of ASCII.
fn plain(id: &str) -> String {
    let mut plain = String::with_capacity(id.len());
    for char in id.chars() {
        match char.is_ascii_alphanumeric() || matches!(char, '_' | '-') {
            true => plain.push(char),
            false => (0..char.len_utf16()).for_each(|_| plain.push('_')),
        }
    }
    plain
}

/// Returns the first units of UTF-16 of an id, without half a character at the end.
fn cut(id: &str, units: usize) -> String {
    let mut left = units;
    id.chars()
        .take_while(|char| {
            left.checked_sub(char.len_utf16()).is_some_and(|rest| {
                left = rest;
                true
            })
        })
        .collect()
}

/// Returns a short name for a text (FNV-1a, 32 bits).
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The ids of calls as they are sent, by the stored ones.
pub(super) struct Ids {
    alphabet: Alphabet,
    sent: HashMap<String, String>,
}

impl Ids {
    pub(super) fn new(alphabet: Alphabet) -> Self {
        Self { alphabet, sent: HashMap::new() }
    }

    /// Returns the id of a call of another model. Results after it that name the stored one get the same.
    pub(super) fn of_call(&mut self, id: &str) -> String {
        let sent = self.alphabet.spell(id);
        if sent != id {
            self.sent.insert(id.to_owned(), sent.clone());
        }
        sent
    }

    /// Returns the id that a result names, if it is not the stored one.
    pub(super) fn of_result(&self, id: &str) -> Option<String> {
        self.sent.get(id).filter(|sent| !sent.is_empty()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Alphabet, Ids};

    #[test]
    fn ids_are_spelled_as_each_api_takes_them() {
        let long = "x".repeat(70);
        let (x64, x40) = ("x".repeat(64), "x".repeat(40));
        let completions = |is_openai| Alphabet::Completions { is_openai };
        let responses = |takes_items| Alphabet::Responses { takes_items };
        let rows: [(Alphabet, &[(&str, &str)]); 6] = [
            (Alphabet::Any, &[("a|b c", "a|b c")]),
            (Alphabet::Anthropic, &[("a|b c", "a_b_c"), ("ü🙂", "___"), (&long, &x64), ("a__", "a__")]),
            (completions(false), &[("a|b c", "a_b_c"), ("a b", "a b"), ("y|", "y"), ("|x", "_x"), (&long, &long)]),
            (completions(true), &[("a|b|c", "a_b_c"), ("ü b", "ü b"), (&long, &x40)]),
            (responses(false), &[("a|b_", "a_b"), ("a b", "a_b"), ("🙂", ""), (&long, &x64)]),
            (responses(true), &[("a b_|fc_1", "a_b|fc_1"), ("a b", "a_b"), ("|x", "|x")]),
        ];
        for (alphabet, ids) in rows {
            for (stored, sent) in ids {
                assert_eq!(alphabet.spell(stored), *sent, "{stored} for {alphabet:?}");
            }
        }
        let joined = completions(false).spell(&format!("{long}|{long}"));
        assert!(joined.len() == 40 && joined.starts_with(&"x".repeat(31)), "{joined}");
        assert_ne!(joined, completions(false).spell(&format!("{long}|{long}y")));
    }

    #[test]
    fn results_name_their_call_as_it_was_sent_last() {
        let mut ids = Ids::new(Alphabet::Anthropic);
        assert_eq!(ids.of_result("a|b"), None);
        assert_eq!(ids.of_call("a|b"), "a_b");
        assert_eq!(ids.of_result("a|b").as_deref(), Some("a_b"));
        assert_eq!(ids.of_call("plain"), "plain");
        assert_eq!(ids.of_result("plain"), None);
    }
}
