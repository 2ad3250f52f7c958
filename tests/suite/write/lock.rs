//! The lock on a session file, against another implementation of its protocol.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};
use session_tree::core::disk::lock::{Lock, LockWait};
use session_tree::core::error::Error;

use crate::cli::{Scratch, message};
use crate::support::{self, Run};
use crate::write::scene::{
    append_like_an_agent, appended, bytes, dead_pid, end, error, forked, lines, mode, names, refused, start, untouched,
    wait_for, wait_until_prepared,
};

const RECORD: &str = ".s.jsonl.lock";
const V1: &str = "{\"type\":\"session\",\"id\":\"h\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n";

/// Another program that follows the protocol: a record made exclusively, read back, removed.
struct Peer {
    record: PathBuf,
    text: String,
}

impl Peer {
    /// Takes the lock for this process, which is alive, if nobody holds it.
    fn take(file: &Path) -> Option<Self> {
        let record = file.with_file_name(format!(".{}.lock", file.file_name().unwrap().to_str().unwrap()));
        let mut out = OpenOptions::new().write(true).create_new(true).open(&record).ok()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let text = format!("{}:{now}\n", std::process::id());
        out.write_all(text.as_bytes()).unwrap();
        (fs::read_to_string(&record).unwrap() == text).then_some(Self { record, text })
    }

    /// Releases the lock; nobody may have touched it.
    #[track_caller]
    fn give_back(self) {
        assert_eq!(fs::read_to_string(&self.record).unwrap(), self.text, "the lock was taken from its holder");
        fs::remove_file(self.record).unwrap();
    }
}

/// Leaves a record, as old as it is said.
fn leave(scratch: &Scratch, record: &[u8], age: Duration) {
    fs::write(scratch.path(RECORD), record).unwrap();
    File::open(scratch.path(RECORD)).unwrap().set_modified(SystemTime::now() - age).unwrap();
}

/// Checks that a label gets in, and that no lock is left.
#[track_caller]
fn gets_in(scratch: &Scratch, old: &[u8], run: Run) {
    run.ok();
    assert_eq!(appended(old, &bytes(scratch)).len(), 1);
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
}

/// Checks that a label does not get in, and that the record stays.
#[track_caller]
fn stays_out(scratch: &Scratch, old: &[u8], record: &[u8]) {
    let run = scratch.run("label s.jsonl u1 x --json --lock-timeout 0.3");
    assert_eq!(error(&run)["kind"], "locked", "{run:?}");
    assert_eq!(fs::read(scratch.path(RECORD)).unwrap(), record);
    assert_eq!(names(scratch.path("")), [RECORD, "s.jsonl"]);
    assert_eq!(bytes(scratch), old);
}

