//! Reads a file into a [`Session`]: [`read::load`](crate::core::read::load) reads its parts, `build` joins them.

use hashbrown::DefaultHashBuilder;

use super::Session;
use super::build::SessionBuilder;
use crate::core::error::Result;
use crate::core::read::inspect::LineNotes;
use crate::core::read::load::{self, Inspection, LoadOptions};
use crate::core::read::source::Source;
use crate::core::read::start;

impl Session {
    /// Reads a session on up to `jobs` threads.
    ///
    /// # Errors
    /// [`Error`](crate::core::error::Error) if it is not a session, or cannot be read.
    pub fn load(source: Source, options: LoadOptions<'_>, jobs: usize) -> Result<Self> {
        Self::read(source, options, Inspection::Off, jobs).map(|(session, _)| session)
    }

    /// Reads a session and inspects its lines for a check.
    pub(crate) fn inspect(source: Source, keep: LoadOptions<'_>, jobs: usize) -> Result<(Self, LineNotes)> {
        Self::read(source, keep, Inspection::On, jobs)
    }

    fn read(
        source: Source,
        options: LoadOptions<'_>,
        inspection: Inspection,
        jobs: usize,
    ) -> Result<(Self, LineNotes)> {
        let mut start = start::read(&source)?;
        let hasher = DefaultHashBuilder::default();
        let parts = load::parts(&source, &start, options, inspection, &hasher, jobs)?;
        let mut builder = SessionBuilder::new(&start, &parts, hasher);
        builder.notes.append(std::mem::take(&mut start.notes), 0);
        for part in parts {
            builder.take(part);
        }
        let notes = std::mem::take(&mut builder.notes);
        Ok((builder.finish(source, start, jobs), notes))
    }
}
