//! Writing into files of other versions: old ones are migrated in the same step, newer and unclear
//! ones are refused.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::Scratch;
use crate::support::{self, Run};
use crate::write::scene::{
    append_like_an_agent, appended, bytes, end, forked, mode, names, refused, set_mode, start, wait_until_prepared,
    warnings,
};

const V1: &str = concat!(
    r#"{"type":"session","id":"old-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first"}}"#,
    "\n{\"torn\n",
    r#"{"type":"message","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"hookMessage","content":"1.0e5"}}"#,
    "\n",
);

const V2: &str = concat!(
    r#"{"type":"session","version":2,"id":"old-2","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}"#,
    "\n",
    r#"{"type":"message","id":"u1","parentId":null,"message":{"role":"user","content":"first"},"n":1E5}"#,
    "\n",
    r#"{"type":"message","id":"h1","parentId":"u1","message":{"role":"hookMessage","content":"x"}}"#,
    "\n",
);

/// Returns what `migrate` makes of some bytes.
fn migrated(bytes: &[u8]) -> Vec<u8> {
    support::run_with_input(["migrate", "-", "--output", "-"], bytes).ok().into_bytes()
}

/// Runs a command line that writes one line into an old session, and checks what it did beside.
#[track_caller]
fn check(old: &str, line: &str, kind: &str) -> (Scratch, Run) {
    let scratch = Scratch::bytes(old.as_bytes());
    set_mode(scratch.path("s.jsonl"), 0o640);
    let run = scratch.run(line);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(warnings(&run).contains(&"migrated".to_owned()), "{run:?}");
    let [entry] = &appended(&migrated(old.as_bytes()), &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!(entry["type"], kind);
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
    assert_eq!(mode(scratch.path("s.jsonl")), 0o640);
    (scratch, run)
}

#[test]
fn label_migrates_old_version_in_same_step() {
    for old in [V1, V2] {
        let (scratch, run) = check(old, "label s.jsonl @ mark --json", "label");
        let rows = scratch.run("tree s.jsonl --format jsonl --filter all").json_lines();
        let leaf = rows.last().unwrap();
        assert_eq!(run.json()["written"][0], leaf["id"]);
        assert_eq!(leaf["parentId"], rows[rows.len() - 2]["id"]);
        assert_eq!(rows[rows.len() - 2]["label"], "mark", "`@` was the leaf of the old file");
    }
}

#[test]
fn saved_move_migrates_old_version_in_same_step() {
    check(V1, "navigate s.jsonl user:1 --save --json", "custom");
    check(V2, "navigate s.jsonl u1 --summary left --json", "branch_summary");
    check(V2, "navigate s.jsonl --root --save --json", "custom");
}

#[test]
fn move_without_save_does_not_migrate() {
    let scratch = Scratch::bytes(V1.as_bytes());
    for line in ["navigate s.jsonl user:1 --json", "navigate s.jsonl user:1 --save --dry-run --json"] {
        scratch.run(line).ok();
        assert_eq!(bytes(&scratch), V1.as_bytes());
    }
}

#[test]
fn migrated_ids_are_those_shown_before() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let rows = |scratch: &Scratch| {
        let rows = scratch.run("tree s.jsonl --format jsonl --filter all").json_lines();
        rows.iter().map(|row| (row["id"].clone(), row["parentId"].clone())).collect::<Vec<_>>()
    };
    let before = rows(&scratch);
    scratch.run("label s.jsonl user:1 mark").ok();
    assert_eq!(rows(&scratch)[..2], before);
}

