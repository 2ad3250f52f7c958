//! Naming an entry (help naming, "Entries"): every command takes every form, and says what is
//! wrong with a name. Which entry a name means is tested beside the rule, in `core/naming/entry.rs`.

use super::{Scratch, entry, label, message};

/// Three prompts, a label in the middle, and the leaf that set it.
fn session() -> Scratch {
    Scratch::new(&[
        message("aaaa1111", "", "user", "First prompt"),
        message("bbbb2222", "aaaa1111", "assistant", "First answer"),
        message("cccc3333", "bbbb2222", "user", "Second prompt"),
        message("cccc4444", "cccc3333", "assistant", "Second answer"),
        message("12345678", "cccc4444", "user", "Third prompt"),
        label("dddd5555", "12345678", "bbbb2222", "plan-b"),
    ])
}

/// Returns message and hint of a name that is refused.
fn refuse(name: &str, kind: &str) -> (String, String) {
    let run = session().args(["label", "s.jsonl", name, "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}: {run:?}");
    let error = serde_json::from_str::<serde_json::Value>(&run.stderr).unwrap()["error"].take();
    assert_eq!(error["kind"], kind, "{name}: {error}");
    assert_eq!(error["path"], "s.jsonl");
    let text = |name: &str| error[name].as_str().unwrap().to_owned();
    (text("message"), text("hint"))
}

#[test]
fn an_argument_takes_every_form_of_a_name() {
    let scratch = session();
    for (name, expected) in [
        ("aaaa", "aaaa1111"),
        ("@", "12345678"),
        ("@~1", "cccc4444"),
        ("assistant:1", "cccc4444"),
        ("label:plan-b", "bbbb2222"),
        ("label:plan-b~1", "aaaa1111"),
        ("user:2~1", "bbbb2222"),
    ] {
        let found = scratch.args(["label", "s.jsonl", name, "--json"]).json();
        assert_eq!(found["id"], expected, "{name}");
    }
}

#[test]
fn names_are_seen_from_the_leaf_given() {
    let scratch = session();
    let check = |args: &str, expected: &str| {
        let line = scratch.run(&format!("tree s.jsonl --json {args}")).json();
        assert_eq!(line["id"], expected, "{args}");
    };
    check("--leaf cccc4444 --entry @", "cccc4444");
    check("--leaf cccc4444 --entry @~1", "cccc3333");
    check("--leaf cccc4444 --entry user:1", "cccc3333");
    // Inside `--leaf`, `@` and `user:N` are seen from the file's leaf.
    check("--leaf @~1 --entry @", "cccc4444");
    check("--leaf user:1 --entry @", "12345678");
    check("--leaf @ --entry assistant:2", "bbbb2222");
    check("--leaf user:2~1 --entry @", "bbbb2222");
}

#[test]
fn a_name_not_found_exits_with_2_and_hints_at_near_ones() {
    let (message, hint) = refuse("label:plan-c", "not-found");
    assert!(message.contains("`label:plan-c`") && hint.contains("label:plan-b"), "{message} {hint}");
    let (message, _) = refuse("user:3~1", "not-found");
    assert!(message.contains("`user:3~1`") && message.contains("beyond the root"), "{message}");
}

#[test]
fn an_ambiguous_name_exits_with_2_and_lists_what_it_may_mean() {
    let (message, _) = refuse("cccc", "ambiguous");
    assert_eq!(message, "`cccc` matches 2 entries:\n  cccc3333  Second prompt\n  cccc4444  Second answer");
}

/// What the leaf `m1` may be, a child of the answer `a1`: each mark, and what is none.
fn leaves() -> Vec<(&'static str, String, bool)> {
    vec![
        ("a label", label("m1", "a1", "u1", "kept"), true),
        ("a name", entry("session_info", "m1", "a1", r#""name":"x""#), true),
        ("a title", entry("title_change", "m1", "a1", r#""title":"x""#), true),
        ("a saved move", entry("custom", "m1", "a1", r#""customType":"session-tree/leaf""#), true),
        ("another extension's", entry("custom", "m1", "a1", r#""customType":"x""#), false),
        ("a setting", entry("thinking_level_change", "m1", "a1", r#""thinkingLevel":"high""#), false),
        ("an answer", message("m1", "a1", "assistant", "more"), false),
    ]
}

#[test]
fn at_is_what_a_mark_hangs_at_or_the_leaf_in_each_command() {
    for (what, line, is_mark) in leaves() {
        let about = if is_mark { "a1" } else { "m1" };
        let file =
            || Scratch::new(&[message("u1", "", "user", "ask"), message("a1", "u1", "assistant", "say"), line.clone()]);
        let scratch = file();
        // Where ENTRY says what a command is about.
        for (line, member) in [
            ("tree s.jsonl --entry @ --json", "/id"),
            ("tree s.jsonl --below @ --filter all --json", "/0/entry/id"),
            ("label s.jsonl @ --json", "/id"),
            ("context s.jsonl --diff @ --json", "/toLeafId"),
        ] {
            assert_eq!(scratch.run(line).json().pointer(member).unwrap(), about, "{what}: {line}");
        }
        assert_eq!(file().run("label s.jsonl @ here --json").json()["targetId"], about, "{what}");
        let above = if is_mark { "u1" } else { "a1" };
        assert_eq!(scratch.run("tree s.jsonl --entry @~ --json").json()["id"], above, "{what}");
        // Where it says where one stands.
        for line in ["context s.jsonl --leaf @ --json", "context s.jsonl --json"] {
            assert_eq!(scratch.run(line).json()["leafId"], "m1", "{what}: {line}");
        }
        for at in ["--at @", "--at"] {
            let run = scratch.run(&format!("branch s.jsonl {at} --output - --quiet"));
            // A label is copied to the end, whatever it hung at.
            let kinds = run.stdout.lines().map(|line| line.contains(r#""id":"m1""#)).filter(|is_it| *is_it).count();
            assert_eq!(kinds, usize::from(what != "a label"), "{what}: {at}");
        }
        let labelled = file().run("label s.jsonl u1 here --leaf @ --json");
        assert_eq!((labelled.code, labelled.stderr.as_str()), (0, ""), "{what}");
        // A move to where one stands is none, and another name of what it is about is one.
        for option in ["", " --save", " --exact --save"] {
            let moved = scratch.run(&format!("navigate s.jsonl @ --json{option}")).stdout;
            let moved: serde_json::Value = serde_json::from_str(&moved).unwrap();
            let ids = ["targetId", "oldLeafId", "positionId", "newLeafId"].map(|name| moved[name].as_str().unwrap());
            assert_eq!((ids, &moved["noop"]), (["m1"; 4], &true.into()), "{what}{option}");
        }
        let moved = scratch.run("navigate s.jsonl a1 --json").json();
        assert_eq!((&moved["noop"], &moved["newLeafId"]), (&false.into(), &"a1".into()), "{what}");
    }
}

#[test]
fn text_of_an_entry_is_printed_alone() {
    let blocks = r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"First.\n"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"x"}},{"type":"text","text":"\tThen\u001b[2J \u05d0\u200f"}]"#;
    let scratch = Scratch::new(&[
        message("u1", "", "user", "ask\n\nmore\n"),
        entry("message", "a1", "u1", &format!(r#""message":{{"role":"assistant","content":{blocks}}}"#)),
        entry(
            "message",
            "t1",
            "a1",
            r#""message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"one\r\ntwo"}]}"#,
        ),
        entry("message", "b1", "t1", r#""message":{"role":"bashExecution","command":"ls","output":"a b"}"#),
        entry("compaction", "c1", "b1", r#""summary":"So far.","firstKeptEntryId":"a1","tokensBefore":1"#),
        entry("model_change", "x1", "c1", r#""model":"a/b""#),
    ]);
    for (name, expected) in [
        ("u1", "ask\n\nmore\n"),
        ("assistant:1", "First.\n\tThen\\x1b[2J \u{5d0}\u{200f}\n"),
        ("t1", "one\r\ntwo\n"),
        ("b1", "a b\n"),
        ("c1", "So far.\n"),
        ("x1", ""),
    ] {
        let run = scratch.run(&format!("tree s.jsonl --entry {name} --body --width 3"));
        assert_eq!((run.code, run.stdout.as_str()), (0, expected), "{name}");
    }
    assert_eq!(scratch.run("tree s.jsonl --entry c1 --entry b1 --body").ok(), "So far.\na b\n");
    for wrong in ["--body", "--entry u1 --body --json"] {
        assert_eq!(scratch.run(&format!("tree s.jsonl {wrong}")).code, 2, "{wrong}");
    }
}

#[test]
fn a_file_in_the_place_of_an_entry_gets_a_hint() {
    let scratch = session();
    for line in ["label s.jsonl other.jsonl", "navigate s.jsonl s.jsonl", "branch s.jsonl other.jsonl"] {
        let run = scratch.run(line);
        assert_eq!(run.code, 2, "{line}");
        assert!(run.stderr.contains("hint: it is a file, and the command takes one session"), "{line}: {run:?}");
    }
}
