//! Hooks: programs that watch what `navigate` and `branch` do, and may have a say in it. They come
//! from the command line only, never from a file's content.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::core::json::{Cursor, Raw, ValueKind};
use crate::run::{self, Failed};

/// The hooks of a command line.
pub struct Hooks<'h> {
    /// Their commands, in order.
    pub commands: &'h [String],
    /// How long each may take; zero is for ever.
    pub limit: Duration,
    /// Gives the signal that asked us to stop.
    pub stop: &'h dyn Fn() -> Option<i32>,
}

/// The session that an event is about.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// Its file; null if it has none.
    pub file: Option<String>,
    /// Its id.
    pub id: String,
    /// Its working folder.
    pub cwd: Option<String>,
}

/// An event, as hooks get it. What is large stands outside, see [`Entries`].
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event<'e> {
    /// Before the leaf moves.
    SessionBeforeTree {
        /// The session.
        session: &'e About,
        /// What is about to happen.
        preparation: Preparation<'e>,
    },
    /// After the leaf has moved.
    SessionTree {
        /// The session.
        session: &'e About,
        /// The leaf now.
        new_leaf_id: Option<&'e str>,
        /// The leaf before.
        old_leaf_id: Option<&'e str>,
        /// The summary's entry.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary_entry: Option<&'e RawValue>,
        /// Whether a hook made the summary.
        #[serde(skip_serializing_if = "Option::is_none")]
        from_extension: Option<bool>,
    },
    /// Before a session is forked.
    SessionBeforeBranch {
        /// The session.
        session: &'e About,
        /// The entry that was named.
        entry_id: &'e str,
    },
    /// After a session was forked.
    SessionBranch {
        /// The session.
        session: &'e About,
        /// The file that it was forked from.
        previous_session_file: Option<&'e str>,
        /// The new file.
        session_file: Option<&'e str>,
    },
}

/// What a move is about to do.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preparation<'e> {
    /// What was asked for.
    pub target_id: Option<&'e str>,
    /// The leaf that is left.
    pub old_leaf_id: Option<&'e str>,
    /// The deepest entry on both paths.
    pub common_ancestor_id: Option<&'e str>,
    /// Whether a summary was asked for.
    pub user_wants_summary: bool,
}

/// Writes the entries that are left behind, separated by commas.
pub type Entries<'e> = dyn FnMut(&mut dyn Write) -> anyhow::Result<()> + 'e;

/// What hooks said before something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing against it.
    Go,
    /// Not to do it.
    Cancel {
        /// The hook that said so.
        by: String,
    },
    /// A summary to use.
    Summary {
        /// What it says.
        text: String,
        /// Its details, as JSON text.
        details: Option<Vec<u8>>,
    },
}

/// A hook that failed.
#[derive(Debug)]
pub struct HookFailed {
    /// Its command.
    pub command: String,
    /// Why.
    pub why: Failed,
}

impl std::fmt::Display for HookFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "hook `{}`: {}", self.command, self.why)
    }
}

impl std::error::Error for HookFailed {}

impl Hooks<'_> {
    /// Asks all hooks, in order. The first that cancels ends it; else the last that says something
    /// counts. `entries` writes `entriesToSummarize`.
    ///
    /// # Errors
    /// [`HookFailed`], or what keeps the event from being written.
    pub fn ask(&self, event: &Event<'_>, entries: Option<&mut Entries<'_>>) -> anyhow::Result<Answer> {
        let mut answer = Answer::Go;
        if self.commands.is_empty() {
            return Ok(answer);
        }
        let mut input = payload(event, entries)?;
        for command in self.commands {
            let failed = |why| HookFailed { command: command.clone(), why };
            let said = self.run(command, &mut input, |output| answer_of(&output, command)).map_err(failed)?;
            if let Some(said) = said {
                answer = said;
            }
            if matches!(answer, Answer::Cancel { .. }) {
                break;
            }
        }
        Ok(answer)
    }

    /// Tells all hooks what was done. Returns those that failed; one that cannot be told has failed,
    /// too, since what was done stays.
    pub fn tell(&self, event: &Event<'_>) -> Vec<HookFailed> {
        let mut failed = Vec::new();
        if self.commands.is_empty() {
            return failed;
        }
        let mut input = payload(event, None).map_err(|error| format!("cannot write the event: {error}"));
        for command in self.commands {
            let told = match &mut input {
                Ok(input) => self.run(command, input, |_| Ok(())),
                Err(error) => Err(Failed::Answer(error.clone())),
            };
            if let Err(why) = told {
                let is_interrupted = matches!(why, Failed::Interrupted(_));
                failed.push(HookFailed { command: command.clone(), why });
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
    ) -> Result<T, Failed> {
        // Opened again where the system can: a hook then cannot change what the next one gets.
        let input = File::open(format!("/proc/self/fd/{}", input.as_raw_fd())).or_else(|_| {
            input.seek(SeekFrom::Start(0))?;
            input.try_clone()
        });
        let input = input.map_err(Failed::Io)?;
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
fn answer_of(output: &[u8], hook: &str) -> Result<Option<Answer>, String> {
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
        return Ok(Some(Answer::Cancel { by: hook.to_owned() }));
    }
    let Some(summary) = raw.get("summary").filter(|summary| summary.kind() != ValueKind::Null) else {
        return Ok(Some(Answer::Go));
    };
    let text = summary.get_str("summary").unwrap_or_default();
    if text.trim().is_empty() {
        return Err("its summary is blank; it is `{\"summary\":{\"summary\":\"…\"}}`".to_owned());
    }
    let details = summary.get("details").filter(|details| details.kind() != ValueKind::Null);
    let details = details.map(|details| String::from_utf8_lossy(details.bytes()).into_owned().into_bytes());
    Ok(Some(Answer::Summary { text: text.into_owned(), details }))
}

#[cfg(test)]
mod tests {
    use super::{Answer, answer_of};

    #[test]
    fn answers() {
        let answer_of = |output: &[u8]| answer_of(output, "h");
        assert_eq!(answer_of(b" \n"), Ok(None));
        assert_eq!(answer_of(b"{}"), Ok(Some(Answer::Go)));
        assert_eq!(answer_of(b"{\"cancel\":false,\"x\":1}\n"), Ok(Some(Answer::Go)));
        assert_eq!(answer_of(b"{\"cancel\":true}"), Ok(Some(Answer::Cancel { by: "h".to_owned() })));
        let summary = Answer::Summary { text: "s".to_owned(), details: Some(b"[1]".to_vec()) };
        assert_eq!(answer_of(b"{\"summary\":{\"summary\":\"s\",\"details\":[1]}}"), Ok(Some(summary)));
        for bad in [&b"ok"[..], b"[]", b"{} {}", b"{\"summary\":{\"summary\":\" \"}}", b"{\"summary\":\"s\"}"] {
            assert!(answer_of(bad).is_err());
        }
    }
}
