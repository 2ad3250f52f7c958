//! What the core must not know by itself: the clock, random ids, signals.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, low_level};
use uuid::Uuid;

use crate::core::disk::lock::LockWait;
use crate::core::edit::draft::IdsAndTime;
use crate::core::edit::stand_in::StandInKey;
use crate::core::error::ErrorKind;
use crate::core::time;
use crate::core::time::when::{self, DayEdge};
use crate::hooks::HookError;
use crate::run::ChildError;
use crate::ui::interrupts::Interrupts;
use crate::ui::output::Output;
use crate::ui::report::Failure;

/// Returns what went wrong with the hooks.
pub(super) fn hook_trouble(error: anyhow::Error) -> anyhow::Error {
    let hint = "a hook prints nothing, or one JSON object, and ends with 0; nothing was changed";
    match error.downcast::<HookError>() {
        Ok(HookError { command, why }) => {
            child_failure(ErrorKind::HookFailed, &format!("hook `{command}`"), &why, hint).into()
        }
        Err(error) => error,
    }
}

/// Returns what went wrong with a child process.
pub(super) fn child_failure(kind: ErrorKind, what: &str, why: &ChildError, hint: &str) -> Failure {
    match why {
        // A child was running: nothing of ours was written.
        ChildError::Interrupted(signal) => Failure::interrupted(*signal),
        _ => Failure::plain(kind, format!("{what}: {why}"), Some(why.hint().unwrap_or_else(|| hint.to_owned()))),
    }
}

/// Returns how long to wait for others.
pub(super) fn wait(timeout: Duration) -> LockWait<'static> {
    LockWait { timeout, now: &now, stop: &stop }
}

/// Prepares for writing: a signal from here on is obeyed where nothing is half-written.
///
/// # Errors
/// What the system says.
pub(super) fn prepare() -> io::Result<()> {
    let signal = SIGNAL.get_or_init(Arc::default);
    if let Some(held) = HELD.get() {
        held.is_free.store(false, Ordering::Relaxed);
        signal.store(held.signal.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    for number in signals() {
        flag::register_usize(number, Arc::clone(signal), number.unsigned_abs() as usize)?;
    }
    // Where it is ignored, the system buries our children itself, and how they ended is lost.
    flag::register(SIGCHLD, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Prepares for printing a document piece by piece: a signal from here on is obeyed where it can be closed,
/// and a second one at once, since a file may be read without an end.
///
/// # Errors
/// What the system says.
pub(super) fn prepare_document() -> io::Result<()> {
    let is_second = Arc::new(AtomicBool::new(false));
    for number in signals() {
        flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&is_second))?;
        flag::register(number, Arc::clone(&is_second))?;
    }
    prepare()
}

/// The signals that ask to stop while a progress bar is on the screen. They are none of its business where
/// [`prepare`] was called, since then the command obeys them.
#[derive(Debug)]
pub(super) struct HeldSignals;

impl Interrupts for HeldSignals {
    fn hold(&self, is_held: bool) {
        let held = HELD.get_or_init(SignalGate::new);
        held.is_free.store(!is_held && SIGNAL.get().is_none(), Ordering::Relaxed);
    }

    fn held(&self) -> Option<i32> {
        let held = HELD.get().filter(|_| SIGNAL.get().is_none())?.signal.load(Ordering::Relaxed);
        NonZeroUsize::new(held).and_then(|signal| i32::try_from(signal.get()).ok())
    }

    fn end(&self, signal: i32) {
        // What cannot be ended goes on.
        let _ = low_level::emulate_default_handler(signal);
    }
}

/// How signals are held back.
struct SignalGate {
    /// Whether they end the program at once.
    is_free: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

static HELD: OnceLock<SignalGate> = OnceLock::new();

impl SignalGate {
    fn new() -> Self {
        let held = Self { is_free: Arc::new(AtomicBool::new(true)), signal: Arc::default() };
        for number in signals() {
            // One that cannot be held back ends the program as ever.
            let _ = flag::register_conditional_default(number, Arc::clone(&held.is_free))
                .and_then(|_| flag::register_usize(number, Arc::clone(&held.signal), number.unsigned_abs() as usize));
        }
        held
    }
}

/// Returns the signals that ask to stop.
fn signals() -> impl Iterator<Item = i32> {
    [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&number| number != SIGHUP || !is_ignored(number))
}

/// Returns whether a signal is ignored, as `nohup` starts programs, as far as the system shows.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    ignored >> (signal - 1) & 1 == 1
}

/// Makes a file that grows too large an error instead of an end, also one that holds input.
pub(super) fn survive_file_size_limit() {
    // Without it things are as the system has them.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Returns the signal that asked to stop, if one did.
pub(super) fn stop() -> Option<i32> {
    let signal = SIGNAL.get()?.load(Ordering::Relaxed);
    NonZeroUsize::new(signal).and_then(|signal| i32::try_from(signal.get()).ok())
}

static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// The times at which a file is looked at that another program writes.
#[derive(Debug)]
pub(super) struct Looks {
    /// How long to look without a new row.
    timeout: Option<Duration>,
    since: Instant,
    /// When the time was up, and one more look is due.
    is_last: bool,
}

impl Looks {
    /// The time between two of them.
    const APART: Duration = Duration::from_millis(250);

    /// Starts now.
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, since: Instant::now(), is_last: false }
    }

    /// Starts the time without a row anew.
    pub(super) fn row_came(&mut self) {
        (self.since, self.is_last) = (Instant::now(), false);
    }

    /// Waits until the next look. Returns false instead when the time is up.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::core::error::Error::Interrupted) after a signal, and a closed pipe if nobody
    /// reads the output any more.
    pub(super) fn wait(&mut self, output: &Output) -> anyhow::Result<bool> {
        wait(Duration::ZERO).check()?;
        if self.is_last {
            return Ok(false);
        }
        let left = self.timeout.map_or(Self::APART, |timeout| timeout.saturating_sub(self.since.elapsed()));
        self.is_last = self.timeout.is_some() && left <= Self::APART;
        output.wait(left.min(Self::APART))?;
        wait(Duration::ZERO).check()?;
        Ok(true)
    }
}

/// Returns the time in milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns what new entries get.
pub(super) fn ids_and_time(fresh: &mut dyn FnMut() -> String) -> IdsAndTime<'_> {
    IdsAndTime { now: &timestamp, fresh }
}

