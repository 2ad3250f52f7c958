//! Pages of the reference and lists of what there is help on. The text is this program's own, so that it
//! is printed as it is; headings are bold where there is colour.

use super::paint::{Ink, Paint};

/// Returns a Markdown page without its comments.
pub(crate) fn page(markdown: &str, paint: Paint) -> String {
    let mut out = String::with_capacity(markdown.len() + 1024);
    let mut in_code = false;
    for line in markdown.lines().filter(|line| !line.starts_with("<!--")) {
        in_code ^= line.starts_with("```");
        let ink = if line.starts_with('#') && !in_code { Ink::Strong } else { Ink::Plain };
        paint.push(&mut out, ink, line);
        out.push('\n');
    }
    out
}

/// Returns lists of names with what they are, each under its heading.
pub(crate) fn lists(lists: &[(&str, Vec<(String, String)>)], paint: Paint) -> String {
    let width = lists.iter().flat_map(|(_, names)| names).map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut out = String::new();
    for (heading, names) in lists {
        if !out.is_empty() {
            out.push('\n');
        }
        paint.push(&mut out, Ink::Strong, &format!("{heading}:"));
        out.push('\n');
        for (name, about) in names {
            out.push_str(&format!("  {name:width$}  {about}\n"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::ui::paint::Paint;

    #[test]
    fn headings_are_bold_in_colour_and_comments_are_left_out() {
        let markdown = "# A\n\n<!-- x: generated -->\ntext # b\n```sh\n# c\n```\n<!-- end -->\n## D\n";
        let plain = "# A\n\ntext # b\n```sh\n# c\n```\n## D\n";
        assert_eq!(page(markdown, Paint::default()), plain);
        let bold = plain.replace("# A", "\u{1b}[1m# A\u{1b}[0m").replace("## D", "\u{1b}[1m## D\u{1b}[0m");
        assert_eq!(page(markdown, Paint { color: true, ..Paint::default() }), bold);
    }
}
