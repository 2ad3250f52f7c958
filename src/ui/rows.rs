//! Rows made on all cores and written in their order.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::json::{self, Time, TreeRow};
use super::output::Output;
use crate::core::body::Bodies;
use crate::core::entry::{Kind, Role};
use crate::core::error::Result;
use crate::core::json::Object;
use crate::core::session::{NodeId, Session};
use crate::core::time::Stamp;

/// What rows say, for any number of threads. A body that must be read is read by one at a time.
#[derive(Debug)]
pub struct LineRows<'b, 's> {
    session: &'s Session,
    bodies: Mutex<&'b mut Bodies<'s>>,
}

/// What a row says of its entry's place in the tree.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its distance from its root.
    pub depth: u32,
    /// Whether it is on the active path.
    pub is_active: bool,
    /// Whether it is the leaf.
    pub is_leaf: bool,
}

impl<'b, 's> LineRows<'b, 's> {
    /// Prepares to make rows.
    pub fn new(bodies: &'b mut Bodies<'s>) -> Self {
        Self { session: bodies.session(), bodies: Mutex::new(bodies) }
    }

    fn lock(&self) -> MutexGuard<'_, &'b mut Bodies<'s>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether an entry's body must be read for its row.
    pub fn reads(&self, node: NodeId) -> bool {
        let traits = self.session.traits(node);
        matches!(self.session.stamp(node), Stamp::Other(_) | Stamp::Unknown)
            || traits.kind == Kind::Unknown
            || traits.role == Role::Unknown
            || self.session.row_words(node).is_none()
    }

    /// Gives the words of a row.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn words(&self, node: NodeId) -> Result<Cow<'s, str>> {
        match self.session.row_words(node) {
            Some(words) => Ok(Cow::Borrowed(words)),
            None => self.lock().words(node).map(Cow::Owned),
        }
    }

    /// Adds a row as an object, without line end.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn push_json(&self, out: &mut Vec<u8>, node: NodeId, place: Place) -> Result<()> {
        let session = self.session;
        let timestamp = match Time::kept(session, node) {
            Some(time) => time,
            None => Time::of(&mut self.lock(), node)?,
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
        row.push(out);
        Ok(())
    }

    /// Adds the entry as stored to a row that ends with its brace.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn add_entry(&self, out: &mut Vec<u8>, node: NodeId) -> Result<()> {
        Object::reopen(out).json("entry", self.lock().entry(node)?.object().bytes());
        Ok(())
    }
}

/// What became of rows.
type Made<E> = std::result::Result<(), E>;

/// How many rows are made at once.
const PIECE: usize = 512;
/// How many pieces a thread may be ahead of what is written.
const AHEAD: usize = 3;

/// Makes `count` rows on up to `jobs` threads and writes them, the same bytes whatever the number
/// of threads. `make` adds some rows to a buffer; of those before an error it has added the bytes.
///
/// # Errors
/// What `make` says of the first row that it fails at, or what the system says.
pub fn write<E: From<io::Error> + Send>(
    output: &mut Output,
    count: usize,
    jobs: usize,
    make: impl Fn(Range<usize>, &mut Vec<u8>) -> Made<E> + Sync,
) -> Made<E> {
    let pieces = count.div_ceil(PIECE);
    let make = |piece: usize, buffer: &mut Vec<u8>| make(piece * PIECE..count.min((piece + 1) * PIECE), buffer);
    let jobs = jobs.min(pieces);
    if jobs < 2 {
        let mut buffer = Vec::new();
        return (0..pieces).try_for_each(|piece| {
            buffer.clear();
            let made = make(piece, &mut buffer);
            output.put(&buffer)?;
            made
        });
    }
    let work = Work { pieces, ahead: jobs * AHEAD, state: Mutex::default(), changed: Condvar::new() };
    thread::scope(|scope| {
        for _ in 1..jobs {
            // Without a further thread it goes on all the same.
            let _ = thread::Builder::new().spawn_scoped(scope, || work.help(&make));
        }
        let done = work.write(output, &make);
        work.lock().next = pieces;
        work.changed.notify_all();
        done
    })
}

/// The pieces of one output.
struct Work<E> {
    pieces: usize,
    /// How many pieces may be made and not yet written.
    ahead: usize,
    state: Mutex<State<E>>,
    changed: Condvar,
}

struct State<E> {
    /// The next piece that nobody makes yet.
    next: usize,
    /// How many are written.
    written: usize,
    made: HashMap<usize, (Vec<u8>, Made<E>)>,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    /// A thread panicked: what it was to make will never come.
    is_over: bool,
}

impl<E> Default for State<E> {
    fn default() -> Self {
        Self { next: 0, written: 0, made: HashMap::new(), spare: Vec::new(), is_over: false }
    }
}

impl<E: From<io::Error>> Work<E> {
    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<E>>) -> MutexGuard<'s, State<E>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes pieces until there are none left.
    fn help(&self, make: &impl Fn(usize, &mut Vec<u8>) -> Made<E>) {
        let mut state = self.lock();
        while state.next < self.pieces && !state.is_over {
            state =
                if state.next < state.written + self.ahead { self.make_next(state, make) } else { self.wait(state) };
        }
    }

    /// Writes all pieces; makes some itself while the one that is due is not there.
    fn write(&self, output: &mut Output, make: &impl Fn(usize, &mut Vec<u8>) -> Made<E>) -> Made<E> {
        let mut state = self.lock();
        while state.written < self.pieces && !state.is_over {
            let due = state.written;
            if let Some((mut buffer, made)) = state.made.remove(&due) {
                drop(state);
                output.put(&buffer)?;
                made?;
                buffer.clear();
                state = self.lock();
                state.written += 1;
                state.spare.push(buffer);
                self.changed.notify_all();
            } else if state.next < self.pieces && state.next < due + self.ahead {
                state = self.make_next(state, make);
            } else {
                state = self.wait(state);
            }
        }
        Ok(())
    }

    fn make_next<'s>(
        &'s self,
        mut state: MutexGuard<'s, State<E>>,
        make: &impl Fn(usize, &mut Vec<u8>) -> Made<E>,
    ) -> MutexGuard<'s, State<E>> {
        let piece = state.next;
        state.next += 1;
        let mut buffer = state.spare.pop().unwrap_or_default();
        drop(state);
        let alarm = Alarm(self);
        let made = make(piece, &mut buffer);
        drop(alarm);
        let mut state = self.lock();
        state.made.insert(piece, (buffer, made));
        self.changed.notify_all();
        state
    }
}

/// Ends the work of all threads if one panics, so that none waits for what it was to make.
struct Alarm<'w, E: From<io::Error>>(&'w Work<E>);

impl<E: From<io::Error>> Drop for Alarm<'_, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.lock().is_over = true;
            self.0.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::panic::{self, AssertUnwindSafe};

    use super::{PIECE, write};
    use crate::ui::output::Output;

    #[test]
    fn a_panic_ends_all_threads() {
        for bad in [0, 5 * PIECE] {
            let run = || {
                let mut output = Output::new();
                write(&mut output, 20 * PIECE, 4, |range, _| {
                    assert!(range.start != bad, "on purpose");
                    io::Result::Ok(())
                })
            };
            assert!(panic::catch_unwind(AssertUnwindSafe(run)).is_err());
        }
    }

    #[test]
    fn an_error_ends_all_threads() {
        let mut output = Output::new();
        let made = write(&mut output, 20 * PIECE, 4, |range, _| match range.start / PIECE {
            7 => Err(io::Error::other("on purpose")),
            _ => Ok(()),
        });
        assert_eq!(made.unwrap_err().to_string(), "on purpose");
    }
}
