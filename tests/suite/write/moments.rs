//! How long a lock is held, however large the file is.

use std::fs;
use std::io::{BufWriter, Write};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::Scratch;
use crate::write::scene::{end, start};

/// How large the file is, in bytes.
const SIZE: usize = 160_000_000;
/// How long omp waits for a lock before it gives up.
const LONGEST: Duration = Duration::from_millis(500);

/// Returns the longest time that the lock was there while a program ran.
fn longest_lock(scratch: &Scratch, child: &mut Child) -> Duration {
    let record = scratch.path(".s.jsonl.lock");
    let (mut longest, mut since) = (Duration::ZERO, None);
    while child.try_wait().unwrap().is_none() {
        match (record.exists(), since) {
            (true, None) => since = Some(Instant::now()),
            (true, Some(start)) => longest = longest.max(start.elapsed()),
            (false, _) => since = None,
        }
        thread::sleep(Duration::from_micros(200));
    }
    longest
}

#[test]
fn lock_is_not_held_while_large_file_is_read_or_copied() {
    let scratch = Scratch::new::<&str>(&[]);
    let path = scratch.path("s.jsonl");
    let mut out = BufWriter::new(fs::File::create(&path).unwrap());
    out.write_all(b"{\"type\":\"session\",\"version\":2,\"id\":\"large\"}\n").unwrap();
    let text = "some words of a tool's output\\n".repeat(90);
    let entries = SIZE / text.len();
    for at in 0..entries {
        let parent = if at == 0 { "null".to_owned() } else { format!("\"e{}\"", at - 1) };
        let message = format!("{{\"role\":\"user\",\"content\":\"{text}\"}}");
        writeln!(out, "{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":{parent},\"message\":{message}}}").unwrap();
    }
    out.into_inner().unwrap();
    // The first write migrates, the second appends.
    for version in [2, 3] {
        let before = fs::metadata(&path).unwrap().len();
        let mut child = start(&mut scratch.command(["label", "s.jsonl", "e0", &format!("x{version}"), "--quiet"]));
        let longest = longest_lock(&scratch, &mut child);
        assert_eq!(end(child).code, 0);
        assert!(longest < LONGEST, "version {version}: {longest:?}");
        assert!(fs::metadata(&path).unwrap().len() > before, "version {version}");
    }
}
