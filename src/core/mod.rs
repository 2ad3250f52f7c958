//! Everything that the commands share: the rules of session files. No printing, no environment,
//! no clock, no random numbers: those come in as arguments.

pub mod check;
pub mod context;
pub mod disk;
pub mod edit;
pub mod entry;
pub mod error;
pub mod json;
pub mod migrate;
pub mod naming;
pub mod problem;
pub mod read;
pub mod search;
pub mod session;
pub mod time;
pub mod tree;
pub mod words;
