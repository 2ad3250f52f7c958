//! All commands in all JSON formats, on sessions that have something of everything: what they print has the
//! shapes of the page `src/help/json.md`, and every key of the page is there, absent and null where it says
//! so.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, UNIX_EPOCH};

use clap::CommandFactory;
use serde_json::Value;
use session_tree::cli::Cli;
use session_tree::core::migrate::file::MigrationStatus;

use crate::cli::{HEADER, Scratch, entry, label, message};
use crate::support::{Run, data};
use page::{PAGE, Shapes, Type};

mod page;

/// Command lines, the type of what `--json` prints, and of a line of `--format jsonl`; they are run one
/// after the other.
const RUNS: &[(&str, &str, &str)] = &[
    ("list s.jsonl older.jsonl store", "[Session]", "Session"),
    ("list store --long", "[Session]", "Session"),
    ("list store --search nothing-has-this", "[Session]", "Session"),
    ("list s.jsonl /dev/null --long", "[Session]", "Session"),
    ("tree s.jsonl --filter all", "[Node]", "Row"),
    ("tree s.jsonl --filter all --full", "[Node]", "Row"),
    ("tree s.jsonl --search two", "[Node]", "Row"),
    ("tree s.jsonl --search tw+o --regex", "[Node]", "Row"),
    ("tree s.jsonl --search nothing-has-this", "[Node]", "Row"),
    ("tree empty.jsonl", "[Node]", "Row"),
    ("tree foreign.jsonl", "", ""),
    ("tree s.jsonl --entry u1", "object", "object"),
    ("tree s.jsonl --entry u1 --entry @", "[object]", "object"),
    ("tree s.jsonl --tips", "[Tip]", "Tip"),
    ("tree s.jsonl empty.jsonl --filter all", "[SessionTree]", "Row"),
    ("tree s.jsonl empty.jsonl --tips", "[SessionTree]", "Tip"),
    ("tree empty.jsonl --tips", "[Tip]", "Tip"),
    ("context s.jsonl", "Context", ""),
    ("context s.jsonl --root", "Context", ""),
    ("context s.jsonl --as pi", "Context", ""),
    ("context s.jsonl --as omp", "Context", ""),
    ("context s.jsonl --stats", "Stats", ""),
    ("context s.jsonl --stats --leaf k1", "Stats", ""),
    ("context s.jsonl --stats --leaf r1", "Stats", ""),
    ("context s.jsonl --stats --root", "Stats", ""),
    ("context s.jsonl --stats --all", "Stats", ""),
    ("context s.jsonl empty.jsonl --stats", "[Stats]", ""),
    ("context s.jsonl --diff u1", "Difference", ""),
    ("context s.jsonl --diff @", "Difference", ""),
    ("context s.jsonl --diff u4 --leaf u1", "Difference", ""),
    ("context s.jsonl --diff u1 --root", "Difference", ""),
    ("label s.jsonl", "[Label]", "Label"),
    ("label empty.jsonl", "[Label]", "Label"),
    ("label s.jsonl u3", "EntryLabel", "EntryLabel"),
    ("label s.jsonl u1", "EntryLabel", "EntryLabel"),
    ("label s.jsonl u1 new", "LabelChange", "LabelChange"),
    ("label s.jsonl u1 newer", "LabelChange", "LabelChange"),
    ("label s.jsonl u1 --clear", "LabelChange", "LabelChange"),
    ("label s.jsonl u2 new --move", "LabelChange", "LabelChange"),
    ("label s.jsonl --from list", "[LabelChange]", "LabelChange"),
    ("label s.jsonl gone x", "", ""),
    ("navigate s.jsonl u2 --dry-run", "Move", ""),
    ("navigate s.jsonl u2 --dry-run --summarize --prompt", "Move", ""),
    ("navigate s.jsonl a1", "Move", ""),
    ("navigate s.jsonl @", "Move", ""),
    ("navigate s.jsonl --root", "Move", ""),
    ("navigate s.jsonl o1", "Move", ""),
    ("navigate empty.jsonl --root", "Move", ""),
    ("navigate s.jsonl a1 --hook ./refuses", "Move", ""),
    ("navigate s.jsonl a1 --summary tried --label left", "Move", ""),
    ("navigate s.jsonl label:mark --label other --save", "Move", ""),
    ("navigate s.jsonl u1 --save", "Move", ""),
    ("navigate s.jsonl a2 --summarize --hook ./sums-up", "Move", ""),
    ("branch s.jsonl", "[Prompt]", "Prompt"),
    ("branch empty.jsonl", "[Prompt]", "Prompt"),
    ("branch s.jsonl u1", "Fork", "Fork"),
    ("branch s.jsonl --at a1", "Fork", "Fork"),
    ("branch s.jsonl u2 --dry-run", "Fork", "Fork"),
    ("branch s.jsonl --all --anonymize", "Fork", "Fork"),
    ("branch s.jsonl --at u1 --at a1", "Fork", "Fork"),
    ("branch empty.jsonl --all", "Fork", "Fork"),
    ("branch s.jsonl u2 --hook ./refuses", "Fork", "Fork"),
    ("branch s.jsonl a1", "", ""),
    ("check s.jsonl odd.jsonl no.jsonl", "[Finding]", "Finding"),
    ("check empty.jsonl", "[Finding]", "Finding"),
    ("check glued.jsonl --diff --unsafe-fixes", "[Mending]", "Mending"),
    ("check glued.jsonl odder.jsonl --fix --unsafe-fixes", "[Mending]", "Mending"),
    ("check glued.jsonl --fix", "[Mending]", "Mending"),
    ("check --explain all", "[CodeRule]", "CodeRule"),
    ("check --explain W001", "[CodeRule]", "CodeRule"),
    ("check --why-leaf s.jsonl", "Resume", "Resume"),
    ("check --why-leaf odd.jsonl", "Resume", "Resume"),
    ("migrate old.jsonl s.jsonl newer.jsonl no.jsonl missing.jsonl", "[Migration]", "Migration"),
    ("migrate kept.jsonl --backup", "[Migration]", "Migration"),
    ("migrate older.jsonl --check", "[Migration]", "Migration"),
    ("migrate none", "[Migration]", "Migration"),
    ("tree missing.jsonl", "", ""),
    ("tree s.jsonl --tips --branches", "", ""),
];

