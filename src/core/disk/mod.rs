//! The only code that changes files: the lock on a session, who else holds it open, and the writes
//! themselves. Whatever fails or is interrupted, what was there before stays.

pub mod backup;
pub mod holder;
pub mod late;
pub mod lock;
mod name;
pub mod rights;
mod temporary;
pub mod write;

pub use temporary::clear_left_over;
