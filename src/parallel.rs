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

    /// Makes the items from 0 up to `count` and returns each to `take`, in order and on the calling
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
    use std::panic::{self, AssertUnwindSafe};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, Mutex, mpsc};
    use std::thread::{self, Builder};
    use std::time::Duration;

    use super::Pool;

    /// No system has the memory for the stack of such a thread.
    fn impossible_thread() -> Builder {
        Builder::new().stack_size(1 << 60)
    }

    /// Returns a number that looks random.
    fn scrambled(number: usize) -> usize {
        (number + 1).wrapping_mul(0x9e37_79b9) >> 7
    }

    /// Returns up the processor a number of times that differs from item to item.
    fn dawdle(seed: usize) {
        (0..scrambled(seed) % 8).for_each(|_| thread::yield_now());
    }

    /// Takes all items; they come in order and to the calling thread.
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
    fn any_number_of_jobs_gives_the_same_items_with_a_worker_on_each_thread() {
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
    fn no_more_than_the_room_holds_is_begun() {
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
    fn others_go_on_while_an_item_takes_long() {
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
    fn a_panic_ends_all_threads() {
        for (bad, ahead) in [(0, 3), (17, 1), (17, usize::MAX)] {
            let fail = |at| assert!(at != bad, "on purpose");
            assert!(panics(|| Pool::new(4, ahead).run(usize::MAX, || fail, |_, ()| Ok::<_, ()>(()))), "made");
            let take = |at, ()| {
                fail(at);
                Ok::<_, ()>(())
            };
            assert!(panics(|| Pool::new(4, ahead).run(usize::MAX, || |_| (), take)), "taken");
        }
        // It need not be the calling thread that fails.
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
    fn who_takes_may_stop_all_threads() {
        for (jobs, ahead) in [(1, 1), (2, 3), (4, 1), (4, usize::MAX)] {
            // Nobody would live to see the last one.
            let stopped =
                Pool::new(jobs, ahead).run(usize::MAX, || |at| at, |at, item| if item < 30 { Ok(()) } else { Err(at) });
            assert_eq!(stopped, Err(30));
        }
    }

    #[test]
    fn without_further_threads_the_calling_one_makes_everything() {
        assert!(impossible_thread().spawn(|| ()).is_err());
        let calling = thread::current().id();
        for pool in [Pool::new(1, 8), Pool { thread: impossible_thread, ..Pool::new(4, 8) }] {
            let taken = all(pool, 50, || |at| (at, thread::current().id()));
            assert!(taken.into_iter().eq((0..50).map(|at| (at, calling))));
        }
    }
}
