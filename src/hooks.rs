//! Hooks: programs that watch what `navigate` and `branch` do, and may have a say in it. They come
//! from the command line only, never from a file's content.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::edit::navigate::{Move, MoveOutcome, Summary};
use crate::core::json::{Cursor, Raw, ValueKind};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::run::{self, ChildError};

/// The hooks of a command line.
pub struct Hooks<'h> {
    /// Their commands, in order.
    pub commands: &'h [String],
    /// How long each may take; zero is no limit.
    pub limit: Duration,
    /// Returns the signal that asked us to stop.
    pub stop: &'h dyn Fn() -> Option<i32>,
}

/// The session that an event is about.
#[derive(Clone, Debug, Serialize)]
pub struct SessionInfo {
    /// Its file; null if it has none.
    file: Option<String>,
    /// Its id.
    id: String,
    /// Its working folder.
    cwd: Option<String>,
}

impl SessionInfo {
    /// Takes a session that was read from a file, or from standard input.
    pub fn new(path: &Path, session: &Session) -> Self {
        let file = std::path::absolute(path).ok().filter(|_| path != Path::new("-"));
        Self {
            file: file.map(|file| file.display().to_string()),
            id: session.header.id.clone(),
            cwd: session.header.cwd.clone(),
        }
    }
}

/// An event, as hooks get it. The entries that are left behind are written by [`payload`].
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
enum Event<'e> {
    /// Before the leaf moves.
    #[serde(rename = "session_before_tree")]
    BeforeMove { session: &'e SessionInfo, preparation: Preparation<'e> },
    /// After the leaf has moved.
    #[serde(rename = "session_tree")]
    AfterMove {
        session: &'e SessionInfo,
        new_leaf_id: Option<&'e str>,
        old_leaf_id: Option<&'e str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        summary_entry: Option<&'e RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// Before a session is forked.
    #[serde(rename = "session_before_branch")]
    BeforeBranch { session: &'e SessionInfo, entry_id: Option<&'e str> },
    /// After a session was forked.
    #[serde(rename = "session_branch")]
    AfterBranch { session: &'e SessionInfo, previous_session_file: Option<&'e str>, session_file: Option<&'e str> },
}

/// What a move is about to do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Preparation<'e> {
    target_id: Option<&'e str>,
    old_leaf_id: Option<&'e str>,
    common_ancestor_id: Option<&'e str>,
    user_wants_summary: bool,
}

/// Writes the entries that are left behind, separated by commas.
type Entries<'e> = dyn FnMut(&mut dyn Write) -> anyhow::Result<()> + 'e;

/// What hooks said before something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// Nothing against it.
    Go,
    /// Not to do it.
    Cancel {
        /// The hook that said so.
        by: String,
    },
    /// A summary to use.
    Summary(Summary),
}

/// A hook that failed.
#[derive(Debug)]
pub struct HookError {
    /// Its command.
    pub command: String,
    /// Why.
    pub why: ChildError,
}

impl std::fmt::Display for HookError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "hook `{}`: {}", self.command, self.why)
    }
}

impl std::error::Error for HookError {}

impl Hooks<'_> {
    /// Asks all hooks before the leaf moves.
    ///
    /// # Errors
    /// [`HookError`], or what keeps the event from being written.
    pub fn before_move(
        &self,
        session: &SessionInfo,
        bodies: &mut Bodies<'_>,
        plan: &Move,
        user_wants_summary: bool,
    ) -> anyhow::Result<HookAnswer> {
        let read = bodies.session();
        let id = |node: Option<NodeId>| node.map(|node| read.id(node));
        let (target_id, old_leaf_id, common_ancestor_id) = (id(plan.target), id(plan.old), id(plan.ancestor));
        let preparation = Preparation { target_id, old_leaf_id, common_ancestor_id, user_wants_summary };
        let entries = &mut |out: &mut dyn Write| -> anyhow::Result<()> {
            for (at, &node) in plan.abandoned.iter().enumerate() {
                let entry = bodies.entry(node)?;
                out.write_all(if at > 0 { b"," } else { b"" })?;
                out.write_all(String::from_utf8_lossy(entry.object().bytes()).as_bytes())?;
            }
            Ok(())
        };
        self.ask(&Event::BeforeMove { session, preparation }, Some(entries))
    }

    /// Runs all hooks after the leaf has moved. Returns those that failed.
    pub fn after_move(
        &self,
        session: &SessionInfo,
        read: &Session,
        plan: &Move,
        outcome: &MoveOutcome,
    ) -> Vec<HookError> {
        let summary = outcome.summary();
        self.notify(&Event::AfterMove {
            session,
            new_leaf_id: outcome.new_leaf(read, plan),
            old_leaf_id: plan.old.map(|node| read.id(node)),
            summary_entry: summary.and_then(|(line, _)| serde_json::from_str(line).ok()),
            from_extension: summary.map(|(_, from_extension)| from_extension),
        })
    }

    /// Asks all hooks before a session is forked at an entry.
    ///
    /// # Errors
    /// [`HookError`], or what keeps the event from being written.
    pub fn before_branch(&self, session: &SessionInfo, entry_id: Option<&str>) -> anyhow::Result<HookAnswer> {
        self.ask(&Event::BeforeBranch { session, entry_id }, None)
    }

    /// Runs all hooks after a session was forked into a file. Returns those that failed.
    pub fn after_branch(&self, session: &SessionInfo, session_file: Option<&str>) -> Vec<HookError> {
        let previous_session_file = session.file.as_deref();
        self.notify(&Event::AfterBranch { session, previous_session_file, session_file })
    }

    /// Asks all hooks, in order. The first that cancels ends it; else the last that says something
    /// counts. `entries` writes `entriesToSummarize`.
    fn ask(&self, event: &Event<'_>, entries: Option<&mut Entries<'_>>) -> anyhow::Result<HookAnswer> {
        let mut answer = HookAnswer::Go;
        if self.commands.is_empty() {
            return Ok(answer);
        }
        let mut input = payload(event, entries)?;
        for command in self.commands {
            let failed = |why| HookError { command: command.clone(), why };
            let said = self.run(command, &mut input, |output| answer_of(&output, command)).map_err(failed)?;
            if let Some(said) = said {
                answer = said;
            }
            if matches!(answer, HookAnswer::Cancel { .. }) {
                break;
            }
        }
        Ok(answer)
    }

    /// Sends all hooks what was done. Returns those that failed; one that cannot be sent it has failed,
    /// too, since what was done stays.
    fn notify(&self, event: &Event<'_>) -> Vec<HookError> {
        let mut failed = Vec::new();
        if self.commands.is_empty() {
            return failed;
        }
        let mut input = payload(event, None).map_err(|error| format!("cannot write the event: {error}"));
        for command in self.commands {
            let sent = match &mut input {
                Ok(input) => self.run(command, input, |_| Ok(())),
                Err(error) => Err(ChildError::Answer(error.clone())),
            };
            if let Err(why) = sent {
                let is_interrupted = matches!(why, ChildError::Interrupted(_));
                failed.push(HookError { command: command.clone(), why });
                if is_interrupted {
                    break;
                }
            }
        }
        failed
    }

    fn run<T>(
        &self,
        command: &str,
        input: &mut File,
        accept: impl FnOnce(Vec<u8>) -> Result<T, String>,
    ) -> Result<T, ChildError> {
        // Opened again where the system can: a hook then cannot change what the next one gets.
        let input = File::open(format!("/proc/self/fd/{}", input.as_raw_fd())).or_else(|_| {
            input.seek(SeekFrom::Start(0))?;
            input.try_clone()
        });
        let input = input.map_err(ChildError::Io)?;
        run::capture(command, input, self.limit, self.stop, accept)
    }
}

