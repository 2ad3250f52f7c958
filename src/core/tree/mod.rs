//! Which entries of a session a view shows, and how they are laid out: walks through the whole tree,
//! filters of entries, the shape of what is left, and its rows. Never prints, and never reads a body:
//! all of this follows from the index.

pub mod filter;
pub(crate) mod follow;
pub mod rows;
pub mod shape;
pub mod tips;
pub mod view;
pub mod walk;
