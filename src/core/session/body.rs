//! Reads entries from the source again, and checks that they are still those of the index: another
//! program may have changed the file. What a row or a context makes of an entry is decided elsewhere.

use crate::core::entry::preview;
use crate::core::entry::{Entry, Kind, Role, Scan};
use crate::core::error::{Error, Result};
use crate::core::migrate::lines::{self, EntryLinks};
use crate::core::session::calls::AnsweredCalls;
use crate::core::session::{NodeId, Session};

/// How many bytes are read at once while entries are asked for in the order of the file.
const AHEAD: usize = 256 * 1024;

/// The `customType` of the custom entry that saves a move of the leaf, which keeps it apart from others.
pub(crate) const SAVED_MOVE: &str = "session-tree/leaf";

/// Reads entries of one session, one at a time; fastest in the order of the file.
#[derive(Debug)]
pub struct Bodies<'s> {
    session: &'s Session,
    window: Vec<u8>,
    /// Offset of the window in the source.
    front: u64,
    migrated: Vec<u8>,
    scan: Scan,
    /// How many bytes were read and parsed in all, and how many of them to look up calls.
    read: u64,
    looked_up: u64,
    /// All calls, once looking them up one by one takes longer.
    calls: Option<AnsweredCalls>,
}

impl<'s> Bodies<'s> {
    /// Starts to read.
    pub fn new(session: &'s Session) -> Self {
        let (window, migrated, scan) = (Vec::new(), Vec::new(), Scan::default());
        Self { session, window, front: 0, migrated, scan, read: 0, looked_up: 0, calls: None }
    }

    /// Returns the session.
    pub fn session(&self) -> &'s Session {
        self.session
    }

    /// Returns an entry as version 3 has it.
    ///
    /// # Errors
    /// [`Error::Changed`] if its bytes are something else by now, [`Error::Io`] if reading fails.
    pub fn entry(&mut self, node: NodeId) -> Result<Entry<'_>> {
        let (start, len) = self.fetch(node)?;
        if !self.session.is_migrated() {
            return self.check(node, start, len);
        }
        self.check(node, start, len)?;
        let object = &self.window[start..start + len];
        self.migrated = upgrade(self.session, node, object).into_owned();
        self.scan.read(&self.migrated).map_err(|_| changed(self.session, node))
    }

    /// Returns whether an entry only saves a move of the leaf.
    ///
    /// # Errors
    /// As [`Self::entry`].
    pub(crate) fn is_saved_move(&mut self, node: NodeId) -> Result<bool> {
        let is_custom = self.session.traits(node).kind == Kind::Custom;
        Ok(is_custom && self.entry(node)?.get_str("customType").as_deref() == Some(SAVED_MOVE))
    }

    /// Returns the bytes at the place of an entry, which may be something else by now.
    pub fn bytes(&mut self, node: NodeId) -> Result<&[u8]> {
        let (start, len) = self.fetch(node)?;
        Ok(&self.window[start..start + len])
    }

    /// Returns the blanks before and after an entry on its line, at most 64 of each.
    ///
    /// # Errors
    /// [`Error::Io`] if reading fails.
    pub fn blanks(&mut self, node: NodeId) -> Result<(Vec<u8>, Vec<u8>)> {
        // No writer of sessions puts more of them there.
        const FEW: u64 = 64;
        let at = &self.session.nodes[node.index()];
        let (start, end) = (at.offset, at.offset + u64::from(at.len));
        let before = start.saturating_sub(FEW)..start;
        let after = end..(end + FEW).min(self.session.source.len());
        let read = |range: std::ops::Range<u64>| -> Result<Vec<u8>> {
            let in_window = |at: u64| usize::try_from(at.checked_sub(self.front)?).ok();
            let window = in_window(range.start).zip(in_window(range.end));
            if let Some(bytes) = window.and_then(|(from, to)| self.window.get(from..to)) {
                return Ok(bytes.to_vec());
            }
            let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
            self.session.source.read_at(&mut bytes, range.start)?;
            Ok(bytes)
        };
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
        let (mut before, mut after) = (read(before)?, read(after)?);
        let count = before.iter().rev().take_while(is_blank).count();
        before.drain(..before.len() - count);
        after.truncate(after.iter().take_while(is_blank).count());
        Ok((before, after))
    }

    /// Returns the text of an entry's row; that of a tool result is its call.
    pub fn words(&mut self, node: NodeId) -> Result<String> {
        if let Some(words) = self.session.row_words(node) {
            return Ok(words.to_owned());
        }
        if self.session.traits(node).role == Role::ToolResult
            && let Some(call) = self.call(node)?
        {
            return Ok(call);
        }
        let mut words = String::new();
        preview::write(&mut words, self.entry(node)?);
        Ok(words)
    }

    /// Returns the title of the session: its name, or the text that names it best; empty without both.
    pub fn title(&mut self) -> Result<String> {
        match (self.session.name(), self.session.title_entry()) {
            (Some(name), _) => Ok(name.to_owned()),
            (None, Some(node)) if self.session.traits(node).kind == Kind::SessionInit => {
                let mut words = String::new();
                preview::task(&mut words, self.entry(node)?);
                Ok(words)
            }
            (None, Some(node)) => self.words(node),
            (None, None) => Ok(String::new()),
        }
    }

    /// Returns the row text of a tool result's call, from the nearest assistant messages above it.
    pub(super) fn call(&mut self, result: NodeId) -> Result<Option<String>> {
        if self.calls.is_none() && self.looked_up <= self.session.source.len() {
            let before = self.read;
            let found = self.find_call(result)?;
            self.looked_up += self.read - before;
            return Ok(found);
        }
        if self.calls.is_none() {
            self.calls = Some(all_calls(self.session)?);
        }
        Ok(self.calls.as_ref().and_then(|calls| calls.of(result)).map(str::to_owned))
    }

    fn find_call(&mut self, result: NodeId) -> Result<Option<String>> {
        let Some(id) = self.entry(result)?.tool_call_id().map(|id| id.into_owned()) else { return Ok(None) };
        for node in self.session.callers(result) {
            let entry = self.entry(node)?;
            if let Some(call) = entry.calls().find(|call| call.id().as_deref() == Some(&id)) {
                let mut text = String::new();
                preview::call(&mut text, &call.name().unwrap_or_default(), call.arguments());
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Reads an entry's bytes into the window, unless they are there; returns offset and length there.
    fn fetch(&mut self, node: NodeId) -> Result<(usize, usize)> {
        let at = &self.session.nodes[node.index()];
        let (offset, len) = (at.offset, at.len as usize);
        let after = self.front + self.window.len() as u64;
        if offset >= self.front && offset + len as u64 <= after {
            return Ok((usize::try_from(offset - self.front).unwrap_or(usize::MAX), len));
        }
        let in_order = offset >= self.front && offset.saturating_sub(after) < AHEAD as u64;
        let left = usize::try_from(self.session.source.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = if in_order { AHEAD.max(len) } else { len };
        self.window.resize(wanted.min(left), 0);
        self.window.shrink_to(AHEAD);
        self.front = offset;
        self.read += self.window.len() as u64;
        let line = Some(at.line);
        self.session.source.read_at(&mut self.window, offset).map_err(|error| {
            // The window may hold anything now, and must not be taken for these bytes.
            self.window.clear();
            match error {
                Error::Changed { .. } => Error::Changed { line },
                other => other,
            }
        })?;
        if self.window.len() < len {
            return Err(Error::Changed { line });
        }
        Ok((0, len))
    }

    /// Parses bytes of the window, and checks that they are still this entry.
    fn check(&mut self, node: NodeId, start: usize, len: usize) -> Result<Entry<'_>> {
        let session = self.session;
        self.read += len as u64;
        let object = &self.window[start..start + len];
        let entry = self.scan.read(object).map_err(|_| changed(session, node))?;
        let same = entry.object().bytes().len() == len
            && entry.kind() == session.traits(node).kind
            && (session.version == 1 || entry.id().as_deref() == Some(session.id(node)));
        if same { Ok(entry) } else { Err(changed(session, node)) }
    }
}

/// Returns an entry's stored text as version 3 has it.
pub(crate) fn upgrade<'a>(session: &Session, node: NodeId, object: &'a [u8]) -> std::borrow::Cow<'a, [u8]> {
    let links = (session.version == 1)
        .then(|| EntryLinks { id: session.id(node), parent: session.parent(node).map(|parent| session.id(parent)) });
    let is_compaction = session.traits(node).kind == Kind::Compaction;
    let kept = |at: usize| {
        let kept = session.well_formed.get(at).map(|&kept| NodeId(kept)).filter(|_| is_compaction)?;
        (kept <= node).then(|| session.id(kept).to_owned())
    };
    lines::rewrite(object, links, kept)
}