#[test]
fn live_lock_holder_is_waited_for_and_named() {
    let scratch = forked();
    let old = bytes(&scratch);
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    for line in
        ["label s.jsonl u1 x", "label s.jsonl b1 y", "navigate s.jsonl u1 --save", "navigate s.jsonl u1 --summary x"]
    {
        let start = Instant::now();
        let run = scratch.run(&format!("{line} --json --lock-timeout 0.3"));
        let error = error(&run);
        assert!((300..9000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        assert_eq!((&error["kind"], &error["path"]), (&json!("locked"), &json!("s.jsonl")));
        assert!(error["message"].as_str().unwrap().contains(&std::process::id().to_string()), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("--lock-timeout"), "{error}");
        assert_eq!(bytes(&scratch), old);
        assert_eq!(names(scratch.path("")), [RECORD, "s.jsonl"]);
    }
    peer.give_back();
}

#[test]
fn whole_file_change_waits_for_lock() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    let run = scratch.run("migrate s.jsonl --format=jsonl --lock-timeout 0.2 --backup");
    let row: Value = serde_json::from_str(run.stdout.trim()).unwrap();
    assert_eq!((&row["status"], run.code), (&json!("failed"), 2));
    assert!(row["error"]["message"].as_str().unwrap().contains("lock"), "{row}");
    let run = scratch.run("label s.jsonl @ x --json --lock-timeout 0.2");
    assert_eq!(error(&run)["kind"], "locked");
    peer.give_back();
    untouched(&scratch, V1.as_bytes());
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    let child = start(&mut scratch.command(["migrate", "s.jsonl"]));
    wait_for("a temporary file", || names(scratch.path("")).iter().any(|name| name.ends_with(".tmp")));
    assert_eq!(bytes(&scratch), V1.as_bytes());
    peer.give_back();
    assert_eq!(end(child).ok().lines().last(), Some("1 file: 1 migrated"));
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
}

#[test]
fn lock_released_in_time_is_taken() {
    let scratch = forked();
    let old = bytes(&scratch);
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    let child = start(&mut scratch.command(["label", "s.jsonl", "u1", "x"]));
    wait_until_prepared(&child);
    assert_eq!(bytes(&scratch), old);
    peer.give_back();
    gets_in(&scratch, &old, end(child));
}

#[test]
fn reading_and_dry_runs_take_no_lock() {
    let scratch = forked();
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    for line in [
        "tree s.jsonl",
        "label s.jsonl",
        "context s.jsonl",
        "navigate s.jsonl u1",
        "navigate s.jsonl u1 --save --dry-run",
        "branch s.jsonl u2 --output new",
        "migrate s.jsonl",
        "migrate s.jsonl --output new2",
    ] {
        scratch.run(&format!("{line} --quiet")).ok();
    }
    peer.give_back();
}

#[test]
fn lock_of_dead_process_is_taken_over() {
    let scratch = forked();
    let records = [
        format!("{}:1767607201000\n", dead_pid()),
        format!("{}:99999999999999\n", dead_pid()),
        "2147483647:0\n".to_owned(),
    ];
    for (at, record) in records.iter().enumerate() {
        let old = bytes(&scratch);
        leave(&scratch, record.as_bytes(), Duration::ZERO);
        gets_in(&scratch, &old, scratch.run(&format!("label s.jsonl u1 x{at} --lock-timeout 0.5")));
    }
    let scratch = Scratch::bytes(V1.as_bytes());
    leave(&scratch, format!("{}:1\n", dead_pid()).as_bytes(), Duration::ZERO);
    scratch.run("migrate s.jsonl --lock-timeout 0.5").ok();
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
}

#[test]
fn lock_of_dead_process_stays_at_the_first_look() {
    let scratch = forked();
    let record = format!("{}:1\n", dead_pid());
    leave(&scratch, record.as_bytes(), Duration::ZERO);
    let run = scratch.run("label s.jsonl u1 x --json --lock-timeout 0");
    assert_eq!((&error(&run)["kind"], fs::read_to_string(scratch.path(RECORD)).ok()), (&json!("locked"), Some(record)));
}

/// Records that are not valid.
fn invalid() -> Vec<Vec<u8>> {
    let own = std::process::id();
    let texts = ["", "\n", "garbage\n", "0:1\n", "-5:1\n", "1:\n", ":1\n", "1:1:1\n", "{\"pid\":1}\n"];
    let mut records: Vec<_> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    records.extend([format!("{own}:1767607201000").into_bytes(), format!("{own}\n").into_bytes()]);
    records.extend([b"\xff\xfe:1\n".to_vec(), b"1".repeat(5000), vec![0; 20]]);
    records
}

#[test]
fn invalid_lock_record_is_taken_over_after_two_seconds() {
    let scratch = forked();
    for (at, record) in invalid().iter().enumerate() {
        let old = bytes(&scratch);
        leave(&scratch, record, Duration::from_millis(2100));
        gets_in(&scratch, &old, scratch.run(&format!("label s.jsonl u1 x{at} --lock-timeout 0.5")));
    }
}

#[test]
fn fresh_invalid_lock_record_is_respected() {
    let scratch = forked();
    let old = bytes(&scratch);
    for record in invalid() {
        leave(&scratch, &record, Duration::ZERO);
        stays_out(&scratch, &old, &record);
    }
    leave(&scratch, b"", Duration::from_millis(1200));
    let start = Instant::now();
    gets_in(&scratch, &old, scratch.run("label s.jsonl u1 x --lock-timeout 5"));
    assert!(start.elapsed() > Duration::from_millis(600), "it was not ripe yet");
}

#[test]
fn old_lock_record_of_live_process_is_respected() {
    let scratch = forked();
    let old = bytes(&scratch);
    let record = format!("{}:1\n", std::process::id());
    leave(&scratch, record.as_bytes(), Duration::from_secs(100_000));
    stays_out(&scratch, &old, record.as_bytes());
}

#[test]
fn lock_record_with_own_process_id_is_taken_over() {
    // In a container ids start at 1 again: the one that was killed had the same.
    let scratch = forked();
    let old = bytes(&scratch);
    let script = format!("echo $$:1 >{RECORD}; exec \"$@\"");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_session-tree")]).current_dir(scratch.path(""));
    command.args(["label", "s.jsonl", "u1", "x", "--lock-timeout", "0.5"]).stdin(Stdio::null());
    gets_in(&scratch, &old, support::finish(&mut command));
}

#[test]
fn concurrent_takers_of_dead_lock_get_it_one_by_one() {
    for round in 0..8 {
        let scratch = forked();
        let old = bytes(&scratch);
        let record = if round % 2 == 0 { format!("{}:1\n", dead_pid()) } else { String::new() };
        leave(&scratch, record.as_bytes(), Duration::from_secs(3));
        let children: Vec<_> =
            (0..5).map(|at| start(&mut scratch.command(["label", "s.jsonl", "u1", &format!("n{at}")]))).collect();
        children.into_iter().for_each(|child| drop(end(child).ok()));
        let new = appended(&old, &bytes(&scratch));
        let mut parent = json!("b2");
        for line in &new {
            assert_eq!(line["parentId"], parent, "two were in at once");
            parent = line["id"].clone();
        }
        assert_eq!(new.len(), 5);
        assert_eq!(names(scratch.path("")), ["s.jsonl"], "round {round}");
    }
}

#[test]
fn lock_record_is_beside_target_of_link() {
    let scratch = forked();
    fs::create_dir(scratch.path("links")).unwrap();
    symlink("../s.jsonl", scratch.path("links/l.jsonl")).unwrap();
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    let run = scratch.run("label links/l.jsonl u1 x --json --lock-timeout 0.1");
    assert_eq!(error(&run)["kind"], "locked");
    peer.give_back();
    let elsewhere = Peer::take(&scratch.path("links/l.jsonl")).unwrap();
    scratch.run("label links/l.jsonl u1 x --lock-timeout 0.1").ok();
    elsewhere.give_back();
}

#[test]
fn flock_of_another_process_is_respected() {
    let scratch = forked();
    let old = bytes(&scratch);
    let file = File::open(scratch.path("s.jsonl")).unwrap();
    file.lock().unwrap();
    refused(&scratch, &old, &scratch.run("label s.jsonl u1 x --json --lock-timeout 0.2"), "locked");
    file.unlock().unwrap();
    file.lock_shared().unwrap();
    refused(&scratch, &old, &scratch.run("label s.jsonl u1 x --json --lock-timeout 0"), "locked");
    drop(file);
    gets_in(&scratch, &old, scratch.run("label s.jsonl u1 x --lock-timeout 0"));
}

#[test]
fn lock_timeout_is_seconds() {
    let scratch = forked();
    let old = bytes(&scratch);
    for text in ["x", "", "-1", "inf", "nan", "1e300", "1s"] {
        let run = scratch.args(["label", "s.jsonl", "u1", "x", "--json", &format!("--lock-timeout={text}")]);
        refused(&scratch, &old, &run, "usage");
    }
}

/// Waits for nobody, and for no signal.
fn wait() -> LockWait<'static> {
    LockWait { timeout: Duration::ZERO, now: &|| 1_767_607_201_000, stop: &|| None }
}

