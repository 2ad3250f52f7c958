//! `tree --tips`: one row per branch.

use anyhow::Result;

use super::args::Format;
use super::printer::Printer;
use crate::core::tree::rows::Rows;
use crate::core::tree::shape::Tip;
use crate::core::tree::view::ShownTree;
use crate::core::tree::walk;
use crate::ui::entry::{self, ShortIds};
use crate::ui::json::{StoredTime, TipRow};
use crate::ui::output::Output;
use crate::ui::tips::{self, TipText};
use crate::ui::tree::TreeText;

impl Printer<'_> {
    pub(super) fn tips(&mut self, shown: &ShownTree, format: Format) -> Result<()> {
        let tips = shown.tips(self.session);
        match format {
            Format::Json | Format::Jsonl => self.tip_objects(&tips, format == Format::Json),
            _ => self.tip_texts(&tips, format == Format::Table),
        }
    }

    fn tip_texts(&mut self, tips: &[Tip], as_table: bool) -> Result<()> {
        let session = self.session;
        let screen = &self.app.screen;
        let ids = ShortIds::new(session);
        let mut texts = Vec::with_capacity(tips.len());
        for tip in tips {
            let words = self.bodies.words(tip.first)?;
            let traits = session.traits(tip.first);
            texts.push(TipText {
                id: ids.of(tip.node).into_owned(),
                stamp: session.stamp(tip.node),
                messages: Some(tip.messages),
                is_active: tip.has_leaf,
                label: session.label(tip.node).map(|label| label.name.clone()),
                words: entry::row(screen, traits, &words),
                ink: entry::ink(traits),
            });
        }
        let mut output = Output::new();
        if as_table {
            tips::table(&mut output, ["id", "when (UTC)", "messages", "text"], &texts, screen)?;
        } else {
            let rows = Rows::default();
            let heading = TreeText::new(session, &rows, screen);
            output.text(&heading.heading(&self.bodies.title()?, session.count(), walk::tips(session).len()))?;
            tips::rows(&mut output, &texts, screen)?;
        }
        output.finish()?;
        if !tips.iter().any(|tip| tip.has_leaf) {
            self.tell_of_leaf("no branch ends there");
        }
        Ok(())
    }

    fn tip_objects(&mut self, tips: &[Tip], is_array: bool) -> Result<()> {
        let mut output = Output::new();
        output.hold();
        output.text(if is_array { "[" } else { "" })?;
        for (at, tip) in tips.iter().enumerate() {
            output.text(if is_array && at > 0 { "," } else { "" })?;
            let object = self.tip_object(tip)?;
            output.json(&object)?;
            output.text(if is_array { "" } else { "\n" })?;
        }
        output.text(if is_array { "]\n" } else { "" })?;
        Ok(output.finish()?)
    }

    fn tip_object(&mut self, tip: &Tip) -> Result<Vec<u8>> {
        let session = self.session;
        let timestamp = StoredTime::of(&mut self.bodies, tip.node)?;
        let text = self.bodies.words(tip.first)?;
        let row = TipRow {
            entry_id: session.id(tip.node),
            timestamp,
            messages: tip.messages,
            fork_id: tip.fork.map(|fork| session.id(fork)),
            leaf: tip.has_leaf,
            label: session.label(tip.node).map(|label| label.name.as_str()),
            text: &text,
        };
        Ok(serde_json::to_vec(&row)?)
    }
}
