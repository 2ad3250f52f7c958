//! Why an operation cannot be done: kind, message and hint. Bad input that a reader can live with is a
//! [`Problem`](crate::core::error::problem::Problem) instead.
//!
//! Never names the file: the command that knows it adds it.

pub mod foreign;
pub mod header;
pub mod problem;

use std::fmt;
use std::io;
use std::path::PathBuf;

use self::foreign::ForeignFormat;
use self::header::HeaderFault;
use crate::core::words::{counted, listed, shell_word};

listed! {
    /// The kinds of failures.
    ErrorKind,
    /// Returns the stable name, as JSON errors carry it.
    name: &'static str {
        /// the command line is wrong
        Usage = "usage",
        /// no entry, or no session, has that name
        NotFound = "not-found",
        /// several have that name
        Ambiguous = "ambiguous",
        /// the file's first line is not a session header
        NotASession = "not-a-session",
        /// the file is of another format, which `format` names, or compressed and to be written to
        ForeignFormat = "foreign-format",
        /// the file has no lines
        Empty = "empty",
        /// only user messages can be branched from
        NotAUserMessage = "not-a-user-message",
        /// the version is newer than 3, or missing although the entries have ids: such a file is read, but not changed
        UnsupportedVersion = "unsupported-version",
        /// another program changed the file at the same time
        Changed = "changed",
        /// a summary was asked for, and nothing can write it
        NoSummarizer = "no-summarizer",
        /// a hook failed; nothing was written (a hook that runs after the change gives a warning instead)
        HookFailed = "hook-failed",
        /// the summarizer failed; nothing was written
        SummarizerFailed = "summarizer-failed",
        /// another writer holds the lock
        Locked = "locked",
        /// another program has the file open for writing, or is in the middle of a line
        InUse = "in-use",
        /// the file to be made exists; nothing is replaced
        Exists = "exists",
        /// the file or the folder may not be written to
        ReadOnly = "read-only",
        /// the change is in the file, and the result is on stdout, but the system could not sync it to the disk: do not repeat the command
        NotSynced = "not-synced",
        /// a signal stopped the command; nothing is half-written
        Interrupted = "interrupted",
        /// the system reported an error of reading or writing
        Io = "io",
    }
}

/// A failure of a core operation.
#[derive(Debug)]
pub enum Error {
    /// The first line that counts is not a session header.
    NotASession {
        /// The 1-based line that decided it.
        line: u32,
        /// What is wrong with it.
        fault: HeaderFault,
    },
    /// The file is of another format.
    Foreign(ForeignFormat),
    /// The file is compressed, and was to be written to.
    Compressed,
    /// A compressed file cannot be unpacked to its end.
    Unpacking {
        /// How many bytes came out before.
        unpacked: u64,
        /// What is wrong, or the system's reason.
        cause: io::Error,
    },
    /// The file has no line at all, or blank ones only.
    Empty,
    /// No entry has that name.
    NotFound {
        /// What was asked for.
        name: String,
        /// Similar names, or how to find one.
        hint: String,
    },
    /// Several entries have that name.
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
        /// The 1-based line that has changed, if it is known.
        line: Option<u32>,
    },
    /// The file has a version that may be read but not changed, for this reason.
    Unwritable(String),
    /// The entry is not a user message, and only those can be branched from.
    NotAUserMessage {
        /// What was asked for.
        id: String,
        /// What it is instead.
        what: String,
        /// The nearest user message above it.
        nearest: Option<String>,
    },
    /// The file or its folder may not be written to.
    ReadOnly {
        /// What was tried.
        doing: &'static str,
        /// The system's reason.
        cause: io::Error,
    },
    /// Another program holds the lock.
    Locked {
        /// Its process id, if the lock file has it.
        holder: Option<u32>,
        /// The record that says that it is locked.
        record: PathBuf,
    },
    /// Another program has the file open for writing.
    InUse {
        /// That program.
        holder: Holder,
        /// Whether the file would be replaced rather than appended to.
        replaces: bool,
    },
    /// The file to be made exists.
    Exists {
        /// Its path.
        path: PathBuf,
    },
    /// The last line, of this number, is unfinished, so that the file cannot be changed as a whole.
    Unfinished(u32),
    /// A signal asked to stop.
    Interrupted {
        /// Its number.
        signal: i32,
    },
    /// An argument makes no sense.
    Usage {
        /// Which one and why.
        message: String,
        /// What to do instead.
        hint: String,
    },
    /// A summary was asked for, and nothing can write it.
    NoSummarizer,
    /// The operation on one line of a list failed.
    OnLine {
        /// The 1-based line.
        line: u32,
        /// Its failure.
        cause: Box<Error>,
    },
    /// The change is in the file, but the system could not sync it to the disk.
    NotSynced {
        /// The system's reason.
        cause: io::Error,
    },
    /// Reading or writing failed.
    Io {
        /// What was tried, as in "cannot read".
        doing: &'static str,
        /// The system's reason.
        cause: io::Error,
    },
}

