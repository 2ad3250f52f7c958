//! `tree`: which rows there are, and what they say (help rules, "Rows").

use serde_json::Value;

use super::{HEADER, Scratch, entry, ids, label, message};

/// A tree with everything that a row can tell: two branches, a label, an orphan, odd members.
fn odd() -> Scratch {
    let long = format!("  first {}", "x".repeat(220));
    Scratch::bytes(
        [
            HEADER,
            "",
            &message("aaaa1111", "", "user", &long),
            "no json",
            r#"{"type":"message","id":"bbbb2222","parentId":"aaaa1111","timestamp":1767225602000,"message":{"role":"assistant","content":[{"type":"text","text":"in\n /home/mia/shop"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"/home/mia/a.rs"}}]}}"#,
            r#"{"type":"message","id":"cccc3333","parentId":"bbbb2222","timestamp":"2026-01-01T02:00:00+01:00","message":{"role":"toolResult","toolCallId":"t1","toolName":"read","content":"secret"}}"#,
            r#"{"type":"message","id":"dddd4444","parentId":"aaaa1111","timestamp":1.7672256e9,"message":{"role":"user","content":[]}}"#,
            r#"{"id":"eeee5555","parentId":"gone","timestamp":true}"#,
            r#"{"type":"from_the_future","id":"ffff6666","parentId":"eeee5555","timestamp":"yesterday"}"#,
            r#"{"type":"message","id":"a0a07777","parentId":"ffff6666","message":{"role":"alien"}}"#,
            &label("b0b08888", "a0a07777", "eeee5555", "wip"),
        ]
        .join("\n")
        .as_bytes(),
    )
}

/// The rows of [`odd`], in the order of display.
const ODD: [&str; 8] = [
    r#"{"id":"eeee5555","parentId":null,"missingParent":"gone","depth":0,"line":8,"type":null,"timestamp":null,"label":"wip","active":true,"leaf":false,"children":1,"text":"[unknown type]"}"#,
    r#"{"id":"ffff6666","parentId":"eeee5555","depth":1,"line":9,"type":"from_the_future","timestamp":"yesterday","active":true,"leaf":false,"children":1,"text":"[from_the_future]"}"#,
    r#"{"id":"a0a07777","parentId":"ffff6666","depth":2,"line":10,"type":"message","role":"alien","timestamp":null,"active":true,"leaf":false,"children":1,"text":"[malformed message: role alien]"}"#,
    r#"{"id":"b0b08888","parentId":"a0a07777","depth":3,"line":11,"type":"label","timestamp":"2026-01-01T00:00:01.000Z","active":true,"leaf":true,"children":0,"text":"[label: wip]"}"#,
    r#"{"id":"aaaa1111","parentId":null,"depth":0,"line":3,"type":"message","role":"user","timestamp":"2026-01-01T00:00:01.000Z","active":false,"leaf":false,"children":2,"text":"first 194x"}"#,
    r#"{"id":"dddd4444","parentId":"aaaa1111","depth":1,"line":7,"type":"message","role":"user","timestamp":1.7672256e9,"active":false,"leaf":false,"children":0,"text":"(empty)"}"#,
    r#"{"id":"bbbb2222","parentId":"aaaa1111","depth":1,"line":5,"type":"message","role":"assistant","timestamp":1767225602000,"active":false,"leaf":false,"children":1,"text":"in /home/mia/shop"}"#,
    r#"{"id":"cccc3333","parentId":"bbbb2222","depth":2,"line":6,"type":"message","role":"toolResult","timestamp":"2026-01-01T02:00:00+01:00","active":false,"leaf":false,"children":0,"text":"[read: /home/mia/a.rs]"}"#,
];

#[test]
fn jsonl_rows_have_documented_members() {
    let out = odd().run("tree s.jsonl --filter all --format jsonl").ok();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), ODD.len());
    for (line, expected) in lines.into_iter().zip(ODD) {
        // 200 characters of text: six of them before the x.
        assert_eq!(line, expected.replace("194x", &"x".repeat(194)));
    }
}

