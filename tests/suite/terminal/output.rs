//! What reaches a terminal: nothing that it would obey, nothing wider than asked for, colour only
//! where it is wanted. Real terminals are not needed: options and variables stand for them.

use std::fmt::Write as _;
use std::fs;
use std::thread;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::cli::{HEADER, Scratch, entry, label, message};
use crate::support::{Run, data, finish};
use crate::terminal::pty::Terminal;
use crate::terminal::without_colours;

/// Everything that a terminal might obey, and what would forge a line of its own. No NUL, so that
/// it can be an argument too.
const EVIL: &str = "\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}[31m\u{1b}[2J\u{9b}2J\u{8}\u{7f}\u{85}\t\r\nerror: forged\r\n\
                    \u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{2029}\u{1b}";

/// Returns whether a terminal might do something else with a character than show it.
fn is_obeyed(char: char) -> bool {
    let is_bidi =
        matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (char.is_control() && char != '\n') || is_bidi || matches!(char, '\u{2028}' | '\u{2029}')
}

fn check_safe(run: &Run, what: &str) {
    for text in [&run.stdout, &run.stderr] {
        let line = text.lines().find(|line| line.contains(is_obeyed));
        assert_eq!(line, None, "{what}: {run:?}");
    }
}

/// Returns a session in which every string is hostile: the file and the ids of its entries.
fn hostile() -> (Scratch, Vec<String>) {
    let evil = |name: &str| format!("{name}{EVIL}\0");
    let text = json!([
        {"type": "text", "text": evil("text")},
        {"type": "thinking", "thinking": evil("thought")},
        {"type": evil("block")},
    ]);
    let image = json!([{"type": "image", "mimeType": evil("image/"), "data": evil("")}]);
    let mut bodies = vec![
        json!({"type": "message", "message": {"role": "user", "content": evil("prompt")}}),
        json!({"type": "message", "message": {"role": "user", "content": text}}),
        json!({"type": "message", "message": {"role": "user", "content": image}}),
        json!({"type": "message", "message": {"role": "developer", "content": text}}),
        json!({"type": "message", "message": {"role": "system", "content": text}}),
        json!({"type": "message", "message": {"role": evil("role"), "content": text}}),
        json!({"type": "message", "message": {"role": "assistant", "content": [], "stopReason": "aborted"}}),
        json!({"type": "message", "message": {"role": "assistant", "content": [], "errorMessage": evil("failed"),
            "stopReason": evil("stop"), "provider": evil("provider"), "model": evil("model")}}),
        json!({"type": "message", "message": {"role": "bashExecution", "command": evil("ls"), "output": evil("a"),
            "fullOutputPath": evil("/"), "truncated": true, "exitCode": 1}}),
        json!({"type": "message", "message": {"role": "pythonExecution", "code": evil("1"), "output": evil("a")}}),
        json!({"type": "message", "message": {"role": "custom", "customType": evil("kind"), "content": evil("x")}}),
        json!({"type": "message", "message": {"role": "hookMessage", "customType": evil("kind"), "content": text}}),
        json!({"type": "message", "message": {"role": "fileMention",
            "files": [{"path": evil("path"), "content": evil("x")}]}}),
        json!({"type": "message", "message": {"role": "branchSummary", "summary": evil("x"), "fromId": evil("x")}}),
        json!({"type": "message", "message": {"role": "compactionSummary", "summary": evil("x")}}),
        json!({"type": evil("type"), "data": evil("data")}),
        json!({"data": evil("data")}),
        json!({"type": "custom", "customType": evil("kind"), "data": {evil("key"): evil("value")}}),
        json!({"type": "custom_message", "customType": evil("kind"), "content": text, "details": evil("x")}),
        json!({"type": "branch_summary", "summary": evil("x"), "fromId": evil("x")}),
        json!({"type": "model_change", "model": evil("model"), "role": evil("role")}),
        json!({"type": "model_change", "provider": evil("provider"), "modelId": evil("model")}),
        json!({"type": "thinking_level_change", "thinkingLevel": evil("high")}),
        json!({"type": "mode_change", "mode": evil("plan"), "data": {"x": evil("x")}}),
        json!({"type": "service_tier_change", "serviceTier": evil("flex")}),
        json!({"type": "mcp_tool_selection", "selectedToolNames": [evil("tool")]}),
        json!({"type": "ttsr_injection", "injectedRules": [evil("rule")]}),
        json!({"type": "session_info", "name": evil("name")}),
        json!({"type": "title_change", "title": evil("title")}),
        json!({"type": "label", "targetId": evil("gone"), "label": evil("label")}),
    ];
    for tool in ["read", "write", "edit", "bash", "grep", "find", "ls", &evil("tool")] {
        let arguments =
            json!({"path": evil("a.rs"), "command": evil("ls"), "pattern": evil("x"), evil("key"): evil("x")});
        let call = json!({"type": "toolCall", "id": evil("call"), "name": tool, "arguments": arguments});
        bodies.push(json!({"type": "message", "message": {"role": "assistant", "content": [call]}}));
        bodies.push(json!({"type": "message", "message": {"role": "toolResult", "toolCallId": evil("call"),
            "toolName": tool, "content": text}}));
    }
    let ids: Vec<_> = (0..bodies.len()).map(|at| format!("entry{at:02}{EVIL}")).collect();
    let mut lines = vec![
        json!({"type": "title", "v": 1, "title": evil("slot"), "updatedAt": evil("then"), "pad": ""}),
        json!({"type": "session", "version": 3, "id": evil("session"), "cwd": evil("/home/mia"), "title": evil("title")}),
        json!({"type": "session", "id": evil("second")}),
        json!({"type": evil("foreign")}),
        json!({"type": "message", "id": format!("orphan{EVIL}"), "parentId": evil("missing"), "message": null}),
        json!({"type": "message", "id": format!("loop{EVIL}"), "parentId": format!("loop{EVIL}"), "message": {}}),
        json!({"type": "message", "id": format!("twin{EVIL}"), "message": {"role": "user", "content": "x"}}),
        json!({"type": "message", "id": format!("twin{EVIL}"), "message": {"role": "user", "content": "y"}}),
        json!({"type": "compaction", "id": format!("compaction{EVIL}"), "summary": evil("x"), "firstKeptEntryId": evil("x")}),
    ];
    let mut parent = format!("compaction{EVIL}");
    for (at, mut body) in bodies.into_iter().enumerate() {
        body["id"] = ids[at].as_str().into();
        body["parentId"] = parent.into();
        body["timestamp"] = evil("then").into();
        lines.push(body);
        parent = ids[at].clone();
    }
    for target in &ids {
        let set = json!({"type": "label", "id": format!("label-of-{target}"), "parentId": parent, "targetId": target,
            "label": format!("plan{EVIL}")});
        lines.push(set);
    }
    let mut file: Vec<_> = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    file.push(format!("no json {EVIL}\n"));
    (Scratch::bytes(file.concat().as_bytes()), ids)
}

