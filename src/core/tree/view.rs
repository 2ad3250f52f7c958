//! The views of `tree`: which entries are shown, in which order, and what is left out. Unlike the other
//! files of this room it reads bodies, since words are searched for in them.

use std::borrow::Cow;

use super::filter::Filter;
use super::shape::{Run, Shape};
use super::tips::{self, Tip};
use super::walk;
use crate::core::entry::Traits;
use crate::core::error::Result;
use crate::core::search::{Prefilter, Query};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::when::Period;

/// What is to be seen of a tree.
#[derive(Clone, Copy, Default)]
pub(crate) struct View<'a> {
    /// Which kinds of entries.
    pub filter: Filter,
    /// Which part of the tree.
    pub scope: Scope,
    /// Whether only the path to the leaf.
    pub path: bool,
    /// Of which time.
    pub period: Period,
    /// With which words.
    pub search: Option<Search<'a>>,
    /// At most how many steps below the root, or below the entry of [`Scope::Below`].
    pub depth: Option<u32>,
    /// Whether only branch points, ends of branches and labels.
    pub branches: bool,
}

/// A part of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of it.
    #[default]
    Whole,
    /// The roots.
    Roots,
    /// The entries that are directly below this one.
    Children(NodeId),
    /// This entry and all that is below it.
    Below(NodeId),
}

impl Scope {
    /// Returns for every entry whether it is in this part. `order` holds all entries, parents first.
    fn entries(self, session: &Session, order: &[NodeId]) -> Vec<bool> {
        let mut within = vec![false; session.len()];
        for &node in order {
            let (parent, is_child) = (session.parent(node), !session.is_mark(node));
            within[node.index()] = match self {
                Self::Whole => true,
                Self::Roots => is_child && parent.is_none(),
                Self::Children(of) => is_child && parent == Some(of),
                Self::Below(top) => node == top || parent.is_some_and(|parent| within[parent.index()]),
            };
        }
        within
    }
}

/// A search in the entries of a view.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    /// The words.
    pub query: &'a Query,
    /// Makes the text that is shown of an entry out of its words, which is searched too.
    pub row: &'a (dyn Fn(Traits, &str) -> String + Sync),
    /// Called once for each entry of the session.
    pub step: &'a (dyn Fn() + Sync),
}

/// The entries that a view shows.
#[derive(Debug)]
pub(crate) struct ShownTree {
    /// All entries of the session in the order of display.
    pub order: Vec<NodeId>,
    /// The shown ones as a tree; with [`View::branches`], before the rows between are taken out.
    pub shape: Shape,
    /// Whether nothing is shown, however deep.
    pub is_empty: bool,
    /// How many entries are left out since their time cannot be read.
    pub timeless: usize,
    /// How many entries are too deep, with no shown entry above them.
    pub rowless: usize,
    leaf: Option<NodeId>,
    branches: bool,
}

