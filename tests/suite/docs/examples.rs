//! The examples of the help texts and of the README run and do what they say, in a folder with
//! everything that they name. Help fits the screen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::CommandFactory;
use session_tree::cli::Cli;
use tempfile::TempDir;
use unicode_width::UnicodeWidthStr;

use crate::docs::readme::{Text, blocks, texts};
use crate::support::{Run, command, data, finish};

/// Where programs of the system are looked for.
const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

/// A folder to work in, a home, and programs that stand for those of others.
struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        for folder in [
            "bin",
            "work/sessions",
            "home/.pi/agent/sessions/shop",
            "home/.pi/agent/sessions/work",
            "home/.omp/agent/sessions/shop",
            "home/.config/fish/completions",
            "home/.config/elvish",
            "home/.local/share/man/man1",
            "home/.cargo/bin",
            "home/.zfunc",
        ] {
            fs::create_dir_all(scene.path(folder)).unwrap();
        }
        let demo = fs::read_to_string(data("demo.jsonl")).unwrap();
        let label = |id: &str, parent: &str, target: &str, name: &str| {
            let time = "2026-05-12T14:10:00.000Z";
            format!(
                r#"{{"type":"label","id":"{id}","parentId":"{parent}","timestamp":"{time}","targetId":"{target}","label":"{name}"}}"#
            ) + "\n"
        };
        let leaf = "945684d1";
        let session =
            demo + &label("1abe1001", leaf, "8486246e", "wip") + &label("1abe1002", "1abe1001", "c1aa877c", "ok");
        // One of the sessions that agents keep belongs to the folder where the examples run.
        let held_here = session.replacen("/home/mia/src/shop", scene.path("work").to_str().unwrap(), 1);
        let elsewhere = session.replacen("019e1c4c", "019e0000", 1);
        for (name, text) in [
            ("work/session.jsonl", &session),
            ("work/sessions/session.jsonl", &session),
            ("home/.pi/agent/sessions/work/session.jsonl", &held_here),
            ("home/.pi/agent/sessions/shop/session.jsonl", &elsewhere),
            ("home/.omp/agent/sessions/shop/session.jsonl", &elsewhere),
        ] {
            fs::write(scene.path(name), text).unwrap();
        }
        for name in ["work/old.jsonl", "home/.pi/agent/sessions/shop/old.jsonl"] {
            fs::copy(data("golden/009-v1-pi.jsonl"), scene.path(name)).unwrap();
        }
        fs::write(scene.path("work/known.txt"), "").unwrap();
        // The exit code of ours counts anywhere in a pipe.
        let own =
            format!("'{}' \"$@\"\ncode=$?\necho $code >> ../codes\nexit $code", env!("CARGO_BIN_EXE_session-tree"));
        scene.program("session-tree", &own);
        for model in ["curl", "pi", "llm", "ollama", "npm", "duckdb", "parallel"] {
            scene.program(model, "head -c 400");
        }
        for (name, stand_in) in [
            ("jq", "case $1 in -e) exit 1 ;; -c) echo '{\"summary\":{\"summary\":\"x\"}}' ;; *) exec cat ;; esac"),
            ("man", "exec cat"),
        ] {
            if !SYSTEM.split(':').any(|folder| Path::new(folder).join(name).exists()) {
                scene.program(name, stand_in);
            }
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }

    /// Runs lines of a shell; returns what came of them, and the codes of each of our own runs.
    fn shell(&self, lines: &str) -> (Run, Vec<i32>) {
        let mut shell = Command::new("sh");
        shell.args(["-ec", lines]).current_dir(self.path("work")).env_clear().stdin(Stdio::null());
        shell.env("PATH", format!("{}:{SYSTEM}", self.path("bin").display())).env("HOME", self.path("home"));
        // As an agent would run them.
        shell.env("PI_SESSION_FILE", self.path("home/.pi/agent/sessions/work/session.jsonl"));
        let run = finish(&mut shell);
        let codes = fs::read_to_string(self.path("codes")).unwrap_or_default();
        (run, codes.lines().map(|code| code.parse().unwrap()).collect())
    }
}

/// An example of a help text.
#[derive(Debug)]
struct Example {
    line: String,
    /// What it says it ends with.
    code: i32,
}

/// Returns the names of all commands, the empty one of the program first.
fn commands() -> Vec<String> {
    let program = Cli::command();
    let names = program.get_subcommands().map(|command| command.get_name().to_owned());
    [String::new()].into_iter().chain(names).collect()
}

