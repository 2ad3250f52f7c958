//! `navigate`: the texts that go in and out, and what is printed for people.

use std::fs;

use serde_json::{Value, json};

use crate::cli::{Scratch, message};
use crate::support::{Run, run_with_input};
use crate::write::scene::{appended, bytes, forked, refused};

/// Returns the summary entry that a command line leaves.
#[track_caller]
fn summary(scratch: &Scratch, args: &[&str]) -> Value {
    let old = bytes(scratch);
    scratch.args([&["navigate", "s.jsonl", "--json"], args].concat()).ok();
    let [line] = &appended(&old, &bytes(scratch))[..] else { panic!("not one line") };
    line.clone()
}

#[test]
fn summary_loses_exactly_one_last_line_feed() {
    for (given, kept) in [("x", "x"), ("x\n", "x"), ("x\n\n", "x\n"), (" x\r\n", " x\r"), ("\n\nx ", "\n\nx ")] {
        assert_eq!(summary(&forked(), &["a1", "--summary", given])["summary"], kept);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        fs::write(&path, given).unwrap();
        assert_eq!(summary(&forked(), &["a1", "--summary-file", path.to_str().unwrap()])["summary"], kept);
        let scratch = forked();
        let path = scratch.path("s.jsonl");
        let run = run_with_input(["navigate", path.to_str().unwrap(), "a1", "--summary-file", "-"], given.as_bytes());
        run.ok();
        let line = crate::write::scene::lines(&bytes(&scratch)).pop().unwrap();
        assert_eq!(line["summary"], kept);
    }
}

#[test]
fn blank_summary_is_refused() {
    let scratch = forked();
    let old = bytes(&scratch);
    for text in ["", "\n", " \t\r\n", "\u{3000}"] {
        let run = scratch.args(["navigate", "s.jsonl", "a1", "--json", "--summary", text]);
        refused(&scratch, &old, &run, "usage");
    }
    let run = scratch.run("navigate s.jsonl a1 --json --summary-file /dev/null");
    refused(&scratch, &old, &run, "usage");
}

#[test]
fn invalid_summary_options_write_nothing() {
    let scratch = forked();
    let old = bytes(&scratch);
    let check = |args: &str, kind: &str| {
        refused(&scratch, &old, &scratch.run(&format!("navigate s.jsonl a1 --json {args}")), kind);
    };
    check("--summary x --summary-file /dev/null", "usage");
    check("--summary-file /nonexistent", "io");
    check("--summary", "usage");
    for name in ["", " ", "a\nb", "\u{1b}"] {
        let args = ["navigate", "s.jsonl", "a1", "--json", "--summary", "x", "--label", name];
        refused(&scratch, &old, &scratch.args(args), "usage");
    }
}

#[test]
fn summary_of_no_entries_is_stored() {
    let line = summary(&forked(), &["t2", "--leaf", "a1", "--summary", "on purpose"]);
    assert_eq!((&line["parentId"], &line["summary"]), (&json!("t2"), &json!("on purpose")));
    assert_eq!(line["details"], json!({"readFiles": [], "modifiedFiles": []}));
}

#[test]
fn summary_details_list_files_of_abandoned_entries() {
    let line = summary(&forked(), &["b1", "--leaf", "t2", "--summary", "x"]);
    assert_eq!(line["details"], json!({"readFiles": ["src/a.rs"], "modifiedFiles": ["src/b.rs"]}));
}

#[test]
fn summary_is_in_the_context_afterwards() {
    let scratch = forked();
    let told = scratch.run("navigate s.jsonl u2 --summary tried --json").json();
    let context = scratch.run("context s.jsonl --json").json();
    let messages = context["messages"].as_array().unwrap();
    assert_eq!(told["context"]["messages"], messages.len());
    let last = messages.last().unwrap();
    assert_eq!((&last["role"], &last["summary"]), (&json!("branchSummary"), &json!("tried")));
    assert_eq!(last["fromId"], "a1");
}

