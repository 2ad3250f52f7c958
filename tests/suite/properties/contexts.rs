//! What must hold when contexts are measured and compared.

use std::cell::Cell;
use std::collections::HashSet;

use session_tree::core::context::compare::{self, Difference, SettingsDiff, SizedMessage};
use session_tree::core::context::message;
use session_tree::core::context::stats::{self, Size};
use session_tree::core::context::{self, Context, ContextMessage, held};
use session_tree::core::entry::Kind;
use session_tree::core::entry::message::Message;
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::walk;

use super::{for_each_session, leaves};

fn contexts(session: &Session) -> Vec<Context> {
    leaves(session).into_iter().map(|leaf| context::build(&mut Bodies::new(session), leaf).unwrap()).collect()
}

fn add(a: Size, b: Size) -> Size {
    Size { messages: a.messages + b.messages, tokens: a.tokens + b.tokens }
}

/// Measures messages one by one.
fn size(session: &Session, items: &[ContextMessage]) -> Size {
    let mut bodies = Bodies::new(session);
    let mut size = Size::default();
    for item in items {
        size.add(message::with(&mut bodies, item, &mut Vec::new(), message::tokens).unwrap());
    }
    size
}

#[test]
fn parts_of_stats_add_up_to_context() {
    for_each_session(|session, _| {
        for context in contexts(session) {
            let stats = stats::measure(&mut Bodies::new(session), &context, 1).unwrap();
            assert_eq!(stats.all, size(session, &context.messages));
            assert_eq!(stats.parts.iter().map(|part| part.size).fold(Size::default(), add), stats.all);
            assert!(stats.parts.is_sorted_by_key(|part| std::cmp::Reverse(part.size.tokens)));
            let origins: HashSet<_> = stats.parts.iter().map(|part| (part.role, &part.name)).collect();
            assert_eq!(origins.len(), stats.parts.len(), "each once");
        }
    });
}

#[test]
fn message_is_counted_under_its_role() {
    for_each_session(|session, _| {
        let mut bodies = Bodies::new(session);
        for item in contexts(session).into_iter().flat_map(|context| context.messages) {
            let role = |message: Message<'_>| message.get_str("role").map(|role| role.into_owned());
            let stored = message::with(&mut bodies, &item, &mut Vec::new(), role).unwrap();
            assert_eq!(stored.as_deref(), Some(item.role(session)), "{item:?}");
        }
    });
}

#[test]
fn hidden_messages_are_those_before_compaction_and_not_shown() {
    let hidden = Cell::new(0);
    for_each_session(|session, _| {
        for context in contexts(session) {
            hidden.set(hidden.get() + check_hidden(session, &context));
        }
    });
    assert!(hidden.get() > 300, "{hidden:?}");
}

/// Checks what is hidden in a context, and returns how much that is.
fn check_hidden(session: &Session, context: &Context) -> usize {
    let mut bodies = Bodies::new(session);
    let Some(hidden) = held::hidden(&mut bodies, context).unwrap() else {
        assert!(!context.messages.iter().any(|item| matches!(item, ContextMessage::Compaction(_))));
        return 0;
    };
    let own = [ContextMessage::System(hidden.compaction), ContextMessage::Compaction(hidden.compaction)];
    assert!(context.messages.contains(&own[1]));
    let path = walk::path(session, context.leaf);
    let at = path.iter().position(|&node| node == hidden.compaction).unwrap();
    assert!(hidden.messages.iter().all(|item| path[..at].contains(&item.node())), "what is hidden stands before");
    let shown = context.messages.iter().filter(|item| !own.contains(item));
    let all: Vec<_> = shown.chain(&hidden.messages).map(|item| item.node()).collect();
    let known: HashSet<_> = all.iter().copied().collect();
    assert_eq!(known.len(), all.len(), "nothing is shown and hidden");
    let edited = edited(&mut bodies, &path);
    for &node in path.iter().filter(|node| !edited.contains(node)) {
        let traits = session.traits(node);
        let contributes = traits.kind == Kind::CustomMessage || traits.kind == Kind::Message && traits.role.is_known();
        assert!(!contributes || known.contains(&node), "{} is shown or hidden", session.id(node));
    }
    let stats = stats::measure(&mut bodies, context, 1).unwrap().compaction.unwrap();
    assert_eq!((stats.node, stats.hidden), (hidden.compaction, size(session, &hidden.messages)));
    assert_eq!(stats.tokens_before, Some(1234));
    hidden.messages.len()
}

/// Returns what edits on a path are about: they may take it out.
fn edited(bodies: &mut Bodies<'_>, path: &[NodeId]) -> HashSet<NodeId> {
    let session = bodies.session();
    let edits = path.iter().filter(|&&node| session.traits(node).kind == Kind::ContextEdit);
    let target = |&edit: &NodeId| session.find(&bodies.entry(edit).unwrap().get_str("targetId")?);
    edits.filter_map(target).collect()
}

fn items(messages: &[SizedMessage]) -> impl Iterator<Item = ContextMessage> {
    messages.iter().map(|message| message.message.clone())
}

#[test]
fn diff_parts_rebuild_both_contexts() {
    let differing = Cell::new(0);
    for_each_session(|session, _| {
        let contexts = contexts(session);
        let sizes: Vec<_> = contexts.iter().map(|context| size(session, &context.messages)).collect();
        for (at, from) in contexts.iter().enumerate() {
            for (to_at, to) in contexts.iter().enumerate().skip(at + 1) {
                let difference = compare::messages(&mut Bodies::new(session), from, to).unwrap();
                let Difference { common, dropped, added } = &difference;
                assert_eq!(add(*common, Difference::size(dropped)), sizes[at]);
                assert_eq!(add(*common, Difference::size(added)), sizes[to_at]);
                let (gone, new): (HashSet<_>, HashSet<_>) = (items(dropped).collect(), items(added).collect());
                let left = from.messages.iter().filter(|item| !gone.contains(item));
                assert!(
                    left.eq(to.messages.iter().filter(|item| !new.contains(item))),
                    "the rest is the same, in order"
                );
                assert!(gone.is_disjoint(&new));
                let back = compare::messages(&mut Bodies::new(session), to, from).unwrap();
                assert_eq!((&back.dropped, &back.added, back.common), (added, dropped, *common), "and back");
                differing.set(differing.get() + usize::from(!dropped.is_empty() && !added.is_empty()));
            }
        }
    });
    assert!(differing.get() > 150, "{differing:?}");
}

#[test]
fn context_does_not_differ_from_itself() {
    for_each_session(|session, _| {
        for context in contexts(session) {
            let difference = compare::messages(&mut Bodies::new(session), &context, &context).unwrap();
            let nothing = Difference { common: size(session, &context.messages), ..Difference::default() };
            assert_eq!(difference, nothing);
            let settings = SettingsDiff::between(&context.settings, &context.settings);
            assert!(settings.thinking_level.is_none() && settings.models.is_empty() && settings.mode.is_none());
            assert!(settings.mode_data.is_none() && settings.service_tier.is_none());
            assert!(settings.mcp_tools.is_none() && settings.ttsr_rules.is_none());
        }
    });
}

#[test]
fn every_message_in_diff_has_words() {
    for_each_session(|session, _| {
        let mut bodies = Bodies::new(session);
        for item in contexts(session).into_iter().flat_map(|context| context.messages) {
            let words = compare::words(&mut bodies, &item).unwrap();
            assert!(!words.is_empty(), "{item:?}");
            if let ContextMessage::Stored(node) = item {
                assert_eq!(words, bodies.words(node).unwrap());
            }
        }
    });
}
