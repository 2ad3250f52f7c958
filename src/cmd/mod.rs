//! The subcommands: each reads its arguments, asks the core for a value and hands that to `ui`. No rule of
//! sessions is decided here.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use crate::core::disk::late::Late;
use crate::core::disk::write::{SideEffects, Unsynced};
use crate::core::error::problem::WarningKind;
use crate::core::error::{Error, Holder, reason};
use crate::ui::report::Failure;

pub use app::{App, Global, json_report, plain_report};

mod app;
mod args;
pub mod branch;
pub mod check;
mod complete;
pub mod completions;
pub mod context;
mod folders;
pub mod help;
pub mod label;
pub mod list;
mod lookup;
pub mod man;
pub mod migrate;
pub mod navigate;
mod paths;
mod sessions;
mod summary;
pub mod tree;
mod world;

/// A command with its arguments, ready to run.
pub trait Task {
    /// Returns whether messages are objects too.
    fn is_json(&self) -> bool {
        false
    }

    /// Runs the command. The exit code says what came out where a command has several.
    ///
    /// # Errors
    /// A [`Failure`], or what the system says of writing to stdout.
    fn run(self: Box<Self>, app: &App) -> Result<ExitCode>;
}

/// Returns the examples of a command with the ways to name an entry.
fn naming(examples: &str) -> String {
    let forms = "\
ENTRY is user:1 (the last prompt; user:2 the one before), assistant:1 (the last
answer), label:x, @ (the leaf), an id or its first characters; ~N after any of
these is N steps up, as in @~3.";
    format!("{examples}\n\n{forms}")
}

/// Warns of what a write did, or could not do, beside what was asked for.
fn warn_of(app: &App, effects: &SideEffects, path: &Path) {
    let warn = |kind, message: &str| app.report.warn(kind, message, Some(path), None);
    if effects.broke_links {
        warn(WarningKind::HardLink, "the file has other names (hard links): they go on naming what it was");
    }
    if effects.dropped_rights {
        warn(WarningKind::RightsDropped, "its group or access list could not be kept: their rights are dropped");
    }
    let Late { carried, aside, holder, lost } = &effects.late;
    let late = |message: String| warn(WarningKind::LateBytes, &message);
    if *carried > 0 {
        late(format!("another program appended {carried} bytes while the file was replaced: they follow as they are"));
    }
    if let Some(path) = aside {
        late(format!(
            "another program rewrote the file while it was replaced: what it wrote is in `{}`",
            path.display()
        ));
    }
    if let Some(cause) = lost {
        late(format!("what another program wrote while the file was replaced is lost: {}", reason(cause)));
    }
    if let Some(Holder { pid, program }) = holder {
        late(format!("{program} (process {pid}) still has the old file open: what it writes from now on is lost"));
    }
    if let Some(Unsynced::Folder(cause)) = &effects.unsynced {
        let message = format!("written, but cannot sync its folder to the disk: {}", reason(cause));
        warn(WarningKind::FolderNotSynced, &message);
    }
}

/// Returns the result of a command that changed a file: a failure to print says that the change is made,
/// and a failed sync comes before it. `made` is the new file, if there is one.
fn ended(printed: Result<()>, made: Option<&Path>, not_synced: Option<Failure>) -> Result<()> {
    if let Some(failure) = not_synced {
        return Err(failure.into());
    }
    printed.map_err(|error| match error.downcast::<io::Error>() {
        // Nobody reads a hint any more.
        Ok(cause) if cause.kind() == io::ErrorKind::BrokenPipe => cause.into(),
        Ok(cause) => {
            let hint = match made {
                Some(path) => format!("the new file was written: `{}`", path.display()),
                None => "the change is in the file: do not repeat the command".to_owned(),
            };
            Failure { hint: Some(hint), ..Failure::output(&cause) }.into()
        }
        Err(error) => error,
    })
}

/// Reads what is given in a file, or on standard input.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    bytes.map_err(Error::io("cannot read"))
}

/// Reads a text that is given in a file, or on standard input.
fn read_text(path: &Path) -> Result<String, Error> {
    String::from_utf8(read_bytes(path)?).map_err(|_| {
        let cause = io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
        Error::Io { doing: "cannot read", cause }
    })
}
