//! Builds a context by the shared rules (help rules, "Context"): which entries along a path add a message, and
//! in which order.

use std::collections::{HashMap, HashSet};

use super::rules::Rules;
use super::{Context, ContextMessage, Settings, remote_history};
use crate::core::entry::{BlockKind, Entry, Kind, Role};
use crate::core::error::Result;
use crate::core::error::problem::WarningKind;
use crate::core::json::{self, Raw};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// Builds the context at a leaf, or before the first entry.
pub fn build(bodies: &mut Bodies<'_>, leaf: Option<NodeId>) -> Result<Context> {
    build_by(Rules::Shared, bodies, leaf)
}

/// Builds the context of [`build`], as far as pi's rules are the shared ones.
pub(super) fn build_by(rules: Rules, bodies: &mut Bodies<'_>, leaf: Option<NodeId>) -> Result<Context> {
    let session = bodies.session();
    let path = walk::path(session, leaf);
    let settings = Settings::along(bodies, &path)?;
    let context = Context { leaf, rules, settings, ..Context::default() };
    let mut collector = ContextBuilder { edits: edits(bodies, &path)?, context };
    collector.collect(bodies, &path)?;
    collector.warn_of_cut(session, &path);
    Ok(collector.context)
}

/// The last edit of each edited entry, and whether it removes the entry.
type Edits = HashMap<NodeId, (NodeId, bool)>;

