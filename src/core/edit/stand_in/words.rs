//! The stand-in of a word, and of a number: as long, of the same kinds of characters, and the same each time.
//!
//! What is between words (white space, punctuation, control characters, emoji)
//! stays, and with it the lines, the length, and how the text looks.

use std::hash::{DefaultHasher, Hasher};

use unicode_width::UnicodeWidthChar;
use uuid::Uuid;

use crate::core::json::text::{StringPart, StringParts};

/// The most characters that are taken as one word: a longer one, such as the data of an image, is replaced piece
/// by piece.
const LONGEST: usize = 64;

/// The most letters of a word that is exchanged with another one of its shape, so that no two words become one: ids
/// of calls are as short. Of longer ones the hashes do not meet.
const EXCHANGED: usize = 12;

/// Letters with as many bytes in UTF-8 and columns on a screen as those that they replace: first letter, how many.
const TWO_BYTES: [(u32, u32); 2] = [(0xe0, 0x17), (0xc0, 0x17)];
const THREE_BYTES: (u32, u32) = (0x10d0, 0x21);
const THREE_BYTES_WIDE: (u32, u32) = (0x4e00, 0x5000);
const FOUR_BYTES: (u32, u32) = (0x1_0400, 0x28);
const FOUR_BYTES_WIDE: (u32, u32) = (0x2_0000, 0xa000);

/// Makes the stand-ins of one file. Nobody without the key can look up what they stand for.
#[derive(Clone, Copy, Debug)]
pub struct StandInKey(Uuid);

/// A character of a word, and how it is written.
#[derive(Clone, Copy)]
struct Letter {
    char: char,
    is_escaped: bool,
}

impl StandInKey {
    /// Takes a key, which has to be drawn at random for each file.
    pub fn new(random: Uuid) -> Self {
        Self(random)
    }

    /// Appends the stand-in of the body of a JSON string. Escapes stay escapes, and what is not a character stays
    /// as it is, so that both need the same number of bytes.
    pub(super) fn push_string(self, out: &mut Vec<u8>, raw: &[u8]) {
        let mut word = Vec::new();
        let mut parts = StringParts::new(raw);
        loop {
            let before = parts.rest();
            let Some(part) = parts.next() else { break };
            let written = &before[..before.len() - parts.rest().len()];
            match part {
                StringPart::Plain(bytes) => self.push_plain(out, &mut word, bytes),
                StringPart::Char(char) if says_something(char) && written.starts_with(b"\\u") => {
                    // A half of a pair stays: it is no character.
                    if char == char::REPLACEMENT_CHARACTER {
                        self.end(out, &mut word);
                        out.extend_from_slice(written);
                        continue;
                    }
                    self.take(out, &mut word, Letter { char, is_escaped: true });
                }
                StringPart::Char(_) | StringPart::Surrogate(_) => {
                    self.end(out, &mut word);
                    out.extend_from_slice(written);
                }
            }
        }
        self.end(out, &mut word);
    }

    /// Appends the stand-in of text that is no JSON string.
    pub(super) fn push_text(self, out: &mut Vec<u8>, text: &[u8]) {
        let mut word = Vec::new();
        self.push_plain(out, &mut word, text);
        self.end(out, &mut word);
    }

    /// Appends the stand-in of a number: other digits, but the same sign, zeros at the front, and magnitude.
    pub(super) fn push_number(self, out: &mut Vec<u8>, number: &[u8]) {
        let end = number.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e')).unwrap_or(number.len());
        let mut digits = self.random(number);
        for (at, &byte) in number[..end].iter().enumerate() {
            let is_first = at == 0 || !number[at - 1].is_ascii_digit();
            out.push(match byte {
                b'0' if is_first => byte,
                b'1'..=b'9' if is_first => b'1' + digits.next_below(9),
                b'0'..=b'9' => b'0' + digits.next_below(10),
                _ => byte,
            });
        }
        out.extend_from_slice(&number[end..]);
    }

