//! Rows of JSON Lines, made on several threads and written in order. The bytes are the same for any
//! number of threads; threads themselves are started only in [`crate::parallel`].

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::json::{self, StoredTime, TreeRow};
use super::output::Output;
use crate::core::entry::{Kind, Role};
use crate::core::error::Result;
use crate::core::json::Object;
use crate::core::search::{Excerpt, Query};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::Stamp;
use crate::parallel::Pool;

/// Makes rows on any number of threads. Only one of them reads bodies at a time.
#[derive(Debug)]
pub struct JsonlRows<'b, 's> {
    session: &'s Session,
    bodies: Mutex<&'b mut Bodies<'s>>,
    /// The members that each row begins with, a comma after each.
    front: String,
}

/// The place of an entry in the tree.
#[derive(Clone, Copy, Debug)]
pub struct TreePlace {
    /// Its distance from its root.
    pub depth: u32,
    /// Whether it is on the active path.
    pub is_active: bool,
    /// Whether it is the leaf.
    pub is_leaf: bool,
}

impl<'b, 's> JsonlRows<'b, 's> {
    /// Prepares to make rows.
    pub fn new(bodies: &'b mut Bodies<'s>) -> Self {
        Self { session: bodies.session(), bodies: Mutex::new(bodies), front: String::new() }
    }

    /// Makes each row begin with members, a comma after each.
    #[must_use]
    pub(crate) fn naming(self, front: String) -> Self {
        Self { front, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, &'b mut Bodies<'s>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether an entry's body must be read for its row.
    pub(crate) fn reads(&self, node: NodeId) -> bool {
        let traits = self.session.traits(node);
        matches!(self.session.stamp(node), Stamp::Other(_) | Stamp::Unknown)
            || traits.kind == Kind::Unknown
            || traits.role == Role::Unknown
            || !self.session.has_row_words(node)
    }

    /// Returns the words of a row.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub(crate) fn words(&self, node: NodeId) -> Result<Cow<'s, str>> {
        match self.session.row_words(node) {
            Some(words) => Ok(Cow::Borrowed(words)),
            None => self.lock().words(node).map(Cow::Owned),
        }
    }

    /// Adds a row as an object, without line end.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn push_json(&self, out: &mut Vec<u8>, node: NodeId, place: TreePlace) -> Result<()> {
        let session = self.session;
        let timestamp = match StoredTime::kept(session, node) {
            Some(time) => time,
            None => StoredTime::of(&mut self.lock(), node)?,
        };
        let named = (session.traits(node).kind.name(), session.role_name(node));
        let (kind, role) = match named {
            (Some(kind), role) if session.traits(node).role != Role::Unknown => {
                (Some(Cow::Borrowed(kind)), role.map(Cow::Borrowed))
            }
            _ => {
                let (kind, role) = json::names(&mut self.lock(), node)?;
                (kind.map(Cow::Owned), role.map(Cow::Owned))
            }
        };
        let words = self.words(node)?;
        let row = TreeRow {
            id: session.id(node),
            parent_id: session.parent(node).map(|parent| session.id(parent)),
            missing_parent: session.missing_parent(node),
            depth: place.depth,
            line: session.line(node),
            r#type: kind.as_deref(),
            role: role.as_deref(),
            timestamp,
            label: session.label(node).map(|label| label.name.as_str()),
            active: place.is_active,
            leaf: place.is_leaf,
            children: session.children(node).len(),
            text: &words,
        };
        let start = out.len();
        row.push(out);
        if !self.front.is_empty() {
            out.splice(start + 1..start + 1, self.front.bytes());
        }
        Ok(())
    }

    /// Adds the words around what was found first, if anything was searched for. `row` is the text of the row.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub(crate) fn add_match(&self, out: &mut Vec<u8>, node: NodeId, row: &str, query: &Query) -> Result<()> {
        let label = self.session.label(node).map(|label| label.name.as_str());
        let Some(term) = query.first() else { return Ok(()) };
        if let Some(Excerpt { before, word, after, .. }) = Excerpt::of(self.lock().entry(node)?, label, row, term) {
            Object::reopen(out).str("match", &format!("{before}{word}{after}"));
        }
        Ok(())
    }

    /// Adds the entry as stored as the last member of a row.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub(crate) fn add_entry(&self, out: &mut Vec<u8>, node: NodeId) -> Result<()> {
        Object::reopen(out).json("entry", self.lock().entry(node)?.object().bytes());
        Ok(())
    }
}

/// How many rows a thread makes at once.
const CHUNK: usize = 512;
/// How many chunks each thread may be ahead of the output.
const AHEAD: usize = 3;

/// Makes `count` rows on up to `jobs` threads and writes them in order. `make` adds a range of rows to a
/// buffer; those before an error are written too.
///
/// # Errors
/// The first error of `make` in the order of rows, or that of the output.
pub(crate) fn write<E: From<io::Error> + Send>(
    output: &mut Output,
    count: usize,
    jobs: usize,
    make: impl Fn(Range<usize>, &mut Vec<u8>) -> std::result::Result<(), E> + Sync,
) -> std::result::Result<(), E> {
    let chunks = count.div_ceil(CHUNK);
    let jobs = jobs.min(chunks);
    let spare = Mutex::<Vec<Vec<u8>>>::default();
    let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        |chunk: usize| {
            let mut buffer = spare().pop().unwrap_or_default();
            let made = make(chunk * CHUNK..count.min((chunk + 1) * CHUNK), &mut buffer);
            (buffer, made)
        }
    };
    Pool::new(jobs, jobs * AHEAD).run(chunks, worker, |_, (mut buffer, made)| {
        output.put(&buffer)?;
        made?;
        buffer.clear();
        spare().push(buffer);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{CHUNK, write};
    use crate::ui::output::Output;

    #[test]
    fn an_error_stops_all_threads() {
        let mut output = Output::new();
        let made = write(&mut output, 20 * CHUNK, 4, |range, _| match range.start / CHUNK {
            7 => Err(io::Error::other("on purpose")),
            _ => Ok(()),
        });
        assert_eq!(made.unwrap_err().to_string(), "on purpose");
    }
}
