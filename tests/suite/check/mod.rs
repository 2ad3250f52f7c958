//! `check`: what it reports for which damage, and how it prints that.
//!
//! `files` has whole files with the findings expected, `effects` what agents were seen to do beside what is said
//! of them, `damage` random damage to a sound file, `forms` the output and the exit codes of the binary, and `mend`
//! what `--fix` makes of damaged files.

mod damage;
mod effects;
mod files;
mod forms;
mod mend;