impl View<'_> {
    /// Returns whether the words of an entry are worth keeping while the session is read: words that are
    /// never printed take memory, and those that are not kept are read again.
    /// `prints_rows` says that a row is printed for each entry that is shown.
    pub(crate) fn keeps(&self, traits: Traits, prints_rows: bool) -> bool {
        let shows_most = !self.branches && self.depth.is_none() && !self.period.is_bound();
        let asks = prints_rows && shows_most || self.search.is_some();
        asks && !self.path && self.filter != Filter::LabeledOnly && self.filter.shows(traits, false, false)
    }

    /// Returns whether the calls of tool results are worth keeping: with many rows of results.
    pub(crate) fn keeps_calls(&self) -> bool {
        !self.path && !matches!(self.filter, Filter::NoTools | Filter::UserOnly | Filter::LabeledOnly)
    }

    /// Decides what is shown of a session that is seen from a leaf.
    pub(crate) fn show(&self, bodies: &mut Bodies<'_>, leaf: Option<NodeId>) -> Result<ShownTree> {
        let session = bodies.session();
        let order = walk::display_order(session, leaf);
        let within = self.scope.entries(session, &order);
        let (shown, timeless) = self.passing(bodies, leaf, &within, false)?;
        let depths = self.depth.map(|most| (walk::depths(session, &order), most));
        let is_deep = |node: NodeId| {
            depths.as_ref().is_some_and(|(depths, most)| {
                let top = if let Scope::Below(top) = self.scope { depths[top.index()] } else { 0 };
                depths[node.index()].saturating_sub(top) > *most
            })
        };
        let mut shape = Shape::new(session, &order, |node| shown[node.index()] && !is_deep(node));
        let rowless = shape.omit_below(session.nodes().filter(|&node| shown[node.index()] && is_deep(node)));
        let is_empty = !shown.contains(&true);
        Ok(ShownTree { order, shape, is_empty, timeless, rowless, leaf, branches: self.branches })
    }

    /// Returns whether anything of the whole tree is shown; reads up to the first entry that is.
    pub(crate) fn finds(&self, bodies: &mut Bodies<'_>, leaf: Option<NodeId>) -> Result<bool> {
        let within = vec![true; bodies.session().len()];
        Ok(self.passing(bodies, leaf, &within, true)?.0.contains(&true))
    }

    /// Returns for every entry whether it is one of those of `within` and shown, also where it is not the leaf.
    pub(crate) fn added(&self, bodies: &mut Bodies<'_>, within: &[bool]) -> Result<Vec<bool>> {
        Ok(self.passing(bodies, None, within, false)?.0)
    }

    /// Returns for every entry whether it is shown where depth does not matter, and of how many the time
    /// cannot be read; if the first one is enough, only up to that.
    fn passing(
        &self,
        bodies: &mut Bodies<'_>,
        leaf: Option<NodeId>,
        within: &[bool],
        first_only: bool,
    ) -> Result<(Vec<bool>, usize)> {
        let session = bodies.session();
        let on_path = self.path.then(|| walk::active(session, leaf));
        // Version 3 may say other things than what is stored.
        let mut prefilter = self.search.filter(|_| !session.is_migrated()).map(|search| Prefilter::new(search.query));
        let mut shown = vec![false; session.len()];
        let mut timeless = 0;
        for node in session.nodes() {
            self.search.iter().for_each(|search| (search.step)());
            let label = session.label(node).map(|label| label.name.as_str());
            if !within[node.index()]
                || !self.filter.shows(session.traits(node), label.is_some(), Some(node) == leaf)
                || on_path.as_ref().is_some_and(|path| !path[node.index()])
            {
                continue;
            }
            let is_in_time = if self.period.is_bound() { self.period.holds(session.stamp(node)) } else { Some(true) };
            timeless += usize::from(is_in_time.is_none());
            shown[node.index()] = is_in_time == Some(true)
                && match &self.search {
                    Some(search) => {
                        let row = (search.row)(session.traits(node), &bodies.words(node)?);
                        let line = bodies.bytes(node)?;
                        prefilter.as_mut().is_none_or(|prefilter| prefilter.may_match(line, label, &row))
                            && search.query.matches(bodies.entry(node)?, label, &row)
                    }
                    None => true,
                };
            if first_only && shown[node.index()] {
                break;
            }
        }
        Ok((shown, timeless))
    }
}

