//! Setting and clearing labels (help rules, "Labels").

use std::collections::{BTreeSet, HashMap};

use super::commit::{Anchor, Commit, Committed, GrownSession, Guard, SessionFile};
use super::draft::{Draft, IdsAndTime};
use crate::core::error::{Error, Result};
use crate::core::naming::entry::Names;
use crate::core::session::body::Bodies;
use crate::core::session::{Label, NodeId, Session};
use crate::core::tree::filter::Filter;
use crate::core::tree::walk;

/// A label to set, or to clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelEdit {
    /// The labelled entry.
    pub target: String,
    /// The label; `None` clears.
    pub name: Option<String>,
}

impl LabelEdit {
    /// Returns whether the label is on an entry that the usual view of the tree hides.
    pub fn is_hidden(&self, session: &Session) -> bool {
        let node = session.find(&self.target).filter(|_| self.name.is_some());
        node.is_some_and(|node| !Filter::Default.shows(session.traits(node), true, false))
    }

    /// Adds the entry that makes the change.
    pub fn append(&self, draft: &mut Draft<'_>) {
        draft.append("label", |entry| {
            entry.id("targetId", &self.target);
            self.name.iter().for_each(|name| _ = entry.str("label", name));
        });
    }
}

/// What setting or clearing a label comes to, after those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLabel {
    /// What was asked for.
    pub edit: LabelEdit,
    /// The label that the entry has before.
    pub was: Option<String>,
    /// The other entries that the label is taken from first.
    pub taken_from: Vec<String>,
    /// How many other entries keep the label, so that it names none of them.
    pub namesakes: usize,
}

impl PlannedLabel {
    /// Returns whether the entry has another label before, so that its own has to be written.
    pub fn changes(&self) -> bool {
        self.edit.name != self.was
    }

    /// Returns how many entries are written.
    pub fn count(&self) -> usize {
        self.taken_from.len() + usize::from(self.changes())
    }

    /// Adds the entries that make the change.
    fn append(&self, draft: &mut Draft<'_>) {
        for target in &self.taken_from {
            LabelEdit { target: target.clone(), name: None }.append(draft);
        }
        if self.changes() {
            self.edit.append(draft);
        }
    }
}

/// Plans labels to set and to clear, one after the other. If `moves`, a label that is set is taken from all
/// other entries that have it.
fn plan(file: &GrownSession<'_>, edits: &[LabelEdit], moves: bool) -> Vec<PlannedLabel> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    for (target, name) in file.labels() {
        match name {
            Some(name) => names.insert(target, name),
            None => names.remove(target),
        };
    }
    // The entries that have a label, in the order of the file.
    let mut holders: HashMap<&str, BTreeSet<(usize, &str)>> = HashMap::new();
    for (&target, &name) in &names {
        if let Some(place) = file.place(target) {
            holders.entry(name).or_default().insert((place, target));
        }
    }
    let mut planned = Vec::with_capacity(edits.len());
    for edit in edits {
        let Some(holder) = file.place(&edit.target).map(|place| (place, &*edit.target)) else { continue };
        let was = names.remove(holder.1);
        was.map(|was| holders.get_mut(was).map(|holders| holders.remove(&holder)));
        let (mut taken_from, mut namesakes) = (Vec::new(), 0);
        if let Some(name) = edit.name.as_deref() {
            let others = holders.entry(name).or_default();
            if moves {
                let others = std::mem::take(others);
                others.iter().for_each(|(_, other)| _ = names.remove(other));
                taken_from = others.iter().map(|&(_, other)| other.to_owned()).collect();
            }
            namesakes = others.len();
            others.insert(holder);
            names.insert(holder.1, name);
        }
        planned.push(PlannedLabel { edit: edit.clone(), was: was.map(str::to_owned), taken_from, namesakes });
    }
    planned
}