/// Returns command lines that print everything of a session as text.
fn printing(ids: &[String]) -> Vec<Vec<String>> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut lines: Vec<_> = [
        "tree s.jsonl",
        "tree s.jsonl --filter all",
        "tree s.jsonl --filter no-tools",
        "tree s.jsonl --filter user-only",
        "tree s.jsonl --filter labeled-only",
        "tree s.jsonl --filter all --root",
        "tree s.jsonl --filter all --search a",
        "tree s.jsonl --filter all --path",
        "tree s.jsonl --filter all --format table",
        "tree s.jsonl --filter all --format table --search ZXZpbA",
        "tree s.jsonl --filter all --branches",
        "tree s.jsonl --filter all --depth 3",
        "tree s.jsonl --filter all --tips",
        "tree s.jsonl --filter all --tips --format table",
        "tree s.jsonl . --filter all --search a",
        "tree s.jsonl . --filter all --format table",
        "context s.jsonl . --stats",
        "tree s.jsonl --filter all --format dot",
        "tree s.jsonl --filter all --format mermaid",
        "context s.jsonl",
        "context s.jsonl --stats",
        "label s.jsonl",
        "branch s.jsonl",
        "branch s.jsonl --format table",
    ]
    .map(words)
    .into();
    for id in ids {
        lines.push([words("context s.jsonl --leaf"), vec![id.clone()]].concat());
        lines.push([words("context s.jsonl --diff"), vec![id.clone()]].concat());
        lines.push([words("label s.jsonl"), vec![id.clone()]].concat());
        lines.push([words("tree s.jsonl --entry"), vec![id.clone()]].concat());
    }
    lines
}

