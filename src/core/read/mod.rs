//! From bytes to parts of a session: [`source`] has the bytes, [`mod@line`] cuts them into lines, `start`
//! finds the header, and `front` does so without reading more; [`load`] reads the lines after it in blocks.
//! On the way `inspect` notes oddities, `warning` says what is skipped, `pieces` knows what a damaged line is
//! made of, and `foreign` what is not a session. How entries hang together is not known here, but in
//! [`crate::core::session`].

pub(crate) mod foreign;
pub(crate) mod front;
pub(crate) mod inspect;
pub mod line;
pub mod load;
pub(crate) mod pieces;
pub mod source;
pub(crate) mod start;
pub(crate) mod warning;
