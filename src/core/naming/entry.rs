//! From what a person types as ENTRY to an entry (help naming, "Entries"): ids and their starts, `@`,
//! `user:N`, `assistant:N`, `label:NAME`, each with steps `~N`. What names nothing is an error with near misses.

use super::index::NameIndex;
use super::leaf::{CountedTurn, LEAF};
use super::near::NearMisses;
use super::short::PREFIX;
use crate::core::error::{Error, Result};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// How many candidates an error lists.
const CANDIDATES: usize = 10;

/// Finds where somebody stands by a name, seen from `leaf`: as [`find`], but `@` is the leaf itself, with the
/// marks that it ends in (help naming, "The leaf and its marks").
///
/// # Errors
/// As [`find`].
pub fn find_place(session: &Session, leaf: Option<NodeId>, name: &str) -> Result<NodeId> {
    match leaf.filter(|_| name == LEAF && session.find(name).is_none()) {
        Some(leaf) => Ok(leaf),
        None => find(session, leaf, name),
    }
}

/// Finds the entry that a command is about by a name, seen from `leaf`. Many are found by one [`Names`].
///
/// # Errors
/// As [`Names::find`].
pub fn find(session: &Session, leaf: Option<NodeId>, name: &str) -> Result<NodeId> {
    Names::new(session, leaf).find(name)
}

/// The names of entries, seen from a leaf. Finding the next entry does not take longer for those found before.
#[derive(Debug)]
pub struct Names<'s> {
    session: &'s Session,
    leaf: Option<NodeId>,
    index: NameIndex<'s>,
}

impl<'s> Names<'s> {
    /// Starts to find entries by name.
    pub fn new(session: &'s Session, leaf: Option<NodeId>) -> Self {
        Self { session, leaf, index: NameIndex::new(session, leaf) }
    }

    /// Finds the entry that a name means.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::TooFarUp`]; also [`Error::Changed`] and
    /// [`Error::Io`], since candidates are listed with their text.
    pub fn find(&self, name: &str) -> Result<NodeId> {
        let (session, leaf) = (self.session, self.leaf);
        if let Some(node) = session.find(name) {
            return meant(session, node, name);
        }
        let (base, steps) = split_steps(name);
        if let (Some(label), 1..) = (name.strip_prefix("label:"), steps)
            && let [node] = session.labelled(label)
            && session.labelled(&label[..base.len() - "label:".len()]).is_empty()
        {
            // The end of the label only looks like steps.
            return meant(session, *node, name);
        }
        let node = match self.matches(base)?[..] {
            [node] => node,
            [] => return Err(Error::NotFound { name: name.to_owned(), hint: hint(session, leaf, base) }),
            ref nodes => return Err(ambiguous(session, base, nodes)?),
        };
        let node = meant(session, node, name)?;
        let ancestors = || session.ancestors(session.parent(node)).count();
        let too_far = || Error::TooFarUp { name: name.to_owned(), ancestors: ancestors() };
        self.index.above(node, steps).ok_or_else(too_far)
    }

    /// Returns the entries that a name without steps means.
    fn matches(&self, base: &str) -> Result<Vec<NodeId>> {
        if base == LEAF {
            return Ok(self.index.leaf_without_marks()?.into_iter().collect());
        }
        Ok(self.named(base))
    }

    /// Returns the entries that a name means that is neither steps nor the leaf.
    fn named(&self, base: &str) -> Vec<NodeId> {
        if let Some(node) = self.session.find(base) {
            return vec![node];
        }
        let shown = self.index.shown_as(base);
        if !shown.is_empty() {
            return shown.to_vec();
        }
        if base.chars().count() >= PREFIX {
            let started = self.index.starting(base);
            if !started.is_empty() {
                return started;
            }
        }
        if let Some(label) = base.strip_prefix("label:") {
            return self.session.labelled(label).to_vec();
        }
        let Some((turn, number)) = CountedTurn::numbered(base) else { return Vec::new() };
        number.checked_sub(1).and_then(|number| self.index.turn(turn, number)).into_iter().collect()
    }
}

/// Returns the entry that is meant by one that is named: a mark means the place that the leaf moved to.
fn meant(session: &Session, node: NodeId, name: &str) -> Result<NodeId> {
    if !session.is_mark(node) {
        return Ok(node);
    }
    session.parent(node).ok_or_else(|| {
        let hint =
            format!("`{}` marks a move of the leaf to before the first entry, which `--root` means", session.id(node));
        Error::NotFound { name: name.to_owned(), hint }
    })
}

