//! Findings and tips of `check`: text for people, and the formats that other programs read. Which
//! findings count is decided in `cmd`; their words come from [`crate::core::check`].

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use super::escape;
use super::finding::FindingRow;
use super::mend::MendReport;
use super::output::{JsonList, Output};
use super::paint::{Ink, Paint};
use super::screen::Screen;
use super::tips::{TipRow, table};
use crate::core::check::fixes::FixKind;
use crate::core::check::policy::{Counts, Found, Policy};
use crate::core::check::why::Resume;
use crate::core::check::{Code, Finding, Severity};
use crate::core::error::Error;
use crate::core::read::source::is_named_gzip;
use crate::core::session::body::Bodies;
use crate::core::tree::tips;
use crate::core::words::counted;

/// The format of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindingFormat {
    /// For people
    Text,
    /// One array of objects
    Json,
    /// One object a line
    Jsonl,
    /// Annotations of GitHub Actions
    Github,
    /// One SARIF 2.1.0 document, for code scanning
    Sarif,
}

/// More of one code in one file are only counted for people.
const SHOWN: usize = 10;

impl FindingFormat {
    /// Returns how many findings of one code in one file are printed; `None` is all.
    pub(crate) fn most(self) -> Option<usize> {
        (self == Self::Text).then_some(SHOWN)
    }

    /// Returns whether the findings are one document, which is to be closed whatever happens.
    pub(crate) fn is_document(self) -> bool {
        matches!(self, Self::Json | Self::Sarif)
    }
}

/// How files are mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mending {
    /// They cannot be, as standard input cannot.
    Impossible,
    /// They are not, but could be.
    Offered,
    /// By what is safe.
    Safe,
    /// By guesses too.
    Guesses,
}

/// Prints findings one by one, so that they need not be in memory.
#[derive(Debug)]
pub(crate) struct Findings {
    output: Output,
    form: FindingFormat,
    screen: Screen,
    count: usize,
    /// How files are mended.
    mending: Mending,
    /// How many files were mended.
    mended: usize,
    /// How many fixes were made, or would be.
    fixes: usize,
    /// How many findings have a fix that is safe, and how many one that is a guess.
    safe: usize,
    guesses: usize,
    list: JsonList,
    /// Returns the signal that asked to stop, if one did.
    stop: fn() -> Option<i32>,
}

