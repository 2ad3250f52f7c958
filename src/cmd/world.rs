//! What the core must not know by itself: the clock, random ids, signals, the agents' folders.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use uuid::Uuid;

use crate::core::disk::lock::Patience;
use crate::core::disk::write::Manners;
use crate::core::edit::draft::World;
use crate::core::error::ErrorKind;
use crate::core::time;
use crate::core::time::when::{self, End};
use crate::hooks::{HookFailed, Hooks};
use crate::run::Failed;
use crate::ui::report::Failure;

/// Options of commands that write into a file that others may have open.
#[derive(Clone, Debug, Args)]
pub(super) struct Writing {
    /// Write although another process has the file open
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// How long to wait for another writer's lock
    #[arg(long, value_name = "SECONDS", default_value = "10", hide_short_help = true, value_parser = seconds)]
    lock_timeout: Duration,
}

impl Writing {
    /// Gives how to behave towards others.
    pub(super) fn manners(&self) -> Manners<'static> {
        Manners { patience: patience(self.lock_timeout), force: self.force }
    }
}

/// Options of commands that run hooks.
#[derive(Clone, Debug, Args)]
pub(super) struct HookArgs {
    /// Program to ask before and to tell afterwards; may be given several times
    #[arg(long, value_name = "COMMAND")]
    hook: Vec<String>,
    /// How long each hook may take; 0 is for ever
    #[arg(long, value_name = "SECONDS", default_value = "60", hide_short_help = true, value_parser = seconds)]
    hook_timeout: Duration,
}

impl HookArgs {
    /// Gives the hooks.
    pub(super) fn hooks(&self) -> Hooks<'_> {
        Hooks { commands: &self.hook, limit: self.hook_timeout, stop: &stop }
    }
}

/// Says what went wrong with the hooks.
pub(super) fn hook_trouble(error: anyhow::Error) -> anyhow::Error {
    let hint = "a hook prints nothing, or one JSON object, and ends with 0; nothing was changed";
    match error.downcast::<HookFailed>() {
        Ok(HookFailed { command, why }) => {
            child_failure(ErrorKind::HookFailed, &format!("hook `{command}`"), &why, hint).into()
        }
        Err(error) => error,
    }
}

/// Says what went wrong with a child process.
pub(super) fn child_failure(kind: ErrorKind, what: &str, why: &Failed, hint: &str) -> Failure {
    match why {
        // A child was running: nothing of ours was written.
        Failed::Interrupted(signal) => Failure::interrupted(*signal),
        _ => Failure::plain(kind, format!("{what}: {why}"), Some(hint.to_owned())),
    }
}

/// Gives how long to wait for others.
pub(super) fn patience(timeout: Duration) -> Patience<'static> {
    Patience { timeout, now: &now, stop: &stop }
}

/// Prepares for writing: a signal from here on is obeyed where nothing is half-written.
///
/// # Errors
/// What the system says.
pub(super) fn prepare() -> io::Result<()> {
    let signal = SIGNAL.get_or_init(Arc::default);
    let numbers = [SIGHUP, SIGINT, SIGTERM].into_iter();
    for number in numbers.filter(|&number| number != SIGHUP || !is_ignored(number)) {
        signal_hook::flag::register_usize(number, Arc::clone(signal), number.unsigned_abs() as usize)?;
    }
    // Where it is ignored, the system buries our children itself, and how they ended is lost.
    signal_hook::flag::register(SIGCHLD, Arc::new(AtomicBool::new(false)))?;
    Ok(())
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
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Gives the signal that asked to stop, if one did.
pub(super) fn stop() -> Option<i32> {
    let signal = SIGNAL.get()?.load(Ordering::Relaxed);
    NonZeroUsize::new(signal).and_then(|signal| i32::try_from(signal.get()).ok())
}

static SIGNAL: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Gives the time in milliseconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Gives what new entries need.
pub(super) fn world(fresh: &mut dyn FnMut() -> String) -> World<'_> {
    World { now: timestamp(), fresh }
}

/// Gives the time in the spelling of agents.
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

/// Returns a new session's id at a time since 1970. `Uuid::now_v7` panics where the clock is before
/// that.
fn session_id_at(since: Duration) -> String {
    let time = uuid::Timestamp::from_unix(uuid::NoContext, since.as_secs(), since.subsec_nanos());
    Uuid::new_v7(time).to_string()
}

