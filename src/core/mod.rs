//! Everything that the commands share: the rules of session files. No printing, no environment,
//! no clock, no random numbers: those come in as arguments.

pub mod body;
pub mod context;
pub mod entry;
pub mod error;
pub mod filter;
pub mod header;
pub mod json;
mod line;
pub mod load;
pub mod message;
mod migrate;
pub mod preview;
pub mod problem;
pub mod rows;
pub mod search;
pub mod select;
pub mod session;
pub mod source;
pub mod text;
pub mod time;
pub mod walk;
