//! From SESSION, as it is typed, to a file: a path, an id, or `latest`.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::App;
use super::folders;
use super::world;
use crate::core::error::problem::WarningKind;
use crate::core::naming::session::{Meaning, SessionStore, is_path, title};
use crate::ui::naming;

/// Returns the file that a word other than a path names; `None` for a path.
///
/// # Errors
/// A [`Failure`](crate::ui::report::Failure) if no session goes by that name, or several do.
pub(super) fn file(app: &App, word: &Path) -> Result<Option<PathBuf>> {
    let Some(name) = word.to_str().filter(|_| !is_path(word)) else { return Ok(None) };
    let store = SessionStore::new(&folders::sessions());
    // Without a current folder no session is one of it.
    let cwd = env::current_dir().unwrap_or_default();
    let meaning = store.find(name, &cwd);
    if let Some(message) = naming::closed(&store) {
        app.report.warn(WarningKind::PassedOver, &message, None, None);
    }
    match meaning {
        Meaning::One(kept) => Ok(Some(kept.path)),
        other => {
            // Perhaps one of these is what was meant.
            app.passed_over(&store.passed_over.borrow());
            Err(naming::failure(name, &other, &store, &cwd, world::now(), &|path| title(path, app.jobs)).into())
        }
    }
}
