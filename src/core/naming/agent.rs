//! Which agent keeps a session.

use std::path::{Path, PathBuf};

/// An agent that goes on with sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    /// pi, and what has its format.
    Pi,
    Omp,
}

impl Agent {
    /// Returns the agent that keeps a file: omp if it is in one of omp's folders, or if the session has
    /// the title slot that only omp writes; else pi.
    pub(crate) fn of(file: &Path, has_title_slot: bool, omp_folders: &[PathBuf]) -> Self {
        // As the system knows it, if it is there: a folder may be reached by a link.
        let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
        let is_in =
            |file: &PathBuf| omp_folders.iter().filter_map(|folder| real(folder)).any(|it| file.starts_with(it));
        if has_title_slot || real(file).as_ref().is_some_and(is_in) { Self::Omp } else { Self::Pi }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::Agent;

    #[test]
    fn omp_keeps_what_is_in_its_folders_or_has_a_title_slot() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let omp = [path("none"), path("omp")];
        fs::create_dir_all(path("omp/w")).unwrap();
        fs::write(path("omp/w/s.jsonl"), "").unwrap();
        symlink(path("omp"), path("link")).unwrap();
        for (file, has_title_slot, expected) in [
            ("omp/w/s.jsonl", false, Agent::Omp),
            ("link/w/s.jsonl", false, Agent::Omp),
            ("omp/gone.jsonl", false, Agent::Omp),
            ("omp-not/s.jsonl", false, Agent::Pi),
            ("s.jsonl", false, Agent::Pi),
            ("s.jsonl", true, Agent::Omp),
        ] {
            assert_eq!(Agent::of(&path(file), has_title_slot, &omp), expected, "{file} {has_title_slot}");
        }
    }
}
