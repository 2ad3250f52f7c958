//! `tree` and `context --stats` of several sessions and folders, and standard input with a name.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{Scratch, entry, message};
use crate::support::{Run, data, run_with_input};

/// Returns a folder `d` with three sessions of which two have the word, files that are none, and one elsewhere.
fn scratch() -> Scratch {
    let scratch = Scratch::new(&[message("aaaa0001", "", "user", "Cart total is off")]);
    let head = |id: &str| format!(r#"{{"type":"session","version":3,"id":"{id}","cwd":"/w"}}"#);
    let write = |name: &str, lines: &[String]| {
        fs::create_dir_all(scratch.path(name).parent().unwrap()).unwrap();
        fs::write(scratch.path(name), lines.join("\n") + "\n").unwrap();
    };
    let answer = entry(
        "message",
        "bbbb0002",
        "bbbb0001",
        r#""message":{"role":"assistant","content":"The cart  TOTAL is right","usage":{"input":7,"cost":{"total":0.5}}}"#,
    );
    write("d/one.jsonl", &[head("id-one"), message("bbbb0001", "", "user", "Look at the cart"), answer]);
    write("d/sub/two.jsonl", &[head("id-two"), message("cccc0001", "", "user", "Total rewrite")]);
    write("d/sub/zero.jsonl", &[head("id-zero"), message("dddd0001", "", "user", "Hello")]);
    write("d/notes.jsonl", &["just text".to_owned()]);
    write("d/empty.jsonl", &[]);
    fs::write(scratch.path("d/empty.jsonl"), "").unwrap();
    scratch
}

/// Runs the binary with some bytes on its standard input; the arguments are separated by blanks.
fn fed(line: &str, input: &[u8]) -> Run {
    run_with_input(line.split_whitespace(), input)
}

#[test]
fn sessions_of_a_folder_come_one_after_the_other() {
    let scratch = scratch();
    let run = scratch.run("tree d");
    assert_eq!(run.code, 0);
    let paths: Vec<_> = run.stdout.lines().filter(|line| line.starts_with("d/")).collect();
    assert_eq!(paths, ["d/one.jsonl", "d/sub/two.jsonl", "d/sub/zero.jsonl"]);
    assert_eq!(run.stdout.matches("\n\nd/").count(), 2);
    let passed_over = "2 files of other formats passed over (1 empty, 1 unknown); the first is `d/empty.jsonl`";
    assert_eq!(run.stderr, format!("warning: {passed_over}\n"));
    // The same bytes as alone, but for the path.
    let alone = scratch.run("tree d/sub/two.jsonl").ok();
    assert!(run.stdout.contains(&format!("d/sub/two.jsonl\n{alone}\n")), "{}", run.stdout);
    for (options, threads) in [("--tips", 1), ("--format table", 2), ("--format jsonl --full", 7), ("--json", 3)] {
        let out = |threads: u32| scratch.run(&format!("tree d s.jsonl d/one.jsonl {options} -q --jobs {threads}")).ok();
        assert_eq!(out(threads), out(1), "{options}");
        assert!(out(1).contains("Cart total"), "{options}");
    }
}

#[test]
fn search_shows_sessions_with_a_hit_only() {
    let scratch = scratch();
    let run = scratch.args(["tree", "d", "s.jsonl", "-q", "--search", "total"]);
    assert_eq!(run.code, 0);
    let expected = "\
d/one.jsonl
Look at the cart  ·  id-one  ·  v3  ·  2 entries, 1 branch  ·  /w
bbbb0002  • assistant: The cart TOTAL is right  ← leaf

d/sub/two.jsonl
Total rewrite  ·  id-two  ·  v3  ·  1 entry, 1 branch  ·  /w
cccc0001  • user: Total rewrite  ← leaf

s.jsonl
";
    assert!(run.stdout.starts_with(expected), "{}", run.stdout);
    let rows = scratch.args(["tree", "d", "-q", "--format", "jsonl", "--search", "\"cart total\" right"]).json_lines();
    assert_eq!(rows.len(), 1);
    let short = ["path", "sessionId", "id", "match"].map(|key| rows[0][key].as_str().unwrap_or("-"));
    assert_eq!(short, ["d/one.jsonl", "id-one", "bbbb0002", "The cart TOTAL is right"]);
    let nothing = scratch.run("tree d --search nothing-has-this");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, ""));
    assert!(
        nothing.stderr.ends_with("hint: no entry that is shown contains all of: nothing-has-this\n"),
        "{nothing:?}"
    );
    let nothing = scratch.run("tree d --search nothing-has-this --json -q");
    assert_eq!((nothing.code, nothing.stdout.as_str()), (1, "[]\n"));
    // Those of which nothing is of that time are left out too.
    assert_eq!(scratch.run("tree d --since 2030-01-01 -q").ok(), "");
}

