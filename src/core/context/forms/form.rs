//! What a form of requests has to know.

use crate::core::json::{Object, Raw};

/// A form of requests: how its parts are written, and what is kept in mind from one message to the next.
pub(super) trait Form {
    /// The member with the messages.
    const MESSAGES: &'static str;

    /// Adds what comes before tools and messages.
    fn head(&self, _request: &mut Object<'_>, _system: Option<&str>) {}

    /// Writes the members of a tool's definition.
    fn tool(&self, tool: &mut Object<'_>, name: &str, description: Option<&str>, parameters: &[u8]);

    /// Writes the system prompt, if it is a message.
    fn system(&mut self, _out: &mut Vec<u8>, _system: &str) {}

    /// Writes a message; what belongs together with those after it may be held back.
    fn push(&mut self, out: &mut Vec<u8>, message: Raw<'_>);

    /// Writes what was held back.
    fn close(&mut self, _out: &mut Vec<u8>) {}
}
