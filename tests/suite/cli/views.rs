//! `tree`: views of a part of it, and pictures (help rules, "Views").

use serde_json::{Value, json};

use super::{HEADER, Scratch, entry, ids, label, message};
use crate::support::finish;

/// A trunk of four, a fork, a long branch with a label in it, and a short one with the leaf.
fn session() -> Scratch {
    Scratch::new(&[
        message("aaaa0001", "", "user", "start"),
        message("aaaa0002", "aaaa0001", "assistant", "one"),
        message("aaaa0003", "aaaa0002", "user", "two"),
        message("aaaa0004", "aaaa0003", "assistant", "fork"),
        message("bbbb0001", "aaaa0004", "user", "long way"),
        message("bbbb0002", "bbbb0001", "assistant", "marked"),
        entry("model_change", "bbbb0003", "bbbb0002", r#""model":"a/b""#),
        message("bbbb0004", "bbbb0003", "user", "go on"),
        message("bbbb0005", "bbbb0004", "assistant", "end").replace("00:00:01", "00:00:09"),
        message("cccc0001", "aaaa0004", "user", "short way"),
        message("cccc0002", "cccc0001", "assistant", "done").replace("00:00:01", "00:00:05"),
        label("cccc0003", "cccc0002", "bbbb0002", "mark"),
    ])
}

fn rows(scratch: &Scratch, options: &str) -> Vec<String> {
    let out = scratch.run(&format!("tree s.jsonl {options}")).ok();
    out.lines().skip(1).map(str::to_owned).collect()
}

/// Text, table and `jsonl` have the same rows, whose numbers are those of the whole tree.
#[test]
fn all_formats_of_a_view_have_same_rows() {
    let scratch = session();
    let check = |options: &str, expected: &[&str]| {
        let objects = scratch.run(&format!("tree s.jsonl --format jsonl {options}")).json_lines();
        assert_eq!(ids(&objects), expected, "{options}");
        let leaf = options.find("--leaf").map_or("", |at| &options[at..]);
        let all = scratch.run(&format!("tree s.jsonl --format jsonl --filter all {leaf}")).json_lines();
        for mut object in objects {
            object.as_object_mut().unwrap().remove("match");
            assert!(all.contains(&object), "{options}: {object}");
        }
        for format in ["text", "table"] {
            let rows = rows(&scratch, &format!("--format {format} {options}"));
            let first: Vec<_> = rows.iter().filter_map(|row| row.split_whitespace().next()).collect();
            assert_eq!(first, expected, "{options} {format}");
        }
    };
    check("--branches", &["aaaa0004", "cccc0002", "bbbb0002", "bbbb0005"]);
    check("--branches --filter all", &["aaaa0004", "cccc0003", "bbbb0002", "bbbb0005"]);
    check("--branches --filter user-only", &["aaaa0003", "cccc0001", "bbbb0004"]);
    check("--branches --path", &["cccc0002"]);
    check("--branches --leaf aaaa0002", &["aaaa0002", "aaaa0004", "bbbb0002", "bbbb0005", "cccc0002"]);
    check("--depth 0", &["aaaa0001"]);
    check("--depth 4", &["aaaa0001", "aaaa0002", "aaaa0003", "aaaa0004", "cccc0001", "bbbb0001"]);
    check("--depth 4 --branches", &["aaaa0004", "cccc0001", "bbbb0001"]);
    // An entry that is not shown is one step all the same.
    check(
        "--depth 7 --filter user-only --leaf bbbb0005",
        &["aaaa0001", "aaaa0003", "bbbb0001", "bbbb0004", "cccc0001"],
    );
    check("--depth 6 --filter user-only --leaf bbbb0005", &["aaaa0001", "aaaa0003", "bbbb0001", "cccc0001"]);
    check("--since 2026-01-01T00:00:05Z", &["cccc0002", "bbbb0005"]);
    check("--since 2026-01-01T00:00:02Z --until 2026-01-01T00:00:05Z", &["cccc0002"]);
    check("--until 2026-01-01T00:00:01Z --search way", &["cccc0001", "bbbb0001"]);
}

#[test]
fn text_output_counts_rows_left_out() {
    assert_eq!(
        rows(&session(), "--branches"),
        [
            "aaaa0004  • assistant: fork  (+3 above)",
            "cccc0002  ├─ • assistant: done  (+1 above)  ← leaf (+1 hidden)",
            "bbbb0002  └─ [mark] assistant: marked  (+1 above)",
            "bbbb0005       assistant: end  (+1 above)",
        ]
    );
    assert_eq!(
        rows(&session(), "--branches --depth 5"),
        [
            "aaaa0004  • assistant: fork  (+3 above)",
            "cccc0002  ├─ • assistant: done  (+1 above)  ← leaf (+1 hidden)",
            "bbbb0002  └─ [mark] assistant: marked  (+1 above, +2 below)",
        ]
    );
    // On a narrow terminal the count gives way before the leaf does, and both before the words.
    let row = |width: u32| rows(&session(), &format!("--branches --depth 5 --width {width}"))[1].clone();
    assert_eq!(row(59), "cccc0002  ├─ • assistant: …  (+1 above)  ← leaf (+1 hidden)");
    assert_eq!(row(50), "cccc0002  ├─ • assistant: done  ← leaf (+1 hidden)");
    assert_eq!(row(35), "cccc0002  ├─ • assistant: done");
}

#[test]
fn tips_show_one_row_per_branch() {
    let scratch = session();
    assert_eq!(
        rows(&scratch, "--tips"),
        [
            "bbbb0005  2026-01-01 00:00  4 messages since fork    user: long way",
            "cccc0002  2026-01-01 00:00  2 messages since fork  • user: short way",
        ]
    );
    let none = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": 0.0});
    let tips = [
        json!({"id": "bbbb0005", "timestamp": "2026-01-01T00:00:09.000Z", "messages": 4, "turns": 2, "usage": none,
            "whole": {"messages": 8, "turns": 4, "usage": none}, "forkId": "aaaa0004", "leaf": false, "text": "long way"}),
        json!({"id": "cccc0002", "timestamp": "2026-01-01T00:00:05.000Z", "messages": 2, "turns": 1, "usage": none,
            "whole": {"messages": 6, "turns": 3, "usage": none}, "forkId": "aaaa0004", "leaf": true, "text": "short way"}),
    ];
    assert_eq!(scratch.run("tree s.jsonl --tips --json").json(), json!(tips));
    assert_eq!(scratch.run("tree s.jsonl --tips --format jsonl").json_lines(), tips);
    // A search is for the branches that hold a hit.
    assert_eq!(scratch.run("tree s.jsonl --tips --search way --json").json(), json!(tips));
    assert_eq!(scratch.run("tree s.jsonl --tips --search LONG --json").json(), json!([tips[0]]));
    assert_eq!(scratch.run("tree s.jsonl --tips --json --filter labeled-only").json(), json!([tips[0]]));
    assert_eq!(scratch.run("tree s.jsonl --tips --json --filter labeled-only --path").json(), Value::Array(vec![]));
    let table = rows(&scratch, "--tips --format table");
    assert_eq!(table[1], "cccc0002  2026-01-01 00:00         2      1  • user: short way");
}

#[test]
fn times_without_zone_are_local() {
    let shown = |zone: &str, options: &str| {
        let scratch = session();
        let line = format!("tree s.jsonl --format jsonl --filter user-only {options}");
        let run = finish(scratch.command(line.split(' ')).env("TZ", zone));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        run.stdout.lines().count()
    };
    // All was said at midnight in Greenwich.
    assert_eq!(shown("UTC", "--since 2026-01-01"), 5);
    assert_eq!(shown("UTC", "--until 2025-12-31"), 0);
    assert_eq!(shown("XYZ5", "--since 2026-01-01"), 0);
    assert_eq!(shown("XYZ5", "--until 2025-12-31"), 5);
    assert_eq!(shown("XYZ5", "--since 2025-12-31T19:00 --until 2025-12-31T20:00"), 5);
    assert_eq!(shown("XYZ5", "--since 2026-01-01T00:00Z"), 5);
    assert_eq!(shown("UTC", "--until 0d"), 5);
}

#[test]
fn hint_counts_entries_too_deep_to_show() {
    let lines =
        [entry("model_change", "aaaa0001", "", r#""model":"a/b""#), message("aaaa0002", "aaaa0001", "user", "x")];
    let run = Scratch::new(&lines).run("tree s.jsonl --depth 0");
    assert!(run.stderr.contains("hint: 1 entry is deeper, with nothing shown above\n"), "{run:?}");
    assert_eq!(Scratch::new(&lines).run("tree s.jsonl --depth 0 --format jsonl").stderr, "");
}

#[test]
fn period_leaves_out_entries_without_time_and_warns() {
    let stamped = |id: &str, time: &str| message(id, "", "user", "x").replace("\"2026-01-01T00:00:01.000Z\"", time);
    let scratch = Scratch::new(&[
        stamped("aaaa0001", "\"yesterday\""),
        stamped("aaaa0002", "null"),
        stamped("aaaa0003", "1767225601"),
        entry("model_change", "aaaa0004", "", r#""model":"a/b""#).replace("2026", "twenty"),
    ]);
    let run = scratch.run("tree s.jsonl --format jsonl --since 2000-01-01");
    assert_eq!((ids(&run.json_lines()).join(" ").as_str()), "aaaa0003");
    let run = scratch.run("tree s.jsonl --since 2000-01-01");
    assert_eq!(run.stderr, "hint: left out: 2 entries without a time that can be read\n");
    let run = scratch.run("tree s.jsonl");
    assert_eq!(run.stderr, "hint: the leaf is aaaa0004: nothing of the path to it is shown\n");
}

#[test]
fn search_shows_the_matching_text() {
    let hay = "hay ".repeat(60);
    let scratch = Scratch::new(&[
        message("aaaa0001", "", "user", &format!("Find it: {hay}the NEEDLE \u{1b}[1m{hay}")),
        message("aaaa0002", "aaaa0001", "assistant", "Here is the needle"),
        entry("compaction", "aaaa0003", "aaaa0002", r#""summary":"A needle was found","tokensBefore":9000"#),
    ]);
    let rows = rows(&scratch, "--search needle --width 80");
    assert!(
        rows[0].contains(r" the NEEDLE \x1b[1mhay") && rows[0].starts_with("aaaa0001  • user: Find it"),
        "{rows:?}"
    );
    assert_eq!(rows[1], "aaaa0002  • assistant: Here is the needle");
    assert_eq!(rows[2], "aaaa0003  • [compaction: 9k tokens] … A needle was found  ← leaf");
    let table = scratch.run("tree s.jsonl --search needle --format table --width 80").ok();
    assert_eq!(table.lines().filter(|line| line.to_lowercase().contains("needle")).count(), 3, "{table}");
    // For scripts the text stays what it is, and the place is beside it.
    let objects = scratch.run("tree s.jsonl --search needle --format jsonl").json_lines();
    assert_eq!(objects[2]["text"], "[compaction: 9k tokens]");
    assert_eq!(objects[2]["match"], "A needle was found");
    let found = objects[0]["match"].as_str().unwrap();
    assert!(found.starts_with("hay hay") && found.contains(" hay the NEEDLE \u{1b}[1mhay "), "{found}");
    // The row as people see it is searched, and so is the label.
    let objects = scratch.args(["tree", "s.jsonl", "--search", "\"user: find\"", "--format", "jsonl"]).json_lines();
    assert_eq!(objects[0]["match"].as_str().map(|found| &found[..14]), Some("user: Find it:"));
    // Where there is room for them, all words are to be seen.
    let out = scratch.run("tree s.jsonl --search needle --color always").ok();
    assert_eq!(out.matches("\u{1b}[1m\u{1b}[4m").count(), 3, "{out}");
}

#[test]
fn pictures_join_straight_runs() {
    let dot = session().run("tree s.jsonl --format dot").ok();
    let nodes: Vec<_> = dot.lines().filter_map(|line| line.trim().split_once(" [label=")).collect();
    let labels: Vec<_> = nodes[1..].iter().map(|(_, rest)| rest.split('"').nth(1).unwrap()).collect();
    assert_eq!(
        labels,
        [
            r"user: start\naaaa0001",
            r"2 entries\nuser: two",
            r"assistant: fork\naaaa0004",
            r"user: short way\ncccc0001",
            r"assistant: done\ncccc0002 leaf (+1 hidden)",
            r"user: long way\nbbbb0001",
            r"[mark] assistant: marked\nbbbb0002",
            r"user: go on\nbbbb0004",
            r"assistant: end\nbbbb0005",
        ]
    );
    let mermaid = session().run("tree s.jsonl --format mermaid --branches --depth 5").ok();
    assert_eq!(
        mermaid,
        "flowchart TD
  n0[\"3 entries<br/>user: start\"]
  n1{{\"assistant: fork<br/>aaaa0004\"}}
  n0 ==> n1
  n2[\"user: short way<br/>cccc0001\"]
  n1 ==> n2
  n3([\"assistant: done<br/>cccc0002 leaf (+1 hidden)\"])
  n2 ==> n3
  n4[\"user: long way<br/>bbbb0001\"]
  n1 --> n4
  n5([\"[mark] assistant: marked<br/>bbbb0002 (+2 below)\"])
  n4 --> n5
  classDef run stroke-dasharray:4
  class n0 run
  classDef labelled fill:#fff3bf,color:#000
  class n5 labelled
  classDef active stroke:#2b8a3e,stroke-width:2px
  class n0,n1,n2,n3 active
  classDef leaf fill:#b2f2bb,color:#000,stroke-width:3px
  class n3 leaf
"
    );
    let empty = Scratch::bytes(HEADER.as_bytes());
    assert_eq!(empty.run("tree s.jsonl --format mermaid").ok(), "flowchart TD\n");
    assert!(empty.run("tree s.jsonl --format dot").ok().ends_with("}\n"));
}

#[test]
fn large_mermaid_picture_has_hint() {
    let tip = |at: usize| message(&format!("tip{at:05}"), "aaaa0001", "user", "x");
    let lines = |count| [message("aaaa0001", "", "user", "start")].into_iter().chain((0..count).map(tip));
    let hint = |count: usize, format: &str| {
        let run = Scratch::new(&lines(count).collect::<Vec<_>>()).run(&format!("tree s.jsonl --format {format}"));
        run.stderr
    };
    assert_eq!(hint(500, "mermaid"), "");
    assert!(hint(501, "mermaid").starts_with("hint: Mermaid draws up to 500 arrows"));
    assert_eq!(hint(501, "dot"), "");
}
