//! From bytes to parts of a session: [`source`] has the bytes, [`mod@line`] cuts them into lines, [`load`]
//! reads them in blocks, `inspect` notes oddities on the way, with `members`, and `foreign` knows
//! what is not a session. How entries hang together is not known
//! here, but in [`crate::core::session`].

pub(crate) mod foreign;
pub(crate) mod inspect;
pub mod line;
pub mod load;
pub(crate) mod members;
pub(crate) mod pieces;

pub mod source;
