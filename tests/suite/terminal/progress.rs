//! Progress is shown on a terminal while something takes long, and leaves no trace. The program is
//! kept waiting for its input, so that it takes as long as it must.

use std::fs;
use std::io::Write;
use std::process::{ChildStdin, Stdio};

use rustix::process::Signal;

use crate::cli::Scratch;
use crate::support::{data, run_with_input};
use crate::terminal::pty::Terminal;

/// What clears a line.
const CLEAR: &str = "\r\u{1b}[2K";

/// A command that waits for the second half of the demo on its standard input.
struct Waiting(Terminal, ChildStdin);

impl Waiting {
    fn start(scratch: &Scratch, args: &[&str]) -> Self {
        let mut terminal = Terminal::start(scratch.command(args).stdin(Stdio::piped()), 60);
        let mut stdin = terminal.stdin().unwrap();
        stdin.write_all(&demo()[..1000]).unwrap();
        Self(terminal, stdin)
    }

    /// Lets it go on; returns all that it printed.
    fn finish(self) -> String {
        let Self(terminal, mut stdin) = self;
        stdin.write_all(&demo()[1000..]).unwrap();
        drop(stdin);
        let (printed, code) = terminal.finish();
        assert_eq!(code, 0, "{printed}");
        printed
    }
}

fn demo() -> Vec<u8> {
    fs::read(data("demo.jsonl")).unwrap()
}

#[test]
fn progress_is_shown_on_terminal_and_cleared_before_output() {
    let scratch = Scratch::bytes(b"");
    let silent: Vec<_> =
        ["--json", "--quiet"].iter().map(|option| (option, Waiting::start(&scratch, &["tree", "-", option]))).collect();
    // Started last, so that the others had as long as this one when something is shown.
    let args = ["tree", "-", "--color", "never"];
    let mut watched = Waiting::start(&scratch, &args);
    watched.0.read_until(|printed| printed.contains("reading: 1.00 kB so far"));
    let printed = watched.finish();
    let (shown, output) = printed.rsplit_once(CLEAR).expect("the line is cleared");
    assert!(shown.contains("reading: ") && !shown.contains('\n'), "{printed}");
    let piped = run_with_input([&args[..], &["--width", "60"]].concat(), &demo());
    assert_eq!(output, piped.ok());
    for (option, waiting) in silent {
        let printed = waiting.finish();
        assert!(!printed.contains("reading") && !printed.contains(CLEAR), "{option}: {printed}");
    }
}

#[test]
fn interrupted_load_clears_its_line_and_ends_by_the_signal() {
    let scratch = Scratch::bytes(b"");
    for signal in [Signal::INT, Signal::TERM] {
        let Waiting(mut terminal, _stdin) = Waiting::start(&scratch, &["tree", "-"]);
        terminal.read_until(|printed| printed.contains("so far"));
        terminal.kill(signal);
        let (printed, code) = terminal.finish();
        // A program that is ended by a signal has no exit code.
        assert_eq!(code, -1, "{printed}");
        let (shown, rest) = printed.rsplit_once(CLEAR).expect("the line is cleared");
        assert!(shown.contains("so far") && rest.is_empty(), "{printed:?}");
    }
}
