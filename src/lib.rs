//! Session files of coding agents, seen and handled as the trees they are.
//!
//! Data flows one way, and a file may only import from what stands to its left:
//!
//! ```text
//! bytes ─► lines ─► entries ─► session ─► operation ─► ui (stdout)
//! source   line     entry      (index)    walk rows
//!          text     preview    load       select filter search
//!          json     problem    body       context message
//! ```
//!
//! * [`core`] holds the rules; it never prints and knows neither environment nor clock.
//! * [`ui`] turns what core found into text and JSON; it decides nothing.
//! * [`run`] starts other programs, [`hooks`] says what they get and what their answers mean.
//! * [`cmd`] has one file a subcommand: its arguments and a few calls.
//! * [`cli`] is the definition of the command line.
//!
//! Invariants, each with a test: imports go one way; nothing recurses over session data; bad input
//! is a [`core::problem::Problem`], an error means that the operation cannot be done; nothing from
//! a file reaches a terminal unescaped; only `ui` prints.

pub mod cli;
pub mod cmd;
pub mod core;
pub mod hooks;
pub mod run;
pub mod ui;
