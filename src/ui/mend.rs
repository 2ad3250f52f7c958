//! What `check` mended in a file, or would mend, and the rules of a code (`--explain`).

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::finding::FindingRow;
use super::output::Output;
use super::paint::Ink;
use super::screen::Screen;
use super::{diff, escape};
use crate::core::check::fixes::FixKind;
use crate::core::check::mend::{Fix, Mended};
use crate::core::check::{Code, Finding};
use crate::core::read::source::Source;
use crate::core::words::counted;

/// More fixes of one code in one file are only counted for people.
const SHOWN: usize = 10;

/// What was mended in a file, or would be.
pub(crate) struct MendReport<'m> {
    pub(crate) path: &'m Path,
    pub(crate) mended: &'m Mended,
    /// The copy of the old file, if there is one.
    pub(crate) backup: Option<&'m Path>,
    /// The old file, if it is not changed, and a diff says how it would be.
    pub(crate) source: Option<&'m Source>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MendRow<'a> {
    path: &'a str,
    written: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<String>,
    removed_bytes: u64,
    fixes: Vec<FixRow<'a>>,
    findings: Vec<FindingRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FixRow<'a> {
    code: &'static str,
    name: &'static str,
    kind: &'static str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_id: Option<&'a str>,
    message: &'a str,
    removed_bytes: u64,
}

impl MendReport<'_> {
    /// Returns whether a diff is printed, and nothing else.
    pub(super) fn is_diff(&self) -> bool {
        self.source.is_some()
    }

    /// Prints what was done, or the diff.
    ///
    /// # Errors
    /// The core's error if the file cannot be read, else [`io::Error`] of the output.
    pub(super) fn print(&self, output: &mut Output, screen: &Screen) -> anyhow::Result<()> {
        if let Some(source) = self.source {
            return diff::print(output, self.path, self.mended, source, screen);
        }
        let path = self.path.display().to_string();
        let path = escape::line(&path);
        let mut counts: BTreeMap<Code, usize> = BTreeMap::new();
        for fix in &self.mended.fixes {
            let count = counts.entry(fix.code).or_default();
            *count += 1;
            if *count > SHOWN {
                continue;
            }
            let mut row = head(fix, screen);
            row.push(' ');
            screen.paint.push(&mut row, Ink::Strong, &format!("{path}:{}", fix.line));
            let entry = fix.entry_id.as_deref().map(|id| format!("`{}`: ", escape::line(id))).unwrap_or_default();
            row.push_str(&format!(": {entry}{}\n", escape::line(&fix.what)));
            output.text(&screen.folded(&row, 4))?;
        }
        let more = counts.into_iter().filter(|(_, count)| *count > SHOWN);
        for (code, count) in more {
            let mark = screen.mark();
            let more = counted(count - SHOWN, "more fix", "more fixes");
            output.text(&format!("{path}: {mark} and {more} of {} (--json lists them all)\n", code.id()))?;
        }
        if !self.mended.is_empty() {
            output.text(&screen.folded(&(self.kept() + "\n"), 4))?;
        }
        Ok(())
    }

    /// Says where the old file is, and what is only there.
    fn kept(&self) -> String {
        let removed = match self.mended.removed() {
            0 => String::new(),
            count => format!("{} of damaged lines", counted(count, "byte", "bytes")),
        };
        let path = |path: &Path| escape::line(&path.display().to_string()).into_owned();
        match (self.backup, removed) {
            (Some(backup), removed) if removed.is_empty() => format!("  the original is kept: {}", path(backup)),
            (Some(backup), removed) => format!("  the original is kept, with {removed}: {}", path(backup)),
            (None, removed) if removed.is_empty() => "  the original is not kept".to_owned(),
            (None, removed) => format!("  the original is not kept; {removed} are gone"),
        }
    }

    /// Returns the row of the file, for programs, with what is left in it.
    ///
    /// # Errors
    /// As [`Self::print`].
    pub(super) fn json(&self, findings: &[Finding]) -> anyhow::Result<Vec<u8>> {
        let path = self.path.display().to_string();
        let text = |source: &Source| -> anyhow::Result<String> {
            let mut out = Vec::new();
            diff::write(&mut out, self.path, self.mended, source)?;
            Ok(String::from_utf8_lossy(&out).into_owned())
        };
        let row = MendRow {
            path: &path,
            written: self.source.is_none() && !self.mended.is_empty(),
            backup: self.backup.map(|backup| backup.display().to_string()),
            removed_bytes: self.mended.removed(),
            fixes: self.mended.fixes.iter().map(FixRow::from).collect(),
            findings: findings.iter().map(|finding| FindingRow::new(&path, finding)).collect(),
            diff: self.source.map(text).transpose()?,
        };
        Ok(serde_json::to_vec(&row)?)
    }
}

