//! The README, the help, the manual page and the pictures are those of the program.
//!
//! `readme` and `examples` run what the texts show, `man` compares the manual page with the command
//! line, `pages` what is generated in the pages of the reference with the code, and finds what comments
//! cite; `picture` and `graph` draw the pictures again. `UPDATE_README` and `UPDATE_SNAPSHOTS` rewrite.

mod examples;
mod graph;
mod man;
mod map;
mod pages;
mod picture;
mod readme;
