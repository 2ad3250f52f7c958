//! Setting and clearing labels (help rules, "Labels").

use super::commit::{Anchor, Commit, Committed, Guard, SessionFile};
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
    /// Returns how many other entries have the label already, so that it names none of them.
    pub fn namesakes(&self, session: &Session) -> usize {
        let Some((name, node)) = self.name.as_deref().zip(session.find(&self.target)) else { return 0 };
        let has_it = session.label(node).is_some_and(|label| label.name == name);
        session.labelled(name).len() - usize::from(has_it)
    }

    /// Returns whether the label is on an entry that the usual view of the tree hides.
    pub fn is_hidden(&self, session: &Session) -> bool {
        let node = session.find(&self.target).filter(|_| self.name.is_some());
        node.is_some_and(|node| !Filter::Default.shows(session.traits(node), true, false))
    }

    /// Adds the entry that makes the change.
    pub fn append(&self, draft: &mut Draft<'_>) {
        draft.append("label", |entry| {
            entry.str("targetId", &self.target);
            self.name.iter().for_each(|name| _ = entry.str("label", name));
        });
    }
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

/// Writes label entries to a file, at the leaf or elsewhere.
pub fn write(
    edits: &[LabelEdit],
    file: SessionFile<'_>,
    session: &Session,
    anchor: Anchor,
    ids: &mut IdsAndTime<'_>,
) -> Result<Committed> {
    let needs = edits.iter().map(|edit| edit.target.clone()).collect();
    let commit = Commit { file, anchor, guard: Guard::None, needs };
    commit.write(session, ids, &mut |draft| edits.iter().for_each(|edit| edit.append(draft)))
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

    use super::{LabelEdit, check_name, in_order, moves_leaf, read_list};
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
        for (id, name, expected) in [
            ("u1", Some("y"), (0, false)),
            ("u2", Some("y"), (1, false)),
            ("m1", Some("z"), (1, true)),
            ("m1", None, (0, false)),
        ] {
            let edit = LabelEdit { target: id.to_owned(), name: name.map(str::to_owned) };
            assert_eq!((edit.namesakes(&session), edit.is_hidden(&session)), expected, "{id} {name:?}");
        }
        for (id, expected) in [("b1", false), ("u1", false), ("t2", true)] {
            assert_eq!(moves_leaf(&session, node(&session, id).unwrap()), expected, "{id}");
        }
    }
}
