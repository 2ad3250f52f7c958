//! Whole outputs as they were last looked at: stdout, stderr and code of several runs a file in
//! `tests/data/output`. Set `UPDATE_SNAPSHOTS` to write them anew, then read the difference.

use std::collections::BTreeSet;
use std::fs;

use clap::CommandFactory;
use session_tree::cli::Cli;

use super::{HEADER, Scratch, label, message};
use crate::support::{Run, data, finish};

/// The file names, and the runs in each.
const DEMO: [(&str, &[&str]); 14] = [
    ("tree", &["tree demo.jsonl --width 80"]),
    ("tree-uncut", &["tree demo.jsonl"]),
    ("tree-all", &["tree demo.jsonl --filter all --width 100"]),
    ("tree-ascii", &["tree demo.jsonl --width 80 --ascii", "label demo.jsonl --width 60 --ascii"]),
    (
        "tree-table",
        &["tree demo.jsonl --format table --width 80", "tree demo.jsonl --format table --filter labeled-only"],
    ),
    (
        "tree-part",
        &[
            "tree demo.jsonl --width 80 --search decimal.js",
            "tree demo.jsonl --width 80 --path --leaf label:plan-b",
            "tree demo.jsonl --width 80 --filter user-only --root",
            "tree demo.jsonl --width 80 --filter labeled-only",
            "tree demo.jsonl --entry @ --entry label:bisected",
            "tree demo.jsonl --format jsonl --filter labeled-only",
        ],
    ),
    (
        "tree-views",
        &[
            "tree demo.jsonl --branches --width 80",
            "tree demo.jsonl --branches --width 40 --ascii",
            "tree demo.jsonl --branches --depth 20 --filter user-only",
            "tree demo.jsonl --tips --width 80",
            "tree demo.jsonl --tips --width 40",
            "tree demo.jsonl --tips --format table --leaf label:plan-b",
            "tree demo.jsonl --tips --format jsonl",
            "tree demo.jsonl --depth 12 --width 80",
            "tree demo.jsonl --search invoice --width 80",
            "tree demo.jsonl --search invoice --width 40",
            "tree demo.jsonl --search invoice --format table --width 100",
            "tree demo.jsonl --since 2026-05-12T13:50Z --until 2026-05-12T14:05Z --width 80",
            "tree demo.jsonl --format mermaid --filter user-only",
        ],
    ),
    (
        "tree-in-words",
        &[
            "tree demo.jsonl --plain-rows",
            "tree demo.jsonl --plain-rows --tips --width 80",
            "label demo.jsonl --plain-rows",
            "context demo.jsonl --plain-rows --stats",
            "context demo.jsonl --plain-rows --diff label:plan-b",
        ],
    ),
    ("context", &["context demo.jsonl", "context demo.jsonl --root"]),
    ("context-markdown", &["context demo.jsonl --format markdown --stats --no-tools --leaf user:2"]),
    (
        "context-stats",
        &[
            "context demo.jsonl --stats",
            "context demo.jsonl --stats --width 40",
            "context demo.jsonl --stats --root",
            "context demo.jsonl --stats --json",
        ],
    ),
    (
        "context-diff",
        &[
            "context demo.jsonl --diff label:bisected --width 80",
            "context demo.jsonl --diff user:1 --width 40 --color always",
            "context demo.jsonl --root --diff label:bisected --width 60 --ascii",
            "context demo.jsonl --diff @",
            "context demo.jsonl --diff user:1 --json",
        ],
    ),
    (
        "label",
        &["label demo.jsonl", "label demo.jsonl --width 60", "label demo.jsonl label:green", "label demo.jsonl --json"],
    ),
    (
        "branch",
        &[
            "branch demo.jsonl",
            "branch demo.jsonl --width 60",
            "branch demo.jsonl --format table --width 80",
            "branch demo.jsonl --format jsonl",
        ],
    ),
];

