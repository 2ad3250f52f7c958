//! Baselines: files that list known findings, one JSON object per line, which `check` then ignores.
//!
//! A finding is identified by file, code and entry, or by its line if it is not about an entry. Session
//! files only grow, so that both stay the same.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;

use super::{Checked, Code, RawFinding};
use crate::core::disk::lock::LockWait;
use crate::core::disk::rights::Rights;
use crate::core::disk::write::{self, Place, SideEffects, WriteOptions};
use crate::core::entry::Scan;
use crate::core::error::{Error, Result};
use crate::core::json::Object;
use crate::core::read::source::Source;

/// The first line of such a file, by which it is recognized.
const FIRST: &str = r#"{"type":"session-tree/baseline","version":1}"#;

/// What identifies a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KnownFinding {
    path: String,
    code: Code,
    entry: Option<String>,
    line: u32,
}

/// Known findings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline(BTreeSet<KnownFinding>);

impl Baseline {
    /// Reads a baseline file.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is another file, [`Error::Io`].
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::read(&fs::read(path).map_err(Error::io("cannot read the baseline"))?)
    }

    /// Writes the baseline file, in place of an older one if there is one.
    pub(crate) fn save(&self, path: &Path, wait: LockWait<'_>) -> Result<SideEffects> {
        if fs::symlink_metadata(path).is_err() {
            return write::create(path, &Rights::usual(), wait, &mut |out| self.write(out));
        }
        let no_file = || Error::usage("the baseline must be a file", "name a file");
        let place = Place::new(path, Source::open(path)?.state().ok_or_else(no_file)?)?;
        write::replace(&place, WriteOptions { wait, force: false }, false, &|| true, &mut |out| self.write(out))
    }

    fn read(text: &[u8]) -> Result<Self> {
        let mut scan = Scan::default();
        let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let is_first = |line: &[u8]| line.trim_ascii() == FIRST.as_bytes();
        if !lines.next().is_none_or(is_first) {
            return Err(not_a_baseline());
        }
        let mut known = Self::default();
        for line in lines {
            let entry = scan.read(line).map_err(|_| not_a_baseline())?;
            let code = entry.get_str("code").and_then(|code| Code::find(&code));
            let (Some(path), Some(code)) = (entry.get_str("path"), code) else { return Err(not_a_baseline()) };
            let line = entry.get("line").and_then(|line| std::str::from_utf8(line.bytes()).ok()?.parse().ok());
            let entry = entry.get_str("entryId").map(|id| id.into_owned());
            known.0.insert(KnownFinding { path: path.into_owned(), code, entry, line: line.unwrap_or(0) });
        }
        Ok(known)
    }

    /// Returns whether a finding in a file is known.
    pub(crate) fn knows(&self, path: &str, checked: &Checked, finding: &RawFinding) -> bool {
        !self.0.is_empty() && self.0.contains(&KnownFinding::of(path, checked, finding))
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, path: &str, checked: &Checked, finding: &RawFinding) {
        self.0.insert(KnownFinding::of(path, checked, finding));
    }

    /// Adds the findings of another baseline.
    pub(crate) fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Writes the file, sorted so that changes stay small.
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let mut text = FIRST.as_bytes().to_vec();
        for key in &self.0 {
            text.push(b'\n');
            let mut known = Object::new(&mut text);
            known.str("path", &key.path).str("code", key.code.id());
            match &key.entry {
                Some(entry) => known.str("entryId", entry),
                None => known.number("line", key.line),
            };
        }
        text.push(b'\n');
        out.write_all(&text).map_err(|cause| Error::writing("cannot write", cause))
    }
}

impl KnownFinding {
    fn of(path: &str, checked: &Checked, finding: &RawFinding) -> Self {
        let entry = checked.entry_id(finding).map(str::to_owned);
        let line = if entry.is_some() { 0 } else { finding.line };
        Self { path: path.strip_prefix("./").unwrap_or(path).to_owned(), code: finding.code, entry, line }
    }
}

fn not_a_baseline() -> Error {
    let hint = "`--update-baseline` writes one; it does not replace other files";
    Error::usage("it is not a baseline of `check`", hint)
}
