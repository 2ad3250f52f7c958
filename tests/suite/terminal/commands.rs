//! Every command on a terminal: no row is wider than it, `--ascii` draws with ASCII only, and nothing is drawn
//! for screen readers or told by colour alone. What
//! is given back whole for other programs (the text of a message to be sent again, the path of a
//! new file, a label, a script) is not drawn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use clap::CommandFactory;
use session_tree::cli::Cli;
use unicode_width::UnicodeWidthStr;

use crate::cli::{HEADER, Scratch, entry, label, message};
use crate::support::data;
use crate::terminal::pty::Terminal;
use crate::terminal::without_colours;

/// Command lines that print text or tables of `s.jsonl`, `old.jsonl`, and a folder `sessions`.
const LINES: [&str; 38] = [
    "tree s.jsonl",
    "tree s.jsonl --filter all",
    "tree s.jsonl --filter no-tools --root",
    "tree s.jsonl --filter user-only --path",
    "tree s.jsonl --search e",
    "tree s.jsonl --branches",
    "tree s.jsonl --tips",
    "tree s.jsonl --tips --format table --filter all",
    "tree s.jsonl --depth 3",
    "tree s.jsonl --since 2000-01-01",
    "tree s.jsonl --format table",
    "tree s.jsonl --format table --filter all",
    "tree s.jsonl --entry @ --entry @~1 --entry @~2 --entry user:1",
    "tree old.jsonl --format table",
    "context s.jsonl",
    "context s.jsonl --root",
    "context s.jsonl --stats",
    "context s.jsonl --stats --all",
    "context s.jsonl sessions --stats",
    "context s.jsonl --diff @~3",
    "context s.jsonl --leaf @~3",
    "context old.jsonl",
    "list .",
    "list . --long",
    "list . --long --format table",
    "label s.jsonl",
    "label s.jsonl @~1 again --force",
    "branch s.jsonl",
    "branch s.jsonl --format table",
    "branch s.jsonl --at @~1 --dry-run --quiet",
    "navigate s.jsonl @",
    "navigate s.jsonl @~2 --dry-run",
    "navigate s.jsonl --root --quiet",
    "check s.jsonl old.jsonl sessions",
    "check s.jsonl --why-leaf",
    "migrate s.jsonl old.jsonl sessions --check",
    "migrate old.jsonl sessions --dry-run",
    "migrate sessions old.jsonl",
];

/// Command lines whose messages are drawn too.
const FAILING: [&str; 9] = [
    "tree s.jsonl --leaf zzzz",
    "tree s.jsonl --leaf main",
    "tree s.jsonl --search qqqq",
    "tree missing.jsonl",
    "tree s.jsonl --filter nothing",
    "label sessions",
    "label s.jsonl @ ",
    "navigate s.jsonl nowhere",
    "check missing.jsonl",
];

