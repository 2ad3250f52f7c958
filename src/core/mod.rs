//! Everything that the commands share: the rules of session files. No printing, no environment,
//! no clock, no random numbers: those come in as arguments.
//!
//! `# Errors` is said where an error is decided. What only reads entries again
//! ([`session::body::Bodies::entry`]) or passes on what others say has no such section.

pub mod check;
pub mod context;
pub mod disk;
pub mod edit;
pub mod entry;
pub mod error;
pub mod json;
pub mod migrate;
pub mod naming;
pub mod read;
pub mod search;
pub mod session;
pub mod store;
pub mod time;
pub mod tree;
pub mod words;
