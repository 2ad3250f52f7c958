//! The completion scripts in `completions/`, and what the program answers when they ask. How that
//! works in the shells themselves is tried by `tests/shells/run.sh`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;

use clap::CommandFactory;
use session_tree::cli::Cli;
use session_tree::core::check::Code;

use crate::support::{command, data, finish, run};

const FILES: [(&str, &str); 5] = [
    ("bash", "session-tree.bash"),
    ("zsh", "_session-tree"),
    ("fish", "session-tree.fish"),
    ("powershell", "_session-tree.ps1"),
    ("elvish", "session-tree.elv"),
];
const BREAKS: &str = " \t\n\"'@><=;|&(:";

#[test]
fn committed_completion_scripts_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    for (shell, name) in FILES {
        let stored = fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(run(["completions", shell]).ok(), stored, "{shell}");
        assert!(stored.contains(&format!("session-tree completions {shell} -- ")), "{shell}");
    }
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(files.collect::<BTreeSet<_>>(), FILES.map(|(_, name)| name.to_owned()).into());
}

/// Returns what the program answers in a folder, which is its home too; it may say nothing else, and must succeed.
fn ask(folder: &Path, shell: &str, words: &[&str]) -> String {
    let mut command = command();
    command.current_dir(folder).env("HOME", folder).args(["completions", shell, "--"]).args(words);
    let done = finish(&mut command);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{words:?}");
    done.stdout
}

/// Returns the words that are offered after a command line, its program left out.
fn offered(folder: &Path, words: &[&str]) -> Vec<String> {
    let words: Vec<_> = ["session-tree"].iter().chain(words).copied().collect();
    let value = |line: &str| line.split('\t').next().unwrap().to_owned();
    ask(folder, "elvish", &words).lines().map(value).collect()
}

fn demo() -> String {
    data("demo.jsonl").into_os_string().into_string().unwrap()
}

#[test]
fn commands_options_and_values_are_offered() {
    let here = tempfile::tempdir().unwrap();
    let offered = |words: &[&str]| offered(here.path(), words);
    for command in Cli::command().get_subcommands() {
        assert!(offered(&[""]).contains(&command.get_name().to_owned()), "{command}");
    }
    assert_eq!(offered(&["nav"]), ["navigate"]);
    assert_eq!(offered(&["tree", "--filt"]), ["--filter"]);
    assert_eq!(offered(&["tree", "--filter", ""]), ["default", "no-tools", "user-only", "labeled-only", "all"]);
    assert_eq!(offered(&["tree", "--format=js"]), ["--format=json", "--format=jsonl"]);
    assert_eq!(offered(&["completions", ""]), ["bash", "elvish", "fish", "powershell", "zsh"]);
    assert_eq!(offered(&["check", "--deny", ""]).len(), Code::all().count() + 1);
    assert_eq!(offered(&["check", "--allow", "glued"]), ["glued-objects"]);
    assert_eq!(offered(&["check", "--allow", "E007"]), ["E007"]);
    assert_eq!(offered(&["help", "n"]), ["navigate", "naming"]);
    assert_eq!(offered(&["help", "check"]), ["check", "checks"]);
    assert_eq!(offered(&["tree", "--nothing", "x", "y", "z"]), [""; 0]);
    let described = ask(here.path(), "zsh", &["session-tree", "tree", "--filt"]);
    assert_eq!(described, "--filter:Which entries to show\n");
}

#[test]
fn session_files_and_folders_are_offered() {
    let here = tempfile::tempdir().unwrap();
    for name in ["a.jsonl", "b.txt", "c\nd.jsonl", "c\u{1b}[31m.jsonl", ".hidden.jsonl"] {
        File::create(here.path().join(name)).unwrap();
    }
    fs::create_dir(here.path().join("folder")).unwrap();
    File::create(here.path().join("folder/deep one.jsonl")).unwrap();
    for words in [&["list", ""][..], &["migrate", "x.jsonl", ""], &["check", "--stdin-name", ""]] {
        assert_eq!(offered(here.path(), words), ["a.jsonl", "folder/"], "{words:?}");
    }
    for words in [&["tree", ""][..], &["label", ""], &["tree", "--path", ""], &["check", ""]] {
        assert_eq!(offered(here.path(), words), ["a.jsonl", "folder/", "latest"], "{words:?}");
    }
    assert_eq!(offered(here.path(), &["tree", "folder/"]), ["folder/deep one.jsonl"]);
    assert_eq!(offered(here.path(), &["tree", ".h"]), [".hidden.jsonl"]);
    assert_eq!(offered(here.path(), &["branch", "a.jsonl", "--output", ""]), ["a.jsonl", "b.txt", "folder/"]);
    assert_eq!(offered(here.path(), &["branch", "a.jsonl", "--session-dir="]), ["--session-dir=folder/"]);
    let answer = ask(here.path(), "bash", &["session-tree tree 'folder/", BREAKS]);
    assert_eq!(answer, "paths\nfolder/deep one.jsonl\n");
}

