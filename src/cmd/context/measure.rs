//! What `context --stats` measures of a session: the context at a leaf, or all branches.

use crate::core::context::Context;
use crate::core::context::stats::{self, Stats};
use crate::core::error::Result;
use crate::core::session::body::Bodies;
use crate::ui::stats::MeasuredPart;

/// Measures a context and its path, or all branches, on up to `jobs` threads.
pub(super) fn measure<'s>(
    all: bool,
    bodies: &mut Bodies<'s>,
    context: &Context,
    jobs: usize,
) -> Result<(MeasuredPart<'s>, Stats)> {
    if all {
        return Ok((MeasuredPart::AllBranches, stats::measure_all(bodies, jobs)?));
    }
    let leaf = context.leaf.map(|leaf| bodies.session().id(leaf));
    Ok((MeasuredPart::Path(leaf), stats::measure(bodies, context, jobs)?))
}
