//! Warnings, hints and failures: words on stderr for people, objects for programs.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::escape;
use super::paint::{Ink, Paint};
use crate::core::count::counted;
use crate::core::error::Error;
use crate::core::problem::Problem;

/// A failure with everything that is told about it.
#[derive(Debug)]
pub struct Failure {
    /// The stable name.
    pub kind: &'static str,
    /// What failed and why.
    pub message: String,
    /// The message as people get it, line by line; each is made safe by itself.
    pub lines: Vec<String>,
    /// The file that it is about.
    pub file: Option<PathBuf>,
    /// The 1-based line that it is about.
    pub line: Option<u32>,
    /// How to get on.
    pub hint: Option<String>,
    /// The exit code.
    pub exit: u8,
}

/// The exit code of what could not be done.
pub const COULD_NOT: u8 = 2;
/// The exit code of what a hook said no to.
pub const CANCELLED: u8 = 3;

impl Failure {
    /// Wraps a failure of the core with the file's name.
    pub fn new(error: &Error, file: &Path) -> Self {
        let file = (file != Path::new("-")).then(|| file.to_owned());
        let exit = match error {
            // 128 + the signal's number, as shells have it.
            Error::Interrupted { signal } => u8::try_from(128 + signal).unwrap_or(COULD_NOT),
            _ => COULD_NOT,
        };
        let lines = match error {
            Error::Ambiguous { name, candidates, count } => {
                let lines = candidates.iter().map(|(id, text)| format!("  {id}  {text}"));
                let more = count - candidates.len();
                let head = format!("`{name}` matches {}:", counted(*count, "entry", "entries"));
                let more = (more > 0).then(|| format!("  and {more} more"));
                std::iter::once(head).chain(lines).chain(more).collect()
            }
            _ => vec![error.to_string()],
        };
        let (kind, message, line, hint) = (error.kind(), error.to_string(), error.line(), error.hint());
        Self { kind, message, lines, file, line, hint, exit }
    }

    /// Makes the failure of being asked to stop.
    pub fn interrupted(signal: i32) -> Self {
        let error = Error::Interrupted { signal };
        Self { file: None, ..Self::new(&error, Path::new("-")) }
    }

    /// Makes a failure of the command line.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::plain("usage", message.into(), Some(hint.into()))
    }

    /// Makes a failure to write what was to be printed.
    pub fn output(cause: &dyn fmt::Display) -> Self {
        Self::plain("io", format!("cannot write the output: {cause}"), None)
    }

    /// Makes a failure that is about no file.
    pub fn plain(kind: &'static str, message: String, hint: Option<String>) -> Self {
        let lines = vec![message.clone()];
        Self { kind, message, lines, file: None, line: None, hint, exit: COULD_NOT }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Where messages go.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Whether every line is a JSON object.
    pub json: bool,
    /// Whether warnings and hints are dropped.
    pub quiet: bool,
    /// How stderr is drawn.
    pub paint: Paint,
    /// Whether somebody sees on stderr what comes and goes.
    pub is_watched: bool,
}

#[derive(Serialize)]
struct Message<'a> {
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Line<'a, T = ()> {
    Warning(Message<'a>),
    Error(Message<'a>),
    Result(T),
}

impl Report {
    /// Tells of what is odd in a file.
    pub fn problems(self, problems: &[Problem], file: &Path) {
        for Problem { kind, line, message } in problems {
            self.warn(kind.name(), message, Some(file), *line);
        }
    }

    /// Gives a warning.
    pub fn warn(self, kind: &str, message: &str, file: Option<&Path>, line: Option<u32>) {
        if self.quiet {
            return;
        }
        let file = file.filter(|file| *file != Path::new("-")).map(|file| file.display().to_string());
        if self.json {
            return self.object(&Line::<()>::Warning(Message { kind, message, file, line, hint: None }));
        }
        self.say("warning", Ink::Warning, &format!("{}{message}", place(file.as_deref(), line)));
    }

    /// Prints what is complete and safe already.
    pub fn verbatim(self, text: &str) {
        print(text);
    }

    /// Says how to get on after something went well.
    pub fn hint(self, text: &str) {
        if self.quiet || self.json {
            return;
        }
        self.say("hint", Ink::Strong, text);
    }

    /// Says how to go on in a new session, the text to be sent again last.
    pub fn forked(self, path: Option<&str>, text: Option<&str>) {
        if let Some(path) = path {
            self.hint(&format!("`pi --session {}` goes on there", shell_words::quote(path)));
        }
        if let Some(text) = text.filter(|_| !self.quiet && !self.json) {
            print(&format!("\n{}\n", escape::lines(text.trim_end_matches('\n'))));
        }
    }

    /// Gives a result to programs beside an output that owns stdout.
    pub fn result(self, value: &impl Serialize) {
        self.object(&Line::Result(value));
    }

    /// Tells of a failure.
    pub fn failure(self, failure: &Failure) {
        let Failure { kind, message, lines, file, line, hint, .. } = failure;
        let file = file.as_ref().map(|file| file.display().to_string());
        let hint = hint.as_deref().filter(|_| !self.quiet);
        if self.json {
            return self.object(&Line::<()>::Error(Message { kind, message, file, line: *line, hint }));
        }
        let (head, rest) = lines.split_first().map_or((&message[..], &[][..]), |(head, rest)| (&head[..], rest));
        self.say("error", Ink::Error, &format!("{}{head}", place(file.as_deref(), *line)));
        print(&rest.iter().map(|line| format!("{}\n", escape::line(line))).collect::<String>());
        if let Some(hint) = hint {
            self.say("hint", Ink::Strong, hint);
        }
    }

    fn object(self, line: &Line<'_, impl Serialize>) {
        if let Ok(json) = serde_json::to_string(line) {
            print(&format!("{}\n", escape::json(&json)));
        }
    }

    /// Says something on a line of its own, whatever stands in it.
    fn say(self, what: &str, ink: Ink, text: &str) {
        let mut out = String::new();
        self.paint.push(&mut out, ink, what);
        print(&format!("{out}: {}\n", escape::line(text)));
    }
}

fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        (None, Some(line)) => format!("line {line}: "),
        (None, None) => String::new(),
    }
}

/// Writes to stderr; if that fails there is nobody left to tell.
fn print(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
