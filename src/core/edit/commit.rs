//! Brings new entries into a session file: appended, or, into a file of an old version, together
//! with its migration (help writing, "Appends").

use std::collections::HashMap;
use std::path::Path;

use super::draft::{Draft, IdsAndTime};
use crate::core::disk::write::{self, Added, Appended, Place, ReadTo, SideEffects, WriteOptions};
use crate::core::entry::header::{CURRENT, DeclaredVersion};
use crate::core::entry::{Kind, Scan};
use crate::core::error::{Error, Result};
use crate::core::migrate::{self, UnfinishedLine};
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::Session;

/// How often a file that was replaced is read again.
const ATTEMPTS: usize = 5;

/// The file that is written to, and how.
#[derive(Clone, Copy)]
pub struct SessionFile<'c> {
    /// Where it is.
    pub path: &'c Path,
    /// How to behave towards others.
    pub options: WriteOptions<'c>,
    /// How many threads may read.
    pub jobs: usize,
}

/// What new entries become children of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The leaf of the file as it is when they are written.
    Leaf,
    /// This entry, or nothing.
    At(Option<String>),
}

/// What must not have happened meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Anything may have.
    None,
    /// The leaf that is left must not have got children.
    Childless(Option<String>),
    /// The file's leaf that is left must still be its leaf.
    Unmoved(Option<String>),
}

/// What is to be written where.
#[derive(Clone)]
pub struct Commit<'c> {
    /// The session file.
    pub file: SessionFile<'c>,
    /// What the first entry becomes a child of.
    pub anchor: Anchor,
    /// What must not have happened.
    pub guard: Guard,
    /// Entries that must exist.
    pub needs: Vec<String>,
}

/// What was written.
#[derive(Debug)]
pub struct Committed {
    /// The ids of the new entries.
    pub ids: Vec<String>,
    /// The version that the file had, if it was migrated.
    pub migrated_from: Option<u32>,
    /// Whether an unfinished line of somebody else was closed first.
    pub closed_unfinished_line: bool,
    /// What else was done, or could not be.
    pub effects: SideEffects,
}

/// Returns whether a session may be written to.
///
/// # Errors
/// [`Error::Unwritable`] for newer and for unclear versions, [`Error::Compressed`].
pub fn check(session: &Session) -> Result<()> {
    if session.source.is_compressed() {
        return Err(Error::Compressed);
    }
    check_known(session)?;
    if session.version == 2 && session.header.version == DeclaredVersion::Absent {
        return Err(migrate::unsure());
    }
    Ok(())
}

/// Returns whether a session is of a known version.
///
/// # Errors
/// [`Error::Unwritable`] for newer ones.
pub fn check_known(session: &Session) -> Result<()> {
    if session.version <= CURRENT {
        return Ok(());
    }
    Err(Error::Unwritable(format!("version {} is newer than {CURRENT}, the newest known", session.version)))
}