impl Findings {
    /// Prints what is before the findings.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn new(
        form: FindingFormat,
        mending: Mending,
        screen: Screen,
        stop: fn() -> Option<i32>,
    ) -> io::Result<Self> {
        let list = JsonList::new(form == FindingFormat::Json);
        let output = Output::new();
        let mut findings =
            Self { output, form, screen, count: 0, mending, mended: 0, fixes: 0, safe: 0, guesses: 0, list, stop };
        if form == FindingFormat::Sarif {
            let start = sarif_start();
            findings.output.json(start.as_bytes())?;
        }
        Ok(findings)
    }

    /// Prints what was found in a file.
    ///
    /// # Errors
    /// The core's [`Error`] if the file cannot be read, also if it cannot be read again, and
    /// [`Error::Interrupted`]; else what the system says.
    pub(crate) fn file(&mut self, path: &Path, policy: &Policy, found: Found) -> anyhow::Result<()> {
        let name = path.display().to_string();
        let seen = match found {
            Found::Failed(error) => return Err(error.into()),
            Found::Many(checked) => policy.findings(path, &checked, &mut |finding| self.push(&name, &finding))?,
            Found::Few(findings, seen) => {
                findings.iter().try_for_each(|finding| self.push(&name, finding))?;
                seen
            }
        };
        // What is compressed, or of a version that is not known, is never mended.
        if !is_named_gzip(path) && !seen.contains_key(&Code::NewerVersion) {
            self.sum_up(&seen);
        }
        for (code, count) in seen.into_iter().map(|(code, count)| (code, policy.beyond(count))) {
            if count > 0 {
                self.more(&name, code, count)?;
            }
        }
        Ok(())
    }

    fn sum_up(&mut self, seen: &BTreeMap<Code, usize>) {
        for (code, count) in seen {
            match code.rule().kind {
                FixKind::Safe => self.safe += count,
                FixKind::Guess => self.guesses += count,
                FixKind::None => {}
            }
        }
    }

    fn push(&mut self, path: &str, finding: &Finding) -> anyhow::Result<()> {
        if let Some(signal) = (self.stop)() {
            return Err(Error::Interrupted { signal }.into());
        }
        self.count += 1;
        match self.form {
            FindingFormat::Text => {
                let text = text(path, finding, self.screen.paint);
                self.output.text(&folded(&text, &self.screen))?;
                self.output.text(&self.kind(finding.code))?;
            }
            FindingFormat::Json | FindingFormat::Jsonl => {
                let row = FindingRow::new(path, finding);
                self.list.add(&mut self.output, &row)?;
            }
            FindingFormat::Github => self.output.text(&github(path, finding))?,
            FindingFormat::Sarif => {
                let comma = if self.count == 1 { "\n" } else { ",\n" };
                self.output.json(format!("{comma}{}", sarif(path, finding)).as_bytes())?;
            }
        }
        Ok(())
    }

    /// Returns a line on what `--fix` could do about a finding that it left.
    fn kind(&self, code: Code) -> String {
        let words = match (self.mending, code.rule().kind) {
            (Mending::Impossible | Mending::Offered, _) => return String::new(),
            (Mending::Safe, FixKind::Guess) => "a guess, made with `--unsafe-fixes`",
            // It had a fix that does not apply here, or none.
            _ => "none, only by hand",
        };
        let mut out = "  ".to_owned();
        self.screen.paint.push(&mut out, Ink::Dim, "--fix:");
        self.screen.folded(&format!("{out} {words}\n"), 4)
    }

    /// Prints what was mended in a file, or would be, and what is left in it.
    ///
    /// # Errors
    /// As [`Self::file`].
    pub(crate) fn mended(&mut self, report: &MendReport<'_>, policy: &Policy, found: Found) -> anyhow::Result<()> {
        match self.form {
            FindingFormat::Text => {
                report.print(&mut self.output, &self.screen)?;
                self.mended += 1;
                self.fixes += report.mended.fixes.len();
                if !report.is_diff() {
                    return self.file(report.path, policy, found);
                }
                // A diff has no findings, but what else could be mended is told after it.
                match found {
                    Found::Failed(error) => return Err(error.into()),
                    Found::Many(checked) => {
                        let seen = policy.findings(report.path, &checked, &mut |_| -> anyhow::Result<()> { Ok(()) })?;
                        self.sum_up(&seen);
                    }
                    Found::Few(_, seen) => self.sum_up(&seen),
                }
                Ok(())
            }
            FindingFormat::Json | FindingFormat::Jsonl => {
                let mut findings = Vec::new();
                match found {
                    Found::Failed(error) => return Err(error.into()),
                    Found::Many(checked) => {
                        policy.findings(report.path, &checked, &mut |finding| -> anyhow::Result<()> {
                            findings.push(finding);
                            Ok(())
                        })?;
                    }
                    Found::Few(few, _) => findings = few,
                }
                self.list.add_json(&mut self.output, &report.json(&findings)?).map_err(Into::into)
            }
            FindingFormat::Github | FindingFormat::Sarif => self.file(report.path, policy, found),
        }
    }

    /// Prints that there is more of one kind than a person wants to read.
    fn more(&mut self, path: &str, code: Code, count: usize) -> io::Result<()> {
        let mut out = String::new();
        head(&mut out, code, self.screen.paint);
        let path = escape::line(path);
        let mark = self.screen.mark();
        out.push_str(&format!(" {path}: {mark} and {count} more of this kind (--json lists them all)\n"));
        self.output.text(&self.screen.folded(&out, 4))
    }

    /// Flushes what was printed so far.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        io::Write::flush(&mut self.output)
    }

    /// Returns what could be mended of what was found, in one line.
    pub(crate) fn mendable(&self) -> Option<String> {
        let done = if self.fixes == 0 { "nothing mended" } else { "" };
        let has_findings = self.count > 0;
        let more = counted(self.guesses, "finding more", "findings more");
        Some(match self.mending {
            Mending::Impossible => return None,
            Mending::Offered => match (self.safe, self.guesses) {
                (0, 0) => return None,
                (safe, 0) => format!("{safe} of them may be mended with `--fix`"),
                (0, guesses) => format!("{guesses} of them may be mended with `--fix --unsafe-fixes`, by a guess"),
                (safe, guesses) => {
                    format!("{safe} of them may be mended with `--fix`, {guesses} more with `--unsafe-fixes`")
                }
            },
            Mending::Safe if self.guesses > 0 => {
                let done = if done.is_empty() { String::new() } else { format!("{done}; ") };
                format!("{done}{more} with `--unsafe-fixes`")
            }
            _ if done.is_empty() || !has_findings => return None,
            _ => done.to_owned(),
        })
    }

    /// Prints the summary, or the end of a document.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn finish(mut self, counts: Option<Counts>) -> io::Result<()> {
        match (self.form, counts) {
            (FindingFormat::Sarif, _) => self.output.json(b"\n]}]}\n")?,
            (FindingFormat::Json, _) => self.list.end(&mut self.output)?,
            // A person sees that a sound file was looked at.
            (FindingFormat::Text, Some(counts))
                if self.count > 0
                    || self.mended > 0
                    || counts.files > 1
                    || (self.screen.is_terminal && counts.files > 0) =>
            {
                self.output.text(&self.screen.folded(&summary(counts), 2))?;
                if let Some(mendable) = self.mendable() {
                    self.output.text(&folded(&format!("{mendable}\n"), &self.screen))?;
                }
            }
            _ => {}
        }
        self.output.finish()
    }
}