/// Splits off a trailing `~N`, and returns the rest and N; `~` alone is one step.
fn split_steps(name: &str) -> (&str, usize) {
    if let Some((base, digits)) = name.rsplit_once('~') {
        if digits.is_empty() {
            return (base, 1);
        }
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that is too large for the type is more than the entries of any file.
            return (base, digits.parse().unwrap_or(usize::MAX));
        }
    }
    (name, 0)
}

fn ambiguous(session: &Session, base: &str, nodes: &[NodeId]) -> Result<Error> {
    let mut bodies = Bodies::new(session);
    let mut candidates = Vec::new();
    for &node in nodes.iter().take(CANDIDATES) {
        candidates.push((session.id(node).to_owned(), bodies.words(node)?));
    }
    Ok(Error::Ambiguous { name: base.to_owned(), candidates, count: nodes.len() })
}

/// Returns the hint for a name that was not found: near misses, or how to find a name.
fn hint(session: &Session, leaf: Option<NodeId>, base: &str) -> String {
    if session.is_empty() {
        return "the session has no entries".to_owned();
    }
    if base == LEAF {
        return "there is no leaf before the first entry".to_owned();
    }
    if let Some((turn, _)) = CountedTurn::numbered(base) {
        let (messages, first) = match turn {
            CountedTurn::User => (["user message", "user messages"], "user:1"),
            CountedTurn::Assistant => (["assistant message with text", "assistant messages with text"], "assistant:1"),
        };
        return match turn.of(session, leaf).count() {
            0 => format!("there is no {} on the path", messages[0]),
            1 => format!("there is one {} on the path, `{first}`", messages[0]),
            count => format!("there are {count} {} on the path, `{first}` is the last", messages[1]),
        };
    }
    let near = near(session, base);
    if !near.is_empty() {
        return format!("did you mean `{}`?", near.join("`, `"));
    }
    if base.starts_with("label:") {
        return "`session-tree label FILE` lists the labels".to_owned();
    }
    if base.chars().count() < PREFIX {
        return format!("give at least {PREFIX} characters of an id");
    }
    "`session-tree tree FILE --filter all` lists the ids; `@`, `user:N`, `assistant:N` and `label:NAME` are names \
     too"
    .to_owned()
}

/// Returns the ids and labels nearest to a name that was not found.
fn near(session: &Session, base: &str) -> Vec<String> {
    let mut near = NearMisses::new(base);
    let label = base.strip_prefix("label:");
    for set in session.labels().iter().filter(|set| set.target.is_some()) {
        near.add_label(&set.name, label.unwrap_or(base));
    }
    for node in session.nodes().filter(|_| label.is_none()) {
        near.add_id(session.id(node));
    }
    near.names()
}

#[cfg(test)]
mod tests {
    use crate::core::error::Error;
    use crate::core::session::Session;
    use crate::core::session::sample::{calls, entry, label, message, node, result, session};

    use super::{find, find_place};

    /// Three prompts, a label in the middle, and the leaf that set it.
    fn prompts() -> Session {
        session(&[
            message("aaaa1111", "", "user", "First prompt"),
            message("bbbb2222", "aaaa1111", "assistant", "First answer"),
            message("cccc3333", "bbbb2222", "user", "Second prompt"),
            message("cccc4444", "cccc3333", "assistant", "Second answer"),
            message("12345678", "cccc4444", "user", "Third prompt"),
            label("dddd5555", "12345678", "bbbb2222", "plan-b"),
        ])
    }

    /// Checks which entry each name means, seen from a leaf, or the kind of the error: `NAME = ENTRY, …`.
    #[track_caller]
    fn check(session: &Session, leaf: &str, cases: &str) {
        for case in cases.split(", ") {
            let (name, expected) = case.split_once(" = ").unwrap();
            let found = find(session, node(session, leaf), name);
            let found = found.map_or_else(|error| error.kind().name(), |node| session.id(node));
            assert_eq!(found, expected, "{name:?} from {leaf}");
        }
    }

    /// Returns kind, message and hint for a name that means no entry, seen from the file's leaf.
    #[track_caller]
    fn refuse(session: &Session, name: &str) -> (&'static str, String, String) {
        let error = find(session, session.leaf(), name).unwrap_err();
        (error.kind().name(), error.to_string(), error.hint().unwrap())
    }

