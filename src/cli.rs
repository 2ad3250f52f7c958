//! The definition of the command line.

use std::borrow::Cow;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::cmd::{self, App, Global, Task};
use crate::ui::escape;
use crate::ui::exit::Exit;
use crate::ui::report::{Failure, Report};

mod hints;

/// View, fork and navigate the session trees of coding agents
///
/// A session is the file in which an agent (pi, omp and their relatives) keeps a conversation. Its
/// entries form a tree: going back to an earlier message starts a branch, and the leaf is where
/// the conversation stands now.
#[derive(Debug, Parser)]
#[command(
    name = "session-tree",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(after_help = "\
SESSION is a file, an id or its start, latest (the newest here), current, or -
ENTRY is user:1 (the last prompt), assistant:1, label:NAME, @ (the leaf), or an
id; ~N after it is N steps up")]
#[command(after_long_help = "\
Examples:
  session-tree list                                 the sessions of this folder
  session-tree tree session.jsonl                   the active branch first
  session-tree tree session.jsonl --search timeout  rows with a word
  session-tree context session.jsonl --format llm   what the model would get
  session-tree branch session.jsonl user:1          fork before the last prompt
  session-tree navigate session.jsonl label:ok --save
  session-tree tree                                 the newest of this folder
  session-tree help                                 commands and topics

SESSION is a file, an id or 4 or more of its first characters, latest (the
newest session of the current folder, or of one above it), current (that of the
agent that runs the command), or - (standard input). Ids and latest are looked
up where pi and omp keep sessions, and in SESSION_TREE_DIR.

ENTRY is user:1 (the last prompt; user:2 the one before), assistant:1 (the last
answer), label:x, @ (the leaf), an id or its first characters; ~N after any of
these is N steps up, as in @~3.

Exit codes: 0 done, 1 a check says no or a search found nothing, 2 could not,
3 cancelled by a hook, 129, 130 and 143 hung up, interrupted and terminated.")]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(cmd::list::ListArgs),
    Tree(cmd::tree::TreeArgs),
    Context(cmd::context::ContextArgs),
    Label(cmd::label::LabelArgs),
    Branch(cmd::branch::BranchArgs),
    Navigate(cmd::navigate::NavigateArgs),
    Migrate(cmd::migrate::MigrateArgs),
    Check(cmd::check::CheckArgs),
    Completions(cmd::completions::CompletionsArgs),
    Man(cmd::man::ManArgs),
    Help(cmd::help::HelpArgs),
}

/// What the command line asks for.
pub enum Parsed {
    /// A command, and what the commands share.
    Run(Box<dyn Task>, Box<App>),
    /// Help or version, or a mistake; all is said.
    Done(ExitCode),
}

/// Reads the command line.
pub fn parse() -> Parsed {
    match Cli::try_parse() {
        Ok(cli) => {
            let task = cli.command.task();
            let app = App::new(&cli.global, task.is_json(), Cli::command);
            Parsed::Run(task, Box::new(app))
        }
        Err(error) => Parsed::Done(explain(error)),
    }
}

fn explain(error: clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if is_help {
        return match error.print() {
            // A closed pipe while help is printed is no failure.
            Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => {
                cmd::plain_report().failure(&Failure::output(&cause));
                Exit::CouldNot.into()
            }
            _ => ExitCode::SUCCESS,
        };
    }
    let args: Vec<_> = std::env::args_os().collect();
    // What was typed is shown in the error, so it must not do anything on the terminal.
    let safe = args.iter().map(|arg| escape::line(&arg.to_string_lossy()).into_owned());
    let mut error = Cli::try_parse_from(safe).err().filter(|again| again.kind() == error.kind()).unwrap_or(error);
    // Nobody who mistypes an option wants it for a value.
    error.remove(ContextKind::Suggested);
    let command = command_in(&args);
    let meant = hints::meant(&mut error, command.as_deref());
    // What stands after these is no option.
    let options: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy()).take_while(|arg| arg != "--").collect();
    let quiet = options.iter().any(|arg| arg == "--quiet" || arg == "-q");
    if !asks_for_json(&options) {
        let report = Report { quiet, ..cmd::plain_report() };
        let text = error.render();
        report.verbatim(&if report.paint.color { text.ansi().to_string() } else { text.to_string() });
        if let Some(hint) = meant {
            report.hint(&hint);
        }
        return Exit::CouldNot.into();
    }
    let hint = meant.unwrap_or_else(|| hints::near(&error, command.as_deref()));
    let text = error.to_string();
    // Guesses, usage and where help is follow after a blank line.
    let message = text.split("\n\n").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    Report { quiet, ..cmd::json_report() }.failure(&Failure::usage(message, hint));
    Exit::CouldNot.into()
}

/// Returns the subcommand of a command line that does not parse.
fn command_in(args: &[OsString]) -> Option<String> {
    let program = Cli::command();
    let known = |arg: &OsString| program.find_subcommand(arg).map(|command| command.get_name().to_owned());
    args.iter().skip(1).find_map(known)
}

/// The JSON formats of all commands: of a command line that does not parse it is not known which command has it.
const JSON_FORMATS: [&str; 7] = ["json", "jsonl", "llm", "anthropic", "openai", "responses", "sarif"];

/// Returns whether a command line that does not parse asks for a JSON format all the same.
fn asks_for_json(options: &[Cow<'_, str>]) -> bool {
    let is_format = |arg: &str| JSON_FORMATS.contains(&arg);
    options.iter().any(|arg| arg == "--json" || arg.strip_prefix("--format=").is_some_and(is_format))
        || options.windows(2).any(|pair| pair[0] == "--format" && is_format(&pair[1]))
}

impl Command {
    fn task(self) -> Box<dyn Task> {
        match self {
            Self::List(args) => Box::new(args),
            Self::Tree(args) => Box::new(args),
            Self::Context(args) => Box::new(args),
            Self::Label(args) => Box::new(args),
            Self::Branch(args) => Box::new(args),
            Self::Navigate(args) => Box::new(args),
            Self::Migrate(args) => Box::new(args),
            Self::Check(args) => Box::new(args),
            Self::Completions(args) => Box::new(args),
            Self::Man(args) => Box::new(args),
            Self::Help(args) => Box::new(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Cli, JSON_FORMATS};

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn json_formats_are_known_before_a_line_is_parsed() {
        let mut seen = 0;
        for command in Cli::command().get_subcommands() {
            let Some(format) = command.get_arguments().find(|arg| arg.get_id() == "format") else { continue };
            for value in format.get_possible_values() {
                let line = ["session-tree", command.get_name(), "a", "--format", value.get_name()];
                // A move needs an entry too.
                let entry = Some("b").filter(|_| command.get_name() == "navigate");
                let task = Cli::try_parse_from(line.into_iter().chain(entry)).unwrap().command.task();
                assert_eq!(task.is_json(), JSON_FORMATS.contains(&value.get_name()), "{line:?}");
                seen += 1;
            }
        }
        assert_eq!(seen, 35);
    }
}
