//! Session files of coding agents, seen and handled as the trees they are.
//!
//! Data flows one way, and a file may only import from what stands to its left (the order within
//! core is declared, and checked, in `tests/suite/layout.rs`):
//!
//! ```text
//! bytes ─► lines ─► entries ─► session ─► operation ─► ui (stdout)
//! source   line     entry      load       walk shape rows select filter search
//!          text     preview    session    offer lookup context message summary check
//!          json     upgrade    body       navigate branch label migrate
//!          time     problem count         usage stats compare
//!          when                                └────► draft commit ─► lock write (disk)
//! ```
//!
//! * [`core`] holds the rules; it never prints and knows neither environment nor clock.
//! * [`ui`] turns what core found into text and JSON; it decides nothing.
//! * [`parallel`] is where threads are started; it stands below all others.
//! * [`run`] starts other programs, [`hooks`] says what they get and what their answers mean.
//! * [`cmd`] has one file a subcommand: its arguments and a few calls.
//! * [`cli`] is the definition of the command line.
//!
//! Invariants, each with a test: imports go one way; nothing recurses over session data; bad input
//! is a [`core::problem::Problem`], an error means that the operation cannot be done; nothing from
//! a file reaches a terminal unescaped; only `ui` prints; only [`core::write`] changes files, and what
//! was not written here is copied, not written anew.

pub mod cli;
pub mod cmd;
pub mod core;
pub mod hooks;
pub mod parallel;
pub mod run;
pub mod ui;
