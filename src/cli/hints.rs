//! What was meant by words that the command line does not have.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::cmd::help::PAGES;
use crate::core::naming::files::is_session_name;
use crate::core::naming::session::word::{CURRENT, LATEST};
use crate::core::words::shell_word;

/// Commands by the words that people try for what they do.
const MEANT: [(&[&str], &str); 27] = [
    (&["show", "log", "view", "open"], "tree SESSION"),
    (&["ls", "dir", "recent", "sessions"], "list"),
    (&["families", "forks"], "list --family SESSION"),
    (&["history", "path"], "tree SESSION --path"),
    (&["prompts", "messages"], "tree SESSION --filter user-only"),
    (&["search", "grep", "find"], "tree SESSION --search TEXT"),
    (&["entry", "get"], "tree SESSION --entry ENTRY"),
    (&["tips", "branches", "heads"], "tree SESSION --tips"),
    (&["follow", "tail", "watch"], "tree SESSION --follow"),
    (&["graph", "dot", "mermaid", "plot"], "tree SESSION --format dot"),
    (&["last"], "tree latest"),
    (&["cat", "dump", "print", "transcript", "export"], "context SESSION"),
    (&["markdown", "share"], "context SESSION --format markdown"),
    (&["stats", "usage", "cost", "tokens"], "context SESSION --stats"),
    (&["diff", "compare"], "context SESSION --diff ENTRY"),
    (&["info", "status", "leaf", "head", "resume"], "check --why-leaf SESSION"),
    (&["fork", "copy", "cp", "clone"], "branch SESSION ENTRY"),
    (&["goto", "checkout", "switch", "jump", "move", "mv"], "navigate SESSION ENTRY --save"),
    (&["undo", "back", "revert", "rewind"], "navigate SESSION user:1 --save"),
    (&["reset"], "navigate SESSION --root --save"),
    (&["summarize", "summarise"], "navigate SESSION ENTRY --summarize"),
    (&["labels", "bookmarks", "tags"], "label SESSION"),
    (&["rename", "bookmark", "tag", "mark", "name"], "label SESSION ENTRY NAME"),
    (&["lint", "validate", "verify", "doctor", "fsck"], "check PATH"),
    (&["fix", "repair", "mend", "recover", "heal"], "check PATH --fix"),
    (&["explain", "rule"], "check --explain CODE"),
    (&["upgrade", "update", "convert"], "migrate PATH"),
];

/// What `--without` of `branch` goes with.
const WITHOUT: &str = "`--without` goes with `--all`, which copies the whole tree";

/// Says what the mistake may have meant, if it is one of those that are known; then the guess that
/// came with it is taken away. `command` is the subcommand it was made in.
pub(super) fn meant(error: &mut Error, command: Option<&str>) -> Option<String> {
    let (kind, guess) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
        ErrorKind::UnknownArgument => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
            let hint = argument_for(command?, word)?;
            error.remove(ContextKind::SuggestedArg);
            return Some(hint);
        }
        ErrorKind::MissingRequiredArgument if command == Some("navigate") => {
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
            let hint = "`--root` instead of ENTRY goes to before the first entry";
            return missing.iter().any(|name| name.contains("ENTRY")).then(|| hint.to_owned());
        }
        ErrorKind::MissingRequiredArgument if command == Some("branch") => {
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
            return missing.iter().any(|name| name == "--all").then(|| WITHOUT.to_owned());
        }
        ErrorKind::ArgumentConflict if command == Some("branch") => {
            let args = [ContextKind::InvalidArg, ContextKind::PriorArg].map(|kind| match error.get(kind) {
                Some(ContextValue::String(arg)) => std::slice::from_ref(arg),
                Some(ContextValue::Strings(args)) => args,
                _ => &[],
            });
            let is_of_all = args.concat().iter().any(|arg| arg == "--all");
            let has_without = args.concat().iter().any(|arg| arg.starts_with("--without "));
            return (has_without && !is_of_all).then(|| WITHOUT.to_owned());
        }
        _ => return None,
    };
    let Some(ContextValue::String(word)) = error.get(kind) else { return None };
    let hint = command_for(word)?;
    error.remove(guess);
    Some(hint)
}

/// Returns what a program is told of how to get on: what comes near a word, or where help is.
pub(super) fn near(error: &Error, command: Option<&str>) -> String {
    let guesses = [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    match (guesses.iter().find_map(|&kind| error.get(kind)), command) {
        (Some(ContextValue::Strings(words)), _) => format!("did you mean `{}`?", words.join("` or `")),
        (Some(word), _) => format!("did you mean `{word}`?"),
        (None, Some(command)) => format!("`session-tree {command} --help` lists its arguments"),
        (None, None) => "`session-tree --help` lists the commands".to_owned(),
    }
}

/// Returns a command line for a word that is not a command.
fn command_for(word: &str) -> Option<String> {
    if word == LATEST || word == CURRENT || Path::new(word).is_file() {
        return Some(format!("session-tree tree {}", shell_word(word.as_ref())));
    }
    if let Some((topic, _)) = PAGES.iter().find(|(topic, _)| *topic == word) {
        return Some(format!("session-tree help {topic}"));
    }
    let known = MEANT.iter().find(|(words, _)| words.contains(&word));
    known.map(|(_, line)| format!("session-tree {line}"))
}

/// Says what to do with a second session.
fn argument_for(command: &str, word: &str) -> Option<String> {
    let takes_one = ["label", "navigate", "branch"].contains(&command);
    let is_file = is_session_name(Path::new(word)) || Path::new(word).is_file();
    (takes_one && is_file).then(|| format!("`{command}` takes one session: run it once for each"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use clap::{CommandFactory, Parser};

    use super::{MEANT, argument_for};
    use crate::cli::Cli;

    #[test]
    fn what_is_one_too_many_gets_a_hint_that_fits() {
        for (command, word, expected) in [
            ("branch", "other.jsonl", Some("`branch` takes one session: run it once for each")),
            ("label", "Cargo.toml", Some("`label` takes one session: run it once for each")),
            ("label", "user:1", None),
            ("check", "other.jsonl", None),
            ("tree", "other.jsonl", None),
        ] {
            assert_eq!(argument_for(command, word).as_deref(), expected, "{command} {word}");
        }
    }

    #[test]
    fn every_hint_is_a_command_line_and_every_word_is_free() {
        let mut seen = HashSet::new();
        for (words, line) in MEANT {
            let line = line.replace("ENTRY", "@").replace("SESSION", "s.jsonl").replace("PATH", "s.jsonl");
            assert!(Cli::try_parse_from(["session-tree"].into_iter().chain(line.split(' '))).is_ok(), "{line}");
            for word in words {
                assert!(Cli::command().find_subcommand(word).is_none() && seen.insert(*word), "{word}");
            }
        }
    }
}