#[test]
fn output_has_no_control_characters() {
    let (scratch, ids) = hostile();
    for line in printing(&ids) {
        let run = scratch.args(&line);
        assert_eq!(run.code, 0, "{line:?}: {run:?}");
        check_safe(&run, &format!("{line:?}"));
    }
    for line in printing(&ids[..1]) {
        let run = scratch.args(line.iter().map(String::as_str).chain(["--width", "40", "--ascii"]));
        check_safe(&run, &format!("{line:?}"));
    }
    let out = scratch.run("tree s.jsonl --filter all").ok();
    assert!(out.contains(r"user: prompt\x1b]52;c;ZXZpbA==\x07\x1b[31m"), "escapes are shown\n{out}");
}

#[test]
fn colours_are_the_only_escape_sequences() {
    let (scratch, ids) = hostile();
    let mut colours = 0;
    for line in printing(&ids[..9]) {
        let plain = scratch.args(&line);
        let mut run = scratch.args(line.iter().map(String::as_str).chain(["--color", "always"]));
        colours += run.stdout.matches("\u{1b}[").count();
        run.stdout = without_colours(&run.stdout);
        run.stderr = without_colours(&run.stderr);
        check_safe(&run, &format!("{line:?}"));
        assert_eq!((run.stdout, run.stderr), (plain.stdout, plain.stderr), "{line:?}");
    }
    assert!(colours > 100);
}

/// Command lines that fail for a name, a path or a word that is hostile.
fn failing() -> Vec<Vec<String>> {
    let evil = |name: &str| format!("{name}{EVIL}");
    [
        ["tree", "s.jsonl", "--leaf", &evil("zzzz")],
        ["tree", "s.jsonl", "--leaf", "entry"],
        ["tree", "s.jsonl", "--leaf", &evil("label:plan")],
        ["tree", "s.jsonl", "--leaf", &evil("label:plane")],
        ["tree", "s.jsonl", "--leaf", &(evil("entry03") + "~999")],
        ["tree", "s.jsonl", "--leaf", "entry0x"],
        ["tree", "s.jsonl", "--leaf", "label:plam"],
        ["tree", &evil("missing"), "--leaf", "@"],
        ["tree", &evil("empty"), "--leaf", "@"],
        ["tree", &evil("folder"), "--leaf", "@"],
        ["tree", &evil("text"), "--leaf", "@"],
    ]
    .map(|line| line.map(str::to_owned).to_vec())
    .to_vec()
}

fn with_odd_files() -> Scratch {
    let (scratch, _) = hostile();
    fs::write(scratch.path(format!("empty{EVIL}")), "").unwrap();
    fs::write(scratch.path(format!("text{EVIL}")), EVIL).unwrap();
    fs::create_dir(scratch.path(format!("folder{EVIL}"))).unwrap();
    scratch
}

#[test]
fn errors_have_no_control_characters() {
    let scratch = with_odd_files();
    for line in failing() {
        let run = scratch.args(&line);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{line:?}: {run:?}");
        assert!(run.stderr.contains("error: "), "{line:?}: {run:?}");
        check_safe(&run, &format!("{line:?}"));
    }
}

