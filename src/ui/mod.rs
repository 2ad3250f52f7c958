//! What is printed: text for people, JSON for programs. Takes what core found and decides
//! nothing about sessions.

pub mod check;
pub mod context;
pub mod escape;
pub mod fit;
pub mod json;
pub mod list;
pub mod moved;
pub mod output;
pub mod paint;
pub mod report;
pub mod rows;
pub mod summary;
pub mod tree;