#[test]
fn old_file_without_last_line_feed_gets_one() {
    let old = V2.strip_suffix('\n').unwrap();
    let scratch = Scratch::bytes(old.as_bytes());
    scratch.run("label s.jsonl u1 mark").ok();
    let [line] = &appended(&migrated(V2.as_bytes()), &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!(line["parentId"], "h1");
}

#[test]
fn old_file_with_unfinished_line_keeps_it() {
    let old = format!("{V2}{}", r#"{"type":"message","id":"t1","pare"#);
    let scratch = Scratch::bytes(old.as_bytes());
    let start = Instant::now();
    let run = scratch.run("label s.jsonl u1 mark --json");
    assert!(start.elapsed() >= Duration::from_millis(900), "its writer was given no time");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(warnings(&run).contains(&"unfinished-line".to_owned()), "{run:?}");
    let [line] = &appended(&migrated(old.as_bytes()), &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!(line["parentId"], "h1");
}

/// omp takes the line after such a one for the value.
#[test]
fn old_file_that_wants_a_value_is_ended_by_a_brace() {
    let old = format!("{V2}{}", r#"{"type":"message","id":"t1","parentId":"#);
    let scratch = Scratch::bytes(old.as_bytes());
    scratch.run("label s.jsonl u1 mark").ok();
    let new = String::from_utf8(bytes(&scratch)).unwrap();
    let start = String::from_utf8(migrated(old.as_bytes())).unwrap();
    let rest = new.strip_prefix(&start).and_then(|rest| rest.strip_prefix("\n}\n"));
    assert!(rest.is_some_and(|rest| rest.starts_with("{\"type\":\"label\"")), "{new}");
}

#[test]
fn old_file_finished_while_waiting_is_read_again() {
    let tail = r#"nt":null,"message":{"role":"user","content":"late"}}"#;
    let old = format!("{V2}{}", r#"{"type":"message","id":"t1","pare"#);
    let scratch = Scratch::bytes(old.as_bytes());
    let child = start(&mut scratch.command(["label", "s.jsonl", "u1", "mark"]));
    wait_until_prepared(&child);
    append_like_an_agent(&scratch.path("s.jsonl"), tail);
    end(child).ok();
    let whole = format!("{old}{tail}\n");
    let [line] = &appended(&migrated(whole.as_bytes()), &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!(line["parentId"], "t1");
}

#[test]
fn old_file_through_link_is_replaced_and_link_kept() {
    let scratch = Scratch::bytes(V2.as_bytes());
    fs::create_dir(scratch.path("links")).unwrap();
    symlink(scratch.path("s.jsonl"), scratch.path("links/l.jsonl")).unwrap();
    scratch.run("label links/l.jsonl u1 mark").ok();
    assert!(scratch.path("links/l.jsonl").is_symlink());
    assert_eq!(appended(&migrated(V2.as_bytes()), &bytes(&scratch)).len(), 1);
    assert_eq!(names(scratch.path("links")), ["l.jsonl"]);
}

#[test]
fn old_file_with_hard_link_is_migrated_with_warning() {
    let scratch = Scratch::bytes(V2.as_bytes());
    fs::create_dir(scratch.path("links")).unwrap();
    fs::hard_link(scratch.path("s.jsonl"), scratch.path("links/l.jsonl")).unwrap();
    let run = scratch.run("label s.jsonl u1 mark --json");
    assert!(warnings(&run).contains(&"hard-link".to_owned()), "{run:?}");
    assert_eq!(fs::read(scratch.path("links/l.jsonl")).unwrap(), V2.as_bytes());
    assert_eq!(fs::metadata(scratch.path("s.jsonl")).unwrap().nlink(), 1);
}

#[test]
fn current_file_with_hard_link_keeps_both_names() {
    let scratch = forked();
    fs::create_dir(scratch.path("links")).unwrap();
    fs::hard_link(scratch.path("s.jsonl"), scratch.path("links/l.jsonl")).unwrap();
    scratch.run("label s.jsonl u1 mark").ok();
    assert_eq!(fs::read(scratch.path("links/l.jsonl")).unwrap(), bytes(&scratch));
}

/// Checks that every command that writes refuses a file.
#[track_caller]
fn refuse(old: &[u8], entry: &str) {
    let scratch = Scratch::bytes(old);
    for line in ["label s.jsonl E mark", "label s.jsonl E --clear", "navigate s.jsonl E~1 --summary x"] {
        let run = scratch.run(&format!("{} --json", line.replace('E', entry)));
        refused(&scratch, old, &run, "unsupported-version");
    }
}

#[test]
fn newer_version_is_refused() {
    refuse(&fs::read(support::data("cases/c54-newer-version.jsonl")).unwrap(), "a0000002");
}

#[test]
fn header_without_version_but_entries_with_ids_is_refused() {
    refuse(V2.replace(r#""version":2,"#, "").as_bytes(), "h1");
}

#[test]
fn odd_version_is_treated_as_current() {
    let old = V2.replace(r#""version":2"#, r#""version":"three""#);
    let scratch = Scratch::bytes(old.as_bytes());
    scratch.run("label s.jsonl h1 mark").ok();
    assert_eq!(appended(old.as_bytes(), &bytes(&scratch))[0]["parentId"], json!("h1"));
}

#[test]
fn file_that_is_not_a_session_is_refused() {
    let cases = ["c15-corrupt-header", "c17-empty", "c17b-only-newlines"];
    for (name, kind) in cases.into_iter().zip(["not-a-session", "empty", "empty"]) {
        let old = fs::read(support::data(&format!("cases/{name}.jsonl"))).unwrap();
        let scratch = Scratch::bytes(&old);
        for line in
            ["label s.jsonl a0000001 x", "navigate s.jsonl @ --save", "branch s.jsonl @", "migrate --output - s.jsonl"]
        {
            let run = scratch.run(&format!("{line} --json"));
            refused(&scratch, &old, &run, kind);
        }
    }
}
