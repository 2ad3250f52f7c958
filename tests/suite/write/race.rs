//! A file that changes between being read and being written to. Timing would make these rare, so
//! they go through the library: the session is read, then the file changes, then it is written to.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use session_tree::core::disk::lock::LockWait;
use session_tree::core::disk::rights::Rights;
use session_tree::core::disk::write::{self, WriteOptions};
use session_tree::core::edit::commit::{Anchor, Commit, Committed, GrownSession, Guard, SessionFile};
use session_tree::core::edit::draft::{Draft, IdsAndTime};
use session_tree::core::edit::label::{self, LabelEdit};
use session_tree::core::error::{Error, Result};
use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::Session;

use crate::cli::{Scratch, entry, message};
use crate::write::scene::{append_like_an_agent, appended, bytes, dead_pid, forked, lines, names, untouched};

/// A session of version 2.
const OLD: &[u8] = b"{\"type\":\"session\",\"version\":2,\"id\":\"h\"}
{\"type\":\"message\",\"id\":\"u1\",\"message\":{}}
";

/// A session that was read, and the file that it was read from.
struct Stale {
    scratch: Scratch,
    path: PathBuf,
    session: Session,
}

impl Stale {
    fn new(scratch: Scratch) -> Self {
        let path = scratch.path("s.jsonl");
        let session = Session::load(Source::open(&path).unwrap(), LoadOptions::INDEX_ONLY, 1).unwrap();
        Self { scratch, path, session }
    }

    /// Labels `u1`, at the leaf or elsewhere.
    fn label(&self, anchor: Anchor) -> Result<Committed> {
        self.write(anchor, Guard::None, &|| {})
    }

    /// Appends a summary at `a1`, as a move from some leaf does.
    fn summarize(&self, guard: Guard) -> Result<Committed> {
        self.write(Anchor::At(Some("a1".to_owned())), guard, &|| {})
    }

    /// Writes a label; `meanwhile` is called whenever the file's own lock was just taken.
    fn write(&self, anchor: Anchor, guard: Guard, meanwhile: &(dyn Fn() + Sync)) -> Result<Committed> {
        let now = || {
            meanwhile();
            1_767_607_201_000
        };
        let wait = LockWait { timeout: Duration::from_millis(500), now: &now, stop: &|| None };
        let file = SessionFile { path: &self.path, options: WriteOptions { wait, force: false }, jobs: 1 };
        let commit = Commit { file, anchor, guard, needs: vec!["u1".to_owned()] };
        let mut count = 0;
        let mut fresh = || {
            count += 1;
            format!("{count:08x}")
        };
        let mut ids = IdsAndTime { now: &|| "2026-01-05T10:00:00.000Z".to_owned(), fresh: &mut fresh };
        let edit = LabelEdit { target: "u1".to_owned(), name: Some("mark".to_owned()) };
        commit.write(&self.session, &mut ids, &mut |draft: &mut Draft<'_>, _: &GrownSession<'_>| edit.append(draft))
    }

    /// Sets a label, taken from others if it `moves`. Returns the entries that it is taken from, how many others keep
    /// it, and how many lines are written.
    fn set(&self, target: &str, name: &str, moves: bool) -> (Vec<String>, usize, usize) {
        let wait = LockWait { timeout: Duration::from_millis(500), now: &|| 1_767_607_201_000, stop: &|| None };
        let file = SessionFile { path: &self.path, options: WriteOptions { wait, force: false }, jobs: 1 };
        let mut ids = ["0000000a", "0000000b", "0000000c", "0000000d"].into_iter().map(str::to_owned);
        let mut fresh = || ids.next().unwrap();
        let mut ids = IdsAndTime { now: &|| "2026-01-05T10:00:00.000Z".to_owned(), fresh: &mut fresh };
        let edits = [LabelEdit { target: target.to_owned(), name: Some(name.to_owned()) }];
        let (labels, done) = label::write(&edits, moves, file, &self.session, Anchor::Leaf, &mut ids).unwrap();
        let [label] = &labels[..] else { panic!("{labels:?}") };
        (label.taken_from.clone(), label.namesakes, done.map_or(0, |done| done.ids.len()))
    }

    /// Replaces the file that was read by another one, as agents rewrite sessions.
    fn replace(&self, bytes: &[u8]) {
        let new = self.path.with_extension("new");
        fs::write(&new, bytes).unwrap();
        fs::rename(new, &self.path).unwrap();
    }

    #[track_caller]
    fn is_changed(&self, result: Result<Committed>, now: &[u8]) {
        assert!(matches!(result, Err(Error::Changed { .. })), "{result:?}");
        untouched(&self.scratch, now);
    }

    /// Checks that one line was written after `now`; returns it.
    #[track_caller]
    fn is_done(&self, result: Result<Committed>, now: &[u8]) -> Value {
        let done = result.unwrap();
        let [line] = &appended(now, &bytes(&self.scratch))[..] else { panic!("not one line") };
        assert_eq!(line["id"], done.ids[0]);
        assert_eq!(names(self.scratch.path("")), ["s.jsonl"]);
        line.clone()
    }
}

fn at(id: &str) -> Option<String> {
    Some(id.to_owned())
}

/// Returns [`forked`] with more entries.
fn more(entries: &[String]) -> Vec<u8> {
    let mut bytes = bytes(&forked());
    entries.iter().for_each(|entry| bytes.extend_from_slice(format!("{entry}\n").as_bytes()));
    bytes
}

#[test]
fn more_than_a_megabyte_added_by_others_is_seen() {
    let stale = Stale::new(forked());
    append_like_an_agent(&stale.path, &message("c1", "b2", "user", &"x".repeat(3 << 20)));
    append_like_an_agent(&stale.path, &message("c2", "c1", "user", "last"));
    let now = bytes(&stale.scratch);
    assert_eq!(stale.is_done(stale.label(Anchor::Leaf), &now)["parentId"], "c2");
}

/// What others do meanwhile to a session in which `u1` is `x`: `ENTRY=NAME` labels, `ENTRY=` clears, `ENTRY` is a new
/// entry. Then the label that is set, and what comes of it: the entries that it is taken from, how many others keep
/// it, and how many lines are written.
const LABELLED_MEANWHILE: &[(&str, &str, &str)] = &[
    ("a1=green", "move u2=green", "taken a1 others 0 lines 2"),
    ("a1=green b1=green a1=red", "move u2=green", "taken b1 others 0 lines 2"),
    ("c1 c1=green b2=green", "move u2=green", "taken b2 c1 others 0 lines 3"),
    ("u1=", "move u2=x", "taken - others 0 lines 1"),
    ("u2=green b1=green", "move u2=green", "taken b1 others 0 lines 1"),
    ("gone=green", "move u2=green", "taken - others 0 lines 1"),
    ("gone=green gone", "move u2=green", "taken gone others 0 lines 2"),
    ("a1=x", "u2=x", "taken - others 2 lines 1"),
    ("u1=y", "u2=x", "taken - others 0 lines 1"),
    // What others have done by then is not done again.
    ("u2=green", "u2=green", "taken - others 0 lines 0"),
    ("u2=green", "move u2=green", "taken - others 0 lines 0"),
    ("u2=green u2=", "u2=green", "taken - others 0 lines 1"),
];

#[test]
fn label_is_taken_from_those_that_have_it_when_it_is_written() {
    let line = |word: &str| match word.split_once('=') {
        Some((target, name)) => {
            let name = if name.is_empty() { String::new() } else { format!(r#","label":"{name}""#) };
            entry("label", &format!("{target}-{}", name.len()), "b2", &format!(r#""targetId":"{target}"{name}"#))
        }
        None => message(word, "b2", "user", "meanwhile"),
    };
    for &(done, asked, expected) in LABELLED_MEANWHILE {
        let old = more(&[line("u1=x")]);
        let done: Vec<_> = done.split(' ').map(line).collect();
        // Appended to, or replaced by a longer one.
        for is_replaced in [false, true] {
            let stale = Stale::new(Scratch::bytes(&old));
            if is_replaced {
                stale.replace(&[&old[..], format!("{}\n", done.join("\n")).as_bytes()].concat());
            } else {
                done.iter().for_each(|line| append_like_an_agent(&stale.path, line));
            }
            let now = bytes(&stale.scratch);
            let (moves, edit) = asked.strip_prefix("move ").map_or((false, asked), |edit| (true, edit));
            let (target, name) = edit.split_once('=').unwrap();
            let (taken, others, count) = stale.set(target, name, moves);
            let taken = if taken.is_empty() { "-".to_owned() } else { taken.join(" ") };
            assert_eq!(format!("taken {taken} others {others} lines {count}"), expected, "{done:?} {asked}");
            assert_eq!(appended(&now, &bytes(&stale.scratch)).len(), count, "{done:?} {asked}");
        }
    }
    // An unfinished line is closed only if there is something to write.
    let stale = Stale::new(forked());
    let now = more(&[line("u2=green"), "{\"type\":".to_owned()]);
    let now = now.strip_suffix(b"\n").unwrap();
    fs::write(&stale.path, now).unwrap();
    assert_eq!(stale.set("u2", "green", false), (Vec::new(), 0, 0));
    untouched(&stale.scratch, now);
}

#[test]
fn children_read_before_do_not_trip_the_guard() {
    // Also if their line has no line feed, so that it is read again when writing.
    for end in ["\n", ""] {
        let old = more(&[message("t3", "t2", "assistant", "x")]);
        let old = [old.strip_suffix(b"\n").unwrap(), end.as_bytes()].concat();
        let stale = Stale::new(Scratch::bytes(&old));
        stale.is_done(stale.summarize(Guard::Childless(at("t2"))), &old);
    }
}

#[test]
fn file_that_stopped_being_a_session_is_reported() {
    for (now, kind) in [(&b"rubbish\n"[..], "not-a-session"), (b"", "empty")] {
        let stale = Stale::new(forked());
        stale.replace(now);
        let error = stale.label(Anchor::Leaf).unwrap_err();
        assert_eq!(error.kind().name(), kind);
        untouched(&stale.scratch, now);
    }
    let stale = Stale::new(forked());
    fs::remove_file(&stale.path).unwrap();
    assert_eq!(stale.label(Anchor::Leaf).unwrap_err().kind().name(), "io");
    assert_eq!(names(stale.scratch.path("")), Vec::<String>::new(), "a file was made");
}

#[test]
fn file_that_became_newer_version_is_refused() {
    let stale = Stale::new(forked());
    let now = String::from_utf8(more(&[])).unwrap().replace("\"version\":3", "\"version\":4").into_bytes();
    stale.replace(&now);
    assert_eq!(stale.label(Anchor::Leaf).unwrap_err().kind().name(), "unsupported-version");
    untouched(&stale.scratch, &now);
}

#[test]
fn another_session_or_version_in_the_same_place_is_seen() {
    let old = String::from_utf8(more(&[])).unwrap();
    let other = old.replace(r#""id":"s-1""#, r#""id":"other""#);
    let newer = old.replace("\"version\":3", "\"version\":4");
    assert!(other != old && newer != old);
    for (now, kind) in [(&other, "changed"), (&newer, "unsupported-version")] {
        for in_place in [true, false] {
            for guard in [Guard::None, Guard::Unmoved(at("b2"))] {
                let stale = Stale::new(forked());
                match in_place {
                    true => fs::write(&stale.path, now).unwrap(),
                    false => stale.replace(now.as_bytes()),
                }
                let error = stale.summarize(guard).unwrap_err();
                assert_eq!(error.kind().name(), kind, "in place: {in_place}");
                untouched(&stale.scratch, now.as_bytes());
            }
        }
    }
    // A version that is migrated when it is read so.
    let stale = Stale::new(forked());
    fs::write(&stale.path, old.replace("\"version\":3", "\"version\":2")).unwrap();
    assert_eq!(stale.label(Anchor::Leaf).unwrap().migrated_from, Some(2));
    assert!(bytes(&stale.scratch).starts_with(old.as_bytes()));
}

#[test]
fn file_rewritten_in_place_is_read_again() {
    // Longer than before, so that neither its length nor its name shows it.
    for repeats in [[100, 300], [1, 300]] {
        let stale = Stale::new(forked());
        let now = bytes(&Scratch::new(&[
            message("u1", "", "user", &"rewritten ".repeat(repeats[0])),
            message("x1", "u1", "assistant", &"with other entries ".repeat(repeats[1])),
        ]));
        fs::write(&stale.path, &now).unwrap();
        assert_eq!(stale.is_done(stale.label(Anchor::Leaf), &now)["parentId"], "x1");
    }
}

#[test]
fn file_that_keeps_changing_is_given_up_on() {
    for (times, is_done) in [(3, true), (1000, false)] {
        let entries: Vec<_> = (0..20).map(|at| message(&format!("m{at}"), "u1", "user", "x")).collect();
        let stale = Stale::new(Scratch::new(&[&[message("u1", "", "user", "x")][..], &entries].concat()));
        let left = AtomicUsize::new(times);
        let shrink = || {
            let stop = |left: usize| left.checked_sub(1);
            let order = Ordering::Relaxed;
            if left.fetch_update(order, order, stop).is_ok() {
                let bytes = fs::read(&stale.path).unwrap();
                let cut = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
                OpenOptions::new().write(true).open(&stale.path).unwrap().set_len(cut as u64).unwrap();
            }
        };
        let result = stale.write(Anchor::Leaf, Guard::None, &shrink);
        let now = bytes(&stale.scratch);
        match is_done {
            true => {
                assert_eq!(result.unwrap().ids.len(), 1);
                let lines = lines(&now);
                assert_eq!((lines.len(), &lines[19]["parentId"]), (2 + 17 + 1, &json!("m16")));
            }
            false => stale.is_changed(result, &now),
        }
    }
}

/// Replaces a file once. Called when we have just taken the file's own lock: the other program held
/// the record until now, puts its new file in place, and releases the record. What we locked is
/// not the session any more.
fn swap<'a>(stale: &'a Stale, now: &'a [u8]) -> impl Fn() + Sync + 'a {
    let once = Once::new();
    move || once.call_once(|| stale.replace(now))
}

#[test]
fn append_sees_rewrite_that_ended_just_before_the_lock() {
    let now = more(&[message("c1", "b2", "user", "rewritten")]);
    let stale = Stale::new(forked());
    let result = stale.write(Anchor::Leaf, Guard::None, &swap(&stale, &now));
    assert_eq!(stale.is_done(result, &now)["parentId"], "c1");
}

#[test]
fn whole_file_change_keeps_rewrite_that_ended_just_before_the_lock() {
    let now = [OLD, b"{\"type\":\"message\",\"id\":\"u9\",\"parentId\":\"u1\",\"message\":{}}\n"].concat();
    let stale = Stale::new(Scratch::bytes(OLD));
    let result = stale.write(Anchor::Leaf, Guard::None, &swap(&stale, &now));
    let found = String::from_utf8(bytes(&stale.scratch)).unwrap();
    assert!(found.contains("\"u9\""), "an entry of the other program is lost: {result:?}, {found}");
}

#[test]
fn whole_file_change_refuses_changed_file() {
    let grown = [OLD, b"{\"type\":\"message\",\"id\":\"u2\",\"parentId\":\"u1\",\"message\":{}}\n"].concat();
    let check = |change: &dyn Fn(&Stale), now: &[u8]| {
        let stale = Stale::new(Scratch::bytes(OLD));
        change(&stale);
        stale.is_changed(stale.label(Anchor::Leaf), now);
    };
    check(&|stale| fs::write(&stale.path, &grown).unwrap(), &grown);
    check(&|stale| stale.replace(&grown), &grown);
    check(&|stale| stale.replace(OLD), OLD);
    check(&|stale| fs::write(&stale.path, &OLD[..40]).unwrap(), &OLD[..40]);
}

#[test]
fn new_file_does_not_replace_one_made_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.jsonl");
    let wait = LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &|| None };
    let result = write::create(&path, &Rights::private(), wait, &mut |out| {
        out.write_all(b"ours").unwrap();
        fs::write(&path, b"theirs").unwrap();
        Ok(())
    });
    assert!(matches!(result, Err(Error::Exists { .. })), "{result:?}");
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(folder.path()), ["new.jsonl"]);
}

#[test]
fn next_run_removes_files_of_dead_run() {
    let pid = dead_pid();
    for session in [&bytes(&forked())[..], OLD] {
        let scratch = Scratch::bytes(session);
        fs::write(scratch.path(format!(".s.jsonl.session-tree.{pid}.tmp")), b"half").unwrap();
        fs::write(scratch.path(".s.jsonl.lock"), format!("{pid}:1\n")).unwrap();
        scratch.run("label s.jsonl u1 x").ok();
        assert_eq!(names(scratch.path("")), ["s.jsonl"]);
    }
}