#[test]
fn full_rows_end_with_the_entry_as_stored() {
    let odd = " \t{ \"type\" : \"message\",\"id\":\"aaaa1111\" , \"parentId\":null,\"n\":1.0e+2,\"n\":-0,\"u\":\"\\u0041\\/\\ud800\",\
               \"message\":{\"role\":\"user\",\"content\":\"x\"}, \"o\":{ } }  \r";
    let scratch = Scratch::new(&[odd, &message("bbbb2222", "aaaa1111", "user", "two")]);
    let out = scratch.run("tree s.jsonl --format jsonl --full").ok();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        lines[0],
        format!(
            r#"{{"id":"aaaa1111","parentId":null,"depth":0,"line":2,"type":"message","role":"user","timestamp":null,"active":true,"leaf":false,"children":1,"text":"x","entry":{}}}"#,
            odd.trim()
        )
    );
    assert!(
        lines[1]
            .ends_with(&format!(",\"text\":\"two\",\"entry\":{}}}", message("bbbb2222", "aaaa1111", "user", "two")))
    );
}

#[test]
fn json_nests_what_is_shown() {
    let lines = [
        message("aaaa1111", "", "user", "one"),
        message("bbbb2222", "aaaa1111", "user", "two"),
        message("cccc3333", "aaaa1111", "user", "three"),
        label("dddd4444", "bbbb2222", "cccc3333", "a \\\"name\\\""),
        message("eeee5555", "gone", "user", "orphan"),
    ];
    let [one, two, three, set, orphan] = &lines;
    let expected = format!(
        "[{{\"entry\":{one},\"children\":[{{\"entry\":{two},\"children\":[{{\"entry\":{set},\"children\":[]}}]}},\
         {{\"entry\":{three},\"children\":[],\"label\":\"a \\\"name\\\"\"}}]}},{{\"entry\":{orphan},\"children\":[]}}]\n"
    );
    let scratch = Scratch::new(&lines);
    assert_eq!(scratch.run("tree s.jsonl --json --filter all --root").ok(), expected);
    // A node hangs below its nearest shown ancestor, and the active branch comes first.
    let ids = |options: &str| {
        let out = scratch.run(&format!("tree s.jsonl --format json {options}"));
        let nodes: Value = serde_json::from_str(&out.stdout).unwrap();
        (nested(&nodes), out.code)
    };
    let default = "eeee5555() aaaa1111(bbbb2222() cccc3333())";
    for (options, expected, code) in [
        ("", default, 0),
        ("--full", default, 0),
        ("--leaf cccc3333", "aaaa1111(cccc3333() bbbb2222()) eeee5555()", 0),
        ("--root", "aaaa1111(bbbb2222() cccc3333()) eeee5555()", 0),
        ("--filter labeled-only", "cccc3333()", 0),
        ("--search two --filter all", "bbbb2222()", 0),
        ("--search name --filter all", "dddd4444() cccc3333()", 0),
        ("--search one --path --leaf bbbb2222", "aaaa1111()", 0),
        ("--search nothing-has-this", "", 1),
        ("--path --leaf dddd4444 --filter all", "aaaa1111(bbbb2222(dddd4444()))", 0),
        ("--path --root", "", 0),
        ("--depth 0", "eeee5555() aaaa1111()", 0),
        ("--branches --path --leaf bbbb2222", "bbbb2222()", 0),
        ("--since 2026-02-01", "", 0),
        ("--until 2026-02-01 --filter all --branches", "eeee5555() aaaa1111(dddd4444() cccc3333())", 0),
    ] {
        assert_eq!(ids(options), (expected.to_owned(), code), "{options}");
    }
}

/// Returns the ids of nested nodes, each with those below it in parentheses.
fn nested(nodes: &Value) -> String {
    let node = |node: &Value| format!("{}({})", node["entry"]["id"].as_str().unwrap(), nested(&node["children"]));
    nodes.as_array().unwrap().iter().map(node).collect::<Vec<_>>().join(" ")
}

