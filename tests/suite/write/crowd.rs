//! Many writers at once on one file.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::cli::{Scratch, entry, message};
use crate::write::scene::{append_like_an_agent, bytes, lines, names};

const LABELLERS: usize = 8;
const LABELS: usize = 50;

/// Counts a writer down when it ends, also by a panic: the agent goes on until there is none.
struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn concurrent_writers_lose_no_entry_and_name_existing_parents() {
    let scratch = Scratch::new(&[message("u1", "", "user", "first"), message("a1", "u1", "assistant", "one")]);
    let path = scratch.path("s.jsonl");
    let running = AtomicUsize::new(LABELLERS);
    let added = thread::scope(|scope| {
        for labeller in 0..LABELLERS {
            let (scratch, running) = (&scratch, &running);
            scope.spawn(move || {
                let _running = Running(running);
                for at in 0..LABELS {
                    // As many as there are cores take turns; each must wait for the others.
                    let name = format!("{labeller}-{at}");
                    scratch.args(["label", "s.jsonl", "u1", &name, "--lock-timeout", "60"]).ok();
                }
            });
        }
        let agent = scope.spawn(|| {
            let mut parent = "a1".to_owned();
            let mut added = 0;
            while running.load(Ordering::Relaxed) > 0 {
                let id = format!("agent-{added}");
                append_like_an_agent(&path, &entry("custom", &id, &parent, &format!(r#""n":{added}"#)));
                parent = id;
                added += 1;
                thread::sleep(Duration::from_millis(10));
            }
            added
        });
        agent.join().unwrap()
    });
    let all = lines(&bytes(&scratch));
    let mut known = HashSet::new();
    let mut labels = HashSet::new();
    let mut seen = 0;
    for line in &all[1..] {
        let parent = &line["parentId"];
        assert!(parent.is_null() || known.contains(parent), "the parent of {line} is not there");
        assert!(known.insert(&line["id"]), "{line} has an id that is taken");
        if line["type"] == "label" {
            labels.insert(line["label"].as_str().unwrap());
        }
        if line["type"] == "custom" {
            assert_eq!(line["n"], seen, "an entry of the agent is missing");
            seen += 1;
        }
    }
    assert_eq!((labels.len(), seen), (LABELLERS * LABELS, added));
    assert_eq!(all.len(), 1 + 2 + LABELLERS * LABELS + added);
    assert!(added > 10, "the agent hardly wrote anything");
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
}

#[test]
fn of_many_that_take_a_label_one_has_it() {
    let entries: Vec<_> = (0..LABELLERS).map(|at| message(&format!("u{at}"), "", "user", "text")).collect();
    let (moved, shared) = (Scratch::new(&entries), Scratch::new(&entries));
    let warned = AtomicUsize::new(0);
    thread::scope(|scope| {
        for at in 0..LABELLERS {
            let (moved, shared, warned) = (&moved, &shared, &warned);
            scope.spawn(move || {
                let entry = format!("u{at}");
                let label = |scratch: &Scratch, args: &[&str]| {
                    scratch.args([&["label", "s.jsonl", &entry, "green", "--lock-timeout", "60"], args].concat())
                };
                label(moved, &["--move"]).ok();
                let run = label(shared, &["--json"]);
                assert_eq!(run.code, 0, "{}", run.stderr);
                warned.fetch_add(usize::from(run.stderr.contains("shared-label")), Ordering::Relaxed);
            });
        }
    });
    let holders = |scratch: &Scratch| scratch.run("label s.jsonl --json").json().as_array().unwrap().len();
    assert_eq!((holders(&moved), holders(&shared)), (1, LABELLERS));
    // All but the first find one that has it.
    assert_eq!(warned.load(Ordering::Relaxed), LABELLERS - 1);
}