/// Command lines whose standard output is something else, and the type of the result on standard error.
const RESULTS: &[(&str, &str)] =
    &[("branch s.jsonl u2 --output - --json", "Fork"), ("migrate older.jsonl --output - --json", "Migration")];

/// Keys that only a failing system brings about; `tests/faults` is about it.
const UNSEEN: [&str; 4] = [
    "LabelChange.synced present",
    "LabelChange.synced as Some(Only(Bool(false)))",
    "Move.synced present",
    "Move.synced as Some(Only(Bool(false)))",
];

fn scratch() -> Scratch {
    let usage = r#""usage":{"input":1,"output":2,"cost":{"total":0.5}}"#;
    let said = format!(r#""message":{{"role":"assistant","content":"answer",{usage}}}"#);
    let number = |line: String| line.replace("\"2026-01-01T00:00:01.000Z\"", "1767225601000");
    let timeless = |line: String| line.replace("\"timestamp\":\"2026-01-01T00:00:01.000Z\",", "");
    let kept = |id: &str, before: &str| format!(r#""summary":"x","firstKeptEntryId":"{id}","tokensBefore":{before}"#);
    let scratch = Scratch::new(&[
        message("u1", "", "user", "one"),
        entry("message", "a1", "u1", &said),
        entry("thinking_level_change", "s1", "a1", r#""thinkingLevel":"high""#),
        entry("model_change", "s2", "s1", r#""model":"openai/gpt","role":"plan""#),
        entry("mode_change", "s3", "s2", r#""mode":"plan","data":{"file":"plan.md"}"#),
        entry("service_tier_change", "s4", "s3", r#""serviceTier":{"openai":"flex"}"#),
        entry("mcp_tool_selection", "s5", "s4", r#""selectedToolNames":["a","b"]"#),
        entry("ttsr_injection", "s6", "s5", r#""injectedRules":["r2","r1"]"#),
        entry("message", "r1", "s6", r#""message":{"role":"toolResult","toolName":"read","content":"12345678"}"#),
        entry("custom_message", "c1", "r1", r#""customType":"note","content":"1234""#),
        entry("compaction", "k1", "c1", &kept("c1", "\"x\"")),
        entry(
            "message",
            "u2",
            "k1",
            r#""message":{"role":"user","content":[{"type":"text","text":"two"},{"type":"image","data":"","mimeType":"image/png"}]}"#,
        ),
        entry("compaction", "k2", "u2", &kept("u2", "1000")),
        message("a2", "k2", "assistant", "done"),
        number(message("u3", "a1", "user", "three")),
        timeless(message("a3", "u3", "assistant", "end")),
        label("l1", "a3", "u3", "mark"),
        label("l2", "l1", "gone", "lost"),
        timeless(label("l3", "l2", "a3", "end")),
        timeless(message("o1", "missing", "user", "orphan")),
        r#"{"id":"x1","parentId":"o1"}"#.to_owned(),
        message("u4", "a2", "user", "go on"),
    ]);
    let old = "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n";
    let user = message("u1", "", "user", "one");
    for (name, text) in [
        ("empty.jsonl", format!("{HEADER}\n")),
        ("odd.jsonl", format!("{HEADER}\nnot JSON\n{user}\n{{\"type\":\"foreign\"}}\n")),
        ("odder.jsonl", format!("{HEADER}\nnot JSON\n{user}\n")),
        ("old.jsonl", old.to_owned()),
        ("older.jsonl", old.to_owned()),
        ("kept.jsonl", old.to_owned()),
        ("glued.jsonl", format!("{HEADER}\n{user}{}\n", message("a1", "gone", "user", "two"))),
        ("newer.jsonl", HEADER.replace("\"version\":3", "\"version\":4") + "\n"),
        ("no.jsonl", "{}\n".to_owned()),
        ("foreign.jsonl", "SQLite format 3\0".to_owned()),
        ("list", "u1\tone\nu2\ttwo\nu1\tother\n".to_owned()),
        ("refuses", "#!/bin/sh\ncat >/dev/null\necho '{\"cancel\":true}'\n".to_owned()),
        ("sums-up", "#!/bin/sh\ncat >/dev/null\necho '{\"summary\":{\"summary\":\"tried\"}}'\n".to_owned()),
    ] {
        fs::write(scratch.path(name), text).unwrap();
    }
    for hook in ["refuses", "sums-up"] {
        fs::set_permissions(scratch.path(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir(scratch.path("none")).unwrap();
    fs::create_dir(scratch.path("store")).unwrap();
    let named =
        HEADER.replace("\"version\":3", "\"version\":3,\"title\":\"Named\",\"parentSession\":\"store/a.jsonl\"");
    let nameless = "{\"type\":\"session\",\"version\":3,\"id\":\"a\"}\n".to_owned();
    for (name, text) in
        [("a", nameless), ("b", format!("{named}\n{user}\n")), ("bad", "{\"type\":\"session\"}\n".to_owned())]
    {
        fs::write(scratch.path("store").join(name).with_extension("jsonl"), text).unwrap();
    }
    // `list` goes by the time of writing.
    for file in ["s.jsonl", "older.jsonl", "store/a.jsonl", "store/b.jsonl", "store/bad.jsonl"] {
        let file = File::options().append(true).open(scratch.path(file)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_767_225_600)).unwrap();
    }
    scratch
}

/// Checks the lines on standard error.
fn check_stderr(shapes: &mut Shapes, run: &Run, result: Option<&str>, line: &str) {
    for object in run.stderr.lines() {
        let object: Value = serde_json::from_str(object).unwrap_or_else(|_| panic!("{line}: {object}"));
        let (key, value) = object.as_object().unwrap().iter().next().unwrap();
        assert_eq!(object.as_object().unwrap().len(), 1, "{object}");
        let wanted = match key.as_str() {
            "result" => result.unwrap_or_else(|| panic!("{line}: {object}")),
            "warning" | "error" => "Message",
            _ => panic!("{line}: {object}"),
        };
        shapes.check(value, &Type::read(wanted), line);
    }
}

fn values(stdout: &str, line: &str) -> Vec<Value> {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|why| panic!("{line}: {why}: {text}"));
    stdout.lines().map(value).collect()
}

#[test]
fn everything_that_is_printed_has_the_shapes_of_the_page() {
    let mut shapes = Shapes::read();
    let scratches = [scratch(), scratch()];
    for (line, document, item) in RUNS {
        let json = scratches[0].run(&format!("{line} --json"));
        let found = values(&json.stdout, line);
        check_stderr(&mut shapes, &json, None, line);
        if document.is_empty() {
            assert!(found.is_empty() && json.stderr.contains("{\"error\":"), "{line}: {json:?}");
            continue;
        }
        assert_eq!(found.len(), 1, "one document: {line}: {json:?}");
        shapes.check(&found[0], &Type::read(document), line);
        if item.is_empty() {
            continue;
        }
        let jsonl = scratches[1].run(&format!("{line} --format jsonl"));
        let lines = values(&jsonl.stdout, line);
        check_stderr(&mut shapes, &jsonl, None, line);
        lines.iter().for_each(|value| shapes.check(value, &Type::read(item), line));
        assert_eq!(json.code, jsonl.code, "{line}");
        if *document == format!("[{item}]") && *item != "LabelChange" {
            assert_eq!(found[0], Value::Array(lines), "{line}");
        } else if document == item {
            assert_eq!(lines.len(), 1, "{line}");
        }
    }
    for (line, result) in RESULTS {
        let run = scratches[1].run(line);
        assert!(run.stderr.contains("{\"result\":"), "{line}: {run:?}");
        check_stderr(&mut shapes, &run, Some(result), line);
    }
    for options in ["", " --leaf u1", " --as pi", " --as omp"] {
        let line = format!("context s.jsonl --format llm{options}");
        shapes.check(&values(&scratches[1].run(&line).stdout, &line)[0], &Type::read("[object]"), &line);
    }
    let sarif: Value = serde_json::from_str(&scratches[1].run("check odd.jsonl --format sarif").stdout).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(shapes.unseen(), UNSEEN);
}

#[test]
fn all_formats_of_all_commands_are_run() {
    let mut known = BTreeSet::from(["context --format llm".to_owned(), "check --format sarif".to_owned()]);
    for (line, document, item) in RUNS {
        let command = line.split(' ').next().unwrap();
        known.extend((!document.is_empty()).then(|| format!("{command} --format json")));
        known.extend((!item.is_empty()).then(|| format!("{command} --format jsonl")));
    }
    let mut found = BTreeSet::new();
    for command in Cli::command().get_subcommands() {
        let formats = command.get_arguments().filter(|argument| argument.get_long() == Some("format"));
        for format in formats.flat_map(|format| format.get_possible_values()) {
            if ["json", "jsonl", "llm", "sarif"].contains(&format.get_name()) {
                found.insert(format!("{} --format {}", command.get_name(), format.get_name()));
            }
        }
    }
    assert_eq!(found, known);
}

#[test]
fn a_value_of_another_shape_is_found() {
    let check = |value: &str, wanted: &str| {
        let check = || Shapes::read().check(&serde_json::from_str(value).unwrap(), &Type::read(wanted), "it");
        std::panic::catch_unwind(check).is_ok()
    };
    assert!(check(r#"{"messages":1,"tokens":2}"#, "Size"));
    assert!(check(r#"[{"from":null,"to":"x"}]"#, "[ModelChange]"));
    for (value, wanted) in [
        (r#"{"messages":1}"#, "Size"),
        (r#"{"messages":1,"tokens":2,"more":3}"#, "Size"),
        (r#"{"messages":"1","tokens":2}"#, "Size"),
        (r#"{"messages":null,"tokens":2}"#, "Size"),
        (r#"{"from":1,"to":"x"}"#, "ModelChange"),
        (r#"{"from":null,"to":"x"}"#, "TextChange"),
        (r#"{"messages":1,"tokens":2}"#, "[Size]"),
        (r#"[{"messages":1}]"#, "[Size]"),
        (r#""odd""#, "\"error\" | \"warning\""),
    ] {
        assert!(!check(value, wanted), "{value} as {wanted}");
    }
}

#[test]
fn the_page_names_every_status_of_a_migration() {
    let statuses: Vec<_> = MigrationStatus::ALL.iter().map(|status| format!("`{}`", status.name())).collect();
    let (last, rest) = statuses.split_last().unwrap();
    let words = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("`status` is {} or {last}.", rest.join(", "))), "{statuses:?}");
}

/// The examples with jq print what the page says, where there is a jq.
#[test]
fn examples_of_the_page_print_what_they_show() {
    let scratch = Scratch::bytes(b"");
    fs::copy(data("demo.jsonl"), scratch.path("demo.jsonl")).unwrap();
    let has_jq = std::process::Command::new("jq").arg("--version").output().is_ok();
    let block = PAGE.split("```console\n").nth(1).and_then(|block| block.split("```").next()).unwrap();
    let steps: Vec<_> = block.split("$ ").filter(|step| !step.is_empty()).collect();
    assert!(steps.len() > 4, "{steps:?}");
    for step in steps {
        let lines: Vec<_> = step.lines().collect();
        let end = 1 + lines.iter().position(|line| !line.ends_with('\\')).unwrap();
        let (command, expected) = (lines[..end].join("\n"), &lines[end..]);
        assert!(command.starts_with("session-tree "), "{command}");
        let command = command.replace("session-tree ", concat!(env!("CARGO_BIN_EXE_session-tree"), " "));
        let run =
            std::process::Command::new("sh").args(["-c", &command]).current_dir(scratch.path("")).output().unwrap();
        let stdout = String::from_utf8(run.stdout).unwrap();
        assert!(!has_jq || stdout.lines().eq(expected.iter().copied()), "{command}: {stdout}");
    }
}
