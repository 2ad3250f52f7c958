//! Wording that all rooms share: counted nouns, words of a shell, and enums whose items each have a stable name and a
//! meaning. The documentation prints its tables from these enums. Must not know anything of sessions.

use std::ffi::OsStr;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;

/// Returns a number with the word for one thing or for many: `1 entry`, `3 entries`.
pub fn counted<N: Display + From<u8> + PartialEq>(number: N, one: &str, many: &str) -> String {
    let word = if number == N::from(1) { one } else { many };
    format!("{number} {word}")
}

/// Returns a word as a shell reads it: bare or in quotes, and in `$'…'` where control characters,
/// direction overrides or bad UTF-8 would not survive being copied from a terminal.
pub(crate) fn shell_word(word: &OsStr) -> String {
    let is_odd = |char: char| {
        char.is_control() || matches!(char, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(text) = word.to_str().filter(|text| !text.contains(is_odd)) {
        return shell_words::quote(text).into_owned();
    }
    let mut out = String::from("$'");
    for chunk in word.as_bytes().utf8_chunks() {
        for char in chunk.valid().chars() {
            match char {
                '\'' | '\\' => out.extend(['\\', char]),
                char if is_odd(char) => {
                    char.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
                }
                char => out.push(char),
            }
        }
        chunk.invalid().iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out + "'"
}

/// Returns the name that comes nearest to a misspelt one, if any does.
pub(crate) fn nearest<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const CLOSE: f64 = 0.8;
    let close = names.map(|name| (strsim::jaro_winkler(name, text), name)).filter(|(close, _)| *close > CLOSE);
    close.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

/// Defines an enum with `ALL`, a method that returns each item's name or number, and `meaning`.
macro_rules! listed {
    (
        $(#[$about:meta])*
        $list:ident, $(#[$about_value:meta])* $value:ident: $type:ty {
            $($(#[doc = $meaning:literal])+ $item:ident = $given:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $list {
            $($(#[doc = $meaning])+ $item,)+
        }

        impl $list {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$item),+];

            $(#[$about_value])*
            pub fn $value(self) -> $type {
                match self {
                    $(Self::$item => $given,)+
                }
            }

            /// Returns what it means, in one line.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$item => concat!($($meaning),+).trim_ascii(),)+
                }
            }
        }
    };
}

pub(crate) use listed;

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::shell_word;

    #[test]
    fn shell_words_can_be_copied_from_a_terminal() {
        let check = |word: &[u8], expected: &str| assert_eq!(shell_word(OsStr::from_bytes(word)), expected);
        check(b"a.jsonl", "a.jsonl");
        check(b"a b.jsonl", "'a b.jsonl'");
        check("ä b".as_bytes(), "'ä b'");
        check(b"a\tb", r"$'a\x09b'");
        check(b"it's\n\\", r"$'it\'s\x0a\\'");
        check(b"b\xff", r"$'b\xff'");
        check("r\u{202e}l".as_bytes(), r"$'r\xe2\x80\xael'");
    }
}
