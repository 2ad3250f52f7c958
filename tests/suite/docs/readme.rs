//! The README is right: its examples run, and what it names exists. Set `UPDATE_README` to
//! write the outputs in it anew.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::CommandFactory;
use session_tree::cli::Cli;
use session_tree::core::error::ErrorKind;
use session_tree::core::migrate::file::Status;
use session_tree::core::problem::WarningKind;
use session_tree::ui::exit::Exit;

use crate::support::data;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("there is a README.md")
}

/// A run of lines, inside a code block or between two.
pub struct Block {
    /// What stands after the fence; `None` outside.
    pub language: Option<String>,
    pub lines: Vec<String>,
}

/// Splits Markdown at its fences; joined again, [`text`] gives the same Markdown.
pub fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = vec![Block { language: None, lines: Vec::new() }];
    for line in markdown.lines() {
        let inside = blocks.last().is_some_and(|block| block.language.is_some());
        match line.strip_prefix("```") {
            Some(_) if inside => blocks.push(Block { language: None, lines: Vec::new() }),
            Some(language) => blocks.push(Block { language: Some(language.trim().to_owned()), lines: Vec::new() }),
            None => blocks.last_mut().expect("there is a first one").lines.push(line.to_owned()),
        }
    }
    blocks
}

fn text(blocks: &[Block]) -> String {
    let mut out = String::new();
    for Block { language, lines } in blocks {
        if let Some(language) = language {
            out.push_str(&format!("```{language}\n"));
        }
        for line in lines {
            out.push_str(&format!("{line}\n"));
        }
        if language.is_some() {
            out.push_str("```\n");
        }
    }
    out
}

/// Returns the lines of a section, up to the next heading of its level.
fn section<'m>(markdown: &'m str, heading: &str) -> &'m str {
    let start = markdown.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no section `{heading}`")) + 1;
    let rest = &markdown[start..];
    let end = rest[1..].find("\n## ").map_or(rest.len(), |at| at + 2);
    &rest[..end]
}

#[test]
fn code_blocks_are_split_and_joined_without_loss() {
    let markdown = "# a\n\n```sh\nb\n\n```\n```console\n$ c\nd\n```\ne\n";
    let blocks = blocks(markdown);
    assert_eq!(text(&blocks), markdown);
    let languages: Vec<_> = blocks.iter().filter_map(|block| block.language.as_deref()).collect();
    assert_eq!(languages, ["sh", "console"]);
}

#[test]
fn readme_starts_with_name_and_two_quick_start_commands() {
    let readme = readme();
    assert!(readme.starts_with("# session-tree\n"));
    let blocks = blocks(section(&readme, "## Quick start"));
    let shell: Vec<_> = blocks.iter().filter(|block| block.language.as_deref() == Some("sh")).collect();
    assert_eq!(shell.len(), 1, "one block of commands");
    let commands = shell[0].lines.iter().filter(|line| !line.trim().is_empty() && !line.ends_with('\\'));
    assert_eq!(commands.count(), 2, "two commands: {:?}", shell[0].lines);
}

/// One `$ command` of a block, with the lines that it prints.
struct Step {
    /// As written, also over several lines that end in a backslash.
    command: Vec<String>,
    output: Vec<String>,
}

fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in &block.lines {
        let continued = steps.last().is_some_and(|step| {
            step.output.is_empty() && step.command.last().is_some_and(|command| command.ends_with('\\'))
        });
        if line.starts_with("$ ") {
            steps.push(Step { command: vec![line.clone()], output: Vec::new() });
            continue;
        }
        let step = steps.last_mut().expect("a console block starts with `$ `");
        let to = if continued { &mut step.command } else { &mut step.output };
        to.push(line.clone());
    }
    steps
}

/// What makes the picture in the README that is drawn where it is shown.
const MERMAID: &str = "session-tree tree demo.jsonl --filter user-only --format mermaid";

/// Runs a command of the README and returns what it prints, errors included.
fn run(folder: &Path, command: &str) -> Vec<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_session-tree")).parent().expect("it is in a folder");
    let mut path = OsString::from(binary);
    path.push(":/usr/local/bin:/usr/bin:/bin");
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", "/home/mia")
        .env("COLUMNS", "80")
        .stdin(Stdio::null())
        .output()
        .expect("sh starts");
    let text = String::from_utf8(output.stdout).expect("all output is UTF-8");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn examples_of_readme_print_what_they_show() {
    let readme = readme();
    let mut blocks = blocks(&readme);
    let mut count = 0;
    let mut wrong = Vec::new();
    for block in &mut blocks {
        let scratch = tempfile::tempdir().expect("a folder for the example");
        fs::copy(data("demo.jsonl"), scratch.path().join("demo.jsonl")).expect("the demo is copied");
        match block.language.as_deref() {
            Some("console") => {}
            Some("mermaid") => {
                let now = run(scratch.path(), MERMAID);
                if now != block.lines {
                    wrong.push(format!("$ {MERMAID}\n--- now\n{}", now.join("\n")));
                }
                block.lines = now;
                continue;
            }
            _ => continue,
        }
        let mut steps = steps(block);
        for step in &mut steps {
            let command = step.command.join("\n")["$ ".len()..].to_owned();
            if !command.starts_with("session-tree ") {
                continue;
            }
            count += 1;
            let now = run(scratch.path(), &command);
            if now != step.output {
                let (now, then) = (now.join("\n"), step.output.join("\n"));
                wrong.push(format!("$ {command}\n--- README\n{then}\n--- now\n{now}"));
            }
            step.output = now;
        }
        block.lines = steps.into_iter().flat_map(|step| step.command.into_iter().chain(step.output)).collect();
    }
    assert!(count > 0, "there are examples");
    assert!(readme.contains(&format!("`{MERMAID}`")), "the README says how its picture is made");
    if std::env::var_os("UPDATE_README").is_some() {
        // Put in place at once, since other tests read it.
        let new = tempfile::NamedTempFile::new_in(root()).expect("a file beside the README");
        fs::write(&new, text(&blocks)).expect("it is written");
        fs::set_permissions(&new, fs::metadata(root().join("README.md")).expect("it is there").permissions())
            .expect("it is as readable as before");
        new.persist(root().join("README.md")).expect("it is put in place");
        return;
    }
    assert!(wrong.is_empty(), "UPDATE_README=1 cargo test readme writes these anew:\n{}", wrong.join("\n\n"));
}

