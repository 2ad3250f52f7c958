//! Everything that the commands share: the rules of session files. No printing, no environment,
//! no clock, no random numbers: those come in as arguments.

pub mod body;
pub mod branch;
pub mod check;
pub mod commit;
pub mod context;
pub mod draft;
pub mod entry;
pub mod error;
pub mod files;
pub mod filter;
pub mod header;
pub mod holder;
mod inspect;
pub mod json;
pub mod label;
pub mod line;
pub mod load;
pub mod lock;
pub mod message;
pub mod migrate;
pub mod navigate;
pub mod preview;
pub mod problem;
pub mod rows;
pub mod search;
pub mod select;
pub mod session;
pub mod source;
pub mod summary;
pub mod text;
pub mod time;
mod upgrade;
pub mod walk;
pub mod write;