/// Folds the text of a finding, but not the commands in it that fit a row: these are to be copied.
fn folded(text: &str, screen: &Screen) -> String {
    // A private-use character takes the place of blanks at which nothing is folded.
    const HELD: &str = "\u{f8ff}";
    let held = |text: &str| text.replace(' ', HELD);
    let pieces = text.split('`').enumerate();
    let pieces: Vec<_> = pieces.map(|(at, piece)| if at % 2 == 1 { held(piece) } else { piece.to_owned() }).collect();
    let text = pieces.join("`");
    // So is a line to be put into a file, at the end of how to fix it: it stands alone, and whole.
    let (text, line) = match text.trim_end().rsplit_once(" {\"type\":") {
        Some((before, line)) if screen.width.is_some() && line.ends_with('}') => {
            (format!("{before}:\n"), format!("{{\"type\":{line}\n"))
        }
        _ => (text, String::new()),
    };
    (screen.folded(&text, 4) + &line).replace(HELD, " ")
}

/// Returns the counts in one line.
fn summary(counts: Counts) -> String {
    let Counts { files, errors, warnings, denied, known, .. } = counts;
    let mut out = format!(
        "{}: {}, {}",
        counted(files, "file", "files"),
        counted(errors, "error", "errors"),
        counted(warnings, "warning", "warnings")
    );
    if denied > 0 {
        out.push_str(&format!(" ({denied} denied)"));
    }
    if known > 0 {
        out.push_str(&format!("; {known} known to the baseline"));
    }
    out + "\n"
}

/// Adds the severity and the code.
fn head(out: &mut String, code: Code, paint: Paint) {
    let ink = match code.severity() {
        Severity::Error => Ink::Error,
        Severity::Warning => Ink::Warning,
    };
    paint.push(out, ink, &format!("{}[{}]", code.severity().name(), code.id()));
}

fn text(path: &str, finding: &Finding, paint: Paint) -> String {
    let mut out = String::new();
    head(&mut out, finding.code, paint);
    out.push(' ');
    paint.push(&mut out, Ink::Strong, &format!("{}:{}", escape::line(path), finding.line));
    out.push_str(&format!(": {}\n", escape::line(&finding.message)));
    for (what, words) in [("effect", &finding.effect), ("fix", &finding.fix)] {
        out.push_str("  ");
        paint.push(&mut out, Ink::Dim, &format!("{what}:"));
        out.push_str(&format!(" {}\n", escape::line(words)));
    }
    out
}

/// Returns a finding as a GitHub workflow command. What could end the line or a property is escaped, so
/// that a file cannot inject commands.
fn github(path: &str, finding: &Finding) -> String {
    let data = |text: &str| escape::line(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let Finding { code, line, message, effect, fix, .. } = finding;
    format!(
        "::{} file={},line={line},title={}::{}%0Aeffect: {}%0Afix: {}\n",
        code.severity().name(),
        property(path),
        property(&format!("{} {}", code.id(), code.name())),
        data(message),
        data(effect),
        data(fix)
    )
}

fn sarif_start() -> String {
    let rules: Vec<_> = Code::all()
        .map(|code| {
            serde_json::json!({
                "id": code.id(),
                "name": code.name(),
                "shortDescription": {"text": code.title()},
                "fullDescription": {"text": code.agents()},
                "help": {"text": code.fix()},
                "defaultConfiguration": {"level": code.severity().name()},
            })
        })
        .collect();
    let driver = serde_json::json!({"name": "session-tree", "version": env!("CARGO_PKG_VERSION"), "rules": rules});
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    format!(
        "{{\"$schema\":\"{schema}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{{\"driver\":{driver}}},\"results\":["
    )
}

fn sarif(path: &str, finding: &Finding) -> String {
    let Finding { code, line, entry_id, message, effect, fix, unreachable } = finding;
    let mut properties = serde_json::json!({"effect": effect, "fix": fix});
    if let Some(id) = entry_id {
        properties["entryId"] = id.as_str().into();
    }
    if let Some(count) = unreachable {
        properties["unreachable"] = (*count).into();
    }
    let place = entry_id.clone().unwrap_or_else(|| line.to_string());
    serde_json::json!({
        "ruleId": code.id(),
        "level": code.severity().name(),
        "message": {"text": format!("{message}\neffect: {effect}\nfix: {fix}")},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(path)},
            "region": {"startLine": line},
        }}],
        "partialFingerprints": {"finding/v1": format!("{}:{place}", code.id())},
        "properties": properties,
    })
    .to_string()
}