/// Checks the words on stdout and the hint.
#[track_caller]
fn check(run: &Run, starts: &[(&str, &str)], ends: &str, hint: &str) {
    assert_eq!(run.code, 0, "{run:?}");
    let words = run.stdout.strip_suffix(ends).unwrap_or_else(|| panic!("the end is not {ends:?}: {run:?}"));
    for (row, (name, start)) in words.lines().zip(starts) {
        let value = row.strip_prefix(name).unwrap_or_else(|| panic!("no {name}: {run:?}"));
        assert!(value.trim_start().starts_with(start), "{name} is not {start}: {run:?}");
    }
    assert_eq!(words.lines().count(), starts.len(), "{run:?}");
    assert!(run.stderr.contains(hint), "no {hint:?}: {run:?}");
}

#[test]
fn text_output_says_what_moved_and_how_to_resume() {
    let rows = |to| [("from", "b2  assistant: two"), ("to", to), ("left", "2 entries behind")];
    let moved = |to, context| [&rows(to)[..], &[("context", context)]].concat();
    let run = forked().run("navigate s.jsonl u2");
    check(&run, &moved("before u2  user: second", "2 messages"), "\nsecond\n", "--leaf a1");
    assert!(run.stderr.contains("--save"), "{run:?}");
    let run = forked().run("navigate s.jsonl t2");
    check(&run, &moved("t2", "5 messages"), "", "--leaf t2");
    let scratch = forked();
    let run = scratch.run("navigate s.jsonl u2 --save");
    let saved = crate::write::scene::lines(&bytes(&scratch)).pop().unwrap()["id"].as_str().unwrap().to_owned();
    let rows = [&rows("before u2")[..], &[("written", saved.as_str()), ("context", "2 messages")]].concat();
    check(&run, &rows, "\nsecond\n", "`pi --session s.jsonl`");
    assert!(run.stderr.contains("`session-tree navigate s.jsonl b2 --save`"), "how to undo it: {run:?}");
    let run = forked().run("navigate s.jsonl b2");
    check(&run, &[("leaf", "b2"), ("context", "4 messages")], "", "`pi --session s.jsonl`");
    let run = forked().run("navigate s.jsonl --root");
    let rows = [("from", "b2"), ("to", "before the first entry"), ("left", "4 entries"), ("context", "0 messages")];
    check(&run, &rows, "", "--root");
    let run = forked().run("navigate s.jsonl u2 --save --dry-run");
    let rows = [("from", "b2"), ("would go", "before u2"), ("left", "2 entries")];
    let rows = [&rows[..], &[("to write", "custom"), ("context", "2 messages")]].concat();
    check(&run, &rows, "\nsecond\n", "--dry-run");
}

#[test]
fn saved_move_can_be_undone_as_hinted() {
    let scratch = forked();
    scratch.run("navigate s.jsonl u2 --save").ok();
    scratch.run("navigate s.jsonl b2 --save").ok();
    let leaf = crate::write::scene::lines(&bytes(&scratch)).pop().unwrap();
    assert_eq!(leaf["parentId"], "b2");
}

#[test]
fn quiet_prints_result_and_editor_text_without_hints() {
    let run = forked().run("navigate s.jsonl u2 --quiet");
    assert!(run.stdout.ends_with("\nsecond\n"), "{run:?}");
    assert_eq!(run.stderr, "");
}

#[test]
fn editor_text_keeps_lines_and_drops_escape_sequences() {
    let text = "one\n\n  two\u{1b}[31m\u{202e}\ttab\n\n";
    let scratch = Scratch::new(&[message("u1", "", "user", text), message("a1", "u1", "assistant", "x")]);
    let run = scratch.run("navigate s.jsonl u1");
    assert!(run.stdout.contains("\none\n\n  two"), "{run:?}");
    assert!(!run.stdout.contains(['\u{1b}', '\u{202e}']), "{run:?}");
    assert_eq!(scratch.run("navigate s.jsonl u1 --json").json()["editorText"], text);
}