#[test]
fn usage_errors_have_no_control_characters() {
    let scratch = with_odd_files();
    let evil = |name: &str| format!("{name}{EVIL}");
    for line in [
        vec![evil("tree")],
        vec![evil("--option")],
        vec!["tree".to_owned(), "s.jsonl".to_owned(), evil("extra")],
        vec!["tree".to_owned(), "s.jsonl".to_owned(), evil("--option")],
        vec!["tree".to_owned(), "s.jsonl".to_owned(), "--format".to_owned(), evil("text")],
        vec!["tree".to_owned(), "s.jsonl".to_owned(), "--width".to_owned(), evil("80")],
        vec!["tree".to_owned(), "s.jsonl".to_owned(), "--color".to_owned(), evil("always")],
        vec!["completions".to_owned(), evil("bash")],
    ] {
        for colour in ["0", "1"] {
            let mut run = finish(scratch.command(&line).env("CLICOLOR_FORCE", colour));
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{line:?}: {run:?}");
            run.stderr = without_colours(&run.stderr);
            check_safe(&run, &format!("{line:?} {colour}"));
        }
        let run = scratch.args(line.iter().map(String::as_str).chain(["--json"]));
        check_safe(&run, &format!("{line:?}"));
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
}

#[test]
fn line_break_in_file_name_starts_no_line_of_a_message() {
    let scratch = with_odd_files();
    for line in failing() {
        let run = scratch.args(&line);
        assert!(!run.stderr.lines().any(|line| line.starts_with("error: forged")), "{line:?}: {}", run.stderr);
    }
}

#[test]
fn line_break_in_session_starts_no_row() {
    let (scratch, ids) = hostile();
    for line in printing(&[]).into_iter().filter(|line| line[0] != "context") {
        let run = scratch.args(&line);
        assert!(!run.stdout.contains("\nerror: forged"), "{line:?}: {}", run.stdout);
        assert!(!run.stderr.contains("\nerror: forged"), "{line:?}: {}", run.stderr);
    }
    let run = scratch.args(["label", "s.jsonl", &ids[0]]);
    assert_eq!(run.ok().lines().count(), 1);
}

#[test]
fn json_output_has_strings_unchanged() {
    let (scratch, ids) = hostile();
    let rows = scratch.run("tree s.jsonl --filter all --format jsonl").json_lines();
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id:?}"));
    for id in &ids {
        assert_eq!(row(id)["label"], format!("plan{EVIL}"));
        assert_eq!(row(id)["timestamp"], format!("then{EVIL}\0"));
    }
    assert_eq!(row(&format!("orphan{EVIL}"))["missingParent"], format!("missing{EVIL}\0"));
    assert_eq!(row(&ids[5])["role"], format!("role{EVIL}\0"));
    assert_eq!(row(&ids[15])["type"], format!("type{EVIL}\0"));
    let context = scratch.run("context s.jsonl --json").json();
    assert_eq!(context["thinkingLevel"], format!("high{EVIL}\0"));
    assert_eq!(context["models"][format!("role{EVIL}\0")], format!("model{EVIL}\0"));
    let labels = scratch.run("label s.jsonl --json").json();
    assert_eq!(labels[0]["id"], format!("gone{EVIL}\0"));
    assert_eq!(labels[1]["label"], format!("plan{EVIL}"));
    let prompts = scratch.run("branch s.jsonl --json").json();
    assert!(prompts.as_array().unwrap().iter().any(|row| row["id"] == ids[0].as_str()));
    for args in ["tree s.jsonl --json", "tree s.jsonl --format jsonl --full", "context s.jsonl --format llm"] {
        let out = scratch.run(args).ok();
        let is_raw = |char: char| char < ' ' && char != '\n';
        assert!(!out.contains(is_raw), "{args}");
        out.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).expect(args)));
    }
}

#[test]
fn json_errors_have_strings_unchanged() {
    let scratch = with_odd_files();
    let evil = format!("./missing{EVIL}");
    let run = scratch.args(["tree", &evil, "--json"]);
    check_safe(&run, "a missing file");
    let error: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(error["error"]["path"], evil);
    // What JSON has to write as two escapes, such as the tags in the flag of England.
    let name = "./🏴\u{e0067}\u{e007f}日";
    let error: Value = serde_json::from_str(&scratch.run(&format!("tree {name} --json")).stderr).unwrap();
    assert_eq!(error["error"]["path"], name);
    for line in failing() {
        let run = scratch.args(line.iter().map(String::as_str).chain(["--json"]));
        check_safe(&run, &format!("{line:?}"));
        run.stderr.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).expect(line)));
    }
}

