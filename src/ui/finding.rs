//! A finding as programs get it, wherever it stands.

use serde::Serialize;

use crate::core::check::Finding;

/// A finding, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FindingRow<'a> {
    path: &'a str,
    code: &'static str,
    name: &'static str,
    severity: &'static str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_id: Option<&'a str>,
    message: &'a str,
    effect: &'a str,
    fix: &'a str,
    fix_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreachable: Option<u32>,
}

impl<'a> FindingRow<'a> {
    /// Makes the row of a finding.
    pub(super) fn new(path: &'a str, finding: &'a Finding) -> Self {
        let Finding { code, line, entry_id, message, effect, fix, unreachable } = finding;
        Self {
            path,
            code: code.id(),
            name: code.name(),
            severity: code.severity().name(),
            line: *line,
            entry_id: entry_id.as_deref(),
            message,
            effect,
            fix,
            fix_kind: code.rule().kind.name(),
            unreachable: *unreachable,
        }
    }
}