    fn push_plain(self, out: &mut Vec<u8>, word: &mut Vec<Letter>, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            for char in chunk.valid().chars() {
                if says_something(char) {
                    self.take(out, word, Letter { char, is_escaped: false });
                } else {
                    self.end(out, word);
                    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            if !chunk.invalid().is_empty() {
                self.end(out, word);
                // As many bytes, which are read as one replacement character too.
                out.extend_from_slice(match chunk.invalid().len() {
                    1 => b"\xff",
                    2 => b"\xe2\x82",
                    _ => b"\xf0\x9f\x98",
                });
            }
        }
    }

    /// Appends the stand-in of a hash in hexadecimal digits.
    pub(super) fn push_hash(self, out: &mut Vec<u8>, raw: &[u8]) {
        let mut random = self.random(raw);
        for &byte in raw {
            if byte.is_ascii_hexdigit() {
                out.push(b"0123456789abcdef"[usize::from(random.next() & 15)]);
            } else {
                self.push_text(out, &[byte]);
            }
        }
    }

    fn take(self, out: &mut Vec<u8>, word: &mut Vec<Letter>, letter: Letter) {
        word.push(letter);
        if word.len() == LONGEST {
            self.end(out, word);
        }
    }

    /// Appends the stand-in of a word that is complete. Upper and lower case do not make two words of one.
    fn end(self, out: &mut Vec<u8>, word: &mut Vec<Letter>) {
        if word.is_empty() {
            return;
        }
        let mut written = Vec::new();
        if word.len() <= EXCHANGED && word.iter().all(|letter| letter.char.is_ascii()) {
            written.extend(self.exchanged(word));
        } else {
            let folded: String = word.iter().flat_map(|letter| letter.char.to_lowercase()).collect();
            let mut random = self.random(folded.as_bytes());
            written.extend(word.iter().map(|letter| like(letter.char, &mut random)));
        }
        for (letter, char) in word.drain(..).zip(written) {
            if letter.is_escaped {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            } else {
                out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }

    /// Returns the stand-in of a short word of ASCII letters and digits. Each letter is moved within its alphabet
    /// by what the key makes of the others, which can be undone step by step: two words never have one stand-in.
    fn exchanged(self, word: &[Letter]) -> Vec<char> {
        const ROUNDS: u8 = 4;
        let mut places: Vec<(u8, u8)> = word.iter().map(|letter| place(letter.char)).collect();
        if let [(place, many)] = &mut places[..] {
            // By a circle through the whole alphabet, in an order that the key decides: no letter stays.
            let rank = |letter: u8| {
                let mut hasher = DefaultHasher::new();
                hasher.write(self.0.as_bytes());
                hasher.write(&[*many, letter]);
                (hasher.finish(), letter)
            };
            let mut order: Vec<u8> = (0..*many).collect();
            order.sort_by_key(|&letter| rank(letter));
            let at = order.iter().position(|letter| letter == place).unwrap_or(0);
            *place = order[(at + 1) % order.len()];
            return spelled(places, word);
        }
        for round in 0..ROUNDS {
            for at in 0..places.len() {
                let mut hasher = DefaultHasher::new();
                hasher.write(self.0.as_bytes());
                hasher.write(&[round, places[at].1]);
                for (_, &(place, many)) in places.iter().enumerate().filter(|(other, _)| *other != at) {
                    hasher.write(&[place, many]);
                }
                hasher.write_usize(at);
                let (place, many) = &mut places[at];
                let moved = (hasher.finish() >> 32) + u64::from(*place);
                *place = u8::try_from(moved % u64::from(*many)).unwrap_or(0);
            }
        }
        spelled(places, word)
    }

    fn random<'w>(self, word: &'w [u8]) -> KeyedBytes<'w> {
        KeyedBytes { key: self.0, word, block: [0; 16], at: 16, round: 0 }
    }
}

/// Returns the letters at places in their alphabets, capitals where a word has them.
fn spelled(places: Vec<(u8, u8)>, word: &[Letter]) -> Vec<char> {
    let letter = |((place, many), letter): ((u8, u8), &Letter)| {
        let first = match (many, letter.char.is_ascii_uppercase()) {
            (10, _) => b'0',
            (_, true) => b'A',
            (_, false) => b'a',
        };
        char::from(first + place)
    };
    places.into_iter().zip(word).map(letter).collect()
}

/// Returns whether a character can be part of what somebody wrote, and not only of how it is set: letters and digits,
/// and what is not known to be anything else, as signs that spell letters in another way.
fn says_something(char: char) -> bool {
    if char.is_ascii() || char.is_alphanumeric() {
        return char.is_alphanumeric();
    }
    !(char.is_whitespace()
        || char.is_control()
        || matches!(char,
            '\u{a0}'..='\u{bf}' | '×' | '÷' | '\u{300}'..='\u{36f}' | '\u{2000}'..='\u{206f}'
            | '\u{20a0}'..='\u{20cf}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{27bf}' | '\u{2900}'..='\u{2bff}'
            | '\u{3000}'..='\u{303f}' | '\u{fe0e}' | '\u{fe0f}' | '\u{fe30}'..='\u{fe6f}' | '\u{feff}'
            | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{fffd}'
            | '\u{1f300}'..='\u{1f5ff}' | '\u{1f600}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f900}'..='\u{1faff}'))
}

/// Returns the place of an ASCII letter or digit in its alphabet, whatever its case, and how many that has.
fn place(char: char) -> (u8, u8) {
    let (first, many) = if char.is_ascii_digit() { ('0', 10) } else { ('a', 26) };
    let place = u32::from(char.to_ascii_lowercase()) - u32::from(first);
    (u8::try_from(place).unwrap_or(0), many)
}

/// Returns a character of the same kind: digit for digit, capital for capital, with as many bytes and columns.
fn like(char: char, random: &mut KeyedBytes<'_>) -> char {
    let ascii = |first: u8, many: u8, random: &mut KeyedBytes<'_>| char::from(first + random.next_below(many));
    let (first, many) = match char {
        '0'..='9' => return ascii(b'0', 10, random),
        'A'..='Z' => return ascii(b'A', 26, random),
        _ if char.is_ascii() => return ascii(b'a', 26, random),
        _ => match (char.len_utf8(), char.width()) {
            (2, _) => TWO_BYTES[usize::from(char.is_uppercase())],
            (3, Some(2)) => THREE_BYTES_WIDE,
            (3, _) => THREE_BYTES,
            (_, Some(2)) => FOUR_BYTES_WIDE,
            _ => FOUR_BYTES,
        },
    };
    let drawn = u32::from(random.next()) << 8 | u32::from(random.next());
    // All of these ranges hold nothing but letters.
    char::from_u32(first + drawn % many).unwrap_or('x')
}

/// Bytes that a key and a word decide, as many as one likes.
struct KeyedBytes<'w> {
    key: Uuid,
    word: &'w [u8],
    block: [u8; 16],
    at: usize,
    round: u32,
}

