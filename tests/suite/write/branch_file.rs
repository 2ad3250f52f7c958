//! `branch`: where the new session goes, and what it must never do to others.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::{Value, json};

use crate::cli::{HEADER, Scratch, entry, label, message};
use crate::support::{self, Run, run_with_input};
use crate::write::scene::{
    appended, bytes, dead_pid, error, forked, keys, lines, mode, names, refused, set_mode, untouched, warnings,
};

/// Returns the one name in a folder that is not the source's.
#[track_caller]
fn new_name(scratch: &Scratch) -> String {
    let mut names = names(scratch.path(""));
    names.retain(|name| name != "s.jsonl");
    assert_eq!(names.len(), 1, "{names:?}");
    names.remove(0)
}

/// Returns the header of a file.
fn header(path: impl AsRef<std::path::Path>) -> Value {
    lines(&fs::read(path).unwrap()).remove(0)
}

/// Checks a file name of the agents' form against the header.
#[track_caller]
fn is_named_by(name: &str, header: &Value) {
    let time = header["timestamp"].as_str().unwrap().replace([':', '.'], "-");
    assert_eq!(name, format!("{time}_{}.jsonl", header["id"].as_str().unwrap()));
}

#[test]
fn fork_is_saved_beside_its_source() {
    let scratch = forked();
    let old = bytes(&scratch);
    let before = fs::metadata(scratch.path("s.jsonl")).unwrap();
    let told = scratch.run("branch s.jsonl u2 --json").json();
    let name = new_name(&scratch);
    let path = fs::canonicalize(scratch.path(&name)).unwrap();
    assert_eq!(told["sessionFile"], path.to_str().unwrap());
    is_named_by(&name, &header(&path));
    assert_eq!(bytes(&scratch), old);
    let after = fs::metadata(scratch.path("s.jsonl")).unwrap();
    assert_eq!((before.modified().unwrap(), before.ino()), (after.modified().unwrap(), after.ino()));
    assert_eq!(scratch.run(&format!("tree {name} --format jsonl")).json_lines().len(), 2);
}

#[test]
fn text_output_is_only_the_path() {
    let scratch = forked();
    let run = scratch.run("branch s.jsonl u2");
    let path = fs::canonicalize(scratch.path(new_name(&scratch))).unwrap();
    assert_eq!(run.stdout, format!("{}\n", path.display()));
    assert!(run.stderr.contains(&format!("`pi --session {}`", path.display())), "{run:?}");
    assert!(run.stderr.ends_with("\nsecond\n"), "the text to be sent again comes last: {run:?}");
    fs::remove_file(path).unwrap();
    let run = scratch.run("branch s.jsonl u2 --quiet");
    assert_eq!((run.stderr.as_str(), run.stdout.lines().count()), ("", 1));
}

#[test]
fn output_can_be_a_folder() {
    let scratch = forked();
    fs::create_dir(scratch.path("there")).unwrap();
    let told = scratch.run("branch s.jsonl u2 --json --session-dir there").json();
    let [name] = &names(scratch.path("there"))[..] else { panic!("not one file") };
    is_named_by(name, &header(scratch.path("there").join(name)));
    assert_eq!(told["sessionFile"], fs::canonicalize(scratch.path("there")).unwrap().join(name).to_str().unwrap());
    let old = bytes(&scratch);
    fs::remove_dir_all(scratch.path("there")).unwrap();
    for folder in ["there", "s.jsonl"] {
        let run = scratch.run(&format!("branch s.jsonl u2 --json --session-dir {folder}"));
        refused(&scratch, &old, &run, "io");
    }
}

#[test]
fn fork_has_permissions_of_source() {
    for wanted in [0o600, 0o640, 0o644, 0o666] {
        let scratch = forked();
        set_mode(scratch.path("s.jsonl"), wanted);
        scratch.run("branch s.jsonl u2").ok();
        assert_eq!(mode(scratch.path(new_name(&scratch))), wanted, "{wanted:o}");
    }
}

