//! The manual page has all that the command line has.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use session_tree::cli::Cli;
use session_tree::ui::exit::Exit;

use crate::support::run;

/// Returns the page as it reads: without the marks for fonts and the care for hyphens and quotes.
fn page() -> String {
    let page = run(["man"]).ok();
    let plain = ["\\fB", "\\fI", "\\fR"].iter().fold(page, |page, font| page.replace(font, ""));
    plain.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\&", "").replace("\\\\", "\\")
}

/// Returns the lines of a section, up to the next one of its level.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let start = page.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}")) + 1;
    let behind = start + heading.len();
    let end = page[behind..].find("\n.S").map_or(page.len(), |at| behind + at + 1);
    &page[start..end]
}

/// Returns how an argument is headed, up to its values.
fn head(argument: &Arg) -> String {
    match (argument.get_short(), argument.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}"),
        (_, Some(long)) => format!("--{long}"),
        _ => argument.get_value_names().unwrap()[0].to_string(),
    }
}

fn check(text: &str, arguments: impl Iterator<Item = Arg>, of: &str) -> usize {
    let mut count = 0;
    for argument in arguments.filter(|argument| !argument.is_hide_set()) {
        let head = head(&argument);
        let mut entries = text.split(".TP\n").skip(1);
        let is_own = |entry: &&str| {
            let line = entry.lines().next().unwrap().trim_start_matches(['<', '[']);
            line.strip_prefix(&head)
                .is_some_and(|rest| !rest.starts_with(|char: char| char.is_alphanumeric() || char == '-'))
        };
        let entry = entries.find(is_own).unwrap_or_else(|| panic!("{of}: {head} is not in the page"));
        let help = argument.get_help().unwrap().to_string();
        assert!(entry.contains(&help), "{of} {head}: {help}: {entry}");
        for value in argument.get_possible_values().iter().filter(|_| argument.get_action().takes_values()) {
            assert!(entry.contains(&format!("\n{}", value.get_name())), "{of} {head}: {}", value.get_name());
        }
        count += 1;
    }
    count
}

#[test]
fn man_page_has_every_option_of_every_command() {
    let page = page();
    let program = Cli::command();
    let mut count = 0;
    for command in program.get_subcommands() {
        let text = section(&page, &format!(".SS {}", command.get_name()));
        count += check(text, command.get_arguments().cloned(), command.get_name());
        assert!(text.contains(&command.get_about().unwrap().to_string()), "{text}");
        let long = command.get_long_about().unwrap().to_string();
        let paragraphs: Vec<_> = long.split("\n\n").skip(1).collect();
        assert!(!paragraphs.is_empty() && paragraphs.iter().all(|paragraph| text.contains(paragraph)), "{text}");
        examples(text, command);
    }
    let common = section(&page, ".SH \"COMMON OPTIONS\"");
    let globals: Vec<_> = program.get_arguments().filter(|argument| argument.is_global_set()).cloned().collect();
    count += check(common, globals.into_iter(), "all");
    assert!(count > 60, "{count} arguments");
    examples(section(&page, ".SH EXAMPLES"), &program);
}

fn examples(text: &str, command: &Command) {
    let help = command.get_after_long_help().unwrap().to_string();
    let lines: Vec<_> = help.lines().filter(|line| line.contains("session-tree")).collect();
    assert!(!lines.is_empty(), "{}", command.get_name());
    for line in lines {
        assert!(text.contains(&format!("\n{line}\n")), "{line}: {text}");
    }
}

#[test]
fn man_page_has_every_variable_and_exit_code() {
    let page = page();
    let text = section(&page, ".SH ENVIRONMENT");
    let mut known = BTreeSet::new();
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cmd")).unwrap();
    for path in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let source = fs::read_to_string(path).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap();
        for call in ["var(\"", "var_os(\"", "text(\"", "folder(\"", "is_set(\""] {
            known.extend(source.split(call).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
    }
    assert!(known.len() > 10 && known.contains("SESSION_TREE_DIR") && known.contains("NO_COLOR"), "{known:?}");
    let missing: Vec<_> = known.iter().filter(|name| !text.contains(&***name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let text = section(&page, ".SH \"EXIT STATUS\"");
    for code in Exit::ALL.iter().map(|exit| exit.code()) {
        assert!(text.contains(&format!(".TP\n{code}\n")), "{code}");
    }
    for (heading, forms) in [
        (".SH \"NAMING A SESSION\"", ["PATH", "-", "latest", "ID"]),
        (".SH \"NAMING AN ENTRY\"", ["ID", "@", "label:NAME", "user:N"]),
    ] {
        let text = section(&page, heading);
        forms.iter().for_each(|form| assert!(text.contains(&format!(".TP\n{form}\n")), "{form}"));
    }
}

#[test]
fn man_page_has_only_intended_roff_requests() {
    let page = run(["man"]).ok();
    let (head, rest) = page.split_once(".TH ").unwrap();
    assert_eq!(head.lines().count(), 2, "{head}");
    assert!(rest.starts_with("SESSION-TREE 1 \" \" \"session-tree "), "{rest}");
    for line in rest.lines().skip(1) {
        let request = line.strip_prefix(['.', '\'']).map(|line| line.split(' ').next().unwrap());
        let known = ["SH", "SS", "PP", "TP", "IP", "RS", "RE", "br", "nf", "fi"];
        assert!(request.is_none_or(|request| known.contains(&request)), "{line}");
        assert!(!line.is_empty() && line.is_ascii(), "{line:?}");
    }
}
