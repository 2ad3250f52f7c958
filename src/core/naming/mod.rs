//! Names: which entry an ENTRY is, which file a SESSION is, which files a PATH
//! has, and what completion offers.

pub mod entry;
pub mod files;
pub mod offer;
pub mod session;
