//! `completions`: completion scripts for shells.

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::ui::output::Output;

/// Print the completion script of a shell
///
/// The same scripts are in the folder `completions/` of the project.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree completions fish > ~/.config/fish/completions/session-tree.fish
  session-tree completions zsh > ~/.zfunc/_session-tree")]
pub struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    /// Runs the command.
    ///
    /// # Errors
    /// What the system says of writing to stdout.
    pub fn run(self) -> Result<()> {
        let mut output = Output::new();
        output.text(&script(self.shell))?;
        Ok(output.finish()?)
    }
}

/// Gives the completion script of a shell.
pub fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "session-tree", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if shell == Shell::Bash {
        // The generator spells a name with a hyphen in two ways, so that no subcommand is found.
        return script.replace("session__subcmd__tree__", "session__tree__");
    }
    script
}
