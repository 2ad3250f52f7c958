//! `check --fix` and `--diff`: what becomes of files.
//!
//! `damaged` makes sessions and damages them at random, `laws` holds what is true of every file that is
//! mended, and `commands` what the binary prints and writes.

mod commands;
mod damaged;
mod laws;