/// Gives the folders in which sessions are kept: those of `SESSION_TREE_DIR`, and where pi (as of
/// 1.6) and omp (13 and 18) keep them, by default and by their own variables.
pub(super) fn session_folders(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let text = |name: &str| variable(name).filter(|value| !value.is_empty());
    let home = text("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    // pi takes `~` for the home folder, as a shell does.
    let at_home = |path: PathBuf| match (path.strip_prefix("~"), &home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    };
    let folder = |name: &str| text(name).map(|value| at_home(PathBuf::from(value)));
    let mut folders = Vec::new();
    if let Some(own) = text("SESSION_TREE_DIR") {
        folders.extend(env::split_paths(&own).filter(|path| !path.as_os_str().is_empty()).map(at_home));
    }
    folders.extend(folder("PI_CODING_AGENT_SESSION_DIR"));
    folders.extend(folder("PI_CODING_AGENT_DIR").map(|agent| agent.join("sessions")));
    folders.extend(home.iter().map(|home| home.join(".pi/agent/sessions")));
    // A profile of omp is a name, not a way out of the folder of all profiles.
    let profile = text("OMP_PROFILE").or_else(|| text("PI_PROFILE")).map(PathBuf::from);
    let profile = profile.filter(|name| matches!(name.components().collect::<Vec<_>>()[..], [Component::Normal(_)]));
    let profile = profile.map(|name| Path::new("profiles").join(name));
    // omp takes its variable for a path below the home folder, whatever it starts with.
    let config = text("PI_CONFIG_DIR").map(|config| {
        let bytes = config.as_bytes();
        let slashes = bytes.iter().take_while(|&&byte| byte == b'/').count();
        PathBuf::from(OsStr::from_bytes(&bytes[slashes..]))
    });
    for root in config.into_iter().chain([PathBuf::from(".omp")]) {
        let Some(root) = home.as_ref().map(|home| home.join(root)) else { continue };
        folders.extend(profile.iter().map(|profile| root.join(profile).join("agent/sessions")));
        folders.push(root.join("agent/sessions"));
    }
    if let Some(data) = folder("XDG_DATA_HOME").map(|data| data.join("omp")) {
        folders.extend(profile.iter().map(|profile| data.join(profile).join("sessions")));
        folders.push(data.join("sessions"));
    }
    let mut known = Vec::new();
    for folder in folders.into_iter().filter_map(|folder| std::path::absolute(folder).ok()) {
        if !known.contains(&folder) {
            known.push(folder);
        }
    }
    known
}

/// Reads the time from which on something counts.
pub(super) fn since(text: &str) -> Result<i64, &'static str> {
    when::read(text, &here_and_now(), End::First)
}

/// Reads the time up to which something counts.
pub(super) fn until(text: &str) -> Result<i64, &'static str> {
    when::read(text, &here_and_now(), End::Last)
}

fn here_and_now() -> ZonedDateTime {
    Timestamp::from_millisecond(now()).unwrap_or_default().to_zoned_datetime(TimeZone::system())
}

/// Reads a time span in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use std::time::Duration;

    use super::{session_folders, session_id_at};

    fn check(variables: &[(&str, &str)], expected: &[&str]) {
        let value = |name: &str| variables.iter().find(|(other, _)| *other == name);
        let found = session_folders(&|name| value(name).map(|(_, value)| OsString::from(value)));
        let found: Vec<_> = found.iter().map(|folder| folder.to_str().unwrap()).collect();
        assert_eq!(found, expected, "{variables:?}");
    }

    #[test]
    fn session_ids_are_made_at_any_time() {
        assert!(session_id_at(Duration::ZERO).starts_with("00000000-0000-7"));
        assert!(session_id_at(Duration::from_millis(1_767_607_201_000)).starts_with("019b"));
        assert_eq!(session_id_at(Duration::MAX).len(), 36);
        assert_ne!(session_id_at(Duration::ZERO), session_id_at(Duration::ZERO));
    }

    const PI: &str = "/home/mia/.pi/agent/sessions";
    const OMP: &str = "/home/mia/.omp/agent/sessions";
    const HOME: (&str, &str) = ("HOME", "/home/mia");

    #[test]
    fn sessions_are_looked_for_where_agents_keep_them() {
        check(&[], &[]);
        check(&[("HOME", "")], &[]);
        check(&[("HOME", "mia")], &[]);
        check(&[HOME], &[PI, OMP]);
        check(&[HOME, ("PI_CODING_AGENT_DIR", "/a")], &["/a/sessions", PI, OMP]);
        check(&[HOME, ("PI_CODING_AGENT_DIR", "~/a")], &["/home/mia/a/sessions", PI, OMP]);
        check(&[HOME, ("PI_CODING_AGENT_DIR", "")], &[PI, OMP]);
        check(&[HOME, ("PI_CODING_AGENT_SESSION_DIR", "/s")], &["/s", PI, OMP]);
        check(&[HOME, ("XDG_DATA_HOME", "/data")], &[PI, OMP, "/data/omp/sessions"]);
        for config in [".foo", "/.foo", "//.foo"] {
            check(&[HOME, ("PI_CONFIG_DIR", config)], &[PI, "/home/mia/.foo/agent/sessions", OMP]);
        }
        check(&[("XDG_DATA_HOME", "/data"), ("PI_CONFIG_DIR", ".foo")], &["/data/omp/sessions"]);
    }

    #[test]
    fn a_profile_of_omp_has_folders_of_its_own() {
        let work = "/home/mia/.omp/profiles/work/agent/sessions";
        check(&[HOME, ("OMP_PROFILE", "work")], &[PI, work, OMP]);
        check(&[HOME, ("PI_PROFILE", "work")], &[PI, work, OMP]);
        check(&[HOME, ("PI_PROFILE", "play"), ("OMP_PROFILE", "work")], &[PI, work, OMP]);
        let data = ["/data/omp/profiles/work/sessions", "/data/omp/sessions"];
        check(&[HOME, ("OMP_PROFILE", "work"), ("XDG_DATA_HOME", "/data")], &[PI, work, OMP, data[0], data[1]]);
        for name in ["..", "a/b", "/etc", "."] {
            check(&[HOME, ("OMP_PROFILE", name)], &[PI, OMP]);
        }
    }

    #[test]
    fn own_folders_come_first_and_each_is_named_once() {
        check(&[HOME, ("SESSION_TREE_DIR", "/a::/b:~/c")], &["/a", "/b", "/home/mia/c", PI, OMP]);
        check(&[HOME, ("SESSION_TREE_DIR", OMP), ("PI_CODING_AGENT_SESSION_DIR", PI)], &[OMP, PI]);
        let here = std::env::current_dir().unwrap().join("sub");
        check(&[("SESSION_TREE_DIR", "sub")], &[here.to_str().unwrap()]);
    }
}