/// A session with text of every width: wide, zero, joined, marked; some levels of branches.
fn wide() -> Scratch {
    let texts = [
        "plain words, and a few more of them so that the row is cut somewhere",
        "日本語の文字は二桁の幅を取ります。とても長い行になります。",
        "👨‍👩‍👧‍👦 family 👩🏽‍🚀 astronaut 🇩🇪🇯🇵 flags 👍🏿 1️⃣ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ ☎︎",
        "e\u{301}e\u{301}e\u{301} o\u{308}\u{304} Z\u{335}\u{321}\u{36f}a\u{315}\u{300}l\u{30d}g\u{322}o",
        "\u{301}\u{308} starts with marks",
        "नमस्ते दुनिया กำลัง 한글 ﷽ ａｂｃ ｱｲｳ",
        "\u{200b}zero\u{200b}width\u{ad}soft\u{200d}joiner\u{2060}",
        "tab\tand\nline\u{1b}[31m",
        "",
    ];
    let mut lines = Vec::new();
    let mut parent = String::new();
    for (at, text) in texts.iter().chain(&texts).chain(&texts).enumerate() {
        let id = if at % 4 == 3 { format!("日{at:02}-0198c0de-1111-7000") } else { format!("id{at:02}0000") };
        let side = format!("side{at:02}");
        lines.push(message(&id, &parent, if at % 3 == 0 { "user" } else { "assistant" }, text));
        lines.push(message(&side, &parent, "user", text));
        if at % 2 == 0 {
            let name = text.chars().filter(|char| !char.is_control()).take(30).collect::<String>();
            lines.push(label(&format!("label{at:02}"), &side, &id, &name));
        }
        parent = if at < 9 { id } else { side };
    }
    lines.push(message("orphan00", "日本語の文字は二桁の幅を取ります", "user", "👨‍👩‍👧‍👦"));
    lines.push(entry("session_info", "info0000", &parent, r#""name":"名前 👨‍👩‍👧‍👦 of the session, quite long""#));
    Scratch::new(&lines)
}

/// Checks that no line is wider than asked for, and that there are as many as in full width.
fn check_widths(options: &str) {
    let scratch = wide();
    let rows = scratch.run(options).ok().lines().count();
    check_widths_of(&scratch, options, |count| count == rows);
}

/// Checks that no line is wider than asked for; facts above the rows may be folded.
fn check_folded_widths(options: &str) {
    let scratch = wide();
    let rows = scratch.run(options).ok().lines().count();
    check_widths_of(&scratch, options, |count| count >= rows);
}

fn check_widths_of(scratch: &Scratch, options: &str, is_right: impl Fn(usize) -> bool + Sync) {
    let is_right = &is_right;
    thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                for width in (1..=60).chain((61..=200).step_by(3)).skip(half).step_by(2) {
                    let out = scratch.run(&format!("{options} --width {width}")).ok();
                    let widest = out.lines().max_by_key(|line| line.width()).unwrap_or_default();
                    assert!(
                        widest.width() <= width,
                        "{options} --width {width}: {} columns: {widest:?}",
                        widest.width()
                    );
                    let count = out.lines().count();
                    assert!(is_right(count), "{options} --width {width}: {count} lines");
                }
            });
        }
    });
}

#[test]
fn tree_rows_fit_every_width() {
    check_widths("tree s.jsonl --filter all");
}

#[test]
fn tree_rows_in_ascii_fit_every_width() {
    check_widths("tree s.jsonl --filter all --ascii");
}

#[test]
fn rows_of_other_views_fit_every_width() {
    check_widths("tree s.jsonl --filter all --branches");
    check_widths("tree s.jsonl --depth 5");
    check_widths("tree s.jsonl --tips");
    check_widths("tree s.jsonl --search z\u{335}\u{321}\u{36f}");
}

#[test]
fn tables_fit_every_width() {
    check_widths("tree s.jsonl --filter all --format table");
    check_widths("tree s.jsonl --format table --search z");
    check_widths("tree s.jsonl --tips --format table");
    check_widths("branch s.jsonl --format table");
    check_folded_widths("context s.jsonl --stats");
}

#[test]
fn lists_fit_every_width() {
    check_widths("label s.jsonl");
    check_widths("branch s.jsonl");
    check_folded_widths("context s.jsonl --diff id000000");
    check_widths("navigate s.jsonl id010000");
}

#[test]
fn colours_end_where_an_id_starts_with_a_mark() {
    let id = format!("\u{e33}{}", "x".repeat(30));
    let scratch = Scratch::new(&[message(&id, "", "user", "日本語の文字は二桁の幅を取ります。")]);
    for width in 4..60 {
        let out = scratch.run(&format!("context s.jsonl --color always --width {width}")).ok();
        let widest = without_colours(&out).lines().map(UnicodeWidthStr::width).max().unwrap();
        assert!(widest <= width, "{widest} columns in {width}\n{out}");
    }
}

#[test]
fn width_is_from_option_else_from_columns() {
    let widest = |args: &str, columns: Option<&str>| {
        let scratch = wide();
        let mut command = scratch.command(args.split(' '));
        command.envs(columns.map(|columns| ("COLUMNS", columns)));
        finish(&mut command).ok().lines().map(|line| line.width()).max().unwrap()
    };
    let uncut = widest("tree s.jsonl", None);
    assert!(uncut > 90, "{uncut}");
    assert!((65..=70).contains(&widest("tree s.jsonl", Some("70"))));
    assert!((45..=50).contains(&widest("tree s.jsonl --width 50", Some("70"))));
    for columns in ["", "0", "-1", "wide", "80x25"] {
        assert_eq!(widest("tree s.jsonl", Some(columns)), uncut, "COLUMNS={columns}");
    }
    assert_eq!(widest("tree s.jsonl --width 0", Some("70")), uncut);
}