/// A process that holds a file open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// Its program's name.
    pub program: String,
}

/// The result of a core operation.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns a function that wraps a system error with what was tried.
    pub fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { doing, cause }
    }

    /// Returns the error of an argument that makes no sense.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    /// Wraps a system error of writing; a missing permission becomes [`Error::ReadOnly`].
    pub fn writing(doing: &'static str, cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { doing, cause },
            _ => Self::Io { doing, cause },
        }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotASession { .. } => ErrorKind::NotASession,
            Self::Foreign(_) | Self::Compressed => ErrorKind::ForeignFormat,
            Self::Empty => ErrorKind::Empty,
            Self::NotFound { .. } | Self::TooFarUp { .. } => ErrorKind::NotFound,
            Self::Ambiguous { .. } => ErrorKind::Ambiguous,
            Self::Changed { .. } => ErrorKind::Changed,
            Self::Unwritable(_) => ErrorKind::UnsupportedVersion,
            Self::NotAUserMessage { .. } => ErrorKind::NotAUserMessage,
            Self::ReadOnly { .. } => ErrorKind::ReadOnly,
            Self::Locked { .. } => ErrorKind::Locked,
            Self::InUse { .. } | Self::Unfinished(_) => ErrorKind::InUse,
            Self::Exists { .. } => ErrorKind::Exists,
            Self::Interrupted { .. } => ErrorKind::Interrupted,
            Self::Usage { .. } => ErrorKind::Usage,
            Self::NoSummarizer => ErrorKind::NoSummarizer,
            Self::OnLine { cause, .. } => cause.kind(),
            Self::NotSynced { .. } => ErrorKind::NotSynced,
            Self::Io { .. } | Self::Unpacking { .. } => ErrorKind::Io,
        }
    }

    /// Returns the format of the file, if that is what is wrong with it.
    pub fn format(&self) -> Option<ForeignFormat> {
        match self {
            Self::Foreign(format) => Some(*format),
            Self::Compressed => Some(ForeignFormat::Gzip),
            _ => None,
        }
    }

    /// Returns the 1-based line that the failure is about.
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::NotASession { line, .. } | Self::OnLine { line, .. } | Self::Unfinished(line) => Some(*line),
            Self::Changed { line } => *line,
            _ => None,
        }
    }

    /// Returns the message line by line. Texts of a session in it may hold line ends of their own.
    pub fn lines(&self) -> Vec<String> {
        let (name, candidates, count) = match self {
            Self::OnLine { cause, .. } => return cause.lines(),
            Self::Ambiguous { name, candidates, count } => (name, candidates, count),
            _ => return vec![self.to_string()],
        };
        let mut lines = vec![format!("`{name}` matches {count} entries:")];
        lines.extend(candidates.iter().map(|(id, text)| format!("  {id}  {text}")));
        let more = count - candidates.len();
        lines.extend((more > 0).then(|| format!("  and {more} more")));
        lines
    }

    /// Returns what the user can do about it, if there is a remedy; ` FILE` in it stands for the file's path.
    pub fn hint(&self) -> Option<String> {
        let fixed = match self {
            Self::NotASession { .. } => {
                "a session file starts with a line like {\"type\":\"session\",\"id\":\"...\", ...}"
            }
            Self::Foreign(format) => format.remedy(),
            Self::Compressed => "`gunzip -k FILE` unpacks it",
            Self::Unpacking { .. } => "`gzip -dc FILE | session-tree tree -` reads what can be unpacked",
            Self::NotFound { hint, .. } | Self::Usage { hint, .. } => hint,
            Self::Ambiguous { name, .. } if name.starts_with("label:") => "use one of these ids",
            Self::Ambiguous { .. } => "give more characters, or the full id",
            Self::TooFarUp { ancestors: 0, .. } => "it is a root; take it without `~`",
            Self::TooFarUp { ancestors, .. } => return Some(format!("`~{ancestors}` is the root")),
            Self::Changed { .. } => "another program is writing to it; try again",
            Self::NotAUserMessage { nearest, id, .. } => {
                let above = nearest.iter().map(|id| format!("branch at the user message above it, `{id}`, or "));
                return Some(format!("{}copy up to it with `--at {id}`", above.collect::<String>()));
            }
            Self::ReadOnly { .. } => "write to a copy, or to another folder",
            Self::Locked { holder, record } => {
                let who = holder.map_or("it".to_owned(), |pid| format!("process {pid}"));
                let remove = if record.is_dir() { "rm -r" } else { "rm" };
                let record = shell_word(record.as_os_str());
                return Some(format!(
                    "wait for {who}, or give it more time with `--lock-timeout`; if nothing works on the session, `{remove} {record}`"
                ));
            }
            Self::InUse { holder: Holder { program, .. }, replaces } => {
                let cost = match replaces {
                    true => format!("with `--force`, what {program} writes from then on is lost"),
                    false => "`--force` writes all the same".to_owned(),
                };
                return Some(format!("close the session in {program} first; {cost}"));
            }
            Self::Exists { .. } => "name another file; nothing is replaced",
            Self::Unfinished(_) => "let the writer finish; if it crashed, complete or remove that line",
            Self::NoSummarizer => {
                "add `--summarizer COMMAND`, set SESSION_TREE_SUMMARIZER, or give the text with `--summary`"
            }
            Self::OnLine { cause, .. } => return cause.hint(),
            Self::NotSynced { .. } => "the change is in the file: do not repeat the command; look at the disk",
            Self::Io { cause, .. } if cause.kind() == io::ErrorKind::IsADirectory => {
                "`ls -t FILE/*.jsonl | head -1` is the newest session file in it"
            }
            Self::Interrupted { .. } | Self::Unwritable(_) | Self::Empty | Self::Io { .. } => return None,
        };
        Some(fixed.to_owned())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASession { fault, .. } => write!(f, "not a session: {fault}"),
            Self::Foreign(format) => write!(f, "not a session of pi or omp: {}", format.meaning()),
            Self::Compressed => f.write_str("cannot write to it: it is compressed with gzip"),
            Self::Unpacking { unpacked, cause } => {
                let bytes = counted(*unpacked, "byte", "bytes");
                write!(f, "cannot unpack it: after {bytes} of text, {}", reason(cause))
            }
            Self::Empty => f.write_str("empty file, not a session"),
            Self::NotFound { name, .. } => write!(f, "`{name}` names no entry"),
            Self::Ambiguous { .. } => f.write_str(&self.lines().join("\n")),
            Self::TooFarUp { name, ancestors } => {
                let ancestors = counted(*ancestors, "ancestor", "ancestors");
                write!(f, "`{name}` goes beyond the root: the entry has {ancestors}")
            }
            Self::Changed { .. } => f.write_str("the file has changed since it was read"),
            Self::Unwritable(why) => write!(f, "cannot write to it: {why}"),
            Self::NotAUserMessage { id, what, .. } => {
                write!(f, "cannot branch at `{id}`: it is {what}, not a user message")
            }
            Self::Io { doing: doing @ ("cannot open" | "cannot read"), cause }
                if cause.kind() == io::ErrorKind::NotFound =>
            {
                write!(f, "{doing}: it does not exist")
            }
            Self::ReadOnly { doing, cause } | Self::Io { doing, cause } => write!(f, "{doing}: {}", reason(cause)),
            Self::Locked { holder: Some(pid), .. } => write!(f, "cannot lock it: process {pid} holds the lock"),
            Self::Locked { holder: None, .. } => f.write_str("cannot lock it: another program holds the lock"),
            Self::InUse { holder: Holder { pid, program }, .. } => {
                write!(f, "in use: {program} (process {pid}) has it open for writing and would not see the change")
            }
            Self::Exists { path } => write!(f, "cannot make `{}`: it exists", path.display()),
            Self::Unfinished(_) => f.write_str("cannot change it: its last line is unfinished"),
            Self::Interrupted { .. } => f.write_str("interrupted; nothing was changed"),
            Self::Usage { message, .. } => f.write_str(message),
            Self::NoSummarizer => f.write_str("nothing can write the summary"),
            Self::OnLine { cause, .. } => cause.fmt(f),
            Self::NotSynced { cause } => write!(f, "written, but cannot sync it to the disk: {}", reason(cause)),
        }
    }
}

impl std::error::Error for Error {}

/// Returns a system's reason without its error number.
pub fn reason(cause: &io::Error) -> String {
    let mut text = cause.to_string();
    text.truncate(text.find(" (os error ").unwrap_or(text.len()));
    text
}
