//! Problems of session files, their effects on agents, and their fixes.
//!
//! [`check`] collects findings from single lines, from the tree, and from the context at the leaf. A
//! finding is kept as a position and a few numbers ([`RawFinding`]); its words are made when it is
//! reported, so that a file full of faults costs little memory. Nothing here changes a file or decides
//! how a finding is printed.
//!
//! **Unreachable.** The number of a finding says how many entries agents lose because of it. An agent
//! resumes at a leaf and follows parents; the model gets only entries on that path. The number compares
//! with the undamaged file: it counts the entries that the path would have beyond the damage. Where the
//! parent of an entry is missing, the path goes on at the entry that the remains of a damaged line name,
//! or else at the entry before it in the file, since agents append after the leaf. Entries on a damaged
//! line itself count too. Findings that follow from each other are about the same entries: their numbers
//! do not add up.

mod context;
mod describe;
mod finding;
mod lines;
mod path;
mod tree;

pub mod baseline;
pub mod codes;
pub mod fixes;
pub mod mend;
pub mod policy;
pub mod why;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;

pub use codes::{Code, Severity};
pub use finding::{Finding, RawFinding};

use self::finding::Detail;
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::{Error, Result};
use crate::core::naming::files::UNKNOWN;
use crate::core::read::inspect::{self, LineNotes};
use crate::core::read::line;
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::Session;

/// The result of checking a file.
#[derive(Debug)]
pub struct Checked {
    session: Option<Session>,
    /// The file, for what is not a session.
    source: Option<Source>,
    notes: LineNotes,
    /// The hashes of the lines with findings that are not about an entry, made on first use.
    hashes: OnceLock<HashMap<u32, u64>>,
    /// The findings, in the order of lines.
    pub found: Vec<RawFinding>,
}

/// Checks a file on up to `jobs` threads. `blobs` is the folder of the images that a session refers to
/// by name, if there is one.
///
/// # Errors
/// [`Error`] if the file cannot be read; that it is not a session is a finding.
pub fn check(source: Source, blobs: Option<&Path>, jobs: usize) -> Result<Checked> {
    let again = source.again()?;
    let (session, notes) = match Session::inspect(source, LoadOptions::INDEX_ONLY, jobs) {
        Ok(read) => read,
        Err(error) => return no_session(error, again),
    };
    drop(again);
    let mut found = Vec::new();
    lines::check(&session, &notes, blobs, &mut found);
    tree::check(&session, &notes, &mut found)?;
    context::check(&session, &notes, &mut found)?;
    found.sort_by_key(|finding| (finding.line, finding.code));
    Ok(Checked { session: Some(session), source: None, notes, hashes: OnceLock::new(), found })
}

fn no_session(error: Error, source: Source) -> Result<Checked> {
    let (code, line, detail) = match error {
        Error::Empty => (Code::Empty, 1, Detail::Nothing),
        Error::NotASession { line, fault } if fault.is_of_session() => {
            (Code::UnreadableHeader, line, Detail::NoHeader(fault))
        }
        Error::NotASession { line, fault } => (Code::NotASession, line, Detail::NoHeader(fault)),
        Error::Foreign(format) => (Code::NotASession, 1, Detail::Foreign(format)),
        other => return Err(other),
    };
    let found = vec![RawFinding::new(code, line, None, detail)];
    Ok(Checked { session: None, source: Some(source), notes: LineNotes::default(), hashes: OnceLock::new(), found })
}

impl Checked {
    /// Calls `each` with the words of every finding that is `wanted`, in order.
    ///
    /// # Errors
    /// [`Error::Changed`] and [`Error::Io`], since details are read again; and those of `each`.
    pub fn findings<E: From<Error>>(
        &self,
        wanted: &dyn Fn(&RawFinding) -> bool,
        each: &mut dyn FnMut(Finding) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut details = self.session.as_ref().map(|session| describe::Details::new(session, &self.notes));
        for finding in self.found.iter().filter(|finding| wanted(finding)) {
            each(describe::finding(finding, &self.notes, details.as_mut())?)?;
        }
        Ok(())
    }

    /// Returns the format of the file if that is another one that is known.
    pub(crate) fn foreign(&self) -> Option<ForeignFormat> {
        match self.found[..] {
            [RawFinding { detail: Detail::Foreign(format), .. }] => Some(format),
            _ => None,
        }
    }

    /// Returns the name of the file's format if it is not a session; `unknown` if that has none. A session that is
    /// damaged, and an empty file, is not of another format.
    pub(crate) fn other_format(&self) -> Option<&'static str> {
        let is_unknown = matches!(self.found[..], [RawFinding { code: Code::NotASession, .. }]);
        self.foreign().map(ForeignFormat::name).or_else(|| is_unknown.then_some(UNKNOWN))
    }

    /// Returns the hash of the line of a finding that is not about an entry; `None` if it cannot be read any
    /// more.
    pub(crate) fn line_hash(&self, finding: &RawFinding) -> Option<u64> {
        let hashes = self.hashes.get_or_init(|| self.hash_lines().unwrap_or_default());
        hashes.get(&finding.line).copied()
    }

    fn hash_lines(&self) -> Result<HashMap<u32, u64>> {
        let lines: HashSet<u32> =
            self.found.iter().filter(|finding| finding.node.is_none()).map(|finding| finding.line).collect();
        let mut hashes = HashMap::new();
        if let Some(source) = self.session.as_ref().map(|session| &session.source).or(self.source.as_ref()) {
            line::each(source, |number, line| {
                if lines.contains(&number) {
                    let text = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
                    hashes.insert(number, inspect::hash(text));
                }
                hashes.len() < lines.len()
            })?;
        }
        Ok(hashes)
    }

    /// Returns the id of the entry that a finding is about.
    pub(crate) fn entry_id(&self, finding: &RawFinding) -> Option<&str> {
        Some(self.session.as_ref()?.id(finding.node?))
    }
}