/// Returns a help text in 80 columns.
fn help(name: &str, option: &str) -> String {
    finish(command().args(name.split_whitespace()).arg(option).env("COLUMNS", "80")).ok()
}

/// Returns the examples of a help text: what stands after two blanks is a comment.
fn examples(help: &str) -> Vec<Example> {
    let lines = help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty());
    let example = |line: &str| {
        let line = line.strip_prefix("  ").unwrap_or_else(|| panic!("an example is set in: {line}"));
        let (line, comment) = line.split_once("  ").unwrap_or((line, ""));
        let code = comment.split_once("exit ").map_or("0", |(_, rest)| &rest[..1]);
        Example { line: line.to_owned(), code: code.parse().expect("a code stands behind `exit`") }
    };
    lines.map(example).collect()
}

#[test]
fn examples_are_split_from_their_comments() {
    let found = examples("Print\n\nExamples:\n  a b   exit 1 if so\n  c 'd e'\n\nmore\n");
    let found: Vec<_> = found.iter().map(|example| (example.line.as_str(), example.code)).collect();
    assert_eq!(found, [("a b", 1), ("c 'd e'", 0)]);
}

#[test]
fn every_example_of_help_runs() {
    for name in commands() {
        let examples = examples(&help(&name, "--help"));
        let own = format!("session-tree {name}");
        assert!(examples.iter().any(|example| example.line.contains(&own)), "no example of `{own}`");
        // Graphviz may not be there; `tests/graph` is about it.
        let has_dot = std::process::Command::new("dot").arg("-V").output().is_ok();
        for Example { line, code } in examples.into_iter().filter(|example| has_dot || !example.line.contains("| dot "))
        {
            // It would go on until interrupted.
            let line = line.replace(" --follow", " --follow --timeout 0");
            let (run, codes) = Scene::new().shell(&line);
            // A search for words that the sample has not.
            let code = if line.contains(" --search ") && run.code == 1 { 1 } else { code };
            assert_eq!(run.code, code, "{line}: {run:?}");
            assert!(codes.iter().all(|&own| own == code), "{line}: {codes:?} {run:?}");
            assert_eq!(codes.is_empty(), !line.contains("session-tree"), "{line}: it runs");
        }
    }
}

#[test]
fn commands_with_entry_argument_show_how_to_name_one() {
    let mut count = 0;
    for subcommand in Cli::command().get_subcommands() {
        let is_entry = |name: &clap::builder::Str| name.as_str() == "ENTRY";
        let takes_entry = subcommand
            .get_arguments()
            .any(|argument| argument.get_value_names().is_some_and(|names| names.iter().any(is_entry)));
        if !takes_entry {
            continue;
        }
        count += 1;
        let help = help(subcommand.get_name(), "--help");
        let lines: String = examples(&help).into_iter().map(|example| example.line + "\n").collect();
        let behind = &help[help.find("Examples:\n").unwrap()..].replace(&lines, "");
        let behind = &behind[behind.find("\nENTRY is ").expect("the forms stand behind the examples")..];
        for form in ["user:", "label:", "@~"] {
            assert!(lines.contains(form), "{}: no example with `{form}`", subcommand.get_name());
            assert!(behind.contains(form), "{}: `{form}` is not explained", subcommand.get_name());
        }
    }
    assert!(count > 4, "{count} commands");
}

#[test]
fn defaults_are_shown() {
    // These do nothing unless they are given, or say what they replace.
    const NONE: [&str; 23] = [
        "family",
        "children",
        "below",
        "search",
        "depth",
        "since",
        "until",
        "entry",
        "leaf",
        "diff",
        "from",
        "label",
        "summary",
        "summary-file",
        "instructions",
        "files-from",
        "deny",
        "allow",
        "baseline",
        "explain",
        "hook",
        "without",
        "timeout",
    ];
    for name in commands() {
        let mut program = Cli::command();
        program.build();
        let command = if name.is_empty() { &program } else { program.find_subcommand(&name).unwrap() };
        let long = help(&name, "--help");
        let parts: Vec<_> = long.split("\n\n").collect();
        let takes_value = |argument: &&clap::Arg| argument.get_num_args().is_some_and(|number| number.takes_values());
        for option in command.get_arguments().filter(takes_value).filter_map(|argument| argument.get_long()) {
            let head = |part: &&str| part.trim_start().trim_start_matches("-o, ").starts_with(&format!("--{option}"));
            let at = parts.iter().position(|part| part.lines().any(|line| head(&line))).unwrap();
            let end = (at + 1..parts.len())
                .find(|&at| parts[at].trim_start().starts_with('-') && !parts[at].trim_start().starts_with("- "));
            let text = parts[at..end.unwrap_or(parts.len())].concat();
            assert!(text.contains("[default") != NONE.contains(&option), "`{name} --help`, --{option}: {text}");
        }
    }
}