/// Returns what the `context_edit` entries on a path do.
fn edits(bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<Edits> {
    let session = bodies.session();
    let mut edits = Edits::new();
    for &edit in path.iter().filter(|&&node| session.traits(node).kind == Kind::ContextEdit) {
        let entry = bodies.entry(edit)?;
        if let Some(target) = entry.get_str("targetId").and_then(|id| session.find(&id)) {
            edits.insert(target, (edit, entry.get("replacement").is_none_or(Raw::is_null)));
        }
    }
    Ok(edits)
}

/// Returns all messages of a path, as if nothing on it took earlier ones away but edits on `edited`.
pub(super) fn messages_along(
    rules: Rules,
    bodies: &mut Bodies<'_>,
    path: &[NodeId],
    edited: &[NodeId],
) -> Result<Vec<ContextMessage>> {
    let context = Context { rules, ..Context::default() };
    let mut collector = ContextBuilder { edits: edits(bodies, edited)?, context };
    collector.take_all(bodies, path, None)?;
    Ok(collector.context.messages)
}

/// Collects the messages along a path.
struct ContextBuilder {
    edits: Edits,
    context: Context,
}

impl ContextBuilder {
    fn collect(&mut self, bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<()> {
        let session = bodies.session();
        let kind = |node: &NodeId| session.traits(*node).kind;
        let is_pi = self.context.rules == Rules::Pi;
        // pi does not know resets.
        let cuts = |node: &NodeId| match kind(node) {
            Kind::Compaction => true,
            Kind::ResetBoundary | Kind::Reset => !is_pi,
            _ => false,
        };
        let Some(at) = path.iter().rposition(cuts) else {
            return self.take_all(bodies, path, None);
        };
        match kind(&path[at]) {
            Kind::Compaction => {
                let kept = self.compaction(bodies, path, at)?;
                self.take_all(bodies, &path[kept..at], Some(Role::System))?;
            }
            Kind::Reset => {
                let first = bodies.entry(path[at])?.get_str("firstKeptEntryId").unwrap_or_default().into_owned();
                let kept = self.first_kept(session, &path[..=at], &first).unwrap_or(at);
                let turns = turns(bodies, &path[kept..at])?;
                self.take_all(bodies, &turns, None)?;
            }
            _ => {}
        }
        self.take_all(bodies, &path[at + 1..], None)
    }

    /// Adds the compaction's own messages, and returns the place on the path of the first kept entry.
    fn compaction(&mut self, bodies: &mut Bodies<'_>, path: &[NodeId], at: usize) -> Result<usize> {
        let session = bodies.session();
        let node = path[at];
        let entry = bodies.entry(node)?;
        if entry.get("systemMessage").is_some_and(|message| message.kind() == json::ValueKind::Object) {
            self.context.messages.push(ContextMessage::System(node));
        }
        let is_pi = self.context.rules == Rules::Pi;
        let summary = if is_pi { ContextMessage::PiCompaction(node) } else { ContextMessage::Compaction(node) };
        self.context.messages.push(summary);
        if !is_pi && remote_history(entry).is_some() {
            let through = entry.get_str("providerReplayThroughEntryId").and_then(|id| place(session, &path[..at], &id));
            return Ok(through.map_or(at, |through| through + 1));
        }
        let first = entry.get_str("firstKeptEntryId").unwrap_or_default();
        Ok(self.first_kept(session, &path[..=at], &first).unwrap_or(at))
    }

    /// Returns the place of the first entry that the last one of a path keeps.
    fn first_kept(&mut self, session: &Session, path: &[NodeId], first: &str) -> Option<usize> {
        let (&node, before) = path.split_last()?;
        let kept = place(session, before, first);
        if kept.is_none() && !first.is_empty() && first != session.id(node) {
            let what = if session.traits(node).kind == Kind::Reset { "reset" } else { "compaction" };
            let message = format!(
                "{what} `{}` keeps from `{first}` on, which is not on its path: nothing before it is shown",
                session.id(node)
            );
            self.context.problems.push(WarningKind::KeptRangeUnknown, Some(session.line(node)), || message);
        }
        kept
    }

    fn take_all(&mut self, bodies: &mut Bodies<'_>, nodes: &[NodeId], without: Option<Role>) -> Result<()> {
        let session = bodies.session();
        for &node in nodes {
            let traits = session.traits(node);
            let is_message = traits.kind == Kind::Message;
            if is_message && without == Some(traits.role) {
                continue;
            }
            // pi takes out anything, and edits what an extension said as a message too.
            let is_pi = self.context.rules == Rules::Pi;
            if is_message && !traits.role.is_known() {
                let message = || format!("message `{}` has no known role: no model gets it", session.id(node));
                self.context.problems.push(WarningKind::MalformedMessage, Some(session.line(node)), message);
                // pi holds anything.
                if !is_pi || bodies.entry(node)?.message().is_none_or(Raw::is_null) {
                    continue;
                }
            }
            let item = match traits.kind {
                Kind::Message => ContextMessage::Stored(node),
                Kind::CustomMessage => ContextMessage::Custom(node),
                Kind::BranchSummary if has_summary(bodies.entry(node)?) => ContextMessage::Branch(node),
                _ => continue,
            };
            let is_editable = can_be_edited(traits.kind, traits.role);
            match self.edits.get(&node).filter(|_| is_editable || is_pi) {
                Some((_, true)) => {}
                Some(&(edit, false)) if is_editable || traits.role == Role::Custom => {
                    self.context.messages.push(ContextMessage::Edited { target: node, edit })
                }
                _ => self.context.messages.push(item),
            }
        }
        Ok(())
    }

    /// Adds a warning if the path starts at an orphan, above which nothing can be reached.
    fn warn_of_cut(&mut self, session: &Session, path: &[NodeId]) {
        let Some(&root) = path.first() else { return };
        let Some(missing) = session.missing_parent(root) else { return };
        let message = format!(
            "the path starts at `{}`, whose parent `{missing}` is missing: {} earlier entries cannot be reached",
            session.id(root),
            root.index()
        );
        self.context.problems.push(WarningKind::Unreachable, Some(session.line(root)), || message);
    }
}

/// Returns whether a branch summary says anything; an empty one adds no message.
fn has_summary(entry: Entry<'_>) -> bool {
    entry.get_str("summary").is_some_and(|summary| !summary.is_empty())
}

/// Returns the place of an id on a path.
fn place(session: &Session, path: &[NodeId], id: &str) -> Option<usize> {
    path.iter().rposition(|&node| session.id(node) == id)
}

/// Returns what a reset keeps of a stretch of conversation: prompts, answers, and results of the calls in
/// them.
fn turns(bodies: &mut Bodies<'_>, stretch: &[NodeId]) -> Result<Vec<NodeId>> {
    let session = bodies.session();
    let mut calls: HashSet<String> = HashSet::new();
    let mut turns = Vec::new();
    for &node in stretch {
        let is_kept = match session.traits(node).role {
            Role::User => true,
            Role::Assistant => {
                let blocks = bodies.entry(node)?.blocks();
                let ids = blocks.filter(|block| block.kind() == BlockKind::ToolCall).filter_map(|call| call.id());
                calls.extend(ids.map(|id| id.into_owned()));
                true
            }
            Role::ToolResult => bodies.entry(node)?.tool_call_id().is_some_and(|call| calls.contains(call.as_ref())),
            _ => false,
        };
        if is_kept {
            turns.push(node);
        }
    }
    Ok(turns)
}

fn can_be_edited(kind: Kind, role: Role) -> bool {
    match kind {
        Kind::CustomMessage => true,
        Kind::Message => matches!(role, Role::User | Role::Assistant | Role::ToolResult),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{chain, entry, ids, label, message, node, session};

    use super::{Context, ContextMessage, WarningKind, build};

    fn context(session: &Session, leaf: &str) -> Context {
        build(&mut Bodies::new(session), node(session, leaf)).unwrap()
    }

    /// Returns the messages of a context by the entries that they come from.
    fn messages(session: &Session, messages: &[ContextMessage]) -> String {
        let item = |item: &ContextMessage| {
            let id = session.id(item.node());
            match *item {
                ContextMessage::Stored(_) => id.to_owned(),
                ContextMessage::Edited { edit, .. } => format!("{id}={}", session.id(edit)),
                ContextMessage::Custom(_) => format!("custom:{id}"),
                ContextMessage::Branch(_) => format!("branch:{id}"),
                ContextMessage::System(_) => format!("system:{id}"),
                ContextMessage::Compaction(_) => format!("compaction:{id}"),
                _ => unreachable!("only agents of their own have other messages"),
            }
        };
        messages.iter().map(item).collect::<Vec<_>>().join(" ")
    }

    /// Checks contexts, each a leaf and its messages.
    #[track_caller]
    fn check(session: &Session, contexts: &[(&str, &str)]) {
        for (leaf, expected) in contexts {
            let context = context(session, leaf);
            assert_eq!(messages(session, &context.messages), *expected, "at {leaf}");
            assert_eq!(ids(session, context.leaf), *leaf);
        }
    }

    #[test]
    fn messages_come_in_the_order_of_the_path() {
        let session = chain(&[
            ("user", "u1", "x"),
            ("model_change", "m1", r#""model":"a/b""#),
            ("assistant", "a1", "x"),
            ("custom_message", "c1", r#""customType":"x","content":"x""#),
            ("custom", "x1", r#""customType":"x","data":1"#),
            ("branch_summary", "b1", r#""fromId":"u1","summary":"tried""#),
            ("branch_summary", "b2", r#""fromId":"u1","summary":"""#),
            ("branch_summary", "b3", r#""fromId":"u1""#),
            ("toolResult", "t1", "x"),
            ("from_the_future", "f1", ""),
        ]);
        check(&session, &[("f1", "u1 a1 custom:c1 branch:b1 t1"), ("m1", "u1"), ("u1", "u1"), ("-", "")]);
        let roles = context(&session, "f1").messages.iter().map(|item| item.role(&session)).collect::<Vec<_>>();
        assert_eq!(roles, ["user", "assistant", "custom", "branchSummary", "toolResult"]);
    }

    #[test]
    fn each_branch_has_its_own_messages() {
        let session = session(&[
            message("u1", "", "user", "first"),
            message("a1", "u1", "assistant", "one"),
            message("u2", "a1", "user", "second"),
            message("u3", "a1", "user", "other"),
            label("L1", "u3", "u2", "x"),
        ]);
        check(&session, &[("L1", "u1 a1 u3"), ("u3", "u1 a1 u3"), ("u2", "u1 a1 u2")]);
    }

    #[test]
    fn the_last_compaction_counts_and_keeps_from_its_entry_on() {
        let compacted = |members: &str| {
            chain(&[
                ("user", "u1", "x"),
                ("compaction", "c1", r#""summary":"older","firstKeptEntryId":"u1""#),
                ("system", "s1", "rules"),
                ("user", "u2", "x"),
                ("assistant", "a2", "x"),
                ("compaction", "c2", members),
                ("user", "u3", "x"),
            ])
        };
        let kept = |id: &str| format!(r#""summary":"s","firstKeptEntryId":"{id}""#);
        for (members, expected) in [
            (kept("a2"), "compaction:c2 a2 u3"),
            (kept("u2"), "compaction:c2 u2 a2 u3"),
            // System messages before it are gone: it has its own.
            (kept("u1"), "compaction:c2 u1 u2 a2 u3"),
            (kept("u1") + r#","systemMessage":{"role":"system","content":"x"}"#, "system:c2 compaction:c2 u1 u2 a2 u3"),
            (kept("u1") + r#","systemMessage":"x""#, "compaction:c2 u1 u2 a2 u3"),
            // An entry that is not before it on the path: nothing is kept.
            (kept("c2"), "compaction:c2 u3"),
            (kept("u3"), "compaction:c2 u3"),
            (kept("gone"), "compaction:c2 u3"),
            (kept(""), "compaction:c2 u3"),
            (r#""summary":"s""#.to_owned(), "compaction:c2 u3"),
        ] {
            let session = compacted(&members);
            check(&session, &[("u3", expected), ("a2", "compaction:c1 u1 s1 u2 a2")]);
            let is_warned =
                context(&session, "u3").problems.list().iter().any(|problem| problem.message.contains("keeps from"));
            assert_eq!(is_warned, members.contains("gone") || members.contains("\"u3\""), "{members}");
        }
    }

    #[test]
    fn a_remote_history_replaces_the_kept_messages() {
        let compacted = |provider: &str, history: &str, through: &str| {
            let remote =
                format!(r#"{{"openaiRemoteCompaction":{{"provider":{provider},"replacementHistory":{history}}}}}"#);
            let members = format!(r#""summary":"s","firstKeptEntryId":"u1","preserveData":{remote}{through}"#);
            chain(&[("user", "u1", "x"), ("user", "u2", "x"), ("compaction", "c1", &members), ("user", "u3", "x")])
        };
        let through = |id: &str| format!(r#","providerReplayThroughEntryId":"{id}""#);
        for (provider, history, through, expected) in [
            ("\"openai\"", "[]", String::new(), "compaction:c1 u3"),
            ("\"openai\"", "[]", through("u1"), "compaction:c1 u2 u3"),
            ("\"openai\"", "[]", through("u2"), "compaction:c1 u3"),
            ("\"openai\"", "[]", through("gone"), "compaction:c1 u3"),
            // Provider or history cannot be used.
            ("\"\"", "[]", through("u1"), "compaction:c1 u1 u2 u3"),
            ("7", "[]", through("u1"), "compaction:c1 u1 u2 u3"),
            ("\"openai\"", "{}", through("u1"), "compaction:c1 u1 u2 u3"),
        ] {
            check(&compacted(provider, history, &through), &[("u3", expected)]);
        }
    }

    #[test]
    fn a_reset_hides_what_is_before_it_unless_a_compaction_follows() {
        let session = chain(&[
            ("user", "u1", "x"),
            ("compaction", "c1", r#""summary":"s","firstKeptEntryId":"u1""#),
            ("reset_boundary", "r1", ""),
            ("user", "u2", "x"),
            ("compaction", "c2", r#""summary":"s","firstKeptEntryId":"u1""#),
            ("user", "u3", "x"),
        ]);
        check(&session, &[("r1", ""), ("u2", "u2"), ("u3", "compaction:c2 u1 u2 u3")]);
    }

    #[test]
    fn a_reset_of_openclaw_keeps_prompts_answers_and_results_of_their_calls() {
        let call = r#""message":{"role":"assistant","content":[{"type":"toolCall","id":"c1"}]}"#;
        let result = |call: &str| format!(r#""message":{{"role":"toolResult","toolCallId":"{call}","content":[]}}"#);
        let role = |role: &str| format!(r#""message":{{"role":"{role}","content":"x"}}"#);
        let with = |members: &str| {
            chain(&[
                ("message", "u1", &role("user")),
                ("message", "a2", call),
                ("message", "t3", &result("c1")),
                ("message", "t4", &result("c2")),
                ("message", "s5", &role("system")),
                ("custom_message", "c6", r#""content":"x""#),
                ("branch_summary", "b7", r#""summary":"x""#),
                ("message", "u8", &role("user")),
                ("reset", "r9", members),
                ("message", "t0", &result("c2")),
                ("custom_message", "cc", r#""content":"x""#),
            ])
        };
        let kept = |first: &str| with(&format!(r#""firstKeptEntryId":"{first}""#));
        check(&with(""), &[("u8", "u1 a2 t3 t4 s5 custom:c6 branch:b7 u8"), ("r9", ""), ("cc", "t0 custom:cc")]);
        check(&kept("u1"), &[("r9", "u1 a2 t3 u8"), ("cc", "u1 a2 t3 u8 t0 custom:cc")]);
        check(&kept("t3"), &[("r9", "u8")]);
        check(&kept("b7"), &[("r9", "u8")]);
        for first in ["r9", "cc", ""] {
            check(&kept(first), &[("cc", "t0 custom:cc")]);
        }
        let problems = context(&kept("cc"), "cc").problems;
        assert_eq!((problems.count(WarningKind::KeptRangeUnknown), problems.list()[0].line), (1, Some(10)));
        // The last of reset and compaction counts, and a compaction may keep what is above the reset.
        let session = chain(&[
            ("message", "u1", &role("user")),
            ("compaction", "k2", r#""summary":"x","firstKeptEntryId":"u1""#),
            ("message", "u3", &role("user")),
            ("reset", "r4", r#""firstKeptEntryId":"u1""#),
            ("message", "u5", &role("user")),
            ("compaction", "k6", r#""summary":"x","firstKeptEntryId":"u3""#),
        ]);
        check(&session, &[("u3", "compaction:k2 u1 u3"), ("u5", "u1 u3 u5"), ("k6", "compaction:k6 u3 u5")]);
    }

    #[test]
    fn the_last_edit_replaces_a_message_or_takes_it_out() {
        let edit = |target: &str, rest: &str| format!(r#""targetId":"{target}"{rest}"#);
        let replaced = r#","replacement":{"content":"new"}"#;
        let session = chain(&[
            ("user", "u1", "x"),
            ("custom_message", "c1", r#""customType":"x","content":"x""#),
            ("system", "s1", "x"),
            ("context_edit", "e1", &edit("u1", replaced)),
            ("context_edit", "e2", &edit("c1", replaced)),
            ("context_edit", "e3", &edit("s1", replaced)),
            ("context_edit", "e4", &edit("gone", replaced)),
            ("context_edit", "e5", &edit("u1", r#","replacement":null"#)),
            ("context_edit", "e6", &edit("c1", "")),
            ("context_edit", "e7", &edit("u1", replaced)),
        ]);
        let contexts = [
            ("e1", "u1=e1 custom:c1 s1"),
            ("e2", "u1=e1 c1=e2 s1"),
            // Only messages of users, assistants, tools and extensions can be edited.
            ("e4", "u1=e1 c1=e2 s1"),
            ("e5", "c1=e2 s1"),
            ("e6", "s1"),
            ("e7", "u1=e7 s1"),
        ];
        check(&session, &contexts);
    }

    #[test]
    fn problems_on_the_path_have_their_line() {
        let session = session(&[
            message("u1", "", "user", "elsewhere"),
            message("u2", "gone", "user", "one"),
            message("m1", "u2", "martian", "two"),
            entry("compaction", "c1", "m1", r#""summary":"s","firstKeptEntryId":"u1""#),
        ]);
        let problems = |leaf| {
            let problems = context(&session, leaf).problems.list();
            let told = problems.iter().map(|problem| format!("{} {}", problem.line.unwrap(), problem.kind.name()));
            told.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(problems("u1"), "");
        assert_eq!(problems("u2"), "3 unreachable");
        assert_eq!(problems("m1"), "3 unreachable, 4 malformed-message");
        assert_eq!(problems("c1"), "3 unreachable, 5 kept-range-unknown");
        check(&session, &[("m1", "u2")]);
    }
}
