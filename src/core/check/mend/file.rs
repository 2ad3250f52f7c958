//! Mends files in place: the original is kept beside it, and the new form takes its place in one step, as for
//! every change of a whole file (help writing, "Whole files").

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::mend;
use super::state::{MendOptions, Mended};
use crate::core::check::Checked;
use crate::core::disk;
use crate::core::disk::backup::Backup;
use crate::core::disk::write::{self, Place, SideEffects, WriteOptions};
use crate::core::error::{Error, Result};
use crate::core::read::source::{FileState, Source, is_named_gzip};

/// How often a file is tried that others change at the same time.
const ATTEMPTS: usize = 3;
/// How many backups a file may have.
const BACKUPS: u32 = 10_000;

/// How files are mended in place.
pub struct FileOptions<'a> {
    /// What is mended.
    pub mend: MendOptions<'a>,
    /// The suffix of the copies of the old files, if they are kept.
    pub backup: Option<&'a str>,
    /// How to behave towards others.
    pub options: WriteOptions<'a>,
}

/// What became of a file.
#[derive(Debug)]
pub struct MendedFile {
    /// What was mended.
    pub mended: Mended,
    /// The check of what it is now.
    pub after: Checked,
    /// The copy of the old file.
    pub backup: Option<PathBuf>,
    /// What else the write did.
    pub effects: SideEffects,
}

/// Opens a file that may be mended.
///
/// # Errors
/// [`Error::Usage`] for standard input and what is not a file, [`Error::Compressed`], [`Error::Io`].
pub fn open(path: &Path) -> Result<Source> {
    let is_other = fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if is_other || path == Path::new("-") {
        return Err(no_file());
    }
    let source = Source::open(path)?;
    if is_named_gzip(path) && source.is_gzip() {
        return Err(Error::Compressed);
    }
    Ok(source)
}

/// Mends a file in place. What `watch` makes of the opened file lives as long as it is read.
///
/// # Errors
/// As [`open`] and [`mend`]; [`Error::Foreign`] if the file is of another format; and those of
/// [`mod@write`]. After an error the file is what it was.
pub fn fix<G>(path: &Path, options: &FileOptions<'_>, watch: &dyn Fn(&Source) -> G) -> Result<MendedFile> {
    let mut done = Err(Error::Changed { line: None });
    for _ in 0..ATTEMPTS {
        let mut keeps_backup = false;
        done = once(path, options, watch, &mut keeps_backup);
        // A backup that is the only copy of what the file was stays; another one would be needed.
        if keeps_backup || !matches!(done, Err(Error::Changed { .. })) {
            break;
        }
    }
    done
}

fn once<G>(
    path: &Path,
    options: &FileOptions<'_>,
    watch: &dyn Fn(&Source) -> G,
    keeps_backup: &mut bool,
) -> Result<MendedFile> {
    let wait = options.options.wait;
    wait.check()?;
    disk::clear_left_over(path);
    let source = open(path)?;
    let _watched = watch(&source);
    let (mended, after) = mend(&source, &options.mend)?;
    if let Some(format) = after.foreign() {
        return Err(Error::Foreign(format));
    }
    if mended.is_empty() {
        return Ok(MendedFile { mended, after, backup: None, effects: SideEffects::default() });
    }
    let stat = source.state().ok_or_else(no_file)?;
    let place = Place::new(path, stat)?;
    // A writer may be in the middle of the last line.
    if is_unfinished(&source)? && place.changes_soon(options.options)? {
        return Err(Error::Changed { line: None });
    }
    let backup = options.backup.map(|suffix| backup(&place, &source, suffix, options)).transpose();
    let backup = backup.map_err(|error| {
        let is_there = fs::metadata(place.path()).is_ok_and(|meta| FileState::of(&meta) == stat);
        if is_there { error } else { Error::Changed { line: None } }
    })?;
    let has_backup = || backup.as_ref().is_none_or(Backup::is_there);
    let fill = &mut |out: &mut dyn Write| mended.write(&source, out);
    let replaced = write::replace(&place, options.options, true, &has_backup, fill);
    let kept = backup.as_ref().map(|backup| backup.beside(path));
    if let (Err(_), Some(backup)) = (&replaced, backup) {
        *keeps_backup = backup.discard(place.path());
    }
    Ok(MendedFile { effects: replaced?, backup: kept, mended, after })
}

/// Keeps a copy of the old file under the first name that nothing else has.
fn backup(place: &Place, source: &Source, suffix: &str, options: &FileOptions<'_>) -> Result<Backup> {
    let named = |number: u32| {
        let mut name = place.path().as_os_str().to_owned();
        name.push(suffix);
        if number > 1 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    let mut number = 1;
    loop {
        match Backup::make(place, source, named(number), options.options.wait) {
            Err(Error::Exists { .. }) if number < BACKUPS => number += 1,
            made => return made,
        }
    }
}

/// Returns whether the last line has no line end.
fn is_unfinished(source: &Source) -> Result<bool> {
    let mut last = [b'\n'];
    if let Some(at) = source.len().checked_sub(1) {
        source.read_at(&mut last, at)?;
    }
    Ok(last != [b'\n'])
}

fn no_file() -> Error {
    Error::usage("cannot mend what is not a file", "write it to a file first, and give its path")
}
