//! The language of Graphviz. Text is in quotes, where only `"`, `\` and, as in HTML, `&` have a meaning.

use super::super::escape;
use super::node::{GraphNode, NodeShape, xml_safe};

pub(super) fn head(name: &str) -> String {
    format!(
        "digraph session {{\n  \
           graph [label=\"{}\", labelloc=t, fontname=\"sans-serif\", fontsize=12, ranksep=0.3];\n  \
           node [shape=box, style=\"filled,rounded\", fillcolor=white, color=\"#868e96\", fontname=\"sans-serif\", \
           fontsize=10];\n  \
           edge [color=\"#868e96\", arrowsize=0.6];\n",
        escaped(name)
    )
}

pub(super) fn node(node: &GraphNode<'_>) -> String {
    let lines: Vec<_> = node.lines.iter().map(|line| escaped(line)).collect();
    // Graphviz takes no string of more than 16384 characters, and unescapes tooltips twice.
    const LONGEST: usize = 200;
    let id: String = escape::line(node.id).replace('\\', "/").chars().take(LONGEST).collect();
    let mut out = format!("  n{} [label=\"{}\", tooltip=\"{}\"", node.number, lines.join("\\n"), escaped(&id));
    let is_summary = matches!(node.look, NodeShape::Compaction | NodeShape::Summary);
    out.push_str(match node.look {
        NodeShape::Entry => "",
        NodeShape::Fork => ", style=\"filled,diagonals\"",
        NodeShape::Tip => ", peripheries=2",
        NodeShape::Run => ", style=dashed",
        NodeShape::Compaction => ", shape=note, style=filled",
        NodeShape::Summary => ", shape=folder, style=filled",
    });
    out.push_str(match (node.has_leaf, node.has_label, is_summary) {
        (true, ..) => ", fillcolor=\"#b2f2bb\"",
        (_, true, _) => ", fillcolor=\"#fff3bf\"",
        (.., true) => ", fillcolor=\"#e5dbff\"",
        _ => "",
    });
    out.push_str(match (node.has_leaf, node.is_active) {
        (true, _) => ", color=\"#2b8a3e\", penwidth=3",
        (_, true) => ", color=\"#2b8a3e\", penwidth=2",
        _ => "",
    });
    out.push_str("];\n");
    if let Some(above) = node.above {
        let active = if node.is_active { " [color=\"#2b8a3e\", penwidth=2]" } else { "" };
        out.push_str(&format!("  n{above} -> n{}{active};\n", node.number));
    }
    out
}

pub(super) fn foot() -> String {
    "}\n".to_owned()
}

fn escaped(text: &str) -> String {
    xml_safe(text).replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_cannot_end_its_quotes() {
        assert_eq!(escaped(r#"a "b" \N \" <b> # &lt; é"#), r#"a \"b\" \\N \\\" <b> # &amp;lt; é"#);
        assert_eq!(escaped("\u{ffff}\u{fdd0}\u{1fffe}\u{fffd}"), "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
    }
}
