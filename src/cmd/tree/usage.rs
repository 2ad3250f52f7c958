//! Which options of `tree` do not go together.

use anyhow::Result;

use super::args::{Format, TreeArgs};
use crate::cmd::sessions::NO_NAME;
use crate::ui::report::Failure;

/// Refuses options that do not go together.
pub(super) fn check(args: &TreeArgs, are_several: bool) -> Result<()> {
    let format = args.format.get();
    let is_whole = !args.entry.is_empty();
    let is_picture = matches!(format, Format::Dot | Format::Mermaid);
    let is_of_one =
        are_several && (args.leaf.is_some() || args.root || args.children.is_some() || args.below.is_some());
    let is_backwards = args.since.zip(args.until).is_some_and(|(since, until)| since > until);
    let alone = if args.sessions.is_named_stream() { NO_NAME } else { "name the session alone" };
    // When it is misuse, why, and what to do.
    let misuses = [
        (args.full && args.tips, "`--full` goes with rows of entries, not with `--tips`", "leave one of them out"),
        (args.full && !args.format.is_json(), "`--full` goes with `--format jsonl` or `json`", "use `--format jsonl`"),
        (
            is_whole && format != Format::Text && !args.format.is_json(),
            "`--entry` goes with `--format text`, `json` or `jsonl`",
            "leave `--format` out",
        ),
        (args.body && !is_whole, "`--body` goes with `--entry`", "name the entry with `--entry`"),
        (args.timeout.is_some() && !args.follow, "`--timeout` goes with `--follow`", "leave it out, or add `--follow`"),
        (
            args.body && format != Format::Text,
            "`--body` goes with `--format text`",
            "leave one of them out: JSON has the text in the entry",
        ),
        (args.tips && is_picture, "`--tips` is a list, of which there is no picture", "use `--branches`"),
        (
            args.tips && (args.roots || args.children.is_some()),
            "`--tips` shows the ends of branches, `--roots` and `--children` what is not at their ends",
            "leave one of them out",
        ),
        (are_several && is_whole, "`--entry` is for one session", alone),
        (are_several && is_picture, "there is a picture of one session only", alone),
        (
            is_of_one,
            "`--leaf`, `--root`, `--children` and `--below` are for one session: each has entries of its own",
            alone,
        ),
        (args.follow && are_several, "`--follow` is for one session", alone),
        (
            args.follow && args.session.is_stdin(),
            "`--follow` looks at a file again and again: standard input is none",
            "give the path of the session file",
        ),
        (
            args.follow && !matches!(format, Format::Text | Format::Jsonl),
            "`--follow` prints row after row: it goes with `--format text` or `jsonl`",
            "use `--format jsonl` for programs",
        ),
        (is_backwards, "nothing is between `--since` and `--until`: it ends before it starts", "swap the two"),
    ];
    if let Some((_, message, hint)) = misuses.into_iter().find(|(is_misuse, ..)| *is_misuse) {
        return Err(Failure::usage(message, hint).into());
    }
    Ok(())
}
