//! Warnings, hints and failures: words on stderr for people, objects for programs.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::escape;
use super::paint::{Ink, Paint};
use crate::core::error::Error;
use crate::core::problem::Problem;

/// A failure with everything that is told about it.
#[derive(Debug)]
pub struct Failure {
    /// The stable name.
    pub kind: &'static str,
    /// What failed and why.
    pub message: String,
    /// The file that it is about.
    pub file: Option<PathBuf>,
    /// The 1-based line that it is about.
    pub line: Option<u32>,
    /// How to get on.
    pub hint: Option<String>,
}

impl Failure {
    /// Wraps a failure of the core with the file's name.
    pub fn new(error: &Error, file: &Path) -> Self {
        let file = (file != Path::new("-")).then(|| file.to_owned());
        Self { kind: error.kind(), message: error.to_string(), file, line: error.line(), hint: error.hint() }
    }

    /// Makes a failure of the command line.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind: "usage", message: message.into(), file: None, line: None, hint: Some(hint.into()) }
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
enum Line<'a> {
    Warning(Message<'a>),
    Error(Message<'a>),
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
            return self.object(&Line::Warning(Message { kind, message, file, line, hint: None }));
        }
        self.words("warning", Ink::Warning, &place(file.as_deref(), line), message, None);
    }

    /// Tells of a failure.
    pub fn failure(self, failure: &Failure) {
        let Failure { kind, message, file, line, hint } = failure;
        let file = file.as_ref().map(|file| file.display().to_string());
        let hint = hint.as_deref().filter(|_| self.json || !self.quiet);
        if self.json {
            return self.object(&Line::Error(Message { kind, message, file, line: *line, hint }));
        }
        self.words("error", Ink::Error, &place(file.as_deref(), *line), message, hint);
    }

    fn object(self, line: &Line<'_>) {
        if let Ok(json) = serde_json::to_string(line) {
            print(&format!("{}\n", escape::json(&json)));
        }
    }

    fn words(self, what: &str, ink: Ink, place: &str, message: &str, hint: Option<&str>) {
        let mut out = String::new();
        self.paint.push(&mut out, ink, what);
        out.push_str(": ");
        out.push_str(&escape::line(place));
        out.push_str(&escape::lines(message));
        out.push('\n');
        if let Some(hint) = hint {
            self.paint.push(&mut out, Ink::Strong, "hint");
            out.push_str(": ");
            out.push_str(&escape::lines(hint));
            out.push('\n');
        }
        print(&out);
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
