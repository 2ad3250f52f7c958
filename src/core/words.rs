//! Wording that all rooms share: counted nouns, and enums whose items each have a stable name and a
//! meaning. The documentation prints its tables from these enums. Must not know anything of sessions.

use std::fmt::Display;

/// Returns a number with the word for one thing or for many: `1 entry`, `3 entries`.
pub fn counted<N: Display + From<u8> + PartialEq>(number: N, one: &str, many: &str) -> String {
    let word = if number == N::from(1) { one } else { many };
    format!("{number} {word}")
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
