//! From bytes to lines: sources, framing, and loading in blocks. What is odd is noted on the way.

pub(crate) mod inspect;
pub mod line;
pub mod load;
pub mod source;
