//! Findings that are known and do not count: a file of JSON lines, one a finding.
//!
//! A finding is known by file, code, and entry, or by its line if it is about no entry: session
//! files only grow, so that both stay what they are.

use std::collections::BTreeSet;
use std::io::Write;

use super::{Checked, Code, RawFinding};
use crate::core::entry::Scan;
use crate::core::error::{Error, Result};
use crate::core::json::Object;

/// The first line of such a file, by which it is told from other files.
const FIRST: &str = r#"{"type":"session-tree/baseline","version":1}"#;

/// What tells findings apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KnownFinding {
    path: String,
    code: Code,
    entry: Option<String>,
    line: u32,
}

/// Known findings.
#[derive(Clone, Debug, Default)]
pub struct Baseline(BTreeSet<KnownFinding>);

impl Baseline {
    /// Reads a baseline file.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is none.
    pub fn read(text: &[u8]) -> Result<Self> {
        let mut scan = Scan::default();
        let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let is_first = |line: &[u8]| line.trim_ascii() == FIRST.as_bytes();
        if !lines.next().is_none_or(is_first) {
            return Err(no_baseline());
        }
        let mut known = Self::default();
        for line in lines {
            let entry = scan.read(line).map_err(|_| no_baseline())?;
            let code = entry.get_str("code").and_then(|code| Code::find(&code));
            let (Some(path), Some(code)) = (entry.get_str("path"), code) else { return Err(no_baseline()) };
            let line = entry.get("line").and_then(|line| std::str::from_utf8(line.bytes()).ok()?.parse().ok());
            let entry = entry.get_str("entryId").map(|id| id.into_owned());
            known.0.insert(KnownFinding { path: path.into_owned(), code, entry, line: line.unwrap_or(0) });
        }
        Ok(known)
    }

    /// Tells whether a finding in a file is known.
    pub fn knows(&self, path: &str, checked: &Checked, spot: &RawFinding) -> bool {
        !self.0.is_empty() && self.0.contains(&KnownFinding::of(path, checked, spot))
    }

    /// Adds a finding.
    pub fn add(&mut self, path: &str, checked: &Checked, spot: &RawFinding) {
        self.0.insert(KnownFinding::of(path, checked, spot));
    }

    /// Takes over what another one knows.
    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Writes the file, in an order that keeps changes small.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut line = FIRST.as_bytes().to_vec();
        for key in &self.0 {
            line.push(b'\n');
            let mut known = Object::new(&mut line);
            known.str("path", &key.path).str("code", key.code.id());
            match &key.entry {
                Some(entry) => known.str("entryId", entry),
                None => known.number("line", key.line),
            };
            drop(known);
            out.write_all(&line).map_err(|cause| Error::writing("cannot write", cause))?;
            line.clear();
        }
        line.push(b'\n');
        out.write_all(&line).map_err(|cause| Error::writing("cannot write", cause))
    }
}

impl KnownFinding {
    fn of(path: &str, checked: &Checked, spot: &RawFinding) -> Self {
        let entry = checked.entry_id(spot).map(str::to_owned);
        let line = if entry.is_some() { 0 } else { spot.line };
        Self { path: path.strip_prefix("./").unwrap_or(path).to_owned(), code: spot.code, entry, line }
    }
}

fn no_baseline() -> Error {
    Error::Usage {
        message: "it is no baseline of `check`".to_owned(),
        hint: "`--update-baseline` writes one; it replaces no other file".to_owned(),
    }
}
