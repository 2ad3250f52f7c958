//! Reads a file into a [`Session`]: [`read::load`](crate::core::read::load) reads its parts, `build` joins them.

use hashbrown::DefaultHashBuilder;

use super::Session;
use super::build::SessionBuilder;
use crate::core::entry::header::DeclaredVersion;
use crate::core::error::Result;
use crate::core::read::inspect::LineNotes;
use crate::core::read::load::{FilePart, Inspection, LoadOptions, Reading};
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
        let start = start::read(&source)?;
        let hasher = DefaultHashBuilder::default();
        // In a plain list (version 1) every line may be an entry.
        let declared = start.header.version;
        let is_list = matches!(declared, DeclaredVersion::Absent | DeclaredVersion::Number(1));
        let reading =
            Reading { source: &source, front: start.end, is_list, options, inspection, hasher: &hasher, jobs };
        let begin = |first: &[FilePart]| SessionBuilder::new(&start, first, source.len(), hasher.clone());
        // The parts that no builder has yet: where the header has no version, the first entry decides it.
        let mut waiting = Vec::new();
        let mut builder = None;
        reading.parts(|part| {
            let is_decided = declared != DeclaredVersion::Absent || part.has_entry();
            waiting.push(part);
            if builder.is_none() && is_decided {
                builder = Some(begin(&waiting));
            }
            if let Some(builder) = &mut builder {
                waiting.drain(..).for_each(|part| builder.take(part));
            }
        })?;
        let mut builder = builder.unwrap_or_else(|| begin(&waiting));
        waiting.into_iter().for_each(|part| builder.take(part));
        let notes = std::mem::take(&mut builder.notes);
        Ok((builder.finish(source, start, jobs), notes))
    }
}
