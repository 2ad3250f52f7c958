//! The README, the help, the manual page and the pictures are those of the program.
//!
//! `readme` and `examples` run what the texts show, `man` compares the manual page with the command
//! line, `picture` and `graph` draw the pictures again. `UPDATE_README` and `UPDATE_SNAPSHOTS` rewrite.

mod examples;
mod graph;
mod man;
mod map;
mod picture;
mod readme;
