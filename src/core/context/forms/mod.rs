//! The forms in which providers take a request, one file each. They follow what pi 1.6 sends; the messages
//! come from [`sent`](super::sent), one by one, and are written at once.

mod anthropic;
mod content;
mod form;
mod openai;
pub mod request;
mod responses;
mod script;
