//! Which entries of a session a view shows, and how they are laid out: walks through the whole tree,
//! filters of entries, the shape of what is left, and its rows; and what is new in a file that is followed.
//! Never prints. Only [`view`], which searches for words, reads bodies, and only `follow` reads files.

pub mod filter;
pub(crate) mod follow;
pub mod rows;
pub mod shape;
pub mod tips;
pub mod view;
pub mod walk;
