//! From what a person types to what it means: [`mod@entry`] leads from ENTRY to an entry, [`session`] from SESSION
//! to a file, [`files`] from PATH to files; [`offer`] is the reverse for completion, which suggests names. Where
//! agents keep sessions comes in from outside.

pub mod agent;
pub mod entry;
pub mod files;
pub(crate) mod folder;
mod index;
pub(crate) mod leaf;
pub(crate) mod near;
pub mod offer;
pub mod session;
pub(crate) mod settings;
pub(crate) mod short;
