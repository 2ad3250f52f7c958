//! Baselines: files that list known findings, one JSON object per line, which `check` then ignores.
//!
//! A finding is identified by file, code and entry, or by its line if it is not about an entry. Session
//! files only grow, so that both stay the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
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

const DOING: &str = "cannot read the baseline";

/// What identifies a finding in its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KnownFinding {
    code: Code,
    entry: Option<Box<str>>,
    line: u32,
}

/// Known findings, by the path of their file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline(BTreeMap<String, BTreeSet<KnownFinding>>);

impl Baseline {
    /// Reads a baseline file.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is another file, [`Error::Io`].
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::read(BufReader::new(File::open(path).map_err(Error::io(DOING))?))
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

    fn read(text: impl BufRead) -> Result<Self> {
        let mut scan = Scan::default();
        let mut known = Self::default();
        let mut is_first = true;
        for line in text.split(b'\n') {
            let line = line.map_err(Error::io(DOING))?;
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if std::mem::take(&mut is_first) {
                if line != FIRST.as_bytes() {
                    return Err(not_a_baseline());
                }
                continue;
            }
            let entry = scan.read(line).map_err(|_| not_a_baseline())?;
            let code = entry.get_str("code").and_then(|code| Code::find(&code));
            let (Some(path), Some(code)) = (entry.get_str("path"), code) else { return Err(not_a_baseline()) };
            let line = entry.get("line").and_then(|line| std::str::from_utf8(line.bytes()).ok()?.parse().ok());
            let entry = entry.get_str("entryId").map(Box::from);
            known.insert(&path, KnownFinding { code, entry, line: line.unwrap_or(0) });
        }
        Ok(known)
    }

    /// Returns whether a finding in a file is known.
    pub(crate) fn knows(&self, path: &str, checked: &Checked, finding: &RawFinding) -> bool {
        self.0.get(own_path(path)).is_some_and(|known| known.contains(&KnownFinding::of(checked, finding)))
    }

    /// Adds a finding.
    pub(crate) fn add(&mut self, path: &str, checked: &Checked, finding: &RawFinding) {
        self.insert(own_path(path), KnownFinding::of(checked, finding));
    }

    fn insert(&mut self, path: &str, finding: KnownFinding) {
        match self.0.get_mut(path) {
            Some(known) => known.insert(finding),
            None => self.0.entry(path.to_owned()).or_default().insert(finding),
        };
    }

    /// Adds the findings of another baseline.
    pub(crate) fn merge(&mut self, other: Self) {
        for (path, mut findings) in other.0 {
            self.0.entry(path).or_default().append(&mut findings);
        }
    }

    /// Writes the file, sorted so that changes stay small.
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<()> {
        const FULL: usize = 64 * 1024;
        let mut write = |text: &mut Vec<u8>| {
            let written = out.write_all(text).map_err(|cause| Error::writing("cannot write", cause));
            text.clear();
            written
        };
        let mut text = FIRST.as_bytes().to_vec();
        for (path, key) in self.0.iter().flat_map(|(path, known)| known.iter().map(move |key| (path, key))) {
            text.push(b'\n');
            if text.len() > FULL {
                write(&mut text)?;
            }
            let mut known = Object::new(&mut text);
            known.str("path", path).str("code", key.code.id());
            match &key.entry {
                Some(entry) => known.str("entryId", entry),
                None => known.number("line", key.line),
            };
        }
        text.push(b'\n');
        write(&mut text)
    }
}

impl KnownFinding {
    fn of(checked: &Checked, finding: &RawFinding) -> Self {
        let entry = checked.entry_id(finding).map(Box::from);
        let line = if entry.is_some() { 0 } else { finding.line };
        Self { code: finding.code, entry, line }
    }
}

/// Returns the path of a file as it is listed.
fn own_path(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

fn not_a_baseline() -> Error {
    let hint = "`--update-baseline` writes one; it does not replace other files";
    Error::usage("it is not a baseline of `check`", hint)
}
