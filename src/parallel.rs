//! The one worker pool: it makes numbered items on several threads and passes them on in their order
//! on the calling thread.
//!
//! The calling thread makes items too while it waits for the next one, so that one job needs no other
//! thread, and all work gets done where no thread can be started. Must not depend on any other module:
//! all parts of the program use it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};

/// The number of threads that make items, and how far they may be ahead of the taken items.
#[derive(Debug)]
pub struct Pool<T> {
    jobs: usize,
    ahead: usize,
    weight: fn(&T) -> usize,
    thread: fn() -> Builder,
}

impl<T: Send> Pool<T> {
    /// Returns a pool of up to `jobs` threads, including the calling one. No item is begun while `ahead`
    /// items are begun and not yet taken.
    pub fn new(jobs: usize, ahead: usize) -> Self {
        Self { jobs, ahead, weight: |_| 1, thread: Builder::new }
    }

    /// Makes each finished item count as `weight` items, at least one, towards the limit `ahead`.
    #[must_use]
    pub(crate) fn weighing(self, weight: fn(&T) -> usize) -> Self {
        Self { weight, ..self }
    }

    /// Makes the items from 0 up to `count` and passes each to `take`, in order and on the calling
    /// thread. `worker` is called once per thread and returns the function that makes items there, with
    /// its own buffers.
    ///
    /// A panic on any thread ends all of them and continues on the calling one.
    ///
    /// # Errors
    /// The first error of `take`. No item is begun after it, and all threads have ended on return.
    pub fn run<W: FnMut(usize) -> T, E>(
        self,
        count: usize,
        worker: impl Fn() -> W + Sync,
        take: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let state = QueueState { begun: VecDeque::new(), due: 0, weight: 0, end: count };
        let queue = Queue { pool: self, state: Mutex::new(state), ready: Condvar::new(), room: Condvar::new() };
        thread::scope(|scope| {
            let _on_panic = StopOnPanic(&queue);
            for _ in 1..queue.pool.jobs.min(count) {
                if (queue.pool.thread)().spawn_scoped(scope, || queue.help(&worker)).is_err() {
                    break;
                }
            }
            let taken = queue.lead(worker(), take);
            queue.stop();
            taken
        })
    }
}

/// The items in progress, shared by all threads.
struct Queue<T> {
    pool: Pool<T>,
    state: Mutex<QueueState<T>>,
    /// Signals the calling thread that the next item to be taken is made.
    ready: Condvar,
    /// Signals the helpers that an item was taken.
    room: Condvar,
}

struct QueueState<T> {
    /// The begun items from `due` on, each with its weight once it is made.
    begun: VecDeque<Option<(T, usize)>>,
    /// The next item to be taken.
    due: usize,
    /// The weight of `begun`.
    weight: usize,
    /// The number of items to make; 0 after a stop.
    end: usize,
}

impl<T> QueueState<T> {
    fn next(&self) -> usize {
        self.due + self.begun.len()
    }

    fn take(&mut self) -> Option<(usize, T)> {
        let (item, weight) = self.begun.front_mut()?.take()?;
        self.begun.pop_front();
        self.weight -= weight;
        self.due += 1;
        Some((self.due - 1, item))
    }
}

impl<T: Send> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_begin(&self, state: &QueueState<T>) -> bool {
        state.next() < state.end && (state.begun.is_empty() || state.weight < self.pool.ahead)
    }

    /// Takes all items, and makes some in between.
    fn lead<E>(
        &self,
        mut make: impl FnMut(usize) -> T,
        mut take: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut state = self.lock();
        while state.due < state.end {
            if let Some((at, item)) = state.take() {
                drop(state);
                self.room.notify_all();
                take(at, item)?;
                state = self.lock();
            } else if self.may_begin(&state) {
                state = self.make_next(state, &mut make);
            } else {
                state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        Ok(())
    }

    /// Makes items until all are begun.
    fn help<W: FnMut(usize) -> T>(&self, worker: &impl Fn() -> W) {
        let _on_panic = StopOnPanic(self);
        let mut make = worker();
        let mut state = self.lock();
        while state.next() < state.end {
            state = if self.may_begin(&state) {
                self.make_next(state, &mut make)
            } else {
                self.room.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }

    fn make_next<'q>(
        &'q self,
        mut state: MutexGuard<'q, QueueState<T>>,
        make: &mut impl FnMut(usize) -> T,
    ) -> MutexGuard<'q, QueueState<T>> {
        let at = state.next();
        state.begun.push_back(None);
        state.weight += 1;
        drop(state);
        let item = make(at);
        let weight = (self.pool.weight)(&item).max(1);
        let mut state = self.lock();
        // An item that is not made is not taken, so the place is still there.
        let place = at - state.due;
        state.begun[place] = Some((item, weight));
        state.weight += weight - 1;
        if place == 0 {
            self.ready.notify_one();
        }
        state
    }

    fn stop(&self) {
        self.lock().end = 0;
        self.ready.notify_one();
        self.room.notify_all();
    }
}

/// Stops all threads if its own panics, so that none waits for an item that will not come.
struct StopOnPanic<'q, T: Send>(&'q Queue<T>);

impl<T: Send> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs `work` on a thread of its own; returns `None` if none can be started.
pub(crate) fn in_background(work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    Builder::new().spawn(work).ok()
}

