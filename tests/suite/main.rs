//! Tests that need more than one module: golden data, cases, properties, and the binary.
//!
//! Each area has a file or a folder; [`support`] holds what they share. `tests/README.md` says
//! where to look for what.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod cases;
mod check;
mod cli;
mod docs;
mod golden;
mod hooks;
mod json;
mod layout;
/// The lines of sessions, as the unit tests make them.
#[path = "../../src/core/session/sample/lines.rs"]
mod lines;
mod openclaw;
/// The made-up sessions of the benchmarks.
#[path = "../bench/profile.rs"]
mod profile;
mod properties;
mod sent;
mod shape;
mod summaries;
mod support;
mod tables;
mod terminal;
mod write;