/// Reads a list of labels to set: lines of ENTRY, tab, NAME; blank ones do not count. Entries are named
/// as seen from `leaf`.
///
/// # Errors
/// [`Error::OnLine`] for the first line that cannot be done; [`Error::Usage`] for no labels at all.
pub fn read_list(session: &Session, leaf: Option<NodeId>, text: &str) -> Result<Vec<LabelEdit>> {
    const FORM: &str = "lines are ENTRY<TAB>NAME";
    let names = Names::new(session, leaf);
    let edit = |text: &str| {
        let (entry, name) = text.split_once('\t').ok_or_else(|| Error::usage("no tab on this line", FORM))?;
        check_name(name)?;
        let target = names.find(entry)?;
        Ok(LabelEdit { target: session.id(target).to_owned(), name: Some(name.to_owned()) })
    };
    let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
    let edits = lines.map(|(line, text)| edit(text).map_err(|cause| Error::OnLine { line, cause: Box::new(cause) }));
    let edits = edits.collect::<Result<Vec<_>>>()?;
    if edits.is_empty() { Err(Error::usage("no labels in it", FORM)) } else { Ok(edits) }
}

/// Returns where new labels go to start a new root.
///
/// # Errors
/// [`Error::Usage`] for a file that stores its leaf, where only a mark leads there.
pub fn root(session: &Session) -> Result<Anchor> {
    if session.stores_leaf() {
        let hint = "`navigate --root --save` moves the leaf there first";
        return Err(Error::usage("in a file that stores its leaf a label cannot start a new root", hint));
    }
    Ok(Anchor::At(None))
}

/// Sets and clears labels of a file, at the leaf or elsewhere. What the entries have, and which others have it,
/// is looked up under the lock. Returns what that comes to, and what was written, if there was anything to write.
///
/// # Errors
/// As [`Commit::write`].
pub fn write(
    edits: &[LabelEdit],
    moves: bool,
    file: SessionFile<'_>,
    session: &Session,
    anchor: Anchor,
    ids: &mut IdsAndTime<'_>,
) -> Result<(Vec<PlannedLabel>, Option<Committed>)> {
    let mut labels = plan(&GrownSession::read(session), edits, moves);
    if labels.iter().all(|label| label.count() == 0) {
        return Ok((labels, None));
    }
    let needs = edits.iter().map(|edit| edit.target.clone()).collect();
    let commit = Commit { file, anchor, guard: Guard::None, needs };
    let done = commit.write(session, ids, &mut |draft, now| {
        labels = plan(now, edits, moves);
        labels.iter().for_each(|label| label.append(draft));
    })?;
    Ok((labels, Some(done).filter(|done| !done.ids.is_empty())))
}

/// Reads the words of the labelled entries.
pub fn words(edits: &[LabelEdit], session: &Session) -> Result<Vec<String>> {
    let mut bodies = Bodies::new(session);
    let mut words = |edit: &LabelEdit| session.find(&edit.target).map(|node| bodies.words(node)).transpose();
    edits.iter().map(|edit| Ok(words(edit)?.unwrap_or_default())).collect()
}

/// Returns whether an entry that is added to `parent` moves the leaf to another branch.
pub fn moves_leaf(session: &Session, parent: NodeId) -> bool {
    !walk::active(session, session.leaf())[parent.index()]
}

/// Returns the labels that are set now, in the order in which they were set.
pub fn in_order(session: &Session) -> Vec<&Label> {
    let mut labels: Vec<_> = session.labels().iter().collect();
    labels.sort_by_key(|label| label.set_by);
    labels
}

/// Checks that a name can be a label: one line, not blank, no control characters.
pub fn check_name(name: &str) -> Result<()> {
    let (message, hint) = if name.trim().is_empty() {
        ("a label must not be blank", "`--clear` takes a label away")
    } else if name.chars().any(|char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}')) {
        ("a label is one line without control characters", "leave line ends and tabs out")
    } else {
        return Ok(());
    };
    Err(Error::usage(message, hint))
}

#[cfg(test)]
mod tests {
    use crate::core::edit::draft::drafted;