/// Adds the long options of a command and of those below it.
fn collect(options: &mut BTreeSet<String>, command: &clap::Command) {
    let longs = command.get_arguments().filter_map(|argument| argument.get_long());
    options.extend(longs.map(str::to_owned));
    command.get_subcommands().for_each(|below| collect(options, below));
}

/// Returns the part of a command line that is about this program: not what is before or after it.
fn own_part(code: &str) -> &str {
    let own = code.find("session-tree").map_or("", |at| &code[at..]);
    let end = [" | ", " && ", "; "].iter().filter_map(|end| own.find(end)).min();
    &own[..end.unwrap_or(own.len())]
}

/// Returns the long options in a line of prose, but not those of other programs in code spans.
fn options_in_prose(line: &str) -> Vec<String> {
    let pieces = line.split('`').enumerate().map(|(at, piece)| match at % 2 == 1 {
        true if piece.contains("session-tree") => own_part(piece),
        true if !piece.starts_with('-') => "",
        _ => piece,
    });
    pieces.flat_map(long_options).collect()
}

fn long_options(text: &str) -> Vec<String> {
    let mut options = Vec::new();
    for (at, _) in text.match_indices("--") {
        let is_start = !text[..at].ends_with(|char: char| char.is_alphanumeric() || char == '-');
        let is_name = |char: &char| char.is_ascii_lowercase() || *char == '-';
        let name: String = text[at + 2..].chars().take_while(is_name).collect();
        if is_start && name.starts_with(|char: char| char.is_ascii_lowercase()) {
            options.push(name.trim_end_matches('-').to_owned());
        }
    }
    options
}

#[test]
fn options_are_found_in_lines() {
    let found = long_options("session-tree tree x --filter=all `--json`, a--b ---c -- -q --no-tools.");
    assert_eq!(found, ["filter", "json", "no-tools"]);
    assert_eq!(own_part("cargo run --release && session-tree tree | jq --raw"), "session-tree tree");
    let found = options_in_prose("`pi --session \"$(session-tree tree --path)\"`, `ls --all`, `--json`");
    assert_eq!(found, ["path", "json"]);
}

#[test]
fn every_option_in_readme_exists() {
    let mut command = Cli::command();
    command.build();
    let mut known = BTreeSet::new();
    collect(&mut known, &command);
    assert!(known.contains("filter") && known.contains("quiet") && known.contains("help"));
    let mut unknown = Vec::new();
    for Block { language, lines } in blocks(&readme()) {
        for line in lines.iter().filter(|line| line.contains("session-tree")) {
            let named = if language.is_some() { long_options(own_part(line)) } else { options_in_prose(line) };
            unknown
                .extend(named.into_iter().filter(|name| !known.contains(name)).map(|name| format!("--{name}: {line}")));
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

/// Checks that the README has a table with exactly these rows.
fn check_table(head: &str, rows: impl Iterator<Item = (String, &'static str)>) {
    let rows: String = rows.map(|(name, meaning)| format!("| {name} | {meaning} |\n")).collect();
    assert!(readme().contains(&format!("\n{head}\n{rows}\n")), "README.md has another table than:\n{head}\n{rows}");
}

#[test]
fn its_tables_of_messages_and_exit_codes_are_those_of_the_program() {
    check_table(
        "| exit | meaning |\n|--:|---|",
        Exit::ALL.iter().map(|exit| (exit.code().to_string(), exit.meaning())),
    );
    let errors = ErrorKind::ALL.iter().map(|kind| (format!("`{}`", kind.name()), kind.meaning()));
    check_table("| error kind | meaning |\n|---|---|", errors);
    let warnings = WarningKind::ALL.iter().map(|kind| (format!("`{}`", kind.name()), kind.meaning()));
    check_table("| warning kind | meaning, and what is done |\n|---|---|", warnings);
    let statuses: Vec<_> = Status::ALL.iter().map(|status| format!("`{}`", status.name())).collect();
    let (last, rest) = statuses.split_last().unwrap();
    assert!(readme().contains(&format!("; status is {} or {last} |", rest.join(", "))), "{statuses:?}");
}
