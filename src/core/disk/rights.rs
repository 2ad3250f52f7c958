//! Who may do what with a file: what a new form, a copy or a fork of it takes over.
//!
//! What cannot be kept is dropped, never widened: rights of a group must not reach another group, the mask
//! of an access list must not become rights of the group, and whom a group or list kept out must not get
//! in among the others.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{self as unix, MetadataExt, PermissionsExt};

use rustix::buffer::spare_capacity;
use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;

use crate::core::read::source::Source;

/// The attribute that Linux keeps an access list in.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";
/// The start of the names of attributes that belong to users.
const USER: &[u8] = b"user.";
/// The bits of a mode that are not rights of the group or of others.
const NOT_SHARED: u32 = 0o7700;
/// The largest names and values that the system has, in bytes.
const LARGEST: usize = 64 * 1024;

/// The rights that a file gives: mode, owner, group, access list and the attributes of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// `None` leaves the mode to the system.
    mode: Option<u32>,
    owner: Option<(u32, u32)>,
    attributes: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether these are all attributes; else there may be an access list that cannot be read.
    is_known: bool,
}

impl Rights {
    /// Returns the rights of a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(file: &File) -> io::Result<Self> {
        let meta = file.metadata()?;
        let mode = Some(meta.permissions().mode() & 0o7777);
        let read = attributes(file);
        let (is_known, attributes) = (read.is_ok(), read.unwrap_or_default());
        Ok(Self { mode, owner: Some((meta.uid(), meta.gid())), attributes, is_known })
    }

    /// Returns the rights of what was read; those of [`Self::private`] if it is not a file.
    pub fn like(source: &Source) -> Self {
        source.file().and_then(|file| Self::of(file).ok()).unwrap_or_else(Self::private)
    }

    /// Returns rights for the owner alone: for a session that comes from no file.
    pub fn private() -> Self {
        Self { mode: Some(0o600), owner: None, attributes: Vec::new(), is_known: true }
    }

    /// Returns the rights that the system gives to a new file.
    pub fn usual() -> Self {
        Self { mode: None, owner: None, attributes: Vec::new(), is_known: true }
    }

    /// Returns the mode to make a file with, before it has these rights: nobody else may look into it.
    pub(crate) fn first_mode(&self) -> u32 {
        self.mode.map_or(0o666, |mode| mode & 0o700 | 0o600)
    }

    /// Sets these rights on a file, as far as the system lets us, and returns whether it has them all.
    ///
    /// # Errors
    /// What the system says of setting the mode.
    pub(crate) fn give(&self, file: &File) -> io::Result<bool> {
        let Some(mode) = self.mode else { return Ok(true) };
        let mut has_group = true;
        if let Some((owner, group)) = self.owner {
            // Not everybody may give a file away, but perhaps to another group.
            let given = unix::fchown(file, Some(owner), Some(group));
            let _ = given.or_else(|_| unix::fchown(file, None, Some(group)));
            has_group = file.metadata()?.gid() == group;
        }
        // A folder may give its files an access list of its own, which would let others in.
        let _ = fremovexattr(file, OsStr::from_bytes(ACCESS_LIST));
        let has_list = self.attributes.iter().any(|(name, _)| name == ACCESS_LIST);
        // An access list brings the rights of the group, its own mask, and those of others with it. Whoever it
        // names, or may name, counts as one of the others without it.
        let narrow = match has_group {
            _ if has_list || !self.is_known => mode & NOT_SHARED,
            true => mode,
            false => mode & (NOT_SHARED | mode >> 3 & 0o007),
        };
        file.set_permissions(Permissions::from_mode(narrow))?;
        let mut has_all = has_list || narrow == mode;
        for (name, value) in self.attributes.iter().filter(|(name, _)| has_group || name != ACCESS_LIST) {
            has_all &= fsetxattr(file, OsStr::from_bytes(name), value, XattrFlags::empty()).is_ok();
        }
        Ok(has_all && (has_group || !has_list))
    }
}

/// Returns the access list and the attributes of users, where the file system has such.
fn attributes(file: &File) -> rustix::io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut names = Vec::with_capacity(LARGEST);
    match flistxattr(file, spare_capacity(&mut names)) {
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
        listed => listed?,
    };
    let is_kept = |name: &&[u8]| *name == ACCESS_LIST || name.starts_with(USER);
    let value = |name: &[u8]| {
        let mut value = Vec::with_capacity(LARGEST);
        fgetxattr(file, OsStr::from_bytes(name), spare_capacity(&mut value))?;
        Ok((name.to_owned(), value))
    };
    names.split(|&byte| byte == 0).filter(is_kept).map(value).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::Duration;

    use super::Rights;
    use crate::core::disk::lock::LockWait;
    use crate::core::disk::write::create;

    /// Returns whether a new file got all of some rights, and its mode then.
    fn given(rights: &Rights) -> (bool, u32) {
        let file = tempfile::tempfile().unwrap();
        (rights.give(&file).unwrap(), file.metadata().unwrap().mode() & 0o7777)
    }

    #[test]
    fn a_file_gets_the_rights_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        fs::write(&path, "").unwrap();
        for mode in [0o600, 0o640, 0o664, 0o400] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let Ok(file) = File::open(&path) else { continue };
            let rights = Rights::of(&file).unwrap();
            assert!(rights.attributes.is_empty());
            assert_eq!(given(&rights), (true, mode), "{mode:o}");
        }
    }

    #[test]
    fn rights_of_a_group_reach_no_other_group() {
        let owner = tempfile::tempfile().unwrap().metadata().unwrap().uid();
        // The system takes this number for: leave the group as it is.
        let rights = |mode| Rights { mode: Some(mode), owner: Some((owner, u32::MAX)), ..Rights::usual() };
        // Whom the group kept out must not get in among the others.
        for (mode, expected) in [(0o640, 0o600), (0o664, 0o604), (0o604, 0o600), (0o666, 0o606), (0o600, 0o600)] {
            assert_eq!(given(&rights(mode)), (expected == mode, expected), "{mode:o}");
        }
    }

    #[test]
    fn what_cannot_be_given_is_told() {
        let attributes = vec![(b"user.\0".to_vec(), b"x".to_vec())];
        assert_eq!(given(&Rights { attributes, ..Rights::private() }), (false, 0o600));
        // There may be an access list.
        assert_eq!(given(&Rights { mode: Some(0o644), is_known: false, ..Rights::usual() }), (false, 0o600));
    }

    #[test]
    fn only_an_access_list_narrows_the_mode() {
        // Where the file system has no attributes of users, this one cannot be given.
        let attributes = vec![(b"user.note".to_vec(), b"x".to_vec())];
        assert_eq!(given(&Rights { mode: Some(0o644), attributes, ..Rights::usual() }).1, 0o644);
    }

    #[test]
    fn a_new_file_without_all_rights_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let wait = LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &|| None };
        for (is_known, expected) in [(true, false), (false, true)] {
            let rights = Rights { mode: Some(0o644), is_known, ..Rights::usual() };
            let path = folder.path().join(if is_known { "known" } else { "unknown" });
            let effects = create(&path, &rights, wait, &mut |_| Ok(())).unwrap();
            assert_eq!(effects.dropped_rights, expected);
        }
    }
}
