//! One session file in the making: header, the common start of every entry, the path to the leaf.

use std::io::{self, BufWriter, Write};

use super::clock::Clock;
use super::damage::MALFORMED;
use super::pool::{Base64, Lines};
use super::random::Random;
use super::{Goal, Health, Options, Stats, Version};

/// The place of an entry in the file, from 0.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EntryNo(u32);

/// The number of entries on a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth(usize);

/// Writing to it writes into the line that is open.
pub struct Session<W: Write> {
    out: BufWriter<W>,
    pub random: Random,
    pub clock: Clock,
    version: Version,
    health: Health,
    goal: Goal,
    /// Root to leaf.
    path: Vec<EntryNo>,
    id_key: u32,
    entries: u32,
    bytes: u64,
}

impl<W: Write> Session<W> {
    /// Writes the header.
    pub fn start(out: W, options: &Options, goal: Goal) -> io::Result<Self> {
        let mut random = Random::new(options.seed, 0);
        let id_key = u32::try_from(random.bits() >> 32).expect("the high half");
        let mut session = Self {
            out: BufWriter::with_capacity(1 << 18, out),
            random,
            clock: Clock::new(),
            version: options.version,
            health: options.health,
            goal,
            path: Vec::new(),
            id_key,
            entries: 0,
            bytes: 0,
        };
        session.header()?;
        Ok(session)
    }

    /// Starts an entry as child of the leaf and makes it the leaf. [`Self::end`] closes it.
    pub fn begin(&mut self, kind: &str) -> io::Result<()> {
        let pause = u64::try_from(self.random.length(40, 11)).expect("minutes at most");
        self.clock.advance(pause);
        let entry = EntryNo(self.entries);
        self.entries = self.entries.checked_add(1).expect("fewer than 2^32 entries: ids are unique up to there");

        let (id, parent) = (self.id(entry), self.leaf().map(|leaf| self.id(leaf)));
        self.text(r#"{"type":""#)?;
        self.text(kind)?;
        if self.version.is_tree() {
            self.text(r#"","id":""#)?;
            self.hex(id)?;
            self.text(r#"","parentId":"#)?;
            self.id_or(parent, "null")?;
            self.text(r#","timestamp":""#)?;
        } else {
            self.text(r#"","timestamp":""#)?;
        }
        self.now()?;
        self.text("\"")?;
        self.path.push(entry);
        Ok(())
    }

    /// Ends the line.
    pub fn end(&mut self) -> io::Result<()> {
        self.text("}\n")?;
        if self.health == Health::Damaged && self.entries.is_multiple_of(1000) {
            let which = self.random.below(MALFORMED.len());
            self.write_all(MALFORMED[which])?;
        }
        Ok(())
    }

    /// Whether the goal is reached.
    pub fn is_done(&self) -> bool {
        match self.goal {
            Goal::Bytes(bytes) => self.bytes >= bytes,
            Goal::Entries(entries) => u64::from(self.entries) >= entries,
        }
    }

    pub fn finish(mut self) -> io::Result<Stats> {
        if self.health == Health::Damaged {
            // What a crash in the middle of a write leaves.
            self.text(r#"{"type":"message","id":"0000dead","parentId":"#)?;
        }
        self.out.flush()?;
        Ok(Stats { files: 1, entries: self.entries.into(), bytes: self.bytes })
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn goal(&self) -> Goal {
        self.goal
    }

    pub fn depth(&self) -> Depth {
        Depth(self.path.len())
    }

    pub fn leaf(&self) -> Option<EntryNo> {
        self.path.last().copied()
    }

    /// Returns the entry that is `steps` above the leaf, or the root if there are fewer.
    pub fn ancestor(&self, steps: usize) -> Option<EntryNo> {
        self.path.iter().rev().nth(steps).or(self.path.first()).copied()
    }

    /// Returns the entry that was appended when the path had this length.
    pub fn at(&self, depth: Depth) -> EntryNo {
        self.path[depth.0]
    }

    /// Moves the leaf up, so that the next entry starts a branch.
    pub fn go_back(&mut self, depth: Depth) {
        self.path.truncate(depth.0);
    }

    /// Returns the entry's place among the well-formed lines, as version 1 counts: the header is 0.
    pub fn line_index(entry: EntryNo) -> u64 {
        u64::from(entry.0) + 1
    }

    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.write_all(text.as_bytes())
    }

    /// Writes the entry's id with its quotes, or the other text as it stands.
    pub fn reference(&mut self, entry: Option<EntryNo>, none: &str) -> io::Result<()> {
        self.id_or(entry.map(|entry| self.id(entry)), none)
    }

    /// Writes whole lines, JSON-escaped and without quotes, of about this length together.
    pub fn lines(&mut self, lines: &Lines, length: usize) -> io::Result<()> {
        let mut left = length;
        loop {
            let run = lines.run(&mut self.random, left);
            self.text(run)?;
            left = left.saturating_sub(run.len());
            if left == 0 {
                return Ok(());
            }
            self.text("\\n")?;
        }
    }

    /// Writes the base64 form of something that starts like a PNG.
    pub fn png(&mut self, base64: &Base64, length: usize) -> io::Result<()> {
        self.text("iVBORw0KGgoAAAANSUhEUgAA")?;
        let mut left = length;
        while left > 0 {
            let run = base64.run(&mut self.random, left);
            self.text(run)?;
            left = left.saturating_sub(run.len());
        }
        Ok(())
    }

    fn header(&mut self) -> io::Result<()> {
        let (high, low) = (self.random.bits(), self.random.bits());
        self.text(r#"{"type":"session""#)?;
        match self.version {
            Version::One => {}
            Version::Two => self.text(r#","version":2"#)?,
            Version::Three => self.text(r#","version":3"#)?,
        }
        let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
        let (d, e) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
        write!(self, r#","id":"{a:08x}-{b:04x}-7{c:03x}-{d:04x}-{e:012x}","timestamp":""#)?;
        self.now()?;
        self.text(r#"","cwd":"/home/dev/workspaces/orchard""#)?;
        if self.version == Version::One {
            self.text(r#","provider":"anthropic","modelId":"claude-opus-4-5","thinkingLevel":"off""#)?;
        }
        self.text("}\n")
    }

    fn now(&mut self) -> io::Result<()> {
        self.bytes += 24;
        write!(self.out, "{}", self.clock)
    }

    fn id_or(&mut self, id: Option<u32>, none: &str) -> io::Result<()> {
        let Some(id) = id else {
            return self.text(none);
        };
        self.text("\"")?;
        self.hex(id)?;
        self.text("\"")
    }

    fn hex(&mut self, id: u32) -> io::Result<()> {
        self.bytes += 8;
        write!(self.out, "{id:08x}")
    }

    /// Returns an id that no other entry has, without a set of them: each step can be undone, so two
    /// entries never meet.
    fn id(&self, entry: EntryNo) -> u32 {
        let mut bits = entry.0 ^ self.id_key;
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
        bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
        bits ^ (bits >> 16)
    }
}

impl<W: Write> Write for Session<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += u64::try_from(written).expect("a usize has at most 64 bits");
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