/// Finds the calls of all results.
fn all_calls(session: &Session) -> Result<AnsweredCalls> {
    let mut bodies = Bodies::new(session);
    AnsweredCalls::find(session, &mut |node, each| {
        each(bodies.entry(node)?);
        Ok(())
    })
}

fn changed(session: &Session, node: NodeId) -> Error {
    Error::Changed { line: Some(session.line(node)) }
}

#[cfg(test)]
mod tests {
    use super::{Bodies, all_calls};
    use crate::core::session::sample::{calls, node, result, session};

    #[test]
    fn the_calls_of_all_results_are_those_that_are_looked_up_one_by_one() {
        let lines = [
            calls("a1", "", &[("read", "one"), ("read", "two"), ("read", "three")]),
            result("r1", "a1", "call-1"),
            result("r2", "a1", "call-2"),
            calls("a2", "r1", &[("edit", "four"), ("edit", "five")]),
            // The nearest message that has the call counts, and nothing below or beside.
            result("r3", "a2", "call-0"),
            result("r4", "a2", "call-2"),
            result("r5", "r2", "call-0"),
            result("r6", "a2", "call-7"),
            calls("a1", "r6", &[]).replace("\"a1\"", "\"a3\""),
            // Of two calls with one id the first counts.
            calls("a4", "a3", &[("read", "six"), ("read", "seven")]).replace("call-1", "call-0"),
            result("r7", "a4", "call-0"),
            result("r8", "", "call-0"),
        ];
        let session = session(&lines);
        let found = all_calls(&session).unwrap();
        for (id, expected) in [
            ("r1", "[read: two]"),
            ("r2", "[read: three]"),
            ("r3", "[edit: four]"),
            ("r4", "[read: three]"),
            ("r5", "[read: one]"),
            ("r6", ""),
            ("r7", "[read: six]"),
            ("r8", ""),
            ("a1", ""),
        ] {
            let node = node(&session, id).unwrap();
            assert_eq!(found.of(node).unwrap_or_default(), expected, "{id}");
            let looked_up = Bodies::new(&session).find_call(node).unwrap();
            assert_eq!(looked_up.as_deref().unwrap_or_default(), expected, "{id}");
        }
    }
}
