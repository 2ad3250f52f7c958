//! Which options of `tree` do not go together.

use anyhow::Result;

use super::args::{Format, TreeArgs};
use crate::ui::report::Failure;

/// Refuses options that do not go together.
pub(super) fn check(args: &TreeArgs) -> Result<()> {
    let format = args.format.get();
    let is_whole = !args.entry.is_empty();
    let is_picture = matches!(format, Format::Dot | Format::Mermaid);
    let is_backwards = args.since.zip(args.until).is_some_and(|(since, until)| since > until);
    // When it is misuse, why, and what to do.
    let misuses = [
        (args.full && args.tips, "`--full` goes with rows of entries, not with `--tips`", "leave one of them out"),
        (args.full && !args.format.is_json(), "`--full` goes with `--format jsonl` or `json`", "use `--format jsonl`"),
        (
            is_whole && format != Format::Text && !args.format.is_json(),
            "`--entry` goes with `--format text`, `json` or `jsonl`",
            "leave `--format` out",
        ),
        (
            args.body && format != Format::Text,
            "`--body` goes with `--format text`",
            "leave one of them out: JSON has the text in the entry",
        ),
        (args.tips && is_picture, "`--tips` is a list, of which there is no picture", "use `--branches`"),
        (is_backwards, "nothing is between `--since` and `--until`: it ends before it starts", "swap the two"),
    ];
    if let Some((_, message, hint)) = misuses.into_iter().find(|(is_misuse, ..)| *is_misuse) {
        return Err(Failure::usage(message, hint).into());
    }
    Ok(())
}
