//! Which options of `tree` do not go together, or do nothing.

use anyhow::Result;

use super::args::{Format, TreeArgs};
use crate::cmd::App;
use crate::core::problem::WarningKind;
use crate::core::tree::filter::Filter;
use crate::ui::report::Failure;

const USE_JSONL: &str = "use `--format jsonl`";

/// Refuses options that do not go together, and warns of those that do nothing.
pub(super) fn check(args: &TreeArgs, app: &App) -> Result<()> {
    let (format, is_nested) = (args.format.get(), args.is_nested());
    let is_whole = !args.entry.is_empty();
    let is_picture = matches!(format, Format::Dot | Format::Mermaid);
    let is_backwards = args.since.zip(args.until).is_some_and(|(since, until)| since > until);
    // When it is misuse, why, and what to do.
    let misuses = [
        (args.full && args.tips, "`--full` goes with rows of entries, not with `--tips`", "leave one of them out"),
        (args.full && format != Format::Jsonl, "`--full` goes with `--format jsonl`", USE_JSONL),
        (
            is_whole && !matches!(format, Format::Text | Format::Json),
            "`--entry` goes with `--format text` or `json`",
            "leave `--format` out",
        ),
        (args.tips && is_picture, "`--tips` is a list, of which there is no picture", "use `--branches`"),
        (is_nested && args.branches, "`--format json` holds all entries, without `--branches`", USE_JSONL),
        (is_nested && args.depth.is_some(), "`--format json` holds all entries, without `--depth`", USE_JSONL),
        (is_nested && args.since.is_some(), "`--format json` holds all entries, without `--since`", USE_JSONL),
        (is_nested && args.until.is_some(), "`--format json` holds all entries, without `--until`", USE_JSONL),
        (is_backwards, "nothing is between `--since` and `--until`: it ends before it starts", "swap the two"),
    ];
    if let Some((_, message, hint)) = misuses.into_iter().find(|(is_misuse, ..)| *is_misuse) {
        return Err(Failure::usage(message, hint).into());
    }
    let restricts = args.leaf.is_some()
        || args.root
        || args.search.is_some()
        || args.path
        || !matches!(args.filter, Filter::Default | Filter::All);
    if is_nested && restricts {
        let message = "`--format json` holds all entries: `--filter`, `--search`, `--path`, `--leaf` and `--root` do \
                       nothing; `--format jsonl` obeys them";
        app.report.warn(WarningKind::Usage, message, None, None);
    }
    Ok(())
}
