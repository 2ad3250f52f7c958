//! `tree --tips`: one row per branch.

use anyhow::Result;

use super::args::Format;
use super::printer::Printer;
use crate::core::tree::rows::Rows;
use crate::core::tree::view::ShownTree;
use crate::ui::json::{SessionName, SessionPart};
use crate::ui::output::JsonList;
use crate::ui::tips::{self, TipRow};
use crate::ui::tree::TreeText;

impl Printer<'_> {
    pub(super) fn tips(&mut self, shown: &ShownTree, format: Format) -> Result<()> {
        let (session, screen) = (self.session, &self.app.screen);
        let tips = shown.tips(session);
        let rows = Rows::default();
        match format {
            Format::Json | Format::Jsonl => {
                self.output.hold();
                if format == Format::Json {
                    self.open("tips")?;
                }
                let file = self.file.filter(|_| format == Format::Jsonl);
                let mut list = JsonList::new(format == Format::Json);
                for tip in &tips {
                    let row = TipRow::new(&mut self.bodies, tip)?;
                    list.add(
                        self.output,
                        &SessionPart { session: file.map(|file| SessionName::new(file, session)), row },
                    )?;
                }
                if format == Format::Json {
                    list.close(self.output)?;
                    self.close()?;
                }
            }
            Format::Table => {
                if self.file.is_some() {
                    self.heading(&TreeText::new(session, &rows, screen))?;
                }
                tips::table(self.output, &mut self.bodies, &tips, screen)?;
            }
            _ => {
                self.heading(&TreeText::new(session, &rows, screen))?;
                tips::rows(self.output, &mut self.bodies, &tips, screen)?;
            }
        }
        self.output.release()?;
        if !tips.iter().any(|tip| tip.has_leaf) {
            self.tell_of_leaf("no branch that is shown ends there");
        }
        Ok(())
    }
}
