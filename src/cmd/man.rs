//! `man`: the manual page.

use std::process::ExitCode;

use anyhow::Result;
use clap::builder::StyledStr;
use clap::{Args, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

use super::{App, Task, help};
use crate::ui::exit::Exit;
use crate::ui::output::Output;

/// Print the manual page
///
/// It has everything that the help of all commands says.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree man | man -l -
  session-tree man > ~/.local/share/man/man1/session-tree.1  for ~/.local/bin")]
pub struct ManArgs {}

impl Task for ManArgs {
    fn run(self: Box<Self>, app: &App) -> Result<ExitCode> {
        let mut output = Output::new();
        output.text(&page((app.program)())?)?;
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Ways to name a session.
const SESSION: [(&str, &str); 5] = [
    ("PATH", "The file. Whatever exists, has a / in it or ends in .jsonl is only ever a path."),
    ("-", "Standard input, for commands that do not write into the session."),
    (
        "latest",
        "The session that was written to last of those that belong to the current folder, else to the nearest folder \
         above it that has some. tree and context take it if none is given.",
    ),
    ("current", "The session of the agent that runs the command."),
    (
        "ID",
        "The session with this id, or the only one whose id starts so, from 4 characters on. Ids and latest are looked \
         up in the headers of the files *.jsonl in the folders under ENVIRONMENT and FILES, and in the folders in them.",
    ),
];

/// Ways to name an entry.
const ENTRY: [(&str, &str); 6] = [
    ("ID", "The entry with this id, or the only one whose id starts so, from 4 characters on."),
    ("@", "The leaf; where ENTRY says what a command is about, the entry that labels and names at the leaf hang at."),
    ("label:NAME", "The entry with this label."),
    ("user:N", "The user message N up the active path; user:1 is the last prompt."),
    ("assistant:N", "The assistant message with text, counted likewise."),
    ("ENTRY~N", "N steps towards the root from any of these; ~ is one."),
];

/// The variables that are looked at.
const ENVIRONMENT: [(&str, &str); 13] = [
    ("SESSION_TREE_DIR", "Folders to look for sessions in, beside those of the agents, separated by colons."),
    ("SESSION_TREE_SUMMARIZER", "The command that writes summaries if --summarizer is not given."),
    ("PI_CODING_AGENT_SESSION_DIR", "Another folder of pi to look for sessions in."),
    ("PI_CODING_AGENT_DIR", "Another folder of pi and omp; their sessions are in sessions below it."),
    ("PI_CONFIG_DIR, XDG_DATA_HOME, XDG_STATE_HOME", "Other places of omp, as omp takes them."),
    ("PI_SESSION_FILE, PI_SESSION_ID", "The session that current means; pi sets them for what it runs."),
    ("OMP_PROFILE, PI_PROFILE", "The profile of omp whose sessions are looked for too."),
    ("ACCESSIBLE", "Words for screen readers in place of lines, columns and marks, as with --plain-rows."),
    ("NO_COLOR", "No colour, unless --color says otherwise."),
    ("CLICOLOR_FORCE", "Colour although the output is not a terminal."),
    ("TERM, COLUMNS", "dumb means no colour; the width if the terminal does not say it."),
    ("TZ", "The time zone of --since and --until."),
    ("HOME", "The home folder, where agents keep sessions, and which is shown as ~."),
];

/// The folders that are looked at.
const FILES: [(&str, &str); 2] =
    [("~/.pi/agent/sessions", "Sessions of pi."), ("~/.omp/agent/sessions", "Sessions of omp.")];

/// Returns the manual page of the whole program, all commands in it.
///
/// # Errors
/// None, but the library's signature has them.
fn page(program: Command) -> std::io::Result<String> {
    // The page leaves nothing out that is left out of `-h`.
    let shown = |command: Command| command.mut_args(|argument| argument.hide_short_help(false));
    let program = shown(program).mut_subcommands(shown);
    // Without a date the page is the same wherever it is made; a blank keeps its place.
    let man = Man::new(program.clone()).title("SESSION-TREE").date(" ").manual("User Commands");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    synopsis(&program).to_writer(&mut out)?;
    man.render_description_section(&mut out)?;
    let mut heading = Roff::new();
    heading.control("SH", ["COMMANDS"]).to_writer(&mut out)?;
    for command in program.get_subcommands() {
        subcommand(command, &mut out)?;
    }
    man.render_options_section(&mut out)?;
    let exits: Vec<_> = Exit::ALL.iter().map(|exit| (exit.code().to_string(), sentence(exit.meaning()))).collect();
    let exits: Vec<_> = exits.iter().map(|(code, meaning)| (code.as_str(), meaning.as_str())).collect();
    let topics = help::topics();
    let topics: Vec<_> = topics.iter().map(|(topic, title)| (topic.as_str(), title.as_str())).collect();
    let lists: [(&str, &[(&str, &str)]); 6] = [
        ("TOPICS OF HELP", &topics),
        ("NAMING A SESSION", &SESSION),
        ("NAMING AN ENTRY", &ENTRY),
        ("EXIT STATUS", &exits),
        ("ENVIRONMENT", &ENVIRONMENT),
        ("FILES", &FILES),
    ];
    for (title, items) in lists {
        list(title, items).to_writer(&mut out)?;
    }
    let mut heading = Roff::new();
    heading.control("SH", ["EXAMPLES"]).to_writer(&mut out)?;
    examples(program.get_after_long_help()).to_writer(&mut out)?;
    Ok(tidied(&String::from_utf8_lossy(&out)))
}

/// Lists how each command is called.
fn synopsis(program: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for (at, command) in program.get_subcommands().enumerate() {
        if at > 0 {
            roff.control("br", []);
        }
        roff.text(usage(command));
    }
    roff
}

/// Returns how a command is called, with its name in bold.
fn usage(command: &Command) -> Vec<Inline> {
    let name = format!("session-tree {}", command.get_name());
    let usage = command.clone().bin_name(&name).render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let rest = usage.strip_prefix(&name).unwrap_or(usage).to_owned();
    vec![bold(name), italic(rest)]
}

/// Writes the section of a command: what it does, its options, examples.
fn subcommand(command: &Command, out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut roff = Roff::new();
    roff.control("SS", [command.get_name()]);
    roff.text(usage(command));
    roff.control("PP", []).to_writer(out)?;
    let man = Man::new(command.clone().disable_help_flag(true));
    for section in [Man::render_description_section, Man::render_options_section] {
        let mut text = Vec::new();
        section(&man, &mut text)?;
        // These are parts of this section, not sections of the page.
        let text = String::from_utf8_lossy(&text);
        let lines = text.split_inclusive('\n').filter(|line| !line.starts_with(".SH "));
        out.extend(lines.flat_map(str::bytes));
    }
    let mut break_before = Roff::new();
    break_before.control("PP", []).to_writer(out)?;
    examples(command.get_after_long_help()).to_writer(out)
}

/// Sets the examples that stand below a help text, as they are.
fn examples(help: Option<&StyledStr>) -> Roff {
    let mut roff = Roff::new();
    let help = help.map(ToString::to_string).unwrap_or_default();
    let lines: Vec<_> = help.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    if lines.is_empty() {
        return roff;
    }
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    roff
}

fn list(title: &str, items: &[(&str, &str)]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (term, text) in items {
        roff.control("TP", []).text([bold(*term)]);
        roff.text([roman(*text)]);
    }
    roff
}

/// Returns a phrase as a sentence.
fn sentence(phrase: &str) -> String {
    let mut rest = phrase.chars();
    let first = rest.next().into_iter().flat_map(char::to_uppercase);
    first.chain(rest).chain(['.']).collect()
}

/// Takes out what the library repeats before each part and the blank lines that it breaks with, and
/// begins the paragraphs of an option's help as the format wants it.
fn tidied(page: &str) -> String {
    let preamble = Roff::new().render();
    let rest = page.replace(&preamble, "").replace("\n.br\n\n.br\n", "\n.br\n").replace("\n\n", "\n.IP\n");
    format!("{preamble}{rest}")
}
