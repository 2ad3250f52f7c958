//! A summary as it is stored, and where the context shows it.

use serde_json::{Value, json};

use crate::cli::{Scratch, entry, message};
use crate::hooks::scene::{Scene, answer, the_new_line};
use crate::write::scene::{append_like_an_agent, appended, bytes, calls, forked, is_fresh_id, keys};

/// Lets a summarizer that runs a script summarize; returns the new line.
#[track_caller]
fn summarized(scene: &Scene, line: &str, script: &str) -> Value {
    let old = bytes(&scene.session);
    let summarizer = scene.summarizer(script);
    let run = scene.run(&format!("navigate s.jsonl --summarize --json {line}"), &["--summarizer", &summarizer]);
    assert_eq!(run.stderr, "");
    let told = run.json();
    let line = the_new_line(scene, &old);
    assert_eq!((&told["summaryEntry"], &told["newLeafId"]), (&line, &line["id"]));
    assert_eq!((&told["fromExtension"], &told["written"]), (&json!(false), &json!([line["id"]])));
    line
}

/// Splits a stored summary into what introduces it and the rest.
#[track_caller]
fn split(line: &Value) -> (String, String) {
    let (start, rest) = line["summary"].as_str().unwrap().split_once("\n\n").unwrap();
    (start.to_owned(), rest.to_owned())
}

#[test]
fn summary_of_summarizer_gets_preamble_and_is_trimmed() {
    let scene = Scene::new(forked());
    let line = summarized(&scene, "u2", r"printf ' \n\n ## Tried\n\n- a \n- b\r\n\n\t'");
    assert_eq!(keys(&line), ["details", "fromId", "id", "parentId", "summary", "timestamp", "type"]);
    is_fresh_id(&line["id"]);
    assert_eq!(
        (&line["type"], &line["parentId"], &line["fromId"]),
        (&json!("branch_summary"), &json!("a1"), &json!("a1"))
    );
    let (start, rest) = split(&line);
    assert_eq!(rest, "## Tried\n\n- a \n- b");
    assert!(start.contains("another branch"), "{start}");
    assert_eq!((start.matches('.').count(), start.ends_with('.')), (1, true), "one sentence: {start}");
    assert_eq!(line["details"], json!({"readFiles": [], "modifiedFiles": []}));

    let line = summarized(&Scene::new(forked()), "--root", "echo x");
    assert_eq!((&line["parentId"], &line["fromId"]), (&Value::Null, &json!("root")));
}

