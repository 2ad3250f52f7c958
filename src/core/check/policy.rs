//! Which findings count: what is denied, allowed, or known to a baseline; and what a file comes to by
//! that. Printing is up to others.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::baseline::Baseline;
use super::{Checked, Code, Finding, RawFinding, Severity};
use crate::core::error::{Error, Result};
use crate::core::words::shell_word;

/// Of a file with more findings than this the words are made while they are printed.
const HELD: usize = 1000;
/// How many findings a thread may hold that are not yet printed.
pub(crate) const AHEAD: usize = 10 * HELD;

/// How much was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Files looked at.
    pub files: usize,
    /// Of them, those that could not be read; who prints what was found learns that last.
    pub unread: usize,
    /// Errors that count.
    pub errors: usize,
    /// Warnings that count.
    pub warnings: usize,
    /// Of them, those that are denied.
    pub denied: usize,
    /// Findings that a baseline knows.
    pub known: usize,
}

/// Which findings count.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    denied: BTreeSet<Code>,
    allowed: BTreeSet<Code>,
    known: Baseline,
    /// The folder of the baseline file, all links followed: there its paths begin.
    folder: Option<PathBuf>,
    /// Whether everything that is found goes into a new baseline.
    updates: bool,
    /// How many findings of one code in one file are put into words; without it, all.
    most: Option<usize>,
}

/// What a file comes to.
#[derive(Debug)]
pub(crate) struct Judged {
    /// How much of it counts.
    pub counts: Counts,
    /// What goes into a new baseline.
    pub known: Baseline,
    /// What the baseline lists of it, and the name that it has there.
    pub listed: Baseline,
    /// The name of the file in the baseline, if it could be read.
    pub name: Option<String>,
    /// What there is to print.
    pub found: Found,
    /// The name of the format of a file that was passed over.
    pub passed_over: Option<&'static str>,
}

/// What there is to print of a file.
#[derive(Debug)]
pub(crate) enum Found {
    /// The findings, and how many there are of each code.
    Few(Vec<Finding>, BTreeMap<Code, usize>),
    /// So many that their words are made while they are printed.
    Many(Box<Checked>),
    /// It could not be read.
    Failed(Error),
}

impl Counts {
    /// Adds what was found in a file.
    pub(crate) fn add(&mut self, more: Self) {
        self.files += more.files;
        self.unread += more.unread;
        self.errors += more.errors;
        self.warnings += more.warnings;
        self.denied += more.denied;
        self.known += more.known;
    }
}

impl Judged {
    /// Returns that a file in a folder is of another format: nothing of it counts.
    pub(crate) fn passed_over(format: &'static str) -> Self {
        Self { passed_over: Some(format), ..Self::new(Counts::default(), Found::Few(Vec::new(), BTreeMap::new())) }
    }

    fn new(counts: Counts, found: Found) -> Self {
        Self { counts, known: Baseline::default(), listed: Baseline::default(), name: None, found, passed_over: None }
    }

    /// Returns that a file could not be read or written.
    pub(crate) fn failed(error: Error) -> Self {
        Self::new(Counts { files: 1, ..Counts::default() }, Found::Failed(error))
    }

    /// Returns how many findings a file counts for until it is printed; those of a file with so many
    /// that they are not made yet fill all the room of a thread.
    pub(crate) fn weight(&self) -> usize {
        match &self.found {
            Found::Few(findings, _) => 1 + findings.len(),
            Found::Many(_) => AHEAD,
            Found::Failed(_) => 1,
        }
    }
}

impl Policy {
    /// Makes a policy of codes by their ids or names; `warnings` denies all of these. `most` limits how
    /// many findings of one code in one file are put into words.
    ///
    /// # Errors
    /// [`Error::Usage`] if a code is not known.
    pub(crate) fn new(deny: &[String], allow: &[String], most: Option<usize>) -> Result<Self> {
        let mut denied = BTreeSet::new();
        for name in deny {
            if name == "warnings" {
                denied.extend(Code::all().filter(|code| code.severity() == Severity::Warning));
            } else {
                denied.insert(Code::named(name)?);
            }
        }
        let allowed = allow.iter().map(|name| Code::named(name)).collect::<Result<_>>()?;
        Ok(Self { denied, allowed, most, ..Self::default() })
    }