impl Commit<'_> {
    /// Writes the entries that `make` drafts from the file as it is then; `session` is what was read of it. If it
    /// drafts none, nothing is written.
    ///
    /// # Errors
    /// [`Error::Unwritable`], [`Error::Changed`], and those of [`mod@write`]. After an error none of
    /// the entries is in the file.
    pub fn write(
        &self,
        session: &Session,
        ids: &mut IdsAndTime<'_>,
        make: &mut dyn FnMut(&mut Draft<'_>, &GrownSession<'_>),
    ) -> Result<Committed> {
        let mut again = None;
        for attempt in 0..=ATTEMPTS {
            if attempt > 0 {
                again = Some(Session::load(Source::open(self.file.path)?, LoadOptions::INDEX_ONLY, self.file.jobs)?);
            }
            let current = again.as_ref().unwrap_or(session);
            check(current)?;
            if let Some(again) = &again {
                self.recheck(session, again)?;
            }
            let done = if current.is_migrated() {
                self.replace(current, ids, make)?
            } else {
                self.append(current, ids, make)?
            };
            if let Some(done) = done {
                return Ok(done);
            }
        }
        Err(Error::Changed { line: None })
    }

    /// Checks a file that was replaced against what was decided on its old form.
    fn recheck(&self, old: &Session, new: &Session) -> Result<()> {
        let children = |session: &Session, id: &str| session.find(id).map(|node| session.children(node).len());
        let leaf = |session: &Session| session.leaf().map(|leaf| session.id(leaf).to_owned());
        let holds = match &self.guard {
            Guard::None | Guard::Childless(None) => true,
            Guard::Childless(Some(id)) => children(old, id) == children(new, id),
            Guard::Unmoved(id) => leaf(new) == *id,
        };
        let anchor = if let Anchor::At(Some(id)) = &self.anchor { Some(id) } else { None };
        let holds =
            holds && old.header.id == new.header.id && self.needs.iter().chain(anchor).all(|id| new.find(id).is_some());
        if holds { Ok(()) } else { Err(Error::Changed { line: None }) }
    }

    fn append(
        &self,
        session: &Session,
        ids: &mut IdsAndTime<'_>,
        make: &mut dyn FnMut(&mut Draft<'_>, &GrownSession<'_>),
    ) -> Result<Option<Committed>> {
        let place = self.place(session)?;
        let mut new_ids = Vec::new();
        let read = ReadTo { at: session.read_to, ends: session.ends.clone() };
        let appended = write::append(&place, &read, self.file.options, &is_whole, &mut |added| {
            let added = AddedEntries::read(session, added);
            self.refuse_if_moved(&added)?;
            let anchor = self.anchor(session, added.leaf.as_deref());
            let is_taken = |id: &str| session.find(id).is_some() || added.entries.contains_key(id);
            let mut draft = Draft::new(ids, anchor, &is_taken);
            make(&mut draft, &GrownSession { session, added: Some(&added) });
            new_ids = draft.ids;
            Ok(draft.lines)
        })?;
        let Appended::Done { closed_unfinished_line, effects } = appended else { return Ok(None) };
        Ok(Some(Committed { ids: new_ids, migrated_from: None, closed_unfinished_line, effects }))
    }

    fn refuse_if_moved(&self, added: &AddedEntries) -> Result<()> {
        let has_child = |old: &Option<String>| added.entries.values().any(|entry| entry.parent == *old);
        let holds = match &self.guard {
            Guard::None => true,
            Guard::Childless(old) => old.is_none() || !has_child(old),
            Guard::Unmoved(old) => added.leaf.is_none() || added.leaf == *old,
        };
        if holds { Ok(()) } else { Err(Error::Changed { line: None }) }
    }

    /// Writes the migrated session with the new entries after it.
    fn replace(
        &self,
        session: &Session,
        ids: &mut IdsAndTime<'_>,
        make: &mut dyn FnMut(&mut Draft<'_>, &GrownSession<'_>),
    ) -> Result<Option<Committed>> {
        let place = self.place(session)?;
        let is_unfinished = has_unfinished_line(session)?;
        if is_unfinished && place.changes_soon(self.file.options)? {
            return Ok(None);
        }
        let is_taken = |id: &str| session.find(id).is_some();
        let mut draft = Draft::new(ids, self.anchor(session, None), &is_taken);
        make(&mut draft, &GrownSession::read(session));
        let Draft { lines, ids, .. } = draft;
        if lines.is_empty() {
            let effects = SideEffects::default();
            return Ok(Some(Committed { ids, migrated_from: None, closed_unfinished_line: false, effects }));
        }
        let effects = write::replace(&place, self.file.options, false, &|| true, &mut |out| {
            migrate::copy(&session.source, UnfinishedLine::Close, out)?;
            out.write_all(&lines).map_err(|cause| Error::writing("cannot write", cause))
        })?;
        let migrated_from = Some(session.version);
        Ok(Some(Committed { ids, migrated_from, closed_unfinished_line: is_unfinished, effects }))
    }

    /// Returns what the first entry becomes a child of; `added` is the leaf that others added.
    fn anchor(&self, session: &Session, added: Option<&str>) -> Option<String> {
        match &self.anchor {
            Anchor::Leaf => added.or_else(|| session.leaf().map(|leaf| session.id(leaf))).map(str::to_owned),
            Anchor::At(id) => id.clone(),
        }
    }

    fn place(&self, session: &Session) -> Result<Place> {
        let usage = || Error::usage("cannot write into standard input", "give the path of a session file");
        let stat = session.source.state().ok_or_else(usage)?;
        Place::new(self.file.path, stat)
    }
}

/// Returns whether the last line of what was read is unfinished.
fn has_unfinished_line(session: &Session) -> Result<bool> {
    let len = session.source.len().saturating_sub(session.read_to);
    let mut tail = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    session.source.read_at(&mut tail, session.read_to)?;
    Ok(!is_whole(&tail))
}