#[test]
fn fork_replaces_no_existing_file() {
    let scratch = forked();
    let old = bytes(&scratch);
    let refuse = |target: &str| {
        let run = scratch.run(&format!("branch s.jsonl u2 --json --output {target}"));
        assert_eq!(error(&run)["kind"], "exists", "{target}");
    };
    refuse("s.jsonl");
    untouched(&scratch, &old);
    fs::write(scratch.path("empty"), b"").unwrap();
    symlink("nowhere", scratch.path("dangling")).unwrap();
    fs::create_dir(scratch.path("folder")).unwrap();
    for target in ["empty", "./empty", "dangling", "folder"] {
        refuse(target);
    }
    assert_eq!(fs::read(scratch.path("empty")).unwrap(), b"");
    assert_eq!(names(scratch.path("")), ["dangling", "empty", "folder", "s.jsonl"]);
    assert_eq!(bytes(&scratch), old);
    let run = scratch.run("branch s.jsonl u2 --json --output missing/new.jsonl");
    assert_eq!(error(&run)["kind"], "io");
    assert_eq!(names(scratch.path("")), ["dangling", "empty", "folder", "s.jsonl"]);
}

#[test]
fn fork_on_standard_output_saves_no_file() {
    let scratch = forked();
    let old = bytes(&scratch);
    let run = scratch.run("branch s.jsonl b1 --output - --json");
    untouched(&scratch, &old);
    let made = lines(run.stdout.as_bytes());
    assert_eq!(keys(&made[0]), ["cwd", "id", "timestamp", "type", "version"]);
    let source = lines(&old);
    assert_eq!(made[1..], source[1..3]);
    let told = lines(run.stderr.as_bytes()).pop().unwrap()["result"].clone();
    assert_eq!(told["sessionFile"], Value::Null);
    assert_eq!(told["sessionId"], made[0]["id"]);
    assert_eq!((&told["entries"], &told["leafId"], &told["selectedText"]), (&json!(2), &json!("a1"), &json!("other")));
    assert!(!run.stderr.contains(scratch.path("").to_str().unwrap()), "no file path: {run:?}");
    let run = scratch.run("branch s.jsonl b1 --output -");
    assert_eq!(lines(run.stdout.as_bytes())[1..], source[1..3]);
}

#[test]
fn fork_of_standard_input_needs_output() {
    let source = bytes(&forked());
    let scratch = forked();
    let target = scratch.path("new.jsonl");
    let run = |args: &[&str]| run_with_input([&["branch", "-", "u2", "--json"], args].concat(), &source);
    let told = run(&["--output", target.to_str().unwrap()]).json();
    assert_eq!(told["parentSession"], Value::Null);
    assert_eq!(keys(&header(&target)), ["cwd", "id", "timestamp", "type", "version"]);
    assert_eq!(mode(&target), 0o600);
    assert_eq!(run(&["--output", "-"]).ok().lines().count(), 3);
    assert_eq!(error(&run(&[]))["kind"], "usage", "it has no folder");
}

#[test]
fn dry_run_makes_no_file() {
    let scratch = forked();
    let old = bytes(&scratch);
    for more in ["", " --output new.jsonl", " --output -", " --session-dir ."] {
        let told = scratch.run(&format!("branch s.jsonl u2 --json --dry-run{more}"));
        let told = if more.ends_with('-') {
            lines(told.stderr.as_bytes()).pop().unwrap_or_else(|| told.json())
        } else {
            told.json()
        };
        let told = told.get("result").cloned().unwrap_or(told);
        assert_eq!(
            (&told["dryRun"], &told["sessionFile"], &told["sessionId"]),
            (&json!(true), &Value::Null, &Value::Null)
        );
        assert_eq!((&told["entries"], &told["labels"], &told["leafId"]), (&json!(2), &json!(0), &json!("a1")));
        assert_eq!((&told["targetId"], &told["selectedText"]), (&json!("u2"), &json!("second")));
        untouched(&scratch, &old);
    }
    scratch.run("branch s.jsonl u2 --dry-run").ok();
    untouched(&scratch, &old);
}