fn scratch(session: &[u8]) -> Scratch {
    let scratch = Scratch::bytes(session);
    fs::create_dir(scratch.path("sessions")).unwrap();
    let (header, body) = (r#"{"type":"session","id":"s-1"}"#, r#"{"role":"user","content":"an old prompt"}"#);
    let old = format!("{header}\n{{\"type\":\"message\",\"message\":{body}}}\n");
    let long = format!("sessions/{}.jsonl", "a-name-that-is-longer-than-most-".repeat(4));
    for name in ["old.jsonl", &long] {
        fs::write(scratch.path(name), &old).unwrap();
    }
    for name in ["c01-truncated-tail", "c24-orphan-parent", "c48-malformed-messages"] {
        let name = format!("{name}.jsonl");
        fs::copy(data("cases").join(&name), scratch.path("sessions").join(&name)).unwrap();
    }
    scratch
}

/// A session with long ids, wide characters and emoji wherever there may be text.
fn hostile() -> Vec<u8> {
    const WIDE: &str = "日本語の文字は二桁の幅を取ります 👨‍👩‍👧‍👦 👩🏽‍🚀 🇩🇪🇯🇵 👍🏿 1️⃣ ❤️ ☎︎ e\u{301}o\u{308}\u{304} \
                        नमस्ते กำลัง 한글 ﷽ ａｂｃ ｱｲｳ \u{200b}\u{ad}\u{2060} \t\u{1b}[31m";
    let long = "an-id-that-shares-most-of-what-it-is-called-with-the-others-".repeat(2);
    let id = |at: usize| match at % 4 {
        0 => format!("{long}{at:02}"),
        1 => format!("日本語{at:02}-👨‍👩‍👧‍👦-0198c0de"),
        _ => format!("id{at:02}{at:04}"),
    };
    let text = [WIDE, "\n", &WIDE.replace(' ', ""), "\n    - ", &"word ".repeat(60), &"x".repeat(200)].concat();
    let quoted = serde_json::Value::from(text.as_str());
    let mut lines = vec![HEADER.replace("/home/mia/shop", &"/some/日本語".repeat(9))];
    let mut parent = String::new();
    for at in 0..24 {
        let role = ["user", "assistant", "developer", "system", "toolResult", "日本語"][at % 6];
        lines.push(match at {
            7 => entry("model_change", &id(at), &parent, &format!(r#""provider":{quoted},"modelId":{quoted}"#)),
            11 => entry("branch_summary", &id(at), &parent, &format!(r#""summary":{quoted},"fromId":"root""#)),
            13 => entry("custom_message", &id(at), &parent, &format!(r#""customType":{quoted},"content":{quoted}"#)),
            _ => message(&id(at), &parent, role, &text),
        });
        lines.push(message(&format!("side{at:04}"), &parent, "user", &text));
        lines.push(label(&format!("label{at:03}"), &id(at), &id(at), &WIDE.replace(char::is_control, "")));
        parent = format!("label{at:03}");
    }
    lines.push(message("orphan00", &long, "assistant", &text));
    lines.push("no json".to_owned());
    lines.push(message("main0001", &parent, "assistant", &text));
    lines.push(message("main0002", "main0001", "assistant", "on"));
    lines.push(message("main0003", "main0002", "assistant", &text));
    lines.join("\n").into_bytes()
}

/// A session in ASCII, with something of most kinds and something odd.
fn plain() -> Vec<u8> {
    let long = "many words ".repeat(30);
    let mut lines = vec![HEADER.to_owned(), "no json".to_owned()];
    for at in 0..24 {
        let parent = if at == 0 { "gone".to_owned() } else { format!("main{:04}", at - 1) };
        lines.push(message(&format!("main{at:04}"), &parent, ["user", "assistant"][at % 2], &long));
        lines.push(message(&format!("side{at:04}"), &parent, "assistant", &long));
    }
    let call = r#""message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{"path":"/home/mia/a.rs"}}]}"#;
    let result = r#""message":{"role":"toolResult","toolCallId":"t","toolName":"read","content":"text"}"#;
    lines.push(entry("message", "call0000", "main0023", call));
    lines.push(entry("message", "result00", "call0000", result));
    lines.push(entry(
        "compaction",
        "compact0",
        "result00",
        r#""summary":"so far","firstKeptEntryId":"call0000","tokensBefore":9"#,
    ));
    lines.push(label("label000", "compact0", "main0002", &"plan-b ".repeat(9)));
    lines.push(message("last0001", "label000", "assistant", "end"));
    lines.push(message("last0002", "last0001", "assistant", &long));
    lines.push(message("last0003", "last0002", "assistant", &long));
    lines.join("\n").into_bytes()
}

/// Runs a command in a terminal and returns what it shows, messages included.
fn shown(scratch: &Scratch, line: &str, columns: u16) -> String {
    let (text, code) = Terminal::start(&mut scratch.command(line.split(' ')), columns).finish();
    assert!((0..3).contains(&code), "{line}: {code} {text}");
    without_colours(&text)
}

fn check_widths(session: &[u8]) {
    for line in LINES {
        for columns in [40, 80] {
            // Messages are not folded: what they name is to be copied.
            let scratch = scratch(session);
            let run = scratch.run(&format!("{line} --width {columns}"));
            assert!((0..2).contains(&run.code) && !run.stdout.is_empty(), "{line}: {run:?}");
            let seen = shown(&scratch, &format!("{} --quiet", line.replace(" --quiet", "")), columns);
            let is_message = |line: &str| line.starts_with("error: ");
            for text in run.stdout.lines().chain(seen.lines().filter(|line| !is_message(line))) {
                assert!(text.width() <= usize::from(columns), "{line} in {columns}: {}: {text}", text.width());
            }
        }
    }
}

#[test]
fn demo_session_is_never_wider_than_terminal() {
    check_widths(&fs::read(data("demo.jsonl")).unwrap());
}

#[test]
fn hostile_session_is_never_wider_than_terminal() {
    check_widths(&hostile());
}

#[test]
fn every_text_format_is_tested_for_width() {
    let lines: BTreeSet<_> = LINES.into_iter().collect();
    // Pages are printed as they are.
    let is_fitted = |name: &str| !["completions", "man", "help"].contains(&name);
    for command in Cli::command().get_subcommands().filter(|command| is_fitted(command.get_name())) {
        let own: Vec<_> = lines.iter().filter(|line| line.split(' ').next() == Some(command.get_name())).collect();
        assert!(!own.is_empty(), "{command}");
        let format = command.get_arguments().find(|argument| argument.get_long() == Some("format"));
        let values = format.map(clap::Arg::get_possible_values).unwrap_or_default();
        if values.iter().any(|value| value.get_name() == "table") {
            assert!(own.iter().any(|line| line.contains("--format table")), "{command}");
        }
    }
}

#[test]
fn ascii_option_draws_only_ascii_in_every_command() {
    for (at, line) in LINES.iter().chain(&FAILING).enumerate() {
        let scratch = scratch(&plain());
        let line = format!("{line} --ascii");
        for columns in [40, 100] {
            let seen = shown(&scratch, &line, columns);
            let found = seen.lines().find(|line| !line.is_ascii());
            assert_eq!(found, None, "{line}");
            assert!(!seen.is_empty() || at >= LINES.len(), "{line}");
        }
    }
    for command in Cli::command().get_subcommands() {
        for option in ["-h", "--help"] {
            let help = shown(&scratch(b""), &format!("{} {option}", command.get_name()), 80);
            assert!(help.is_ascii(), "{command} {option}");
        }
    }
}

#[test]
fn nothing_is_drawn_for_screen_readers() {
    for (at, line) in LINES.iter().chain(&FAILING).enumerate() {
        let scratch = scratch(&plain());
        let mut command = scratch.command(line.split(' '));
        let (seen, code) = Terminal::start(command.env("ACCESSIBLE", "1"), 60).finish();
        let seen = without_colours(&seen);
        assert!((0..3).contains(&code) && (!seen.is_empty() || at >= LINES.len()), "{line}: {code} {seen}");
        for row in seen.lines() {
            let is_drawn = !row.is_ascii() || row.trim_start().contains("   ") || row.starts_with(['|', '+', '`', '*']);
            assert!(!is_drawn, "{line}: {row:?}");
        }
        let only_reads = ["tree", "context", "list"].iter().any(|command| line.starts_with(command));
        if only_reads {
            assert_eq!(shown(&scratch, &format!("{line} --plain-rows"), 60), seen, "{line}");
        }
    }
    let scratch = scratch(&plain());
    let drawn = shown(&scratch, "tree s.jsonl", 60);
    for value in ["0", ""] {
        let (seen, _) = Terminal::start(scratch.command(["tree", "s.jsonl"]).env("ACCESSIBLE", value), 60).finish();
        assert_eq!(without_colours(&seen), drawn, "ACCESSIBLE={value}");
    }
}

#[test]
fn a_row_in_words_says_depth_branch_and_state() {
    let lines = [
        HEADER.to_owned(),
        message("id000001", "", "user", "one"),
        message("id000002", "id000001", "assistant", "two"),
        message("id000003", "id000002", "user", "three"),
        message("id000004", "id000002", "user", "four"),
        message("id000005", "gone", "user", "five"),
        label("id000006", "id000004", "id000003", "wip"),
    ];
    let scratch = Scratch::bytes(lines.join("\n").as_bytes());
    let rows = |args: &str| {
        let out = scratch.run(&format!("tree s.jsonl --plain-rows --quiet {args}")).ok();
        out.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let tree = [
        "id000001, depth 0, branch 1 of 2 from the start, active: user: one",
        "id000002, depth 1, active: assistant: two",
        "id000004, depth 2, branch 1 of 2 from id000002, active, leaf 1 entry below, hidden: user: four",
        "id000003, depth 2, branch 2 of 2 from id000002, label wip: user: three",
        "id000005, depth 0, branch 2 of 2 from the start, parent gone missing: user: five",
    ];
    assert_eq!(rows(""), tree);
    assert_eq!(rows("--leaf id000004")[2], tree[2].replace("leaf 1 entry below, hidden", "leaf"));
    let shallow = "id000001, depth 0, branch 1 of 2 from the start, active, 3 omitted below, \
                   leaf 3 entries below, hidden: user: one";
    assert_eq!(rows("--depth 0"), [shallow, tree[4]]);
    // Nothing is cut, unless that is asked for.
    assert_eq!(rows("--width 30")[0], "id000001, depth 0, branch 1...");
}

#[test]
fn colour_says_nothing_alone() {
    let same = |name: &str| format!(r#""{name}":"word""#);
    let said = |role: &str| format!(r#""message":{{"role":"{role}","content":"word","command":"word"}}"#);
    let kinds: [(&str, String); 12] = [
        ("message", said("user")),
        ("message", said("assistant")),
        ("message", said("developer")),
        ("message", said("toolResult")),
        ("message", said("bashExecution")),
        ("message", said("other")),
        ("branch_summary", same("summary")),
        ("compaction", same("summary")),
        ("custom_message", format!("{},{}", same("customType"), same("content"))),
        ("custom", same("customType")),
        ("model_change", same("model")),
        ("session_init", same("task")),
    ];
    let mut lines = vec![HEADER.to_owned()];
    let id = |at: usize| format!("id{at:06}");
    for round in 0..5 {
        for (kind, rest) in &kinds {
            let at = lines.len();
            // Branches, some of which are orphans and some labelled.
            let parent = match round {
                0 if at == 1 => String::new(),
                0 => id(1),
                1 => "gone".to_owned(),
                _ => id(at - 1),
            };
            lines.push(entry(kind, &id(at), &parent, rest));
            if round == 3 {
                lines.push(label(&id(at + 1), &id(at), &id(at), "word"));
            }
        }
    }
    let scratch = Scratch::bytes(lines.join("\n").as_bytes());
    let without_ids = |row: &str| {
        let mut pieces = row.split("id0");
        let first = pieces.next().unwrap_or_default().to_owned();
        pieces.fold(first, |row, piece| row + "ID" + piece.get(5..).unwrap_or_default())
    };
    for line in LINES.iter().filter(|line| !line.contains("sessions") && !line.contains("old")) {
        for words in ["", " --plain-rows"] {
            let row = line.replace("@~3", "id000030").replace("@~2", "id000030").replace("@~1", "id000029");
            let out = scratch.run(&format!("{row}{words} --color always"));
            let mut colours = BTreeMap::new();
            for row in out.stdout.lines().map(without_ids) {
                let known = colours.entry(without_colours(&row)).or_insert_with(|| row.clone());
                assert_eq!(*known, row, "{line}{words}: two rows are told apart by colour alone");
            }
            assert!(!colours.is_empty(), "{line}{words}: {out:?}");
        }
    }
}

#[test]
fn tree_is_drawn_with_box_characters_by_default() {
    let scratch = scratch(&plain());
    for line in ["tree s.jsonl", "context s.jsonl", "label s.jsonl", "tree s.jsonl --format table"] {
        assert!(!shown(&scratch, line, 100).is_ascii(), "{line}");
    }
}
