//! `help`: the commands, and the pages of the reference. The pages are Markdown files in `src/help`; what
//! is generated in them is compared by `tests/suite/docs/pages.rs`.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Command};

use super::{App, Task};
use crate::core::words::nearest;
use crate::ui::output::Output;
use crate::ui::page;
use crate::ui::report::Failure;

/// Print the help of a command, or a page of the reference
///
/// Lists commands and topics if none is named. The pages say what sessions are made of, by which
/// rules they are read and written, and what is printed for programs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree help              the commands and the topics
  session-tree help navigate     the same as session-tree navigate --help
  session-tree help rules        how a session is read, moved and forked
  session-tree help json | less")]
pub struct HelpArgs {
    /// A command or a topic [default: list them]
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,
}

/// The pages of the reference by their topics. The first line of each is its title.
pub(crate) const PAGES: [(&str, &str); 9] = [
    ("format", include_str!("../help/format.md")),
    ("rules", include_str!("../help/rules.md")),
    ("naming", include_str!("../help/naming.md")),
    ("json", include_str!("../help/json.md")),
    ("checks", include_str!("../help/checks.md")),
    ("hooks", include_str!("../help/hooks.md")),
    ("agents", include_str!("../help/agents.md")),
    ("writing", include_str!("../help/writing.md")),
    ("many", include_str!("../help/many.md")),
];

impl Task for HelpArgs {
    fn run(self: Box<Self>, app: &App) -> Result<ExitCode> {
        let (program, paint) = ((app.program)(), app.screen.paint);
        let (commands, topics) = (commands(&program), topics());
        let text = match self.topic.as_deref() {
            None => page::lists(&[("Commands", commands), ("Topics", topics)], paint),
            Some(name) => match PAGES.iter().find(|(topic, _)| *topic == name) {
                Some((_, markdown)) => page::page(markdown, paint),
                None => of_command(program, name, paint.color).ok_or_else(|| unknown(name, &commands, &topics))?,
            },
        };
        let mut output = Output::new();
        output.text(&text)?;
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns what the command prints with `--help`; `None` if there is no such command.
fn of_command(program: Command, name: &str, color: bool) -> Option<String> {
    let command = program.find_subcommand(name)?.get_name().to_owned();
    let asked = [program.get_name().to_owned(), command, "--help".to_owned()];
    let help = program.try_get_matches_from(asked).err()?.render();
    Some(if color { help.ansi().to_string() } else { help.to_string() })
}

/// Returns the commands, each with what it does.
pub(super) fn commands(program: &Command) -> Vec<(String, String)> {
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    program.get_subcommands().map(|command| (command.get_name().to_owned(), about(command))).collect()
}

/// Returns the topics, each with the title of its page.
pub(super) fn topics() -> Vec<(String, String)> {
    let title = |page: &str| page.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
    PAGES.iter().map(|(topic, page)| ((*topic).to_owned(), title(page))).collect()
}

fn unknown(name: &str, commands: &[(String, String)], topics: &[(String, String)]) -> Failure {
    let names = |list: &[(String, String)]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let (commands, topics) = (names(commands), names(topics));
    let near = nearest(name, commands.iter().chain(&topics).map(String::as_str));
    let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let hint = format!("{near}topics are {}; commands are {}", topics.join(", "), commands.join(", "));
    Failure::usage(format!("there is no help on `{name}`: it is not a topic and not a command"), hint)
}