/// Returns the time in the spelling of agents.
pub(super) fn timestamp() -> String {
    time::iso(now())
}

/// Makes an id as agents do: 8 hex digits.
pub(super) fn entry_id() -> String {
    let mut id = Uuid::new_v4().simple().to_string();
    id.truncate(8);
    id
}

/// Returns the id of a new session.
pub(super) fn session_id() -> String {
    session_id_at(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Returns a key that nobody else has.
pub(super) fn stand_in_key() -> StandInKey {
    StandInKey::new(Uuid::new_v4())
}

/// Returns a new session's id at a time since 1970. `Uuid::now_v7` panics where the clock is before
/// that.
fn session_id_at(since: Duration) -> String {
    let time = uuid::Timestamp::from_unix(uuid::NoContext, since.as_secs(), since.subsec_nanos());
    Uuid::new_v7(time).to_string()
}

/// Reads the time from which on something counts.
pub(super) fn since(text: &str) -> Result<i64, &'static str> {
    when::read(text, &here_and_now(), DayEdge::Start)
}

/// Reads the time up to which something counts.
pub(super) fn until(text: &str) -> Result<i64, &'static str> {
    when::read(text, &here_and_now(), DayEdge::End)
}

fn here_and_now() -> ZonedDateTime {
    Timestamp::from_millisecond(now()).unwrap_or_default().to_zoned_datetime(TimeZone::system())
}

/// Reads a time span in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let span = Duration::try_from_secs_f64(seconds);
    span.map_err(|_| "not a number of seconds from 0 to 18 quintillion".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::session_id_at;

    #[test]
    fn session_ids_are_made_at_any_time() {
        assert!(session_id_at(Duration::ZERO).starts_with("00000000-0000-7"));
        assert!(session_id_at(Duration::from_millis(1_767_607_201_000)).starts_with("019b"));
        assert_eq!(session_id_at(Duration::MAX).len(), 36);
        assert_ne!(session_id_at(Duration::ZERO), session_id_at(Duration::ZERO));
    }
}
