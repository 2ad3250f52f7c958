//! Finds in bytes a word of ASCII in any case, and the characters of UTF-8 that may be folded to ASCII: 64 bytes at
//! a time, and without a copy. Knows nothing of JSON.

use wide::u8x64;

use super::prefilter::folds_at;

/// The number of bytes that are compared at once.
const SIZE: usize = 64;

/// The bit in which the cases of a letter of ASCII differ.
const CASE: u8 = 0x20;

/// The letters by how often they are in text and code, the most frequent first. Others are in between.
const FREQUENT: &[u8] = b"etaoinsrlcdumpfgh";

/// The first bytes of all characters that fold to ASCII, but for those of `ß` and the sign of kelvin: theirs are
/// those of umlauts and of dashes.
const FIRSTS: [u8; 6] = [0xc4, 0xc5, 0xc7, 0xcd, 0xe1, 0xef];

/// Looks for one word of letters and digits of ASCII and `_`, given in lower case.
#[derive(Debug)]
pub(super) struct CaselessFinder<'w> {
    word: &'w str,
    /// The places in the word of the two bytes that are looked for first, the rarest.
    rare: [usize; 2],
}

impl<'w> CaselessFinder<'w> {
    pub(super) fn new(word: &'w str) -> Self {
        let letters = word.as_bytes();
        let rank = |byte: u8| FREQUENT.iter().position(|&other| other == byte).unwrap_or(FREQUENT.len());
        let rarest = |other: Option<usize>| {
            let others = (0..letters.len()).filter(|&at| other.is_none_or(|other| letters[other] != letters[at]));
            others.max_by_key(|&at| rank(letters[at]))
        };
        let first = rarest(None).unwrap_or(0);
        Self { word, rare: [first, rarest(Some(first)).unwrap_or(first)] }
    }

    pub(super) fn word(&self) -> &'w str {
        self.word
    }

    /// Returns whether the word is in some bytes.
    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        let (word, [first, second]) = (self.word.as_bytes(), self.rare);
        let Some((&a, &b)) = word.get(first).zip(word.get(second)) else { return true };
        let (case, a, b) = (u8x64::splat(CASE), u8x64::splat(a | CASE), u8x64::splat(b | CASE));
        let is_at = |at: usize| bytes.get(at..at + word.len()).is_some_and(|bytes| bytes.eq_ignore_ascii_case(word));
        let mut at = 0;
        while let Some((one, other)) = chunk(bytes, at + first).zip(chunk(bytes, at + second)) {
            let mut both = ((one | case).simd_eq(a) & (other | case).simd_eq(b)).to_bitmask();
            while both != 0 {
                if is_at(at + both.trailing_zeros() as usize) {
                    return true;
                }
                both &= both - 1;
            }
            at += SIZE;
        }
        (at..bytes.len()).any(is_at)
    }
}

/// Passes the place of every character in UTF-8 that may fold to ASCII to `found`.
pub(super) fn each_folding(bytes: &[u8], mut found: impl FnMut(usize)) {
    let mut at = 0;
    while let Some(block) = chunk(bytes, at) {
        // The byte after the block is that of another block; where there is none, the rest is looked at one by one.
        let Some(next) = chunk(bytes, at + 1) else { break };
        if block.to_bitmask() != 0 {
            let is = |block: u8x64, byte| block.simd_eq(u8x64::splat(byte)).to_bitmask();
            let firsts = FIRSTS.iter().fold(0, |bits, &byte| bits | is(block, byte));
            let mut bits = firsts | is(block, 0xc3) & is(next, 0x9f) | is(block, 0xe2) & is(next, 0x84);
            while bits != 0 {
                let place = at + bits.trailing_zeros() as usize;
                if folds_at(&bytes[place..]).is_some() {
                    found(place);
                }
                bits &= bits - 1;
            }
        }
        at += SIZE;
    }
    (at..bytes.len()).filter(|&at| !bytes[at].is_ascii() && folds_at(&bytes[at..]).is_some()).for_each(found);
}

#[inline(always)]
fn chunk(bytes: &[u8], at: usize) -> Option<u8x64> {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk::<SIZE>()).map(|bytes| u8x64::new(*bytes))
}

#[cfg(test)]
mod tests {
    use super::{CaselessFinder, SIZE, each_folding};
    use crate::core::search::prefilter::folds_to_ascii;

    #[test]
    fn a_word_is_found_wherever_it_is_and_in_any_case() {
        for word in ["q", "needle", "aaa", "a_1", "e", "xx9"] {
            let finder = CaselessFinder::new(word);
            for length in 0..3 * SIZE {
                let mut bytes = vec![b'.'; length];
                assert!(!finder.is_in(&bytes), "{word} in {length}");
                let at = length * 7 % SIZE.max(length);
                let Some(place) = bytes.get_mut(at..at + word.len()) else { continue };
                place.copy_from_slice(word.to_ascii_uppercase().as_bytes());
                assert!(finder.is_in(&bytes), "{word} at {at} of {length}");
                // One letter is another one.
                bytes[at + length % word.len()] = b'@';
                assert!(!finder.is_in(&bytes), "{word} at {at} of {length}");
            }
        }
    }

    #[test]
    fn bytes_that_differ_from_letters_by_their_case_alone_are_not_letters() {
        // 0x7f and 0x5f, 0x40 and 0x60, 0x1b and `;` differ in the bit of the case.
        for (word, other) in [("a_a", "a\u{7f}a"), ("p0p", "p\u{10}p"), ("z9", "z\u{19}")] {
            let pad = ".".repeat(SIZE);
            assert!(!CaselessFinder::new(word).is_in(format!("{pad}{other}{pad}").as_bytes()), "{word}");
            assert!(CaselessFinder::new(word).is_in(format!("{pad}{word}{pad}").as_bytes()), "{word}");
        }
    }

    #[test]
    fn every_character_that_may_fold_is_found() {
        for char in ['ß', 'İ', 'ŉ', 'ſ', 'ǰ', 'ẞ', '\u{212a}', 'ﬀ', 'ﬆ', 'ä', '—', '日', '🙂', '\u{37e}']
        {
            for before in 0..2 * SIZE {
                let text = format!("{}{char}{}", "x".repeat(before), "y".repeat(before % 70));
                let mut found = Vec::new();
                each_folding(text.as_bytes(), |at| found.push(at));
                let expected = if folds_to_ascii(text.as_bytes()) { vec![before] } else { Vec::new() };
                assert_eq!(found, expected, "{char} after {before}");
            }
        }
        let mut found = Vec::new();
        each_folding(&[b"x".repeat(70), vec![0xff, 0xc3, 0xc5]].concat(), |at| found.push(at));
        assert!(found.is_empty(), "half a character is none");
    }
}