    #[test]
    fn every_form_of_a_name_finds_its_entry() {
        let cases = "aaaa1111 = aaaa1111, aaaa111 = aaaa1111, aaaa = aaaa1111, cccc4 = cccc4444, 1234 = 12345678, \
                     12345678 = 12345678, dddd5555 = dddd5555, @ = 12345678, label:plan-b = bbbb2222, user:1 = 12345678, \
                     user:2 = cccc3333, user:3 = aaaa1111, assistant:1 = cccc4444, assistant:2 = bbbb2222";
        check(&prompts(), "dddd5555", cases);
    }

    #[test]
    fn steps_lead_to_ancestors_of_any_type() {
        let cases = "@~0 = 12345678, @~ = cccc4444, @~1 = cccc4444, @~2 = cccc3333, @~4 = aaaa1111, @~004 = aaaa1111, \
                     assistant:1~ = cccc3333, dddd5555~1 = 12345678, dddd~ = 12345678, 12345678~ = cccc4444, label:plan-b~1 = aaaa1111, \
                     user:1~2 = cccc3333, user:2~1 = bbbb2222";
        check(&prompts(), "dddd5555", cases);
    }

    #[test]
    fn leaf_and_prompts_are_those_of_the_leaf_worked_from() {
        let cases = "@ = cccc4444, @~1 = cccc3333, user:1 = cccc3333, user:3 = not-found, assistant:1 = cccc4444";
        check(&prompts(), "cccc4444", cases);
        check(&prompts(), "12345678", "user:1 = 12345678, label:plan-b = bbbb2222");
        check(&prompts(), "-", "@ = not-found, user:1 = not-found, assistant:1 = not-found, aaaa = aaaa1111");
        // A prompt of another branch has no number.
        let forked = session(&[
            message("aaaa1111", "", "user", "First prompt"),
            message("bbbb2222", "aaaa1111", "user", "Left behind"),
            message("cccc3333", "aaaa1111", "assistant", "Answer"),
        ]);
        check(&forked, "cccc3333", "user:1 = aaaa1111, user:2 = not-found");
    }

    #[test]
    fn a_whole_id_goes_before_all_other_meanings() {
        let session = session(&[
            message("abcd", "", "user", "short id"),
            message("abcdef00", "abcd", "user", "same start"),
            message("abcdef00~1", "abcdef00", "user", "id that looks like a step"),
            message("@", "abcdef00~1", "user", "id that looks like the leaf"),
            message("label:x", "@", "user", "id that looks like a label"),
            message("7", "label:x", "user", "id that looks like a number"),
            label("eeee0000", "7", "abcd", "x"),
            message("ffff0000", "eeee0000", "user", "the leaf"),
        ]);
        for id in ["abcd", "abcdef00", "abcdef00~1", "@", "label:x", "7"] {
            check(&session, "ffff0000", &format!("{id} = {id}"));
        }
        // Steps are split off before the start of an id is looked for.
        check(&session, "ffff0000", "abcdef00~1~1 = abcdef00, abcde = ambiguous");
    }

    #[test]
    fn a_label_that_ends_like_steps_can_be_named() {
        let entries = [
            message("aaaa1111", "", "user", "one"),
            message("bbbb2222", "aaaa1111", "user", "two"),
            label("cccc3333", "bbbb2222", "bbbb2222", "v~1"),
        ];
        check(&session(&entries), "cccc3333", "label:v~1 = bbbb2222, label:v~1~1 = aaaa1111");
        // Where a label without them exists too, they are steps.
        let shadowed = [&entries[..], &[label("dddd4444", "cccc3333", "cccc3333", "v")]].concat();
        check(&session(&shadowed), "dddd4444", "label:v~1 = bbbb2222, label:v = cccc3333");
    }

    #[test]
    fn a_name_that_means_nothing_is_not_found() {
        let session = prompts();
        for name in [
            "aaa",
            "",
            "~",
            "~1",
            "zzzzzzzz",
            "user:0",
            "user:4",
            "user:",
            "user:x",
            "user:-1",
            "label:",
            "label:x",
            "assistant:0",
            "assistant:3",
            "assistant:",
        ] {
            let (kind, message, hint) = refuse(&session, name);
            assert_eq!((kind, message), ("not-found", format!("`{}` names no entry", name)), "{hint}");
        }
        for name in ["@~5", "@~99999999999999999999999999", "aaaa1111~1", "label:plan-b~2", "user:3~1"] {
            let (kind, message, _) = refuse(&session, name);
            assert_eq!(kind, "not-found");
            assert!(message.starts_with(&format!("`{name}` goes beyond the root")), "{message}");
        }
    }

