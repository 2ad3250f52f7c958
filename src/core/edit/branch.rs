//! Forking a session into a new file (help rules, "Branching").

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::Path;

use super::draft::{Draft, IdsAndTime};
pub use super::new_session::{NewSession, WrittenSession};
use super::tree_copy::TreeCopy;
use crate::core::disk::lock::LockWait;
use crate::core::disk::rights::Rights;
use crate::core::disk::write::{self, SideEffects};
use crate::core::entry::prompt::Prompt;
use crate::core::entry::{Kind, Role};
use crate::core::error::problem::{Problems, WarningKind};
use crate::core::error::{Error, Result};
use crate::core::json::Raw;
use crate::core::migrate::lines;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// What a new session holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The entry that was named.
    pub entry: NodeId,
    /// What the user sent where it forks.
    pub selected: Option<Prompt>,
    /// The entries to copy, in order, without labels.
    pub kept: Vec<NodeId>,
    /// The path with its labels.
    path: Vec<NodeId>,
}

/// What goes into a new session: one path, or a part of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchPlan {
    /// One path.
    Path(Fork),
    /// A part of the tree.
    Tree(TreeCopy),
}

impl BranchPlan {
    /// Returns the entry that was named, or, of a tree, the one where the copy stands.
    pub fn entry(&self) -> Option<NodeId> {
        match self {
            Self::Path(fork) => Some(fork.entry),
            Self::Tree(copy) => copy.leaf,
        }
    }

    /// Returns what the user sent where it forks.
    pub fn selected(&self) -> Option<&Prompt> {
        match self {
            Self::Path(fork) => fork.selected.as_ref(),
            Self::Tree(_) => None,
        }
    }

    /// Returns what the new session leaves out or leaves open.
    pub fn problems(&self, bodies: &mut Bodies<'_>) -> Result<Problems> {
        match self {
            Self::Path(fork) => fork.problems(bodies),
            Self::Tree(_) => Ok(Problems::default()),
        }
    }

    /// Writes the new session; `fresh` makes the ids of new entries.
    pub fn write(
        &self,
        bodies: &mut Bodies<'_>,
        new: &NewSession<'_>,
        fresh: &mut dyn FnMut() -> String,
        out: &mut dyn Write,
    ) -> Result<WrittenSession> {
        match self {
            Self::Path(fork) => fork.write(bodies, new, fresh, out),
            Self::Tree(copy) => copy.write(bodies, new, fresh, out),
        }
    }
}

/// Makes a new file of what `write` writes into it. Returns too what else was done, or could not be.
pub fn create(
    path: &Path,
    rights: &Rights,
    wait: LockWait<'_>,
    write: &mut dyn FnMut(&mut dyn Write) -> Result<WrittenSession>,
) -> Result<(WrittenSession, SideEffects)> {
    let mut written = WrittenSession::default();
    let effects = write::create(path, rights, wait, &mut |out| {
        written = write(out)?;
        Ok(())
    })?;
    Ok((written, effects))
}

impl Fork {
    /// Plans a fork before a user message; any other entry is refused ([`Error::NotAUserMessage`]).
    pub fn before(bodies: &mut Bodies<'_>, entry: NodeId) -> Result<Self> {
        let session = bodies.session();
        if !session.is_user(entry) {
            let mut above = session.ancestors(session.parent(entry));
            let nearest = above.find(|&node| session.is_user(node)).map(|node| session.id(node).to_owned());
            let what = what_is(session, entry);
            return Err(Error::NotAUserMessage { id: session.id(entry).to_owned(), what, nearest });
        }
        let selected = Some(Prompt::of(bodies.entry(entry)?));
        Ok(Self { selected, ..Self::up_to(session, entry, session.parent(entry)) })
    }

    /// Plans a copy up to and including an entry.
    pub fn at(session: &Session, entry: NodeId) -> Self {
        Self::up_to(session, entry, Some(entry))
    }

    fn up_to(session: &Session, entry: NodeId, last: Option<NodeId>) -> Self {
        let path = walk::path(session, last);
        let kept = path.iter().copied().filter(|&node| !is_label(session, node)).collect();
        Self { entry, selected: None, kept, path }
    }

