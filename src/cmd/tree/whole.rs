//! What is printed as it is stored: the whole tree nested, and single entries.

use anyhow::Result;

use super::printer::Printer;
use crate::core::entry::{Kind, Role};
use crate::core::session::NodeId;
use crate::core::time;
use crate::ui::output::Output;
use crate::ui::{context as transcript, escape, fit};

impl Printer<'_> {
    pub(super) fn nested(&mut self) -> Result<()> {
        let session = self.session;
        let mut output = Output::new();
        output.hold();
        output.text("[")?;
        // What is still to be written: entries, and the ends of entries whose children come first.
        enum Step {
            Open(NodeId, bool),
            Close(NodeId),
        }
        let push = |stack: &mut Vec<Step>, family: &[NodeId]| {
            let steps = family.iter().enumerate().rev();
            stack.extend(steps.map(|(at, &node)| Step::Open(node, at > 0)));
        };
        let mut stack = Vec::new();
        push(&mut stack, session.roots());
        while let Some(step) = stack.pop() {
            match step {
                Step::Open(node, comma) => {
                    output.text(if comma { ",{\"entry\":" } else { "{\"entry\":" })?;
                    output.json(self.bodies.entry(node)?.object().bytes())?;
                    output.text(",\"children\":[")?;
                    stack.push(Step::Close(node));
                    push(&mut stack, session.children(node));
                }
                Step::Close(node) => {
                    output.text("]")?;
                    if let Some(label) = session.label(node) {
                        let name = serde_json::to_vec(&label.name)?;
                        output.text(",\"label\":")?;
                        output.json(&name)?;
                    }
                    output.text("}")?;
                }
            }
        }
        output.text("]\n")?;
        Ok(output.finish()?)
    }

    /// Prints the entries that were asked for, whole.
    pub(super) fn entries(&mut self) -> Result<()> {
        let mut nodes = Vec::new();
        for name in &self.args.entry {
            nodes.push(self.args.session.entry(self.session, self.leaf, name)?);
        }
        let mut output = Output::new();
        output.hold();
        for (at, &node) in nodes.iter().enumerate() {
            if self.args.format.is_json() {
                output.json(self.bodies.entry(node)?.object().bytes())?;
                output.text("\n")?;
                continue;
            }
            if at > 0 {
                output.text("\n")?;
            }
            self.whole(node, &mut output)?;
        }
        Ok(output.finish()?)
    }

    /// Prints an entry's head and its whole text.
    fn whole(&mut self, node: NodeId, output: &mut Output) -> Result<()> {
        let session = self.session;
        let label = session.label(node).map(|label| format!("  [{}]", label.name)).unwrap_or_default();
        let when = time::minute(session.stamp(node));
        let head = format!("{}  {}  {when} UTC{label}", session.id(node), self.kind(node));
        let width = self.app.screen.width;
        let mut print = |text: &str| fit::fold(text, width, None, &mut |row| output.text(row));
        print(&format!("{}\n", escape::line(&head)))?;
        let words = self.bodies.words(node)?;
        if session.traits(node).role == Role::ToolResult {
            print(&format!("{}\n", escape::line(&words)))?;
        }
        let entry = self.bodies.entry(node)?;
        let object = entry.message().filter(|_| entry.kind() == Kind::Message).unwrap_or(entry.object());
        let mut is_blank = true;
        transcript::body(object, &mut |part| {
            is_blank &= part.trim().is_empty();
            print(part)
        })?;
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
