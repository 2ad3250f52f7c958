//! Where agents keep things: sessions, and the images that sessions only name.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::core::naming::agent::Agent;
use crate::core::session::Session;

/// Returns the folders in which sessions are kept, as the environment has them.
pub(super) fn sessions() -> Vec<PathBuf> {
    sessions_by(&|name| env::var_os(name))
}

/// Returns the folder in which omp keeps the images of a session: beside the folder of sessions that
/// it is in, else at home.
pub(super) fn blobs(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let sessions = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "sessions"));
    let beside = sessions.map(|sessions| sessions.with_file_name("blobs"));
    let at_home = || env::var_os("HOME").map(|home| Path::new(&home).join(".omp/agent/blobs"));
    beside.filter(|folder| folder.is_dir()).or_else(at_home)
}

/// Returns the agent that goes on with a session, or would with a copy of it in another file.
pub(super) fn agent(file: &Path, session: &Session) -> Agent {
    Agent::of(file, session.has_title_slot(), &AgentFolders::new(&|name| env::var_os(name)).of_omp())
}

/// Returns the folders in which sessions are kept: those of `SESSION_TREE_DIR`, and where pi (as of
/// 1.6) and omp (13 and 18) keep them, by default and by their own variables.
fn sessions_by(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let places = AgentFolders::new(variable);
    let mut folders = Vec::new();
    if let Some(own) = places.text("SESSION_TREE_DIR") {
        let own = env::split_paths(&own).filter(|path| !path.as_os_str().is_empty());
        folders.extend(own.map(|path| places.at_home(path)));
    }
    folders.extend(places.folder("PI_CODING_AGENT_SESSION_DIR"));
    folders.extend(places.folder("PI_CODING_AGENT_DIR").map(|agent| agent.join("sessions")));
    folders.extend(places.home.iter().map(|home| home.join(".pi/agent/sessions")));
    folders.extend(places.of_omp());
    let mut known = Vec::new();
    for folder in folders.into_iter().filter_map(|folder| std::path::absolute(folder).ok()) {
        if !known.contains(&folder) {
            known.push(folder);
        }
    }
    known
}

/// What the environment says of folders.
struct AgentFolders<'v> {
    variable: &'v dyn Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
}

impl<'v> AgentFolders<'v> {
    fn new(variable: &'v dyn Fn(&str) -> Option<OsString>) -> Self {
        let home = variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        Self { variable, home }
    }

    fn text(&self, name: &str) -> Option<OsString> {
        (self.variable)(name).filter(|value| !value.is_empty())
    }

    /// Takes `~` for the home folder, as pi and shells do.
    fn at_home(&self, path: PathBuf) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path,
        }
    }

    fn folder(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(|value| self.at_home(PathBuf::from(value)))
    }

    /// Returns the folders that only omp has.
    fn of_omp(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        // A profile of omp is a name, not a way out of the folder of all profiles.
        let profile = self.text("OMP_PROFILE").or_else(|| self.text("PI_PROFILE")).map(PathBuf::from);
        let profile =
            profile.filter(|name| matches!(name.components().collect::<Vec<_>>()[..], [Component::Normal(_)]));
        let profile = profile.map(|name| Path::new("profiles").join(name));
        // omp takes its variable for a path below the home folder, whatever it starts with.
        let config = self.text("PI_CONFIG_DIR").map(|config| {
            let bytes = config.as_bytes();
            let slashes = bytes.iter().take_while(|&&byte| byte == b'/').count();
            PathBuf::from(OsStr::from_bytes(&bytes[slashes..]))
        });
        for root in config.into_iter().chain([PathBuf::from(".omp")]) {
            let Some(root) = self.home.as_ref().map(|home| home.join(root)) else { continue };
            folders.extend(profile.iter().map(|profile| root.join(profile).join("agent/sessions")));
            folders.push(root.join("agent/sessions"));
        }
        if let Some(data) = self.folder("XDG_DATA_HOME").map(|data| data.join("omp")) {
            folders.extend(profile.iter().map(|profile| data.join(profile).join("sessions")));
            folders.push(data.join("sessions"));
        }
        folders
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs;

    use super::{blobs, sessions_by};

    const PI: &str = "/home/mia/.pi/agent/sessions";
    const OMP: &str = "/home/mia/.omp/agent/sessions";
    const HOME: (&str, &str) = ("HOME", "/home/mia");

    fn check(variables: &[(&str, &str)], expected: &[&str]) {
        let value = |name: &str| variables.iter().find(|(other, _)| *other == name);
        let found = sessions_by(&|name| value(name).map(|(_, value)| OsString::from(value)));
        let found: Vec<_> = found.iter().map(|folder| folder.to_str().unwrap()).collect();
        assert_eq!(found, expected, "{variables:?}");
    }

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

    #[test]
    fn images_are_beside_the_folder_of_sessions() {
        let agent = tempfile::tempdir().unwrap();
        let session = agent.path().join("sessions/work/s.jsonl");
        let beside = agent.path().join("blobs");
        assert_ne!(blobs(&session), Some(beside.clone()));
        fs::create_dir(&beside).unwrap();
        assert_eq!(blobs(&session), Some(beside.clone()));
        assert_ne!(blobs(&agent.path().join("s.jsonl")), Some(beside));
    }
}
