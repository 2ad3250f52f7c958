//! Baselines: files that list known findings, one JSON object per line, which `check` then ignores.
//!
//! A finding is identified by file, code and entry, or by a hash of its line if it is not about an entry: both
//! stay the same when lines before it come or go. Files of before name such lines by their numbers.

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

/// How many lines that match nothing any more are named.
const TOLD: usize = 3;

/// What identifies a finding in its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct KnownFinding {
    code: Code,
    entry: Option<Box<str>>,
    /// The hash of the line.
    hash: Option<u64>,
    /// The number of the line, in files of before.
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
            let hash = entry.get_str("lineHash").and_then(|hash| u64::from_str_radix(&hash, 16).ok());
            let entry = entry.get_str("entryId").map(Box::from);
            known.insert(&path, KnownFinding { code, entry, hash, line: line.unwrap_or(0) });
        }
        Ok(known)
    }

    /// Returns whether a finding in a file is known.
    pub(crate) fn knows(&self, path: &str, checked: &Checked, finding: &RawFinding) -> bool {
        self.find(path, checked, finding).is_some()
    }

    /// Adds what another baseline knows of a finding, if that is known there.
    pub(crate) fn add_known(&mut self, other: &Self, path: &str, checked: &Checked, finding: &RawFinding) {
        if let Some(known) = other.find(path, checked, finding) {
            self.insert(own_path(path), known.clone());
        }
    }

    fn find(&self, path: &str, checked: &Checked, finding: &RawFinding) -> Option<&KnownFinding> {
        let known = self.0.get(own_path(path))?;
        let key = KnownFinding::of(checked, finding);
        let by_number = || known.get(&KnownFinding { hash: None, line: finding.line, ..key.clone() });
        known.get(&key).or_else(|| if key.entry.is_none() { by_number() } else { None })
    }

    /// Returns what is listed for files that `is_checked`, and was not found again: its number, and the first
    /// ones in words.
    pub(crate) fn stale(&self, found: &Self, is_checked: &dyn Fn(&str) -> bool) -> (usize, Vec<String>) {
        let mut words = Vec::new();
        let mut count = 0;
        for (path, known) in self.0.iter().filter(|(path, _)| is_checked(path)) {
            let again = found.0.get(path);
            for key in known.iter().filter(|key| again.is_none_or(|again| !again.contains(key))) {
                count += 1;
                if words.len() < TOLD {
                    words.push(key.words(path));
                }
            }
        }
        (count, words)
    }

    /// Returns what is listed for some of the files.
    pub(crate) fn of_files(&self, is_wanted: &dyn Fn(&str) -> bool) -> Self {
        let listed = self.0.iter().filter(|(path, _)| is_wanted(path));
        Self(listed.map(|(path, known)| (path.clone(), known.clone())).collect())
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
            match (&key.entry, key.hash) {
                (Some(entry), _) => known.str("entryId", entry),
                (None, Some(hash)) => known.str("lineHash", &format!("{hash:016x}")),
                (None, None) => known.number("line", key.line),
            };
        }
        text.push(b'\n');
        write(&mut text)
    }
}

impl KnownFinding {
    fn of(checked: &Checked, finding: &RawFinding) -> Self {
        let entry = checked.entry_id(finding).map(Box::from);
        let hash = if entry.is_some() { None } else { checked.line_hash(finding) };
        let line = if entry.is_some() || hash.is_some() { 0 } else { finding.line };
        Self { code: finding.code, entry, hash, line }
    }

    fn words(&self, path: &str) -> String {
        let place = match (&self.entry, self.hash) {
            (Some(entry), _) => format!("at `{entry}`"),
            (None, Some(hash)) => format!("on the line {hash:016x}"),
            (None, None) => format!("on line {}", self.line),
        };
        format!("{} in {path} {place}", self.code.id())
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

#[cfg(test)]
mod tests {
    use super::{Baseline, Checked, FIRST, Source};
    use crate::core::check;

    const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T10:00:00.000Z","cwd":"/"}"#;
    const FIRST_ENTRY: &str = r#"{"type":"custom","id":"a","parentId":null,"timestamp":"2026-01-05T10:00:00.000Z"}"#;

    fn checked(lines: &[&str]) -> Checked {
        check::check(Source::spool(format!("{}\n", lines.join("\n")).as_bytes()).unwrap(), None, 1).unwrap()
    }

    fn of(checked: &Checked) -> Baseline {
        let mut known = Baseline::default();
        checked.found.iter().for_each(|finding| known.add("s.jsonl", checked, finding));
        known
    }

    /// Returns the lines of findings that a baseline does not know.
    fn unknown(known: &Baseline, checked: &Checked) -> Vec<u32> {
        let is_new = |finding: &&check::RawFinding| !known.knows("s.jsonl", checked, finding);
        checked.found.iter().filter(is_new).map(|finding| finding.line).collect()
    }

    #[test]
    fn a_damaged_line_is_known_wherever_it_stands() {
        let known = of(&checked(&[HEADER, "damaged", FIRST_ENTRY]));
        let mut text = Vec::new();
        known.write(&mut text).unwrap();
        let line = r#"{"path":"s.jsonl","code":"E005","lineHash":"28c77fc5af01e3ac"}"#;
        assert_eq!(String::from_utf8(text.clone()).unwrap(), format!("{FIRST}\n{line}\n"));
        let known = Baseline::read(&text[..]).unwrap();
        assert_eq!(unknown(&known, &checked(&[HEADER, FIRST_ENTRY, "", "damaged\r", FIRST_ENTRY, "other"])), [5, 6]);
        // A file that is no session has lines, too.
        let foreign = checked(&["text"]);
        assert_eq!(unknown(&of(&foreign), &foreign), [0; 0]);
        assert_eq!(unknown(&of(&foreign), &checked(&["other"])), [1]);
    }

    #[test]
    fn lines_are_known_by_their_numbers_in_files_of_before() {
        let text = format!("{FIRST}\n{}\n", r#"{"path":"s.jsonl","code":"E005","line":2}"#);
        let known = Baseline::read(text.as_bytes()).unwrap();
        assert_eq!(unknown(&known, &checked(&[HEADER, "damaged", FIRST_ENTRY, "damaged"])), [4]);
        let mut out = Vec::new();
        known.write(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn what_is_listed_in_vain_is_told() {
        let known = of(&checked(&[HEADER, "damaged", "other", FIRST_ENTRY]));
        let now = checked(&[HEADER, "other", FIRST_ENTRY]);
        let mut found = Baseline::default();
        now.found.iter().for_each(|finding| found.add_known(&known, "s.jsonl", &now, finding));
        let stale = known.stale(&found, &|path| path == "s.jsonl");
        assert_eq!(stale, (1, vec!["E005 in s.jsonl on the line 28c77fc5af01e3ac".to_owned()]));
        assert_eq!(known.stale(&found, &|_| false), (0, Vec::new()));
    }
}
