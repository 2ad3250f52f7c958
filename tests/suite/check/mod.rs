//! `check`: what it reports for which damage, and how it prints that.
//!
//! `files` has whole files with the findings expected, `damage` random damage to a sound file,
//! `forms` the output and the exit codes of the binary, and `mend` what `--fix` makes of damaged files.

mod damage;
mod files;
mod forms;
mod mend;
