//! What a move writes: a summary or a mark, and a label.

use super::plan::Move;
use crate::core::edit::commit::{Anchor, Commit, Committed, Guard, SessionFile};
use crate::core::edit::draft::{Draft, IdsAndTime};
use crate::core::edit::label::LabelEdit;
use crate::core::error::Result;
use crate::core::session::body::SAVED_MOVE;
use crate::core::session::{NodeId, Session};

/// What a move writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveRecord {
    /// A summary of what is left behind.
    pub summary: Option<Summary>,
    /// Whether the move is saved without a summary, too.
    pub save: bool,
    /// A label for the summary, else for the target.
    pub label: Option<String>,
}

/// A summary of what is left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it says.
    pub text: String,
    /// Its details, as JSON text.
    pub details: Option<Vec<u8>>,
    /// Whether a hook made it.
    pub from_extension: bool,
}

impl MoveRecord {
    /// Returns whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && !self.save && self.label.is_none()
    }

    /// Returns what others must not do before it is written: a summary is of all that is left behind,
    /// so nothing may be added there, unless the user insists.
    pub fn guard(&self, old: Option<String>, old_is_named: bool, is_forced: bool) -> Guard {
        match (&self.summary, is_forced, old_is_named) {
            (None, ..) | (_, true, _) => Guard::None,
            (Some(_), false, true) => Guard::Childless(old),
            (Some(_), false, false) => Guard::Unmoved(old),
        }
    }

    /// Writes it to the file. `old_is_named` if the move does not come from the file's own leaf.
    pub fn write(
        &self,
        file: SessionFile<'_>,
        session: &Session,
        plan: &Move,
        old_is_named: bool,
        ids: &mut IdsAndTime<'_>,
    ) -> Result<WrittenMove> {
        let id = |node: Option<NodeId>| node.map(|node| session.id(node).to_owned());
        let target = id(plan.target);
        let position = id(plan.position);
        let marks = marks(session, plan, self.save);
        let commit = Commit {
            file,
            anchor: if marks { Anchor::Leaf } else { Anchor::At(position.clone()) },
            guard: self.guard(id(plan.old), old_is_named, file.options.force),
            needs: target.iter().chain(position.iter().filter(|_| marks)).cloned().collect(),
        };
        let mut lines = Vec::new();
        let committed = commit.write(session, ids, &mut |draft, _| {
            if marks {
                append_mark(draft, position.as_deref());
            }
            self.append(draft, position.as_deref(), target.as_deref(), marks);
            lines.clone_from(&draft.lines);
        })?;
        let line = || String::from_utf8_lossy(&lines).lines().nth(usize::from(marks)).map(str::to_owned);
        let summary = self.summary.as_ref().and_then(|summary| Some((line()?, summary.from_extension)));
        Ok(WrittenMove { committed, summary, marks })
    }

    /// Adds the entries to a draft that starts at the new position, or is moved there by a mark. `target` is
    /// what was asked for.
    fn append(&self, draft: &mut Draft<'_>, position: Option<&str>, target: Option<&str>, is_marked: bool) {
        let mut labelled = target.map(str::to_owned);
        if let Some(Summary { text, details, from_extension }) = &self.summary {
            let from = position.unwrap_or("root");
            draft.append("branch_summary", |entry| {
                entry.id("fromId", from).str("summary", text);
                if let Some(details) = details {
                    // Line ends can only stand between its tokens.
                    let one_line = details.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte });
                    entry.value("details").extend(one_line);
                }
                if *from_extension {
                    // Each family of agents has its own name for it.
                    entry.json("fromExtension", b"true").json("fromHook", b"true");
                }
            });
            labelled = draft.leaf().map(str::to_owned);
        } else if self.save && !is_marked {
            append_saved(draft);
        }
        if let (Some(name), Some(target)) = (&self.label, labelled) {
            LabelEdit { target, name: Some(name.clone()) }.append(draft);
        }
    }
}