#[test]
fn kept_sessions_and_their_entries_are_offered() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join(".pi/agent/sessions/shop");
    fs::create_dir_all(&folder).unwrap();
    let session = fs::read_to_string(demo()).unwrap();
    fs::write(folder.join("a.jsonl"), session.replacen("/home/mia/src/shop", here.path().to_str().unwrap(), 1))
        .unwrap();
    fs::write(folder.join("b.jsonl"), session.replacen("019e1c4c", "019e0000", 1)).unwrap();
    let offered = |words: &[&str]| offered(here.path(), words);
    assert_eq!(offered(&["tree", "lat"]), ["latest"]);
    assert_eq!(offered(&["tree", "019e1"]), ["019e1c4c-71a2-7579-8dc7-a8f7f05b0f52"]);
    assert_eq!(offered(&["tree", "019e"]).len(), 2);
    for session in ["latest", "019e1c4c", "019e0000"] {
        assert!(offered(&["label", session, "label:b"]).contains(&"label:bisected".to_owned()), "{session}");
    }
    assert_eq!(offered(&["label", "019e", "label:b"]), [""; 0]);
}

#[test]
fn every_argument_has_values_or_is_listed_as_free() {
    const FREE: [&str; 9] = ["TEXT", "WHEN", "COMMAND", "SECONDS", "TOKENS", "N", "NAME", "SUFFIX", "PROVIDER/ID"];
    const KNOWN: [&str; 7] = ["ENTRY", "SESSION", "PATH", "FILE", "DIR", "CODE", "TOPIC"];
    let mut definition = Cli::command();
    definition.build();
    for (command, arg) in
        definition.get_subcommands().flat_map(|command| command.get_arguments().map(move |arg| (command, arg)))
    {
        if !arg.get_num_args().unwrap().takes_values() || arg.is_hide_set() || !arg.get_possible_values().is_empty() {
            continue;
        }
        let name = arg.get_value_names().unwrap()[0].as_str();
        assert!(FREE.contains(&name) || KNOWN.contains(&name), "{}: {arg}: {name}", command.get_name());
        if name == "ENTRY" {
            let before = [command.get_name(), &demo()];
            let long = arg.get_long().map(|long| format!("--{long}"));
            let words: Vec<_> = before.into_iter().chain(long.as_deref()).chain(["label:pl"]).collect();
            assert_eq!(offered(Path::new("/"), &words), ["label:plan-b"], "{words:?}");
        }
    }
}

#[test]
fn entries_of_the_session_on_the_line_are_offered() {
    let demo = demo();
    let offered = |words: &[&str]| offered(Path::new("/"), words);
    let names = offered(&["navigate", &demo, ""]);
    assert_eq!(names[..3], ["@", "user:1", "user:2"]);
    assert_eq!(names[7..10], ["label:green", "label:plan-b", "label:bisected"]);
    assert!(!names.iter().any(|name| name.starts_with('-')), "{names:?}");
    assert_eq!(offered(&["tree", "--filter", "all", &demo, "--entry", "00c"]), ["00c0e277"]);
    assert_eq!(offered(&["navigate", &demo, "--leaf", "944f4090", "user:"]).len(), 3);
    assert_eq!(offered(&["branch", &demo, "label:"]), ["label:plan-b"]);
    assert_eq!(offered(&["tree", &demo, "--leaf=label:g"]), ["--leaf=label:green"]);
    let answer = ask(Path::new("/"), "bash", &[&format!("session-tree tree {demo} --leaf=label:"), BREAKS]);
    assert_eq!(answer, "words\ngreen\nplan-b\nbisected\n");
    let about = ask(Path::new("/"), "fish", &["session-tree", "label", &demo, "user:2"]);
    assert!(
        about.starts_with("user:2\tuser, ")
            && about.ends_with(" ago: Stop, leave the fixtures alone. Only money.ts.\n")
    );
}

