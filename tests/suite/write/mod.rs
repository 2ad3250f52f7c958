//! The commands that write: which bytes they add or change, and what others may do meanwhile.
//!
//! One file per command or question: `branch`, `label`, `navigate` and `migrate` (`migrate`, `old`,
//! `paths`), then full disks, locks, races and kills. [`scene`] holds what they share.

mod after;
mod branch;
mod branch_file;
mod crowd;
mod full;
mod in_use;
mod kill;
mod label;
mod label_list;
mod lock;
mod migrate;
mod moments;
mod navigate;
mod old;
mod paths;
mod race;
pub mod scene;
mod stored;
mod summary;