/// Returns a path as a URI reference.
fn uri(path: &str) -> String {
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.strip_prefix("./").unwrap_or(path).bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
        if is_plain { out.push(char::from(byte)) } else { out.push_str(&format!("%{byte:02X}")) }
    }
    out
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResumeRow<'a> {
    path: &'a str,
    leaf_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    why: &'a str,
    tips: Vec<TipRow<'a>>,
}

/// Prints where agents resume and why, with all tips.
///
/// # Errors
/// As [`Bodies::words`], or what the system says of writing.
pub(crate) fn why(path: &str, resume: &Resume, json: bool, screen: &Screen) -> anyhow::Result<()> {
    let Resume { session, leaf, why } = resume;
    let (mut output, mut bodies) = (Output::new(), Bodies::new(session));
    let place = leaf.map(|leaf| (session.id(leaf), session.line(leaf)));
    let tips = tips::of(session, *leaf);
    if json {
        let tips = tips.iter().map(|tip| TipRow::new(&mut bodies, tip)).collect::<Result<_, _>>()?;
        let (leaf_id, line) = place.unzip();
        output.json_line(&ResumeRow { path, leaf_id, line, why, tips })?;
        return Ok(output.finish()?);
    }
    let mut out = String::from("agents resume at ");
    let leaf = place.map_or("no entry".to_owned(), |(leaf, line)| format!("{leaf}, line {line}"));
    screen.paint.push(&mut out, Ink::Active, &escape::line(&leaf));
    out.push_str(&format!(": {}\n", escape::line(why)));
    output.text(&screen.folded(&out, 2))?;
    if !tips.is_empty() {
        table(&mut output, &mut bodies, &tips, screen)?;
    }
    Ok(output.finish()?)
}

#[cfg(test)]
mod tests {
    use super::{Screen, folded, github, uri};
    use crate::core::check::{Code, Finding};

    #[test]
    fn workflow_commands_cannot_be_forged() {
        let finding = Finding {
            code: Code::Orphan,
            line: 3,
            entry_id: None,
            message: "100% a\r\n::error::x".to_owned(),
            effect: "b".to_owned(),
            fix: "c".to_owned(),
            unreachable: None,
        };
        let expected = "::error file=a%2Cb%3A\\n%25c.jsonl,line=3,title=E011 orphan::100%25 a\\r\\n::error::x%0Aeffect: b%0Afix: c\n";
        assert_eq!(github("a,b:\n%c.jsonl", &finding), expected);
    }

    #[test]
    fn a_command_that_fits_a_row_is_not_folded() {
        let text = "  fix: delete it: `sed -i 3d FILE`\n";
        let folded = |width| folded(text, &Screen { width, ..Screen::default() });
        assert_eq!(folded(Some(24)), "  fix: delete it:\n    `sed -i 3d FILE`\n");
        assert_eq!(folded(None), text);
    }

    #[test]
    fn a_line_to_be_pasted_stands_alone_and_whole() {
        let line = r#"{"type":"custom","id":"a1","parentId":null,"customType":"lost"}"#;
        let text = format!("  fix: replace it with {line}\n");
        let folded = |width| folded(&text, &Screen { width, ..Screen::default() });
        assert_eq!(folded(Some(24)), format!("  fix: replace it with:\n{line}\n"));
        assert_eq!(folded(None), text);
    }

    #[test]
    fn a_path_is_escaped_as_a_uri() {
        assert_eq!(uri("./a b/é.jsonl"), "a%20b/%C3%A9.jsonl");
        assert_eq!(uri("/x#y"), "file:///x%23y");
    }
}
