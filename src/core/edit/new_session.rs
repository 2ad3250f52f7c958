//! A session that comes from another one: its header, and where its file goes.

use std::io;
use std::path::{Path, PathBuf};

use super::stand_in::StandIns;
use crate::core::entry::header::CURRENT;
use crate::core::error::{Error, Result};
use crate::core::json::Object;
use crate::core::session::Session;

/// A session that is made: what its header says.
#[derive(Clone, Debug)]
pub struct NewSession<'s> {
    /// Its id: our own, so that no hostile one can lead out of a folder.
    pub id: String,
    /// When it is made, in the spelling of agents.
    pub now: String,
    /// Where it comes from; `None` if it has no file to come from.
    pub parent: Option<String>,
    /// What its lines are replaced by, if others may see it.
    pub stand_ins: Option<StandIns<'s>>,
}

/// What was written of a new session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenSession {
    /// Lines after the header.
    pub entries: usize,
    /// How many of them are labels.
    pub labels: usize,
    /// The id of the last one.
    pub leaf: Option<String>,
}

impl<'s> NewSession<'s> {
    /// Describes a session that comes from a file; standard input cannot be named, and need not be. One with
    /// stand-ins does not say where it comes from.
    pub fn of(
        source: &Path,
        names_source: bool,
        stand_ins: Option<StandIns<'s>>,
        id: String,
        now: String,
    ) -> io::Result<Self> {
        let is_named = names_source && stand_ins.is_none() && source != Path::new("-");
        let parent = is_named.then(|| std::path::absolute(source)).transpose()?;
        Ok(Self { id, now, parent: parent.map(|path| path.display().to_string()), stand_ins })
    }

    /// Returns its file in a folder.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such folder.
    pub fn file_in(&self, folder: &Path) -> Result<PathBuf> {
        if folder.is_dir() {
            return Ok(folder.join(self.file_name()));
        }
        let cause = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
        Err(Error::Io { doing: "cannot make the new file", cause })
    }

    /// Returns its file beside the one that it comes from.
    ///
    /// # Errors
    /// [`Error::Usage`] for standard input.
    pub fn file_beside(&self, source: &Path) -> Result<PathBuf> {
        if source != Path::new("-") {
            return Ok(source.with_file_name(self.file_name()));
        }
        let hint = "add `--session-dir DIR`, `--output FILE` or `--output -`";
        Err(Error::usage("standard input has no folder for the new file", hint))
    }

    /// Returns the name that agents would give the file.
    fn file_name(&self) -> String {
        format!("{}_{}.jsonl", self.now.replace([':', '.'], "-"), self.id)
    }

    /// Returns the header of a fork of a session, with its LF.
    pub(super) fn header(&self, session: &Session) -> Vec<u8> {
        let mut out = Vec::new();
        let mut header = Object::new(&mut out);
        header.str("type", "session").number("version", CURRENT).str("id", &self.id).str("timestamp", &self.now);
        let cwd = session.header.cwd.as_deref().unwrap_or("");
        header.str("cwd", &self.stand_ins.map_or_else(|| cwd.to_owned(), |stand_ins| stand_ins.text(cwd)));
        if let Some(parent) = &self.parent {
            header.str("parentSession", parent);
        }
        drop(header);
        out.push(b'\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::core::session::sample::read;

    use super::NewSession;

    fn new(now: &str) -> NewSession<'static> {
        let parent = Some("/old.jsonl".to_owned());
        NewSession { id: "new".to_owned(), now: now.to_owned(), parent, stand_ins: None }
    }

    #[test]
    fn the_header_names_the_source_and_takes_over_the_folder() {
        let header = |cwd: &str| {
            let source = format!(r#"{{"type":"session","version":3,"id":"s","title":"old"{cwd}}}"#);
            String::from_utf8(new("T").header(&read(source.as_bytes()))).unwrap()
        };
        let expected = |cwd: &str| {
            let start = r#"{"type":"session","version":3,"id":"new","timestamp":"T","cwd":"#;
            format!("{start}\"{cwd}\",\"parentSession\":\"/old.jsonl\"}}\n")
        };
        assert_eq!(header(r#","cwd":"/home/mia \"x\"""#), expected(r#"/home/mia \"x\""#));
        for cwd in ["", r#","cwd":null"#, r#","cwd":7"#, r#","cwd":{}"#] {
            assert_eq!(header(cwd), expected(""), "{cwd}");
        }
    }

    #[test]
    fn a_new_file_goes_where_it_was_told_to_else_beside_its_source() {
        let new = new("2026-01-05T10:00:00.000Z");
        let name = "2026-01-05T10-00-00-000Z_new.jsonl";
        assert_eq!(new.file_beside(Path::new("a/s.jsonl")).unwrap(), Path::new("a").join(name));
        assert_eq!(new.file_beside(Path::new("-")).unwrap_err().kind().name(), "usage");
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(new.file_in(folder.path()).unwrap(), folder.path().join(name));
        assert_eq!(new.file_in(&folder.path().join("none")).unwrap_err().kind().name(), "io");
    }
}
