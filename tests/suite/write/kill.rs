//! Killed at any moment: what is left is the old or the new, and the next run clears up.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::Scratch;
use crate::write::scene::{Random, appended, bytes, end, forked, lines, names, start};

/// How often each command is killed.
const KILLS: usize = 200;

/// Kills runs at random moments, from their start to a little beyond their end.
struct Killer {
    random: Random,
    /// How long a run takes, as far as is known, in microseconds.
    longest: u64,
    killed: usize,
}

impl Killer {
    /// Measures the time of a run that is not disturbed.
    fn new(scratch: &Scratch, line: &str) -> Self {
        let start = Instant::now();
        scratch.run(line).ok();
        let longest = u64::try_from(start.elapsed().as_micros()).unwrap();
        Self { random: Random(longest), longest, killed: 0 }
    }

    /// Kills a run; returns whether it had come to its end before.
    fn run(&mut self, scratch: &Scratch, line: &str) -> bool {
        let mut child = start(&mut scratch.command(line.split(' ')));
        thread::sleep(Duration::from_micros(self.random.below(self.longest * 6 / 5)));
        let _ = child.kill();
        let is_done = end(child).code == 0;
        // A run that was killed took longer than the delay, one that was not, less.
        self.longest = if is_done { self.longest * 97 / 100 } else { self.longest * 101 / 100 }.max(1000);
        self.killed += usize::from(!is_done);
        is_done
    }

    /// Checks that there was something to see.
    fn was_seen(&self) {
        assert!((KILLS / 10..KILLS).contains(&self.killed), "{} of {KILLS} were killed", self.killed);
    }
}

#[test]
fn killed_label_leaves_whole_line_or_none() {
    let scratch = forked();
    // A label that is there already would not be written again.
    let line = |name: &str| format!("label s.jsonl u1 {name} --lock-timeout 5");
    let mut killer = Killer::new(&scratch, &line("first"));
    for at in 0..KILLS {
        let old = bytes(&scratch);
        let is_done = killer.run(&scratch, &line(&format!("mark-{at}")));
        let new = bytes(&scratch);
        assert!(new.starts_with(&old), "what was there changed");
        let added = &new[old.len()..];
        let is_whole = added.ends_with(b"\n") && added.iter().filter(|&&byte| byte == b'\n').count() == 1;
        if is_done || is_whole {
            assert!(is_whole, "a label that was told is not there");
            lines(added);
        }
        // At worst an unfinished last line.
        assert!(is_whole || !added.contains(&b'\n'), "{}", String::from_utf8_lossy(added));
        if names(scratch.path("")) != ["s.jsonl"] || !new.ends_with(b"\n") {
            scratch.run(&line(&format!("next-{at}"))).ok();
            assert_eq!(appended(&new, &bytes(&scratch)).len(), 1);
            assert_eq!(names(scratch.path("")), ["s.jsonl"], "the next run does not clear up");
        }
    }
    killer.was_seen();
}

/// Returns an old session that takes a while to migrate.
fn old_session() -> Vec<u8> {
    let line =
        format!("{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n", "x".repeat(120));
    format!("{{\"type\":\"session\",\"id\":\"h\"}}\n{}", line.repeat(700)).into_bytes()
}

/// Kills runs that replace an old file, each time a fresh one. `is_new` returns whether it was.
fn replaced(line: &str, kills: usize, is_new: impl Fn(&[u8]) -> bool) -> Killer {
    let old = old_session();
    let scratch = Scratch::bytes(&old);
    let mut killer = Killer::new(&scratch, line);
    for _ in 0..kills {
        fs::write(scratch.path("s.jsonl"), &old).unwrap();
        let is_done = killer.run(&scratch, line);
        let found = bytes(&scratch);
        assert!(is_new(&found) || (found == old && !is_done), "neither the old nor the new file");
        if names(scratch.path("")) == ["s.jsonl"] {
            continue;
        }
        // The next run that writes; into a new file that is a label.
        scratch.run(if found == old { line } else { "label s.jsonl @ x" }).ok();
        assert!(found != old || is_new(&bytes(&scratch)));
        assert_eq!(names(scratch.path("")), ["s.jsonl"], "the next run does not clear up");
    }
    killer
}

#[test]
fn killed_migration_leaves_old_or_new_file() {
    let scratch = Scratch::bytes(&old_session());
    scratch.run("migrate s.jsonl --output new").ok();
    let new = fs::read(scratch.path("new")).unwrap();
    replaced("migrate s.jsonl --lock-timeout 5", KILLS, |found| found == new).was_seen();
}

#[test]
fn killed_write_to_old_version_leaves_old_or_new_file() {
    let scratch = Scratch::bytes(&old_session());
    scratch.run("migrate s.jsonl --output new").ok();
    let new = fs::read(scratch.path("new")).unwrap();
    let is_new = |found: &[u8]| {
        found
            .strip_prefix(&new[..])
            .is_some_and(|label| label.ends_with(b"\n") && serde_json::from_slice::<serde_json::Value>(label).is_ok())
    };
    replaced("label s.jsonl @ mark --lock-timeout 5", 50, is_new);
}

#[test]
fn killed_fork_leaves_whole_file_or_none() {
    let scratch = Scratch::bytes(&old_session());
    let old = bytes(&scratch);
    let line = "branch s.jsonl --at @ --session-dir forks";
    fs::create_dir(scratch.path("forks")).unwrap();
    let mut killer = Killer::new(&scratch, line);
    for _ in 0..60 {
        killer.run(&scratch, line);
        let forks = names(scratch.path("forks"));
        for name in forks.iter().filter(|name| !name.starts_with('.')) {
            let fork = fs::read(scratch.path("forks").join(name)).unwrap();
            assert!(fork.ends_with(b"\n") && lines(&fork).len() == 701, "a fork is cut short");
        }
        scratch.run("branch s.jsonl user:1 --session-dir forks").ok();
        let left = names(scratch.path("forks"));
        assert!(left.iter().all(|name| !name.starts_with('.')), "the next run does not clear up: {left:?}");
        fs::remove_dir_all(scratch.path("forks")).unwrap();
        fs::create_dir(scratch.path("forks")).unwrap();
    }
    assert_eq!(bytes(&scratch), old);
    assert_eq!(names(scratch.path("")), ["forks", "s.jsonl"]);
}
