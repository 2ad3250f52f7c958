//! From SESSION, as it is typed, to a file: a path, an id, `latest` or `current`.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::App;
use super::folders;
use super::world;
use crate::core::error::problem::WarningKind;
use crate::core::naming::session::find::{Asker, Meaning};
use crate::core::naming::session::store::SessionStore;
use crate::core::naming::session::stored::title;
use crate::core::naming::session::word::{CURRENT, is_path};
use crate::ui::naming;

/// Returns the file that a word other than a path names; `None` for a path. `writes` if the command writes
/// into the session.
///
/// # Errors
/// A [`Failure`](crate::ui::report::Failure) if no session goes by that name, or several do.
pub(super) fn file(app: &App, word: &Path, writes: bool) -> Result<Option<PathBuf>> {
    let Some(name) = word.to_str().filter(|_| !is_path(word)) else { return Ok(None) };
    // Without a current folder no session is one of it.
    let (cwd, current) = (env::current_dir().unwrap_or_default(), folders::current());
    if let Some(file) = current.file.as_ref().filter(|_| name == CURRENT) {
        return Ok(Some(file.clone()));
    }
    let mut store = SessionStore::new(&folders::sessions());
    let meaning = store.find(name, &Asker { cwd: &cwd, current: &current, writes });
    if let Some(message) = naming::closed(&store) {
        app.report.warn(WarningKind::PassedOver, &message, None, None);
    }
    match meaning {
        Meaning::One(kept) => Ok(Some(kept.path)),
        Meaning::Current(file) => Ok(Some(file)),
        other => {
            // Perhaps one of these is what was meant.
            app.passed_over(&store.passed_over.borrow());
            let name = current.id.as_deref().filter(|_| name == CURRENT).unwrap_or(name);
            Err(naming::failure(name, &other, &store, &cwd, world::now(), &|path| title(path, app.jobs)).into())
        }
    }
}

/// Returns paths with the files of those that are names of sessions. Among several, a word that names none
/// stays a path: the others are to be read all the same.
///
/// # Errors
/// As [`file`], for a word that stands alone.
pub(super) fn files(app: &App, mut given: Vec<PathBuf>, writes: bool) -> Result<Vec<PathBuf>> {
    let is_alone = given.len() == 1;
    for path in &mut given {
        match file(app, path, writes) {
            Ok(Some(found)) => *path = found,
            Err(error) if is_alone => return Err(error),
            Ok(None) | Err(_) => {}
        }
    }
    Ok(given)
}