impl ShownTree {
    /// Returns the entries that have a row of their own, and their shape.
    pub(crate) fn rows(&self, session: &Session) -> Cow<'_, Shape> {
        let landmarks = self.branches.then(|| self.shape.landmarks(session, self.leaf));
        landmarks.map_or(Cow::Borrowed(&self.shape), |kept| Cow::Owned(self.shape.folded(&kept)))
    }

    /// Returns the straight runs that a picture has, between entries that it shows by themselves.
    pub(crate) fn runs(&self, session: &Session) -> Vec<Run> {
        let kept = match self.branches {
            true => self.shape.landmarks(session, self.leaf),
            false => self.shape.graph_landmarks(session, self.leaf),
        };
        self.shape.runs(&kept)
    }

    /// Returns the ends of the branches that hold what is shown, the newest first: those at or below a row
    /// that has no other row below it.
    pub(crate) fn tips(&self, session: &Session) -> Vec<Tip> {
        let mut holds = vec![false; session.len()];
        let rows = self.shape.nodes.iter().enumerate();
        rows.for_each(|(row, node)| holds[node.index()] = self.shape.is_tip(row));
        for &node in &self.order {
            holds[node.index()] |= session.parent(node).is_some_and(|parent| holds[parent.index()]);
        }
        let mut tips = tips::of(session, self.leaf);
        tips.retain(|tip| holds[tip.end.index()]);
        tips
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Scope, Search, View};
    use crate::core::entry::{Kind, Role, StopReason, Traits};
    use crate::core::search::Query;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{entry, forked, ids, label, message, node, session};
    use crate::core::time::when::Period;
    use crate::core::tree::filter::Filter;

    /// Returns the forked sample with a label, bookkeeping, and an entry of another time; `leaf` b2.
    fn lines() -> Vec<String> {
        let mut lines = forked();
        lines.push(entry("custom", "c1", "a1", r#""customType":"x""#));
        lines.push(label("l1", "c1", "u2", "wip"));
        lines.push(message("u3", "t2", "user", "late and loud").replace("01-01T", "01-09T"));
        lines.push(message("a3", "u3", "assistant", "never").replace("2026-01-01T00:00:01.000Z", "?"));
        lines
    }

    #[test]
    fn a_view_shows_what_passes_all_of_it() {
        const DAY: i64 = 1_767_225_600_000;
        let session = session(&lines());
        let all = View { filter: Filter::All, ..View::default() };
        let children = |id| View { scope: Scope::Children(node(&session, id).unwrap()), ..all };
        let below = |id| View { scope: Scope::Below(node(&session, id).unwrap()), ..all };
        let query = |text: &str| Box::leak(Box::new(Query::new(text)));
        let search =
            |text: &str| Some(Search { query: query(text), row: &|_, words| words.to_uppercase(), step: &|| {} });
        let late = Period { since: Some(DAY + 86_400_000), until: None };
        let early = Period { since: None, until: Some(DAY + 86_400_000) };
        // Rows, how many have no time, and how many are too deep with nothing above.
        let table: &[(&str, View<'_>, &str, &str, usize, usize)] = &[
            ("default", View::default(), "b2", "u1 a1 b1 b2 u2 t2 u3 a3", 0, 0),
            ("all", all, "b2", "u1 a1 b1 b2 u2 a2 t2 u3 a3 c1 l1", 0, 0),
            ("another leaf", all, "u3", "u1 a1 u2 a2 t2 u3 a3 b1 b2 c1 l1", 0, 0),
            ("no leaf", all, "-", "u1 a1 u2 a2 t2 u3 a3 b1 b2 c1 l1", 0, 0),
            ("filter", View { filter: Filter::UserOnly, ..all }, "b2", "u1 b1 u2 u3", 0, 0),
            ("labels", View { filter: Filter::LabeledOnly, ..all }, "b2", "u2", 0, 0),
            ("path", View { path: true, ..all }, "b2", "u1 a1 b1 b2", 0, 0),
            ("empty path", View { path: true, ..all }, "-", "-", 0, 0),
            ("since", View { period: late, ..all }, "b2", "u3", 1, 0),
            ("until", View { period: early, filter: Filter::UserOnly, ..all }, "b2", "u1 b1 u2", 0, 0),
            ("words", View { search: search("LATE loud"), ..all }, "b2", "u3", 0, 0),
            ("words of rows", View { search: search("edit"), ..all }, "b2", "a2", 0, 0),
            ("label as word", View { search: search("wip"), ..all }, "b2", "u2 l1", 0, 0),
            ("no such word", View { search: search("first second"), ..all }, "b2", "-", 0, 0),
            ("words in time", View { search: search("e"), period: late, ..all }, "b2", "u3", 1, 0),
            ("depth", View { depth: Some(1), ..all }, "b2", "u1 a1", 0, 0),
            ("too deep", View { depth: Some(1), search: search("other"), ..all }, "b2", "-", 0, 1),
            ("roots", View { scope: Scope::Roots, ..all }, "b2", "u1", 0, 0),
            ("children", children("a1"), "b2", "b1 u2 c1", 0, 0),
            ("children, filtered", View { filter: Filter::UserOnly, ..children("a1") }, "b2", "b1 u2", 0, 0),
            ("children of a tip", children("b2"), "b2", "-", 0, 0),
            ("below", below("u2"), "b2", "u2 a2 t2 u3 a3", 0, 0),
            ("depth below", View { depth: Some(1), ..below("u2") }, "b2", "u2 a2", 0, 0),
            ("words below", View { search: search("first"), ..below("u2") }, "b2", "-", 0, 0),
            ("branches", View { branches: true, ..all }, "b2", "a1 b2 u2 a3 l1", 0, 0),
            ("branches and depth", View { branches: true, depth: Some(2), ..all }, "b2", "a1 b1 u2 c1", 0, 0),
        ];
        for (name, view, leaf, rows, timeless, rowless) in table {
            let shown = view.show(&mut Bodies::new(&session), node(&session, leaf)).unwrap();
            let found = ids(&session, shown.rows(&session).nodes.iter().copied());
            assert_eq!((found.as_str(), shown.timeless, shown.rowless), (*rows, *timeless, *rowless), "{name}");
            assert_eq!(shown.is_empty, *rows == "-" && *rowless == 0, "{name}");
        }
    }

    #[test]
    fn a_search_steps_through_all_entries() {
        let session = session(&lines());
        let (steps, query) = (AtomicUsize::new(0), Query::new("second"));
        let step = || _ = steps.fetch_add(1, Ordering::Relaxed);
        let search = Search { query: &query, row: &|_, words| words.to_owned(), step: &step };
        let view = View { search: Some(search), filter: Filter::UserOnly, ..View::default() };
        view.show(&mut Bodies::new(&session), None).unwrap();
        assert_eq!(steps.into_inner(), session.len());
    }

    #[test]
    fn something_is_found_where_something_is_shown_and_no_further() {
        let session = session(&lines());
        for (text, expected) in [("first", true), ("late loud", true), ("first second", false), ("other", true)] {
            let (steps, query) = (AtomicUsize::new(0), Query::new(text));
            let step = || _ = steps.fetch_add(1, Ordering::Relaxed);
            let view = View {
                search: Some(Search { query: &query, row: &|_, words| words.to_owned(), step: &step }),
                ..View::default()
            };
            let is_found = view.finds(&mut Bodies::new(&session), session.leaf()).unwrap();
            let up_to = steps.load(Ordering::Relaxed);
            let shown = view.show(&mut Bodies::new(&session), session.leaf()).unwrap();
            assert_eq!((is_found, shown.is_empty), (expected, !expected), "{text}");
            assert_eq!(up_to < session.len(), expected, "{text}");
        }
    }

    #[test]
    fn tips_are_of_branches_that_hold_what_is_shown() {
        let session = session(&lines());
        let query = |text: &str| Box::leak(Box::new(Query::new(text)));
        let search = |text: &str| Some(Search { query: query(text), row: &|_, words| words.to_owned(), step: &|| {} });
        let check = |view: View<'_>, expected: &str| {
            let shown = view.show(&mut Bodies::new(&session), session.leaf()).unwrap();
            assert_eq!(ids(&session, shown.tips(&session).iter().map(|tip| tip.node)), expected);
        };
        let all = View { filter: Filter::All, ..View::default() };
        check(all, "b2 a3");
        check(View { filter: Filter::UserOnly, ..all }, "b2 a3");
        check(View { filter: Filter::LabeledOnly, ..all }, "a3");
        check(View { path: true, ..all }, "a3");
        check(View { search: search("late"), ..all }, "a3");
        // What all branches share, they all hold.
        check(View { search: search("first"), ..all }, "b2 a3");
        check(View { search: search("nothing of it"), ..all }, "-");
    }

    #[test]
    fn runs_are_those_of_the_shown_tree() {
        let session = session(&lines());
        let view = View { filter: Filter::UserOnly, ..View::default() };
        let shown = view.show(&mut Bodies::new(&session), session.leaf()).unwrap();
        let runs: Vec<_> = shown.runs(&session).iter().map(|run| run.rows.len()).collect();
        assert_eq!(runs, [1, 1, 1, 1]);
    }

    #[test]
    fn words_are_kept_where_most_of_them_are_printed() {
        let user = Traits { kind: Kind::Message, role: Role::User, stop: StopReason::Normal, has_text: true };
        let query = Query::new("x");
        let search = Some(Search { query: &query, row: &|_, words| words.to_owned(), step: &|| {} });
        let all = View::default();
        // With rows, without, and the calls of tools.
        let table = [
            (all, (true, false, true)),
            (View { branches: true, ..all }, (false, false, true)),
            (View { depth: Some(9), ..all }, (false, false, true)),
            (View { period: Period { since: Some(0), until: None }, ..all }, (false, false, true)),
            (View { depth: Some(9), search, ..all }, (true, true, true)),
            (View { path: true, search, ..all }, (false, false, false)),
            (View { filter: Filter::LabeledOnly, ..all }, (false, false, false)),
            (View { filter: Filter::UserOnly, ..all }, (true, false, false)),
        ];
        for (at, (view, expected)) in table.into_iter().enumerate() {
            assert_eq!((view.keeps(user, true), view.keeps(user, false), view.keeps_calls()), expected, "{at}");
        }
    }
}
