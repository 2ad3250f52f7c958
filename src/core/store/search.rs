//! Whether a session holds the words of a search: it does if `tree --search` finds an entry, or if they are
//! all in its name.

use std::sync::Mutex;

use crate::core::entry::Traits;
use crate::core::error::Result;
use crate::core::read::line::{BLOCK, Lines};
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::search::Query;
use crate::core::search::file::UnseenWords;
use crate::core::session::Session;
use crate::core::session::body::Bodies;
use crate::core::tree::view::{Search, View};

/// Returns whether a session holds the words of a search. `row` makes the text that is shown of an entry out
/// of its words, which is searched too.
pub(crate) fn holds(
    source: Source,
    query: &Query,
    row: &(dyn Fn(Traits, &str) -> String + Sync),
    jobs: usize,
) -> Result<bool> {
    if !may_hold(&source, query)? {
        return Ok(false);
    }
    let view = View { search: Some(Search { query, row, step: &|| {} }), ..View::default() };
    // Mostly there is a hit, and words of what is behind it would be kept for nothing.
    let options = LoadOptions { calls: view.keeps_calls(), ..LoadOptions::INDEX_ONLY };
    let session = Session::load(source, options, jobs)?;
    if session.name().is_some_and(|name| query.missing_in(name).is_none()) {
        return Ok(true);
    }
    view.finds(&mut Bodies::new(&session), session.leaf())
}

/// Returns whether a file has every word that must be in its bytes; stops where the last of them is.
pub(crate) fn may_hold(source: &Source, query: &Query) -> Result<bool> {
    let mut unseen = UnseenWords::new(query);
    let long = Mutex::new(());
    let mut lines = Lines::new(source, &long);
    let mut at = 0;
    while at < source.len() && !unseen.is_empty() {
        let block = at..source.len().min(at + BLOCK as u64);
        at = block.end;
        lines.in_block(block, |line| {
            unseen.look(line.bytes);
            !unseen.is_empty()
        })?;
    }
    Ok(unseen.is_empty())
}