#[test]
fn entries_are_printed_whole() {
    let odd = " {\"id\":\"bbbb2222\",  \"type\":\"message\",\"parentId\":\"aaaa1111\",\"x\":1e400,\
               \"message\":{\"content\":\"a\\n\\tb\",\"role\":\"user\"}} ";
    let first = message("aaaa1111", "", "user", &format!("one {}end\nnext line", "word ".repeat(100)));
    let scratch = Scratch::new(&[first.as_str(), odd]);
    let out = |format: &str, entries: &str| scratch.run(&format!("tree s.jsonl {entries} --format {format}")).ok();
    let (one, many) = ("--entry @", "--entry @ --entry aaaa --entry @");
    assert_eq!(out("json", one), format!("{}\n", odd.trim()));
    assert_eq!(out("json", many), format!("[{0},{first},{0}]\n", odd.trim()));
    assert_eq!(out("jsonl", one), format!("{}\n", odd.trim()));
    assert_eq!(out("jsonl", many), format!("{0}\n{first}\n{0}\n", odd.trim()));
    let out = scratch.run("tree s.jsonl --entry @ --entry aaaa1111").ok();
    let lines: Vec<_> = out.lines().collect();
    assert!(lines[0].starts_with("bbbb2222  user"), "{out}");
    assert_eq!(lines[1..4], ["a", "    b", ""], "{out}");
    assert!(lines[4].starts_with("aaaa1111  user  2026-01-01 00:00"), "{out}");
    assert!(lines[5].starts_with("one word") && lines[5].ends_with("end"), "{out}");
    assert_eq!(lines[6..], ["next line"], "{out}");
    // A width folds lines and leaves nothing out.
    let narrow = scratch.run("tree s.jsonl --entry @ --entry aaaa1111 --width 20").ok();
    assert!(narrow.lines().all(|line| line.len() <= 20), "{narrow}");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(&narrow), words(&out));
}

#[test]
fn bad_text_shows_as_replacement_characters() {
    let mut file = format!("{HEADER}\n").into_bytes();
    file.extend_from_slice(
        b"{\"type\":\"message\",\"id\":\"aaaa1111\",\"message\":{\"role\":\"user\",\"content\":\"a\xffb\\ud800c\"}}\n",
    );
    let scratch = Scratch::bytes(&file);
    let rows = scratch.run("tree s.jsonl --format jsonl").json_lines();
    assert_eq!(rows[0]["text"], "a\u{fffd}b\u{fffd}c");
    assert!(scratch.run("tree s.jsonl").ok().contains("user: a\u{fffd}b\u{fffd}c"));
    let entry = scratch.run("tree s.jsonl --entry @ --json").ok();
    assert!(entry.contains("\"a\u{fffd}b\\ud800c\""), "{entry}");
}

