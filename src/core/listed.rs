//! Lists of which each item stands once, with its stable name and what it means: the enum, the
//! list of all and the tables of the documentation are made from it.

/// Makes an enum with `ALL`, a method that returns each item's name or number, and `meaning`.
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
