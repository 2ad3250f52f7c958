//! Which events hooks get, when, and in which order.

use std::fs;

use serde_json::{Value, json};

use crate::cli::{Scratch, message};
use crate::hooks::scene::{Scene, answer, the_new_line};
use crate::write::scene::{bytes, forked, lines, names, untouched, warnings};

/// Returns `session` as every event has it.
fn session(scene: &Scene) -> String {
    format!(r#"{{"file":{},"id":"s-1","cwd":"/home/mia/shop"}}"#, Value::from(scene.file().to_str().unwrap()))
}

/// Returns the event before a move, byte for byte.
fn before(scene: &Scene, ids: [&str; 3], wants_summary: bool, entries: &[String]) -> String {
    let [target, old, ancestor] = ids.map(|id| if id.is_empty() { Value::Null } else { id.into() });
    format!(
        r#"{{"type":"session_before_tree","session":{},"preparation":{{"targetId":{target},"oldLeafId":{old},"commonAncestorId":{ancestor},"userWantsSummary":{wants_summary},"entriesToSummarize":[{}]}}}}{}"#,
        session(scene),
        entries.join(","),
        "\n",
    )
}

/// Returns the event after a move, byte for byte.
fn after(scene: &Scene, new: &str, old: &str, more: &str) -> String {
    let session = session(scene);
    format!(r#"{{"type":"session_tree","session":{session},"newLeafId":{new},"oldLeafId":"{old}"{more}}}{}"#, "\n")
}

/// Runs with a hook that only watches; returns the events that it got.
#[track_caller]
fn watched(scene: &Scene, line: &str, more: &[&str]) -> (Value, String) {
    let hook = scene.hook("watch", "");
    let told = scene.run(line, &[&["--json", "--hook", &hook], more].concat()).json();
    (told, scene.note("watch.events"))
}

/// Returns some lines of a session by their places, the header being 0.
fn stored(scene: &Scene, places: &[usize]) -> Vec<String> {
    let text = String::from_utf8(bytes(&scene.session)).unwrap();
    places.iter().map(|&place| text.lines().nth(place).unwrap().to_owned()).collect()
}

#[test]
fn move_sends_event_before_and_after() {
    let check = |args: &str, places: &[usize], [target, old, ancestor]: [&str; 3], position: &str| {
        let scene = Scene::new(forked());
        let old_bytes = bytes(&scene.session);
        let (_, events) = watched(&scene, &format!("navigate s.jsonl {args}"), &[]);
        let entries = stored(&scene, places);
        let expected = before(&scene, [target, old, ancestor], false, &entries) + &after(&scene, position, old, "");
        assert_eq!(events, expected, "{args}");
        untouched(&scene.session, &old_bytes);
    };
    check("u2", &[6, 7], ["u2", "b2", "a1"], r#""a1""#);
    check("a2", &[6, 7], ["a2", "b2", "a1"], r#""a2""#);
    check("u1", &[2, 6, 7], ["u1", "b2", "u1"], "null");
    check("--root", &[1, 2, 6, 7], ["", "b2", ""], "null");
    check("t2 --leaf a1", &[], ["t2", "a1", "a1"], r#""t2""#);
    check("b1 --leaf t2", &[3, 4, 5], ["b1", "t2", "a1"], r#""a1""#);
}

#[test]
fn event_after_move_has_what_was_written() {
    let check = |args: &[&str], wants_summary: bool, has_summary: bool| {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let entries = stored(&scene, &[6, 7]);
        let (told, events) = watched(&scene, "navigate s.jsonl u2", args);
        let new = String::from_utf8(bytes(&scene.session)[old.len()..].to_vec()).unwrap();
        let last: Value = serde_json::from_str(new.lines().last().unwrap()).unwrap();
        assert_eq!(told["newLeafId"], last["id"]);
        let summary = format!(r#","summaryEntry":{},"fromExtension":false"#, new.lines().next().unwrap());
        let more = if has_summary { &summary[..] } else { "" };
        let first = before(&scene, ["u2", "b2", "a1"], wants_summary, &entries);
        assert_eq!(events, first + &after(&scene, &last["id"].to_string(), "b2", more), "{args:?}");
    };
    check(&["--save"], false, false);
    check(&["--label", "x"], false, false);
    check(&["--label", "x", "--save"], false, false);
    check(&["--summary", "tried \"it\"\n\u{1f600}"], true, true);
    check(&["--summary", "tried", "--label", "x"], true, true);
    check(&["--summarize", "--summarizer", "echo tried"], true, true);
}

#[test]
fn event_after_move_marks_summary_of_hook() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.answering("says", answer("mine"));
    let told = scene.run("navigate s.jsonl u2 --json --summarize", &["--hook", &hook]).json();
    let line = the_new_line(&scene, &old);
    let events = scene.events("says");
    assert_eq!((events.len(), &events[0]["preparation"]["userWantsSummary"]), (2, &json!(true)));
    assert_eq!((&events[1]["summaryEntry"], &events[1]["fromExtension"]), (&line, &json!(true)));
    assert_eq!((&told["summaryEntry"], &told["fromExtension"]), (&line, &json!(true)));
}

#[test]
fn events_have_entries_as_stored() {
    let odd = [
        r#"{ "parentId" : "a1", "message":{"content":"caf\u00e9 \ud800 \/","role":"user"} ,"id":"o1","type":"message","mine":[1.0, 2e3,-0, 1e400]}"#,
        r#"{"id":"o2","type":"strange","parentId":"o1","parentId":"o1","summary":{"a" : null},"text":"\u001b[31m"}"#,
        r#"{"type":"label","id":"o3","parentId":"o2","timestamp":17,"targetId":"o1","label":"é"}"#,
    ];
    let entries = [message("u1", "", "user", "first"), message("a1", "u1", "assistant", "one")];
    let odd = odd.map(str::to_owned);
    let scene = Scene::new(Scratch::new(&[&entries[..], &odd].concat()));
    let (_, events) = watched(&scene, "navigate s.jsonl a1", &[]);
    assert_eq!(events.lines().next().unwrap(), before(&scene, ["a1", "o3", "a1"], false, &odd).trim_end());
}

#[test]
fn events_have_replacement_characters_for_bad_bytes() {
    let entries = [message("u1", "", "user", "first"), message("a1", "u1", "assistant", "caf?")];
    let scene = Scene::new(Scratch::new(&entries));
    let bad: Vec<u8> = bytes(&scene.session).iter().map(|&byte| if byte == b'?' { 0xe9 } else { byte }).collect();
    fs::write(scene.file(), &bad).unwrap();
    watched(&scene, "navigate s.jsonl u1", &[]);
    let events = scene.events("watch");
    assert_eq!(events[0]["preparation"]["entriesToSummarize"][0]["message"]["content"], "caf\u{fffd}");
    untouched(&scene.session, &bad);
}

#[test]
fn events_have_entries_of_old_versions_as_migrated() {
    let header =
        r#"{"type":"session","version":2,"id":"s-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/home/mia/shop"}"#;
    let entries = [
        r#"{"type":"message","id":"u1","parentId":null,"message":{"role":"user","content":"first"}}"#,
        r#"{"type":"message","id":"h1","parentId":"u1","message":{"role":"hookMessage","content":"x"},"x": 1.0}"#,
        r#"{"type":"message","id":"a1","parentId":"h1","message":{"role":"assistant","content":"y"}}"#,
    ];
    let file = |header: &str, entries: &[String]| format!("{header}\n{}\n", entries.join("\n"));
    let scene = Scene::new(Scratch::bytes(file(header, &entries.map(str::to_owned)).as_bytes()));
    let old = bytes(&scene.session);
    let (_, events) = watched(&scene, "navigate s.jsonl u1", &[]);
    let migrated = [entries[1].replace("hookMessage", "custom"), entries[2].to_owned()];
    assert_eq!(events.lines().next().unwrap(), before(&scene, ["u1", "a1", "u1"], false, &migrated).trim_end());
    untouched(&scene.session, &old);

    let first = entries.map(|line| line.replace(r#","parentId":null"#, "").replace(r#","parentId":"u1""#, ""));
    let first = first.map(|line| line.replace(r#","parentId":"h1""#, ""));
    let first = ["u1", "h1", "a1"].iter().zip(first).map(|(id, line)| line.replace(&format!(r#","id":"{id}""#), ""));
    let first: Vec<_> = first.collect();
    let header = header.replace(r#""version":2,"#, "");
    let scene = Scene::new(Scratch::bytes(file(&header, &first).as_bytes()));
    let (told, events) = watched(&scene, "navigate s.jsonl user:1", &[]);
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    let [root, hook, leaf] =
        [&told["targetId"], &told["entriesToSummarize"][0], &told["entriesToSummarize"][1]].map(id);
    let with_ids = |line: &str, id: &str, parent: &str| {
        let ids = format!(r#"{{"type":"message","id":"{id}","parentId":"{parent}","#);
        line.replace(r#"{"type":"message","#, &ids).replace("hookMessage", "custom")
    };
    let migrated = [with_ids(&first[1], &hook, &root), with_ids(&first[2], &leaf, &hook)];
    assert_eq!(events.lines().next().unwrap(), before(&scene, [&root, &leaf, &root], false, &migrated).trim_end());
}

#[test]
fn event_of_session_without_cwd_has_null() {
    let scene = Scene::new(Scratch::bytes(
        br#"{"type":"session","version":3,"id":"s-1"}
{"type":"message","id":"u1","parentId":null,"message":{"role":"user","content":"x"}}"#,
    ));
    watched(&scene, "navigate s.jsonl --root", &[]);
    let expected = json!({"file": scene.file(), "id": "s-1", "cwd": null});
    assert!(scene.events("watch").iter().all(|event| event["session"] == expected));
}

#[test]
fn hooks_run_in_the_order_given() {
    let scene = Scene::new(forked());
    let hooks = ["b", "a", "c"].map(|name| scene.hook(name, ""));
    let hooks = [&hooks[0], &hooks[1], &hooks[2], &hooks[1]].map(|hook| format!("--hook={hook}"));
    scene.run("navigate s.jsonl u2 --summary x", &hooks.each_ref().map(String::as_str)).ok();
    let expected: Vec<_> = ["session_before_tree", "session_tree"]
        .iter()
        .flat_map(|kind| ["b", "a", "c", "a"].map(|name| format!("{name} {kind}")))
        .collect();
    assert_eq!(scene.order(), expected);
    assert_eq!(scene.note("b.events"), scene.note("c.events"));
    assert_eq!(scene.note("a.events").lines().count(), 4);
}

#[test]
fn file_is_written_before_the_event_after() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.hook("looks", r#"cp "$S" "$T/$kind"; ls -A "$D" >"$T/names""#);
    scene.run("navigate s.jsonl u2 --summary x --label y", &["--hook", &hook]).ok();
    assert_eq!(fs::read(scene.tool("session_before_tree")).unwrap(), old);
    assert_eq!(fs::read(scene.tool("session_tree")).unwrap(), bytes(&scene.session));
    assert_ne!(bytes(&scene.session), old);
    assert_eq!(scene.note("names"), "s.jsonl\n", "no lock is held");

    let old = String::from_utf8(old).unwrap().replace(r#""version":3"#, r#""version":2"#);
    let scene = Scene::new(Scratch::bytes(old.as_bytes()));
    let hook = scene.hook("looks", r#"head -n 1 "$S" >"$T/$kind""#);
    scene.run("navigate s.jsonl u2 --save", &["--hook", &hook]).ok();
    assert!(scene.note("session_before_tree").contains(r#""version":2"#));
    assert!(scene.note("session_tree").contains(r#""version":3"#));
}

#[test]
fn session_that_a_hook_puts_in_the_place_of_another_is_not_written_to() {
    for (script, kind) in [
        (r#"sed '1s/"id":"[^"]*"/"id":"other"/' "$S" >"$S.new"; mv "$S.new" "$S""#, "changed"),
        (r#"sed '1s/"id":"[^"]*"/"id":"other"/' "$S" >"$T/new"; cat "$T/new" >"$S""#, "changed"),
        (r#"sed '1s/"version":3/"version":4/' "$S" >"$T/new"; cat "$T/new" >"$S""#, "unsupported-version"),
    ] {
        for args in ["u2 --save", "--root --save", "u2 --summary x", "u2 --label x --save"] {
            let scene = Scene::new(forked());
            let hook = scene.hook("h", &format!("{script}\ncp \"$S\" \"$T/now\""));
            let run = scene.run(&format!("navigate s.jsonl {args} --json"), &["--hook", &hook]);
            let error = crate::write::scene::error(&run);
            assert_eq!(error["kind"], kind, "{args}: {run:?}");
            crate::write::scene::untouched(&scene.session, scene.note("now").as_bytes());
        }
    }
}

#[test]
fn no_hook_runs_when_nothing_is_done() {
    let check = |args: &str, is_done: bool| {
        let scene = Scene::new(forked());
        let hook = scene.hook("watch", r#"echo '{"cancel":true}'"#);
        let old = bytes(&scene.session);
        let run = scene.run(args, &["--json", "--hook", &hook]);
        assert_eq!((run.code == 0, scene.order()), (is_done, Vec::new()), "{args}: {run:?}");
        untouched(&scene.session, &old);
    };
    for args in ["u2", "u2 --save", "u2 --summary x", "u2 --summarize", "--root", "@"] {
        check(&format!("navigate s.jsonl {args} --dry-run"), true);
    }
    for args in ["@", "b2 --save", "@ --summary x", "@ --summarize", "@ --label x", "t2 --leaf t2"] {
        check(&format!("navigate s.jsonl {args}"), true);
    }
    check("branch s.jsonl u2 --dry-run", true);
    check("branch s.jsonl --at --dry-run", true);
    for args in ["navigate s.jsonl zz", "navigate s.jsonl u2 --summary "] {
        check(args, false);
    }
    for args in ["branch s.jsonl", "branch s.jsonl zz", "branch s.jsonl a1"] {
        check(args, false);
    }
}

#[test]
fn fork_sends_event_before_and_after() {
    let check = |args: &str, entry: &str| {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let hook = scene.hook("watch", r#"ls -A "$D" >"$T/$kind""#);
        let told = scene.run(&format!("branch s.jsonl --json {args}"), &["--hook", &hook]).json();
        let session = session(&scene);
        let [first, last] = &lines(scene.note("watch.events").as_bytes())[..] else { panic!("not two events") };
        let text = scene.note("watch.events");
        let expected = format!(r#"{{"type":"session_before_branch","session":{session},"entryId":"{entry}"}}{}"#, "\n");
        assert!(text.starts_with(&expected), "{first}");
        let [old_file, new_file] = [scene.file().to_str().unwrap().into(), told["sessionFile"].clone()];
        let expected = format!(
            r#"{{"type":"session_branch","session":{session},"previousSessionFile":{old_file},"sessionFile":{new_file}}}{}"#,
            "\n"
        );
        assert!(text.ends_with(&expected), "{last}");
        assert_eq!(bytes(&scene.session), old);
        assert_eq!(scene.note("session_before_branch"), "s.jsonl\n", "nothing is made before hooks are asked");
        let name = fs::canonicalize(new_file.as_str().unwrap()).unwrap();
        let name = name.file_name().unwrap().to_str().unwrap();
        let mut there: Vec<_> = scene.note("session_branch").lines().map(str::to_owned).collect();
        there.sort_unstable();
        assert_eq!(there, names(scene.session.path("")));
        assert!(there.iter().any(|file| file == name), "the new file is there when hooks are told of it");
    };
    check("u2", "u2");
    check("u1", "u1");
    check("--at t2", "t2");
    check("--at", "b2");
    check("u2 --output new.jsonl", "u2");
}

#[test]
fn event_after_is_sent_even_if_stdout_is_closed() {
    for line in ["navigate s.jsonl u2 --save", "branch s.jsonl u2"] {
        let scene = Scene::new(forked());
        let hook = scene.hook("watch", "");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = scene.command(line, &["--hook", &hook]);
        command.stdout(writer).stderr(std::process::Stdio::null());
        command.status().unwrap();
        assert_eq!(scene.events("watch").len(), 2, "{line}: {:?}", scene.order());
    }
}

#[test]
fn events_without_a_file_have_null() {
    let scene = Scene::new(forked());
    let silent = scene.hook("silent", "");
    let run = scene.run("branch s.jsonl u2 --json --output -", &["--hook", &silent]);
    let events = scene.events("silent");
    assert_eq!(events[0]["session"]["file"], json!(scene.file()));
    assert_eq!((&events[1]["previousSessionFile"], &events[1]["sessionFile"]), (&json!(scene.file()), &Value::Null));
    assert_eq!(lines(run.stdout.as_bytes()).len(), 3, "hooks print nothing into the new session: {run:?}");
    assert_eq!(run.code, 0);

    let mut command = scene.command("branch - u2 --json --output new.jsonl", &["--hook", &silent]);
    command.stdin(fs::File::open(scene.file()).unwrap());
    let told = scene.finish(command).json();
    let events = scene.events("silent");
    assert_eq!(events[2]["session"], json!({"file": null, "id": "s-1", "cwd": "/home/mia/shop"}));
    assert_eq!((&events[3]["previousSessionFile"], &events[3]["sessionFile"]), (&Value::Null, &told["sessionFile"]));
    assert_eq!(events[3]["session"]["file"], Value::Null);

    for line in ["branch - u2 --json --output -", "navigate - u2 --json"] {
        let mut command = scene.command(line, &["--hook", &silent]);
        command.stdin(fs::File::open(scene.file()).unwrap());
        scene.finish(command).ok();
    }
    let events = scene.events("silent");
    let files = events[4..].iter().map(|event| (&event["session"]["file"], event.get("sessionFile")));
    assert!(files.eq([None, Some(&Value::Null), None, None].map(|new| (&Value::Null, new))));
}

#[test]
fn hook_that_fails_on_event_after_only_warns() {
    let fails = "case $kind in *before*) ;; *) exit 7 ;; esac";
    let check = |line: &str, wrote: bool| {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let hooks = [scene.hook("fails", fails), scene.hook("watch", ""), scene.hook("too", fails)];
        let hooks = hooks.each_ref().map(|hook| format!("--hook={hook}"));
        let run = scene.run(line, &hooks.each_ref().map(String::as_str));
        assert_eq!(warnings(&run), ["hook-failed"; 2], "{run:?}");
        assert!(run.stderr.contains("/fails"), "the failing hook is named: {run:?}");
        assert_eq!(run.json()["cancelled"], false);
        assert_eq!(scene.events("watch").len(), 2, "the others are told all the same");
        assert_eq!(bytes(&scene.session) != old, wrote);
    };
    check("navigate s.jsonl u2 --json", false);
    check("navigate s.jsonl u2 --json --summary x", true);
    check("branch s.jsonl u2 --json", false);
}

#[test]
fn answer_to_event_after_changes_nothing() {
    for said in ["{\"cancel\":true}", "noise", "[]", &answer("late")] {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        fs::write(scene.tool("said"), said).unwrap();
        let hook = scene.hook("late", "case $kind in *before*) ;; *) cat \"$T/said\" ;; esac");
        let run = scene.run("navigate s.jsonl u2 --json --save", &["--hook", &hook]);
        assert_eq!(run.stderr, "", "{said}");
        assert_eq!(run.json()["cancelled"], false);
        assert_eq!(the_new_line(&scene, &old)["type"], "custom");
    }
}