    /// Lets what a file lists not count, or, if it is to be updated, puts all that is found into a new
    /// one: then there may be none yet, but not another file.
    ///
    /// # Errors
    /// [`Error::Usage`] if the file is not a baseline, [`Error::Io`].
    pub(crate) fn with_baseline(mut self, path: &Path, updates: bool) -> Result<Self> {
        // A pipe may be read, but nothing can take its place; to open one may wait for ever.
        if fs::metadata(path).is_ok_and(|meta| meta.is_dir() || updates && !meta.is_file()) {
            return Err(Error::usage("the baseline must be a file", "name a file; `--update-baseline` writes it"));
        }
        if !updates || path.exists() {
            self.known = Baseline::open(path)?;
        }
        (self.folder, self.updates) = (real_folder(path), updates);
        Ok(self)
    }

    /// Decides what counts in a file, and puts it into words if it is little. One that is not a session is passed
    /// over unless it `has_to_be` one.
    pub(crate) fn judge(&self, path: &Path, checked: Result<Checked>, has_to_be: bool) -> Judged {
        if let Some(format) = checked.as_ref().ok().and_then(Checked::other_format).filter(|_| !has_to_be) {
            return Judged::passed_over(format);
        }
        let mut counts = Counts { files: 1, ..Counts::default() };
        let (mut known, mut listed, mut own_name) = (Baseline::default(), Baseline::default(), None);
        let found = checked.and_then(|checked| {
            let name = self.name(path);
            for finding in &checked.found {
                if self.updates && !self.allowed.contains(&finding.code) {
                    known.add(&name, &checked, finding);
                }
                if !self.updates {
                    listed.add_known(&self.known, &name, &checked, finding);
                }
                self.count(&name, &checked, finding, &mut counts);
            }
            own_name = Some(name);
            if checked.found.len() > HELD {
                return Ok(Found::Many(Box::new(checked)));
            }
            let mut findings = Vec::new();
            let seen = self.findings(path, &checked, &mut |finding| -> Result<()> {
                findings.push(finding);
                Ok(())
            })?;
            Ok(Found::Few(findings, seen))
        });
        let judged = Judged::new(counts, found.unwrap_or_else(Found::Failed));
        Judged { known, listed, name: own_name, ..judged }
    }

