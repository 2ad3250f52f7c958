//! Tests that need more than one module: golden data, cases, properties, and the binary.
//!
//! Each area has a file; [`support`] holds what they share.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

mod cases;
mod check;
mod check_damage;
mod check_forms;
mod cli;
mod completions;
mod examples;
mod golden;
mod graph;
mod hooks_answers;
mod hooks_events;
mod hooks_processes;
mod hooks_scene;
mod hooks_signals;
mod layout;
mod man;
mod picture;
mod progress;
mod properties;
mod pty;
mod readme;
mod shape;
mod summaries_cases;
mod summaries_meanwhile;
mod summaries_prompt;
mod summaries_stored;
mod support;
mod tables;
mod terminal;
mod terminal_commands;
mod write_branch;
mod write_branch_file;
mod write_crowd;
mod write_full;
mod write_in_use;
mod write_kill;
mod write_label;
mod write_label_list;
mod write_lock;
mod write_migrate;
mod write_moments;
mod write_navigate;
mod write_old;
mod write_paths;
mod write_race;
mod write_scene;
mod write_summary;
