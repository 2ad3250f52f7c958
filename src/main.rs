//! Parses, runs, and turns what comes out into an exit code.

use std::io;
use std::process::ExitCode;

use session_tree::cli::{self, Parsed};
use session_tree::ui::report::Failure;

fn main() -> ExitCode {
    let (result, report) = match cli::parse() {
        Parsed::Run(task, app) => (task.run(&app), app.report),
        Parsed::Done(code) => return code,
    };
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let failure = Failure::of(error);
            report.failure(&failure);
            failure.exit.into()
        }
    }
}

/// Returns whether the reader of our output went away, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}