#[test]
fn file_that_is_not_a_session_offers_nothing() {
    let here = tempfile::tempdir().unwrap();
    let path = |name: &str| here.path().join(name);
    fs::write(path("empty.jsonl"), "").unwrap();
    fs::write(path("broken.jsonl"), "{\"type\":\"session\",\"id\"").unwrap();
    fs::create_dir(path("folder.jsonl")).unwrap();
    let made = Command::new("mkfifo").arg(path("pipe.jsonl")).status().unwrap();
    assert!(made.success());
    // A file too large to be read while somebody waits, though it is a session.
    fs::copy(data("demo.jsonl"), path("large.jsonl")).unwrap();
    File::options().write(true).open(path("large.jsonl")).unwrap().set_len(1 << 30).unwrap();
    for name in ["empty", "broken", "folder", "pipe", "large", "missing"].map(|name| format!("{name}.jsonl")) {
        assert_eq!(offered(here.path(), &["tree", &name, "--entry", ""]), [""; 0], "{name}");
    }
    for name in ["-", "/dev/zero", "/dev/tty", "~nobody/x.jsonl"] {
        assert_eq!(offered(here.path(), &["tree", name, "--entry", ""]), [""; 0], "{name}");
    }
    assert_eq!(offered(here.path(), &["tree", "--entry", ""]), [""; 0]);
}

#[test]
fn hostile_names_are_not_offered() {
    let here = tempfile::tempdir().unwrap();
    let mut file = File::create(here.path().join("hostile.jsonl")).unwrap();
    writeln!(file, r#"{{"type":"session","version":3,"id":"s"}}"#).unwrap();
    let labels = [r"a\nb", r"a\u001b[31mb", r"a\u202eb", r"a\tb", r"a\u007fb", r"a\u2028b", "fine one"];
    for (at, label) in labels.iter().enumerate() {
        let message = r#""message":{"role":"user","content":"a\u001b]0;x\u0007\r\n\u202eb"}"#;
        writeln!(file, r#"{{"type":"message","id":"entry{at}","parentId":null,{message}}}"#).unwrap();
        let set = format!(r#""id":"set{at}","parentId":"entry{at}","targetId":"entry{at}","label":"{label}""#);
        writeln!(file, r#"{{"type":"label",{set}}}"#).unwrap();
    }
    writeln!(file, r#"{{"type":"message","id":"x\u001b[2J","parentId":null,"message":{{"role":"user"}}}}"#).unwrap();
    drop(file);
    for (shell, _) in FILES {
        let line = "session-tree tree hostile.jsonl --entry ";
        let words: Vec<_> = if shell == "bash" { vec![line, BREAKS] } else { line.split(' ').collect() };
        let answer = ask(here.path(), shell, &words);
        assert!(!answer.chars().any(|char| char.is_control() && !"\t\n".contains(char)), "{shell}: {answer:?}");
        assert!(!answer.contains('\u{202e}'), "{shell}: {answer:?}");
        assert_eq!(answer.matches("label").count(), 1, "{shell}: {answer:?}");
        let quoted = match shell {
            "bash" => r"label:fine\ one",
            "zsh" => r"label\:fine one",
            "powershell" => "'label:fine one'",
            _ => "label:fine one",
        };
        assert!(answer.contains(quoted), "{shell}: {answer:?}");
    }
}

#[test]
fn odd_command_lines_are_completed_without_error() {
    let demo = demo();
    let pieces = [
        "",
        "-",
        "--",
        "help",
        "label",
        "--leaf",
        "--leaf=",
        "-qq",
        "--no-such",
        "@",
        "'",
        "\\",
        "${",
        "~",
        "..",
        "branch",
        "--at",
        "--backup",
        &demo,
    ];
    // Every pair of pieces, with a third that differs from pair to pair.
    for (at, first) in pieces.iter().enumerate() {
        for (from, second) in pieces.iter().enumerate() {
            let third = pieces[(at * 7 + from * 3) % pieces.len()];
            let line = ["session-tree", first, second, third].join(" ");
            let words = Vec::from(["session-tree", first, second, third]);
            match (at + from) % 3 {
                0 => ask(Path::new("/"), "bash", &[&line, BREAKS]),
                1 => ask(Path::new("/"), "zsh", &words),
                _ => ask(Path::new("/"), "fish", &words),
            };
        }
    }
    for words in [&[""][..], &["session-tree"], &["", ""], &["session-tree", "tree", "tree", "tree"]] {
        for (shell, _) in FILES {
            ask(Path::new("/"), shell, words);
        }
    }
}
