//! A session that another program goes on writing: what is new in its file at each look, and which entries have
//! no row yet (help rules, "Following"). When to look is up to the caller, which has the clock.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::io;
use std::path::Path;

use super::view::View;
use super::walk;
use crate::core::disk::write::ReadTo;
use crate::core::error::problem::Problem;
use crate::core::error::{Error, Result};
use crate::core::read::load::LoadOptions;
use crate::core::read::source::{FileState, Source};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// A session and what was printed of it.
#[derive(Debug)]
pub(crate) struct FollowedSession {
    session: Session,
    /// The file at the last look.
    state: FileState,
    /// Up to where it was searched for line ends: what is after the last one is an unfinished line.
    searched: u64,
    /// The first entry that may have no row yet.
    unseen: usize,
    /// The hashes of the ids that have a row: a session may come back with entries that it lacked for a while.
    printed: HashSet<u64>,
    hasher: RandomState,
    /// The id of the last row.
    last: Option<String>,
    /// How many lines have had their problems reported.
    reported: u32,
}

/// What a look at the file found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// No whole line that was not there before.
    Nothing,
    /// Whole lines after those that were read.
    Appended,
    /// The file was written anew, or what came can only be understood with what is before: it was read again.
    ReadAgain,
    /// As before, and it has another session now.
    OtherSession,
}

/// An entry that gets its row after those that were printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewRow {
    /// The entry.
    pub node: NodeId,
    /// Where it is.
    pub place: RowPlace,
}

/// How a row continues the row before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowPlace {
    /// It is below that, or says by itself what it is below.
    Continues,
    /// It is below this entry: its nearest one with a row, else its parent.
    After(NodeId),
    /// It is below none.
    Root,
}

impl FollowedSession {
    /// Reads the whole lines of a file.
    ///
    /// # Errors
    /// As [`Session::load`]; [`Error::Io`] if it is not a regular file, or compressed, since neither can be followed.
    pub(crate) fn open(path: &Path, options: LoadOptions<'_>, jobs: usize) -> Result<Self> {
        let (source, state) = open(path)?;
        if source.is_gzip() {
            return Err(cannot_follow("it is compressed"));
        }
        let searched = source.len();
        let session = load(source, options, jobs)?;
        let (printed, hasher) = (HashSet::new(), RandomState::new());
        Ok(Self { session, state, searched, unseen: 0, printed, hasher, last: None, reported: 0 })
    }

