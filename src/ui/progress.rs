//! What is done so far: a line on the terminal of messages while something takes longer than a
//! moment, and no trace of it afterwards.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::report::Report;
use crate::parallel;

/// How long a moment is.
const MOMENT: Duration = Duration::from_secs(1);
/// How long a drawn line stays as it is.
const TURN: Duration = Duration::from_millis(100);

/// What is counted.
#[derive(Clone, Debug)]
pub enum Count {
    /// Bytes that are read, and how many there are.
    Bytes(Arc<AtomicU64>, u64),
    /// Bytes that are read from where nobody knows how many there are.
    Stream(Arc<AtomicU64>),
    /// Things that are done, how many there are, and what they are.
    Things(Arc<AtomicU64>, usize, &'static str),
}

/// Makes the bar, each time that it is to be seen again.
type MakeBar = Box<dyn Fn() -> ProgressBar + Send + Sync>;

/// Work whose progress is shown until this is dropped.
pub struct Progress(Option<(Arc<BarTask>, JoinHandle<()>)>);

/// What the thread that draws has in common with the work.
struct BarTask {
    draw: MakeBar,
    done: Arc<AtomicU64>,
    stage: Mutex<BarState>,
    bell: Condvar,
}

#[derive(Default)]
struct BarState {
    is_over: bool,
    /// What is seen now.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Shows how far `doing` something is, if somebody is there to see it and it takes longer than a
    /// moment.
    pub fn new(report: Report, doing: &'static str, count: Count) -> Self {
        if !report.is_watched {
            return Self(None);
        }
        Self::after(MOMENT, report.paint.ascii, doing, count, ProgressDrawTarget::stderr)
    }

    fn after(
        delay: Duration,
        ascii: bool,
        doing: &'static str,
        count: Count,
        target: impl Fn() -> ProgressDrawTarget + Send + Sync + 'static,
    ) -> Self {
        let (done, total, template) = match count {
            Count::Bytes(done, total) => (done, Some(total), format!("{doing} {{wide_bar}} {{percent:>3}} %")),
            Count::Stream(done) => (done, None, format!("{doing}: {{decimal_bytes}} so far")),
            Count::Things(done, total, things) => {
                (done, Some(total as u64), format!("{doing} {{wide_bar}} {{pos}}/{{len}} {things}"))
            }
        };
        let draw: MakeBar = Box::new(move || {
            let bar = ProgressBar::with_draw_target(total, target());
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style.progress_chars(if ascii { "=> " } else { "━╸ " }));
            }
            bar
        });
        let shared = Arc::new(BarTask { draw, done, stage: Mutex::default(), bell: Condvar::new() });
        let drawer = Arc::clone(&shared);
        // Without a thread nothing is shown.
        let thread = parallel::in_background(move || drawer.run(delay));
        Self(thread.map(|thread| (shared, thread)))
    }

    /// Tells whether there may be something to be seen, which other output must not meet.
    pub fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// Prints something while nothing else is to be seen; it must be on its way at the end.
    pub fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let Some((shared, _)) = &self.0 else { return print() };
        let mut stage = shared.lock();
        stage.clear();
        print()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((shared, thread)) = self.0.take() else { return };
        shared.lock().is_over = true;
        shared.bell.notify_all();
        // Whatever comes next finds the terminal as it was.
        let _ = thread.join();
    }
}

impl BarTask {
    fn lock(&self) -> MutexGuard<'_, BarState> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, delay: Duration) {
        let mut stage = self.lock();
        let mut pause = delay;
        loop {
            let waited = self.bell.wait_timeout_while(stage, pause, |stage| !stage.is_over);
            stage = waited.unwrap_or_else(PoisonError::into_inner).0;
            if stage.is_over {
                return stage.clear();
            }
            let bar = stage.bar.get_or_insert_with(&self.draw);
            bar.set_position(self.done.load(Ordering::Relaxed));
            bar.force_draw();
            pause = TURN;
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

/// A stream whose bytes are counted.
#[derive(Debug)]
pub struct Counted<R> {
    /// The stream.
    pub stream: R,
    /// How many bytes came so far.
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
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::thread;
    use std::time::{Duration, Instant};

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::{Count, Progress};
    use crate::ui::paint::Paint;
    use crate::ui::report::Report;

    /// A terminal of one line.
    #[derive(Clone, Debug, Default)]
    struct FakeTerminal(Arc<Mutex<String>>);

    impl FakeTerminal {
        fn shows(&self) -> String {
            self.0.lock().unwrap().trim_end().to_owned()
        }

        /// Waits until something is shown that `is_it`.
        fn wait(&self, is_it: impl Fn(&str) -> bool) -> String {
            let start = Instant::now();
            loop {
                let shown = self.shows();
                if is_it(&shown) {
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

    #[test]
    fn it_shows_what_is_done_and_leaves_no_trace() {
        let (line, done) = (FakeTerminal::default(), Arc::new(AtomicU64::new(0)));
        let count = Count::Bytes(Arc::clone(&done), 200);
        let progress = Progress::after(Duration::ZERO, true, "reading", count, line.target());
        line.wait(|shown| shown.starts_with("reading ") && shown.ends_with("  0 %"));
        done.store(50, Ordering::Relaxed);
        let shown = line.wait(|shown| shown.ends_with(" 25 %"));
        assert!(shown.is_ascii() && shown.len() <= 40 && shown.contains("=>"), "{shown}");
        drop(progress);
        assert_eq!(line.shows(), "");
    }

    #[test]
    fn it_makes_room_for_other_output_and_comes_back() {
        let line = FakeTerminal::default();
        let count = Count::Things(Arc::new(AtomicU64::new(3)), 12, "files");
        let progress = Progress::after(Duration::ZERO, false, "checking", count, line.target());
        for _ in 0..3 {
            line.wait(|shown| shown.starts_with("checking ━") && shown.ends_with(" 3/12 files"));
            assert_eq!(progress.aside(|| line.shows()), "");
        }
        drop(progress);
        assert_eq!(line.shows(), "");
    }

    #[test]
    fn a_stream_has_no_end_in_sight() {
        let line = FakeTerminal::default();
        let count = Count::Stream(Arc::new(AtomicU64::new(1_500_000)));
        let progress = Progress::after(Duration::ZERO, false, "reading", count, line.target());
        assert_eq!(line.wait(|shown| !shown.is_empty()), "reading: 1.50 MB so far");
        drop(progress);
        assert_eq!(line.shows(), "");
    }

    #[test]
    fn nobody_looks_nothing_runs() {
        let paint = Paint { color: false, ascii: false };
        let report = Report { json: false, quiet: false, paint, is_watched: false };
        assert!(!Progress::new(report, "reading", Count::Stream(Arc::default())).is_shown());
    }

    #[test]
    fn what_is_over_in_a_moment_is_not_shown() {
        let line = FakeTerminal::default();
        let count = Count::Stream(Arc::default());
        drop(Progress::after(Duration::MAX, false, "reading", count, line.target()));
        assert_eq!(line.shows(), "");
    }
}