#[test]
fn held_lock_excludes_others_and_has_format_of_agents() {
    let scratch = forked();
    let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
    let lock = Lock::take(&path, wait()).unwrap();
    let text = fs::read_to_string(scratch.path(RECORD)).unwrap();
    assert_eq!(text, format!("{}:1767607201000\n", std::process::id()));
    assert_eq!(mode(scratch.path(RECORD)), 0o600);
    assert!(Peer::take(&path).is_none(), "a peer gets in");
    assert!(File::open(&path).unwrap().try_lock().is_err(), "the file itself is not locked");
    assert!(matches!(Lock::take(&path, wait()), Err(Error::Locked { .. })));
    drop(lock);
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
    Peer::take(&path).unwrap().give_back();
    drop(Lock::take(&path, wait()).unwrap());
}

#[test]
fn lock_record_taken_over_by_others_is_not_removed() {
    let scratch = forked();
    let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
    let lock = Lock::take(&path, wait()).unwrap();
    let other = format!("{}:7\n", dead_pid());
    fs::write(scratch.path(RECORD), &other).unwrap();
    drop(lock);
    assert_eq!(fs::read_to_string(scratch.path(RECORD)).unwrap(), other);
}

/// Appends a child of an entry while a run waits for the lock. Gives the session as it is then, and
/// what became of the run.
#[track_caller]
fn meanwhile(scratch: &Scratch, parent: &str, line: &str) -> (Vec<u8>, Run) {
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    let child = start(&mut scratch.command(line.split(' ')));
    wait_until_prepared(&child);
    append_like_an_agent(&scratch.path("s.jsonl"), &message("c9", parent, "user", "meanwhile"));
    let now = bytes(scratch);
    peer.give_back();
    (now, end(child))
}

