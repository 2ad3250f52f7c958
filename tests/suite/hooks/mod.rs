//! The hooks of `navigate` and `branch`: what they get, what they answer, and how they end.
//!
//! `events` is what they get, `answers` what they say, `processes` and `signals` how they are
//! started and ended. [`scene`] holds what they share with the tests of summaries.

mod answers;
mod events;
mod processes;
pub mod scene;
mod signals;