#[cfg(test)]
mod tests {
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, Mutex, mpsc};
    use std::thread::{self, Builder};
    use std::time::Duration;

    use super::Pool;

    /// Returns a thread that cannot be started: no system has the memory for its stack.
    fn impossible_thread() -> Builder {
        Builder::new().stack_size(1 << 60)
    }

    /// Returns a pseudo-random number.
    fn scrambled(number: usize) -> usize {
        (number + 1).wrapping_mul(0x9e37_79b9) >> 7
    }

    /// Yields the processor a number of times that differs from item to item.
    fn dawdle(seed: usize) {
        (0..scrambled(seed) % 8).for_each(|_| thread::yield_now());
    }

    /// Takes all items, and checks that they come in order and on the calling thread.
    fn all<T: Send, W: FnMut(usize) -> T>(pool: Pool<T>, count: usize, worker: impl Fn() -> W + Sync) -> Vec<T> {
        let (mut taken, calling) = (Vec::new(), thread::current().id());
        let done = pool.run(count, worker, |at, item| {
            taken.push(item);
            dawdle(at);
            if (at + 1, thread::current().id()) == (taken.len(), calling) { Ok(()) } else { Err(at) }
        });
        assert_eq!((done, taken.len()), (Ok(()), count));
        taken
    }

    fn panics<T>(run: impl FnOnce() -> T) -> bool {
        panic::catch_unwind(AssertUnwindSafe(run)).is_err()
    }

    #[test]
    fn items_do_not_depend_on_the_number_of_jobs() {
        for seed in 0..60 {
            let (count, jobs) = (scrambled(seed) % 80, 1 + seed % 7);
            let worker = || {
                let mut own = 0;
                move |at| {
                    dawdle(seed * 100 + at);
                    own += 1;
                    (scrambled(at), own)
                }
            };
            let taken = all(Pool::new(jobs, seed % 12), count, worker);
            assert!(taken.iter().map(|item| item.0).eq((0..count).map(scrambled)));
            let workers = taken.iter().filter(|item| item.1 == 1).count();
            assert!((count.min(1)..=jobs).contains(&workers), "{workers} threads of {jobs}");
        }
    }

    #[test]
    fn items_in_progress_stay_below_the_limit() {
        for (jobs, heavy, room) in [(1, 1, 3), (2, 1, 5), (4, 1, 1), (3, 1, 9), (2, 100, 100), (4, 100, 100)] {
            let (begun, mut taken) = (AtomicUsize::new(0), 0);
            // Every other item is heavy once it is made; before, it counts for one.
            let pool =
                Pool::new(jobs, room).weighing(|&(at, heavy): &(usize, usize)| if at % 2 < 1 { heavy } else { 1 });
            let worker = || {
                |at| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    (at, heavy)
                }
            };
            let most = if heavy > 1 { 2 * jobs } else { room };
            let done = pool.run(200, worker, |at, _| {
                taken += 1;
                dawdle(at);
                let waiting = begun.load(Ordering::SeqCst) - taken;
                if waiting <= most { Ok(()) } else { Err((waiting, most)) }
            });
            assert_eq!((done, taken), (Ok(()), 200));
        }
    }

    #[test]
    fn other_items_are_made_during_a_slow_one() {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        let worker = || {
            let (sender, receiver) = (sender.clone(), &receiver);
            move |at| match at {
                // The first one waits for the last one, which another thread makes.
                0 => receiver.lock().unwrap().recv_timeout(Duration::from_secs(30)).unwrap(),
                19 => sender.send(()).unwrap(),
                _ => {}
            }
        };
        all(Pool::new(2, 20), 20, worker);
    }

    #[test]
    fn panic_ends_all_threads() {
        for (bad, ahead) in [(0, 3), (17, 1), (17, usize::MAX)] {
            let fail = |at| assert!(at != bad, "on purpose");
            assert!(panics(|| Pool::new(4, ahead).run(usize::MAX, || fail, |_, ()| Ok::<_, ()>(()))), "made");
            let take = |at, ()| {
                fail(at);
                Ok::<_, ()>(())
            };
            assert!(panics(|| Pool::new(4, ahead).run(usize::MAX, || |_| (), take)), "taken");
        }
        // Here another thread fails than the calling one.
        let (calling, both) = (thread::current().id(), Barrier::new(2));
        let worker = || {
            |_| {
                both.wait();
                assert_eq!(thread::current().id(), calling, "on purpose");
            }
        };
        assert!(panics(|| all(Pool::new(2, 2), 2, worker)));
    }

    #[test]
    fn error_of_take_stops_all_threads() {
        for (jobs, ahead) in [(1, 1), (2, 3), (4, 1), (4, usize::MAX)] {
            // The end of this many items would never come.
            let stopped =
                Pool::new(jobs, ahead).run(usize::MAX, || |at| at, |at, item| if item < 30 { Ok(()) } else { Err(at) });
            assert_eq!(stopped, Err(30));
        }
    }

    #[test]
    fn calling_thread_makes_everything_without_others() {
        assert!(impossible_thread().spawn(|| ()).is_err());
        let calling = thread::current().id();
        for pool in [Pool::new(1, 8), Pool { thread: impossible_thread, ..Pool::new(4, 8) }] {
            let taken = all(pool, 50, || |at| (at, thread::current().id()));
            assert!(taken.into_iter().eq((0..50).map(|at| (at, calling))));
        }
    }
}