/// Returns whether a line is one complete object.
fn is_whole(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    line.iter().all(u8::is_ascii_whitespace) || Scan::default().read(line).is_ok()
}

/// The entries that others added to a file.
#[derive(Default)]
struct AddedEntries {
    /// The last of them.
    leaf: Option<String>,
    /// Those whose ids are new, by these.
    entries: HashMap<String, AddedEntry>,
    /// The entries that they label, in the order of the file, and with what: nothing clears.
    labels: Vec<(String, Option<String>)>,
}

/// An entry that others added to a file.
struct AddedEntry {
    /// How many others of these are before it.
    place: usize,
    parent: Option<String>,
}

/// A session file when new entries are drafted: what was read of it, and what others added since then.
pub struct GrownSession<'s> {
    session: &'s Session,
    added: Option<&'s AddedEntries>,
}

impl<'s> GrownSession<'s> {
    /// Returns a session to which nothing was added since it was read.
    pub fn read(session: &'s Session) -> Self {
        Self { session, added: None }
    }

    /// Returns the place of an entry among all of the file, if it is there.
    pub fn place(&self, id: &str) -> Option<usize> {
        let added = || Some(self.session.len() + self.added?.entries.get(id)?.place);
        self.session.find(id).map(|node| node.index()).or_else(added)
    }

    /// Returns the labels of the file as they were set and cleared: the ids of the labelled entries, which need
    /// not be there, and the names.
    pub fn labels(&self) -> impl Iterator<Item = (&'s str, Option<&'s str>)> {
        let session = self.session;
        let read = session.labels().iter().map(move |label| {
            let target = label.target.map_or(&*label.target_id, |target| session.id(target));
            (target, Some(&*label.name))
        });
        let added = self.added.into_iter().flat_map(|added| &added.labels);
        read.chain(added.map(|(target, name)| (&**target, name.as_deref())))
    }
}

