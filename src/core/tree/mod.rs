//! What is shown of a session, and where: walks, filters, shapes and rows. It prints nothing.

pub mod filter;
pub mod rows;
pub mod shape;
pub mod view;
pub mod walk;
