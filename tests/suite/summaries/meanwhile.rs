//! What others do to the file while a hook or the summarizer runs, which may take minutes.

use std::fs;

use serde_json::{Value, json};

use crate::cli::{Scratch, message};
use crate::hooks::scene::{Scene, answer, each};
use crate::support::Run;
use crate::write::scene::{appended, bytes, error, forked, keys, names, wait_for, warnings};

/// Who does something to the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Summarizer,
    Hook,
    /// A hook that supplies the summary.
    Author,
}

/// Runs with somebody who runs a script on the file before it is written.
fn run(scene: &Scene, line: &str, who: Who, script: &str) -> Run {
    let script = format!("case $kind in session_tree|session_branch) exit ;; esac\n{script}\n");
    let line = format!("{line} --json");
    match who {
        Who::Summarizer => {
            scene.run(&line, &["--summarize", "--summarizer", &scene.summarizer(&format!("{script}echo done"))])
        }
        Who::Hook => scene.run(&line, &["--hook", &scene.hook("hook", &script)]),
        Who::Author => {
            let script = format!("{script}echo '{}'", answer("done"));
            scene.run(&line, &["--summarize", "--hook", &scene.hook("hook", &script)])
        }
    }
}

/// Runs with somebody who appends a line; returns what was written after it.
#[track_caller]
fn appends(session: Scratch, line: &str, who: Who, foreign: &str) -> (Run, Vec<Value>) {
    let scene = Scene::new(session);
    let old = bytes(&scene.session);
    fs::write(scene.tool("line"), format!("{foreign}\n")).unwrap();
    let run = run(&scene, line, who, r#"cat "$T/line" >>"$S""#);
    let with_foreign = [&old[..], foreign.as_bytes(), b"\n"].concat();
    assert_eq!(names(scene.session.path("")), ["s.jsonl"], "{line}");
    let is_told = scene.order().iter().any(|note| note == "hook session_tree");
    assert_eq!(is_told, run.code == 0 && who != Who::Summarizer, "{line}");
    (run, appended(&with_foreign, &bytes(&scene.session)))
}

/// Checks that a move with a summary is refused, and done with `--force`.
#[track_caller]
fn is_refused(line: &str, who: Who, foreign: &str) {
    let (run, new) = appends(forked(), line, who, foreign);
    assert_eq!((error(&run)["kind"].as_str(), new.len()), (Some("changed"), 0), "{line} {foreign}: {run:?}");
    goes_on(&format!("{line} --force"), who, foreign);
}

/// Checks that a move with a summary is done.
#[track_caller]
fn goes_on(line: &str, who: Who, foreign: &str) {
    let (run, new) = appends(forked(), line, who, foreign);
    assert_eq!(warnings(&run), [""; 0], "{line} {foreign}: {run:?}");
    let told = run.json();
    let ids: Vec<_> = new.iter().map(|line| line["id"].clone()).collect();
    assert_eq!((&new[0]["type"], &told["written"]), (&json!("branch_summary"), &json!(ids)));
    assert_eq!((&told["summaryEntry"], Some(&told["newLeafId"])), (&new[0], ids.last()));
    assert_eq!(new[0]["parentId"], told["positionId"]);
}

fn child(parent: &str) -> String {
    message("n1", parent, "user", "meanwhile")
}

#[test]
fn summary_is_refused_if_its_branch_grew_meanwhile() {
    use Who::{Author, Hook, Summarizer};
    let cases = [
        ("u2", Summarizer, "b2"),
        ("a1", Summarizer, "b2"),
        ("--root", Summarizer, "b2"),
        ("u2 --label x --save", Summarizer, "b2"),
        ("u2", Summarizer, "u1"),
        ("u2", Summarizer, ""),
        ("u2 --leaf b2", Summarizer, "b2"),
        ("b1 --leaf t2", Summarizer, "t2"),
        ("u2", Author, "b2"),
        ("u2", Author, "u1"),
        ("b1 --leaf t2", Author, "t2"),
        ("u2 --summary x", Hook, "b2"),
        ("u2 --summary x", Hook, "u1"),
        ("b1 --leaf t2 --summary x", Hook, "t2"),
    ];
    each(&cases, |&(args, who, parent)| is_refused(&format!("navigate s.jsonl {args}"), who, &child(parent)));
}

#[test]
fn summary_is_stored_if_another_branch_grew_meanwhile() {
    let others = ["{\"no\":\"entry\"}", "not JSON", "", "{\"type\":\"session\",\"version\":3,\"id\":\"s-2\"}"];
    let cases = [("u2 --leaf b2", child("u1")), ("b1 --leaf t2", child("b2")), ("b1 --leaf t2", child(""))];
    let others = others.map(|line| ("u2", line.to_owned()));
    each(&[&cases[..], &others].concat(), |(args, foreign)| {
        goes_on(&format!("navigate s.jsonl {args}"), Who::Summarizer, foreign);
    });
}

#[test]
fn move_without_summary_is_saved_whatever_grew_meanwhile() {
    let foreign = child("b2");
    for (args, kinds) in
        [("--save", &["custom"][..]), ("--label x", &["label"]), ("--save --label x", &["custom", "label"])]
    {
        let (run, new) = appends(forked(), &format!("navigate s.jsonl u2 {args}"), Who::Hook, &foreign);
        let told = run.json();
        assert_eq!(new.iter().map(|line| &line["type"]).collect::<Vec<_>>(), kinds, "{args}");
        assert_eq!((&new[0]["parentId"], &told["newLeafId"]), (&json!("a1"), &new.last().unwrap()["id"]));
    }
    let (run, new) = appends(forked(), "navigate s.jsonl u2", Who::Hook, &foreign);
    assert_eq!((run.json()["newLeafId"].as_str(), new.len()), (Some("a1"), 0));
}

#[test]
fn second_of_two_concurrent_summaries_is_refused() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let slow = scene.summarizer(": >\"$T/ready\"\nwhile [ ! -e \"$T/go\" ]; do sleep 0.01; done\necho slow");
    let line = "navigate s.jsonl u2 --summarize --json";
    let started = scene.start(scene.command(line, &["--summarizer", &slow]));
    wait_for("the summarizer starts", || scene.tool("ready").exists());
    let fast = scene.start(scene.command(line, &["--summarizer", "echo fast"])).end().json();
    fs::write(scene.tool("go"), "").unwrap();
    assert_eq!(error(&started.end())["kind"], "changed");
    assert_eq!(appended(&old, &bytes(&scene.session)), [fast["summaryEntry"].clone()]);
    scene.is_alone();
}

