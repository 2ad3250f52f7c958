//! Numbers of things, in words.

use std::fmt::Display;

/// Returns a number with the word for one thing or for many: `1 entry`, `3 entries`.
pub fn counted<N: Display + From<u8> + PartialEq>(number: N, one: &str, many: &str) -> String {
    let word = if number == N::from(1) { one } else { many };
    format!("{number} {word}")
}
