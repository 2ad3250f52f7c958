//! Output that is made on several threads and written in order. The bytes are the same for any number of threads;
//! threads themselves are started only in [`crate::parallel`].

use std::io;
use std::sync::{Mutex, PoisonError};

use super::output::Output;
use crate::parallel::Pool;

/// How many bytes a piece of a long text has as a rule.
pub(super) const PIECE: usize = 128 * 1024;
/// How many pieces each thread may be ahead of the output.
const AHEAD: usize = 3;

/// Makes `count` pieces on up to `jobs` threads and writes them in order. `worker` is called once per thread and
/// returns what adds a piece to a buffer there; `written` gets what it returns once the piece is written. What was
/// added before an error is written too.
///
/// # Errors
/// The first error of a piece or of `written` in the order of pieces, or that of the output.
pub(super) fn write<T: Send, E: From<io::Error> + Send, W: FnMut(usize, &mut Vec<u8>) -> Result<T, E>>(
    output: &mut Output,
    count: usize,
    jobs: usize,
    worker: impl Fn() -> W + Sync,
    mut written: impl FnMut(&mut Output, usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let jobs = jobs.min(count);
    let spare = Mutex::<Vec<Vec<u8>>>::default();
    let spare = || spare.lock().unwrap_or_else(PoisonError::into_inner);
    let worker = || {
        let mut make = worker();
        move |at: usize| {
            let mut buffer = spare().pop().unwrap_or_default();
            let made = make(at, &mut buffer);
            (buffer, made)
        }
    };
    let pool = Pool::new(jobs, jobs * AHEAD).weighing(|(buffer, _): &(Vec<u8>, _)| buffer.len() / PIECE);
    pool.run(count, worker, |at, (mut buffer, made)| {
        output.put(&buffer)?;
        written(output, at, made?)?;
        buffer.clear();
        buffer.shrink_to(2 * PIECE);
        spare().push(buffer);
        Ok(())
    })
}
