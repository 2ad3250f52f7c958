//! Many sessions at once: what is known of each by the ends of its file or by all of it, how forks hang
//! together, and sums in which an entry that several forks share counts once.
//!
//! Memory grows by a small row a session. What is printed of the rows, and in which form, is up to `ui`.

pub(crate) mod arrange;
pub(crate) mod family;
pub(crate) mod list;
pub(crate) mod row;
pub(crate) mod search;
pub(crate) mod sum;
pub(crate) mod totals;
pub(crate) mod whole;