    /// Returns the session as it was at the last look.
    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Looks at the file again. Of a file that grew only the new bytes are read. After an error all is as before, so
    /// that the file may come back.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn look(&mut self, path: &Path, jobs: usize) -> Result<Look> {
        if state(path)? == self.state {
            return Ok(Look::Nothing);
        }
        let (source, state) = open(path)?;
        let searched = source.len();
        if self.goes_on(&source, state)? {
            let Some(end) = source.last_line_end(self.searched)? else {
                (self.state, self.searched) = (state, searched);
                return Ok(Look::Nothing);
            };
            let first = self.session.len();
            if self.session.grow(source.up_to(end), jobs)? {
                (self.state, self.searched, self.unseen) = (state, searched, first);
                return Ok(Look::Appended);
            }
        }
        self.read_again(path, jobs)
    }

    /// Returns whether a file is the one of the last look, and at most grew since.
    fn goes_on(&self, source: &Source, state: FileState) -> Result<bool> {
        if !state.is_same_file(&self.state) || source.len() < self.searched {
            return Ok(false);
        }
        let read = ReadTo { at: self.session.read_to, ends: self.session.ends.clone() };
        source.file().map_or(Ok(false), |file| read.is_there(file))
    }

    fn read_again(&mut self, path: &Path, jobs: usize) -> Result<Look> {
        let (source, state) = open(path)?;
        let searched = source.len();
        let session = load(source, LoadOptions::INDEX_ONLY, jobs)?;
        let is_other = session.header.id != self.session.header.id;
        if is_other {
            self.printed.clear();
            (self.last, self.reported) = (None, 0);
        }
        (self.session, self.state, self.searched, self.unseen) = (session, state, searched, 0);
        Ok(if is_other { Look::OtherSession } else { Look::ReadAgain })
    }

    /// Returns the problems of the lines that came with the last look.
    pub(crate) fn new_problems(&mut self) -> Vec<Problem> {
        let (before, mut problems) = (self.reported, self.session.problems.list());
        problems.retain(|problem| problem.line.map_or(before == 0, |line| line > before));
        self.reported = before.max(self.session.line_count());
        problems
    }

    /// Notes the entries that got rows, in their order.
    pub(crate) fn printed(&mut self, nodes: impl Iterator<Item = NodeId>) {
        let mut last = None;
        for node in nodes {
            self.printed.insert(self.hasher.hash_one(self.session.id(node)));
            last = Some(node);
        }
        if let Some(last) = last {
            self.last = Some(self.session.id(last).to_owned());
        }
    }

    fn has_row(&self, node: NodeId) -> bool {
        self.printed.contains(&self.hasher.hash_one(self.session.id(node)))
    }

    /// Returns the entries of a view that the last look brought, in the order of the file. Being the leaf makes none
    /// of them shown, since the next line takes that away.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub(crate) fn new_rows(&self, view: &View<'_>) -> Result<Vec<NewRow>> {
        let session = &self.session;
        let has_row: Vec<bool> = session.nodes().map(|node| self.has_row(node)).collect();
        let within: Vec<bool> = (0..).zip(&has_row).map(|(at, has_row)| at >= self.unseen && !has_row).collect();
        if !within.contains(&true) {
            return Ok(Vec::new());
        }
        let is_new = view.added(&mut Bodies::new(session), &within)?;
        // By entry: the nearest one above it that has a row, or gets one now.
        let mut above: Vec<Option<NodeId>> = vec![None; session.len()];
        for node in walk::display_order(session, None) {
            let Some(parent) = session.parent(node) else { continue };
            let is_shown = has_row[parent.index()] || is_new[parent.index()];
            above[node.index()] = if is_shown { Some(parent) } else { above[parent.index()] };
        }
        let mut last = self.last.as_deref().and_then(|id| session.find(id));
        let mut rows = Vec::new();
        for node in session.nodes().filter(|node| is_new[node.index()]) {
            let place = match above[node.index()].or_else(|| session.parent(node)) {
                Some(above) if Some(above) == last => RowPlace::Continues,
                Some(above) => RowPlace::After(above),
                None if session.missing_parent(node).is_some() => RowPlace::Continues,
                None if last.is_none() => RowPlace::Continues,
                None => RowPlace::Root,
            };
            rows.push(NewRow { node, place });
            last = Some(node);
        }
        Ok(rows)
    }
}

/// Returns the state of what has to be a regular file: to open a pipe would wait for its other end.
fn state(path: &Path) -> Result<FileState> {
    let meta = fs::metadata(path).map_err(Error::io("cannot open"))?;
    if meta.is_file() { Ok(FileState::of(&meta)) } else { Err(cannot_follow("it is not a regular file")) }
}

fn open(path: &Path) -> Result<(Source, FileState)> {
    state(path)?;
    let source = Source::open(path)?;
    let state = source.state().ok_or_else(|| cannot_follow("it is not a regular file"))?;
    Ok((source, state))
}

/// Reads the whole lines of a session: a last line that is still being written waits.
fn load(source: Source, options: LoadOptions<'_>, jobs: usize) -> Result<Session> {
    let end = source.last_line_end(0)?.unwrap_or(0);
    Session::load(source.up_to(end), options, jobs)
}