impl KeyedBytes<'_> {
    fn next(&mut self) -> u8 {
        if self.at == self.block.len() {
            // A version 5 UUID is a hash of both.
            let key = Uuid::new_v5(&self.key, &self.round.to_be_bytes());
            self.block = *Uuid::new_v5(&key, self.word).as_bytes();
            self.round += 1;
            self.at = 0;
        }
        // These two bytes say that it is one.
        if matches!(self.at, 6 | 8) {
            self.at += 1;
        }
        let byte = self.block[self.at];
        self.at += 1;
        byte
    }

    /// Returns a number below another one, which is at most 26.
    fn next_below(&mut self, many: u8) -> u8 {
        self.next() % many
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::StandInKey;

    fn string(raw: &str) -> String {
        let mut out = Vec::new();
        StandInKey::new(Uuid::from_u128(7)).push_string(&mut out, raw.as_bytes());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_stand_in_has_the_shape_of_what_it_stands_for() {
        let shape = |text: &str| -> String {
            let kind = |char: char| match char {
                _ if char.is_ascii_digit() => '1',
                _ if char.is_ascii_uppercase() => 'A',
                _ if char.is_ascii_lowercase() => 'a',
                _ if char.is_alphanumeric() => char::from_digit(u32::try_from(char.len_utf8()).unwrap(), 10).unwrap(),
                _ => char,
            };
            text.chars().map(kind).collect()
        };
        for raw in [
            "",
            "/home/Mia/Shop-2/x_y.rs:12",
            "two words,\\n\\ttwo \\\"lines\\\"",
            "naïve Über façade",
            "日本語 and 한국어 ไทย",
            "𝐀𝐁 𠀀 🙂",
            "https://mia:pass@example.org/?q=1#a",
            "e\u{301} \u{202e} \u{7f}",
        ] {
            let stand_in = string(raw);
            assert_eq!((shape(&stand_in), stand_in.len()), (shape(raw), raw.len()), "{raw} became {stand_in}");
            let letters = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).collect::<String>();
            assert!(letters(raw).is_empty() || letters(raw) != letters(&stand_in), "{stand_in}");
        }
    }

    #[test]
    fn two_short_words_never_have_one_stand_in() {
        let letters = || ('a'..='z').map(String::from);
        let digits = || ('0'..='9').map(String::from);
        let pairs = |first: Vec<String>, second: Vec<String>| -> Vec<String> {
            first.iter().flat_map(|a| second.iter().map(move |b| format!("{a}{b}"))).collect()
        };
        for words in [
            letters().collect(),
            digits().collect(),
            pairs(letters().collect(), digits().collect()),
            pairs(pairs(letters().collect(), letters().collect()), digits().collect()),
        ] {
            let stand_ins: std::collections::HashSet<_> = words.iter().map(|word| string(word)).collect();
            assert_eq!(stand_ins.len(), words.len());
        }
    }

    #[test]
    fn what_spells_letters_in_another_way_does_not_stay() {
        for text in
            ["\u{e0073}\u{e0065}\u{e0063}", "⠎⠑⠉", "🇸🇪", "⒜⒝", "㊙", "\u{e073}\u{e065}", "\u{fe01}\u{fe02}", "s e c"]
        {
            let stand_in = string(text);
            assert_eq!(stand_in.len(), text.len(), "{text}");
            let kept = text.chars().zip(stand_in.chars()).filter(|(a, b)| a == b && *a != ' ').count();
            assert_eq!(kept, 0, "{text} became {stand_in}");
        }
        let mut out = Vec::new();
        StandInKey::new(Uuid::from_u128(7)).push_string(&mut out, b"m\xfcller \xe9\xe8 \xe2\x82 \xf0\x9f\x99");
        assert_eq!(&out[1..2], b"\xff");
        assert!(out.ends_with(b" \xff\xff \xe2\x82 \xf0\x9f\x98"));
    }

    #[test]
    fn a_hash_becomes_a_hash() {
        let mut out = Vec::new();
        let hash = "0123456789abcdef".repeat(4);
        StandInKey::new(Uuid::from_u128(7)).push_hash(&mut out, hash.as_bytes());
        assert!(out.len() == 64 && out.iter().all(u8::is_ascii_hexdigit) && out != hash.as_bytes());
    }

    #[test]
    fn escapes_stay_escapes() {
        let stand_in = string(r"a\u00e9\u0062\ud835\udc00 \ud800 \n\u4e2d");
        assert_eq!(stand_in.len(), r"a\u00e9\u0062\ud835\udc00 \ud800 \n\u4e2d".len());
        let lone = stand_in.find(r" \ud800 \n\u").unwrap();
        assert_eq!(stand_in[..lone].matches(r"\u").count(), 4, "{stand_in}");
    }

    #[test]
    fn one_word_has_one_stand_in_whatever_its_case() {
        let stand_in = string("Login login LOGIN, login2 log\\u0069n");
        let words: Vec<_> = stand_in.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        assert_eq!(words[0].to_lowercase(), words[1]);
        assert_eq!(words[2], words[1].to_uppercase());
        assert!(!words[3].starts_with(words[1]), "another word has another stand-in");
        assert_eq!(words[4].len(), "log\\u0069n".len());
    }

    #[test]
    fn numbers_keep_their_length_sign_and_magnitude() {
        let number = |text: &str| {
            let mut out = Vec::new();
            StandInKey::new(Uuid::from_u128(7)).push_number(&mut out, text.as_bytes());
            String::from_utf8(out).unwrap()
        };
        for text in ["0", "-0", "7", "-120", "1999.50", "4155550101", "1.25e-10", "1E400", "0.001"] {
            let stand_in = number(text);
            assert_eq!(stand_in.len(), text.len(), "{text} became {stand_in}");
            assert!(serde_json::from_str::<Box<serde_json::value::RawValue>>(&stand_in).is_ok());
            assert_eq!(text.starts_with('0'), stand_in.starts_with('0'));
        }
        assert_ne!(number("4155550101"), "4155550101");
    }
}