#[test]
fn short_help_fits_a_screen_and_help_fits_80_columns() {
    for name in commands() {
        let (short, long) = (help(&name, "-h"), help(&name, "--help"));
        assert!(short.lines().count() <= 24, "`{name} -h` has {} lines:\n{short}", short.lines().count());
        for text in [&short, &long] {
            let line = text.lines().find(|line| line.width() > 80);
            assert_eq!(line, None, "`{name}`");
        }
        // A line that has to be broken is not an example any more.
        let program = Cli::command();
        let subcommand = program.find_subcommand(&name).unwrap_or(&program);
        let behind = subcommand.get_after_long_help().expect("examples stand behind the long help").to_string();
        assert_eq!(behind.lines().find(|line| line.width() > 80), None, "`{name}`");
        // What is not in the short help is in the long one.
        for option in subcommand.get_arguments().filter_map(|argument| argument.get_long()) {
            assert!(long.contains(&format!("--{option}")), "`{name} --help` leaves out --{option}");
        }
    }
}

#[test]
fn shell_lines_of_readme_and_pages_run() {
    let mut scripts: Vec<(String, String)> = Vec::new();
    let mut count = 0;
    let blocks = texts().into_iter().flat_map(|Text { markdown, .. }| blocks(&markdown));
    for block in blocks.filter(|block| block.language.as_deref() == Some("sh")) {
        let text = block.lines.join("\n");
        if text.starts_with("#!") {
            let name = block.lines[1].strip_prefix("# ").and_then(|line| line.split_once(':')).map(|(name, _)| name);
            scripts.push((name.expect("a script says what it is called").to_owned(), text + "\n"));
            continue;
        }
        let scene = Scene::new();
        for (name, script) in &scripts {
            fs::write(scene.path("work").join(name), script).unwrap();
            fs::set_permissions(scene.path("work").join(name), fs::Permissions::from_mode(0o700)).unwrap();
        }
        // The tests are not the place to build the program.
        let lines: Vec<_> = block.lines.iter().filter(|line| !line.starts_with("cargo ")).cloned().collect();
        let (run, codes) = scene.shell(&lines.join("\n"));
        assert_eq!(run.code, 0, "{text}\n{run:?}");
        assert!(codes.iter().all(|&code| code == 0), "{text}\n{codes:?} {run:?}");
        // What jq is asked for is there.
        assert!(!run.stdout.contains("null"), "{text}\n{run:?}");
        count += codes.len();
    }
    assert!(count > 10, "{count} runs");
}

#[test]
fn hooks_that_only_write_events_down_do_not_answer() {
    let mut count = 0;
    for Text { name, markdown } in texts() {
        for (_, rest) in markdown.match_indices("--hook 'sh -c \"").map(|(at, _)| markdown[at..].split_at(8)) {
            let Some((script, _)) = rest["sh -c \"".len()..].split_once("\"'") else { panic!("{name}: {rest}") };
            if script == "…" {
                continue;
            }
            let scene = Scene::new();
            let (run, _) = scene.shell(&format!("echo event | sh -c {}", shell_words::quote(script)));
            assert_eq!((run.code, &*run.stdout), (0, ""), "{name}: {script}");
            assert_eq!(fs::read_to_string(scene.path("work/events.log")).unwrap(), "event\n", "{name}: {script}");
            count += 1;
        }
    }
    assert!(count > 1, "{count} hooks");
}

#[test]
fn manual_page_is_found_where_readme_puts_it() {
    let scene = Scene::new();
    let readme = texts().swap_remove(0).markdown;
    let line = readme.lines().find(|line| line.contains("session-tree man > ")).expect("the README installs it");
    let (run, codes) = scene.shell(line);
    assert_eq!((run.code, codes), (0, vec![0]), "{run:?}");
    // man looks beside the folders of PATH, and cargo installs into this one.
    let page = scene.path("home/.cargo/share/man/man1/session-tree.1");
    assert!(fs::read_to_string(&page).unwrap().contains(".SH NAME"), "{line}");
    if SYSTEM.split(':').any(|folder| Path::new(folder).join("manpath").exists()) {
        let (run, _) = scene.shell("PATH=$HOME/.cargo/bin:$PATH man -w session-tree");
        assert_eq!(run.ok().trim_end(), page.to_str().unwrap());
    }
}