#[test]
fn width_of_0_cuts_nothing_on_a_terminal() {
    const TEXT: &str = "plain words, and a few more of them so that the row is cut somewhere";
    for line in
        ["tree s.jsonl", "tree s.jsonl --format table", "branch s.jsonl", "label s.jsonl", "tree s.jsonl --tips"]
    {
        let scratch = wide();
        let seen = |line: &str| {
            let (text, code) = Terminal::start(&mut scratch.command(line.split(' ')), 40).finish();
            assert_eq!(code, 0, "{text}");
            without_colours(&text)
        };
        assert!(seen(&format!("{line} --width 0")).contains(TEXT), "{line}");
        assert!(!seen(line).contains(TEXT), "{line}");
    }
}

#[test]
fn colour_is_from_option_else_from_variables() {
    let scratch = Scratch::new(&[message("aaaa1111", "gone", "user", "one")]);
    let check = |args: &[&str], env: &[(&str, &str)], expected: bool| {
        for command in [&["tree", "s.jsonl"][..], &["context", "s.jsonl"], &["tree", "s.jsonl", "--leaf", "zzzz"]] {
            let mut command = scratch.command(command.iter().chain(args));
            let run = finish(command.envs(env.iter().copied()));
            assert_eq!(run.stderr.contains("\u{1b}["), expected, "stderr: {args:?} {env:?} {run:?}");
            if run.code == 0 {
                assert_eq!(run.stdout.contains("\u{1b}["), expected, "stdout: {args:?} {env:?} {run:?}");
            }
        }
    };
    let (no, force) = (("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"));
    check(&[], &[], false);
    check(&["--color", "always"], &[], true);
    check(&["--color", "never"], &[], false);
    check(&["--color", "always"], &[no], true);
    check(&["--color", "never"], &[force], false);
    check(&[], &[no], false);
    check(&[], &[force], true);
    check(&[], &[no, force], false);
    check(&[], &[("NO_COLOR", ""), force], true);
    check(&[], &[("CLICOLOR_FORCE", "0")], false);
    check(&[], &[("CLICOLOR_FORCE", "")], false);
    // A pipe is not a terminal, whatever reads it.
    for term in ["xterm-256color", "dumb", ""] {
        check(&[], &[("TERM", term)], false);
        check(&["--color", "always"], &[("TERM", term)], true);
    }
}

#[test]
fn colour_always_equals_colours_on_terminal() {
    let scratch = wide();
    for args in
        ["tree s.jsonl", "context s.jsonl", "tree s.jsonl --entry @", "branch s.jsonl", "label s.jsonl id000000"]
    {
        let piped = scratch.run(&format!("{args} --color always --width 60"));
        let (seen, code) = Terminal::start(&mut scratch.command(args.split(' ')), 60).finish();
        assert_eq!(code, 0, "{args}");
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&seen), lines(&(piped.stderr + &piped.stdout)), "{args}");
    }
}

#[test]
fn json_is_never_coloured() {
    let scratch = Scratch::new(&[message("aaaa1111", "gone", "user", "one")]);
    for args in
        ["tree s.jsonl --json", "tree s.jsonl --format jsonl", "context s.jsonl --json", "tree s.jsonl --json --leaf x"]
    {
        let run = scratch.run(&format!("{args} --color always"));
        assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "{args}: {run:?}");
    }
}