#[test]
fn documents_name_their_sessions() {
    let scratch = scratch();
    let trees = scratch.run("tree d --json -q --search cart").json();
    let expected = json!([{"path": "d/one.jsonl", "sessionId": "id-one"}]);
    let named = |list: &Value, key: &str| -> Value {
        let mut list = list.clone();
        for item in list.as_array_mut().unwrap() {
            assert!(item.as_object_mut().unwrap().remove(key).is_some_and(|value| value.is_array()), "{item}");
        }
        list
    };
    assert_eq!(named(&trees, "tree"), expected);
    assert_eq!(trees[0]["tree"], scratch.run("tree d/one.jsonl --json --search cart").json());
    let tips = scratch.run("tree d --json -q --tips --search cart").json();
    assert_eq!(named(&tips, "tips"), expected);
    assert_eq!(tips[0]["tips"], scratch.run("tree d/one.jsonl --json --tips").json());
    let rows = scratch.run("tree d --format jsonl -q --tips --search cart").json_lines();
    let cost = &rows[0]["usage"]["cost"];
    assert_eq!([&rows[0]["path"], &rows[0]["sessionId"], cost], [&json!("d/one.jsonl"), &json!("id-one"), &json!(0.5)]);
}

#[test]
fn what_cannot_be_read_does_not_end_the_rest() {
    let scratch = scratch();
    let run = scratch.run("tree d/gone.jsonl d/notes.jsonl s.jsonl --format jsonl");
    assert_eq!((run.code, run.stdout.lines().count()), (2, 1));
    let errors: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = errors.iter().map(|error| [&error["error"]["kind"], &error["error"]["path"]]).collect();
    assert_eq!(json!(kinds), json!([["io", "d/gone.jsonl"], ["not-a-session", "d/notes.jsonl"]]));
    // What was named has to be a session, whatever is searched for.
    assert_eq!(scratch.run("tree d/notes.jsonl s.jsonl --search zzz").code, 2);
    fs::create_dir(scratch.path("none")).unwrap();
    let run = scratch.run("tree none");
    let hint = "`list` shows those of this folder, `latest` is the newest\n";
    assert!(run.stderr.starts_with("error: there is no session in `none`\nhint: "), "{run:?}");
    assert!(run.code == 2 && run.stderr.ends_with(hint), "{run:?}");
}

#[test]
fn options_that_leave_no_branch_end_are_refused_with_tips() {
    let scratch = scratch();
    for option in ["--roots", "--children @"] {
        let run = scratch.run(&format!("tree s.jsonl --tips {option}"));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        assert!(run.stderr.contains("hint: leave one of them out"), "{run:?}");
    }
}

