//! Names: which entry an ENTRY is, which file a SESSION is, which agent keeps it, and what completion offers.

pub mod agent;
pub mod entry;
pub mod offer;
pub mod session;
