//! Why no header was found that names a session. `crate::core::read::start` looks for it.

use std::fmt;

/// What is wrong with the line that should be the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// The first line that counts is something else.
    NotFirst,
    /// No line is one.
    Missing,
    /// It cannot be read.
    Damaged,
    /// It has no string `id`.
    NoId,
    /// It does not end where a list stops to read.
    TooLong,
    /// The first line does not end where one has to.
    Endless,
}

impl HeaderFault {
    /// Returns whether the file is a session all the same, whose header can be mended or read by others.
    pub fn is_of_session(self) -> bool {
        matches!(self, Self::Damaged | Self::NoId | Self::TooLong)
    }
}

impl fmt::Display for HeaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFirst => "its first line is not a session header",
            Self::Missing => "it has no session header",
            Self::Damaged => "its header line is damaged",
            Self::NoId => "its header has no string `id`",
            Self::TooLong => "its header does not end in its first 64 MiB, and a list reads no more",
            Self::Endless => "it has no line end in its first 64 MiB",
        })
    }
}
