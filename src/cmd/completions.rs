//! `completions`: completion scripts for shells, and what these scripts ask.

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, Task, complete};
use crate::ui::choice::{self, Choice};
use crate::ui::output::Output;
use crate::ui::shell::Typed;

/// Print the completion script of a shell
///
/// The script asks this program what may come next: commands, options with their help and values,
/// session files, and in them the labels, prompts and tips that ENTRY can name. The same scripts are
/// in the folder `completions/` of the project.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree completions fish > ~/.config/fish/completions/session-tree.fish
  session-tree completions zsh > ~/.zfunc/_session-tree")]
pub struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_name = "SHELL")]
    shell: Shell,
    /// What is typed so far, as the script of the shell gives it
    #[arg(last = true, hide = true)]
    typed: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

impl Task for CompletionsArgs {
    fn run(self: Box<Self>, app: &App) -> Result<ExitCode> {
        let mut output = Output::new();
        if self.typed.is_empty() {
            output.text(script(self.shell))?;
        } else {
            let ask = |words| complete::choices((app.program)(), words, app.jobs);
            output.text(&answer(self.shell, &self.typed, ask))?;
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the completion script of a shell.
///
/// The scripts are short, and are ours: those that the library makes may not outlive an update of it,
/// and know neither bash's colons nor how to quote.
fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("../../completions/session-tree.bash"),
        Shell::Elvish => include_str!("../../completions/session-tree.elv"),
        Shell::Fish => include_str!("../../completions/session-tree.fish"),
        Shell::Powershell => include_str!("../../completions/_session-tree.ps1"),
        Shell::Zsh => include_str!("../../completions/_session-tree"),
    }
}

/// Returns what may come next, as the script of the shell reads it. `typed` is: for bash the line up to
/// the cursor and `COMP_WORDBREAKS`; else the words, the last of them up to the cursor: of
/// fish this one is still quoted, and of PowerShell, which drops empty words, a dot stands before it.
fn answer(shell: Shell, typed: &[OsString], ask: impl FnOnce(Vec<String>) -> Vec<Choice>) -> String {
    let mut words: Vec<_> = typed.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if shell == Shell::Bash {
        let mut words = words.into_iter();
        let (line, breaks) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let typed = Typed::read(&line, &breaks);
        return typed.answer(&ask(typed.words.clone()));
    }
    let last = words.pop().unwrap_or_default();
    match shell {
        Shell::Fish => {
            words.extend(Typed::read(&last, "").words.pop());
            choice::plain(&ask(words))
        }
        Shell::Powershell => {
            words.push(last.strip_prefix('.').unwrap_or(&last).to_owned());
            choice::powershell(&ask(words))
        }
        Shell::Zsh => {
            words.push(last);
            choice::zsh(&ask(words))
        }
        Shell::Elvish | Shell::Bash => {
            words.push(last);
            choice::plain(&ask(words))
        }
    }
}
