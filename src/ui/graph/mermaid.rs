//! The language of Mermaid. Text is in quotes, and every character that has a meaning in Mermaid, Markdown
//! or HTML is written as `#NUMBER;`.

use super::node::{GraphNode, NodeShape, xml_safe};

/// The classes of nodes with their styles; that of the leaf is last and takes precedence.
const CLASSES: [(&str, &str); 5] = [
    ("run", "stroke-dasharray:4"),
    ("summary", "fill:#e5dbff,color:#000"),
    ("labelled", "fill:#fff3bf,color:#000"),
    ("active", "stroke:#2b8a3e,stroke-width:2px"),
    ("leaf", "fill:#b2f2bb,color:#000,stroke-width:3px"),
];

pub(super) fn head() -> String {
    "flowchart TD\n".to_owned()
}

pub(super) fn node(node: &GraphNode<'_>) -> String {
    let (left, right) = match node.look {
        NodeShape::Entry | NodeShape::Run => ("[", "]"),
        NodeShape::Fork => ("{{", "}}"),
        NodeShape::Tip => ("([", "])"),
        NodeShape::Compaction | NodeShape::Summary => ("[[", "]]"),
    };
    let lines: Vec<_> = node.lines.iter().map(|line| escaped(line)).collect();
    let mut out = format!("  n{}{left}\"{}\"{right}\n", node.number, lines.join("<br/>"));
    if let Some(above) = node.above {
        let line = if node.is_active { "==>" } else { "-->" };
        out.push_str(&format!("  n{above} {line} n{}\n", node.number));
    }
    out
}

pub(super) fn foot<'a>(nodes: impl Iterator<Item = GraphNode<'a>>) -> String {
    let mut members = CLASSES.map(|_| Vec::new());
    for node in nodes {
        let is_summary = matches!(node.look, NodeShape::Compaction | NodeShape::Summary);
        let is = [node.look == NodeShape::Run, is_summary, node.has_label, node.is_active, node.has_leaf];
        for (members, _) in members.iter_mut().zip(is).filter(|(_, is)| *is) {
            members.push(format!("n{}", node.number));
        }
    }
    let mut out = String::new();
    for ((name, style), members) in CLASSES.into_iter().zip(members).filter(|(_, members)| !members.is_empty()) {
        out.push_str(&format!("  classDef {name} {style}\n  class {} {name}\n", members.join(",")));
    }
    out
}

fn escaped(text: &str) -> String {
    let text = xml_safe(text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let is_plain = match char {
            // Mermaid uses these internally for what it has decoded.
            'ﬂ' | '°' | '¶' | 'ß' => false,
            // Except before a blank, Mermaid may take it for a style, an icon or a scheme.
            ':' => chars.peek() == Some(&' '),
            // Mermaid takes `direction LR` for a statement anywhere in a line.
            _ if char.is_whitespace() => char == ' ' && !out.ends_with("direction"),
            '.' | ',' | '-' | '_' | '/' | '(' | ')' | '[' | ']' | '+' | '=' | '!' | '?' | '\'' => true,
            _ => char.is_ascii_alphanumeric() || !char.is_ascii(),
        };
        if is_plain { out.push(char) } else { out.push_str(&format!("#{};", u32::from(char))) }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_has_no_meaning_to_mermaid() {
        assert_eq!(escaped(r#""]; `%%{x}"#), "#34;]#59; #96;#37;#37;#123;x#125;");
        assert_eq!(escaped("<b>&amp; #35; $$x$$ *y*"), {
            "#60;b#62;#38;amp#59; #35;35#59; #36;#36;x#36;#36; #42;y#42;"
        });
        assert_eq!(escaped("style a:#x; fa:fa-x user: é"), "style a#58;#35;x#59; fa#58;fa-x user: é");
        assert_eq!(escaped("style:"), "style#58;");
        assert_eq!(escaped("direction LR direction\u{a0}TD"), "direction#32;LR direction#160;TD");
        assert_eq!(escaped("ﬂ°°60¶ß \u{ffff}"), "#64258;#176;#176;60#182;#223; \u{fffd}");
    }
}
