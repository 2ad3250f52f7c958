//! Exit codes. Each is listed once, here; the page `json` and the man page have what is here.

use std::process::ExitCode;

use crate::core::words::listed;

listed! {
    /// How the program ends.
    Exit,
    /// Returns the exit code.
    code: u8 {
        /// done; also nothing to do
        Done = 0,
        /// a check says no, or a search found nothing
        SaysNo = 1,
        /// could not: wrong usage, no session, no such entry, the file cannot be read or written
        CouldNot = 2,
        /// cancelled by a hook
        Cancelled = 3,
        /// hung up; nothing is half-written
        HungUp = 129,
        /// interrupted; nothing is half-written
        Interrupted = 130,
        /// terminated; nothing is half-written
        Terminated = 143,
    }
}

impl Exit {
    /// Returns how the program ends after a signal: with 128 and its number, as shells have it.
    pub fn after(signal: i32) -> Self {
        let is_meant = |exit: &&Self| i32::from(exit.code()) == 128 + signal;
        Self::ALL.iter().find(is_meant).copied().unwrap_or(Self::CouldNot)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
