//! A folder of many sessions of all sizes, as an agent's folder looks after a year.

use std::fs::File;
use std::io;
use std::path::Path;

use super::conversation::{Conversation, Sizes};
use super::damage;
use super::pool::Pool;
use super::random::Random;
use super::session::Session;
use super::{Goal, Health, Options, Stats};

const FILES: u64 = 1000;
const USUAL_SIZE: u64 = 1_000_000_000;

pub fn write(options: &Options, folder: &Path) -> io::Result<Stats> {
    let size = match options.goal {
        None => USUAL_SIZE,
        Some(Goal::Bytes(bytes)) => bytes,
        Some(Goal::Entries(_)) => {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a folder's goal is a size"));
        }
    };
    let pool = Pool::new(options.seed);
    let mut random = Random::new(options.seed, 1);
    let weights: Vec<u64> = (0..FILES).map(|_| weight(&mut random)).collect();
    let heaviness: u64 = weights.iter().sum();
    let mut bad_files = damage::FILES.iter();
    let mut stats = Stats::default();
    for (number, weight) in (0..FILES).zip(weights) {
        let name = format!("2026-01-05T09-{:02}-{:02}-000Z_{number:08x}.jsonl", number / 60, number % 60);
        let mut file = File::create(folder.join(name))?;
        let is_bad = options.health == Health::Damaged && number % 100 == 50;
        if is_bad && let Some(bytes) = bad_files.next() {
            io::Write::write_all(&mut file, bytes)?;
            stats.add(Stats { files: 1, entries: 0, bytes: bytes.len().try_into().expect("a few bytes") });
            continue;
        }
        let of_its_own = Options {
            seed: options.seed.wrapping_mul(FILES).wrapping_add(number),
            health: Health::Sound,
            ..options.clone()
        };
        let share = size / heaviness.max(1) * weight + size % heaviness * weight / heaviness;
        let session = Session::start(file, &of_its_own, Goal::Bytes(share))?;
        stats.add(Conversation::new(session, &pool, Sizes::TEXT).finish()?);
    }
    Ok(stats)
}

/// Returns a weight that is close to log-normal: most files are small, a few hold most of the bytes.
/// The sum of four throws is the exponent, in eighths; whole numbers only, to be the same everywhere.
fn weight(random: &mut Random) -> u64 {
    let throws: usize = (0..4).map(|_| random.below(24)).sum();
    let (octave, eighth) = (throws / 8, throws % 8);
    u64::try_from((8 + eighth) << octave).expect("below 2^15")
}