#[test]
fn ascii_option_prints_only_ascii() {
    let long = "many words ".repeat(30);
    let mut lines = Vec::new();
    for at in 0..24 {
        let parent = if at == 0 { "gone".to_owned() } else { format!("main{:04}", at - 1) };
        lines.push(message(&format!("main{at:04}"), &parent, "user", &long));
        lines.push(message(&format!("side{at:04}"), &parent, "assistant", &long));
    }
    lines.push(label("label000", "main0003", "main0002", "plan-b"));
    let mut scratch = Scratch::new(&lines);
    let command = r#"{"type":"message","id":"bash0000","parentId":"main0001","message":{"role":"bashExecution","command":"ls","output":"a"}}"#;
    scratch = Scratch::bytes(
        format!("{}no json\n{command}\n", fs::read_to_string(scratch.path("s.jsonl")).unwrap()).as_bytes(),
    );
    fs::write(scratch.path("text.jsonl"), "words\n").unwrap();
    for args in [
        "tree s.jsonl",
        "tree s.jsonl --width 60",
        "tree s.jsonl --filter user-only",
        "tree s.jsonl --format table --width 60",
        "tree s.jsonl --entry @",
        "context s.jsonl",
        "context s.jsonl --stats --width 60",
        "context s.jsonl --diff main0003 --width 60",
        "label s.jsonl --width 60",
        "branch s.jsonl --width 60",
        "tree s.jsonl --leaf main",
        "tree s.jsonl --leaf zzzz",
        "tree text.jsonl",
        "tree missing.jsonl",
    ] {
        let run = scratch.run(&format!("{args} --ascii"));
        for text in [&run.stdout, &run.stderr] {
            let line = text.lines().find(|line| !line.is_ascii());
            assert_eq!(line, None, "{args}");
        }
    }
    assert!(!scratch.run("tree s.jsonl").ok().is_ascii());
}

#[test]
fn home_is_tilde_in_text_but_not_in_json() {
    let call = r#""message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"read","arguments":{"path":"/home/mia/a.rs"}}]}"#;
    let result = r#""message":{"role":"toolResult","toolCallId":"t","toolName":"read"}"#;
    let scratch = Scratch::new(&[
        message("aaaa1111", "", "user", "/home/mia /home/mia/x '/home/mia/y' /home/miaow /mnt/home/mia"),
        entry("message", "bbbb2222", "aaaa1111", call),
        entry("message", "cccc3333", "bbbb2222", result),
        label("dddd4444", "cccc3333", "aaaa1111", "home"),
    ]);
    let short = "~ ~/x '~/y' /home/miaow /mnt/home/mia";
    for args in [
        "tree s.jsonl",
        "tree s.jsonl --format table",
        "label s.jsonl",
        "branch s.jsonl",
        "branch s.jsonl --format table",
    ] {
        let out = scratch.run(args).ok();
        assert!(out.contains(short), "{args}\n{out}");
    }
    let out = scratch.run("tree s.jsonl").ok();
    assert!(out.contains("[read: ~/a.rs]") && out.lines().next().unwrap().ends_with("~/shop"), "{out}");
    let rows = scratch.run("tree s.jsonl --format jsonl").json_lines();
    assert_eq!(rows[0]["text"], "/home/mia /home/mia/x '/home/mia/y' /home/miaow /mnt/home/mia");
    assert_eq!(rows[1]["text"], "[read: /home/mia/a.rs]");
    // Where home is nowhere, nothing is shortened.
    for home in ["", "/", "mia"] {
        let out = finish(scratch.command(["tree", "s.jsonl"]).env("HOME", home)).ok();
        assert!(out.contains("user: /home/mia /home/mia/x"), "HOME={home}\n{out}");
    }
    let out = finish(scratch.command(["tree", "s.jsonl"]).env_remove("HOME")).ok();
    assert!(out.contains("user: /home/mia /home/mia/x"), "{out}");
}

#[test]
fn many_branches_print_in_linear_size() {
    let mut file = format!("{HEADER}\n");
    let mut parent = String::new();
    // A comb: each tooth is a tip, and each level hangs below the one before.
    for at in 0..10_000 {
        let id = format!("{at:08}");
        writeln!(file, "{}", message(&id, &parent, "user", "on")).unwrap();
        writeln!(file, "{}", message(&format!("t{at:07}"), &parent, "user", "off")).unwrap();
        parent = id;
    }
    let scratch = Scratch::bytes(file.as_bytes());
    for options in ["", "--width 80", "--ascii", "--root"] {
        let out = scratch.run(&format!("tree s.jsonl {options}")).ok();
        assert_eq!(out.lines().count(), 20_001);
        assert!(out.len() < 20_001 * 160, "{options}: {} bytes", out.len());
    }
    assert_eq!(
        scratch.run("tree s.jsonl").ok().lines().next().unwrap().split("  ·  ").nth(3),
        Some("20000 entries, 10001 branches")
    );
}

#[test]
fn demo_session_prints_only_plain_text() {
    let demo = data("demo.jsonl");
    for args in [["tree", "--width=80"], ["context", "--quiet"], ["label", "--quiet"], ["branch", "--quiet"]] {
        let run = finish(crate::support::command().args(args).arg(&demo));
        check_safe(&run, args[0]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    }
}
