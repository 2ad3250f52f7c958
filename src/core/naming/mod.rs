//! From what a person types to what it means: ENTRY to an entry, SESSION to a file, and the reverse for
//! completion, which suggests names. Where agents keep sessions comes in from outside.

pub mod agent;
pub mod entry;
pub mod files;
pub(crate) mod folder;
mod index;
pub(crate) mod leaf;
pub mod offer;
pub mod session;
pub(crate) mod settings;
pub(crate) mod short;