    /// Returns what the new session leaves out or leaves open.
    pub fn problems(&self, bodies: &mut Bodies<'_>) -> Result<Problems> {
        let session = bodies.session();
        let mut problems = Problems::default();
        let first = self.kept.first().copied().unwrap_or(self.entry);
        if session.parent(first).is_none() && session.is_cut(first) {
            let message = || "the path is cut here: the new session starts at this entry".to_owned();
            problems.push(WarningKind::Unreachable, Some(session.line(first)), message);
        }
        let last = session.line(*self.kept.last().unwrap_or(&self.entry));
        for call in unanswered(bodies, &self.kept)? {
            let message = || format!("tool call `{call}` has no result in the new session; providers may refuse it");
            problems.push(WarningKind::UnansweredCall, Some(last), message);
        }
        Ok(problems)
    }

    /// Writes the new session; `fresh` makes ids for the labels.
    pub fn write(
        &self,
        bodies: &mut Bodies<'_>,
        new: &NewSession<'_>,
        fresh: &mut dyn FnMut() -> String,
        out: &mut dyn Write,
    ) -> Result<WrittenSession> {
        let session = bodies.session();
        let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(|cause| Error::writing("cannot write", cause));
        put(&new.header(session))?;
        let next_kept = self.next_kept(session);
        let mut parent: Option<&str> = None;
        for &node in &self.kept {
            let entry = bodies.entry(node)?;
            let mut changes = Vec::new();
            let is_right = entry.get("parentId").is_some_and(|named| match parent {
                Some(parent) => named.str().as_deref() == Some(parent),
                None => named.is_null(),
            });
            if !is_right {
                changes.push(("parentId", parent));
            }
            if entry.is_aside() {
                // On the path it is part of the conversation, and what comes next hangs at it.
                changes.push(("appendMode", None));
            }
            if matches!(entry.kind(), Kind::Compaction | Kind::Reset) {
                for name in ["firstKeptEntryId", "providerReplayThroughEntryId"] {
                    let next = entry.get_id(name).and_then(|id| next_kept.get(id.as_ref()).copied());
                    changes.extend(next.map(|next| (name, Some(next))));
                }
            }
            let mut line = lines::with_ids(entry.object().bytes(), &changes).into_owned();
            if let Some(stand_ins) = new.stand_ins {
                line = stand_ins.line(&line);
            }
            let (before, after) = bodies.blanks(node)?;
            for piece in [&before[..], &line, &after, b"\n"] {
                put(piece)?;
            }
            parent = Some(session.id(node));
        }
        let kept: HashSet<&str> = self.kept.iter().map(|&node| session.id(node)).collect();
        let is_taken = |id: &str| session.find(id).is_some();
        let now = || new.now.clone();
        let mut ids = IdsAndTime { now: &now, fresh };
        let mut draft = Draft::new(&mut ids, parent.map(str::to_owned), &is_taken);
        for label in session.labels().iter().filter(|label| kept.contains(label.target_id.as_str())) {
            let entry = bodies.entry(label.set_by)?;
            let name = new.stand_ins.map_or_else(|| label.name.clone(), |stand_ins| stand_ins.text(&label.name));
            draft.append_at("label", entry.timestamp().map(Raw::bytes), |entry| {
                entry.id("targetId", &label.target_id).str("label", &name);
            });
        }
        put(&draft.lines)?;
        let labels = draft.ids.len();
        Ok(WrittenSession { entries: self.kept.len() + labels, labels, leaf: draft.leaf().map(str::to_owned) })
    }

    /// Returns for each label on the path the next entry that is kept.
    fn next_kept<'s>(&self, session: &'s Session) -> HashMap<&'s str, &'s str> {
        let mut next = HashMap::new();
        let mut waiting: Vec<NodeId> = Vec::new();
        for &node in &self.path {
            if is_label(session, node) {
                waiting.push(node);
            } else {
                next.extend(waiting.drain(..).map(|label| (session.id(label), session.id(node))));
            }
        }
        next
    }
}

