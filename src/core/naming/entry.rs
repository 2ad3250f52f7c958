//! From what a person types as ENTRY to an entry (help naming, "Entries"): ids and their starts, `@`,
//! `user:N`, `label:NAME`, each with steps `~N`. What names nothing is an error with near misses.

use super::index::NameIndex;
use crate::core::error::{Error, Result};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// The fewest leading characters of an id that name it.
pub(crate) const PREFIX: usize = 4;
/// How many candidates an error lists.
const CANDIDATES: usize = 10;
/// How many near misses an error lists.
const NEAR: usize = 3;

/// Finds the entry that a name means, seen from `leaf`. Many are found by one [`Names`].
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
        let node = match self.matches(base)[..] {
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
    fn matches(&self, base: &str) -> Vec<NodeId> {
        if base == "@" {
            return self.leaf.into_iter().collect();
        }
        if let Some(node) = self.session.find(base) {
            return vec![node];
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
        let number = user_number(base).and_then(|number| number.checked_sub(1));
        number.and_then(|number| self.index.prompt(number)).into_iter().collect()
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

/// Returns N of `user:N`.
fn user_number(base: &str) -> Option<usize> {
    base.strip_prefix("user:")?.parse().ok()
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
    if base == "@" {
        return "there is no leaf before the first entry".to_owned();
    }
    if user_number(base).is_some() {
        return match session.ancestors(leaf).filter(|&node| session.is_user(node)).count() {
            0 => "there is no user message on the path".to_owned(),
            1 => "there is one user message on the path, `user:1`".to_owned(),
            count => format!("there are {count} user messages on the path, `user:1` is the last"),
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
    "`session-tree tree FILE --filter all` lists the ids; `@`, `user:N` and `label:NAME` are names too".to_owned()
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

/// The names nearest to one that was not found, best first.
pub(crate) struct NearMisses<'n> {
    name: &'n str,
    best: Vec<(usize, String)>,
}

impl<'n> NearMisses<'n> {
    /// The longest name that is compared, in bytes: a longer one is not mistyped, and comparing it is slow.
    const LONGEST: usize = 64;

    /// Starts with the name that was not found.
    pub(crate) fn new(name: &'n str) -> Self {
        Self { name, best: Vec::new() }
    }

    /// Returns the near misses.
    pub(crate) fn names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the largest distance of a near miss; `None` if nothing is to be compared.
    fn limit(&self) -> Option<usize> {
        let is_word = !self.name.is_empty() && self.name.len() <= Self::LONGEST;
        is_word.then(|| (self.name.chars().count() / 3).clamp(1, 3))
    }

    /// Compares `name`, which may be a part of the whole one, with a label.
    fn add_label(&mut self, label: &str, name: &str) {
        let Some(limit) = self.limit().filter(|_| label.len() <= Self::LONGEST) else { return };
        let far = strsim::levenshtein(label, name);
        if far <= limit.max(2) {
            self.add(far, || format!("label:{label}"));
        }
    }

    /// Compares the name with an id.
    pub(crate) fn add_id(&mut self, id: &str) {
        let (Some(limit), name) = (self.limit(), self.name) else { return };
        // The start of an id is compared with a start of the same length.
        let length = name.chars().count().max(PREFIX);
        let head = id.char_indices().nth(length).map_or(id, |(at, _)| &id[..at]);
        let is_start = id.starts_with(name) || head.eq_ignore_ascii_case(name);
        let far = if is_start { 0 } else { strsim::levenshtein(head, name) };
        if far <= limit {
            self.add(far, || id.to_owned());
        }
    }

    fn add(&mut self, far: usize, name: impl FnOnce() -> String) {
        let at = self.best.partition_point(|(other, _)| *other <= far);
        if at < NEAR {
            self.best.insert(at, (far, name()));
            self.best.truncate(NEAR);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::core::session::Session;
    use crate::core::session::sample::{entry, label, message, node, session};

    use super::find;

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
                     12345678 = 12345678, @ = dddd5555, label:plan-b = bbbb2222, user:1 = 12345678, user:2 = cccc3333, \
                     user:3 = aaaa1111";
        check(&prompts(), "dddd5555", cases);
    }

    #[test]
    fn steps_lead_to_ancestors_of_any_type() {
        let cases = "@~0 = dddd5555, @~ = 12345678, @~1 = 12345678, @~2 = cccc4444, @~5 = aaaa1111, @~005 = aaaa1111, \
                     dddd5555~1 = 12345678, dddd~ = 12345678, 12345678~ = cccc4444, label:plan-b~1 = aaaa1111, \
                     user:1~2 = cccc3333, user:2~1 = bbbb2222";
        check(&prompts(), "dddd5555", cases);
    }

    #[test]
    fn leaf_and_prompts_are_those_of_the_leaf_worked_from() {
        let cases = "@ = cccc4444, @~1 = cccc3333, user:1 = cccc3333, user:3 = not-found";
        check(&prompts(), "cccc4444", cases);
        check(&prompts(), "12345678", "user:1 = 12345678, label:plan-b = bbbb2222");
        check(&prompts(), "-", "@ = not-found, user:1 = not-found, aaaa = aaaa1111");
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
        for name in
            ["aaa", "", "~", "~1", "zzzzzzzz", "user:0", "user:4", "user:", "user:x", "user:-1", "label:", "label:x"]
        {
            let (kind, message, hint) = refuse(&session, name);
            assert_eq!((kind, message), ("not-found", format!("`{}` names no entry", name)), "{hint}");
        }
        for name in ["@~6", "@~99999999999999999999999999", "aaaa1111~1", "label:plan-b~2", "user:3~1"] {
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

    #[test]
    fn a_session_without_entries_has_nothing_to_name() {
        check(&session::<&str>(&[]), "-", "@ = not-found, user:1 = not-found, aaaa = not-found");
    }
}
