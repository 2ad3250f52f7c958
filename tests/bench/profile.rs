//! The kinds of session that are measured, as a generator.
//!
//! Benchmarks and tests include this file with `#[path]`. It depends on nothing but the standard
//! library, and never on the crate: what it writes must not follow a mistake of the reader.
//!
//! The same [`Options`] give the same bytes on every machine: no clock, no floating point, no hash
//! maps. Memory grows with the number of entries (4 bytes for each on the path), not with the size.
#![allow(dead_code, unreachable_pub, reason = "each including target uses a part of it")]

use std::io::{self, Write};
use std::path::Path;

use conversation::{Conversation, Sizes};
use pool::Pool;
use session::Session;

#[path = "profile/batch.rs"]
mod batch;
#[path = "profile/clock.rs"]
mod clock;
#[path = "profile/conversation.rs"]
mod conversation;
#[path = "profile/damage.rs"]
mod damage;
#[path = "profile/mega.rs"]
mod mega;
#[path = "profile/pool.rs"]
mod pool;
#[path = "profile/random.rs"]
mod random;
#[path = "profile/session.rs"]
mod session;
#[path = "profile/shape.rs"]
mod shape;
#[path = "profile/store.rs"]
pub mod store;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Prompts, answers, and tool results that hold source code: 2.7 kB an entry.
    Text,
    /// As `Text`, with the lengths and kinds of a real session, half of whose bytes are source code that is read,
    /// written or changed: 2.4 kB an entry.
    Real,
    /// As `Text`, with base64 screenshots of 100 kB to 2 MB that make up nearly all of the bytes.
    Image,
    /// As `Text`, with little text: 0.7 kB an entry.
    Small,
    /// One chain of entries of 150 bytes: no branch anywhere.
    Deep,
    /// A third of the entries are branch tips; a third of these are siblings.
    Bushy,
    /// A line of 60 MB after every 250 entries of `Text`: bounds on memory.
    Mega,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Where to stop; none is the profile's own size.
    pub goal: Option<Goal>,
    /// How many sessions a store has.
    pub files: u64,
    /// What the turns of a store are made of.
    pub turns: store::Turns,
    pub seed: u64,
    pub version: Version,
    pub health: Health,
}

/// Where to stop: at the first entry that reaches it.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    Bytes(u64),
    Entries(u64),
}

/// The format version. Version 1 is a plain list: no ids, no branches, no labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    One,
    Two,
    Three,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Sound,
    /// With lines that are not JSON (readers skip them) and a torn last line; in a folder, with
    /// files that cannot be migrated.
    Damaged,
}

/// What was written. Headers and damaged lines are no entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub files: u64,
    pub entries: u64,
    pub bytes: u64,
}

/// Writes one session.
///
/// # Errors
/// Those of `out`, and `InvalidInput` for a bushy session of version 1, which cannot branch.
pub fn write(profile: Profile, options: &Options, out: &mut impl Write) -> io::Result<Stats> {
    let pool = Pool::new(options.seed);
    let goal = options.goal.unwrap_or(profile.usual_goal());
    let session = Session::start(out, options, goal)?;
    match profile {
        Profile::Text => Conversation::new(session, &pool, Sizes::TEXT).finish(),
        Profile::Real => Conversation::new(session, &pool, Sizes::REAL).finish(),
        Profile::Image => Conversation::new(session, &pool, Sizes::IMAGE).finish(),
        Profile::Small => Conversation::new(session, &pool, Sizes::SMALL).finish(),
        Profile::Mega => mega::write(Conversation::new(session, &pool, Sizes::TEXT)),
        Profile::Deep => shape::deep(session),
        Profile::Bushy => shape::bushy(session),
    }
}

/// Writes 1000 sessions of all sizes into a folder, together as large as the goal (1 GB if none).
///
/// # Errors
/// Those of the file system, and `InvalidInput` for a goal in entries.
pub fn write_folder(options: &Options, folder: &Path) -> io::Result<Stats> {
    batch::write(options, folder)
}

impl Profile {
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Self::Text,
            "real" => Self::Real,
            "image" => Self::Image,
            "small" => Self::Small,
            "deep" => Self::Deep,
            "bushy" => Self::Bushy,
            "mega" => Self::Mega,
            _ => return None,
        })
    }

    fn usual_goal(self) -> Goal {
        match self {
            Self::Text | Self::Real => Goal::Bytes(160_000_000),
            Self::Image => Goal::Bytes(77_000_000),
            Self::Small => Goal::Entries(200_000),
            Self::Deep => Goal::Entries(1_000_000),
            Self::Bushy => Goal::Entries(60_000),
            Self::Mega => Goal::Bytes(240_000_000),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            goal: None,
            files: 3000,
            turns: store::Turns::Short,
            seed: 1,
            version: Version::Three,
            health: Health::Sound,
        }
    }
}

impl Version {
    pub fn from_number(text: &str) -> Option<Self> {
        Some(match text {
            "1" => Self::One,
            "2" => Self::Two,
            "3" => Self::Three,
            _ => return None,
        })
    }

    /// Whether entries have ids, and so can branch and be labelled.
    fn is_tree(self) -> bool {
        self > Self::One
    }
}

impl Stats {
    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.entries += other.entries;
        self.bytes += other.bytes;
    }
}