fn is_label(session: &Session, node: NodeId) -> bool {
    session.traits(node).kind == Kind::Label
}

/// Finds the tool calls at the end of a path that have no result on it.
fn unanswered(bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<Vec<String>> {
    let session = bodies.session();
    let role = |node: NodeId| session.traits(node).role;
    let Some(at) = path.iter().rposition(|&node| role(node) == Role::Assistant) else { return Ok(Vec::new()) };
    let entry = bodies.entry(path[at])?;
    let calls: Vec<_> = entry.calls().filter_map(|call| Some(call.id()?.into_owned())).collect();
    let mut answered = HashSet::new();
    for &node in path[at + 1..].iter().filter(|&&node| role(node) == Role::ToolResult) {
        answered.extend(bodies.entry(node)?.tool_call_id().map(|id| id.into_owned()));
    }
    Ok(calls.into_iter().filter(|call| !answered.contains(call)).collect())
}

/// Returns what an entry is, for people.
fn what_is(session: &Session, node: NodeId) -> String {
    let traits = session.traits(node);
    match (traits.kind, session.role_name(node)) {
        (Kind::Message, Some(role)) => format!("a message of role {role}"),
        (kind, _) => format!("an entry of type {}", kind.name().unwrap_or("unknown")),
    }
}

#[cfg(test)]
mod tests {
    use crate::core::edit::draft::numbered;
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{
        HEADER, calls, entry, forked, ids, label, message, node, read, result, session,
    };

    use super::{Fork, NewSession};

    /// A fork as it is written, without the header.
    struct WrittenLines {
        fork: Fork,
        lines: Vec<Vec<u8>>,
    }

    /// Forks before an entry, or, with `--at ENTRY`, after it; checks what all forks have in common:
    /// each entry is the parent of the next, labels come last, and what was written is counted.
    #[track_caller]
    fn fork(session: &Session, args: &str) -> WrittenLines {
        let mut bodies = Bodies::new(session);
        let fork = match args.strip_prefix("--at ") {
            Some(id) => Fork::at(session, node(session, id).unwrap()),
            None => Fork::before(&mut bodies, node(session, args).unwrap()).unwrap(),
        };
        let new = NewSession { id: "new".to_owned(), now: "T".to_owned(), parent: None, stand_ins: None };
        let mut bytes = Vec::new();
        let written = fork.write(&mut bodies, &new, &mut numbered(), &mut bytes).unwrap();
        let copy = read(&bytes);
        let order: Vec<_> = copy.nodes().collect();
        let mut parents = order.iter().map(|&node| copy.parent(node));
        assert!(parents.next().is_none_or(|first| first.is_none()), "{args}");
        assert!(parents.eq(order.iter().map(|&node| Some(node)).take(order.len().saturating_sub(1))), "{args}");
        let labels = order.iter().rev().take_while(|&&node| super::is_label(&copy, node)).count();
        assert_eq!(ids(&copy, order[..order.len() - labels].iter().copied()), ids(session, fork.kept.iter().copied()));
        assert_eq!((written.entries, written.labels), (order.len(), labels), "{args}");
        assert_eq!(written.leaf.as_deref(), copy.leaf().map(|leaf| copy.id(leaf)), "{args}");
        let lines = bytes.strip_suffix(b"\n").unwrap().split(|&byte| byte == b'\n').skip(1);
        WrittenLines { fork, lines: lines.map(<[u8]>::to_vec).collect() }
    }

    /// Returns the label entries of a fork.
    fn labels(made: &WrittenLines) -> Vec<String> {
        made.lines[made.fork.kept.len()..].iter().map(|line| String::from_utf8(line.clone()).unwrap()).collect()
    }

    /// Checks which entries a fork keeps.
    #[track_caller]
    fn check(session: &Session, args: &str, kept: &str) {
        assert_eq!(ids(session, fork(session, args).fork.kept), kept, "{args}");
    }

    #[test]
    fn a_fork_keeps_the_path_before_a_prompt_or_up_to_an_entry() {
        let session = session(&forked());
        check(&session, "b1", "u1 a1");
        check(&session, "u1", "-");
        check(&session, "--at b1", "u1 a1 b1");
        check(&session, "--at b2", "u1 a1 b1 b2");
        check(&session, "--at a2", "u1 a1 u2 a2");
        let before = fork(&session, "b1").fork;
        assert_eq!(
            (ids(&session, [before.entry]), before.selected.map(|prompt| prompt.text).as_deref()),
            ("b1".to_owned(), Some("other"))
        );
        assert_eq!(fork(&session, "--at b1").fork.selected, None);
    }

    #[test]
    fn only_a_prompt_can_be_forked_before() {
        let mut lines = forked();
        lines.extend([
            entry("compaction", "c1", "b2", r#""summary":"s","tokensBefore":1"#),
            entry("custom_message", "c2", "c1", r#""customType":"x","content":"words","display":true"#),
            label("L1", "", "u1", "x"),
        ]);
        let session = session(&lines);
        for (id, what, hint) in [
            ("a1", "a message of role assistant", "above it, `u1`"),
            ("t2", "a message of role toolResult", "above it, `u2`"),
            ("c1", "an entry of type compaction", "above it, `b1`"),
            ("c2", "an entry of type custom_message", "above it, `b1`"),
            ("L1", "an entry of type label", "copy up to it with `--at L1`"),
        ] {
            let error = Fork::before(&mut Bodies::new(&session), node(&session, id).unwrap()).unwrap_err();
            assert_eq!(error.kind().name(), "not-a-user-message", "{id}");
            assert!(error.to_string().contains(what) && error.hint().unwrap().contains(hint), "{error} {hint}");
        }
    }

    #[test]
    fn a_path_starts_where_it_is_cut() {
        let session = session(&[
            message("u1", "", "user", "first"),
            message("u2", "gone", "user", "after the gap"),
            message("a2", "u2", "assistant", "x"),
            message("l1", "l3", "user", "loop"),
            message("l2", "l1", "assistant", "loop"),
            message("l3", "l2", "user", "loop"),
        ]);
        check(&session, "u2", "-");
        check(&session, "--at a2", "u2 a2");
        check(&session, "l3", "l1 l2");
        check(&session, "--at l1", "l1");
        let made = fork(&session, "--at a2");
        let expected = message("u2", "", "user", "after the gap");
        assert_eq!(String::from_utf8_lossy(&made.lines[0]), expected, "only the parent is another one");
    }

    #[test]
    fn labels_are_taken_out_of_the_path_and_set_again_at_the_end() {
        let session = session(&[
            message("u1", "", "user", "first"),
            label("L1", "u1", "u1", "start"),
            message("a1", "L1", "assistant", "one"),
            label("L2", "a1", "a1", "good"),
            label("L3", "L2", "u1", "renamed"),
            message("u2", "L3", "user", "second"),
        ]);
        let made = fork(&session, "--at u2");
        assert_eq!(ids(&session, made.fork.kept.iter().copied()), "u1 a1 u2");
        let set = |id: &str, parent: &str, target: &str, name: &str| label(id, parent, target, name);
        assert_eq!(labels(&made), [set("n1", "u2", "u1", "renamed"), set("n2", "n1", "a1", "good")]);
        check(&session, "u2", "u1 a1");
        check(&session, "--at L1", "u1");
    }

    #[test]
    fn labels_come_in_the_order_in_which_their_targets_were_first_labelled() {
        let mut entries = vec![
            message("u1", "", "user", "1"),
            message("a1", "u1", "assistant", "2"),
            message("u2", "a1", "user", "3"),
            message("off", "u1", "user", "elsewhere"),
        ];
        let mut parent = "off".to_owned();
        for (at, (target, name)) in [
            ("u2", "two"),
            ("a1", "one"),
            ("u1", "gone"),
            ("u2", "two again"),
            ("a1", ""),
            ("off", "off"),
            ("a1", "one again"),
            ("u1", ""),
            ("nowhere", "lost"),
        ]
        .into_iter()
        .enumerate()
        {
            let id = format!("L{at}");
            entries.push(label(&id, &parent, target, name).replace("00:00:01.", &format!("00:01:{at:02}.")));
            parent = id;
        }
        entries.push(message("last", "u2", "assistant", "4"));
        let made = fork(&session(&entries), "--at last");
        let set = |id: &str, parent: &str, target: &str, name: &str, second: &str| {
            label(id, parent, target, name).replace("00:00:01.", &format!("00:01:{second}."))
        };
        let expected = [set("n1", "last", "u2", "two again", "03"), set("n2", "n1", "a1", "one again", "06")];
        assert_eq!(labels(&made), expected);
    }

    #[test]
    fn a_label_keeps_its_time_as_it_is_stored() {
        let plain = "\"2026-01-01T00:00:01.000Z\"";
        for (stored, kept) in [
            ("1767607201000", "1767607201000"),
            ("\"yesterday\"", "\"yesterday\""),
            ("\"2026-01-05T10:00:05+01:00\"", "\"2026-01-05T10:00:05+01:00\""),
            ("1.5e9", "1.5e9"),
        ] {
            let set = label("L1", "u1", "u1", "x").replace(plain, stored);
            let made = fork(&session(&[message("u1", "", "user", "1"), set]), "--at u1");
            assert_eq!(labels(&made), [label("n1", "u1", "u1", "x").replace(plain, kept)]);
        }
        let timeless = label("L1", "u1", "u1", "x").replace(&format!(r#","timestamp":{plain}"#), "");
        let made = fork(&session(&[message("u1", "", "user", "1"), timeless]), "--at u1");
        assert_eq!(labels(&made), [label("n1", "u1", "u1", "x").replace(plain, "\"T\"")]);
    }

    #[test]
    fn a_path_of_labels_alone_leaves_nothing_to_keep() {
        let session =
            session(&[label("L0", "", "u1", "early"), label("L1", "L0", "x", "y"), message("u1", "L1", "user", "x")]);
        check(&session, "u1", "-");
        check(&session, "--at L0", "-");
        let made = fork(&session, "--at u1");
        assert_eq!(ids(&session, made.fork.kept.iter().copied()), "u1");
        assert_eq!(labels(&made), [label("n1", "u1", "u1", "early")]);
    }

    #[test]
    fn a_compaction_that_kept_from_a_label_keeps_from_the_next_entry() {
        let compaction = |kept: &str, replay: &str| {
            format!(
                r#""summary":"s","firstKeptEntryId":"{kept}","tokensBefore":1,"providerReplayThroughEntryId":"{replay}""#
            )
        };
        for (kept, expected) in
            [("L1", "a1"), ("L2", "a1"), ("L3", "c1"), ("u1", "u1"), ("c1", "c1"), ("gone", "gone"), ("", "")]
        {
            for (replay, through) in [("L1", "a1"), ("u1", "u1"), ("gone", "gone")] {
                let session = session(&[
                    message("u1", "", "user", "1"),
                    label("L1", "u1", "u1", "x"),
                    label("L2", "L1", "u1", "y"),
                    message("a1", "L2", "assistant", "2"),
                    label("L3", "a1", "u1", "z"),
                    entry("compaction", "c1", "L3", &compaction(kept, replay)),
                    message("u2", "c1", "user", "3"),
                ]);
                let made = fork(&session, "--at u2");
                let expected = entry("compaction", "c1", "a1", &compaction(expected, through));
                assert_eq!(String::from_utf8_lossy(&made.lines[2]), expected, "{kept} {replay}");
            }
        }
    }

    #[test]
    fn what_was_beside_the_conversation_is_part_of_its_fork() {
        let session = session(&[
            message("u1", "", "user", "x"),
            message("s1", "u1", "user", "x").replacen('{', r#"{"appendMode":"side","#, 1),
            entry("leaf", "x1", "s1", r#""targetId":"s1""#),
            label("l1", "x1", "u1", "a"),
            message("u2", "x1", "user", "x"),
            entry("reset", "r1", "u2", r#""firstKeptEntryId":"l1""#),
            message("u3", "r1", "user", "x"),
        ]);
        let made = fork(&session, "--at u3");
        assert_eq!(ids(&session, made.fork.kept.iter().copied()), "u1 s1 u2 r1 u3");
        let text = String::from_utf8(made.lines.join(&b'\n')).unwrap();
        assert!(text.contains(r#"{"appendMode":null,"#) && text.contains(r#""id":"u2","parentId":"s1""#), "{text}");
        assert!(text.contains(r#""firstKeptEntryId":"l1""#), "it is not on the path: {text}");
    }

    #[test]
    fn lines_are_copied_to_the_byte() {
        let odd = [
            r#"{ "type" : "message","id":"u1", "parentId":null,"n":1E5,"big":12345678901234567890,"message":{"role":"user","content":"\ud83d \u00e9 \/"}}"#.as_bytes(),
            b"{\"type\":\"message\",\"id\":\"a1\",\"parentId\":\"u1\",\"message\":{\"role\":\"assistant\",\"content\":\"bad \xff\xfe utf-8\"},\"x\":[ ]}\r",
            r#"  {"type":"from_the_future","id":"f1","parentId":"a1","deep":{"er":[{"est":null}]},"dup":1,"dup":2} "#.as_bytes(),
        ];
        let set = label("L1", "f1", "u1", "x");
        let child = |parent: &str| {
            let start = format!(
                r#"{{"parentId" : "{parent}" , "type":"message","id":"u2","message":{{"role":"user","content":""#
            );
            [start.as_bytes(), b"\xc3( \\ud83d\"}}"].concat()
        };
        let lines = [HEADER.as_bytes(), odd[0], odd[1], b"{\"malformed", odd[2], set.as_bytes(), &child("L1")];
        let session = read(&[&lines.join(&b'\n')[..], b"\n"].concat());
        let made = fork(&session, "--at u2");
        assert_eq!(made.lines[..3], odd.map(<[u8]>::to_vec), "malformed lines are in no path");
        assert_eq!(made.lines[3], child("f1"), "only the parent is another one");
    }

    #[test]
    fn an_id_that_stands_twice_is_copied_once() {
        let session = session(&[
            message("u1", "", "user", "old"),
            message("a1", "u1", "assistant", "x"),
            message("u1", "", "user", "new"),
            message("u2", "a1", "user", "y"),
        ]);
        let made = fork(&session, "--at u2");
        assert_eq!(ids(&session, made.fork.kept.iter().copied()), "u1 a1 u2");
        assert_eq!(String::from_utf8_lossy(&made.lines[0]), message("u1", "", "user", "new"));
    }

    #[test]
    fn a_fork_warns_of_a_cut_path_and_of_calls_of_the_last_answer_without_a_result() {
        let session = session(&[
            message("u1", "", "user", "x"),
            calls("a1", "u1", &[("read", "x"), ("read", "y")]),
            result("t1", "a1", "call-0"),
            result("t2", "t1", "call-1"),
            result("t3", "a1", "call-1"),
            message("a2", "a1", "assistant", "never mind"),
            message("o1", "gone", "user", "orphan"),
            message("o2", "o1", "user", "child of it"),
        ]);
        for (args, expected) in [
            ("u1", ""),
            ("--at u1", ""),
            ("--at a1", "3 unanswered-call call-0, 3 unanswered-call call-1"),
            ("--at t1", "4 unanswered-call call-1"),
            ("--at t2", ""),
            ("--at t3", "6 unanswered-call call-0"),
            ("--at a2", ""),
            ("o1", "8 unreachable cut"),
            ("--at o1", "8 unreachable cut"),
            ("--at o2", "8 unreachable cut"),
        ] {
            let problems = fork(&session, args).fork.problems(&mut Bodies::new(&session)).unwrap().list();
            let words = ["call-0", "call-1", "cut"];
            let found = problems.iter().map(|problem| {
                let word = words.iter().find(|word| problem.message.contains(**word)).unwrap();
                format!("{} {} {word}", problem.line.unwrap(), problem.kind.name())
            });
            assert_eq!(found.collect::<Vec<_>>().join(", "), expected, "{args}");
        }
    }
}
