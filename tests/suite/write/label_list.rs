//! `label --from`: many labels in one append, or none.

use std::fs;

use serde_json::{Value, json};

use crate::cli::Scratch;
use crate::support::{Run, run_with_input};
use crate::write::scene::{appended, bytes, forked, keys, lines, refused};

/// Runs `label --from` on a list beside the session's folder, so that nothing else is in it.
fn from(scratch: &Scratch, list: &[u8], args: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.txt");
    fs::write(&path, list).unwrap();
    let args = [&["label", "s.jsonl", "--json", "--from", path.to_str().unwrap()], args].concat();
    scratch.args(args)
}

/// Checks that a list is refused as a whole, and which of its lines is named.
#[track_caller]
fn refuse(list: &str, kind: &str, line: Option<u64>) {
    let scratch = forked();
    let old = bytes(&scratch);
    let error = refused(&scratch, &old, &from(&scratch, list.as_bytes(), &[]), kind);
    assert_eq!(error["line"], json!(line), "{list:?}: {error}");
}

#[test]
fn labels_from_list_are_chained_in_its_order() {
    let scratch = forked();
    let old = bytes(&scratch);
    let told = from(&scratch, b"u1\tstart\n\nlabel:none~0\t\n"[..9].as_ref(), &[]).json();
    assert_eq!(told.as_array().unwrap().len(), 1);
    let told = from(&scratch, b"u1\tone\r\n\n  \nuser:2\ttwo words\n@\tthree\nu1\tfour", &[]).json();
    let new = appended(&old, &bytes(&scratch));
    let rows: Vec<Value> = told.as_array().unwrap().clone();
    assert_eq!(rows.iter().map(keys).collect::<Vec<_>>(), vec![["label", "path", "targetId", "was", "written"]; 4]);
    let labels = [("u1", "one"), ("u1", "two words"), ("b2", "three"), ("u1", "four")];
    let was = [json!("start"), json!("one"), Value::Null, json!("two words")];
    for (at, (target, name)) in labels.into_iter().enumerate() {
        let (line, before) = (&new[at + 1], &new[at]);
        assert_eq!((&line["targetId"], &line["label"]), (&json!(target), &json!(name)));
        assert_eq!(line["parentId"], before["id"]);
        assert_eq!(
            rows[at],
            json!({"path": "s.jsonl", "targetId": target, "label": name, "was": was[at], "written": [line["id"]]})
        );
    }
    assert_eq!(new[0]["parentId"], "b2");
}

#[test]
fn list_can_come_from_standard_input() {
    let scratch = forked();
    let path = scratch.path("s.jsonl");
    let run = run_with_input(["label", path.to_str().unwrap(), "--from", "-"], b"u1\tone\na1\ttwo\n");
    assert_eq!(run.ok(), "labelled u1  [one] user: first\nlabelled a1  [two] assistant: one\n");
    assert_eq!(lines(&bytes(&scratch)).len(), 8 + 2);
}

#[test]
fn entries_of_list_are_resolved_before_any_write() {
    let scratch = forked();
    assert_eq!(from(&scratch, b"u1\tone\n@\ttwo\n@\tthree\n", &[]).code, 0);
    let new = lines(&bytes(&scratch));
    assert_eq!(new[9]["targetId"], "b2", "`@` is the leaf as the file was read");
    assert_eq!(new[10]["targetId"], "b2");
    let old = bytes(&scratch);
    let run = from(&scratch, b"u2\tfresh\nlabel:fresh\tagain\n", &[]);
    refused(&scratch, &old, &run, "not-found");
}

#[test]
fn list_with_leaf_option_is_seen_from_that_leaf() {
    let scratch = forked();
    let old = bytes(&scratch);
    from(&scratch, b"@\tone\nuser:1\ttwo\n", &["--leaf", "t2"]).ok();
    let new = appended(&old, &bytes(&scratch));
    assert_eq!((&new[0]["parentId"], &new[0]["targetId"]), (&json!("t2"), &json!("t2")));
    assert_eq!((&new[1]["parentId"], &new[1]["targetId"]), (&new[0]["id"], &json!("u2")));
}

#[test]
fn mistake_in_list_names_its_line_and_writes_nothing() {
    refuse("u1\tgood\nno tab\n", "usage", Some(2));
    refuse("u1 good\n", "usage", Some(1));
    refuse("u1\tgood\n\na1\t\n", "usage", Some(3));
    refuse("u1\tgood\na1\t  \n", "usage", Some(2));
    refuse("u1\ttwo\ttabs\n", "usage", Some(1));
    refuse("u1\tbell\u{7}\n", "usage", Some(1));
}

#[test]
fn unknown_entry_in_list_names_its_line() {
    refuse("u1\tgood\n\nnothere\tx\n", "not-found", Some(3));
    refuse("u1~9\tx\n", "not-found", Some(1));
}

#[test]
fn list_without_labels_is_refused() {
    for list in ["", "\n\n", "  \n"] {
        refuse(list, "usage", None);
    }
}

#[test]
fn unreadable_list_is_reported() {
    let scratch = forked();
    let old = bytes(&scratch);
    let run = scratch.run("label s.jsonl --from /nonexistent/list --json");
    let error = refused(&scratch, &old, &run, "io");
    assert_eq!(error["path"], "/nonexistent/list");
    refused(&scratch, &old, &from(&scratch, b"u1\t\xff\n", &[]), "io");
}

#[test]
fn list_writes_what_is_not_there_yet() {
    let scratch = forked();
    from(&scratch, b"u1\tone\na1\ttwo\n", &[]).ok();
    let old = bytes(&scratch);
    let told = from(&scratch, b"u1\tone\na1\tthree\na1\tthree\nb2\tone\n", &["--move"]).json();
    let written: Vec<_> = told.as_array().unwrap().iter().map(|row| row["written"].as_array().unwrap().len()).collect();
    assert_eq!(written, [0, 1, 0, 2]);
    assert_eq!(appended(&old, &bytes(&scratch)).len(), 3);
    assert_eq!((&told[2]["was"], &told[3]["takenFrom"]), (&json!("three"), &json!(["u1"])));
    // The same list again writes nothing.
    let old = bytes(&scratch);
    assert_eq!(from(&scratch, b"a1\tthree\nb2\tone\n", &["--move"]).code, 0);
    assert_eq!(bytes(&scratch), old);
}

#[test]
fn list_of_thousands_is_one_append() {
    let scratch = forked();
    let old = bytes(&scratch);
    let list: String = (0..5000).map(|at| format!("u1\tlabel {at}\n")).collect();
    from(&scratch, list.as_bytes(), &[]).ok();
    let new = appended(&old, &bytes(&scratch));
    assert_eq!(new.len(), 5000);
    let mut ids: Vec<_> = new.iter().map(|line| line["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5000, "every id is new");
}