    /// Returns how to decide whether a finding in a file is reported.
    pub(crate) fn reports(&self, path: &Path) -> impl Fn(&Checked, &RawFinding) -> bool + use<'_> {
        let name = self.name(path);
        move |checked, finding| self.count(&name, checked, finding, &mut Counts::default())
    }

    /// Returns what the baseline lists of files that were checked, or are gone, and that was not found again: its
    /// number, and the first ones in words.
    pub(crate) fn stale(&self, listed: &Baseline, names: &BTreeSet<String>) -> (usize, Vec<String>) {
        self.known.stale(listed, &|path| names.contains(path) || self.is_gone(path))
    }

    /// Returns what a new baseline has of the old one: what that lists of files that were not checked, and are there.
    pub(crate) fn kept(&self, names: &BTreeSet<String>) -> Baseline {
        self.known.of_files(&|path| !names.contains(path) && !self.is_gone(path))
    }

    /// Returns whether a file of the baseline is not there any more.
    fn is_gone(&self, name: &str) -> bool {
        let is_file = name != "-" && !name.contains('\u{fffd}');
        let no_such = |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        let look = |folder: &PathBuf| fs::symlink_metadata(folder.join(name)).err().is_some_and(no_such);
        is_file && self.folder.as_ref().is_some_and(look)
    }

    /// Puts what counts in a file into words, in order. Returns how many findings of each code there
    /// are, also of those beyond the most.
    pub(crate) fn findings<E: From<Error>>(
        &self,
        path: &Path,
        checked: &Checked,
        each: &mut dyn FnMut(Finding) -> std::result::Result<(), E>,
    ) -> std::result::Result<BTreeMap<Code, usize>, E> {
        let seen: RefCell<BTreeMap<Code, usize>> = RefCell::default();
        let name = self.name(path);
        let is_wanted = |finding: &RawFinding| {
            let counts = self.count(&name, checked, finding, &mut Counts::default());
            let mut seen = seen.borrow_mut();
            let count = seen.entry(finding.code).or_default();
            *count += usize::from(counts);
            counts && self.most.is_none_or(|most| *count <= most)
        };
        // Commands are there to be copied; standard input has no name to put into them.
        let file = (path != Path::new("-")).then(|| format!(" {}", shell_word(path.as_os_str())));
        checked.findings(&is_wanted, &mut |finding| {
            let fix = file.as_ref().map_or_else(|| finding.fix.clone(), |file| finding.fix.replace(" FILE", file));
            each(Finding { fix, ..finding })
        })?;
        Ok(seen.into_inner())
    }

    /// Returns how many findings of a code are beyond the most that are put into words.
    pub(crate) fn beyond(&self, count: usize) -> usize {
        self.most.map_or(0, |most| count.saturating_sub(most))
    }

    /// Counts a finding. Returns whether it is reported.
    fn count(&self, name: &str, checked: &Checked, finding: &RawFinding, counts: &mut Counts) -> bool {
        if self.allowed.contains(&finding.code) {
            return false;
        }
        if self.updates || self.known.knows(name, checked, finding) {
            counts.known += 1;
            return false;
        }
        match finding.code.severity() {
            Severity::Error => counts.errors += 1,
            Severity::Warning => {
                counts.warnings += 1;
                counts.denied += usize::from(self.denied.contains(&finding.code));
            }
        }
        true
    }

    /// Returns the name of a file in the baseline: the same from whatever folder it is checked.
    fn name(&self, path: &Path) -> String {
        let file = Some(path).filter(|path| *path != Path::new("-"));
        let place = file.and_then(|path| Some((real_folder(path)?, path.file_name()?)));
        let (Some(base), Some((folder, name))) = (&self.folder, place) else { return lossless(path) };
        let real = folder.join(name);
        lossless(real.strip_prefix(base).unwrap_or(&real))
    }
}

/// Returns a path as text by which no two are the same: each byte that is not UTF-8, and the character that such
/// are replaced by, becomes U+FFFD and its hexadecimal digits.
fn lossless(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\u{fffd}', "\u{fffd}efbfbd"));
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\u{fffd}{byte:02x}")));
    }
    text
}

