//! A progress bar on stderr while something takes longer than a second, which is cleared afterwards. It
//! runs on a thread of its own and only reads a counter, so that work is never slowed down.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupts::Interrupts;
use super::report::Report;
use crate::parallel;

/// How long work takes at least before a bar is shown.
const DELAY: Duration = Duration::from_secs(1);
/// How often the bar is drawn.
const INTERVAL: Duration = Duration::from_millis(100);
/// How often what it says is read out.
const SPOKEN_INTERVAL: Duration = Duration::from_secs(5);

/// The counter of what is done, with the total.
#[derive(Clone, Debug)]
pub(crate) enum Count {
    /// Bytes that were read, and their total.
    Bytes(Arc<AtomicU64>, u64),
    /// Bytes that were read from a stream of unknown length.
    Stream(Arc<AtomicU64>),
    /// Things that are done, their total, and their name.
    Things(Arc<AtomicU64>, usize, &'static str),
}

/// Makes a bar; a new one is needed each time that it reappears.
type MakeBar = Box<dyn Fn() -> ProgressBar + Send + Sync>;

/// A bar that is shown until this is dropped.
pub(crate) struct Progress(Option<(Arc<BarTask>, JoinHandle<()>)>);

/// What the drawing thread shares with the work.
struct BarTask {
    make_bar: MakeBar,
    done: Arc<AtomicU64>,
    state: Mutex<BarState>,
    /// Signals that the work is over.
    over: Condvar,
    interrupts: Option<&'static dyn Interrupts>,
    interval: Duration,
}

#[derive(Default)]
struct BarState {
    is_over: bool,
    /// The bar on the screen.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts a bar for `doing` something, if stderr is watched; it appears after a second.
    pub(crate) fn new(report: Report, doing: &'static str, count: Count) -> Self {
        if !report.is_watched {
            return Self(None);
        }
        Self::after(DELAY, report, doing, count, ProgressDrawTarget::stderr)
    }

    fn after(
        delay: Duration,
        report: Report,
        doing: &'static str,
        count: Count,
        target: impl Fn() -> ProgressDrawTarget + Send + Sync + 'static,
    ) -> Self {
        let in_words = report.paint.in_words;
        let (done, total, template) = match count {
            Count::Bytes(done, total) if in_words => (done, Some(total), format!("{doing}: {{percent}} percent")),
            Count::Bytes(done, total) => (done, Some(total), format!("{doing} {{wide_bar}} {{percent:>3}} %")),
            Count::Stream(done) => (done, None, format!("{doing}: {{decimal_bytes}} so far")),
            Count::Things(done, total, things) if in_words => {
                let template = format!("{doing}: {{percent}} percent, {{pos}} of {{len}} {things}");
                (done, Some(total as u64), template)
            }
            Count::Things(done, total, things) => {
                (done, Some(total as u64), format!("{doing} {{wide_bar}} {{pos}}/{{len}} {things}"))
            }
        };
        let make_bar: MakeBar = Box::new(move || {
            let bar = ProgressBar::with_draw_target(total, target());
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style.progress_chars(if report.paint.ascii { "=> " } else { "━╸ " }));
            }
            bar
        });
        let (state, over, interrupts) = (Mutex::default(), Condvar::new(), report.interrupts);
        let interval = if in_words { SPOKEN_INTERVAL } else { INTERVAL };
        let shared = Arc::new(BarTask { make_bar, done, state, over, interrupts, interval });
        let drawer = Arc::clone(&shared);
        // If no thread can be started there is no bar.
        let thread = parallel::in_background(move || drawer.run(delay));
        Self(thread.map(|thread| (shared, thread)))
    }

    /// Returns whether a bar may be on the screen, which other output must not run into.
    pub(crate) fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// Calls `print` while the bar is cleared; `print` must flush what it writes.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let Some((shared, _)) = &self.0 else { return print() };
        let mut state = shared.lock();
        state.clear();
        print()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((shared, thread)) = self.0.take() else { return };
        shared.lock().is_over = true;
        shared.over.notify_all();
        // The bar is cleared before anything else is printed.
        let _ = thread.join();
    }
}

impl BarTask {
    fn lock(&self) -> MutexGuard<'_, BarState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, delay: Duration) {
        let mut state = self.lock();
        let mut pause = delay;
        loop {
            let waited = self.over.wait_timeout_while(state, pause, |state| !state.is_over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over {
                state.clear();
                return self.hold(false);
            }
            if state.bar.is_none() {
                self.hold(true);
            } else if self.interrupts.is_some_and(|interrupts| interrupts.held().is_some()) {
                state.clear();
                self.hold(false);
            }
            let bar = state.bar.get_or_insert_with(&self.make_bar);
            bar.set_position(self.done.load(Ordering::Relaxed));
            bar.force_draw();
            pause = self.interval;
        }
    }
}

impl BarTask {
    /// Holds signals back, or lets them end the program, also the one that came meanwhile.
    fn hold(&self, is_held: bool) {
        let Some(interrupts) = self.interrupts else { return };
        interrupts.hold(is_held);
        if let Some(signal) = interrupts.held().filter(|_| !is_held) {
            interrupts.end(signal);
        }
    }
}

impl BarState {
    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// A stream that counts the bytes read from it.
#[derive(Debug)]
pub(crate) struct Counted<R> {
    pub stream: R,
    /// How many bytes were read.
    pub done: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.done.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::{Duration, Instant};

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::{Count, Interrupts, Progress};
    use crate::ui::paint::Paint;
    use crate::ui::report::Report;

    /// A terminal of one line.
    #[derive(Clone, Debug, Default)]
    struct FakeTerminal(Arc<Mutex<String>>);

    impl FakeTerminal {
        fn shows(&self) -> String {
            self.0.lock().unwrap().trim_end().to_owned()
        }

