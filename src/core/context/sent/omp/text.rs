//! Texts as omp 18 words them for a model: tidied summaries, and what was cut off an output.

use crate::core::json::Raw;

/// Returns a summary without what only takes room: space at the ends of lines, several blank lines in a row, and
/// the padding of tables. Code keeps its blank lines.
pub(super) fn tidy(summary: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut blank = 0;
    let mut in_code = false;
    for line in summary.trim_end().split('\n').map(str::trim_end) {
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if in_code || blank == 1 {
            lines.extend(std::iter::repeat_n(String::new(), blank));
        }
        blank = 0;
        in_code ^= line.trim_start().starts_with("```");
        lines.push(if in_code { line.to_owned() } else { row(line).unwrap_or_else(|| line.to_owned()) });
    }
    lines.join("\n")
}

/// Returns a row of a table without padding; `None` for other lines.
fn row(line: &str) -> Option<String> {
    let cells = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let cells = cells.split('|').map(|cell| {
        let cell = cell.trim();
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        let is_rule = dashes.len() > 3 && dashes.bytes().all(|byte| byte == b'-');
        if is_rule { cell.replacen(dashes, "---", 1) } else { cell.to_owned() }
    });
    Some(format!("|{}|", cells.collect::<Vec<_>>().join("|")))
}

/// Returns what omp says of an output that was cut, if it was.
pub(super) fn cut(execution: Raw<'_>) -> Option<String> {
    let cut = execution.get("meta")?.get("truncation")?;
    let number = |object: Raw<'_>, name| {
        let number = object.get(name).filter(|value| value.number().is_some());
        number.map(|number| String::from_utf8_lossy(number.bytes()).into_owned())
    };
    let total = number(cut, "totalLines")?;
    let range = cut.get("shownRange").and_then(|range| number(range, "start").zip(number(range, "end")));
    let mut note = match (range, number(cut, "outputLines")) {
        (Some((start, end)), _) => format!("Showing lines {start}-{end} of {total}"),
        (None, Some(shown)) => format!("Showing {shown} of {total} lines"),
        (None, None) => return None,
    };
    let limit = cut.get("maxBytes").and_then(Raw::number);
    if let Some(limit) = limit.filter(|_| cut.get_str("truncatedBy").as_deref() == Some("bytes")) {
        note.push_str(&format!(" ({} limit)", size(limit)));
    }
    number(cut, "nextOffset").iter().for_each(|offset| note.push_str(&format!(". Use :{offset} to continue")));
    cut.get_str("artifactId").iter().for_each(|id| note.push_str(&format!(". Read artifact://{id} for full output")));
    Some(format!("\n\n[{note}]"))
}

fn size(bytes: f64) -> String {
    const UNIT: f64 = 1024.0;
    if bytes < UNIT {
        format!("{bytes}B")
    } else if bytes < UNIT * UNIT {
        format!("{:.1}KB", bytes / UNIT)
    } else {
        format!("{:.1}MB", bytes / (UNIT * UNIT))
    }
}

#[cfg(test)]
mod tests {
    use super::{cut, tidy};
    use crate::core::json::Raw;

    #[test]
    fn summaries_are_tidied_as_omp_does_it() {
        let rows = [
            ("  a  \n  b\t\n", "  a\n  b"),
            ("a\n\nb\n\n\n\nc", "a\n\nb\nc"),
            ("- x\r\n  \r\n- y", "- x\n\n- y"),
            ("| a  |  b |\n|-----|:----:|\n| 1 |   2  |", "|a|b|\n|---|:---:|\n|1|2|"),
            ("```\nx\n\n\n| y |   \n```\n\nz", "```\nx\n\n\n| y |\n```\n\nz"),
            ("x | y\n--- | -----", "x | y\n--- | -----"),
            ("|", "|"),
        ];
        for (stored, sent) in rows {
            assert_eq!(tidy(stored), sent, "{stored:?}");
        }
    }

    #[test]
    fn cut_outputs_say_what_is_shown() {
        let rows = [
            (
                r#"{"totalLines":100,"shownRange":{"start":91,"end":100},"artifactId":"7","nextOffset":5}"#,
                Some("[Showing lines 91-100 of 100. Use :5 to continue. Read artifact://7 for full output]"),
            ),
            (r#"{"totalLines":100,"outputLines":10}"#, Some("[Showing 10 of 100 lines]")),
            (
                r#"{"totalLines":9,"truncatedBy":"bytes","maxBytes":51200,"shownRange":{"start":1,"end":2}}"#,
                Some("[Showing lines 1-2 of 9 (50.0KB limit)]"),
            ),
            (r#"{"totalLines":9}"#, None),
        ];
        for (truncation, note) in rows {
            let message = format!(r#"{{"meta":{{"truncation":{truncation}}}}}"#);
            let found = cut(Raw::new(message.as_bytes()));
            assert_eq!(found.as_deref().map(str::trim_start), note, "{truncation}");
        }
    }
}
