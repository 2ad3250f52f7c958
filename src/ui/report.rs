//! Warnings, hints and failures on stderr: text for people, one JSON object per line for programs. The
//! words come from core or a command; exit codes of failures are set here.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::escape;
use super::exit::Exit;
use super::interrupts::Interrupts;
use super::paint::{Ink, Paint};
use crate::core::entry::prompt::Prompt;
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::problem::{Problem, WarningKind};
use crate::core::error::{Error, ErrorKind};
use crate::core::naming::agent::Agent;
use crate::core::naming::session::word::with_ending;
use crate::core::words::shell_word;

/// A failure with everything that is printed about it.
#[derive(Debug)]
pub struct Failure {
    /// The stable name.
    pub kind: ErrorKind,
    /// What failed and why.
    pub message: String,
    /// The message for people, line by line; each is escaped by itself.
    pub lines: Vec<String>,
    /// The file that it is about.
    pub file: Option<PathBuf>,
    /// The 1-based line that it is about.
    pub line: Option<u32>,
    /// The format of the file, if it is another one.
    pub format: Option<ForeignFormat>,
    /// The remedy.
    pub hint: Option<String>,
    /// How the program ends.
    pub exit: Exit,
}

impl Failure {
    /// Makes the failure of a core error, with the name of the file.
    pub(crate) fn new(error: &Error, file: &Path) -> Self {
        let failure = Self::from(error);
        if is_stdin(file) {
            return Self { file: Some(file.to_owned()), ..failure };
        }
        // Commands are there to be copied; other hints may quote what stands in the file.
        let named = |hint: String| hint.replace(" FILE", &format!(" {}", shell_word(file.as_os_str())));
        let has_command = |hint: &String| match error {
            Error::Foreign(_) | Error::Compressed | Error::Unpacking { .. } | Error::Io { .. } => true,
            Error::NotFound { .. } => hint.starts_with("`session-tree "),
            _ => false,
        };
        let hint = failure.hint.map(|hint| if has_command(&hint) { named(hint) } else { hint });
        let is_missing = matches!(error, Error::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound);
        let hint = hint.or_else(|| is_missing.then(|| file_hint(file)).flatten());
        Self { file: Some(file.to_owned()), hint, ..failure }
    }

    /// Makes the failure of the error that ended a command; one of unknown type comes from writing the
    /// output.
    pub fn of(error: anyhow::Error) -> Self {
        let error = error.downcast::<Error>().map(|error| Self::from(&error)).or_else(|error| error.downcast());
        error.unwrap_or_else(|error| Self::output(&format_args!("{error:#}")))
    }

    /// Makes the failure of being stopped by a signal.
    pub(crate) fn interrupted(signal: i32) -> Self {
        Self::from(&Error::Interrupted { signal })
    }

    /// Makes a failure of the command line.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::plain(ErrorKind::Usage, message.into(), Some(hint.into()))
    }

    /// Makes the failure of writing the output.
    pub(crate) fn output(cause: &dyn fmt::Display) -> Self {
        Self::plain(ErrorKind::Io, format!("cannot write the output: {cause}"), None)
    }

    /// Makes a failure that is not about a file.
    pub(crate) fn plain(kind: ErrorKind, message: String, hint: Option<String>) -> Self {
        let lines = vec![message.clone()];
        Self { kind, message, lines, file: None, line: None, format: None, hint, exit: Exit::CouldNot }
    }
}

/// Returns a hint at the session that somebody meant who left out the ending of its name.
pub(crate) fn file_hint(word: &Path) -> Option<String> {
    with_ending(word).map(|file| format!("did you mean `{}`?", shell_word(file.as_os_str())))
}

impl From<&Error> for Failure {
    /// Makes the failure of a core error, without a file; `Failure::new` adds it.
    fn from(error: &Error) -> Self {
        let exit = match error {
            Error::Interrupted { signal } => Exit::after(*signal),
            _ => Exit::CouldNot,
        };
        let (kind, message, line, hint) = (error.kind(), error.to_string(), error.line(), error.hint());
        Self { kind, message, lines: error.lines(), file: None, line, format: error.format(), hint, exit }
    }
}