/// One of each kind in a chain; the leaf is an assistant message that says nothing.
fn kinds() -> Scratch {
    let call = r#""message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"ls","arguments":{}}],"stopReason":"toolUse"}"#;
    let aborted = r#""message":{"role":"assistant","content":[],"stopReason":"aborted"}"#;
    let failed = r#""message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded"}"#;
    let result = r#""message":{"role":"toolResult","toolCallId":"t","toolName":"ls","content":"a.rs"}"#;
    let bash = r#""message":{"role":"bashExecution","command":"ls","output":""}"#;
    let entries = [
        ("model_change", r#""model":"openai/gpt""#),
        ("thinking_level_change", r#""thinkingLevel":"high""#),
        ("message", r#""message":{"role":"user","content":"prompt"}"#),
        ("message", r#""message":{"role":"assistant","content":"answer","stopReason":"stop"}"#),
        ("message", call),
        ("message", result),
        ("message", aborted),
        ("message", failed),
        ("message", bash),
        ("custom", r#""customType":"state""#),
        ("custom_message", r#""customType":"note","content":"x""#),
        ("branch_summary", r#""summary":"tried""#),
        ("compaction", r#""summary":"done","tokensBefore":1000"#),
        ("session_info", r#""name":"A name""#),
        ("mode_change", r#""mode":"plan""#),
        ("from_the_future", ""),
        ("label", r#""targetId":"id05","label":"listing""#),
        ("label", r#""targetId":"id02","label":"start""#),
        ("message", call),
    ];
    let mut lines = Vec::new();
    let mut parent = String::new();
    for (at, (kind, rest)) in entries.into_iter().enumerate() {
        let id = format!("id{at:02}");
        lines.push(entry(kind, &id, &parent, rest));
        parent = id;
    }
    Scratch::new(&lines)
}

#[test]
fn filters_show_documented_entries() {
    let scratch = kinds();
    let check = |options: &str, expected: &[u32]| {
        let rows = scratch.run(&format!("tree s.jsonl --format jsonl {options}")).json_lines();
        let expected: Vec<_> = expected.iter().map(|at| format!("id{at:02}")).collect();
        assert_eq!(ids(&rows), expected, "{options}");
        // Text and table have the same rows.
        let text = scratch.run(&format!("tree s.jsonl {options}")).ok();
        let table = scratch.run(&format!("tree s.jsonl --format table {options}")).ok();
        for out in [text, table] {
            let first: Vec<_> = out.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
            assert_eq!(first, expected, "{options}\n{out}");
        }
    };
    let all: Vec<_> = (0..19).collect();
    check("", &[2, 3, 5, 6, 7, 8, 10, 11, 12, 15, 18]);
    check("--filter default", &[2, 3, 5, 6, 7, 8, 10, 11, 12, 15, 18]);
    check("--filter no-tools", &[2, 3, 6, 7, 8, 10, 11, 12, 15, 18]);
    check("--filter user-only", &[2]);
    check("--filter labeled-only", &[2, 5]);
    check("--filter all", &all);
    // A silent message is shown where it is the leaf, and only there.
    check("--leaf id04", &[2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 15]);
    check("--root", &[2, 3, 5, 6, 7, 8, 10, 11, 12, 15]);
    check("--filter all --path --leaf id04", &all[..5]);
    check("--filter user-only --path", &[2]);
    check("--path --root", &[]);
    check("--filter all --path --root", &[]);
}

/// A fork with an older and a newer branch; the leaf is on the older one.
fn fork() -> Scratch {
    Scratch::new(&[
        message("aaaa1111", "", "user", "one"),
        message("bbbb2222", "aaaa1111", "assistant", "two"),
        message("cccc3333", "bbbb2222", "user", "left"),
        message("dddd4444", "bbbb2222", "user", "right"),
        label("eeee5555", "dddd4444", "cccc3333", "here"),
    ])
}

/// Checks id, active and leaf of each row.
fn marks(options: &str, expected: &[(&str, bool, bool)]) {
    let rows = fork().run(&format!("tree s.jsonl --filter all --format jsonl {options}")).json_lines();
    let found = rows.iter().map(|row| {
        let is = |name: &str| row[name].as_bool().unwrap();
        (row["id"].as_str().unwrap(), is("active"), is("leaf"))
    });
    assert_eq!(found.collect::<Vec<_>>(), expected, "{options}");
}

#[test]
fn leaf_decides_active_path_and_first_branch() {
    let (a, b, c, d, e) = ("aaaa1111", "bbbb2222", "cccc3333", "dddd4444", "eeee5555");
    marks("", &[(a, true, false), (b, true, false), (d, true, false), (e, true, true), (c, false, false)]);
    marks("--leaf cccc", &[(a, true, false), (b, true, false), (c, true, true), (d, false, false), (e, false, false)]);
    marks("--leaf bbbb", &[(a, true, false), (b, true, true), (c, false, false), (d, false, false), (e, false, false)]);
    marks("--root", &[(a, false, false), (b, false, false), (c, false, false), (d, false, false), (e, false, false)]);
    marks("--path --leaf label:here", &[(a, true, false), (b, true, false), (c, true, true)]);
}

#[test]
fn leaf_is_marked_in_text() {
    let rows = |options: &str| {
        let out = fork().run(&format!("tree s.jsonl {options}")).ok();
        out.lines().skip(1).map(|line| line.replace("  ", " ")).collect::<Vec<_>>()
    };
    assert_eq!(
        rows(""),
        [
            "aaaa1111 • user: one",
            "bbbb2222 • assistant: two",
            "dddd4444 ├─ • user: right ← leaf (+1 hidden)",
            "cccc3333 └─ [here] user: left",
        ]
    );
    assert_eq!(
        rows("--leaf bbbb"),
        [
            "aaaa1111 • user: one",
            "bbbb2222 • assistant: two ← leaf",
            "cccc3333 ├─ [here] user: left",
            "dddd4444 └─ user: right",
        ]
    );
    assert_eq!(
        rows("--root"),
        ["aaaa1111 user: one", "bbbb2222 assistant: two", "cccc3333 ├─ [here] user: left", "dddd4444 └─ user: right"]
    );
    assert_eq!(
        rows("--filter user-only --leaf bbbb"),
        ["aaaa1111 • user: one ← leaf (+1 hidden)", "cccc3333 ├─ [here] user: left", "dddd4444 └─ user: right"]
    );
}

#[test]
fn heading_has_session_facts() {
    let heading = |lines: &[&str]| {
        let out = Scratch::bytes(lines.join("\n").as_bytes()).run("tree s.jsonl").ok();
        out.lines().next().unwrap_or_default().to_owned()
    };
    let titled = HEADER.replace("}", ",\"title\":\"From the header\"}");
    let slot = r#"{"type":"title","v":1,"title":"From the slot","updatedAt":"","pad":""}"#;
    let info = entry("session_info", "ffff0000", "aaaa1111", r#""name":"From the info""#);
    let one = message("aaaa1111", "", "user", "the  prompt");
    let rest = "  ·  s-1  ·  v3  ·  1 entry, 1 branch  ·  ~/shop";
    assert_eq!(heading(&[HEADER, &one]), format!("the prompt{rest}"));
    assert_eq!(heading(&[&titled, &one]), format!("From the header{rest}"));
    assert_eq!(heading(&[slot, &titled, &one]), format!("From the slot{rest}"));
    let rest = rest.replace("1 entry", "2 entries");
    assert_eq!(heading(&[&titled, &one, &info]), format!("From the info{rest}"));
    assert_eq!(heading(&[slot, &titled, &one, &info]), format!("From the slot{rest}"));
    let two = message("bbbb2222", "aaaa1111", "user", "a");
    let three = message("cccc3333", "aaaa1111", "user", "b");
    assert_eq!(
        heading(&[HEADER, &one, &two, &three]),
        "the prompt  ·  s-1  ·  v3  ·  3 entries, 2 branches  ·  ~/shop"
    );
}

#[test]
fn ids_are_cut_to_shortest_unique_length() {
    let long = |end: &str| format!("0198c0de-1111-7000-8000-{end}");
    let (first, second, third) = (long("000000000001"), long("000000000002"), "ffffffff-2222".to_owned());
    let scratch = Scratch::new(&[
        message(&first, "", "user", "one"),
        message(&second, &first, "user", "two"),
        message(&third, &second, "user", "three"),
    ]);
    let out = scratch.run("tree s.jsonl").ok();
    let shown: Vec<_> = out.lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(shown, [first.as_str(), &second, "ffffffff"]);
    let columns: Vec<_> = out.lines().skip(1).map(|line| line.find('•').unwrap()).collect();
    assert_eq!(columns, [columns[0]; 3], "the rows line up\n{out}");
    // What is shown names the entry.
    for (short, id) in shown.iter().zip([&first, &second, &third]) {
        assert_eq!(scratch.args(["label", "s.jsonl", short, "--json"]).json()["id"], id.as_str());
    }
}

#[test]
fn number_of_threads_does_not_change_output() {
    // Several pieces of rows, a fork now and then, calls and results, text that must be escaped. The
    // first piece takes longest, so that others are made before it.
    let long = format!("\"{}\"", r"\u0001".repeat(190));
    let mut lines = Vec::new();
    for at in 1..3000 {
        let parent = if at % 50 == 0 { at - 9 } else { at - 1 };
        let parent = if parent == 0 { String::new() } else { format!("id{parent:04}") };
        let (role, content) = match at % 3 {
            _ if at < 500 => ("user", long.as_str()),
            0 => (
                "assistant",
                r#"[{"type":"text","text":"a \"quote\""},{"type":"toolCall","id":"t","name":"ls","arguments":{"path":"src"}}]"#,
            ),
            1 => ("toolResult", r#""","toolCallId":"t","toolName":"ls""#),
            _ => ("user", r#""naïve\\ \u001b[1m""#),
        };
        let message = format!(r#""message":{{"role":"{role}","content":{content}}}"#);
        lines.push(entry("message", &format!("id{at:04}"), &parent, &message));
    }
    lines.push(label("label001", "id2999", "id0003", "here"));
    let check = |scratch: &Scratch, options: &str| {
        let run = |jobs: u32| scratch.run(&format!("tree s.jsonl --filter all {options} --jobs {jobs}")).ok();
        let one = run(1);
        assert!(one.lines().count() >= 3000, "{options}");
        for jobs in [2, 3, 8] {
            assert!(run(jobs) == one, "{options} with {jobs} threads");
        }
    };
    let scratch = Scratch::new(&lines);
    for options in ["", "--width 40", "--format jsonl", "--format jsonl --full"] {
        check(&scratch, options);
    }
    // A row whose body must be read.
    lines.insert(1500, entry("from_the_future", "future01", "id0009", r#""x":1"#));
    check(&Scratch::new(&lines), "--format jsonl");
}
