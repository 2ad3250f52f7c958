//! Where agents keep things: sessions, and the images that sessions only name.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::core::naming::agent::Agent;
use crate::core::naming::session::find::CurrentSession;
use crate::core::naming::session::place::Places;
use crate::core::naming::settings;
use crate::core::session::Session;

/// The largest file of settings that is read, in bytes.
const LARGEST_SETTINGS: u64 = 16 * 1024 * 1024;

/// Returns the places in which sessions are kept, as the environment and pi's settings have them.
pub(super) fn sessions() -> Places {
    sessions_by(&|name| env::var_os(name), env::current_dir().ok().as_deref())
}

/// Returns what an agent says of its session to the programs that it runs.
pub(super) fn current() -> CurrentSession {
    let text = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    CurrentSession {
        // It is a file whatever its name is, and never standard input.
        file: text("PI_SESSION_FILE").map(|file| if file == "-" { "./-".into() } else { file.into() }),
        id: text("PI_SESSION_ID").map(|id| id.to_string_lossy().into_owned()),
    }
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

/// Returns whether a file is in an archive of an agent.
pub(super) fn is_archived(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let archives = sessions().archives;
    archives.iter().any(|archive| archive.canonicalize().is_ok_and(|archive| file.starts_with(archive)))
}

/// Returns the places in which sessions are kept: the folders of `SESSION_TREE_DIR`, and where pi (as of 1.6)
/// and omp (13 and 18) keep them, by default, by their own variables, and by pi's settings for somebody who
/// works in `cwd`.
fn sessions_by(variable: &dyn Fn(&str) -> Option<OsString>, cwd: Option<&Path>) -> Places {
    let places = AgentFolders::new(variable);
    let mut folders = Vec::new();
    if let Some(own) = places.text("SESSION_TREE_DIR") {
        let own = env::split_paths(&own).filter(|path| !path.as_os_str().is_empty());
        folders.extend(own.map(|path| places.at_home(path)));
    }
    let agent = places.folder("PI_CODING_AGENT_DIR");
    folders.extend(places.folder("PI_CODING_AGENT_SESSION_DIR"));
    folders.extend(places.by_settings(agent.as_deref(), cwd));
    let of_agent = agent.map(|agent| agent.join("sessions"));
    folders.extend(of_agent.clone());
    folders.extend(places.home.iter().map(|home| home.join(".pi/agent/sessions")));
    let of_omp = places.of_omp();
    folders.extend(of_omp.iter().cloned());
    let omp_agents: Vec<_> = of_agent.iter().chain(&of_omp).filter_map(|sessions| sessions.parent()).collect();
    let archives = omp_agents.iter().map(|agent| agent.join("archive/sessions"));
    let registries = omp_agents.iter().map(|agent| agent.join(REGISTRY)).chain(places.registries());
    Places { folders: unique(folders), archives: unique(archives), registries: unique(registries) }
}

/// Where pi looks for the settings of a folder that it is started in.
const PROJECT_SETTINGS: &str = ".pi/settings.json";
/// The folder in which omp notes sessions that it keeps elsewhere.
const REGISTRY: &str = "custom-session-files";

/// Returns folders as absolute paths, each once.
fn unique(folders: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut known = Vec::new();
    for folder in folders.into_iter().filter_map(|folder| std::path::absolute(folder).ok()) {
        if !known.contains(&folder) {
            known.push(folder);
        }
    }
    known
}

/// Returns the folder of sessions that a file of pi's settings names, as it is written there; `None` if the file
/// does not or cannot be read, as for pi.
fn session_dir(settings: &Path) -> Option<String> {
    let meta = fs::metadata(settings).ok()?;
    if !meta.is_file() || meta.len() > LARGEST_SETTINGS {
        return None;
    }
    settings::session_dir(&fs::read(settings).ok()?)
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

    /// Returns the folders that pi's settings name: those of the user and those of the folder that somebody
    /// works in. What pi would find in the folders above counts too, since `latest` may lead there. A relative
    /// path is one below the folder that pi is started in.
    fn by_settings(&self, agent: Option<&Path>, cwd: Option<&Path>) -> Vec<PathBuf> {
        let starts: Vec<_> = cwd.into_iter().flat_map(Path::ancestors).collect();
        let of_project = starts.iter().filter_map(|start| Some((*start, session_dir(&start.join(PROJECT_SETTINGS))?)));
        let mut folders: Vec<_> = of_project.map(|(start, folder)| start.join(self.at_home(folder.into()))).collect();
        let by_default = self.home.as_ref().map(|home| home.join(".pi/agent"));
        for agent in agent.into_iter().chain(by_default.as_deref()) {
            let Some(folder) = session_dir(&agent.join("settings.json")) else { continue };
            let folder = self.at_home(folder.into());
            folders.extend(starts.iter().map(|start| start.join(&folder)));
        }
        folders
    }

    /// Returns where a profile of omp has its folders; `None` without one.
    fn profile(&self) -> Option<PathBuf> {
        let profile = self.text("OMP_PROFILE").or_else(|| self.text("PI_PROFILE")).map(PathBuf::from)?;
        // It is a name, not a way out of the folder of all profiles.
        let is_name = matches!(profile.components().collect::<Vec<_>>()[..], [Component::Normal(_)]);
        is_name.then(|| Path::new("profiles").join(profile))
    }

    /// Returns the registries that omp keeps apart from its sessions.
    fn registries(&self) -> Vec<PathBuf> {
        let Some(state) = self.folder("XDG_STATE_HOME").map(|state| state.join("omp")) else { return Vec::new() };
        let of_profile = self.profile().map(|profile| state.join(profile).join(REGISTRY));
        of_profile.into_iter().chain([state.join(REGISTRY)]).collect()
    }

    /// Returns the folders of sessions that only omp has.
    fn of_omp(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        let profile = self.profile();
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
    use std::path::{Path, PathBuf};

    use super::{Places, blobs, sessions_by};

    const PI: &str = "/home/mia/.pi/agent/sessions";
    const OMP: &str = "/home/mia/.omp/agent/sessions";
    const HOME: (&str, &str) = ("HOME", "/home/mia");

    fn places(variables: &[(&str, &str)], cwd: Option<&Path>) -> Places {
        let value = |name: &str| variables.iter().find(|(other, _)| *other == name);
        sessions_by(&|name| value(name).map(|(_, value)| OsString::from(value)), cwd)
    }

    fn names(folders: &[PathBuf]) -> Vec<&str> {
        folders.iter().map(|folder| folder.to_str().unwrap()).collect()
    }

    #[track_caller]
    fn check(variables: &[(&str, &str)], expected: &[&str]) {
        assert_eq!(names(&places(variables, None).folders), expected, "{variables:?}");
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
    fn settings_of_pi_name_folders_for_those_who_work_there() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        let write = |name: &str, text: &str| {
            fs::create_dir_all(Path::new(&at(name)).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        };
        let (user, project, above) =
            (".pi/agent/settings.json", "shop/src/.pi/settings.json", "shop/.pi/settings.json");
        // What each file says, and the folders that are added for somebody in `shop/src`, without those that
        // lie outside of the home folder.
        for (user_says, project_says, above_says, expected) in [
            ("", "", "", &[][..]),
            (r#"{"sessionDir":"~/mine"}"#, "", "", &["mine"]),
            (r#"{"sessionDir":"~"}"#, "", "", &[""]),
            (r#"{"sessionDir":"~mia/x"}"#, "", "", &["shop/src/~mia/x", "shop/~mia/x", "~mia/x"]),
            (r#"{"sessionDir":"logs/pi"}"#, "", "", &["shop/src/logs/pi", "shop/logs/pi", "logs/pi"]),
            ("", r#"{"sessionDir":"logs"}"#, "", &["shop/src/logs"]),
            ("", "", r#"{"sessionDir":"logs"}"#, &["shop/logs"]),
            (r#"{"sessionDir":"~/u"}"#, r#"{"sessionDir":"~/p"}"#, r#"{"sessionDir":"~/a"}"#, &["p", "a", "u"]),
            ("\u{feff}{\"sessionDir\":\"~/mine\"}", "", "", &["mine"]),
            (r#"{"sessionDir":"~/no","sessionDir":"~/mine"}"#, "", "", &["mine"]),
            // What pi does not take for a folder.
            (r#"{"sessionDir":""}"#, r#"{"sessionDir":null}"#, r#"{"sessionDir":["~/x"]}"#, &[]),
            (r#"{"sessionDir":"~/x",}"#, r#"{"sessionDir":"~/x" // no"#, "[1]", &[]),
        ] {
            for (name, text) in [(user, user_says), (project, project_says), (above, above_says)] {
                write(name, text);
            }
            let cwd = at("shop/src");
            let found = places(&[("HOME", &at(""))], Some(Path::new(&cwd))).folders;
            let own = |folder: &&PathBuf| folder.starts_with(home.path()) && !folder.ends_with("agent/sessions");
            let found: Vec<_> =
                found.iter().filter(own).map(|folder| folder.strip_prefix(home.path()).unwrap()).collect();
            let expected: Vec<_> = expected.iter().map(Path::new).collect();
            assert_eq!(found, expected, "{user_says} {project_says} {above_says}");
        }
        // An agent folder of its own has settings of its own.
        write("agent/settings.json", r#"{"sessionDir":"/kept"}"#);
        write(user, r#"{"sessionDir":"/other"}"#);
        let (home, agent) = (at(""), at("agent"));
        let variables = [("HOME", &*home), ("PI_CODING_AGENT_DIR", &*agent)];
        let found = places(&variables, Some(Path::new("/work"))).folders;
        assert_eq!(names(&found)[..2], ["/kept", "/other"]);
        // A file named by an address, and one without settings.
        write(user, r#"{"sessionDir":"file:///kept/x"}"#);
        assert_eq!(names(&places(&[("HOME", &home)], Some(Path::new("/"))).folders)[0], "/kept/x");
    }

    #[test]
    fn omp_has_archives_and_registries_beside_its_sessions() {
        let check = |variables: &[(&str, &str)], archives: &[&str], registries: &[&str]| {
            let Places { archives: found, registries: noted, .. } = places(variables, None);
            assert_eq!((names(&found), names(&noted)), (archives.to_vec(), registries.to_vec()), "{variables:?}");
        };
        let omp = "/home/mia/.omp/agent";
        let (archive, registry) = (&*format!("{omp}/archive/sessions"), &*format!("{omp}/custom-session-files"));
        check(&[], &[], &[]);
        check(&[HOME], &[archive], &[registry]);
        check(
            &[HOME, ("PI_CODING_AGENT_DIR", "/a")],
            &["/a/archive/sessions", archive],
            &["/a/custom-session-files", registry],
        );
        check(
            &[("XDG_DATA_HOME", "/data"), ("XDG_STATE_HOME", "/state"), ("OMP_PROFILE", "work")],
            &["/data/omp/profiles/work/archive/sessions", "/data/omp/archive/sessions"],
            &[
                "/data/omp/profiles/work/custom-session-files",
                "/data/omp/custom-session-files",
                "/state/omp/profiles/work/custom-session-files",
                "/state/omp/custom-session-files",
            ],
        );
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
