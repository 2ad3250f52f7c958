//! What hooks may say, and what comes of it.

use std::fs;

use serde_json::{Value, json};

use crate::hooks::scene::{Scene, answer, each, the_new_line};
use crate::support::Run;
use crate::write::scene::{bytes, forked, keys, lines, names, untouched};

/// Runs with hooks that answer something each, called `0`, `1` and so on.
fn run(scene: &Scene, line: &str, answers: &[&str]) -> Run {
    let hooks: Vec<_> = (0..).zip(answers).map(|(at, said)| scene.answering(&at.to_string(), said)).collect();
    scene.run(line, &hooks.iter().flat_map(|hook| ["--hook", hook]).collect::<Vec<_>>())
}

#[test]
fn hook_without_output_lets_it_happen() {
    let nothing = ["", "\n", " \t\r\n", "{}", "{ }\n", r#"{"cancel":false}"#, r#"{"cancel":null}"#];
    let not_true = [r#"{"cancel":"true"}"#, r#"{"cancel":1}"#, r#"{"cancel":[true]}"#, r#"{"Cancel":true}"#];
    let unknown = [r#"{"label":"x","replace":{},"instructions":"y"}"#, r#"{"summary":null}"#, "\n{\n}\n\n"];
    for said in nothing.iter().chain(&not_true).chain(&unknown) {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let told = run(&scene, "navigate s.jsonl u2 --json --save", &[said]);
        assert_eq!(told.stderr, "", "{said}");
        assert_eq!((&told.json()["cancelled"], scene.order().len()), (&json!(false), 2), "{said}");
        assert_eq!(the_new_line(&scene, &old)["customType"], "session-tree/leaf");
    }
    let scene = Scene::new(forked());
    assert_eq!(run(&scene, "branch s.jsonl u2 --json", &["{\"x\":1}", ""]).json()["cancelled"], false);
    assert_eq!(names(scene.session.path("")).len(), 2);
}

#[test]
fn hook_that_cancels_stops_move_and_later_hooks() {
    let options = ["", "--save", "--label x", "--summary x", "--summarize --summarizer false"];
    for line in options.map(|options| format!("navigate s.jsonl u2 --json {options}")) {
        for (answers, asked) in [
            (&[r#"{"cancel":true}"#][..], 1),
            (&["", " {\"cancel\" : true, \"x\": [1]}\n"], 2),
            (&[&answer("no"), r#"{"cancel":true,"summary":{"summary":""}}"#], 2),
            (&[r#"{"cancel":false,"cancel":true}"#, "noise", &answer("late")], 1),
        ] {
            let scene = Scene::new(forked());
            let old = bytes(&scene.session);
            let run = run(&scene, &line, answers);
            assert_eq!((run.code, run.stderr.as_str()), (3, ""), "{line} {answers:?}: {run:?}");
            let told: Value = serde_json::from_str(&run.stdout).unwrap();
            let expected = json!({
                "path": "s.jsonl", "noop": false, "cancelled": true, "targetId": "u2", "oldLeafId": "b2", "positionId": "a1",
                "newLeafId": "b2", "commonAncestorId": "a1", "entriesToSummarize": ["b1", "b2"],
                "editorText": "second", "written": [],
                "context": {"messages": 4, "thinkingLevel": "off", "models": {}, "mode": "none"},
            });
            assert_eq!(told, expected, "{line}");
            let asked: Vec<_> = (0..asked).map(|at| format!("{at} session_before_tree")).collect();
            assert_eq!(scene.order(), asked, "nobody else is asked or told");
            untouched(&scene.session, &old);
        }
    }
}

#[test]
fn hook_that_cancels_stops_fork_and_later_hooks() {
    for line in ["u2", "--at t2", "u2 --output new.jsonl", "u2 --output -"] {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let run = run(&scene, &format!("branch s.jsonl --json {line}"), &["", "{\"cancel\":true}", "{}"]);
        assert_eq!(run.code, 3, "{line}: {run:?}");
        assert!(!run.stderr.contains("error"), "{line}: {run:?}");
        let [told] = &lines(run.stdout.as_bytes())[..] else { panic!("not one object: {run:?}") };
        assert_eq!(told["cancelled"], true);
        assert_eq!((&told["sessionFile"], &told["sessionId"]), (&Value::Null, &Value::Null));
        assert_eq!(told["targetId"], if line == "--at t2" { "t2" } else { "u2" });
        assert_eq!(scene.order(), ["0 session_before_branch", "1 session_before_branch"]);
        untouched(&scene.session, &old);
    }
}

#[test]
fn text_output_says_that_a_hook_cancelled() {
    for line in ["navigate s.jsonl u2 --save", "branch s.jsonl u2"] {
        let scene = Scene::new(forked());
        let run = run(&scene, line, &["{\"cancel\":true}"]);
        assert_eq!((run.code, run.stderr.as_str()), (3, ""), "{run:?}");
        assert!(run.stdout.contains("cancelled by"), "{run:?}");
        assert!(!run.stdout.contains("second"), "nothing to edit: {run:?}");
    }
}

/// Lets hooks answer a move that summarizes; returns the summary entry, whose line must be alone.
#[track_caller]
fn summarized(args: &str, answers: &[&str]) -> Value {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let told = run(&scene, &format!("navigate s.jsonl --summarize --json {args}"), answers).json();
    let line = the_new_line(&scene, &old);
    assert_eq!((&told["summaryEntry"], &told["fromExtension"]), (&line, &json!(true)), "{answers:?}");
    assert_eq!(told["newLeafId"], line["id"]);
    assert_eq!(line["type"], "branch_summary");
    assert_eq!((&line["fromExtension"], &line["fromHook"]), (&json!(true), &json!(true)));
    line
}

#[test]
fn summary_of_hook_is_stored_unchanged() {
    let texts = [" x \n", "\n\ntwo\r\n\tlines\u{1f600}\u{0}\u{1b}[31m", "\"</conversation>\" \\ é"];
    for text in texts {
        let line = summarized("u2", &[&answer(text)]);
        assert_eq!(
            keys(&line),
            ["fromExtension", "fromHook", "fromId", "id", "parentId", "summary", "timestamp", "type"]
        );
        assert_eq!((&line["summary"], &line["fromId"]), (&json!(text), &json!("a1")));
        assert_eq!(line["parentId"], "a1");
    }
    let escaped = summarized("--root", &[r#"{"summary":{"summary":"\u0063af\u00e9 \ud83d\ude00"}}"#]);
    assert_eq!((&escaped["summary"], &escaped["fromId"]), (&json!("café 😀"), &json!("root")));
}

#[test]
fn summary_of_hook_has_details_of_hook() {
    let check = |details: &str, expected: Option<Value>| {
        let line = summarized("u2", &[&format!(r#"{{"summary":{{"summary":"x"{details}}}}}"#)]);
        assert_eq!(line.get("details"), expected.as_ref(), "{details}");
    };
    check("", None);
    check(r#","details":null"#, None);
    check(r#","details":{}"#, Some(json!({})));
    check(
        r#","details":{"readFiles":["z"],"mine":[1, {"a":null}]}"#,
        Some(json!({"readFiles":["z"],"mine":[1,{"a":null}]})),
    );
    check(r#","details":"text","more":1"#, Some(json!("text")));
    check(r#","details":7"#, Some(json!(7)));
}

#[test]
fn details_over_several_lines_are_stored_on_one() {
    let spread = "{\n  \"summary\": {\n    \"summary\": \"x\",\n    \"details\": {\r\n      \"a\": [\n        1\n      ]\n    }\n  }\n}\n";
    let line = summarized("u2", &[spread]);
    assert_eq!(line["details"], json!({"a": [1]}));
}

#[test]
fn numbers_in_details_keep_their_spelling() {
    let scene = Scene::new(forked());
    let said = r#"{"summary":{"summary":"x","details":{"n":[1.50,2e3,12345678901234567890]}}}"#;
    run(&scene, "navigate s.jsonl u2 --summarize --json", &[said]).ok();
    let text = String::from_utf8(bytes(&scene.session)).unwrap();
    assert!(
        text.ends_with(
            ",\"details\":{\"n\":[1.50,2e3,12345678901234567890]},\"fromExtension\":true,\"fromHook\":true}\n"
        )
    );
}

#[test]
fn summary_of_hook_is_stored_even_if_nothing_is_left() {
    let line = summarized("t2 --leaf a1 --summarizer false", &[&answer("mine")]);
    assert_eq!((&line["summary"], &line["parentId"]), (&json!("mine"), &json!("t2")));
}

#[test]
fn last_answer_with_summary_replaces_earlier_ones() {
    let [one, two] = ["one", "two"].map(answer);
    let detailed = r#"{"summary":{"summary":"one","details":{"a":1}}}"#;
    let check = |answers: &[&str], summary: &str| {
        let line = summarized("u2", answers);
        assert_eq!((&line["summary"], line.get("details")), (&json!(summary), None), "{answers:?}");
    };
    check(&[&one, &two], "two");
    check(&[&two, &one], "one");
    check(&[&one, ""], "one");
    check(&["{}", &one, "\n"], "one");
    check(&[detailed, &two], "two");
    for last in ["{}", r#"{"other":1}"#, r#"{"cancel":false}"#, r#"{"summary":null}"#] {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let run = run(&scene, "navigate s.jsonl u2 --summarize --json", &[&one, last]);
        scene.refused(&old, &run, "no-summarizer");
        assert_eq!(scene.order().len(), 2);
    }
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    run(&scene, "navigate s.jsonl u2 --summarize --json --summarizer cat", &[&one, "{}"]).ok();
    let line = the_new_line(&scene, &old);
    assert_eq!((line.get("fromExtension"), line.get("fromHook")), (None, None), "the summarizer wrote it");
}

#[test]
fn summary_of_hook_without_request_is_ignored() {
    for (args, count) in [("", 0), ("--save", 1), ("--label x", 1), ("--summary TEXT", 1)] {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let told = run(&scene, &format!("navigate s.jsonl u2 --json {args}"), &[&answer("mine")]).json();
        assert_eq!(told["written"].as_array().unwrap().len(), count);
        assert!(!String::from_utf8(bytes(&scene.session)).unwrap().contains("mine"));
        if args == "--summary TEXT" {
            assert_eq!(the_new_line(&scene, &old)["summary"], "TEXT");
            assert_eq!(told["fromExtension"], false);
        }
    }
}

#[test]
fn label_is_for_the_summary_of_the_hook() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    run(&scene, "navigate s.jsonl u2 --summarize --label tried --json", &[&answer("mine")]).ok();
    let new = crate::write::scene::appended(&old, &bytes(&scene.session));
    assert_eq!((new.len(), &new[1]["targetId"], &new[1]["parentId"]), (2, &new[0]["id"], &new[0]["id"]));
}

/// The commands that ask hooks.
const ASKING: [&str; 3] = ["navigate s.jsonl u2 --save", "navigate s.jsonl u2 --summarize", "branch s.jsonl u2"];

/// Checks that an answer is refused.
#[track_caller]
fn is_no_answer(line: &str, said: &[u8]) {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hooks = [scene.answering("bad", said), scene.answering("next", "")];
    let hooks = hooks.each_ref().map(|hook| format!("--hook={hook}"));
    let run = scene.run(&format!("{line} --json"), &hooks.each_ref().map(String::as_str));
    let error = scene.refused(&old, &run, "hook-failed");
    assert_eq!(scene.order().len(), 1, "the next hook is not asked: {:?}", scene.order());
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(scene.tool("bad").to_str().unwrap()), "the hook is named: {message}");
    assert!(error["hint"].as_str().unwrap().contains("JSON object"), "{error}");
}

#[test]
fn answer_that_is_not_one_object_fails() {
    for line in ASKING {
        is_no_answer(line, b"ok");
    }
    let other = ["true", "null", "7", "\"cancel\"", "[]", "[{\"cancel\":true}]", "{\"cancel\":true"];
    let several =
        ["{}{}", "{} {}", "{}\n{}\n", "{\"cancel\":true},", "{\"cancel\":true}\nlog", "log\n{\"cancel\":true}"];
    let nearly = ["{'cancel':true}", "{cancel:true}", "{\"cancel\":true,}", "// no\n{}", "\u{1b}[0m{}", "\0"];
    let all = [&other[..], &several, &nearly].concat();
    each(&all, |said| is_no_answer(ASKING[0], said.as_bytes()));
    is_no_answer(ASKING[0], b"\xff\xfe{\x00}\x00");
}

#[test]
fn blank_summary_of_hook_fails() {
    for line in ASKING {
        is_no_answer(line, answer("").as_bytes());
    }
    let blank = [" ", "\\n\\t", "\\u3000"].map(|text| format!(r#"{{"summary":{{"summary":"{text}"}}}}"#));
    let other = ["{}", "[]", "7", "\"text\"", r#"{"summary":null}"#, r#"{"summary":["x"]}"#, r#"{"text":"x"}"#];
    let other = other.map(|said| format!(r#"{{"summary":{said}}}"#));
    each(&[&blank[..], &other].concat(), |said| is_no_answer(ASKING[1], said.as_bytes()));
}

#[test]
fn answer_of_up_to_16_mib_is_accepted() {
    const LIMIT: usize = 16 * 1024 * 1024;
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.answering("long", [vec![b' '; LIMIT - 2], b"{}".to_vec()].concat());
    scene.run("navigate s.jsonl u2 --save --json", &["--hook", &hook]).ok();
    the_new_line(&scene, &old);
    let old = bytes(&scene.session);
    fs::write(scene.tool("long.answer"), [vec![b' '; LIMIT - 1], b"{}".to_vec()].concat()).unwrap();
    fs::remove_file(scene.tool("order")).unwrap();
    let run = scene.run("navigate s.jsonl t2 --save --json", &["--hook", &hook]);
    scene.refused(&old, &run, "hook-failed");
    fs::remove_file(scene.tool("order")).unwrap();
    // It would go on for ever.
    let hook = scene.hook("endless", "while :; do cat \"$T/long.answer\"; done");
    let run = scene.run("navigate s.jsonl t2 --save --json", &["--hook", &hook]);
    scene.refused(&old, &run, "hook-failed");
}
