//! A session file that another process has open for writing.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use session_tree::core::disk::holder;

use crate::cli::{Scratch, entry};
use crate::write::scene::{Other, append_like_an_agent, appended, bytes, forked, lines, names, refused, untouched};

const V1: &str = "{\"type\":\"session\",\"id\":\"h\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n";

/// Command lines that append to [`forked`].
const APPENDING: [&str; 4] = [
    "label s.jsonl u1 x --json",
    "label s.jsonl b1 y --json",
    "navigate s.jsonl u1 --save --json",
    "navigate s.jsonl u1 --summary x --json",
];

#[test]
fn file_in_use_is_refused_and_holder_named() {
    for open in ["exec 3>>\"$1\"", "exec 3<>\"$1\"", "exec 9<\"$1\" 8>>\"$1\""] {
        let scratch = forked();
        let old = bytes(&scratch);
        let other = Other::start(open, &scratch.path("s.jsonl"));
        for line in APPENDING {
            let error = refused(&scratch, &old, &scratch.run(line), "in-use");
            let (message, hint) = (error["message"].as_str().unwrap(), error["hint"].as_str().unwrap());
            let program = fs::read_to_string(format!("/proc/{}/comm", other.pid())).unwrap();
            assert!(message.contains(program.trim()) && message.contains(&other.pid().to_string()), "{error}");
            assert!(hint.contains("close") && hint.contains("--force"), "{error}");
            assert_eq!(error["path"], "s.jsonl");
        }
        drop(other);
        scratch.run(APPENDING[0]).ok();
    }
}

#[test]
fn force_writes_to_file_in_use() {
    for line in APPENDING {
        let scratch = forked();
        let old = bytes(&scratch);
        let _other = Other::start("exec 3>>\"$1\"", &scratch.path("s.jsonl"));
        scratch.run(&format!("{line} --force")).ok();
        assert_eq!(appended(&old, &bytes(&scratch)).len(), 1, "{line}");
        assert_eq!(names(scratch.path("")), ["s.jsonl"]);
    }
}

#[test]
fn whole_file_change_of_file_in_use_is_refused() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let other = Other::start("exec 3>>\"$1\"", &scratch.path("s.jsonl"));
    refused(&scratch, V1.as_bytes(), &scratch.run("label s.jsonl @ x --json"), "in-use");
    for more in ["", " --backup"] {
        let run = scratch.run(&format!("migrate s.jsonl --format=jsonl{more}"));
        let row: Value = serde_json::from_str(run.stdout.trim()).unwrap();
        assert_eq!((&row["status"], &row["to"], run.code), (&json!("failed"), &json!(1), 2));
        assert!(row["error"]["message"].as_str().unwrap().contains(&other.pid().to_string()), "{row}");
        untouched(&scratch, V1.as_bytes());
    }
    scratch.run("migrate s.jsonl --force").ok();
    assert_eq!(lines(&bytes(&scratch))[0]["version"], 3);
}

#[test]
fn commands_that_do_not_write_ignore_holders() {
    let scratch = forked();
    let old = bytes(&scratch);
    let _other = Other::start("exec 3>>\"$1\"", &scratch.path("s.jsonl"));
    for line in [
        "tree s.jsonl",
        "label s.jsonl",
        "navigate s.jsonl u1",
        "navigate s.jsonl u1 --save --dry-run",
        "branch s.jsonl u2 --output -",
        "migrate s.jsonl",
        "migrate s.jsonl --output -",
    ] {
        scratch.run(&format!("{line} --quiet")).ok();
    }
    untouched(&scratch, &old);
}

#[test]
fn reader_is_not_a_holder() {
    let scratch = forked();
    let old = bytes(&scratch);
    let _other = Other::start("exec 3<\"$1\"", &scratch.path("s.jsonl"));
    scratch.run(APPENDING[0]).ok();
    assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
}

#[test]
fn holder_of_another_file_does_not_count() {
    let scratch = forked();
    let other = forked();
    let _other = Other::start("exec 3>>\"$1\"", &other.path("s.jsonl"));
    scratch.run(APPENDING[0]).ok();
}

#[test]
fn holder_by_another_name_counts() {
    let scratch = forked();
    let names = tempfile::tempdir().unwrap();
    let (soft, hard) = (names.path().join("soft"), scratch.path("hard"));
    symlink(scratch.path("s.jsonl"), &soft).unwrap();
    for name in [&soft, &hard] {
        if name == &hard {
            fs::hard_link(scratch.path("s.jsonl"), &hard).unwrap();
        }
        let _other = Other::start("exec 3>>\"$1\"", name);
        let error = crate::write::scene::error(&scratch.run(APPENDING[0]));
        assert_eq!(error["kind"], "in-use", "{name:?}");
    }
}

#[test]
fn holder_that_closes_before_second_look_does_not_count() {
    let scratch = forked();
    let path = scratch.path("s.jsonl");
    let gone = (0..20).any(|_| {
        let other = Other::start("exec 3>>\"$1\"", &path);
        thread::scope(|scope| {
            let looks = scope.spawn(|| {
                let start = Instant::now();
                (holder::find(&path), start.elapsed())
            });
            // Somewhere between the looks, or the next turn has to show it.
            thread::sleep(Duration::from_millis(40));
            drop(other);
            let (found, time) = looks.join().unwrap();
            found.is_none() && time >= Duration::from_millis(100)
        })
    });
    assert!(gone, "one look is enough for it");
    let other = Other::start("exec 3>>\"$1\"", &path);
    assert_eq!(holder::find(&path).map(|holder| holder.pid), Some(other.pid()));
}

#[test]
fn writer_that_opens_and_closes_per_line_does_not_count() {
    let scratch = forked();
    let path = scratch.path("s.jsonl");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut count = 0;
            while !is_over.load(Ordering::Relaxed) {
                count += 1;
                append_like_an_agent(&path, &entry("custom", &format!("w{count}"), "u1", ""));
                thread::sleep(Duration::from_millis(7));
            }
            count
        });
        for at in 0..25 {
            scratch.run(&format!("label s.jsonl u1 x{at} --json")).ok();
        }
        is_over.store(true, Ordering::Relaxed);
        let count = writer.join().unwrap();
        assert_eq!(lines(&bytes(&scratch)).len(), 8 + 25 + count);
    });
}
