//! `tree --tips`: one row per branch.

use anyhow::Result;

use super::args::Format;
use super::printer::Printer;
use crate::core::tree::rows::Rows;
use crate::core::tree::view::ShownTree;
use crate::core::tree::walk;
use crate::ui::output::{JsonList, Output};
use crate::ui::tips::{self, TipRow};
use crate::ui::tree::TreeText;

impl Printer<'_> {
    pub(super) fn tips(&mut self, shown: &ShownTree, format: Format) -> Result<()> {
        let (session, screen) = (self.session, &self.app.screen);
        let tips = shown.tips(session);
        let mut output = Output::new();
        match format {
            Format::Json | Format::Jsonl => {
                output.hold();
                let mut list = JsonList::new(format == Format::Json);
                for tip in &tips {
                    list.add(&mut output, &TipRow::new(&mut self.bodies, tip)?)?;
                }
                list.end(&mut output)?;
            }
            Format::Table => tips::table(&mut output, &mut self.bodies, &tips, screen)?,
            _ => {
                let (rows, title) = (Rows::default(), self.bodies.title()?);
                let heading = TreeText::new(session, &rows, screen);
                output.text(&heading.heading(&title, session.count(), walk::tips(session).len()))?;
                tips::rows(&mut output, &mut self.bodies, &tips, screen)?;
            }
        }
        output.finish()?;
        if !tips.iter().any(|tip| tip.has_leaf) {
            self.tell_of_leaf("no branch ends there");
        }
        Ok(())
    }
}