#[test]
fn summary_is_refused_if_old_version_changed_meanwhile() {
    let text = String::from_utf8(bytes(&forked())).unwrap().replace(r#""version":3"#, r#""version":2"#);
    let appends = (r#"cat "$T/line" >>"$S""#, text.clone() + &child("b2") + "\n");
    let migrates = r#"sed 's/"version":2/"version":3/' "$S" >"$T/new" && mv "$T/new" "$S""#;
    let migrates = (migrates, text.replace(r#""version":2"#, r#""version":3"#));
    for (script, expected) in [appends, migrates] {
        for (args, who) in [("", Who::Summarizer), ("--force", Who::Summarizer), ("--save", Who::Hook)] {
            let scene = Scene::new(Scratch::bytes(text.as_bytes()));
            fs::write(scene.tool("line"), child("b2") + "\n").unwrap();
            let run = run(&scene, &format!("navigate s.jsonl u2 {args}"), who, script);
            assert_eq!(error(&run)["kind"], "changed", "{args} {script}: {run:?}");
            assert_eq!(String::from_utf8(bytes(&scene.session)).unwrap(), expected, "{args} {script}");
            assert_eq!(names(scene.session.path("")), ["s.jsonl"]);
        }
    }
}

#[test]
fn file_replaced_meanwhile_is_read_again() {
    let same = r#"cp "$S" "$T/new" && mv "$T/new" "$S""#;
    let longer = r#"cat "$S" "$T/line" >"$T/new" && mv "$T/new" "$S""#;
    let without_target = r#"grep -v '"id":"u2"' "$S" >"$T/new" && mv "$T/new" "$S""#;
    let check = |line: &str, who: Who, script: &str, is_done: bool| {
        let scene = Scene::new(forked());
        fs::write(scene.tool("line"), child("b2") + "\n").unwrap();
        let run = run(&scene, &format!("navigate s.jsonl {line}"), who, script);
        let new = String::from_utf8(bytes(&scene.session)).unwrap();
        let is_written = new.contains("branch_summary") || new.contains("session-tree/leaf");
        assert_eq!((run.code == 0, is_written), (is_done, is_done), "{line} {script}: {run:?}");
        if !is_done {
            assert_eq!(error(&run)["kind"], "changed");
        }
        assert_eq!(names(scene.session.path("")), ["s.jsonl"]);
    };
    check("u2", Who::Summarizer, same, true);
    check("u2", Who::Author, same, true);
    check("u2 --save", Who::Hook, same, true);
    check("u2", Who::Summarizer, longer, false);
    check("u2 --force", Who::Summarizer, longer, true);
    check("u2 --save", Who::Hook, longer, true);
    check("u2", Who::Summarizer, without_target, false);
    check("u2 --force", Who::Summarizer, without_target, false);
    check("u2 --save", Who::Hook, without_target, false);
}

#[test]
fn file_removed_meanwhile_is_not_recreated() {
    for (line, who) in [("u2", Who::Summarizer), ("u2", Who::Author), ("u2 --save", Who::Hook)] {
        let scene = Scene::new(forked());
        let run = run(&scene, &format!("navigate s.jsonl {line}"), who, r#"mv "$S" "$T/away""#);
        let error = error(&run);
        assert!(["io", "changed"].contains(&error["kind"].as_str().unwrap()), "{error}");
        assert_eq!(names(scene.session.path("")), [""; 0]);
    }
}

#[test]
fn file_emptied_meanwhile_is_refused() {
    let check = |line: &str, who: Who| {
        let scene = Scene::new(forked());
        let run = run(&scene, line, who, ": >\"$S\"");
        // Which it is depends on what is read first, a message or the file as a whole.
        assert!(["changed", "empty"].map(Value::from).contains(&error(&run)["kind"]), "{line}: {run:?}");
        assert_eq!((names(scene.session.path("")), bytes(&scene.session).len()), (vec!["s.jsonl".to_owned()], 0));
    };
    check("navigate s.jsonl u2", Who::Hook);
    check("navigate s.jsonl u2 --save", Who::Hook);
    check("navigate s.jsonl u2 --summary x", Who::Hook);
    check("navigate s.jsonl u2 --summarize --summarizer cat", Who::Hook);
    check("navigate s.jsonl u2", Who::Author);
    check("navigate s.jsonl u2", Who::Summarizer);
    check("branch s.jsonl u2", Who::Hook);
    check("branch s.jsonl --at t2 --output -", Who::Hook);
}

#[test]
fn fork_has_the_entries_that_were_read() {
    let scene = Scene::new(forked());
    fs::write(scene.tool("line"), child("b2") + "\n").unwrap();
    let run = run(&scene, "branch s.jsonl --at @", Who::Hook, r#"cat "$T/line" >>"$S""#);
    let told = run.json();
    assert_eq!((&told["leafId"], &told["entries"]), (&json!("b2"), &json!(4)));
}

#[test]
fn no_lock_is_held_while_hooks_and_summarizer_run() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    // A lock would keep the binary itself from writing.
    let look = |who: &str| {
        let label = format!("\"$B\" label \"$S\" u1 \"{who}\" --leaf a2 --lock-timeout 0 --quiet >/dev/null");
        format!("ls -A \"$D\" >>\"$T/names\"\n{label} || exit 9\n")
    };
    let hook = scene.hook("hook", &look("$kind"));
    let summarizer = scene.summarizer(&format!("{}echo done", look("summarizer")));
    let line = "navigate s.jsonl t2 --leaf b2 --summarize --json";
    let mut command = scene.command(line, &["--hook", &hook, "--summarizer", &summarizer]);
    command.env("B", env!("CARGO_BIN_EXE_session-tree"));
    let run = scene.finish(command);
    assert_eq!((run.code, warnings(&run)), (0, Vec::new()), "{run:?}");
    assert_eq!(scene.note("names"), "s.jsonl\n".repeat(3));
    let new = appended(&old, &bytes(&scene.session));
    let labels: Vec<_> = new.iter().map(|line| line.get("label").and_then(Value::as_str)).collect();
    assert_eq!(labels, [Some("session_before_tree"), Some("summarizer"), None, Some("session_tree")]);
    assert_eq!(keys(&new[2]), ["details", "fromId", "id", "parentId", "summary", "timestamp", "type"]);
    assert_eq!(names(scene.session.path("")), ["s.jsonl"]);
}
