//! What to offer to a person who is about to name an entry (cli: "Naming an entry").

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::core::error::Result;
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::Stamp;
use crate::core::tree::walk;

/// The most offers of each sort.
const MOST: usize = 30;
/// The most prompts that are offered by their number; beyond that nobody counts.
const PROMPTS: usize = 9;
/// The longest name that is offered, in bytes: nobody reads or types a longer one.
const LONGEST: usize = 200;

/// The largest file that is read while somebody waits for a word, in bytes.
const LARGEST: u64 = 512 * 1024 * 1024;

/// A name for an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What [`naming::entry::find`](super::entry::find) finds the entry by.
    pub name: String,
    /// The entry.
    pub node: NodeId,
    /// What makes it worth naming.
    pub reason: Reason,
    /// When it was made, or for a tip, the last part of its conversation.
    pub stamp: Stamp,
    /// Its words, or for a tip, those of the last part of its conversation.
    pub words: String,
}

/// What makes an entry worth naming.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the leaf that the command works from.
    Leaf,
    /// It is a prompt on the active path.
    Prompt,
    /// It has a label.
    Label,
    /// It is a user message.
    Message,
    /// A branch ends there.
    Tip,
    /// Its id starts with what was typed.
    Id,
}

/// Which entries can be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All.
    Any,
    /// User messages, since only they can be branched from.
    Users,
}

/// Returns the names that start with what was typed: the leaf, the last prompts, the labels (the last
/// set first), the ids of user messages (the newest first) and of the tips of branches (the newest
/// conversation first). If there is none, the ids of other entries.
///
/// # Errors
/// [`Error::Changed`](crate::core::error::Error::Changed) and
/// [`Error::Io`](crate::core::error::Error::Io), since entries are offered with their words.
pub fn entries(session: &Session, leaf: Option<NodeId>, wanted: Wanted, typed: &str) -> Result<Vec<Offer>> {
    let mut found = Found { session, leaf, wanted, typed, names: Vec::new(), ids: HashSet::new() };
    found.names();
    found.user_messages();
    found.tips();
    if found.names.is_empty() && !typed.is_empty() {
        found.other_ids();
    }
    let mut bodies = Bodies::new(session);
    let mut offers = Vec::with_capacity(found.names.len());
    for (name, node, reason) in found.names {
        let talk = if reason == Reason::Tip { walk::conversation(session, node) } else { None };
        let says = talk.unwrap_or(node);
        offers.push(Offer { name, node, reason, stamp: session.stamp(says), words: bodies.words(says)? });
    }
    Ok(offers)
}

/// Reads a session whose entries are to be offered; `None` if it cannot be read, or not in the time that
/// somebody waits for a word.
pub fn load(path: &Path, jobs: usize) -> Option<Session> {
    // Opening something else, a pipe for one, might wait for ever.
    let meta = fs::metadata(path).ok()?;
    if !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    // The words of a few entries are read again faster than those of all user messages are made.
    Session::load(Source::open(path).ok()?, LoadOptions::INDEX_ONLY, jobs).ok()
}

/// The names that were found so far.
struct Found<'s> {
    session: &'s Session,
    leaf: Option<NodeId>,
    wanted: Wanted,
    typed: &'s str,
    names: Vec<(String, NodeId, Reason)>,
    /// The entries that are offered by their ids.
    ids: HashSet<NodeId>,
}

