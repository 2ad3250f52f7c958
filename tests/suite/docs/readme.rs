//! The README and the pages of the reference are right: their examples run, and what they name exists.
//! Set `UPDATE_README` to write the outputs in them anew.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::CommandFactory;
use session_tree::cli::Cli;

use crate::support::data;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("there is a README.md")
}

/// A text for users: its path from the root of the project, and what it says.
pub struct Text {
    pub name: String,
    pub markdown: String,
}

/// Returns the README and the pages of the reference.
pub fn texts() -> Vec<Text> {
    let pages = fs::read_dir(root().join("src/help")).expect("there are pages");
    let pages = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = pages.filter(|name| name.ends_with(".md")).map(|name| format!("src/help/{name}")).collect();
    names.sort_unstable();
    names.insert(0, "README.md".to_owned());
    let text = |name: String| Text { markdown: fs::read_to_string(root().join(&name)).unwrap(), name };
    names.into_iter().map(text).collect()
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

/// Runs a command and returns what it prints, errors included.
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
fn examples_print_what_they_show() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for Text { name, markdown } in texts() {
        let mut blocks = blocks(&markdown);
        for block in blocks.iter_mut().filter(|block| block.language.as_deref() == Some("console")) {
            let scratch = tempfile::tempdir().expect("a folder for the example");
            fs::copy(data("demo.jsonl"), scratch.path().join("demo.jsonl")).expect("the demo is copied");
            let mut steps = steps(block);
            for step in &mut steps {
                let command = step.command.join("\n")["$ ".len()..].to_owned();
                count += usize::from(command.contains("session-tree "));
                let now = run(scratch.path(), &command);
                if now != step.output {
                    let (now, then) = (now.join("\n"), step.output.join("\n"));
                    wrong.push(format!("{name}: $ {command}\n--- then\n{then}\n--- now\n{now}"));
                }
                step.output = now;
            }
            block.lines = steps.into_iter().flat_map(|step| step.command.into_iter().chain(step.output)).collect();
        }
        if std::env::var_os("UPDATE_README").is_some() {
            // Put in place at once, since other tests read it.
            let path = root().join(&name);
            let new = tempfile::NamedTempFile::new_in(path.parent().expect("it is in a folder")).expect("a new file");
            fs::write(&new, text(&blocks)).expect("it is written");
            fs::set_permissions(&new, fs::metadata(&path).expect("it is there").permissions())
                .expect("it is as readable as before");
            new.persist(path).expect("it is put in place");
            wrong.clear();
        }
    }
    assert!(count > 5, "{count} examples");
    assert!(wrong.is_empty(), "UPDATE_README=1 cargo test readme writes these anew:\n{}", wrong.join("\n\n"));
}

/// Adds the long options of a command and of those below it.
fn collect(options: &mut BTreeSet<String>, command: &clap::Command) {
    let longs = command.get_arguments().filter_map(|argument| argument.get_long());
    options.extend(longs.map(str::to_owned));
    command.get_subcommands().for_each(|below| collect(options, below));
}

/// Other programs whose options the texts name.
const OTHERS: [&str; 4] = ["bash", "cargo", "omp", "pi"];

/// Returns the long options in a line that are this program's: those of another one stand after its name, up to
/// the end of its command.
fn own_options(line: &str) -> Vec<&str> {
    // A code span, a substitution and each part of a pipe is a command of its own.
    let commands = line.split(['`', '|', ';', '&', '(', '"']);
    let is_own = |command: &&str| !command.split_whitespace().any(|word| OTHERS.contains(&word));
    commands.filter(is_own).flat_map(long_options).collect()
}

fn long_options(text: &str) -> Vec<&str> {
    let mut options = Vec::new();
    for (at, _) in text.match_indices("--") {
        let is_start = !text[..at].ends_with(|char: char| char.is_alphanumeric() || char == '-');
        let name = &text[at + 2..];
        let name = &name[..name.find(|char: char| !char.is_ascii_lowercase() && char != '-').unwrap_or(name.len())];
        if is_start && name.starts_with(|char: char| char.is_ascii_lowercase()) {
            options.push(name.trim_end_matches('-'));
        }
    }
    options
}

#[test]
fn options_are_found_in_lines() {
    let check = |line: &str, expected: &[&str]| assert_eq!(own_options(line), expected, "{line}");
    check("session-tree tree x --filter=all `--json`, a--b ---c -- -q --no-tools.", &["filter", "json", "no-tools"]);
    check("cargo run --release && session-tree tree --tips | jq -r .x", &["tips"]);
    check("`pi --session \"$(session-tree tree --path)\"`, `omp --resume FILE`, `--json`", &["path", "json"]);
    check("| `check --why-leaf` | `--backup[=SUFFIX]` | `--color always` |", &["why-leaf", "backup", "color"]);
    check("two words -- and a dash, --", &[]);
}

#[test]
fn every_option_that_is_named_exists() {
    let mut command = Cli::command();
    command.build();
    let mut known = BTreeSet::new();
    collect(&mut known, &command);
    assert!(known.contains("filter") && known.contains("quiet") && known.contains("help"));
    let (mut unknown, mut count) = (Vec::new(), 0);
    for Text { name, markdown } in texts() {
        for line in markdown.lines() {
            for option in own_options(line) {
                count += 1;
                if !known.contains(option) {
                    unknown.push(format!("{name}: --{option}: {line}"));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    assert!(count > 100, "{count} options");
}

#[test]
fn links_lead_to_files() {
    let mut count = 0;
    for name in ["README.md", "tests/README.md", "tests/bench/README.md"] {
        let text = fs::read_to_string(root().join(name)).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            let file = link.split('#').next().expect("there is a first part");
            let is_there = link.starts_with("https://") || root().join(name).with_file_name(file).exists();
            assert!(file.is_empty() || is_there, "{name}: {link}");
            count += 1;
        }
    }
    assert!(count > 10, "{count} links");
}

#[test]
fn every_dependency_is_in_readme_with_its_purpose() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let needed: BTreeSet<_> = lines.map(|line| line.split_once(" = ").expect("NAME = …").0.to_owned()).collect();
    let readme = readme();
    let rows = section(&readme, "## Dependencies").lines().filter_map(|line| line.strip_prefix("| ")).skip(1);
    let rows: Vec<_> = rows.map(|row| row.split_once(" | ").expect("two columns")).collect();
    assert!(rows.iter().all(|(_, purpose)| purpose.len() > " |".len()), "{rows:?}");
    let told: BTreeSet<_> = rows.iter().flat_map(|(names, _)| names.split(", ")).map(str::to_owned).collect();
    assert_eq!(told, needed);
}

/// A baseline is lines of JSON too: a hook that hands all such files on must not take it for a session.
#[test]
fn baselines_in_examples_are_not_checked_themselves() {
    let mut count = 0;
    for Text { name, markdown } in texts() {
        for (_, rest) in markdown.match_indices("--baseline ").map(|(at, word)| markdown[at..].split_at(word.len())) {
            let file = rest.split(|char: char| char.is_whitespace() || char == '`').next().unwrap();
            assert!(!file.ends_with(".jsonl"), "{name}: {file}");
            count += 1;
        }
    }
    let is_told = texts().iter().any(|text| text.markdown.contains("files: \\.jsonl$\n"));
    assert!(count > 1 && is_told, "{count}");
}

#[test]
fn readme_keeps_within_its_bounds() {
    let readme = fs::read_to_string("README.md").unwrap();
    assert!(readme.lines().count() <= 230 && readme.len() <= 17 * 1024, "what is longer belongs in a page of src/help");
}
