//! Where a move goes, and what it leaves behind.

use crate::core::entry::prompt::Prompt;
use crate::core::entry::{Entry, Kind};
use crate::core::error::{Error, Result};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

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
    pub editor: Option<Prompt>,
    /// Whether the leaf is already there, so that nothing is done.
    pub is_noop: bool,
}

impl Move {
    /// Plans a move that takes back what the user or an extension sent.
    pub fn plan(bodies: &mut Bodies<'_>, old: Option<NodeId>, target: Option<NodeId>) -> Result<Self> {
        let session = bodies.session();
        let mut plan = Self::exact(session, old, target);
        if let Some(target) = target.filter(|&target| may_go_to_editor(session, target)) {
            let entry = bodies.entry(target)?;
            plan.editor = goes_to_editor(entry).then(|| Prompt::of(entry));
            if plan.editor.is_some() {
                plan.position = session.parent(target);
            }
        }
        Ok(plan)
    }

    /// Plans a move to the target itself, whatever it is.
    pub fn exact(session: &Session, old: Option<NodeId>, target: Option<NodeId>) -> Self {
        let (ancestor, abandoned) = abandoned(session, old, target);
        Self { old, target, ancestor, abandoned, position: target, editor: None, is_noop: old == target }
    }

    /// Refuses a move that the agent of the file would not follow.
    ///
    /// # Errors
    /// [`Error::Usage`] if it leads out of what is below the last reset of a file that stores its leaf.
    pub fn check(&self, session: &Session) -> Result<()> {
        let Some(reset) = session.reset() else { return Ok(()) };
        if session.is_below_reset(self.position) {
            return Ok(());
        }
        let message =
            format!("the leaf would not be below the reset `{}`, and agents would not follow", session.id(reset));
        let hint =
            "without `--save`, `--label` and a summary nothing is written, and `--leaf ENTRY` works from anywhere";
        Err(Error::usage(message, hint))
    }

    /// Returns the move of a leaf that stays where it is.
    pub(super) fn stay(self) -> Self {
        Self { ancestor: self.old, position: self.old, abandoned: Vec::new(), is_noop: true, ..self }
    }

    /// Returns the move of a leaf that stays, since it is a saved move to the place already.
    pub(super) fn stay_saved(self, saved: NodeId) -> Self {
        Self { old: Some(saved), ancestor: self.position, abandoned: Vec::new(), is_noop: true, ..self }
    }
}

/// Finds the common ancestor of two leaves and what only the old one has above it.
fn abandoned(session: &Session, old: Option<NodeId>, target: Option<NodeId>) -> (Option<NodeId>, Vec<NodeId>) {
    let kept = walk::active(session, target);
    let mut left: Vec<_> = session.ancestors(old).take_while(|node| !kept[node.index()]).collect();
    left.reverse();
    (session.ancestors(old).find(|node| kept[node.index()]), left)
}

/// Returns whether an entry is of a kind that a move may take back.
fn may_go_to_editor(session: &Session, node: NodeId) -> bool {
    let traits = session.traits(node);
    traits.kind == Kind::CustomMessage || traits.is_user()
}

/// Returns whether a move to an entry takes it back instead: what the user sent, and what an extension did.
/// A skill that nobody typed stays.
pub(super) fn goes_to_editor(entry: Entry<'_>) -> bool {
    let is_user = entry.traits().is_user();
    is_user || entry.kind() == Kind::CustomMessage && !entry.is_skill()
}

#[cfg(test)]
mod tests {
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{entry, forked, ids, label, message, node, session};

    use super::Move;

    /// Checks moves, each written as `OLD to TARGET: at POSITION, above ANCESTOR, leaves ENTRIES` and,
    /// for what is taken back, `, edits TEXT`.
    #[track_caller]
    fn check(session: &Session, moves: &[&str]) {
        for row in moves {
            let (old, target) = row.split_once(':').unwrap().0.split_once(" to ").unwrap();
            let made = Move::plan(&mut Bodies::new(session), node(session, old), node(session, target)).unwrap();
            let [position, ancestor] = [made.position, made.ancestor].map(|node| ids(session, node));
            let edits = made.editor.as_ref().map(|editor| format!(", edits {:?}", editor.text)).unwrap_or_default();
            let left = ids(session, made.abandoned.iter().copied());
            let found = format!("{old} to {target}: at {position}, above {ancestor}, leaves {left}{edits}");
            assert_eq!(found, *row);
            assert_eq!(made.is_noop, old == target, "{row}");
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
        let skill = |id: &str, who: &str| {
            let details = r#""details":{"name":"dig","args":"deep"}"#;
            let members = format!(r#""customType":"skill-prompt","content":"Dig.","attribution":"{who}",{details}"#);
            entry("custom_message", id, "u1", &members)
        };
        let session = session(&[
            message("u1", "", "user", "first"),
            custom("c1", "\"words\\nmore\\n\""),
            custom("c2", blocks),
            custom("c3", "null"),
            entry("message", "u5", "u1", &format!(r#""message":{{"role":"user","content":{blocks}}}"#)),
            entry("message", "u6", "u1", r#""message":{"role":"user","content":null}"#),
            skill("k1", "user"),
            skill("k2", "agent"),
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
            "a9 to k1: at u1, above u1, leaves a9, edits \"/skill:dig deep\"",
            "a9 to k2: at k2, above u1, leaves a9",
            "a9 to d1: at d1, above u1, leaves a9",
            "a9 to s1: at s1, above u1, leaves a9",
            "a9 to x1: at x1, above u1, leaves a9",
        ];
        check(&session, &moves);
    }

    #[test]
    fn a_move_to_above_the_last_reset_is_refused() {
        let session = session(&[
            message("u1", "", "user", "x"),
            entry("reset", "r1", "u1", ""),
            message("u2", "r1", "user", "x"),
            entry("reset", "r2", "u2", ""),
            message("u3", "r2", "user", "x"),
            message("a3", "u3", "assistant", "x"),
            entry("mode_change", "m1", "u1", r#""mode":"plan""#),
        ]);
        for (target, is_right) in [
            ("-", false),
            ("u1", false),
            ("r1", false),
            ("u2", false),
            ("m1", false),
            ("r2", true),
            ("u3", true),
            ("a3", true),
        ] {
            let plan = Move::plan(&mut Bodies::new(&session), session.leaf(), node(&session, target)).unwrap();
            let checked = plan.check(&session);
            assert_eq!(checked.is_ok(), is_right, "{target}");
            assert!(
                checked.err().is_none_or(|error| error.kind().name() == "usage" && error.to_string().contains("`r2`"))
            );
        }
        let session = self::session(&forked());
        let plan = Move::plan(&mut Bodies::new(&session), session.leaf(), None).unwrap();
        assert!(plan.check(&session).is_ok());
    }
}
