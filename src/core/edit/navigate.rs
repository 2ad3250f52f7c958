//! Moving the leaf within a file (semantics: "Navigating").

use super::draft::{Draft, Value};
use super::label::Change;
use crate::core::entry::{Kind, Role};
use crate::core::error::Result;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// The type that keeps a saved move apart from other custom entries.
const SAVED: &str = "session-tree/leaf";

/// Where a move goes, and what it leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The leaf that is left; `None` before the first entry.
    pub old: Option<NodeId>,
    /// What was asked for; `None` is before the first entry.
    pub target: Option<NodeId>,
    /// The deepest entry on both paths.
    pub ancestor: Option<NodeId>,
    /// What is left behind, in chronological order.
    pub abandoned: Vec<NodeId>,
    /// Where the leaf goes: a user's or custom message is taken back into the editor.
    pub position: Option<NodeId>,
    /// What goes into the editor.
    pub editor_text: Option<String>,
}

impl Move {
    /// Plans a move.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn plan(bodies: &mut Bodies<'_>, old: Option<NodeId>, target: Option<NodeId>) -> Result<Self> {
        let session = bodies.session();
        let (ancestor, abandoned) = abandoned(session, old, target);
        let mut plan = Self { old, target, ancestor, abandoned, position: target, editor_text: None };
        if let Some(target) = target.filter(|&target| goes_to_editor(session, target)) {
            plan.position = session.parent(target);
            plan.editor_text = Some(bodies.entry(target)?.full_text());
        }
        Ok(plan)
    }

    /// Tells whether the leaf is already there.
    pub fn is_noop(&self) -> bool {
        self.old == self.target
    }
}

/// What a move writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// A summary of what is left behind.
    pub summary: Option<Summary>,
    /// Whether the move is to last without a summary.
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

impl Trace {
    /// Tells whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && !self.save && self.label.is_none()
    }

    /// Adds the entries; the draft starts at the new position. `target` is what was asked for.
    pub fn append(&self, draft: &mut Draft<'_>, target: Option<&str>) {
        let mut labelled = target.map(str::to_owned);
        if let Some(Summary { text, details, from_extension }) = &self.summary {
            let from = draft.leaf().unwrap_or("root").to_owned();
            let mut members = vec![("fromId", Value::Str(&from)), ("summary", Value::Str(text))];
            members.extend(details.as_deref().map(|details| ("details", Value::Json(details))));
            if *from_extension {
                // Each family of agents has its own name for it.
                members.extend(["fromExtension", "fromHook"].map(|name| (name, Value::Json(b"true"))));
            }
            draft.append("branch_summary", &members);
            labelled = draft.leaf().map(str::to_owned);
        } else if self.save {
            draft.append("custom", &[("customType", Value::Str(SAVED))]);
        }
        if let (Some(name), Some(target)) = (&self.label, labelled) {
            Change { target, name: Some(name.clone()) }.append(draft);
        }
    }
}

/// Finds the common ancestor of two leaves and what only the old one has above it.
fn abandoned(session: &Session, old: Option<NodeId>, target: Option<NodeId>) -> (Option<NodeId>, Vec<NodeId>) {
    let kept = walk::active(session, target);
    let mut left: Vec<_> = session.ancestors(old).take_while(|node| !kept[node.index()]).collect();
    left.reverse();
    (session.ancestors(old).find(|node| kept[node.index()]), left)
}

/// Tells whether a move to an entry takes it back instead.
pub fn goes_to_editor(session: &Session, node: NodeId) -> bool {
    let traits = session.traits(node);
    traits.kind == Kind::CustomMessage || (traits.kind == Kind::Message && traits.role == Role::User)
}

#[cfg(test)]
mod tests {
    use crate::core::edit::draft::drafted;
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{entry, forked, ids, label, message, node, session};

    use super::{Move, Summary, Trace};

    /// Checks moves, each written as `OLD to TARGET: at POSITION, above ANCESTOR, leaves ENTRIES` and,
    /// for what is taken back, `, edits TEXT`.
    #[track_caller]
    fn check(session: &Session, moves: &[&str]) {
        for row in moves {
            let (old, target) = row.split_once(':').unwrap().0.split_once(" to ").unwrap();
            let made = Move::plan(&mut Bodies::new(session), node(session, old), node(session, target)).unwrap();
            let [position, ancestor] = [made.position, made.ancestor].map(|node| ids(session, node));
            let edits = made.editor_text.as_ref().map(|text| format!(", edits {text:?}")).unwrap_or_default();
            let left = ids(session, made.abandoned.iter().copied());
            let found = format!("{old} to {target}: at {position}, above {ancestor}, leaves {left}{edits}");
            assert_eq!(found, *row);
            assert_eq!(made.is_noop(), old == target, "{row}");
        }
    }

    #[test]
    fn a_move_leaves_what_only_the_old_path_has() {
        let moves = [
            "b2 to u2: at a1, above a1, leaves b1 b2, edits \"second\"",
            "b2 to a2: at a2, above a1, leaves b1 b2",
            "b2 to t2: at t2, above a1, leaves b1 b2",
            "b2 to a1: at a1, above a1, leaves b1 b2",
            "b2 to b1: at a1, above b1, leaves b2, edits \"other\"",
            "b2 to u1: at -, above u1, leaves a1 b1 b2, edits \"first\"",
            "b2 to -: at -, above -, leaves u1 a1 b1 b2",
            "t2 to b1: at a1, above a1, leaves u2 a2 t2, edits \"other\"",
            "a1 to t2: at t2, above a1, leaves -",
            "u1 to -: at -, above -, leaves u1",
            "- to u1: at -, above -, leaves -, edits \"first\"",
            // To where the leaf is.
            "b2 to b2: at b2, above b2, leaves -",
            "u2 to u2: at a1, above u2, leaves -, edits \"second\"",
            "- to -: at -, above -, leaves -",
        ];
        check(&session(&forked()), &moves);
    }