        /// Waits until the text on the screen is expected, and returns it.
        fn wait(&self, is_expected: impl Fn(&str) -> bool) -> String {
            let start = Instant::now();
            loop {
                let shown = self.shows();
                if is_expected(&shown) {
                    return shown;
                }
                assert!(start.elapsed() < Duration::from_secs(30), "nothing but {shown:?}");
                thread::yield_now();
            }
        }

        fn target(&self) -> impl Fn() -> ProgressDrawTarget + Send + Sync + use<> {
            let line = self.clone();
            move || ProgressDrawTarget::term_like(Box::new(line.clone()))
        }
    }

    impl TermLike for FakeTerminal {
        fn width(&self) -> u16 {
            40
        }
        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, _: &str) -> io::Result<()> {
            unreachable!("a line that is ended could not be cleared")
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns how a bar is shown where nobody watches stderr.
    fn report(ascii: bool) -> Report {
        Report { paint: Paint { ascii, ..Paint::default() }, ..Report::default() }
    }

    /// Signals of which one came already.
    #[derive(Debug, Default)]
    struct FakeSignals {
        line: FakeTerminal,
        is_held: AtomicBool,
        came: AtomicBool,
        /// What the screen showed when the program was ended.
        ended: Mutex<Option<String>>,
    }

    impl Interrupts for FakeSignals {
        fn hold(&self, is_held: bool) {
            self.is_held.store(is_held, Ordering::Relaxed);
        }
        fn held(&self) -> Option<i32> {
            self.came.load(Ordering::Relaxed).then_some(2)
        }
        fn end(&self, signal: i32) {
            assert_eq!((signal, self.is_held.load(Ordering::Relaxed)), (2, false));
            // No program goes on after this.
            self.came.store(false, Ordering::Relaxed);
            *self.ended.lock().unwrap() = Some(self.line.shows());
        }
    }

    #[test]
    fn bar_is_cleared_before_a_signal_ends_the_program() {
        let signals: &'static FakeSignals = Box::leak(Box::default());
        let report = Report { interrupts: Some(signals), ..report(false) };
        let count = Count::Stream(Arc::default());
        let progress = Progress::after(Duration::ZERO, report, "reading", count, signals.line.target());
        signals.line.wait(|shown| !shown.is_empty());
        assert!(signals.is_held.load(Ordering::Relaxed));
        signals.came.store(true, Ordering::Relaxed);
        let start = Instant::now();
        while signals.ended.lock().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(30));
            thread::yield_now();
        }
        assert_eq!(signals.ended.lock().unwrap().take().as_deref(), Some(""));
        drop(progress);
        assert!(!signals.is_held.load(Ordering::Relaxed) && signals.ended.lock().unwrap().is_none());
    }

    #[test]
    fn bar_shows_what_is_done_and_is_cleared_at_the_end() {
        let (line, done) = (FakeTerminal::default(), Arc::new(AtomicU64::new(0)));
        let count = Count::Bytes(Arc::clone(&done), 200);
        let progress = Progress::after(Duration::ZERO, report(true), "reading", count, line.target());
        line.wait(|shown| shown.starts_with("reading ") && shown.ends_with("  0 %"));
        done.store(50, Ordering::Relaxed);
        let shown = line.wait(|shown| shown.ends_with(" 25 %"));
        assert!(shown.is_ascii() && shown.len() <= 40 && shown.contains("=>"), "{shown}");
        drop(progress);
        assert_eq!(line.shows(), "");
    }

    #[test]
    fn bar_is_cleared_for_other_output_and_reappears() {
        let line = FakeTerminal::default();
        let count = Count::Things(Arc::new(AtomicU64::new(3)), 12, "files");
        let progress = Progress::after(Duration::ZERO, report(false), "checking", count, line.target());
        for _ in 0..3 {
            line.wait(|shown| shown.starts_with("checking ━") && shown.ends_with(" 3/12 files"));
            assert_eq!(progress.aside(|| line.shows()), "");
        }
        drop(progress);
        assert_eq!(line.shows(), "");
    }

    #[test]
    fn bar_in_words_has_percents_and_no_bar() {
        let words = Report { paint: Paint { in_words: true, ascii: true, ..Paint::default() }, ..Report::default() };
        let check = |count: Count, expected: &str| {
            let line = FakeTerminal::default();
            let _progress = Progress::after(Duration::ZERO, words, "reading", count, line.target());
            assert_eq!(line.wait(|shown| !shown.is_empty()), expected);
        };
        let done = || Arc::new(AtomicU64::new(50));
        check(Count::Bytes(done(), 200), "reading: 25 percent");
        check(Count::Things(done(), 200, "files"), "reading: 25 percent, 50 of 200 files");
        check(Count::Stream(done()), "reading: 50 B so far");
    }

    #[test]
    fn bar_of_a_stream_shows_the_bytes_without_a_total() {
        let line = FakeTerminal::default();
        let count = Count::Stream(Arc::new(AtomicU64::new(1_500_000)));
        let progress = Progress::after(Duration::ZERO, report(false), "reading", count, line.target());
        assert_eq!(line.wait(|shown| !shown.is_empty()), "reading: 1.50 MB so far");
        drop(progress);
        assert_eq!(line.shows(), "");
    }

    #[test]
    fn no_bar_is_started_unless_stderr_is_watched() {
        assert!(!Progress::new(report(false), "reading", Count::Stream(Arc::default())).is_shown());
    }

    #[test]
    fn bar_of_short_work_is_never_shown() {
        let line = FakeTerminal::default();
        let count = Count::Stream(Arc::default());
        drop(Progress::after(Duration::MAX, report(false), "reading", count, line.target()));
        assert_eq!(line.shows(), "");
    }
}