impl Found<'_> {
    fn is_wanted(&self, node: NodeId) -> bool {
        self.wanted == Wanted::Any || self.session.is_user(node)
    }

    fn fits(&self, name: &str, node: NodeId) -> bool {
        name.starts_with(self.typed) && name.len() <= LONGEST && self.is_wanted(node)
    }

    /// Adds a name that is not an id, unless it is one all the same.
    fn name(&mut self, name: String, node: NodeId, reason: Reason) -> bool {
        let fits = self.fits(&name, node) && self.session.find(&name).is_none();
        if fits {
            self.names.push((name, node, reason));
        }
        fits
    }

    fn names(&mut self) {
        let session = self.session;
        // In such a file no name but `@` and whole ids is safe from being the start of an id.
        let is_odd = |id: &str| id.starts_with("label:") || id.starts_with("user:");
        let is_odd = session.nodes().any(|node| is_odd(session.id(node)));
        if let Some(leaf) = self.leaf {
            self.name("@".to_owned(), leaf, Reason::Leaf);
        }
        if is_odd {
            return;
        }
        let path = session.ancestors(self.leaf);
        for (at, node) in path.filter(|&node| session.is_user(node)).take(PROMPTS).enumerate() {
            self.name(format!("user:{}", at + 1), node, Reason::Prompt);
        }
        let mut labels: Vec<_> = session.labels().iter().collect();
        labels.sort_by_key(|label| std::cmp::Reverse(label.set_by));
        let mut count = 0;
        for label in labels {
            // Several entries may have one label, which then names none of them.
            let [node] = session.labelled(&label.name) else { continue };
            // What looks like steps may be taken for steps.
            let end = label.name.trim_end_matches(|char: char| char.is_ascii_digit());
            if end.ends_with('~') {
                continue;
            }
            count += usize::from(self.name(format!("label:{}", label.name), *node, Reason::Label));
            if count == MOST {
                break;
            }
        }
    }

    /// Adds an id, which goes before all other names.
    fn id(&mut self, node: NodeId, reason: Reason) -> bool {
        let id = self.session.id(node);
        // An option would be seen in one that starts so.
        let fits = self.fits(id, node) && !id.starts_with('-') && self.ids.insert(node);
        if fits {
            self.names.push((id.to_owned(), node, reason));
        }
        fits
    }

    fn user_messages(&mut self) {
        let session = self.session;
        let users = session.nodes().rev().filter(|&node| session.is_user(node));
        users.filter(|&node| self.id(node, Reason::Message)).take(MOST).for_each(drop);
    }

    fn tips(&mut self) {
        let tips = walk::newest_tips(self.session).into_iter();
        tips.filter(|&(tip, _)| self.id(tip, Reason::Tip)).take(MOST).for_each(drop);
    }

    fn other_ids(&mut self) {
        self.session.nodes().rev().filter(|&node| self.id(node, Reason::Id)).take(MOST).for_each(drop);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::{LoadOptions, MOST, Reason, Wanted, entries};
    use crate::core::naming;
    use crate::core::read::source::Source;
    use crate::core::session::{NodeId, Session};

    fn session(lines: &[String]) -> Session {
        let mut file = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n".to_owned();
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
        Session::load(Source::spool(file.as_bytes()).unwrap(), LoadOptions::INDEX_ONLY, 1).unwrap()
    }

    fn message(id: &str, parent: &str, role: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":"{id} says"}}}}"#
        )
    }

    fn label(id: &str, parent: &str, target: &str, label: &str) -> String {
        format!(r#"{{"type":"label","id":"{id}","parentId":"{parent}","targetId":"{target}","label":"{label}"}}"#)
    }

    /// Two prompts on the active path, and a branch with one.
    fn forked() -> Vec<String> {
        let message = |id, parent, role| message(id, parent, role);
        vec![
            message("aaaa0001", "", "user"),
            message("bbbb0002", "aaaa0001", "assistant"),
            message("aaaa0003", "bbbb0002", "user"),
            message("bbbb0004", "aaaa0003", "assistant"),
            message("aaaa0005", "bbbb0002", "user"),
            message("bbbb0006", "aaaa0005", "assistant"),
        ]
    }

    /// Compares the names, and checks that each means the entry that it is offered for.
    fn check(session: &Session, leaf: Option<NodeId>, wanted: Wanted, typed: &str, expected: &[&str]) {
        let offers = entries(session, leaf, wanted, typed).unwrap();
        for offer in &offers {
            assert_eq!(naming::entry::find(session, leaf, &offer.name).unwrap(), offer.node, "{}", offer.name);
        }
        let names: Vec<_> = offers.iter().map(|offer| offer.name.as_str()).collect();
        assert_eq!(names, expected, "{typed:?}");
    }

    #[test]
    fn names_come_before_ids_and_the_newest_first() {
        let mut lines = forked();
        lines.push(label("cccc0007", "bbbb0006", "bbbb0002", "old"));
        lines.push(label("cccc0008", "cccc0007", "aaaa0003", "new"));
        let session = session(&lines);
        let leaf = session.leaf();
        let all = [
            "@",
            "user:1",
            "user:2",
            "label:new",
            "label:old",
            "aaaa0005",
            "aaaa0003",
            "aaaa0001",
            "cccc0008",
            "bbbb0004",
        ];
        check(&session, leaf, Wanted::Any, "", &all);
        let users = ["user:1", "user:2", "label:new", "aaaa0005", "aaaa0003", "aaaa0001"];
        check(&session, leaf, Wanted::Users, "", &users);
        let offers = entries(&session, leaf, Wanted::Any, "cccc").unwrap();
        assert_eq!((offers[0].reason, offers[0].words.as_str()), (Reason::Tip, "bbbb0006 says"));
        check(&session, session.find("bbbb0004"), Wanted::Any, "user:", &["user:1", "user:2"]);
        check(&session, None, Wanted::Any, "user:", &[]);
    }

    #[test]
    fn offered_names_start_with_what_was_typed() {
        let mut lines = forked();
        lines.push(label("cccc0007", "bbbb0006", "bbbb0002", "lab"));
        let session = session(&lines);
        for typed in ["l", "lab", "label:", "label:la"] {
            check(&session, session.leaf(), Wanted::Any, typed, &["label:lab"]);
        }
        check(&session, session.leaf(), Wanted::Any, "aaaa0003", &["aaaa0003"]);
        // Only where nothing better fits.
        check(&session, session.leaf(), Wanted::Any, "bbbb", &["bbbb0004"]);
        check(&session, session.leaf(), Wanted::Any, "bbbb0002", &["bbbb0002"]);
        check(&session, session.leaf(), Wanted::Users, "bbbb0002", &[]);
        check(&session, session.leaf(), Wanted::Any, "x", &[]);
    }

    #[test]
    fn names_that_mean_another_entry_are_not_offered() {
        let mut lines = forked();
        for (at, name) in ["two", "steps~2", "step~", "two"].into_iter().enumerate() {
            lines.push(label(&format!("cccc000{at}"), "bbbb0006", &format!("aaaa000{}", [1, 3, 5, 3][at]), name));
        }
        lines.push(message("-dash", "bbbb0006", "user"));
        lines.push(message("@", "bbbb0006", "user"));
        lines.push(message(&"x".repeat(201), "bbbb0006", "user"));
        let file = session(&lines);
        check(&file, file.find("bbbb0006"), Wanted::Any, "label:", &[]);
        check(&file, file.find("bbbb0006"), Wanted::Any, "-", &[]);
        check(&file, file.find("bbbb0006"), Wanted::Any, "x", &[]);
        check(&file, file.find("bbbb0006"), Wanted::Any, "@", &["@"]);
        lines.push(label("cccc0009", "bbbb0006", "bbbb0002", "fine"));
        lines.push(message("label:fine or not", "bbbb0006", "user"));
        let file = session(&lines);
        check(&file, file.find("bbbb0006"), Wanted::Any, "label:", &["label:fine or not"]);
        check(&file, file.find("bbbb0006"), Wanted::Any, "user:", &[]);
    }

    #[test]
    fn at_most_30_names_of_a_sort_are_offered() {
        let mut lines = vec![message("root", "", "assistant")];
        for at in 0..50 {
            lines.push(message(&format!("user{at:04}"), "root", "user"));
            lines.push(message(&format!("tip{at:04}"), &format!("user{at:04}"), "assistant"));
            lines.push(label(&format!("set{at:04}"), &format!("tip{at:04}"), &format!("tip{at:04}"), &format!("{at}")));
        }
        let session = session(&lines);
        let offers = entries(&session, session.leaf(), Wanted::Any, "").unwrap();
        let count = |reason: Reason| offers.iter().filter(|offer| offer.reason == reason).count();
        assert_eq!([Reason::Label, Reason::Message, Reason::Tip].map(count), [MOST; 3]);
        assert_eq!(count(Reason::Leaf) + count(Reason::Prompt) + 3 * MOST, offers.len());
        // Those beyond the most are found by their starts.
        check(&session, session.leaf(), Wanted::Any, "user0001", &["user0001"]);
        check(
            &session,
            session.leaf(),
            Wanted::Any,
            "label:1",
            &[
                "label:19", "label:18", "label:17", "label:16", "label:15", "label:14", "label:13", "label:12",
                "label:11", "label:10", "label:1",
            ],
        );
    }
}
