//! Everything that is printed: text for people, JSON for programs. Takes the results of core as they are
//! and decides nothing about sessions. Whatever comes from a file goes through [`escape`] or
//! `Output::json` before it reaches a terminal; nothing else in the program prints.

pub mod branch;
pub mod check;
pub mod choice;
pub mod compare;
pub mod context;
pub mod diff;
pub mod entry;
pub mod escape;
pub mod excerpt;
pub mod exit;
pub mod finding;
pub mod fit;
pub mod graph;
pub mod in_order;
pub mod interrupts;
pub mod json;
pub mod jsonl;
pub mod label;
pub mod list;
pub mod markdown;
pub mod mend;
pub mod moved;
pub mod naming;
pub mod output;
pub mod page;
pub mod paint;
pub mod parts;
pub mod progress;
pub mod report;
pub mod request;

pub mod screen;
pub mod sessions;
pub mod shell;
pub mod sink;
pub mod stats;
pub mod summary;
pub mod tips;
pub mod tree;