    #[test]
    fn near_misses_are_in_the_hint() {
        let session = prompts();
        for (name, near) in [
            ("aaaa1112", "aaaa1111"),
            ("aaa", "aaaa1111"),
            ("AAAA11", "aaaa1111"),
            ("1234568", "12345678"),
            ("label:plan-c", "label:plan-b"),
            ("label:planb", "label:plan-b"),
            ("plan-b", "label:plan-b"),
            ("plan", "label:plan-b"),
        ] {
            let (_, _, hint) = refuse(&session, name);
            assert!(hint.contains(near), "{name}: {hint}");
        }
        let (_, _, hint) = refuse(&session, "zzzzzzzz");
        assert!(!hint.contains("aaaa") && !hint.contains("plan"), "{hint}");
    }

    #[test]
    fn an_ambiguous_name_lists_at_most_ten_candidates() {
        let (kind, text, _) = refuse(&prompts(), "cccc");
        let listed = "`cccc` matches 2 entries:\n  cccc3333  Second prompt\n  cccc4444  Second answer";
        assert_eq!((kind, text.as_str()), ("ambiguous", listed));
        let many: Vec<_> =
            (0..12).map(|at| message(&format!("abcd{at:02}"), "", "user", &format!("number {at}"))).collect();
        let (_, message, _) = refuse(&session(&many), "abcd");
        assert!(message.starts_with("`abcd` matches 12 entries:\n  abcd00  number 0\n"), "{message}");
        assert!(message.contains("  abcd09  number 9\n") && !message.contains("abcd10"), "{message}");
        assert!(message.ends_with("2 more"), "{message}");
    }

    #[test]
    fn a_label_on_two_entries_is_ambiguous() {
        let session = session(&[
            message("aaaa1111", "", "user", "one"),
            message("bbbb2222", "aaaa1111", "user", "two"),
            label("cccc3333", "bbbb2222", "aaaa1111", "twin"),
            label("dddd4444", "cccc3333", "bbbb2222", "twin"),
        ]);
        let (kind, message, _) = refuse(&session, "label:twin");
        assert_eq!(kind, "ambiguous");
        assert!(message.contains("aaaa1111  one") && message.contains("bbbb2222  two"), "{message}");
    }

