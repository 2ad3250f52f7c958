//! Names: which entry an ENTRY is, which file a SESSION is, which files a PATH has, which agent keeps
//! a session, and what completion offers.

pub mod agent;
pub mod entry;
pub mod files;
pub mod offer;
pub mod session;