#[test]
fn summary_of_any_text_is_stored() {
    let scene = Scene::new(forked());
    let line = summarized(&scene, "u2", r#"printf 'é 😀 "q" \\ </conversation> \001\033[31m'"#);
    assert_eq!(split(&line).1, "é 😀 \"q\" \\ </conversation> \u{1}\u{1b}[31m");
    let line = summarized(&Scene::new(forked()), "u2", r"printf 'caf\351'");
    assert_eq!(split(&line).1, "caf\u{fffd}");
}

#[test]
fn long_summary_is_stored_whole() {
    let scene = Scene::new(forked());
    let line = summarized(&scene, "u2", "head -c 3000000 /dev/zero | tr '\\0' x");
    assert_eq!(split(&line).1.len(), 3_000_000);
}

#[test]
fn summary_ends_with_files_of_the_branch() {
    let scene = Scene::new(forked());
    let line = summarized(&scene, "b2 --leaf t2", "echo done");
    let expected = "done\n\n<read-files>\nsrc/a.rs\n</read-files>\n\n<modified-files>\nsrc/b.rs\n</modified-files>";
    assert_eq!(split(&line).1, expected);
    assert_eq!(line["details"], json!({"readFiles": ["src/a.rs"], "modifiedFiles": ["src/b.rs"]}));
    let only = |tool: &str| {
        let scene = Scene::new(Scratch::new(&[message("u1", "", "user", "x"), calls("a1", "u1", &[(tool, "p")])]));
        split(&summarized(&scene, "u1", "echo done")).1
    };
    assert_eq!(only("read"), "done\n\n<read-files>\np\n</read-files>");
    assert_eq!(only("write"), "done\n\n<modified-files>\np\n</modified-files>");
    assert_eq!(only("edit"), "done\n\n<modified-files>\np\n</modified-files>");
    assert_eq!(only("grep"), "done");
}

#[test]
fn files_of_summary_come_from_all_abandoned_entries() {
    let earlier = |id: &str, parent: &str, file: &str, more: &str| {
        let details = format!(r#""details":{{"readFiles":["r-{file}","b"],"modifiedFiles":["m-{file}"],"more":1}}"#);
        entry("branch_summary", id, parent, &format!(r#""fromId":"u1","summary":"s",{details}{more}"#))
    };
    let scene = Scene::new(Scratch::new(&[
        message("u1", "", "user", "first"),
        calls("a0", "u1", &[("write", "kept, not left behind")]),
        calls("a1", "a0", &[("read", "z"), ("read", "b"), ("write", "later read")]),
        earlier("s1", "a1", "ours", ""),
        earlier("s2", "s1", "extension", r#","fromExtension":true"#),
        earlier("s3", "s2", "hook", r#","fromHook":true"#),
        earlier("s4", "s3", "false", r#","fromExtension":false,"fromHook":false"#),
        entry("compaction", "c1", "s4", r#""summary":"so far","firstKeptEntryId":"s4","tokensBefore":9"#),
        calls("a2", "c1", &[("edit", "z"), ("read", "later read"), ("read", "a"), ("read", "é"), ("read", "B")]),
        calls("n1", "u1", &[("write", "on another branch")]),
    ]));
    // What does not fit into the budget counts as well.
    let line = summarized(&scene, "a0 --leaf a2 --token-budget 90", "echo done");
    let read = ["B", "a", "b", "r-false", "r-ours", "é"];
    let modified = ["later read", "m-false", "m-ours", "z"];
    assert_eq!(line["details"], json!({"readFiles": read, "modifiedFiles": modified}));
    assert_eq!(keys(&line["details"]), ["modifiedFiles", "readFiles"]);
    let lists = format!(
        "done\n\n<read-files>\n{}\n</read-files>\n\n<modified-files>\n{}\n</modified-files>",
        read.join("\n"),
        modified.join("\n")
    );
    assert_eq!(split(&line).1, lists);
}

#[test]
fn files_of_earlier_own_summary_are_included() {
    let scene = Scene::new(forked());
    let first = summarized(&scene, "b1 --leaf t2", "echo one");
    let second = summarized(&scene, "u1", "cat \"$T/prompt\"");
    assert_eq!(second["details"], first["details"]);
    assert!(split(&second).1.contains("\n\none\n\n<read-files>"), "the earlier summary is told too");
    let hook = scene.answering("hook", answer("mine"));
    scene.run("navigate s.jsonl b1 --leaf t2 --summarize", &["--hook", &hook]).ok();
    let third = summarized(&scene, "a1", "cat \"$T/prompt\"");
    assert_eq!(third["details"], json!({"readFiles": [], "modifiedFiles": []}));
    assert!(split(&third).1.contains("] mine\n"), "{third}");
}

#[test]
fn label_is_for_the_summary() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let summarizer = scene.summarizer("echo done");
    let more = ["--summarizer", &summarizer];
    let told = scene.run("navigate s.jsonl u2 --summarize --label tried --save --json", &more).json();
    let new = appended(&old, &bytes(&scene.session));
    assert_eq!(new.iter().map(|line| &line["type"]).collect::<Vec<_>>(), ["branch_summary", "label"]);
    assert_eq!(
        (&new[1]["targetId"], &new[1]["parentId"], &new[1]["label"]),
        (&new[0]["id"], &new[0]["id"], &json!("tried"))
    );
    assert_eq!((&told["summaryEntry"], &told["newLeafId"]), (&new[0], &new[1]["id"]));
}

#[test]
fn summary_migrates_old_version_in_same_step() {
    let text = String::from_utf8(bytes(&forked())).unwrap().replace(r#""version":3"#, r#""version":2"#);
    let scene = Scene::new(Scratch::bytes(text.as_bytes()));
    let more = ["--summarizer", &scene.summarizer("echo done")];
    scene.run("navigate s.jsonl u2 --summarize", &more).ok();
    let new = String::from_utf8(bytes(&scene.session)).unwrap();
    let added = new.strip_prefix(&text.replace(r#""version":2"#, r#""version":3"#)).unwrap();
    let line: Value = serde_json::from_str(added).unwrap();
    assert_eq!((&line["parentId"], split(&line).1.as_str()), (&json!("a1"), "done"));
}

/// Returns what a context holds, in words: `user first`, `branchSummary …`.
fn told(messages: &Value) -> Vec<String> {
    let text = |message: &Value| {
        let content = &message["content"];
        let text = [&message["summary"], content, &content[0]["text"]].into_iter().find_map(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let messages = messages.as_array().unwrap().iter();
    messages.map(|message| format!("{} {}", message["role"].as_str().unwrap(), text(message))).collect()
}

/// Makes a move with a summary, goes on from there as an agent does, and checks the context.
#[track_caller]
fn shows(scene: &Scene, line: &str, more: &[&str], before: &[&str]) {
    let old = bytes(&scene.session);
    let result = scene.run(&format!("navigate s.jsonl --json {line}"), more).json();
    let summary = the_new_line(scene, &old);
    let text = summary["summary"].as_str().unwrap();
    let expected = |role: &str, text: &str, last: &[&str]| {
        let summary = format!("{role} {text}");
        before.iter().copied().chain([summary.as_str()]).chain(last.iter().copied()).map(str::to_owned).collect()
    };
    let context = scene.run("context s.jsonl --json", &[]).json();
    let stored: Vec<String> = expected("branchSummary", text, &[]);
    assert_eq!(told(&context["messages"]), stored, "{line}");
    assert_eq!(context["leafId"], summary["id"]);
    assert_eq!(result["context"]["messages"], stored.len(), "{line}");
    let shown = &context["messages"][before.len()];
    assert_eq!(keys(shown), ["fromId", "role", "summary", "timestamp"]);
    assert_eq!(shown["fromId"], summary["fromId"]);

    append_like_an_agent(&scene.file(), &message("new", summary["id"].as_str().unwrap(), "user", "go on"));
    let context = scene.run("context s.jsonl --json", &[]).json();
    assert_eq!(told(&context["messages"]), expected("branchSummary", text, &["user go on"]), "{line}");
    let messages = scene.run("context s.jsonl --format llm", &[]).json();
    let words = told(&messages);
    assert_eq!((words.len(), &words[..before.len()]), (before.len() + 2, &stored[..before.len()]), "{line}");
    assert_eq!(words.last().unwrap(), "user go on");
    let blocks = messages[before.len()]["content"].as_array().unwrap();
    let shown = blocks[0]["text"].as_str().unwrap();
    assert_eq!((blocks.len(), &messages[before.len()]["role"]), (1, &json!("user")));
    assert!(shown.contains(&format!("<summary>\n{text}\n</summary>")), "{shown}");
    assert!(!shown.starts_with("<summary>"), "a sentence introduces it");
}

#[test]
fn context_shows_summary_after_its_parent() {
    let start = ["user first", "assistant one"];
    let further = ["user first", "assistant one", "user second", "assistant ", "toolResult "];
    let scene = || Scene::new(forked());
    for (place, before) in [("u2", &start[..]), ("a1", &start), ("t2", &further), ("u1", &[]), ("--root", &[])] {
        shows(&scene(), place, &["--summarize", "--summarizer", "echo tried"], before);
        shows(&scene(), place, &["--summary", "tried"], before);
        let scene = scene();
        let hook = scene.answering("hook", answer("tried"));
        shows(&scene, place, &["--summarize", "--hook", &hook], before);
    }
}

#[test]
fn context_shows_summary_after_compaction() {
    let scene = Scene::new(Scratch::new(&[
        message("u1", "", "user", "first"),
        message("a1", "u1", "assistant", "one"),
        entry("compaction", "c1", "a1", r#""summary":"so far","firstKeptEntryId":"a1","tokensBefore":9"#),
        message("u2", "c1", "user", "second"),
        message("a2", "u2", "assistant", "two"),
    ]));
    let more = ["--summarize", "--summarizer", "echo tried"];
    let old = bytes(&scene.session);
    scene.run("navigate s.jsonl u2", &more).ok();
    the_new_line(&scene, &old);
    let roles = told(&scene.run("context s.jsonl --json", &[]).json()["messages"]);
    assert_eq!(roles[..2], ["compactionSummary so far", "assistant one"]);
    assert!(roles.len() == 3 && roles[2].starts_with("branchSummary "), "{roles:?}");
    // From before the compaction it is as if there had been none.
    let scene = Scene::new(Scratch::bytes(&old));
    shows(&scene, "a1", &more, &["user first", "assistant one"]);
}
