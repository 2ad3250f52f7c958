//! Names: which entry an ENTRY is, which file a SESSION is, and what completion offers.

pub mod entry;
pub mod offer;
pub mod session;
