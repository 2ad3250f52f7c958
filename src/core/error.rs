//! Why an operation cannot be done. Bad input that can be lived with is a
//! [`Problem`](super::problem::Problem) instead.

use std::fmt;
use std::io;

/// A failure of a core operation. The file's name is added by the command that knows it.
#[derive(Debug)]
pub enum Error {
    /// The first line that counts is not a session header.
    NotASession {
        /// The 1-based line that decided it.
        line: u32,
        /// What stands there instead.
        why: &'static str,
    },
    /// The file has no line at all, or blank ones only.
    Empty,
    /// No entry goes by that name.
    NotFound {
        /// What was asked for.
        name: String,
        /// Names that come near it, best first.
        near: Vec<String>,
    },
    /// Several entries go by that name.
    Ambiguous {
        /// What was asked for.
        name: String,
        /// Up to ten of them: id and text.
        candidates: Vec<(String, String)>,
        /// How many there are.
        count: usize,
    },
    /// `~N` goes beyond the root.
    TooFarUp {
        /// What was asked for.
        name: String,
        /// How many ancestors there are.
        ancestors: usize,
    },
    /// The file is no longer what was read.
    Changed {
        /// The 1-based line that is not there any more, if it is known.
        line: Option<u32>,
    },
    /// Reading or writing failed.
    Io {
        /// What was tried, as in "cannot read".
        doing: &'static str,
        /// The system's reason.
        cause: io::Error,
    },
}

/// What core operations return.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wraps a system error with what was tried.
    pub fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { doing, cause }
    }

    /// Gives the stable name of the failure, as JSON errors carry it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotASession { .. } => "not-a-session",
            Self::Empty => "empty",
            Self::NotFound { .. } | Self::TooFarUp { .. } => "not-found",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Changed { .. } => "changed",
            Self::Io { .. } => "io",
        }
    }

    /// Gives the line that the failure is about.
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::NotASession { line, .. } => Some(*line),
            Self::Changed { line } => *line,
            _ => None,
        }
    }

    /// Says how to get on, where there is a remedy.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotASession { .. } => {
                Some("a session file starts with a line like {\"type\":\"session\",\"id\":\"…\",…}".to_owned())
            }
            Self::NotFound { near, .. } if near.is_empty() => {
                Some("`session-tree tree FILE --filter all` lists the ids".to_owned())
            }
            Self::NotFound { near, .. } => Some(format!("near it: {}", near.join(", "))),
            Self::Ambiguous { .. } => Some("give more characters, or the full id".to_owned()),
            Self::TooFarUp { ancestors: 0, .. } => Some("it is a root; take it without `~`".to_owned()),
            Self::TooFarUp { ancestors, .. } => Some(format!("`~{ancestors}` is the root")),
            Self::Changed { .. } => Some("another program is writing to it; try again".to_owned()),
            Self::Empty | Self::Io { .. } => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASession { why, .. } => write!(f, "not a session: {why}"),
            Self::Empty => f.write_str("empty file, no session"),
            Self::NotFound { name, .. } => write!(f, "`{name}` names no entry"),
            Self::Ambiguous { name, candidates, count } => {
                write!(f, "`{name}` matches {count} entries:")?;
                for (id, text) in candidates {
                    write!(f, "\n  {id}  {text}")?;
                }
                if *count > candidates.len() {
                    write!(f, "\n  … and {} more", count - candidates.len())?;
                }
                Ok(())
            }
            Self::TooFarUp { name, ancestors } => {
                write!(f, "`{name}` goes beyond the root: the entry has {ancestors} ancestors")
            }
            Self::Changed { .. } => f.write_str("the file changed while it was read"),
            Self::Io { doing, cause } => write!(f, "{doing}: {cause}"),
        }
    }
}

impl std::error::Error for Error {}
