//! The formats of `check`, some of which are of findings alone.

use anyhow::Result;

use super::super::args::Formats;
use crate::ui::check::FindingFormat;
use crate::ui::report::Failure;

impl Formats for FindingFormat {
    const JSON: &[Self] = &[Self::Json, Self::Jsonl, Self::Sarif];
}

/// Refuses a format that is one of findings alone, for an option that prints something else.
pub(super) fn needs_plain_format(option: &str, format: FindingFormat) -> Result<()> {
    if matches!(format, FindingFormat::Github | FindingFormat::Sarif) {
        let message = format!("`{option}` has no such format");
        return Err(Failure::usage(message, "use `--format text` or `--format json`").into());
    }
    Ok(())
}
