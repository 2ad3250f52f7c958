//! What the progress bar needs of signals, so that a program that is asked to stop clears its line first. The
//! signals themselves are handled in `cmd::world`.

use std::fmt::Debug;

/// Signals that ask to stop, which wait until the bar is cleared.
pub trait Interrupts: Debug + Sync {
    /// Holds such signals back while a bar is on the screen, or lets them end the program again.
    fn hold(&self, is_held: bool);

    /// Returns the signal that is held back.
    fn held(&self) -> Option<i32>;

    /// Ends the program by a signal.
    fn end(&self, signal: i32);
}