    use super::{GrownSession, LabelEdit, check_name, in_order, moves_leaf, plan, read_list};
    use crate::core::session::sample::{entry, forked, label, node, session};

    #[test]
    fn a_change_is_one_label_entry() {
        let check = |name: Option<&str>, members: &str| {
            let edit = LabelEdit { target: "u1".to_owned(), name: name.map(str::to_owned) };
            let expected =
                format!(r#"{{"type":"label","id":"n1","parentId":"b2","timestamp":"T","targetId":"u1"{members}}}"#);
            assert_eq!(drafted(Some("b2"), |draft| edit.append(draft)), [expected]);
        };
        check(Some("start"), r#","label":"start""#);
        check(Some(" \"q\" \\ é "), r#","label":" \"q\" \\ é ""#);
        // A label without a name clears.
        check(None, "");
    }

    /// Checks whether a name can be a label, and what the hint advises if not: `--clear` or one line.
    fn check(name: &str, advice: Option<&str>) {
        let hint = check_name(name).err().and_then(|error| error.hint());
        assert_eq!(hint.is_some(), advice.is_some(), "{name:?}: {hint:?}");
        assert!(hint.unwrap_or_default().contains(advice.unwrap_or_default()), "{name:?}");
    }

    #[test]
    fn a_label_is_one_line_without_control_characters() {
        for name in
            ["plan b", " padded ", "\"quoted\" \\ back", "größer 日本 👩\u{200d}💻", "--clear it", "\u{202e}rtl", "<b>"]
        {
            check(name, None);
        }
        for name in ["", " ", "\u{3000}", "\t", "\n"] {
            check(name, Some("--clear"));
        }
        for name in ["two\nlines", "cr\r", "tab\there", "\u{1b}[31m", "\u{7f}", "\u{85}x", "\u{2028}x", "x\u{2029}"] {
            check(name, Some("line ends and tabs"));
        }
    }

    #[test]
    fn a_list_has_an_entry_and_a_label_on_each_line_or_says_which_line_has_not() {
        let session = session(&forked());
        for (text, expected) in [
            ("@\tgreen\n", "b2 green"),
            ("\nu1\tone two \r\n \t \nuser:1\tlast", "u1 one two , b1 last"),
            ("u1\ta\nu1\tb", "u1 a, u1 b"),
            ("", "no labels in it"),
            (" \n\t\n", "no labels in it"),
            ("u1\ta\n\nu2 b", "line 3: no tab on this line"),
            ("u1\ta\nnowhere\tb", "line 2: `nowhere` names no entry"),
            ("u1\ta\tb", "line 1: a label is one line without control characters"),
            ("\n@\t \n", "line 2: a label must not be blank"),
        ] {
            let edits = read_list(&session, session.leaf(), text);
            let found = match edits {
                Ok(edits) => {
                    edits.iter().map(|edit| format!("{} {}", edit.target, edit.name.as_ref().unwrap())).collect()
                }
                Err(error) => {
                    vec![error.line().map(|line| format!("line {line}: ")).unwrap_or_default() + &error.to_string()]
                }
            };
            assert_eq!(found.join(", "), expected, "{text:?}");
        }
    }

    /// What is asked for in a session in which `u1` is `x`, `u2` and `b1` are `y`, and a label of an entry that is
    /// not there is `y`, too: `ENTRY=NAME`, or `ENTRY=` to clear. Then what comes of it: the label before, the
    /// entries that it is taken from, how many others keep it, and how many lines are written.
    const CHANGES: &[(&str, &str)] = &[
        ("a1=z", "a1 was - taken - others 0 lines 1"),
        ("u1=z", "u1 was x taken - others 0 lines 1"),
        ("u1=", "u1 was x taken - others 0 lines 1"),
        // Nothing to do.
        ("u1=x", "u1 was x taken - others 0 lines 0"),
        ("a1=", "a1 was - taken - others 0 lines 0"),
        // Another entry has the name.
        ("a1=x", "a1 was - taken - others 1 lines 1"),
        ("u1=y", "u1 was x taken - others 2 lines 1"),
        ("u2=y", "u2 was y taken - others 1 lines 0"),
        ("move a1=x", "a1 was - taken u1 others 0 lines 2"),
        ("move u1=y", "u1 was x taken u2 b1 others 0 lines 3"),
        ("move u2=y", "u2 was y taken b1 others 0 lines 1"),
        ("move u1=x", "u1 was x taken - others 0 lines 0"),
        ("move a1=z", "a1 was - taken - others 0 lines 1"),
        // Each is seen after those before it.
        ("u1=z u1=z", "u1 was x taken - others 0 lines 1, u1 was z taken - others 0 lines 0"),
        ("u1= a1=x", "u1 was x taken - others 0 lines 1, a1 was - taken - others 0 lines 1"),
        ("a1=z a2=z", "a1 was - taken - others 0 lines 1, a2 was - taken - others 1 lines 1"),
        ("move a1=z a2=z", "a1 was - taken - others 0 lines 1, a2 was - taken a1 others 0 lines 2"),
        ("move a1=x u1=x", "a1 was - taken u1 others 0 lines 2, u1 was - taken a1 others 0 lines 2"),
    ];

    #[test]
    fn a_label_that_is_there_is_not_written_again_and_one_of_others_is_taken_if_asked() {
        let mut lines = forked();
        for (at, (target, name)) in [("u1", "x"), ("u2", "y"), ("b1", "y"), ("gone", "y")].into_iter().enumerate() {
            lines.push(label(&format!("L{at}"), "b2", target, name));
        }
        let session = session(&lines);
        for (asked, expected) in CHANGES {
            let (moves, edits) = asked.strip_prefix("move ").map_or((false, *asked), |edits| (true, edits));
            let edit = |edit: &str| {
                let (target, name) = edit.split_once('=').unwrap();
                LabelEdit { target: target.to_owned(), name: (!name.is_empty()).then(|| name.to_owned()) }
            };
            let edits: Vec<_> = edits.split(' ').map(edit).collect();
            let planned = plan(&GrownSession::read(&session), &edits, moves);
            let found = planned.iter().map(|label| {
                let (was, taken) = (label.was.as_deref().unwrap_or("-"), label.taken_from.join(" "));
                let taken = if taken.is_empty() { "-" } else { &taken };
                let lines = drafted(Some("L3"), |draft| label.append(draft));
                assert_eq!(lines.len(), label.count());
                // Others lose it first.
                let names: Vec<_> = lines.iter().map(|line| line.contains("\"label\":")).collect();
                assert!(names.iter().rev().skip(1).all(|is_set| !is_set), "{lines:?}");
                let (target, others) = (&label.edit.target, label.namesakes);
                format!("{target} was {was} taken {taken} others {others} lines {}", lines.len())
            });
            assert_eq!(found.collect::<Vec<_>>().join(", "), *expected, "{asked}");
        }
    }

    #[test]
    fn labels_are_listed_as_they_were_set_and_the_user_hears_what_is_odd() {
        let mut lines = forked();
        lines.extend([
            entry("model_change", "m1", "b2", r#""provider":"acme","modelId":"m""#),
            label("L1", "m1", "u2", "x"),
            label("L2", "L1", "u1", "y"),
            label("L3", "L2", "u2", "z"),
        ]);
        let session = session(&lines);
        assert_eq!(in_order(&session).iter().map(|label| &label.name[..]).collect::<Vec<_>>(), ["y", "z"]);
        for (id, name, expected) in [("u1", Some("y"), false), ("m1", Some("z"), true), ("m1", None, false)] {
            let edit = LabelEdit { target: id.to_owned(), name: name.map(str::to_owned) };
            assert_eq!(edit.is_hidden(&session), expected, "{id} {name:?}");
        }
        for (id, expected) in [("b1", false), ("u1", false), ("t2", true)] {
            assert_eq!(moves_leaf(&session, node(&session, id).unwrap()), expected, "{id}");
        }
    }
}