/// Runs that fail or warn; `odd.jsonl` has something odd on most lines.
const FAILURES: (&str, &[&str]) = (
    "errors",
    &[
        "tree missing.jsonl",
        "tree .",
        "tree empty.jsonl",
        "tree text.jsonl",
        "tree odd.jsonl --leaf zzzz",
        "tree odd.jsonl --leaf aaaa --quiet",
        "tree odd.jsonl --leaf aaa1 --json",
        "label odd.jsonl label:plan-a -q",
        "label odd.jsonl label:plan-a -q --json",
        "tree odd.jsonl --leaf @~9 -q --json",
        "tree odd.jsonl --full",
        "tree odd.jsonl --tips --branches",
        "tree odd.jsonl --tips --full",
        "tree odd.jsonl --tips --format dot",
        "tree odd.jsonl --depth 2 --json",
        "tree odd.jsonl --since 2026-02-01 --until 2026-01-31",
        "tree odd.jsonl --since yesterday",
        "tree odd.jsonl --depth -1",
        "tree odd.jsonl --entry @ --tips",
        "tree odd.jsonl --json --search x -q",
        "tree",
        "tree --json",
        "tree odd.jsonl --filter user",
        "tree odd.jsonl --filter user --format jsonl",
        "tree odd.jsonl --leaf @ --root",
        "context odd.jsonl --stats --diff @",
        "context odd.jsonl --stats --format llm",
        "context odd.jsonl --diff gone -q",
        "tree odd.jsonl --leaf @ --root --json",
        "tre odd.jsonl",
        "completions tcsh",
    ],
);

/// Returns the names of all commands, the empty one of the program first.
fn commands() -> Vec<String> {
    let program = Cli::command();
    let names = program.get_subcommands().map(|command| command.get_name().to_owned());
    [String::new()].into_iter().chain(names).collect()
}

fn odd() -> String {
    [
        HEADER,
        &message("aaaa1111", "gone", "user", "one"),
        "no json",
        &message("aaaa2222", "aaaa1111", "user", "two"),
        r#"{"type":"foreign"}"#,
        HEADER,
        &message("aaaa2222", "aaaa1111", "user", "two again"),
        &label("bbbb1111", "aaaa2222", "aaaa1111", "plan-b"),
        "{\"type\":\"mess",
    ]
    .join("\n")
}

fn scratch() -> Scratch {
    let scratch = Scratch::bytes(b"");
    fs::copy(data("demo.jsonl"), scratch.path("demo.jsonl")).unwrap();
    fs::write(scratch.path("empty.jsonl"), "").unwrap();
    fs::write(scratch.path("text.jsonl"), "Just words\n").unwrap();
    fs::write(scratch.path("odd.jsonl"), odd()).unwrap();
    scratch
}

fn show(line: &str, Run { stdout, stderr, code }: &Run) -> String {
    let mut out = format!("$ session-tree {line}\n{stdout}");
    if !stderr.is_empty() {
        out.push_str(&format!("--- stderr\n{stderr}"));
    }
    out + &format!("--- code {code}\n")
}

/// Compares the outputs of some runs with a file, or writes the file.
fn check<S: AsRef<str>>(name: &str, lines: &[S]) {
    let scratch = scratch();
    let mut found = String::new();
    for line in lines {
        let args = line.as_ref().split_whitespace();
        let mut command = scratch.command(args);
        if name.starts_with("help") {
            command.env("COLUMNS", "100");
        }
        let run = finish(&mut command);
        found.push_str(&show(line.as_ref().trim(), &run));
        found.push('\n');
    }
    let path = data("output").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::create_dir_all(data("output")).unwrap();
        fs::write(path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if found == expected {
        return;
    }
    let (mut new, mut old) = (found.lines(), expected.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (new, old) = (new.next(), old.next());
        assert!(
            new == old && new.is_some(),
            "{}:{number} differs\n  recorded: {old:?}\n  now:      {new:?}\nif it is meant to: UPDATE_SNAPSHOTS=1 cargo test snapshots",
            path.display()
        );
    }
}

#[test]
fn demo_session_prints_as_recorded() {
    for (name, lines) in DEMO {
        check(name, lines);
    }
}

#[test]
fn failures_print_as_recorded() {
    check(FAILURES.0, FAILURES.1);
}

#[test]
fn help_prints_as_recorded() {
    let help = |option: &str| commands().iter().map(|command| format!("{command} {option}")).collect::<Vec<_>>();
    check("help-short", &help("-h"));
    check("help", &help("--help"));
}

#[test]
fn help_by_command_and_by_option_is_the_same() {
    let scratch = scratch();
    for command in commands().into_iter().filter(|command| !command.is_empty()) {
        let by_option = scratch.run(&format!("{command} --help")).ok();
        assert_eq!(scratch.run(&format!("help {command}")).ok(), by_option, "{command}");
    }
    assert_eq!(scratch.run("--version").ok(), format!("session-tree {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_recorded_output_is_used() {
    let known = DEMO.iter().map(|(name, _)| *name).chain([FAILURES.0, "help", "help-short"]);
    // And the pictures of the README.
    let pictures = ["tree.svg", "demo.dot", "demo.svg"].map(str::to_owned);
    let known: BTreeSet<_> = known.map(|name| format!("{name}.txt")).chain(pictures).collect();
    let files = fs::read_dir(data("output")).unwrap();
    let files: BTreeSet<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(files, known);
}
