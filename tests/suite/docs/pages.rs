//! The pages of the reference: what is generated in them is what the program has, and what comments cite is
//! in them. Set `UPDATE_SNAPSHOTS` to write the generated parts anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;
use session_tree::cli::Cli;
use session_tree::core::check::{Code, Severity};
use session_tree::core::error::ErrorKind;
use session_tree::core::error::problem::WarningKind;
use session_tree::ui::exit::Exit;

use crate::support::{command, finish, run};

const TOPICS: [&str; 9] = ["format", "rules", "naming", "json", "checks", "hooks", "agents", "writing", "many"];

fn file(topic: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("src/help/{topic}.md"))
}

fn markdown(topic: &str) -> String {
    fs::read_to_string(file(topic)).unwrap()
}

/// Folds a text to the width of the pages; the rows after the first are indented.
fn folded(first: &str, text: &str) -> String {
    let (mut out, mut row) = (String::new(), first.to_owned());
    for word in text.split_whitespace() {
        if row.len() + 1 + word.len() > 80 {
            out.push_str(&format!("{row}\n"));
            row = " ".to_owned();
        }
        row.push_str(&format!(" {word}"));
    }
    out + &row + "\n"
}

fn codes(severity: Severity) -> String {
    let about = |code: Code| {
        let rule = code.rule();
        let fix = format!("{}; {}", rule.kind.name(), rule.what);
        let parts = [("What", code.title()), ("Agents", code.agents()), ("By hand", code.fix()), ("Fix", fix.as_str())];
        let parts = parts.map(|(name, text)| folded(&format!("* {name}:"), text)).concat();
        format!("### {} {}\n\n{parts}", code.id(), code.name())
    };
    let codes: Vec<_> = Code::all().filter(|code| code.severity() == severity).map(about).collect();
    codes.join("\n")
}

/// Returns what stands between the marks of each name.
fn generated() -> BTreeMap<&'static str, String> {
    let kind = |name: &str, meaning: &str| folded(&format!("* `{name}`:"), meaning);
    let exit = |exit: &Exit| format!("| {} | {} |\n", exit.code(), exit.meaning());
    BTreeMap::from([
        ("errors", codes(Severity::Error)),
        ("warnings", codes(Severity::Warning)),
        ("error kinds", ErrorKind::ALL.iter().map(|item| kind(item.name(), item.meaning())).collect()),
        ("warning kinds", WarningKind::ALL.iter().map(|item| kind(item.name(), item.meaning())).collect()),
        ("exit codes", format!("| exit | meaning |\n|--:|---|\n{}", Exit::ALL.iter().map(exit).collect::<String>())),
    ])
}

/// Fills the marked parts of a page; says which ones it has.
fn filled(page: &str, parts: &BTreeMap<&'static str, String>) -> (String, Vec<String>) {
    let (mut out, mut rest, mut names) = (String::new(), page, Vec::new());
    while let Some((before, after)) = rest.split_once(": generated -->\n") {
        let (_, name) = before.rsplit_once("<!-- ").expect("a mark begins with `<!-- `");
        let (_, after) = after.split_once("<!-- end -->\n").unwrap_or_else(|| panic!("`{name}` has no end"));
        let part = parts.get(name).unwrap_or_else(|| panic!("nothing is called `{name}`"));
        out.push_str(&format!("{before}: generated -->\n{part}<!-- end -->\n"));
        names.push(name.to_owned());
        rest = after;
    }
    (out + rest, names)
}

#[test]
fn marked_parts_are_filled() {
    let parts = BTreeMap::from([("a", "1\n".to_owned()), ("b", "2\n".to_owned())]);
    let (page, names) = filled("x\n<!-- b: generated -->\nold\n<!-- end -->\ny\n", &parts);
    assert_eq!((page.as_str(), names), ("x\n<!-- b: generated -->\n2\n<!-- end -->\ny\n", vec!["b".to_owned()]));
    assert_eq!(folded("*", &"abcde ".repeat(15)), format!("*{}\n  abcde abcde\n", " abcde".repeat(13)));
}

#[test]
fn generated_parts_of_pages_are_those_of_the_program() {
    let parts = generated();
    let mut found = Vec::new();
    for topic in TOPICS {
        let (new, names) = filled(&markdown(topic), &parts);
        found.extend(names);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() && new != markdown(topic) {
            // Put in place at once, since other tests read it.
            let scratch = tempfile::NamedTempFile::new_in(file(topic).parent().unwrap()).unwrap();
            fs::write(&scratch, &new).unwrap();
            fs::set_permissions(&scratch, fs::metadata(file(topic)).unwrap().permissions()).unwrap();
            scratch.persist(file(topic)).unwrap();
        }
        assert_eq!(markdown(topic), new, "UPDATE_SNAPSHOTS=1 cargo test pages writes {topic} anew");
    }
    found.sort_unstable();
    assert_eq!(found, parts.keys().copied().collect::<Vec<_>>(), "each part stands in one page");
}

#[test]
fn a_topic_is_printed_as_its_page() {
    for topic in TOPICS {
        let page = markdown(topic);
        let lines: Vec<_> = page.lines().filter(|line| !line.starts_with("<!--")).collect();
        let printed = run(["help", topic]).ok();
        assert_eq!(printed, lines.join("\n") + "\n");
        let bold = finish(command().args(["help", topic, "--color", "always"])).ok();
        assert!(bold.starts_with(&format!("\u{1b}[1m{}\u{1b}[0m\n", lines[0])), "{topic}");
        assert_eq!(bold.replace("\u{1b}[1m", "").replace("\u{1b}[0m", ""), printed);
        assert!(lines[0].starts_with("# ") && !printed.contains("\n# ") || printed.contains("#!"), "{topic}");
    }
    let files = fs::read_dir(file("rules").parent().unwrap()).unwrap();
    assert_eq!(files.count(), TOPICS.len(), "each page is a topic");
}

#[test]
fn help_lists_commands_and_topics() {
    let list = run(["help"]).ok();
    let rows: Vec<_> = list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    let program = Cli::command();
    let commands = program.get_subcommands().map(|command| command.get_name());
    assert_eq!(rows, commands.chain(TOPICS).collect::<Vec<_>>());
    assert!(list.contains("\nTopics:\n") && list.contains("  rules        The rules of sessions\n"), "{list}");
}

#[test]
fn an_unknown_topic_says_what_there_is() {
    let refused = run(["help", "fromat"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
    let message = "error: there is no help on `fromat`: it is not a topic and not a command\n";
    let hint =
        "hint: did you mean `format`? topics are format, rules, naming, json, checks, hooks, agents, writing, many; ";
    assert!(refused.stderr.starts_with(&format!("{message}{hint}commands are list, ")), "{}", refused.stderr);
    assert!(run(["help", "zebra"]).stderr.contains("\nhint: topics are "));
    // What is typed does nothing on the terminal.
    assert!(!run(["help", "\u{1b}[31m"]).stderr.contains('\u{1b}'));
}
