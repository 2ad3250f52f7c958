//! `check`: what it reports for which damage, and how it prints that.
//!
//! `files` has whole files with the findings expected, `damage` random damage to a sound file,
//! and `forms` the output and the exit codes of the binary.

mod damage;
mod files;
mod forms;
