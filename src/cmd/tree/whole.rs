//! What is printed as it is stored: the shown tree as nested nodes, and single entries.

use anyhow::Result;

use super::args::Format;
use super::printer::Printer;
use crate::core::entry::{Role, prompt};
use crate::core::naming::entry::Names;
use crate::core::session::NodeId;
use crate::core::time;
use crate::core::tree::view::ShownTree;
use crate::ui::output::{JsonList, Output};
use crate::ui::{context as transcript, escape, fit};

impl Printer<'_> {
    /// Prints the rows of a view as nested nodes, each below its nearest shown ancestor.
    pub(super) fn nested(&mut self, shown: &ShownTree) -> Result<()> {
        let session = self.session;
        let shape = shown.rows(session);
        self.output.hold();
        self.open("tree")?;
        let (output, bodies) = (&mut *self.output, &mut self.bodies);
        output.text("[")?;
        let close = |output: &mut Output, row: usize| -> Result<()> {
            output.text("]")?;
            if let Some(label) = session.label(shape.nodes[row]) {
                output.text(",\"label\":")?;
                output.json(&serde_json::to_vec(&label.name)?)?;
            }
            Ok(output.text("}")?)
        };
        // The rows whose children are being written: in the order of display these follow at once.
        let mut open = Vec::new();
        for (row, &node) in shape.nodes.iter().enumerate() {
            let mut mark = "";
            while let Some(&above) = open.last().filter(|above| Some(**above) != shape.above(row)) {
                close(output, above)?;
                open.pop();
                mark = ",";
            }
            output.text(mark)?;
            output.text("{\"entry\":")?;
            output.json(bodies.entry(node)?.object().bytes())?;
            output.text(",\"children\":[")?;
            open.push(row);
        }
        open.into_iter().rev().try_for_each(|row| close(output, row))?;
        output.text("]")?;
        self.close()
    }

    /// Prints the entries that were asked for, whole.
    pub(super) fn entries(&mut self) -> Result<()> {
        let mut nodes = Vec::new();
        let names = Names::new(self.session, self.leaf);
        for name in &self.args.entry {
            nodes.push(names.find(name)?);
        }
        self.output.hold();
        if self.args.format.is_json() {
            let mut list = JsonList::new(self.args.format.get() == Format::Json && nodes.len() > 1);
            for node in nodes {
                list.add_json(self.output, self.bodies.entry(node)?.object().bytes())?;
            }
            return Ok(list.end(self.output)?);
        }
        if self.args.body {
            for node in nodes {
                transcript::text_alone(self.bodies.entry(node)?, self.output)?;
            }
            return Ok(());
        }
        for (at, node) in nodes.into_iter().enumerate() {
            if at > 0 {
                self.output.text("\n")?;
            }
            self.whole(node)?;
        }
        Ok(())
    }

    /// Prints an entry's head and its whole text.
    fn whole(&mut self, node: NodeId) -> Result<()> {
        let (session, kind, output) = (self.session, self.kind(node), &mut *self.output);
        let label = session.label(node).map(|label| format!("  [{}]", label.name)).unwrap_or_default();
        let when = time::minute(session.stamp(node));
        let head = format!("{}  {}  {when} UTC{label}", session.id(node), kind);
        let width = self.app.screen.width;
        let mut print = |text: &str| fit::fold(text, width, None, &mut |row| output.text(row));
        print(&format!("{}\n", escape::line(&head)))?;
        let words = self.bodies.words(node)?;
        let entry = self.bodies.entry(node)?;
        // What was called, or typed, is not in the text.
        if entry.role() == Role::ToolResult || prompt::typed(entry).is_some() {
            print(&format!("{}\n", escape::line(&words)))?;
        }
        let mut is_blank = true;
        transcript::entry(entry, width, &mut |part| {
            is_blank &= part.trim().is_empty();
            output.text(part)
        })?;
        let mut print = |text: &str| fit::fold(text, width, None, &mut |row| output.text(row));
        if is_blank {
            print(&format!("{}\n", escape::line(&words)))?;
        }
        if !entry.kind().is_conversation() {
            // Nothing of it reads as text, so here is what is stored.
            print(&format!("{}\n", escape::lines(&String::from_utf8_lossy(entry.object().bytes()))))?;
        }
        Ok(())
    }
}