/// Returns whether what a move writes starts with a mark: where the leaf is stored, what is appended
/// elsewhere moves it only together with one.
pub(super) fn marks(session: &Session, plan: &Move, save: bool) -> bool {
    session.stores_leaf() && (save || plan.position != session.leaf())
}

/// Adds an entry that makes agents resume where it hangs.
pub(crate) fn append_saved(draft: &mut Draft<'_>) {
    draft.append("custom", |entry| _ = entry.str("customType", SAVED_MOVE));
}

/// Adds a mark that moves the leaf to a position, in the form of the agents that store such moves.
pub(crate) fn append_mark(draft: &mut Draft<'_>, position: Option<&str>) {
    draft.append("leaf", |entry| {
        for name in ["targetId", "appendParentId"] {
            match position {
                Some(id) => _ = entry.id(name, id),
                None => _ = entry.json(name, b"null"),
            }
        }
    });
}

/// What is in the file after a move.
#[derive(Debug)]
pub struct WrittenMove {
    /// The new entries.
    pub committed: Committed,
    /// Whether the first of them is a mark, which never is the leaf itself.
    pub marks: bool,
    /// The summary's line, and whether a hook made it.
    pub summary: Option<(String, bool)>,
}

/// What came of a move.
#[derive(Debug)]
pub enum MoveOutcome {
    /// Nothing was to be written.
    Unwritten,
    /// A hook was against it.
    Cancelled {
        /// Its command.
        by: String,
    },
    /// It is in the file.
    Written(WrittenMove),
}

impl MoveOutcome {
    /// Returns the ids of the new entries.
    pub fn ids(&self) -> &[String] {
        if let Self::Written(written) = self { &written.committed.ids } else { &[] }
    }

    /// Returns the summary's line, and whether a hook made it.
    pub fn summary(&self) -> Option<(&str, bool)> {
        let Self::Written(written) = self else { return None };
        written.summary.as_ref().map(|(line, from_extension)| (&line[..], *from_extension))
    }

    /// Returns the id of the leaf after the move.
    pub fn new_leaf<'l>(&'l self, session: &'l Session, plan: &Move) -> Option<&'l str> {
        let stays = plan.is_noop || matches!(self, Self::Cancelled { .. });
        let position = if stays { plan.old } else { plan.position };
        let marks = matches!(self, Self::Written(written) if written.marks);
        let last = self.ids().iter().skip(usize::from(marks)).next_back();
        last.map(String::as_str).or(position.map(|node| session.id(node)))
    }
}

#[cfg(test)]
mod tests {
    use crate::core::edit::draft::drafted;

    use super::{Guard, MoveRecord, Summary, append_mark};

    /// Checks the lines that a move from `b2` to `u2` (position `a1`), or to before the first entry, adds.
    #[track_caller]
    fn writes(record: &MoveRecord, at_root: bool, expected: &[&str]) {
        let (leaf, target) = if at_root { (None, None) } else { (Some("a1"), Some("u2")) };
        let parent = if at_root { "null" } else { "\"a1\"" };
        let expected: Vec<_> = expected.iter().map(|line| line.replace("$PARENT", parent)).collect();
        assert_eq!(drafted(leaf, |draft| record.append(draft, leaf, target, false)), expected, "{record:?}");
        assert_eq!(record.is_empty(), *record == MoveRecord::default());
    }

