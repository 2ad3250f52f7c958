//! Parses, runs, and turns what comes out into an exit code.

use std::io;
use std::process::ExitCode;

use session_tree::cli::{self, Parsed};
use session_tree::ui::exit::Exit;
use session_tree::ui::report::{Failure, Report};

fn main() -> ExitCode {
    let (result, report) = match cli::parse() {
        Parsed::Run(cli) => {
            let app = cli.app();
            let report = app.report;
            (cli.run(&app), report)
        }
        Parsed::Done(code) => return code,
    };
    match result {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => fail(report, &error),
    }
}

/// Tells whether the reader of our output went away, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}

fn fail(report: Report, error: &anyhow::Error) -> ExitCode {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        report.failure(failure);
        return failure.exit.into();
    }
    report.failure(&Failure::output(&format_args!("{error:#}")));
    Exit::CouldNot.into()
}
