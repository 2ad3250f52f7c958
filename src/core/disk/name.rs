//! Names of files: those of companions beside a file, whether an open file still goes by its name, and
//! giving a file a name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};
use uuid::Uuid;

/// The longest name that file systems take, in bytes.
const LONGEST_NAME: usize = 255;

/// Returns the hidden name of a companion of a file. A name that would be too long is cut, and
/// told from others by a hash of it.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let mut hidden = OsString::from(".");
    let room = LONGEST_NAME.saturating_sub(ending.len() + 2);
    if name.len() <= room {
        hidden.push(name);
    } else {
        let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()).simple().to_string();
        let text = name.to_string_lossy();
        let kept = text.floor_char_boundary(room.saturating_sub(hash.len() + 1).min(text.len()));
        hidden.push(format!("{}~{hash}", &text[..kept]));
    }
    hidden.push(".");
    hidden.push(ending);
    path.with_file_name(hidden)
}

/// Returns whether an open file still goes by a name.
pub(super) fn goes_by(file: &File, path: &Path) -> bool {
    let id = |meta: fs::Metadata| (meta.dev(), meta.ino());
    matches!((file.metadata().map(id), fs::metadata(path).map(id)), (Ok(file), Ok(named)) if file == named)
}

/// Renames a file without replacing another one, with a link where the file system cannot do that.
///
/// # Errors
/// What the system says; [`io::ErrorKind::AlreadyExists`] if there is a file of the new name.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    let file = fs::symlink_metadata(from)?;
    // A network file system may fail to say that it is done.
    let is_done = || fs::symlink_metadata(to).is_ok_and(|named| (named.dev(), named.ino()) == (file.dev(), file.ino()));
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).map_err(io::Error::from) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists && !is_done() => Err(cause),
        Err(_) if !is_done() => {
            fs::hard_link(from, to).or_else(|cause| if is_done() { Ok(()) } else { Err(cause) })?;
            // The new name is there: the old one is cleared later if it cannot be now.
            let _ = fs::remove_file(from);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Brings the names in the folder of a file to the disk.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(folder_of(path)) {
        // A folder that may be written to but not read cannot be synced; the change is made all the same.
        Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        folder => folder?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;
    use std::{fs, io};

    use super::{LONGEST_NAME, beside, rename_new, sync_folder};

    #[test]
    fn the_name_of_a_companion_is_never_too_long_and_tells_whose_it_is() {
        for letter in ["x", "é", "日"] {
            for length in 200..=LONGEST_NAME {
                let name = letter.repeat(length / letter.len()) + "z";
                let others = [name.replace('z', "a"), name.replace('z', "b"), name.clone()];
                let named = |name: &String| beside(&Path::new("/f").join(name), "lock");
                let companions: BTreeSet<_> = others.iter().map(named).collect();
                assert_eq!(companions.len(), 3, "{name}");
                for companion in companions {
                    let companion = companion.strip_prefix("/f").unwrap().to_str().unwrap();
                    assert!(companion.starts_with('.') && companion.ends_with(".lock"), "{companion}");
                    assert!(companion.len() <= LONGEST_NAME, "{companion}");
                    // As much of the name as there is room for.
                    let whole = name.len() + ".".len() + ".lock".len() <= LONGEST_NAME;
                    assert_eq!(companion.contains('~'), !whole, "{companion}");
                    assert!(companion.len() > LONGEST_NAME - letter.len() || whole, "{companion}");
                }
            }
        }
    }

    #[test]
    fn renaming_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to, new] = ["from", "to", "new"].map(|name| folder.path().join(name));
        fs::write(&from, "from").unwrap();
        fs::write(&to, "to").unwrap();
        assert_eq!(rename_new(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(
            (fs::read_to_string(&from).unwrap(), fs::read_to_string(&to).unwrap()),
            ("from".into(), "to".into())
        );
        rename_new(&from, &new).unwrap();
        assert_eq!((from.exists(), fs::read_to_string(&new).unwrap()), (false, "from".into()));
    }

    #[test]
    fn a_folder_that_is_not_there_cannot_be_synced() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync_folder(&folder.path().join("s")).is_ok());
        assert!(sync_folder(&folder.path().join("gone/s")).is_err());
    }
}
