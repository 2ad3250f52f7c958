//! From what a person types as SESSION to a file that an agent stores (help naming, "Sessions").
//!
//! `word` knows what can be typed, `place` where sessions are kept, `stored` what a list of them knows of one,
//! `store` all of them, and `find` which of them is meant. The places to look in and the working folder come
//! in from outside. Only the start of each file is read; the id in its header names it, and so does the one in its
//! name.

pub(crate) mod find;
pub(crate) mod place;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod store;
pub(crate) mod stored;
pub(crate) mod word;
