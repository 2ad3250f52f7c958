//! `tree --format dot`, `mermaid`: a picture of the tree.

use anyhow::Result;

use super::printer::Printer;
use crate::core::tree::rows;
use crate::core::tree::view::ShownTree;
use crate::ui::graph::{Graph, GraphFormat, MERMAID_ARROWS, MERMAID_CHARACTERS};

impl Printer<'_> {
    pub(super) fn graph(&mut self, shown: &ShownTree, form: GraphFormat) -> Result<()> {
        let session = self.session;
        let runs = shown.runs(session);
        let rows = rows::of_shape(session, self.leaf, &shown.shape);
        let drawn = (&shown.shape, &rows, &runs[..]);
        let graph = Graph::new(form, session, drawn, &self.app.screen);
        self.output.hold();
        let mut characters = 0;
        let mut print = |piece: &str| {
            characters += piece.chars().count();
            self.output.text(piece)
        };
        print(&graph.head(&self.bodies.title()?))?;
        for at in 0..runs.len() {
            let words = graph.speaks(at).map(|node| self.bodies.words(node)).transpose()?;
            print(&graph.draw_node(at, words.as_deref()))?;
        }
        print(&graph.foot())?;
        let arrows = runs.iter().filter(|knot| knot.above.is_some()).count();
        if form == GraphFormat::Mermaid && (arrows > MERMAID_ARROWS || characters > MERMAID_CHARACTERS) {
            let limits = format!("{MERMAID_ARROWS} arrows and {MERMAID_CHARACTERS} characters");
            self.app.report.hint(&format!(
                "Mermaid draws up to {limits} unless it is told otherwise: `--branches`, `--filter` or `--depth` leave \
                 more out, and Graphviz has no such limit"
            ));
        }
        Ok(())
    }
}
