//! The completion scripts in `completions/` are those that the program prints. Set
//! `UPDATE_COMPLETIONS` to write them anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use session_tree::cli::Cli;
use session_tree::cmd::completions::script;

use crate::support::run;

const FILES: [(Shell, &str); 5] = [
    (Shell::Bash, "session-tree.bash"),
    (Shell::Zsh, "_session-tree"),
    (Shell::Fish, "session-tree.fish"),
    (Shell::PowerShell, "_session-tree.ps1"),
    (Shell::Elvish, "session-tree.elv"),
];

#[test]
fn the_committed_scripts_are_the_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("completions");
    for (shell, name) in FILES {
        let path = folder.join(name);
        if std::env::var_os("UPDATE_COMPLETIONS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, script(shell)).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(stored == script(shell), "{} is old: UPDATE_COMPLETIONS=1 cargo test completions", path.display());
    }
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(files.collect::<BTreeSet<_>>(), FILES.map(|(_, name)| name.to_owned()).into());
}

#[test]
fn the_program_prints_them() {
    for (shell, _) in FILES {
        let out = run(["completions".to_owned(), shell.to_string()]).ok();
        assert_eq!(out, script(shell), "{shell}");
        for command in Cli::command().get_subcommands() {
            assert!(out.contains(command.get_name()), "{shell}: {command}");
        }
    }
}

#[test]
fn every_value_of_an_option_is_offered() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let out = script(shell);
        for word in ["default", "no-tools", "user-only", "labeled-only", "all", "text", "table", "json", "jsonl", "llm"]
        {
            assert!(out.contains(word), "{shell}: {word}");
        }
    }
}