#[test]
fn a_stream_with_a_name_is_told_that_it_counts_as_several() {
    for line in ["tree - --stdin-name x --entry @", "context - --stdin-name x"] {
        let run = fed(line, b"");
        assert!(run.code == 2 && run.stderr.ends_with("hint: leave `--stdin-name` out\n"), "{line}: {run:?}");
    }
    // Programs get the name of standard input, people do not need it.
    for line in ["tree -", "context -"] {
        let run = fed(&format!("{line} --json"), b"");
        assert!(run.stderr.contains(r#""path":"-""#), "{run:?}");
        assert!(fed(line, b"").stderr.starts_with("error: empty file"));
    }
    let run = fed("tree - --files-from -", b"");
    assert!(run.code == 2 && run.stderr.contains("standard input cannot be both"), "{run:?}");
}

#[test]
fn options_of_one_session_are_refused_for_several() {
    let scratch = scratch();
    let options = ["--leaf @", "--root", "--below @", "--children @", "--entry @", "--format dot", "--format mermaid"];
    for option in options {
        for sessions in ["d", "s.jsonl d/one.jsonl"] {
            let run = scratch.run(&format!("tree {sessions} {option}"));
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{option}: {run:?}");
            assert!(run.stderr.ends_with("hint: name the session alone\n"), "{option}: {run:?}");
        }
        assert_eq!(scratch.run(&format!("tree s.jsonl {option}")).code, 0, "{option}");
    }
}

#[test]
fn paths_come_from_a_list_too() {
    let scratch = scratch();
    fs::write(scratch.path("list"), "d/sub\0s.jsonl\0").unwrap();
    let rows = scratch.run("tree --files-from list --format jsonl").json_lines();
    assert_eq!(super::ids(&rows), ["cccc0001", "dddd0001", "aaaa0001"]);
    // A list is of several, whatever it has.
    let rows =
        fed("tree --files-from - --format jsonl", scratch.path("s.jsonl").as_os_str().as_encoded_bytes()).json_lines();
    assert_eq!(rows[0]["path"], scratch.path("s.jsonl").to_str().unwrap());
}

#[test]
fn standard_input_has_a_name_in_rows_and_messages() {
    let scratch = scratch();
    let file = fs::read(scratch.path("d/one.jsonl")).unwrap();
    // A stream gives the bytes that its file gives among many.
    for options in ["--format jsonl --full", "--tips --format jsonl", "--filter user-only"] {
        let streamed = fed(&format!("tree - --stdin-name d/one.jsonl {options}"), &file).ok();
        let mut of_folder = scratch.run(&format!("tree d -q {options}")).ok();
        of_folder.truncate(streamed.len());
        assert_eq!(streamed, of_folder, "{options}");
    }
    let error = |line: &str| serde_json::from_str::<Value>(&fed(line, b"text\n").stderr).unwrap()["error"].clone();
    for line in ["tree - --stdin-name a/b --json", "migrate - --output - --stdin-name a/b --json"] {
        let error = error(line);
        assert_eq!([&error["kind"], &error["path"]], [&json!("not-a-session"), &json!("a/b")], "{line}");
    }
    let findings = fed("check - --stdin-name a/b --format jsonl", b"text\n");
    assert_eq!(findings.code, 1);
    let findings: Value = serde_json::from_str(findings.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(findings["path"], "a/b");
    let why = fed("check --why-leaf - --stdin-name a/b --json", &file).json();
    assert_eq!(why["path"], "a/b");
    let run = fed("migrate - --output - --stdin-name a/b --json", &file);
    assert_eq!(run.stdout.as_bytes(), file);
    assert_eq!(serde_json::from_str::<Value>(&run.stderr).unwrap()["result"]["path"], "a/b");
    for line in
        ["tree s.jsonl --stdin-name x", "check s.jsonl --stdin-name x", "migrate s.jsonl --check --stdin-name x"]
    {
        let run = scratch.run(line);
        assert_eq!(run.code, 2, "{line}");
        assert!(run.stderr.starts_with("error: `--stdin-name` is for standard input\n"), "{line}: {run:?}");
    }
}

/// Returns the line of an assistant message that costs so many dollars.
fn answer(id: &str, parent: &str, cost: u32) -> String {
    let usage = format!(r#""usage":{{"input":{cost},"cost":{{"total":{cost}}}}}"#);
    entry("message", id, parent, &format!(r#""message":{{"role":"assistant","content":"x",{usage}}}"#))
}

#[test]
fn stats_have_what_the_last_answer_records_of_its_request() {
    let answer = |id: &str, parent: &str, usage: &str| {
        let message = format!(r#""message":{{"role":"assistant","content":"x","usage":{{{usage}}}}}"#);
        entry("message", id, parent, &message)
    };
    let scratch = Scratch::new(&[
        message("u1", "", "user", "one"),
        answer("a1", "u1", r#""input":5,"output":900,"cacheRead":70,"cacheWrite":600,"totalTokens":1575"#),
        answer("a2", "a1", r#""input":0,"output":0"#),
        entry("compaction", "c1", "a2", r#""summary":"s","firstKeptEntryId":"u1","tokensBefore":9"#),
        message("u2", "c1", "user", "two"),
        answer("a3", "u2", r#""input":8"#),
    ]);
    // One that failed records nothing; what was sent before the compaction says nothing of the context.
    for (options, expected) in [
        ("--leaf a1", json!({"id": "a1", "tokens": 675})),
        ("--leaf a2", json!({"id": "a1", "tokens": 675})),
        ("--leaf u1", Value::Null),
        ("--leaf u2", Value::Null),
        ("--leaf a3", json!({"id": "a3", "tokens": 8})),
        ("--all", Value::Null),
    ] {
        let stats = scratch.run(&format!("context s.jsonl --stats --json {options}")).json();
        assert_eq!(stats["lastRequest"], expected, "{options}");
    }
    let text = scratch.run("context s.jsonl --stats --leaf a1").ok();
    assert!(text.contains("\nlast sent  675 tokens, as a1 records\n"), "{text}");
}

#[test]
fn stats_of_all_branches_count_each_entry_once() {
    let scratch = Scratch::bytes(&fs::read(data("cases/d16-cost-of-all-branches.jsonl")).unwrap());
    let sums = |options: &str| {
        let stats = scratch.run(&format!("context s.jsonl --stats --json {options}")).json();
        json!([stats["messages"], stats["usage"]["assistantMessages"], stats["usage"]["cost"], stats["leafId"]])
    };
    assert_eq!(sums("--all"), json!([6, 3, 2.202, null]));
    assert_eq!(sums(""), json!([3, 1, 0.2, "a0000006"]));
    let text = scratch.run("context s.jsonl --stats --all").ok();
    assert!(text.starts_with("branches  all 2\nmessages  6,") && text.ends_with("cost         $2.2020\n"), "{text}");
    // What a compaction hides counts as well.
    let scratch = Scratch::new(&[
        answer("aaaa0001", "", 1),
        entry("compaction", "aaaa0002", "aaaa0001", r#""summary":"s","firstKeptEntryId":"aaaa0002","tokensBefore":9"#),
    ]);
    assert_eq!(scratch.run("context s.jsonl --stats --all --json").json()["messages"], 1);
    for line in ["--all", "--stats --all --leaf @", "--stats --all --root", "--diff @ --all"] {
        assert_eq!(scratch.run(&format!("context s.jsonl {line}")).code, 2, "{line}");
    }
}

#[test]
fn stats_of_several_sessions_are_lines_and_a_sum_that_counts_once() {
    let scratch = Scratch::new(&[
        answer("aaaa0001", "", 1),
        answer("aaaa0002", "aaaa0001", 2),
        answer("aaaa0003", "aaaa0001", 4),
    ]);
    let fork = |name: &str, entries: &[String]| {
        let parent = scratch.path("s.jsonl");
        let head = format!(r#"{{"type":"session","version":3,"id":"{name}","parentSession":"{}"}}"#, parent.display());
        fs::write(scratch.path(name).with_extension("jsonl"), [&[head], entries].concat().join("\n") + "\n").unwrap();
    };
    // What it shares with its parent, and eight dollars of its own.
    fork("fork", &[answer("aaaa0001", "", 1), answer("aaaa0002", "aaaa0001", 2), answer("aaaa0009", "aaaa0002", 8)]);
    let costs = |options: &str| {
        let out = scratch.run(&format!("context s.jsonl fork.jsonl --stats {options}")).ok();
        let costs =
            out.lines().skip(1).map(|line| line.split_once('$').unwrap().1.split("  ").next().unwrap().to_owned());
        costs.collect::<Vec<_>>().join(" ")
    };
    // The paths have 1 + 4 and 1 + 2 + 8, all branches also the 2 of the parent.
    assert_eq!(costs(""), "5.0000 11.0000 15.0000");
    assert_eq!(costs("--all"), "7.0000 11.0000 15.0000");
    let rows = scratch.run("context . --stats --all --json").json();
    let rows: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| json!([row["path"], row["sessionId"], row["messages"]])).collect();
    let id = rows[1][1].clone();
    assert_eq!(json!(rows), json!([["./fork.jsonl", "fork", 3], ["./s.jsonl", id, 3]]));
    // A second name of a file is the same session.
    let out = scratch.run("context s.jsonl ./s.jsonl . --stats --all").ok();
    assert!(out.ends_with("$15.0000  2 sessions, shared entries counted once\n"), "{out}");
    let run = scratch.run("context s.jsonl gone.jsonl --stats");
    assert!(run.code == 2 && run.stdout.contains("1 session,") && run.stderr.contains("gone.jsonl"), "{run:?}");
    for options in ["", "--stats --leaf @", "--stats --root", "--json", "--diff @"] {
        assert_eq!(scratch.run(&format!("context s.jsonl fork.jsonl {options}")).code, 2, "{options}");
    }
    let run = run_with_input(
        "context - --stats --json --stdin-name a/b".split(' '),
        &fs::read(scratch.path("fork.jsonl")).unwrap(),
    );
    assert_eq!(run.json()[0]["path"], "a/b");
}

#[test]
fn a_file_that_is_named_in_several_ways_is_looked_at_once() {
    let scratch = Scratch::new(&[message("aaaa0001", "", "user", "once"), "damaged".to_owned()]);
    fs::copy(scratch.path("s.jsonl"), scratch.path("t.jsonl")).unwrap();
    let folder = scratch.path("").canonicalize().unwrap();
    let names = format!("t.jsonl ./s.jsonl s.jsonl . {}/t.jsonl t.jsonl", folder.display());
    let paths = |run: &Run| {
        let rows = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut paths: Vec<_> = rows.map(|row| row["path"].clone()).collect();
        paths.dedup();
        json!(paths)
    };
    for command in ["tree", "migrate --check", "check", "check --diff"] {
        let run = scratch.run(&format!("{command} {names} --format jsonl"));
        assert_eq!(paths(&run), json!(["t.jsonl", "./s.jsonl"]), "{command}: {run:?}");
    }
    let run = scratch.run(&format!("list {names} --sort created --format jsonl"));
    assert_eq!(paths(&run), json!(["./s.jsonl", "t.jsonl"]), "{run:?}");
    let run = scratch.run(&format!("context {names} --stats"));
    assert!(run.stdout.contains("2 sessions"), "{run:?}");
}

#[test]
fn a_document_without_sessions_is_an_empty_list() {
    let scratch = Scratch::new(&[message("aaaa0001", "", "user", "once")]);
    fs::create_dir(scratch.path("empty")).unwrap();
    for (command, code) in [
        ("list empty", 0),
        ("list . --search zzyzx", 1),
        ("tree empty", 2),
        ("tree empty --tips", 2),
        ("tree empty gone.jsonl", 2),
        ("tree . --search zzyzx", 1),
        ("context empty --stats", 2),
        ("context empty gone.jsonl --stats", 2),
        ("check empty", 2),
        ("migrate empty", 0),
    ] {
        let run = scratch.run(&format!("{command} --json"));
        assert_eq!((run.stdout.as_str(), run.code), ("[]\n", code), "{command}: {run:?}");
        if !command.starts_with("context") {
            let run = scratch.run(&format!("{command} --format jsonl"));
            assert_eq!((run.stdout.as_str(), run.code), ("", code), "{command}: {run:?}");
        }
    }
}

#[test]
fn a_document_that_is_interrupted_is_closed_before_the_error() {
    // One of them alone is more than a pipe holds.
    let roots: Vec<_> = (0..3000).map(|at| message(&format!("{at:08}"), "", "user", "one of many")).collect();
    let scratch = Scratch::new(&roots);
    fs::copy(scratch.path("s.jsonl"), scratch.path("t.jsonl")).unwrap();
    let mut command = scratch.command("tree s.jsonl t.jsonl --json --jobs 1".split(' '));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = vec![0];
    child.stdout.as_mut().unwrap().read_exact(&mut stdout).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.stdout.as_mut().unwrap().read_to_end(&mut stdout).unwrap();
    let done = child.wait_with_output().unwrap();
    let document: Value = serde_json::from_slice(&stdout).expect("a whole document");
    assert_eq!((document.as_array().unwrap().len(), &document[0]["path"]), (1, &json!("s.jsonl")));
    let error: Value = serde_json::from_slice(&done.stderr).unwrap();
    assert_eq!((done.status.code(), &error["error"]["kind"]), (Some(130), &json!("interrupted")));
}