    #[test]
    fn a_move_writes_a_summary_or_a_mark_and_a_label_for_it() {
        let summary = |details: Option<&str>, from_extension| {
            let details = details.map(|json| json.as_bytes().to_vec());
            Some(Summary { text: "tried\n\"it\"".to_owned(), details, from_extension })
        };
        let label = || Some("left".to_owned());
        let mark = r#"{"type":"custom","id":"n1","parentId":$PARENT,"timestamp":"T","customType":"session-tree/leaf"}"#;
        let start = r#"{"type":"branch_summary","id":"n1","parentId":$PARENT,"timestamp":"T","fromId":"#;
        let text = r#","summary":"tried\n\"it\"""#;
        let by_user = format!(r#"{start}"a1"{text},"details":{{"readFiles": []}}}}"#);
        let by_hook = format!(r#"{start}"root"{text},"fromExtension":true,"fromHook":true}}"#);
        let labelled = |id: &str, parent: &str, target: &str| {
            format!(
                r#"{{"type":"label","id":"{id}","parentId":{parent},"timestamp":"T","targetId":"{target}","label":"left"}}"#
            )
        };
        let details = Some("{\"readFiles\":\n[]}");

        writes(&MoveRecord::default(), false, &[]);
        writes(&MoveRecord { save: true, ..MoveRecord::default() }, false, &[mark]);
        writes(&MoveRecord { save: true, ..MoveRecord::default() }, true, &[mark]);
        // A summary saves by itself, and takes the label.
        for save in [false, true] {
            writes(&MoveRecord { summary: summary(details, false), save, label: None }, false, &[&by_user]);
            let both = MoveRecord { summary: summary(details, false), save, label: label() };
            writes(&both, false, &[&by_user, &labelled("n2", "\"n1\"", "n1")]);
        }
        writes(&MoveRecord { summary: summary(None, true), ..MoveRecord::default() }, true, &[&by_hook]);
        // Without one the label is for the target, even if its place is before the position.
        let only_label = MoveRecord { label: label(), ..MoveRecord::default() };
        writes(&only_label, false, &[&labelled("n1", "$PARENT", "u2")]);
        writes(&only_label, true, &[]);
        let saved = MoveRecord { save: true, label: label(), summary: None };
        writes(&saved, false, &[mark, &labelled("n2", "\"n1\"", "u2")]);
    }

    #[test]
    fn a_summary_is_only_written_if_nothing_was_added_to_what_it_is_about() {
        let old = || Some("b2".to_owned());
        let summary = || Some(Summary { text: "x".to_owned(), details: None, from_extension: false });
        for (summary, is_forced, old_is_named, expected) in [
            (None, false, false, Guard::None),
            (None, false, true, Guard::None),
            (None, true, true, Guard::None),
            (summary(), true, false, Guard::None),
            (summary(), true, true, Guard::None),
            (summary(), false, false, Guard::Unmoved(old())),
            (summary(), false, true, Guard::Childless(old())),
        ] {
            let record = MoveRecord { summary, save: true, label: Some("x".to_owned()) };
            assert_eq!(record.guard(old(), old_is_named, is_forced), expected, "{record:?} {is_forced} {old_is_named}");
        }
    }

    #[test]
    fn where_the_leaf_is_stored_a_move_is_a_mark() {
        let mark = |id: &str, position: &str| {
            format!(
                r#"{{"type":"leaf","id":"{id}","parentId":"b2","timestamp":"T","targetId":{position},"appendParentId":{position}}}"#
            )
        };
        let write = |record: &MoveRecord, position: Option<&str>| {
            drafted(Some("b2"), |draft| {
                append_mark(draft, position);
                record.append(draft, position, Some("u2"), true);
            })
        };
        let save = MoveRecord { save: true, ..MoveRecord::default() };
        assert_eq!(write(&save, Some("a1")), [mark("n1", "\"a1\"")]);
        assert_eq!(write(&save, None), [mark("n1", "null")]);
        let summary = Summary { text: "x".to_owned(), details: None, from_extension: false };
        let all = MoveRecord { summary: Some(summary), save: true, label: Some("y".to_owned()) };
        let summary =
            r#"{"type":"branch_summary","id":"n2","parentId":"n1","timestamp":"T","fromId":"a1","summary":"x"}"#;
        let label = r#"{"type":"label","id":"n3","parentId":"n2","timestamp":"T","targetId":"n2","label":"y"}"#;
        assert_eq!(write(&all, Some("a1")), [&mark("n1", "\"a1\""), summary, label]);
    }
}
