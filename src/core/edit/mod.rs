//! What a command adds to a session: new lines are drafted, and brought into a file.
//!
//! It decides what is written and what it becomes a child of; [`disk`](crate::core::disk) writes it.

pub mod branch;
pub mod commit;
pub mod draft;
pub mod label;
pub mod navigate;
pub mod stand_in;
pub mod tree_copy;

pub mod new_session;