    #[test]
    fn a_mark_means_where_the_leaf_moved_to() {
        let session = session(&[
            message("aaaa1111", "", "user", "one"),
            message("bbbb2222", "aaaa1111", "user", "two"),
            entry("leaf", "cccc3333", "bbbb2222", r#""targetId":"aaaa1111""#),
            label("dddd4444", "cccc3333", "cccc3333", "here"),
            entry("leaf", "eeee5555", "dddd4444", r#""targetId":null"#),
            entry("leaf", "ffff6666", "eeee5555", r#""targetId":"gone""#),
        ]);
        let cases = "cccc3333 = aaaa1111, cccc = aaaa1111, label:here = aaaa1111, dddd4444~1 = aaaa1111, \
                     cccc3333~1 = not-found, eeee5555 = not-found, ffff = not-found, @ = not-found";
        check(&session, "-", cases);
        let (_, _, hint) = refuse(&session, "eeee");
        assert!(hint.contains("`--root`"), "{hint}");
    }

    /// What the leaf ends in, each a child of the one before it; `u` is a prompt. Then what `@` is where it says
    /// what a command is about, what `@~1` is, and what `@` is where it says where one stands.
    const LEAVES: &[(&str, &str)] = &[
        ("u:u1 a:a1", "a1 u1 a1"),
        ("u:u1", "u1 too-far u1"),
        // Each mark.
        ("u:u1 a:a1 label:m1", "a1 u1 m1"),
        ("u:u1 a:a1 session_info:m1", "a1 u1 m1"),
        ("u:u1 a:a1 title_change:m1", "a1 u1 m1"),
        ("u:u1 a:a1 saved:m1", "a1 u1 m1"),
        // Several of them.
        ("u:u1 a:a1 saved:m1 label:m2 session_info:m3 title_change:m4", "a1 u1 m4"),
        ("u:u1 label:m1 a:a1 label:m2", "a1 m1 m2"),
        // What is no mark: other entries of extensions, settings and summaries.
        ("u:u1 custom:c1", "c1 u1 c1"),
        ("u:u1 label:m1 custom:c1", "c1 m1 c1"),
        ("u:u1 model_change:c1", "c1 u1 c1"),
        ("u:u1 branch_summary:c1", "c1 u1 c1"),
        // A mark on nothing is itself.
        ("label:m1", "m1 too-far m1"),
        ("label:m1 saved:m2", "m1 too-far m2"),
        ("session_info:m1 u:u1", "u1 m1 u1"),
        // A mark of openclaw is never the leaf.
        ("u:u1 a:a1 leaf>u1:m1", "u1 too-far u1"),
        ("u:u1 a:a1 label:m1 leaf>m1:x1", "a1 u1 m1"),
        ("u:u1 a:a1 leaf>null:m1", "not-found not-found not-found"),
    ];

    #[test]
    fn the_leaf_is_what_its_marks_hang_at_or_where_one_stands() {
        for (lines, expected) in LEAVES {
            let mut parent = "";
            let mut file = Vec::new();
            for word in lines.split(' ') {
                let (kind, id) = word.split_once(':').unwrap();
                file.push(match kind {
                    "u" => message(id, parent, "user", "words"),
                    "a" => message(id, parent, "assistant", "words"),
                    "label" => label(id, parent, "u1", "name"),
                    "saved" => entry("custom", id, parent, r#""customType":"session-tree/leaf""#),
                    "custom" => entry("custom", id, parent, r#""customType":"session-tree/other""#),
                    kind => match kind.split_once('>') {
                        Some((kind, "null")) => entry(kind, id, parent, r#""targetId":null"#),
                        Some((kind, target)) => entry(kind, id, parent, &format!(r#""targetId":"{target}""#)),
                        None => entry(kind, id, parent, ""),
                    },
                });
                parent = id;
            }
            let session = session(&file);
            let name = |found: crate::core::error::Result<_>| match found {
                Ok(node) => session.id(node).to_owned(),
                Err(Error::TooFarUp { .. }) => "too-far".to_owned(),
                Err(error) => error.kind().name().to_owned(),
            };
            let leaf = session.leaf();
            let found = [find(&session, leaf, "@"), find(&session, leaf, "@~1"), find_place(&session, leaf, "@")];
            assert_eq!(found.map(name).join(" "), *expected, "{lines}");
            // Any other name means the same in both.
            for id in session.nodes().map(|node| session.id(node)) {
                let [about, place] = [find(&session, leaf, id), find_place(&session, leaf, id)].map(name);
                assert_eq!(about, place, "{lines}: {id}");
            }
        }
    }

    #[test]
    fn ids_that_differ_in_lone_surrogates_are_different() {
        let session = session(&[
            message(r"x\ud83d", "", "user", "one"),
            message(r"x\ud83e", r"x\ud83d", "user", "two"),
            message(r"y\ude42", r"x\ud83d", "user", "three"),
            label("L1", r"y\ude42", r"x\ud83e", "here"),
        ]);
        assert_eq!((session.len(), session.problems.list().len()), (4, 0));
        let lines = |name: &str| find(&session, session.leaf(), name).map(|node| session.line(node)).ok();
        assert_eq!(["label:here", "label:here~", "@", "@~", "y\u{fffd}"].map(lines), [3, 2, 4, 2, 4].map(Some));
        let (kind, _, _) = refuse(&session, "x\u{fffd}");
        assert_eq!(kind, "ambiguous");
    }

    #[test]
    fn only_answers_with_text_are_counted() {
        let session = session(&[
            message("u1", "", "user", "do it"),
            message("a1", "u1", "assistant", "First I look"),
            calls("a2", "a1", &[("read", "src/a.rs")]),
            result("t2", "a2", "call-0"),
            message("a3", "t2", "assistant", " \n"),
            message("x1", "a3", "custom", "words"),
        ]);
        check(&session, "x1", "assistant:1 = a1, assistant:2 = not-found, user:1 = u1");
        let (_, _, hint) = refuse(&session, "assistant:2");
        assert_eq!(hint, "there is one assistant message with text on the path, `assistant:1`");
    }

    #[test]
    fn a_session_without_entries_has_nothing_to_name() {
        check(&session::<&str>(&[]), "-", "@ = not-found, user:1 = not-found, aaaa = not-found");
    }
}