impl AddedEntries {
    fn read(session: &Session, added: &Added<'_>) -> Self {
        let mut entries = Self::default();
        let mut scan = Scan::default();
        for line in added.bytes.split(|&byte| byte == b'\n') {
            let Ok(entry) = scan.read(line) else { continue };
            let Some(id) = entry.id().filter(|_| entry.kind() != Kind::Header) else { continue };
            if let (Kind::Label, Some(target)) = (entry.kind(), entry.get_id("targetId")) {
                let name = entry.get_str("label").filter(|name| !name.is_empty());
                entries.labels.push((target.into_owned(), name.map(|name| name.into_owned())));
            }
            if session.find(&id).is_none() {
                let parent = entry.parent_id().map(|parent| parent.into_owned());
                let place = entries.entries.len();
                entries.entries.insert(id.clone().into_owned(), AddedEntry { place, parent });
            }
            entries.leaf = Some(id.into_owned());
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::time::Duration;

    use tempfile::TempDir;

    use crate::core::disk::lock::LockWait;
    use crate::core::disk::write::WriteOptions;
    use crate::core::edit::draft::{IdsAndTime, numbered};
    use crate::core::edit::label::LabelEdit;
    use crate::core::read::load::LoadOptions;
    use crate::core::read::source::Source;
    use crate::core::session::Session;
    use crate::core::session::sample::{HEADER, forked, message, read};

    use super::{
        Added, AddedEntries, Anchor, Commit, Committed, GrownSession, Guard, Result, SessionFile, check,
        has_unfinished_line, is_whole,
    };

    /// A session file that was read, so that others can change it before it is written to.
    struct ReadFile {
        _folder: TempDir,
        path: PathBuf,
        session: Session,
    }

    impl ReadFile {
        fn new(bytes: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s.jsonl");
            fs::write(&path, bytes).unwrap();
            let session = Session::load(Source::open(&path).unwrap(), LoadOptions::INDEX_ONLY, 1).unwrap();
            Self { _folder: folder, path, session }
        }

        /// Labels `u1`; the first id that is tried is `n1`.
        fn label(&self, anchor: Anchor, guard: Guard) -> Result<Committed> {
            let wait = LockWait { timeout: Duration::ZERO, now: &|| 1_767_607_201_000, stop: &|| None };
            let options = WriteOptions { wait, force: true };
            let needs = vec!["u1".to_owned()];
            let file = SessionFile { path: &self.path, options, jobs: 1 };
            let commit = Commit { file, anchor, guard, needs };
            let mut fresh = numbered();
            let mut ids = IdsAndTime { now: &|| "T".to_owned(), fresh: &mut fresh };
            let edit = LabelEdit { target: "u1".to_owned(), name: Some("mark".to_owned()) };
            commit.write(&self.session, &mut ids, &mut |draft, _| edit.append(draft))
        }
    }

    /// Returns the lines of a file, each with its line feed.
    fn file<S: AsRef<str>>(lines: &[S]) -> String {
        lines.iter().flat_map(|line| [line.as_ref(), "\n"]).collect()
    }

    /// Returns the file with the entries of [`forked`], whose leaf is `b2`.
    fn old() -> String {
        file(&[&[HEADER.to_owned()][..], &forked()].concat())
    }

    /// Returns lines: `c1<b2` is a message with its parent, other words are no entries.
    fn lines(words: &str) -> String {
        let line = |word: &str| match word.split_once('<') {
            Some((id, parent)) => message(id, parent, "user", "meanwhile"),
            None if word == "marker" => r#"{"type":"marker"}"#.to_owned(),
            None => format!("{word} is not JSON"),
        };
        file(&words.split(' ').filter(|word| !word.is_empty()).map(line).collect::<Vec<_>>())
    }

    /// What others do to the file; what the label is to be a child of; what must not have happened; and what
    /// the label becomes a child of, or `changed`.
    const CASES: &str = "
append c1<b2 noise c2<a1 marker   at the leaf                         -> c2
append c1<b2                      at t2                               -> t2
append noise                      at the leaf                         -> b2
finish c1<b2                      at the leaf                         -> c1
append c1<b2                      at a1                               -> a1

append c1<b2                      at a1         unless b2 moved       -> changed
append c1<a1                      at a1         unless b2 moved       -> changed
append noise                      at a1         unless b2 moved       -> a1
append b2<b1                      at a1         unless b2 moved       -> a1
append c1<t2                      at a1         unless t2 has child   -> changed
append c1<b2                      at a1         unless t2 has child   -> a1
append c1<u2                      at a1         unless t2 has child   -> a1
append t2<t2                      at a1         unless t2 has child   -> a1
append c1<b2                      at a1         unless - has child    -> a1

rewrite c1<b2                     at the leaf                         -> c1
rewrite                           at a1         unless b2 moved       -> a1
rewrite c1<b2                     at a1         unless b2 moved       -> changed
rewrite c1<b2                     at a1         unless b2 has child   -> changed
rewrite c1<b2                     at a1         unless t2 has child   -> a1
rewrite c1<b2                     at a1         unless - has child    -> a1

cut                               at the leaf                         -> a2
cut                               at a1                               -> a1
cut                               at b1                               -> changed
cut                               at a1         unless b2 moved       -> changed

swap x1<                          at the leaf                         -> changed
swap u1<                          at the leaf                         -> u1
";

    #[test]
    fn entries_get_their_parent_or_are_refused_after_changes_by_others() {
        let cases: Vec<_> = CASES.lines().filter(|row| !row.is_empty()).collect();
        assert_eq!(cases.len(), 26);
        for row in cases {
            let (done, expected) = row.split_once(" -> ").unwrap();
            let (done, guard) = done.split_once(" unless ").unwrap_or((done, ""));
            let (done, anchor) = done.split_once(" at ").unwrap();
            let (verb, words) = done.trim().split_once(' ').unwrap_or((done.trim(), ""));
            let named = |id: &str| (id != "-").then(|| id.to_owned());
            let anchor = if anchor.trim() == "the leaf" { Anchor::Leaf } else { Anchor::At(named(anchor.trim())) };
            let guard = match guard.trim().split_once(' ') {
                None => Guard::None,
                Some((id, "moved")) => Guard::Unmoved(named(id)),
                Some((id, _)) => Guard::Childless(named(id)),
            };
            let now = match verb {
                "append" | "rewrite" => old() + &lines(words),
                "finish" => old() + lines(words).trim_end(),
                "cut" => old().split_inclusive('\n').take(5).collect(),
                _ => file(&[HEADER]) + &lines(words),
            };
            let file = ReadFile::new(&old());
            if verb == "rewrite" || verb == "swap" {
                fs::remove_file(&file.path).unwrap();
            }
            fs::write(&file.path, &now).unwrap();
            let result = file.label(anchor, guard);
            let found = fs::read_to_string(&file.path).unwrap();
            match result {
                Ok(_) => {
                    let end = format!(
                        r#"{{"type":"label","id":"n1","parentId":"{expected}","timestamp":"T","targetId":"u1","label":"mark"}}"#
                    );
                    let feed = if now.ends_with('\n') { "" } else { "\n" };
                    assert_eq!(found, format!("{now}{feed}{end}\n"), "{row}");
                }
                Err(error) => {
                    assert_eq!((error.kind().name(), expected), ("changed", "changed"), "{row}");
                    assert_eq!(found, now, "{row}");
                }
            }
        }
    }

    #[test]
    fn new_entries_get_the_time_at_which_the_file_is_locked() {
        let file = ReadFile::new(&old());
        let record = file.path.with_file_name(".s.jsonl.lock");
        let wait = LockWait { timeout: Duration::ZERO, now: &|| 1_767_607_201_000, stop: &|| None };
        let options = WriteOptions { wait, force: true };
        let (mut fresh, now) = (numbered(), || record.exists().to_string());
        let mut ids = IdsAndTime { now: &now, fresh: &mut fresh };
        let target = SessionFile { path: &file.path, options, jobs: 1 };
        let commit = Commit { file: target, anchor: Anchor::Leaf, guard: Guard::None, needs: Vec::new() };
        let edit = LabelEdit { target: "u1".to_owned(), name: None };
        commit.write(&file.session, &mut ids, &mut |draft, _| edit.append(draft)).unwrap();
        assert!(fs::read_to_string(&file.path).unwrap().contains(r#""timestamp":"true""#));
    }

    #[test]
    fn an_id_that_others_took_meanwhile_is_not_used() {
        let file = ReadFile::new(&old());
        fs::write(&file.path, old() + &lines("n1<b2 n2<n1")).unwrap();
        assert_eq!(file.label(Anchor::Leaf, Guard::None).unwrap().ids, ["n3"]);
    }

    #[test]
    fn newer_and_unclear_versions_are_not_written_to() {
        for (header, entry, is_writable) in [
            (r#""version":3,"#, r#""id":"u1","#, true),
            (r#""version":2,"#, r#""id":"u1","#, true),
            (r#""version":1,"#, "", true),
            ("", "", true),
            // Versions 1 and 2 may both look so.
            ("", r#""id":"u1","#, false),
            (r#""version":null,"#, r#""id":"u1","#, false),
            (r#""version":4,"#, r#""id":"u1","#, false),
            (r#""version":"5","#, r#""id":"u1","#, false),
            // What is not a version counts as the current one.
            (r#""version":0,"#, r#""id":"u1","#, true),
            (r#""version":"three","#, r#""id":"u1","#, true),
            (r#""version":2.5,"#, r#""id":"u1","#, true),
        ] {
            let text = format!(
                "{{\"type\":\"session\",{header}\"id\":\"s\"}}\n{{\"type\":\"message\",{entry}\"message\":{{}}}}\n"
            );
            let error = check(&read(text.as_bytes())).err().map(|error| error.kind().name());
            assert_eq!(error, (!is_writable).then_some("unsupported-version"), "{text}");
        }
    }

    #[test]
    fn a_line_is_whole_if_it_is_blank_or_one_object() {
        for (line, expected) in [
            ("", true),
            (" \t\r", true),
            (r#"{"type":"x"}"#, true),
            ("\u{feff} {} ", true),
            (r#"{"type":"x""#, false),
            (r#"{"type":"x"} {"#, false),
            ("[]", false),
            ("noise", false),
        ] {
            assert_eq!(is_whole(line.as_bytes()), expected, "{line:?}");
        }
    }

    #[test]
    fn only_a_last_line_that_is_no_object_is_unfinished() {
        for (end, expected) in [
            ("", false),
            (" \t", false),
            ("{}", false),
            (r#"{"type":"message","id":"x"}"#, false),
            (r#"{"type":"message","id":"#, true),
            ("x", true),
        ] {
            assert_eq!(has_unfinished_line(&ReadFile::new(&(old() + end)).session).unwrap(), expected, "{end}");
        }
    }

    #[test]
    fn added_entries_are_placed_after_those_that_were_read() {
        let file = ReadFile::new(&old());
        let added = AddedEntries::read(&file.session, &Added { bytes: lines("c1<b2 noise c2<c1").as_bytes() });
        let grown = GrownSession { session: &file.session, added: Some(&added) };
        let count = file.session.len();
        for (id, expected) in [("u1", Some(0)), ("c1", Some(count)), ("c2", Some(count + 1)), ("x", None)] {
            assert_eq!(grown.place(id), expected, "{id}");
        }
    }
}