/// Writes an event into an unlinked file.
fn payload(event: &Event<'_>, entries: Option<&mut Entries<'_>>) -> anyhow::Result<File> {
    let mut file = tempfile::tempfile()?;
    let mut json = serde_json::to_vec(event)?;
    if let Some(entries) = entries {
        // Into `preparation`, which is the last member: before its brace and that of the event.
        json.truncate(json.len() - 2);
        file.write_all(&json)?;
        file.write_all(b",\"entriesToSummarize\":[")?;
        let mut out = io::BufWriter::new(&file);
        entries(&mut out)?;
        out.flush()?;
        drop(out);
        json = b"]}}".to_vec();
    }
    json.push(b'\n');
    file.write_all(&json)?;
    Ok(file)
}

/// Reads a hook's output: nothing, or one JSON object.
fn answer_of(output: &[u8], hook: &str) -> Result<Option<HookAnswer>, String> {
    let output = output.trim_ascii();
    if output.is_empty() {
        return Ok(None);
    }
    let mut cursor = Cursor::new(output);
    let raw = Raw::new(output);
    if cursor.value().and_then(|_| cursor.end()).is_err() || raw.kind() != ValueKind::Object {
        return Err("it printed something else than one JSON object".to_owned());
    }
    if raw.get("cancel").is_some_and(Raw::is_true) {
        return Ok(Some(HookAnswer::Cancel { by: hook.to_owned() }));
    }
    let Some(summary) = raw.get("summary").filter(|summary| summary.kind() != ValueKind::Null) else {
        return Ok(Some(HookAnswer::Go));
    };
    let text = summary.get_str("summary").unwrap_or_default();
    if text.trim().is_empty() {
        return Err("its summary is blank; it is `{\"summary\":{\"summary\":\"…\"}}`".to_owned());
    }
    let details = summary.get("details").filter(|details| details.kind() != ValueKind::Null);
    let details = details.map(|details| String::from_utf8_lossy(details.bytes()).into_owned().into_bytes());
    Ok(Some(HookAnswer::Summary(Summary { text: text.into_owned(), details, from_extension: true })))
}

#[cfg(test)]
mod tests {
    use super::{HookAnswer, Summary, answer_of};

    #[test]
    fn answers() {
        let answer_of = |output: &[u8]| answer_of(output, "h");
        assert_eq!(answer_of(b" \n"), Ok(None));
        assert_eq!(answer_of(b"{}"), Ok(Some(HookAnswer::Go)));
        assert_eq!(answer_of(b"{\"cancel\":false,\"x\":1}\n"), Ok(Some(HookAnswer::Go)));
        assert_eq!(answer_of(b"{\"cancel\":true}"), Ok(Some(HookAnswer::Cancel { by: "h".to_owned() })));
        let details = Some(b"[1]".to_vec());
        let summary = HookAnswer::Summary(Summary { text: "s".to_owned(), details, from_extension: true });
        assert_eq!(answer_of(b"{\"summary\":{\"summary\":\"s\",\"details\":[1]}}"), Ok(Some(summary)));
        for bad in [&b"ok"[..], b"[]", b"{} {}", b"{\"summary\":{\"summary\":\" \"}}", b"{\"summary\":\"s\"}"] {
            assert!(answer_of(bad).is_err());
        }
    }
}