/// Adds the file to core errors; once, where a command ends or turns to another file. Failures of commands
/// and of writing the output are not changed.
pub(crate) trait AboutFile<T> {
    /// Adds the name of the file.
    ///
    /// # Errors
    /// A [`Failure`] in place of the core's error.
    fn about(self, file: &Path) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> AboutFile<T> for Result<T, E> {
    fn about(self, file: &Path) -> anyhow::Result<T> {
        self.map_err(|error| match error.into().downcast::<Error>() {
            Ok(error) => Failure::new(&error, file).into(),
            Err(error) => error,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// How to print messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Report {
    /// Whether every line is a JSON object.
    pub json: bool,
    /// Whether warnings and hints are not printed.
    pub quiet: bool,
    /// The colours and characters of stderr.
    pub paint: Paint,
    /// Whether stderr is a terminal on which a bar may be drawn and cleared.
    pub is_watched: bool,
    /// The signals that have to wait until a bar is cleared.
    pub interrupts: Option<&'static dyn Interrupts>,
}

/// A warning or an error as an object, the same wherever it stands.
#[derive(Debug, Serialize)]
pub(crate) struct ReportRow<'a> {
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl<'a> From<&'a Failure> for ReportRow<'a> {
    fn from(Failure { kind, message, file, line, format, hint, .. }: &'a Failure) -> Self {
        let path = file.as_ref().map(|file| file.display().to_string());
        let format = format.map(ForeignFormat::name);
        Self { kind: kind.name(), message, path, line: *line, format, hint: hint.as_deref() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum StderrLine<'a, T = ()> {
    Warning(ReportRow<'a>),
    Error(ReportRow<'a>),
    Result(T),
}

impl Report {
    /// Prints the problems of a file as warnings.
    pub(crate) fn problems(self, problems: &[Problem], file: &Path) {
        for Problem { kind, line, message } in problems {
            self.warn(*kind, message, Some(file), *line);
        }
    }

    /// Prints a warning.
    pub(crate) fn warn(self, kind: WarningKind, message: &str, file: Option<&Path>, line: Option<u32>) {
        if self.quiet {
            return;
        }
        let path = file.map(|file| file.display().to_string());
        if self.json {
            let warning = ReportRow { kind: kind.name(), message, path, line, format: None, hint: None };
            return self.object(&StderrLine::<()>::Warning(warning));
        }
        self.line("warning", Ink::Warning, &format!("{}{message}", place(path.as_deref(), line)));
    }

    /// Prints text that is complete and escaped.
    pub(crate) fn verbatim(self, text: &str) {
        print(text);
    }

    /// Prints a hint after a success.
    pub(crate) fn hint(self, text: &str) {
        if self.quiet || self.json {
            return;
        }
        self.line("hint", Ink::Strong, text);
    }

    /// Prints how to go on in a new session, then the text to be sent again.
    pub(crate) fn forked(self, agent: Agent, path: Option<&Path>, prompt: Option<&Prompt>) {
        if let Some(path) = path {
            self.hint(&format!("`{}` goes on there", resume(agent, path)));
        }
        if let Some(prompt) = prompt.filter(|_| !self.quiet && !self.json) {
            if let Some(images) = prompt.named_images() {
                self.hint(&format!("the prompt had {images}, which its text does not show"));
            }
            print(&format!("\n{}\n", escape::lines(prompt.text.trim_end_matches('\n'))));
        }
    }

    /// Prints a result as JSON on stderr, for commands whose stdout is a session.
    pub(crate) fn result(self, value: &impl Serialize) {
        self.object(&StderrLine::Result(value));
    }

    /// Prints a failure.
    pub fn failure(self, failure: &Failure) {
        let row = ReportRow::from(failure);
        let row = ReportRow { hint: row.hint.filter(|_| !self.quiet), ..row };
        if self.json {
            return self.object(&StderrLine::<()>::Error(row));
        }
        let ReportRow { message, path, line, hint, .. } = row;
        let lines = &failure.lines;
        let (head, rest) = lines.split_first().map_or((message, &[][..]), |(head, rest)| (&head[..], rest));
        self.line("error", Ink::Error, &format!("{}{head}", place(path.as_deref(), line)));
        print(&rest.iter().map(|line| format!("{}\n", escape::line(line))).collect::<String>());
        if let Some(hint) = hint {
            self.line("hint", Ink::Strong, hint);
        }
    }

    fn object(self, line: &StderrLine<'_, impl Serialize>) {
        if let Ok(json) = serde_json::to_string(line) {
            print(&format!("{}\n", escape::json(&json)));
        }
    }

    /// Prints a line of escaped text after its kind.
    fn line(self, what: &str, ink: Ink, text: &str) {
        let mut out = String::new();
        self.paint.push(&mut out, ink, what);
        print(&format!("{out}: {}\n", escape::line(text)));
    }
}

/// Returns the command with which an agent goes on with a session.
pub(crate) fn resume(agent: Agent, path: &Path) -> String {
    let command = match agent {
        Agent::Pi => "pi --session",
        Agent::Omp => "omp --resume",
    };
    format!("{command} {}", shell_word(path.as_os_str()))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns what stands before a message for people; standard input needs no name there.
fn place(path: Option<&str>, line: Option<u32>) -> String {
    match (path.filter(|path| !is_stdin(Path::new(path))), line) {
        (Some(path), Some(line)) => format!("{path}:{line}: "),
        (Some(path), None) => format!("{path}: "),
        (None, Some(line)) => format!("line {line}: "),
        (None, None) => String::new(),
    }
}

/// Writes to stderr; a failure of that cannot be reported anywhere.
fn print(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::{AboutFile, Error, ErrorKind, Failure};
    use crate::core::error::header::HeaderFault;

    #[test]
    fn core_errors_get_the_first_file_named_and_others_none() {
        let named = |error: anyhow::Error| Err::<(), _>(error).about(Path::new("a")).about(Path::new("b")).unwrap_err();
        let failure = |error: anyhow::Error| Failure::of(named(error));
        let error = failure(Error::NotASession { line: 2, fault: HeaderFault::Missing }.into());
        assert_eq!(
            (error.kind, error.file.as_deref(), error.line),
            (ErrorKind::NotASession, Some(Path::new("a")), Some(2))
        );
        let error = failure(Failure::usage("wrong", "right").into());
        assert_eq!((error.kind, error.file), (ErrorKind::Usage, None));
        let error = failure(io::Error::other("full").into());
        assert_eq!(
            (error.kind, error.file, &error.message[..]),
            (ErrorKind::Io, None, "cannot write the output: full")
        );
        // The type is kept, since `main` takes a closed pipe for a success.
        assert!(named(io::Error::from(io::ErrorKind::BrokenPipe).into()).is::<io::Error>());
        assert_eq!(Failure::of(Error::Empty.into()).kind, ErrorKind::Empty);
        let stream = Failure::of(Err::<(), _>(Error::Empty).about(Path::new("-")).unwrap_err());
        assert_eq!(stream.file.as_deref(), Some(Path::new("-")));
    }
}
