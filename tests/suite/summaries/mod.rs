//! The summary that `navigate` stores: who writes it, what it is made from, and where it stands.
//!
//! `cases` is which summary wins, `prompt` what the summarizer reads, `stored` the new line, and
//! `meanwhile` what others do to the file while a summarizer runs.

mod cases;
mod meanwhile;
mod prompt;
mod stored;
