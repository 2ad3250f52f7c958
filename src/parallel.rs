//! The one worker pool: it makes numbered items on several threads and hands them over in their
//! order on the calling thread.
//!
//! The calling thread works too while the item that is due is not there. So one job needs no further
//! thread, and where none can be started everything still gets done. It stands below all parts of
//! the program and knows none of them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};

/// How many threads make items of a kind, and how far ahead of what was taken.
#[derive(Debug)]
pub struct Pool<T> {
    jobs: usize,
    ahead: usize,
    weight: fn(&T) -> usize,
    thread: fn() -> Builder,
}

impl<T: Send> Pool<T> {
    /// Returns a pool of up to `jobs` threads, the calling one among them. No further item is begun
    /// while `ahead` of them are begun and not yet taken.
    pub fn new(jobs: usize, ahead: usize) -> Self {
        Self { jobs, ahead, weight: |_| 1, thread: Builder::new }
    }

    /// Lets an item, once it is made, count for as many as `weight` says, which is at least one.
    #[must_use]
    pub fn weighing(self, weight: fn(&T) -> usize) -> Self {
        Self { weight, ..self }
    }

    /// Makes the items from 0 up to `count` and gives each to `take`, in order and on the calling
    /// thread. `worker` is called once on each thread and returns what makes items there, with its
    /// own buffers.
    ///
    /// A panic on any thread ends all of them and goes on on the calling one.
    ///
    /// # Errors
    /// The first one of `take`. No item is begun after it, and when this returns no thread is left.
    pub fn run<W: FnMut(usize) -> T, E>(
        self,
        count: usize,
        worker: impl Fn() -> W + Sync,
        take: impl FnMut(usize, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let state = State { begun: VecDeque::new(), due: 0, weight: 0, end: count };
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

/// What the threads share.
struct Queue<T> {
    pool: Pool<T>,
    state: Mutex<State<T>>,
    /// Signals the calling thread that the item that is due was made.
    ready: Condvar,
    /// Signals the helpers that an item was taken.
    room: Condvar,
}

struct State<T> {
    /// The items from `due` on that are begun, with their weights once they are made.
    begun: VecDeque<Option<(T, usize)>>,
    /// The next item to be taken.
    due: usize,
    /// What `begun` weighs.
    weight: usize,
    /// The item before which all ends; 0 once it was stopped.
    end: usize,
}

impl<T> State<T> {
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
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_begin(&self, state: &State<T>) -> bool {
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
        mut state: MutexGuard<'q, State<T>>,
        make: &mut impl FnMut(usize) -> T,
    ) -> MutexGuard<'q, State<T>> {
        let at = state.next();
        state.begun.push_back(None);
        state.weight += 1;
        drop(state);
        let item = make(at);
        let weight = (self.pool.weight)(&item).max(1);
        let mut state = self.lock();
        // What is not made is not taken: the item stands where it was put.
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

/// Ends the work of all threads if one panics, so that none waits for what it was to make or take.
struct StopOnPanic<'q, T: Send>(&'q Queue<T>);

impl<T: Send> Drop for StopOnPanic<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop();
        }
    }
}

