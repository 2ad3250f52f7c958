//! Suggestions for a person who is typing the name of an entry (help naming, "Completion"). Every name that
//! is suggested is one that [`super::entry::find`] finds that entry by; how shells show it is up to `ui`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::leaf::{CountedTurn, LEAF, below_marks};
use crate::core::error::Result;
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::Stamp;
use crate::core::tree::{tips, walk};

/// The most suggestions of each kind.
const MOST: usize = 30;
/// The most messages that are suggested as `user:N` and `assistant:N`: nobody counts further.
const TURNS: usize = 9;
/// The longest name that is suggested, in bytes: nobody reads or types a longer one.
const LONGEST: usize = 200;

/// The largest file that is read while somebody waits for a word, in bytes.
const LARGEST: u64 = 512 * 1024 * 1024;

/// A name for an entry, with what is shown beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suggestion {
    /// The name, by which [`super::entry::find`] finds the entry.
    pub name: String,
    pub node: NodeId,
    /// Why it is suggested.
    pub reason: SuggestionReason,
    /// The time of the entry; of a tip, that of the last entry of its conversation.
    pub stamp: Stamp,
    /// The words of the entry; of a tip, those of the last entry of its conversation.
    pub words: String,
}

/// Why a name is suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuggestionReason {
    /// It is the leaf that the command works from.
    Leaf,
    /// It is a prompt on the active path.
    Prompt,
    /// It is an answer on the active path.
    Answer,
    Label,
    /// It is a user message.
    Message,
    /// A branch ends there.
    Tip,
    /// Its id starts with what was typed.
    Id,
}

/// Which entries a command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nameable {
    /// All.
    Any,
    /// User messages: only these can be branched from.
    Users,
}

/// Returns the names that start with what was typed: the leaf, the last prompts, the last answer, or
/// several of them if their names are begun, the labels (the last set first), the ids of user messages (the newest first) and of the tips of branches (the newest
/// conversation first). If there is none of these, the ids of other entries.
///
/// # Errors
/// [`Error::Changed`](crate::core::error::Error::Changed) and
/// [`Error::Io`](crate::core::error::Error::Io), since the words are read.
pub(crate) fn entries(
    session: &Session,
    leaf: Option<NodeId>,
    wanted: Nameable,
    typed: &str,
) -> Result<Vec<Suggestion>> {
    let mut list = SuggestionList { session, leaf, wanted, typed, names: Vec::new(), ids: HashSet::new() };
    list.add_names()?;
    list.add_user_messages();
    list.add_tips();
    if list.names.is_empty() && !typed.is_empty() {
        list.add_other_ids();
    }
    let mut bodies = Bodies::new(session);
    let mut suggestions = Vec::with_capacity(list.names.len());
    for (name, node, reason) in list.names {
        let talk = if reason == SuggestionReason::Tip { walk::conversation(session, node) } else { None };
        let shown = talk.unwrap_or(node);
        suggestions.push(Suggestion { name, node, reason, stamp: session.stamp(shown), words: bodies.words(shown)? });
    }
    Ok(suggestions)
}

/// Reads a session whose entries are to be offered; `None` if it cannot be read, or not in the time that
/// somebody waits for a word.
pub(crate) fn load(path: &Path, jobs: usize) -> Option<Session> {
    // Opening something else, a pipe for one, might wait for ever.
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    // The words of a few entries are read again faster than those of all user messages are made.
    Session::load(Source::front(path, LARGEST).ok()?, LoadOptions::INDEX_ONLY, jobs).ok()
}

/// The names collected so far.
struct SuggestionList<'s> {
    session: &'s Session,
    leaf: Option<NodeId>,
    wanted: Nameable,
    typed: &'s str,
    names: Vec<(String, NodeId, SuggestionReason)>,
    /// The entries that are suggested by their ids.
    ids: HashSet<NodeId>,
}