impl<'a> From<&'a Fix> for FixRow<'a> {
    fn from(Fix { code, line, entry_id, kind, what, removed }: &'a Fix) -> Self {
        Self {
            code: code.id(),
            name: code.name(),
            kind: kind.name(),
            line: *line,
            entry_id: entry_id.as_deref(),
            message: what,
            removed_bytes: *removed,
        }
    }
}

/// Returns how sure a fix is, and its code.
fn head(fix: &Fix, screen: &Screen) -> String {
    let mut out = String::new();
    let (word, ink) = if fix.kind == FixKind::Guess { ("guessed", Ink::Warning) } else { ("fixed", Ink::Added) };
    screen.paint.push(&mut out, ink, &format!("{word}[{}]", fix.code.id()));
    out
}

/// What is known of a code, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeRow {
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    message: &'static str,
    effect: &'static str,
    fix: &'static str,
    fix_kind: &'static str,
    fix_does: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    example: &'static str,
}

impl From<Code> for CodeRow {
    fn from(code: Code) -> Self {
        let rule = code.rule();
        Self {
            code: code.id(),
            name: code.name(),
            severity: code.severity().name(),
            message: code.title(),
            effect: code.agents(),
            fix: code.fix(),
            fix_kind: rule.kind.name(),
            fix_does: rule.what,
            example: rule.example,
        }
    }
}

/// Prints what codes mean, what agents do, and what can be done.
///
/// # Errors
/// [`io::Error`] of the output.
pub(crate) fn explain(codes: &[Code], json: Option<bool>, screen: &Screen) -> io::Result<()> {
    let mut output = Output::new();
    if let Some(is_array) = json {
        let mut list = super::output::JsonList::new(is_array);
        codes.iter().try_for_each(|&code| list.add(&mut output, &CodeRow::from(code)))?;
        list.end(&mut output)?;
        return output.finish();
    }
    for (at, &code) in codes.iter().enumerate() {
        if at > 0 {
            output.text("\n")?;
        }
        output.text(&explained(code, screen))?;
    }
    output.finish()
}

fn explained(code: Code, screen: &Screen) -> String {
    let mut out = String::new();
    screen.paint.push(&mut out, Ink::Strong, &format!("{} {}", code.id(), code.name()));
    out.push('\n');
    let rule = code.rule();
    let kind = match rule.kind {
        FixKind::Safe => "`check --fix`",
        FixKind::Guess => "`check --fix --unsafe-fixes`, a guess",
        FixKind::None => "none",
    };
    let kind = format!("{kind}: {}", rule.what);
    for (what, words) in [("What", code.title()), ("Agents", code.agents()), ("By hand", code.fix()), ("Fix", &kind)] {
        out.push_str(&screen.folded(&format!("  {what}: {words}\n"), 4));
    }
    if !rule.example.is_empty() {
        out.push_str("  Example:\n");
        for line in rule.example.lines() {
            out.push_str(&format!("    {}\n", screen.cut(line, screen.room().saturating_sub(4))));
        }
    }
    out
}
