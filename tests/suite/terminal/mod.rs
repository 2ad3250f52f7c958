//! What reaches a terminal: no escape sequence from a file, no row wider than the terminal.
//!
//! `output` needs no terminal (options and variables stand for it), `commands` and `progress` run
//! in one: [`pty`] makes it.

mod commands;
mod output;
mod progress;
mod pty;
