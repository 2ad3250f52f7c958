//! What an agent sends of the context that it holds (help rules, "What an agent sends"), before a provider's own
//! form: failed turns are left out, calls without a result get one, results come right after their calls, and
//! what only another model understands is taken out.
//!
//! [`plan`] reads the messages once and decides, [`write`](mod@write) reads them again one by one, so that no
//! conversation is ever in memory as a whole. The forms of providers are made in [`forms`](super::forms).

mod fact;
pub mod ids;
mod omp;
mod pi;
pub mod plan;
pub mod step;
pub mod system;
pub mod target;
mod turn;
pub mod write;