impl SuggestionList<'_> {
    fn is_wanted(&self, node: NodeId) -> bool {
        self.wanted == Nameable::Any || self.session.is_user(node)
    }

    fn fits(&self, name: &str, node: NodeId) -> bool {
        name.starts_with(self.typed) && name.len() <= LONGEST && self.is_wanted(node)
    }

    /// Adds a name that is not an id, unless an entry has it as its id, and returns whether it did.
    fn name(&mut self, name: String, node: NodeId, reason: SuggestionReason) -> bool {
        let fits = self.fits(&name, node) && self.session.find(&name).is_none();
        if fits {
            self.names.push((name, node, reason));
        }
        fits
    }

    fn add_names(&mut self) -> Result<()> {
        let session = self.session;
        // Where an id starts like a name, any name but `@` may be the start of that id.
        let is_odd = |id: &str| ["label:", "user:", "assistant:"].iter().any(|prefix| id.starts_with(prefix));
        let is_odd = session.nodes().any(|node| is_odd(session.id(node)));
        if let Some(leaf) = self.leaf {
            self.name(LEAF.to_owned(), below_marks(session, leaf)?, SuggestionReason::Leaf);
        }
        if is_odd {
            return Ok(());
        }
        let answers = if self.typed.is_empty() { 1 } else { TURNS };
        for (turn, most, reason) in [
            (CountedTurn::User, TURNS, SuggestionReason::Prompt),
            (CountedTurn::Assistant, answers, SuggestionReason::Answer),
        ] {
            for (at, node) in turn.of(session, self.leaf).take(most).enumerate() {
                self.name(format!("{}{}", turn.prefix(), at + 1), node, reason);
            }
        }
        let mut labels: Vec<_> = session.labels().iter().collect();
        labels.sort_by_key(|label| std::cmp::Reverse(label.set_by));
        let mut count = 0;
        for label in labels {
            // A label of several entries names none of them.
            let [node] = session.labelled(&label.name) else { continue };
            // `find` may take such an end for steps.
            let end = label.name.trim_end_matches(|char: char| char.is_ascii_digit());
            if end.ends_with('~') {
                continue;
            }
            count += usize::from(self.name(format!("label:{}", label.name), *node, SuggestionReason::Label));
            if count == MOST {
                break;
            }
        }
        Ok(())
    }

    /// Adds an id once, and returns whether it did.
    fn id(&mut self, node: NodeId, reason: SuggestionReason) -> bool {
        let id = self.session.id(node);
        // The command line would take an id that starts with `-` for an option.
        let fits = self.fits(id, node) && !id.starts_with('-') && self.ids.insert(node);
        if fits {
            self.names.push((id.to_owned(), node, reason));
        }
        fits
    }

    fn add_user_messages(&mut self) {
        let session = self.session;
        let users = session.nodes().rev().filter(|&node| session.is_user(node));
        users.filter(|&node| self.id(node, SuggestionReason::Message)).take(MOST).for_each(drop);
    }

    fn add_tips(&mut self) {
        let tips = tips::of(self.session, None).into_iter();
        tips.filter(|tip| self.id(tip.end, SuggestionReason::Tip)).take(MOST).for_each(drop);
    }

    fn add_other_ids(&mut self) {
        self.session
            .nodes()
            .rev()
            .filter(|&node| !self.session.is_mark(node) && self.id(node, SuggestionReason::Id))
            .take(MOST)
            .for_each(drop);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Nameable, Suggestion, SuggestionReason, entries};
    use crate::core::naming;
    use crate::core::session::sample::{self, label, session};
    use crate::core::session::{NodeId, Session};

    fn message(id: &str, parent: &str, role: &str) -> String {
        sample::message(id, parent, role, &format!("{id} says"))
    }

    /// Two prompts on the active path, and a branch with one.
    fn forked() -> Vec<String> {
        vec![
            message("aaaa0001", "", "user"),
            message("bbbb0002", "aaaa0001", "assistant"),
            message("aaaa0003", "bbbb0002", "user"),
            message("bbbb0004", "aaaa0003", "assistant"),
            message("aaaa0005", "bbbb0002", "user"),
            message("bbbb0006", "aaaa0005", "assistant"),
        ]
    }

    /// Checks the suggested names, separated by commas, and that each of them means its entry.
    fn check(session: &Session, leaf: Option<NodeId>, wanted: Nameable, typed: &str, expected: &str) {
        let suggestions = entries(session, leaf, wanted, typed).unwrap();
        for Suggestion { name, node, .. } in &suggestions {
            assert_eq!(naming::entry::find(session, leaf, name).unwrap(), *node, "{name}");
        }
        let names: Vec<_> = suggestions.iter().map(|suggestion| suggestion.name.as_str()).collect();
        assert_eq!(names.join(", "), expected, "{typed:?}");
    }

    #[test]
    fn names_come_before_ids_and_the_newest_first() {
        let mut lines = forked();
        lines.push(label("cccc0007", "bbbb0006", "bbbb0002", "old"));
        lines.push(label("cccc0008", "cccc0007", "aaaa0003", "new"));
        let session = session(&lines);
        let leaf = session.leaf();
        let ids = "aaaa0005, aaaa0003, aaaa0001";
        let all = format!("@, user:1, user:2, assistant:1, label:new, label:old, {ids}, cccc0008, bbbb0004");
        check(&session, leaf, Nameable::Any, "", &all);
        check(&session, leaf, Nameable::Users, "", &format!("user:1, user:2, label:new, {ids}"));
        let suggestions = entries(&session, leaf, Nameable::Any, "cccc").unwrap();
        assert_eq!((suggestions[0].reason, suggestions[0].words.as_str()), (SuggestionReason::Tip, "bbbb0006 says"));
        check(&session, session.find("bbbb0004"), Nameable::Any, "user:", "user:1, user:2");
        check(&session, session.find("bbbb0004"), Nameable::Any, "as", "assistant:1, assistant:2");
        check(&session, None, Nameable::Any, "user:", "");
    }

    #[test]
    fn suggested_names_start_with_what_was_typed() {
        let mut lines = forked();
        lines.push(label("cccc0007", "bbbb0006", "bbbb0002", "lab"));
        let session = session(&lines);
        for typed in ["l", "lab", "label:", "label:la"] {
            check(&session, session.leaf(), Nameable::Any, typed, "label:lab");
        }
        check(&session, session.leaf(), Nameable::Any, "aaaa0003", "aaaa0003");
        // Other ids come only where nothing else fits.
        check(&session, session.leaf(), Nameable::Any, "bbbb", "bbbb0004");
        check(&session, session.leaf(), Nameable::Any, "bbbb0002", "bbbb0002");
        check(&session, session.leaf(), Nameable::Users, "bbbb0002", "");
        check(&session, session.leaf(), Nameable::Any, "x", "");
    }

    #[test]
    fn names_that_mean_another_entry_are_not_suggested() {
        let mut lines = forked();
        for (at, name) in ["two", "steps~2", "step~", "two"].into_iter().enumerate() {
            lines.push(label(&format!("cccc000{at}"), "bbbb0006", &format!("aaaa000{}", [1, 3, 5, 3][at]), name));
        }
        lines.push(message("-dash", "bbbb0006", "user"));
        lines.push(message("@", "bbbb0006", "user"));
        lines.push(message(&"x".repeat(201), "bbbb0006", "user"));
        let file = session(&lines);
        check(&file, file.find("bbbb0006"), Nameable::Any, "label:", "");
        check(&file, file.find("bbbb0006"), Nameable::Any, "-", "");
        check(&file, file.find("bbbb0006"), Nameable::Any, "x", "");
        check(&file, file.find("bbbb0006"), Nameable::Any, "@", "@");
        lines.push(label("cccc0009", "bbbb0006", "bbbb0002", "fine"));
        lines.push(message("label:fine or not", "bbbb0006", "user"));
        let file = session(&lines);
        check(&file, file.find("bbbb0006"), Nameable::Any, "label:", "label:fine or not");
        check(&file, file.find("bbbb0006"), Nameable::Any, "user:", "");
    }

    #[test]
    fn at_most_30_names_of_a_kind_are_suggested() {
        let mut lines = vec![message("root", "", "assistant")];
        for at in 0..50 {
            lines.push(message(&format!("user{at:04}"), "root", "user"));
            lines.push(message(&format!("tip{at:04}"), &format!("user{at:04}"), "assistant"));
            lines.push(label(&format!("set{at:04}"), &format!("tip{at:04}"), &format!("tip{at:04}"), &format!("{at}")));
        }
        let session = session(&lines);
        let all = entries(&session, session.leaf(), Nameable::Any, "").unwrap();
        let count = |reason: SuggestionReason| all.iter().filter(|suggestion| suggestion.reason == reason).count();
        assert_eq!([SuggestionReason::Label, SuggestionReason::Message, SuggestionReason::Tip].map(count), [MOST; 3]);
        assert_eq!(
            [SuggestionReason::Leaf, SuggestionReason::Prompt, SuggestionReason::Answer]
                .map(count)
                .iter()
                .sum::<usize>()
                + 3 * MOST,
            all.len()
        );
        // Those beyond that number are suggested once their start is typed.
        check(&session, session.leaf(), Nameable::Any, "user0001", "user0001");
        let labels: Vec<_> = (10..20).rev().chain([1]).map(|at| format!("label:{at}")).collect();
        check(&session, session.leaf(), Nameable::Any, "label:1", &labels.join(", "));
    }
}
