//! Small sessions for unit tests, read from memory, and short forms of what tests compare.

use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::{NodeId, Session};

mod lines;

pub(crate) use lines::{HEADER, calls, entry, forked, label, message, result};

/// Reads a session from the bytes of a file.
pub(crate) fn read(bytes: &[u8]) -> Session {
    Session::load(Source::spool(bytes).unwrap(), LoadOptions::INDEX_ONLY, 1).unwrap()
}

/// Reads a session of the current version with these entries.
pub(crate) fn session<S: AsRef<str>>(entries: &[S]) -> Session {
    let lines = std::iter::once(HEADER).chain(entries.iter().map(AsRef::as_ref));
    read(lines.flat_map(|line| [line, "\n"]).collect::<String>().as_bytes())
}

/// Returns the entry with an id; none for `-`.
pub(crate) fn node(session: &Session, id: &str) -> Option<NodeId> {
    (id != "-").then(|| session.find(id).unwrap_or_else(|| panic!("the session has `{id}`")))
}

/// Returns the ids of entries, separated by blanks; `-` if there are none.
pub(crate) fn ids(session: &Session, nodes: impl IntoIterator<Item = NodeId>) -> String {
    let ids: Vec<_> = nodes.into_iter().map(|node| session.id(node)).collect();
    if ids.is_empty() { "-".to_owned() } else { ids.join(" ") }
}

/// Reads a session of a chain of entries, each a child of the one before: type, id and members, or the role
/// of a message, id and text.
pub(crate) fn chain(entries: &[(&str, &str, &str)]) -> Session {
    let parents = std::iter::once("").chain(entries.iter().map(|(_, id, _)| *id));
    let line = |(&(kind, id, members), parent): (&(&str, &str, &str), &str)| match kind {
        "user" | "assistant" | "toolResult" | "system" | "martian" => message(id, parent, kind, members),
        kind => entry(kind, id, parent, members),
    };
    session(&entries.iter().zip(parents).map(line).collect::<Vec<_>>())
}