/// Runs something beside all else; returns `None` if there is no thread for it.
pub fn in_background(work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    Builder::new().spawn(work).ok()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::sync::{Barrier, Mutex};
    use std::thread::{self, Builder, ThreadId};
    use std::time::Duration;

    use super::{Pool, in_background};

    /// How long a test that fails may hang.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// No system has the memory for the stack of such a thread.
    fn impossible_thread() -> Builder {
        Builder::new().stack_size(1 << 60)
    }

    /// Returns an odd number that looks random.
    fn scrambled(number: usize) -> usize {
        let mut bits = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits ^= bits >> 29;
        usize::try_from(bits.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40).unwrap() | 1
    }

    /// Takes a number of turns of the processor that differs from item to item.
    fn dawdle(seed: usize) {
        (0..scrambled(seed) % 32).for_each(|_| thread::yield_now());
    }

    /// Returns the items as they were taken, each with the thread that made it.
    fn all(pool: Pool<(usize, ThreadId)>, count: usize) -> Vec<(usize, ThreadId)> {
        let mut taken = Vec::new();
        let Ok(()) = pool.run::<_, Infallible>(
            count,
            || |at| (scrambled(at), thread::current().id()),
            |at, item| {
                assert_eq!(at, taken.len());
                taken.push(item);
                Ok(())
            },
        );
        taken
    }

    fn panics<T>(run: impl FnOnce() -> T) -> bool {
        panic::catch_unwind(AssertUnwindSafe(run)).is_err()
    }

    #[test]
    fn any_number_of_jobs_gives_the_same_items_in_order_and_not_too_far_ahead() {
        for seed in 0..60 {
            let (count, jobs, ahead) = (scrambled(seed) % 80, 1 + seed % 7, scrambled(seed + 1000) % 12);
            let (begun, calling) = (AtomicUsize::new(0), thread::current().id());
            let worker = || {
                let (begun, mut own) = (&begun, 0);
                move |at| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    dawdle(seed * 100 + at);
                    own += 1;
                    (at, own)
                }
            };
            let (mut taken, mut firsts) = (0, 0);
            let Ok(()) = Pool::new(jobs, ahead).run::<_, Infallible>(count, worker, |at, item| {
                assert_eq!((at, item.0, thread::current().id()), (taken, taken, calling));
                taken += 1;
                // Each thread counts its own items.
                firsts += usize::from(item.1 == 1);
                dawdle(at);
                let waiting = begun.load(Ordering::SeqCst) - taken;
                assert!(waiting <= ahead.max(1), "{waiting} are begun, not {ahead}");
                Ok(())
            });
            assert_eq!((taken, begun.into_inner()), (count, count));
            assert!(firsts <= jobs && (firsts > 0 || count == 0), "{firsts} threads of {jobs}");
        }
    }

    #[test]
    fn others_go_on_while_an_item_takes_long() {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        let worker = || {
            let (sender, receiver) = (sender.clone(), &receiver);
            move |at| match at {
                // The first one waits for the last one, which another thread makes.
                0 => receiver.lock().unwrap().recv_timeout(PATIENCE).unwrap(),
                19 => sender.send(()).unwrap(),
                _ => {}
            }
        };
        let mut order = Vec::new();
        let Ok(()) = Pool::new(2, 20).run::<_, Infallible>(20, worker, |at, ()| {
            order.push(at);
            Ok(())
        });
        assert!(order.into_iter().eq(0..20));
    }

    #[test]
    fn heavy_items_leave_no_room_for_others() {
        for jobs in [2, 4] {
            let made = AtomicUsize::new(0);
            let pool = Pool::new(jobs, 100).weighing(|at: &usize| if at.is_multiple_of(2) { 100 } else { 1 });
            let worker = || {
                |at| {
                    made.fetch_add(1, Ordering::SeqCst);
                    at
                }
            };
            let Ok(()) = pool.run::<_, Infallible>(200, worker, |at, _| {
                dawdle(at);
                // What was begun before the first heavy one was made, and what light ones let begin.
                let waiting = made.load(Ordering::SeqCst) - at;
                assert!(waiting <= 2 * jobs + 1, "{waiting} of {jobs} jobs");
                Ok(())
            });
            assert_eq!(made.into_inner(), 200);
        }
    }

    #[test]
    fn a_panic_ends_all_threads() {
        for (bad, ahead) in [(0, 3), (17, 1), (17, usize::MAX)] {
            let items = || Pool::new(4, ahead);
            let worker = || |at| assert!(at != bad, "on purpose");
            assert!(panics(|| items().run(usize::MAX, worker, |_, ()| Ok::<_, Infallible>(()))), "made");
            let take = |at, ()| {
                assert!(at != bad, "on purpose");
                Ok::<_, Infallible>(())
            };
            assert!(panics(|| items().run(usize::MAX, || |_| (), take)), "taken");
        }
        // It need not be the calling thread that fails.
        let (calling, both) = (thread::current().id(), Barrier::new(2));
        let worker = || {
            |_| {
                both.wait();
                assert_eq!(thread::current().id(), calling, "on purpose");
            }
        };
        assert!(panics(|| Pool::new(2, 2).run(2, worker, |_, ()| Ok::<_, Infallible>(()))));
    }

    #[test]
    fn who_takes_may_stop_all_threads() {
        for (jobs, ahead) in [(1, 1), (2, 3), (4, 1), (4, usize::MAX)] {
            let mut taken = 0;
            // Nobody would live to see the last one.
            let stopped = Pool::new(jobs, ahead).run(
                usize::MAX,
                || |at| at,
                |at, item| {
                    taken += 1;
                    if item == 30 { Err(at) } else { Ok(()) }
                },
            );
            assert_eq!((stopped, taken), (Err(30), 31));
        }
    }

    #[test]
    fn without_further_threads_the_calling_one_makes_everything() {
        let (calling, expected) = (thread::current().id(), all(Pool::new(1, 1), 50));
        assert!(expected.iter().all(|(_, thread)| *thread == calling), "one job needs no thread");
        assert!(impossible_thread().spawn(|| ()).is_err());
        assert_eq!(all(Pool { thread: impossible_thread, ..Pool::new(4, 8) }, 50), expected);
    }

    #[test]
    fn what_runs_in_the_background_is_another_thread() {
        let (sender, receiver) = mpsc::channel();
        let helper = in_background(move || sender.send(thread::current().id()).unwrap()).unwrap();
        assert_ne!(receiver.recv_timeout(PATIENCE).unwrap(), thread::current().id());
        helper.join().unwrap();
    }
}