    #[test]
    fn two_roots_have_no_ancestor_in_common() {
        let session = session(&[
            message("u1", "", "user", "first"),
            entry("thinking_level_change", "l1", "u1", r#""thinkingLevel":"high""#),
            message("u2", "", "user", "second"),
            entry("model_change", "m2", "u2", r#""provider":"acme","modelId":"m""#),
            label("n2", "m2", "u1", "start"),
        ]);
        let moves = [
            "n2 to l1: at l1, above -, leaves u2 m2 n2",
            "n2 to u1: at -, above -, leaves u2 m2 n2, edits \"first\"",
            "n2 to -: at -, above -, leaves u2 m2 n2",
            "n2 to u2: at -, above u2, leaves m2 n2, edits \"second\"",
        ];
        check(&session, &moves);
    }

    #[test]
    fn a_compaction_does_not_stop_what_is_left() {
        let session = session(&[
            message("u1", "", "user", "first"),
            message("a1", "u1", "assistant", "one"),
            entry("compaction", "c1", "a1", r#""summary":"so far","firstKeptEntryId":"a1","tokensBefore":9"#),
            message("u2", "c1", "user", "second"),
        ]);
        let moves = [
            "u2 to u1: at -, above u1, leaves a1 c1 u2, edits \"first\"",
            "u2 to a1: at a1, above a1, leaves c1 u2",
            "u2 to c1: at c1, above c1, leaves u2",
        ];
        check(&session, &moves);
    }

    #[test]
    fn orphans_and_the_first_entry_of_a_loop_are_roots() {
        let session = session(&[
            message("u1", "gone", "user", "x"),
            message("l1", "l2", "user", "y"),
            message("l2", "l1", "user", "z"),
        ]);
        let moves =
            ["l2 to u1: at -, above -, leaves l1 l2, edits \"x\"", "l2 to l1: at -, above l1, leaves l2, edits \"y\""];
        check(&session, &moves);
    }

    #[test]
    fn messages_of_users_and_extensions_go_to_the_editor() {
        let custom = |id: &str, content: &str| {
            entry("custom_message", id, "u1", &format!(r#""customType":"x","content":{content},"display":true"#))
        };
        let blocks =
            r#"[{"type":"text","text":"one "},{"type":"image","data":"","mimeType":"x"},{"type":"text","text":"two"}]"#;
        let session = session(&[
            message("u1", "", "user", "first"),
            custom("c1", "\"words\\nmore\\n\""),
            custom("c2", blocks),
            custom("c3", "null"),
            entry("message", "u5", "u1", &format!(r#""message":{{"role":"user","content":{blocks}}}"#)),
            entry("message", "u6", "u1", r#""message":{"role":"user","content":null}"#),
            message("d1", "u1", "developer", "x"),
            message("s1", "u1", "system", "x"),
            message("x1", "u1", "custom", "x"),
            message("a9", "u1", "assistant", "x"),
        ]);
        let moves = [
            "a9 to c1: at u1, above u1, leaves a9, edits \"words\\nmore\\n\"",
            "a9 to c2: at u1, above u1, leaves a9, edits \"one two\"",
            "a9 to c3: at u1, above u1, leaves a9, edits \"\"",
            "a9 to u5: at u1, above u1, leaves a9, edits \"one two\"",
            "a9 to u6: at u1, above u1, leaves a9, edits \"\"",
            "a9 to d1: at d1, above u1, leaves a9",
            "a9 to s1: at s1, above u1, leaves a9",
            "a9 to x1: at x1, above u1, leaves a9",
        ];
        check(&session, &moves);
    }

    /// Checks the lines that a move from `b2` to `u2` (position `a1`), or to before the first entry, adds.
    #[track_caller]
    fn writes(trace: &Trace, at_root: bool, expected: &[&str]) {
        let (leaf, target) = if at_root { (None, None) } else { (Some("a1"), Some("u2")) };
        let parent = if at_root { "null" } else { "\"a1\"" };
        let expected: Vec<_> = expected.iter().map(|line| line.replace("$PARENT", parent)).collect();
        assert_eq!(drafted(leaf, |draft| trace.append(draft, target)), expected, "{trace:?}");
        assert_eq!(trace.is_empty(), *trace == Trace::default());
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
        let details = Some(r#"{"readFiles": []}"#);

        writes(&Trace::default(), false, &[]);
        writes(&Trace { save: true, ..Trace::default() }, false, &[mark]);
        writes(&Trace { save: true, ..Trace::default() }, true, &[mark]);
        // A summary saves by itself, and takes the label.
        for save in [false, true] {
            writes(&Trace { summary: summary(details, false), save, label: None }, false, &[&by_user]);
            let both = Trace { summary: summary(details, false), save, label: label() };
            writes(&both, false, &[&by_user, &labelled("n2", "\"n1\"", "n1")]);
        }
        writes(&Trace { summary: summary(None, true), ..Trace::default() }, true, &[&by_hook]);
        // Without one the label is for the target, even if its place is before the position.
        let only_label = Trace { label: label(), ..Trace::default() };
        writes(&only_label, false, &[&labelled("n1", "$PARENT", "u2")]);
        writes(&only_label, true, &[]);
        let saved = Trace { save: true, label: label(), summary: None };
        writes(&saved, false, &[mark, &labelled("n2", "\"n1\"", "u2")]);
    }
}