#[test]
fn fork_at_other_than_user_message_is_refused() {
    let custom = entry("custom_message", "c1", "a1", r#""customType":"x","content":"y","display":true"#);
    let others = ["developer", "toolResult"].map(|role| message(role, "u1", role, "x"));
    let entries = [
        &[message("u1", "", "user", "x"), message("a1", "u1", "assistant", "y"), custom][..],
        &others,
        &[label("L1", "a1", "u1", "mark"), message("r1", "", "assistant", "z")],
    ];
    let scratch = Scratch::new(&entries.concat());
    let old = bytes(&scratch);
    for (id, what) in [
        ("a1", "assistant"),
        ("c1", "custom_message"),
        ("developer", "developer"),
        ("toolResult", "toolResult"),
        ("L1", "label"),
    ] {
        let error = refused(&scratch, &old, &scratch.run(&format!("branch s.jsonl {id} --json")), "not-a-user-message");
        let (message, hint) = (error["message"].as_str().unwrap(), error["hint"].as_str().unwrap());
        assert!(message.contains(id) && message.contains(what), "{error}");
        assert!(hint.contains("`u1`") && hint.contains(&format!("--at {id}")), "{error}");
    }
    let error = refused(&scratch, &old, &scratch.run("branch s.jsonl r1 --json"), "not-a-user-message");
    assert!(error["hint"].as_str().unwrap().contains("--at r1"), "{error}");
    for args in ["u1 --at a1", "u1 --output x --session-dir .", "--dry-run", "--output x", "--session-dir ."] {
        refused(&scratch, &old, &scratch.run(&format!("branch s.jsonl --json {args}")), "usage");
    }
}

#[test]
fn hostile_session_id_cannot_leave_the_folder() {
    let long = "x".repeat(300);
    let ids = ["../../../tmp/evil", "/etc/evil", "..", ".", "", "a/b", "a\\u0000b", "a\\nb", "-", "~", &long];
    for id in ids {
        let header = HEADER.replace("s-1", id);
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let path = inner.join("s.jsonl");
        let source = format!("{header}\n{}\n", message("u1", "", "user", "x"));
        fs::write(&path, &source).unwrap();
        let told = support::run(["branch", path.to_str().unwrap(), "--at", "u1", "--json"]).json();
        assert_eq!(names(folder.path()), ["inner"], "{id}");
        let mut made = names(&inner);
        made.retain(|name| name != "s.jsonl");
        assert_eq!(made.len(), 1, "{id}: {made:?}");
        is_named_by(&made[0], &self::header(inner.join(&made[0])));
        assert_eq!(told["sessionFile"], fs::canonicalize(&inner).unwrap().join(&made[0]).to_str().unwrap());
        assert!(!made[0].contains("evil") && !made[0].contains("xxx"));
        assert_eq!(fs::read_to_string(&path).unwrap(), source);
    }
    let scratch = Scratch::bytes(&fs::read(support::data("cases/c75-session-id-traversal.jsonl")).unwrap());
    scratch.run("branch s.jsonl a0000003").ok();
    assert_eq!(names(scratch.path("")).len(), 2);
}

#[test]
fn parent_session_of_linked_source_is_absolute() {
    let scratch = forked();
    fs::create_dir(scratch.path("links")).unwrap();
    symlink("../s.jsonl", scratch.path("links/l.jsonl")).unwrap();
    let told = scratch.run("branch links/l.jsonl u2 --json").json();
    let parent = told["parentSession"].as_str().unwrap();
    assert!(
        parent.starts_with('/')
            && fs::canonicalize(parent).unwrap() == fs::canonicalize(scratch.path("s.jsonl")).unwrap()
    );
    assert!(scratch.path("links/l.jsonl").is_symlink());
}

/// Checks that an old source is forked as version 3 shows it, and stays what it is.
#[track_caller]
fn old_source(source: &str, entries: usize) -> (Vec<Value>, Run) {
    let scratch = Scratch::bytes(source.as_bytes());
    let shown = scratch.run("tree s.jsonl --format jsonl --filter all --full").json_lines();
    let run = scratch.run("branch s.jsonl --at @ --output new.jsonl --json");
    assert_eq!(bytes(&scratch), source.as_bytes());
    let made = lines(&fs::read(scratch.path("new.jsonl")).unwrap());
    assert_eq!(made[0]["version"], 3);
    assert_eq!(made.len(), 1 + entries);
    for (line, row) in made[1..].iter().zip(&shown) {
        assert_eq!(line, &row["entry"]);
    }
    (made, run)
}

#[test]
fn fork_of_old_version_is_version_3() {
    let text = |name: &str| fs::read_to_string(support::data(&format!("cases/{name}.jsonl"))).unwrap();
    let (made, run) = old_source(&text("c52-v2-hook-message"), 3);
    assert_eq!(made[2]["message"]["role"], "custom");
    assert_eq!(made[2]["extraKey"], "keep me");
    assert_eq!(warnings(&run), Vec::<String>::new(), "the source was not migrated");
    let v1 = [
        r#"{"type":"session","id":"old","cwd":"/x"}"#,
        r#"{"type":"message","message":{"role":"user","content":"1"}}"#,
        r#"{"type":"message","message":{"role":"hookMessage","content":"2"}}"#,
        r#"{"type":"compaction","summary":"s","firstKeptEntryIndex":2,"tokensBefore":1}"#,
        "",
    ];
    let (made, _) = old_source(&v1.join("\n"), 3);
    assert_eq!(made[3]["firstKeptEntryId"], made[2]["id"]);
    assert_eq!(made[2]["parentId"], made[1]["id"]);
}

#[test]
fn fork_of_newer_version_warns_or_is_refused() {
    let scratch = Scratch::bytes(&fs::read(support::data("cases/c54-newer-version.jsonl")).unwrap());
    let old = bytes(&scratch);
    let run = scratch.run("branch s.jsonl --at a0000002 --json");
    assert_eq!(bytes(&scratch), old);
    if run.code == 0 {
        assert!(warnings(&run).contains(&"newer-version".to_owned()), "{run:?}");
    } else {
        assert_eq!(error(&run)["kind"], "unsupported-version");
    }
}

#[test]
fn source_without_last_line_feed_is_forked_and_unchanged() {
    let whole = bytes(&forked());
    let scratch = Scratch::bytes(whole.strip_suffix(b"\n").unwrap());
    let old = bytes(&scratch);
    scratch.run("branch s.jsonl --at b2 --output new.jsonl").ok();
    assert_eq!(bytes(&scratch), old);
    let new = fs::read(scratch.path("new.jsonl")).unwrap();
    assert!(new.ends_with(b"}\n"));
    assert_eq!(appended(&new[..new.iter().position(|&byte| byte == b'\n').unwrap() + 1], &new).len(), 4);
}

#[test]
fn fork_removes_temporary_file_of_dead_run() {
    let scratch = forked();
    let dead = format!(".other.jsonl.session-tree.{}.tmp", dead_pid());
    // The id of a dead run may be that of another program by now; what a live run writes is locked.
    let reused = format!(".reused.jsonl.session-tree.{}.tmp", std::process::id());
    let alive = format!(".other.jsonl.session-tree.{}.tmp", std::process::id());
    let others = [".other.jsonl.session-tree.x.tmp", ".other.tmp", "x.session-tree.1.tmp"];
    for name in [&dead, &reused, &alive].into_iter().map(String::as_str).chain(others) {
        fs::write(scratch.path(name), b"half").unwrap();
    }
    let held = fs::File::open(scratch.path(&alive)).unwrap();
    held.try_lock().unwrap();
    scratch.run("branch s.jsonl u2 --output new.jsonl").ok();
    let mut expected = vec![alive.as_str(), "new.jsonl", "s.jsonl"];
    expected.extend(others);
    expected.sort_unstable();
    assert_eq!(names(scratch.path("")), expected);
}