#[test]
fn entries_added_while_waiting_for_lock_are_seen() {
    for (line, came_at, parent) in [
        ("label s.jsonl u1 x --json", "b2", Some("c9")),
        ("label s.jsonl u1 x --json --leaf t2", "t2", Some("t2")),
        ("navigate s.jsonl u2 --save --json", "b2", Some("a1")),
        ("navigate s.jsonl u2 --label x --json", "b2", Some("a1")),
        ("navigate s.jsonl u2 --summary x --json", "b2", None),
        ("navigate s.jsonl u2 --summary x --json", "u1", None),
        ("navigate s.jsonl u2 --summary x --json --force", "b2", Some("a1")),
        ("navigate s.jsonl u2 --summary x --json --leaf a2", "a2", None),
        ("navigate s.jsonl u2 --summary x --json --leaf a2", "b2", Some("a1")),
        ("navigate s.jsonl u2 --summary x --json --leaf a2 --force", "a2", Some("a1")),
    ] {
        let scratch = forked();
        let (now, run) = meanwhile(&scratch, came_at, line);
        let Some(parent) = parent else {
            refused(&scratch, &now, &run, "changed");
            continue;
        };
        assert_eq!(run.code, 0, "{line}: {run:?}");
        assert_eq!(appended(&now, &bytes(&scratch))[0]["parentId"], parent, "{line}");
        assert_eq!(names(scratch.path("")), ["s.jsonl"]);
    }
}

/// Sends a signal to a run that waits for a lock.
#[track_caller]
fn interrupt(scratch: &Scratch, line: &str, signal: Signal, code: i32) -> Run {
    let old = bytes(scratch);
    let peer = Peer::take(&scratch.path("s.jsonl")).unwrap();
    let child = start(&mut scratch.command(line.split(' ')));
    wait_until_prepared(&child);
    let is_whole_file = old == V1.as_bytes();
    wait_for("a temporary file", || !is_whole_file || names(scratch.path("")).len() > 2);
    rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
    let start = Instant::now();
    let run = end(child);
    assert!(start.elapsed() < Duration::from_secs(5), "it went on waiting");
    assert_eq!(run.code, code, "{line}: {run:?}");
    peer.give_back();
    untouched(scratch, &old);
    run
}

#[test]
fn signal_ends_waiting_for_lock() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for line in
            ["label s.jsonl u1 x --json", "navigate s.jsonl u1 --save --json", "navigate s.jsonl u1 --summary x --json"]
        {
            let run = interrupt(&forked(), line, signal, code);
            assert_eq!(run.stdout, "");
            let error = lines(run.stderr.as_bytes()).pop().unwrap()["error"].clone();
            assert_eq!(error["kind"], "interrupted");
        }
        for line in ["label s.jsonl @ x --json", "migrate s.jsonl --format=jsonl", "migrate s.jsonl --backup"] {
            interrupt(&Scratch::bytes(V1.as_bytes()), line, signal, code);
        }
    }
}