fn cannot_follow(why: &'static str) -> Error {
    Error::Io { doing: "cannot follow", cause: io::Error::new(io::ErrorKind::InvalidInput, why) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{FollowedSession, Look, RowPlace};
    use crate::core::read::load::LoadOptions;
    use crate::core::session::sample::{HEADER, calls, entry, label, message, result};
    use crate::core::tree::filter::Filter;
    use crate::core::tree::view::View;

    /// What is done to the file before a look.
    enum Change<'a> {
        /// Bytes are added.
        Add(&'a str),
        /// It is written anew, in place.
        Write(&'a str),
        /// Another file takes its name.
        Replace(&'a str),
        Remove,
    }

    use Change::{Add, Remove, Replace, Write};

    fn change(path: &Path, change: &Change<'_>) {
        match change {
            Add(text) => {
                let before = fs::read_to_string(path).unwrap();
                fs::write(path, before + text).unwrap();
            }
            Write(text) => fs::write(path, text).unwrap(),
            Replace(text) => {
                let new = path.with_extension("new");
                fs::write(&new, text).unwrap();
                fs::rename(new, path).unwrap();
            }
            Remove => fs::remove_file(path).unwrap(),
        }
    }

    /// Returns the new rows, each with what it says of its place.
    fn rows(followed: &mut FollowedSession, filter: Filter) -> String {
        let rows = followed.new_rows(&View { filter, ..View::default() }).unwrap();
        let session = followed.session();
        let said = rows.iter().map(|row| match row.place {
            RowPlace::Continues => session.id(row.node).to_owned(),
            RowPlace::After(above) => format!("{}({})", session.id(row.node), session.id(above)),
            RowPlace::Root => format!("{}()", session.id(row.node)),
        });
        let said = said.collect::<Vec<_>>().join(" ");
        followed.printed(rows.iter().map(|row| row.node));
        said
    }

    /// Follows a file through changes, and compares what each look finds and prints.
    fn check(name: &str, filter: Filter, start: &str, changes: &[(Change<'_>, &str, &str)]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, start).unwrap();
        let mut followed = FollowedSession::open(&path, LoadOptions::INDEX_ONLY, 1).unwrap();
        rows(&mut followed, filter);
        for (at, (next, look, expected)) in changes.iter().enumerate() {
            change(&path, next);
            let found = followed.look(&path, 1);
            let found_rows = if found.is_ok() { rows(&mut followed, filter) } else { String::new() };
            let found = match found {
                Ok(Look::Nothing) => "nothing",
                Ok(Look::Appended) => "appended",
                Ok(Look::ReadAgain) => "again",
                Ok(Look::OtherSession) => "other",
                Err(_) => "error",
            };
            assert_eq!((found, found_rows.as_str()), (*look, *expected), "{name}, {at}");
            assert_eq!(followed.look(&path, 1).ok(), (found != "error").then_some(Look::Nothing), "{name}, {at}");
        }
    }

    #[test]
    fn each_look_finds_what_is_new_and_nothing_twice() {
        let user = |id: &str, parent: &str| message(id, parent, "user", "text") + "\n";
        let start = format!("{HEADER}\n{}{}", user("a", ""), user("b", "a"));
        let (c, d, e) = (user("c", "b"), user("d", "c"), user("e", "a"));
        let all = [start.as_str(), &c, &d].concat();
        let (front, rest) = c.split_at(40);
        let other = all.replace("s-1", "s-2");
        let label = label("l", "d", "a", "plan") + "\n";
        let orphan = user("x", "gone");
        check(
            "appends",
            Filter::All,
            &start,
            &[
                (Add(""), "nothing", ""),
                (Add(&c), "appended", "c"),
                (Add(&[&*d, &e].concat()), "appended", "d e(a)"),
                (Add(&user("f", "e")), "appended", "f"),
                (Add(&user("g", "")), "appended", "g()"),
                (Add("\n"), "appended", ""),
                (Add("no json\n"), "appended", ""),
                (Add(&label), "again", "l(d)"),
                (Add(&orphan), "again", "x"),
                (Add(&user("a", "")), "again", ""),
                (Add(&user("h", "g")), "appended", "h(g)"),
            ],
        );
        check(
            "half lines",
            Filter::All,
            &start,
            &[
                (Add(front), "nothing", ""),
                (Add(&rest[..9]), "nothing", ""),
                (Add(&[&rest[9..], &d[..1]].concat()), "appended", "c"),
                (Add(&d[1..d.len() - 1]), "nothing", ""),
                (Add("\n"), "appended", "d"),
            ],
        );
        check("a half line from the start", Filter::All, &[&start, front].concat(), &[(Add(rest), "appended", "c")]);
        check(
            "replaced",
            Filter::All,
            &start,
            &[
                (Replace(&all), "again", "c d"),
                (Replace(&start), "again", ""),
                (Replace(&[&*all, &e].concat()), "again", "e(a)"),
                (Add(&user("f", "e")), "appended", "f"),
            ],
        );
        check(
            "written in place",
            Filter::All,
            &all,
            &[(Write(""), "error", ""), (Write(&start), "again", ""), (Write(&all), "appended", "")],
        );
        check(
            "in place, with another front",
            Filter::All,
            &start,
            &[(Write(&all.replace("/home/mia", "/home/max")), "again", "c d")],
        );
        check(
            "removed",
            Filter::All,
            &start,
            &[(Remove, "error", ""), (Write("no session\n"), "error", ""), (Write(&all), "again", "c d")],
        );
        check(
            "another session",
            Filter::All,
            &all,
            &[(Replace(&other), "other", "a b c d"), (Replace(&all), "other", "a b c d")],
        );
        let old = start.replace(r#""version":3"#, r#""version":2"#);
        check("a migration", Filter::All, &old, &[(Add(&c), "again", "c"), (Replace(&all), "again", "d")]);
    }

    #[test]
    fn filters_show_what_comes_and_labels_what_gets_one() {
        let user = |id: &str, parent: &str| message(id, parent, "user", "text") + "\n";
        let start = format!("{HEADER}\n{}", user("a", ""));
        let call = calls("c", "a", &[("read", "x.rs")]) + "\n";
        let answer = result("t", "c", "call-0") + "\n";
        let fork = [entry("custom", "x", "a", r#""customType":"y""#) + "\n", user("d", "x")].concat();
        // A message without text is the leaf, but not for long; what it hides is passed over in places too.
        check(
            "default",
            Filter::Default,
            &start,
            &[(Add(&call), "appended", ""), (Add(&answer), "appended", "t"), (Add(&fork), "appended", "d(a)")],
        );
        check(
            "prompts",
            Filter::UserOnly,
            &start,
            &[(Add(&[&*call, &answer].concat()), "appended", ""), (Add(&user("d", "t")), "appended", "d")],
        );
        let name = |id: &str, parent: &str, target: &str| label(id, parent, target, "plan") + "\n";
        check(
            "labels",
            Filter::LabeledOnly,
            &start,
            &[
                (Add(&user("b", "a")), "appended", ""),
                (Add(&name("l", "b", "b")), "again", "b(a)"),
                (Add(&name("m", "l", "a")), "again", "a()"),
            ],
        );
    }

    #[test]
    fn an_append_is_read_from_where_the_file_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let user = |id: &str, parent: &str| message(id, parent, "user", "text") + "\n";
        let mut text = format!("{HEADER}\n{}", message("a", "", "user", &"long ".repeat(1_000_000)) + "\n");
        fs::write(&path, &text).unwrap();
        let mut followed = FollowedSession::open(&path, LoadOptions::INDEX_ONLY, 1).unwrap();
        let mut parent = "a".to_owned();
        for at in 0..20 {
            let id = format!("n{at}");
            text += &user(&id, &parent);
            fs::write(&path, &text).unwrap();
            assert_eq!(followed.look(&path, 1).unwrap(), Look::Appended);
            let read = followed.session().source.bytes_read().load(std::sync::atomic::Ordering::Relaxed);
            assert!(read < 4096, "{read} bytes");
            parent = id;
        }
        // So is a line that grows without an end.
        for _ in 0..20 {
            text += &"x".repeat(100_000);
            fs::write(&path, &text).unwrap();
            assert_eq!(followed.look(&path, 1).unwrap(), Look::Nothing);
            assert_eq!(followed.searched, text.len() as u64);
        }
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let packed = folder.path().join("s.jsonl.gz");
        fs::write(&packed, b"\x1f\x8b\x08 and more\n").unwrap();
        let open = |path: &Path| FollowedSession::open(path, LoadOptions::INDEX_ONLY, 1).unwrap_err().to_string();
        assert!(open(&packed).contains("it is compressed"));
        assert!(open(folder.path()).contains("it is not a regular file"));
        assert!(open(Path::new("/dev/null")).contains("it is not a regular file"));
    }
}