/// Returns the folder of a file with all links followed.
fn real_folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::fs;
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::{Counts, Error, Found, HELD, Judged, Policy, lossless};
    use crate::core::check;
    use crate::core::read::source::Source;

    /// An error (E011), a warning (W016), and the error once more.
    const LINES: &str =
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-05T10:00:00.000Z\",\"cwd\":\"/\"}
{\"type\":\"custom\",\"id\":\"a\",\"parentId\":\"gone\",\"timestamp\":\"2026-01-05T10:00:00.000Z\"}
{\"type\":\"custom\",\"id\":\"b\",\"parentId\":\"a\"}
{\"type\":\"custom\",\"id\":\"c\",\"parentId\":\"gone\",\"timestamp\":\"2026-01-05T10:00:00.000Z\"}
";

    fn policy(deny: &str, allow: &str, most: Option<usize>) -> Policy {
        let codes = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        Policy::new(&codes(deny), &codes(allow), most).unwrap()
    }

    fn judge(policy: &Policy, path: &Path, text: &str) -> Judged {
        policy.judge(path, check::check(Source::spool(text.as_bytes()).unwrap(), None, 1), true)
    }

    /// Checks errors, warnings, denied and known ones, and the findings in words.
    fn check(policy: &Policy, path: &Path, counts: [usize; 4], words: &str) {
        let judged = judge(policy, path, LINES);
        let Counts { files, errors, warnings, denied, known, .. } = judged.counts;
        assert_eq!(([errors, warnings, denied, known], files), (counts, 1), "{policy:?}");
        let Found::Few(findings, _) = judged.found else { panic!("{policy:?}") };
        let spelt: Vec<_> = findings.iter().map(|finding| format!("{}:{}", finding.line, finding.code.id())).collect();
        assert_eq!(spelt.join(" "), words, "{policy:?}");
    }

    #[test]
    fn findings_count_as_the_policy_says() {
        let all = "2:E011 3:W016 4:E011";
        for (deny, allow, most, counts, words) in [
            ("", "", None, [2, 1, 0, 0], all),
            ("W016", "", None, [2, 1, 1, 0], all),
            ("warnings", "", None, [2, 1, 1, 0], all),
            ("W001 orphan", "", None, [2, 1, 0, 0], all),
            ("warnings", "unreadable-time", None, [2, 0, 0, 0], "2:E011 4:E011"),
            ("", "e011", None, [0, 1, 0, 0], "3:W016"),
            // Those beyond the most count all the same.
            ("", "", Some(1), [2, 1, 0, 0], "2:E011 3:W016"),
        ] {
            check(&policy(deny, allow, most), Path::new("s.jsonl"), counts, words);
        }
        assert_eq!((policy("", "", Some(1)).beyond(2), policy("", "", None).beyond(2)), (1, 0));
    }

    #[test]
    fn codes_that_are_not_known_are_refused() {
        for (deny, allow) in [("E05", ""), ("", "warnings"), ("all", "")] {
            let codes = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
            let refused = Policy::new(&codes(deny), &codes(allow), None);
            assert!(matches!(refused, Err(Error::Usage { .. })), "{deny} {allow}");
        }
    }

    #[test]
    fn a_new_baseline_takes_what_is_not_allowed_and_knows_it_then() {
        let folder = tempfile::tempdir().unwrap();
        let (path, session) = (folder.path().join("known"), folder.path().join("s.jsonl"));
        let open = |allow: &str, updates: bool| policy("", allow, None).with_baseline(&path, updates);
        assert!(matches!(open("", false), Err(Error::Io { .. })));
        let update = open("W016", true).unwrap();
        check(&update, &session, [0, 0, 0, 2], "");
        let mut text = Vec::new();
        judge(&update, &session, LINES).known.write(&mut text).unwrap();
        fs::write(&path, &text).unwrap();
        check(&open("", false).unwrap(), &session, [0, 1, 0, 2], "3:W016");
        check(&open("", false).unwrap(), Path::new("/other/s.jsonl"), [2, 1, 0, 0], "2:E011 3:W016 4:E011");
        fs::write(&path, LINES).unwrap();
        assert!(matches!(open("", true), Err(Error::Usage { .. })), "another file is not replaced");
    }

    #[test]
    fn names_that_are_not_text_stay_apart() {
        let names: [&[u8]; 5] =
            [b"a\xff", b"a\xfe", "a\u{fffd}".as_bytes(), "a\u{fffd}ff".as_bytes(), b"a\xef\xbf\xffbd"];
        let texts = names.map(|name| lossless(Path::new(OsStr::from_bytes(name))));
        assert_eq!(&texts[..3], ["a\u{fffd}ff", "a\u{fffd}fe", "a\u{fffd}efbfbd"]);
        assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), names.len(), "{texts:?}");
        assert_eq!(lossless(Path::new("sub/ä b.jsonl")), "sub/ä b.jsonl");
    }

    #[test]
    fn words_of_many_findings_wait_until_they_are_printed() {
        let line = LINES.lines().nth(2).unwrap();
        let many: String = (0..=HELD).map(|at| line.replace("\"b\"", &format!("\"b{at}\"")) + "\n").collect();
        let judged = judge(&policy("", "", None), Path::new("s.jsonl"), &(LINES.to_owned() + &many));
        assert!(matches!(judged.found, Found::Many(_)) && judged.weight() == super::AHEAD);
        let failed = policy("", "", None).judge(
            Path::new("s.jsonl"),
            Err(Error::Io { doing: "cannot open", cause: io::ErrorKind::NotFound.into() }),
            false,
        );
        assert!(matches!(failed.found, Found::Failed(_)) && failed.weight() == 1);
    }
}
