//! What is printed: text for people, JSON for programs. Takes what core found and decides
//! nothing about sessions.

pub mod bash;
pub mod check;
pub mod choice;
pub mod compare;
pub mod context;
pub mod entry;
pub mod escape;
pub mod excerpt;
pub mod exit;
pub mod fit;
pub mod graph;
pub mod json;
pub mod jsonl;
pub mod list;
pub mod moved;
pub mod output;
pub mod paint;
pub mod progress;
pub mod report;

pub mod screen;
pub mod stats;
pub mod summary;
pub mod tips;
pub mod tree;
