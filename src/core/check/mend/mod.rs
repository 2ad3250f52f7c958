//! Mends what a check found (help checks, "Fixes"): plans which lines change and how, and never writes.
//!
//! A file is mended in rounds. Each takes the first step that has something to do, makes a new form of the file
//! in a temporary file, and checks that again, so that later fixes count with earlier ones: an orphan whose
//! parent is on a damaged line gets its parent by the line being mended. The rounds end when nothing is left to
//! be done, so that what is mended once is not changed by being mended again. The plans of all rounds together
//! are one plan for the file as it was.
//!
//! What a fix must not do: write a line anew that it does not have to change, throw away a whole record, change
//! the number of well-formed lines of version 1, or bring a file to another version.

mod damage;
pub mod diff;
pub mod file;
mod header;
mod leaf;
mod links;
mod members;
pub(crate) mod plan;
mod repair;
mod split;
pub(crate) mod state;
mod tasks;

use self::plan::{MendPlan, Origins};
use self::state::FileView;
pub use self::state::{Fix, MendOptions, Mended};
use self::tasks::Tasks;
use super::Checked;
use crate::core::entry::header::CURRENT;
use crate::core::error::Result;
use crate::core::read::source::Source;

/// The most rounds. Each step is mostly done in one; a second turn is for what only shows after the first.
const ROUNDS: usize = 24;

/// Plans the fixes of a file. Returns the check of its new form, too.
///
/// # Errors
/// [`Error`](crate::core::error::Error) if the file cannot be read, or the temporary folder is full.
pub fn mend(source: &Source, options: &MendOptions<'_>) -> Result<(Mended, Checked)> {
    let (mut plan, mut fixes) = (MendPlan::default(), Vec::new());
    let mut current = source.again()?;
    let mut after = super::check(current.again()?, options.blobs, options.jobs)?;
    for _ in 0..ROUNDS {
        options.wait.check()?;
        let origins = plan.origins();
        let (step, made) = round(&current, &after, options, &origins)?;
        if step.is_empty() {
            break;
        }
        fixes.extend(made.into_iter().map(|fix| Fix { line: origins.of(fix.line), ..fix }));
        current = Source::made(|out| step.write(&current, out))?;
        plan = plan.then(step);
        after = super::check(current.again()?, options.blobs, options.jobs)?;
    }
    fixes.sort_by_key(|fix| (fix.line, fix.code));
    Ok((Mended { plan, fixes }, after))
}

/// Plans the first step that has something to do.
fn round(
    source: &Source,
    checked: &Checked,
    options: &MendOptions<'_>,
    origins: &Origins,
) -> Result<(MendPlan, Vec<Fix>)> {
    let Some(session) = &checked.session else {
        return header::find(source, checked, options);
    };
    let view = FileView { source, checked, session, notes: &checked.notes, options, origins };
    // What is not known is not changed.
    if session.version > CURRENT {
        return Ok((MendPlan::default(), Vec::new()));
    }
    let steps: [fn(&FileView<'_>, &mut Tasks) -> Result<()>; 6] = [
        damage::repair,
        links::duplicate_lines,
        links::duplicate_ids,
        links::parents_and_members,
        damage::remove,
        leaf::save,
    ];
    for step in steps {
        let mut tasks = Tasks::default();
        step(&view, &mut tasks)?;
        let (plan, fixes) = tasks.plan(source)?;
        if !plan.is_empty() {
            return Ok((plan, fixes));
        }
    }
    Ok((MendPlan::default(), Vec::new()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MendOptions, mend};
    use crate::core::disk::lock::LockWait;
    use crate::core::read::source::Source;

    /// The ends of damaged lines: one whose id and parent can be read, and one of which only the end is left.
    const NAMED: &str = r#"age","id":"4","parentId":"2","timestamp":"t","message":{}}"#;
    const NAMELESS: &str = r#":04Z","message":{"content":[{}]}}"#;

    /// Spells a line: `H` is a header, `O` another one, `ID:PARENT` an entry, which has the time of its id.
    fn spell(line: &str) -> String {
        let header = |id: &str| {
            format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}}"#)
        };
        let parent = |id: &str| if id.is_empty() { "null".to_owned() } else { format!("\"{id}\"") };
        match (line, line.split_once(':')) {
            ("H", _) => header("one"),
            ("O", _) => header("other"),
            (_, Some((id @ ("1" | "2" | "3" | "4" | "5" | "6" | "7"), above))) => format!(
                r#"{{"type":"message","id":"{id}","parentId":{},"timestamp":"2026-01-01T00:00:0{id}Z","message":{{"role":"user","content":"x"}}}}"#,
                parent(above)
            ),
            _ => line.to_owned(),
        }
    }

    /// Checks what becomes of a file when guesses are made; `>ID` stands for a saved move to an entry.
    #[track_caller]
    fn check(lines: &[&str], expected: &[&str]) {
        let text: String = lines.iter().map(|line| spell(line) + "\n").collect();
        let source = Source::spool(text.as_bytes()).unwrap();
        let options = MendOptions {
            guesses: true,
            now: "2026-03-01T00:00:00.000Z",
            name: None,
            blobs: None,
            jobs: 1,
            wait: LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &|| None },
            wanted: &|_, _| true,
        };
        let mut out = Vec::new();
        mend(&source, &options).unwrap().0.write(&source, &mut out).unwrap();
        let told: Vec<_> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(told.len(), expected.len(), "{lines:?}: {told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            match expected.strip_prefix('>') {
                Some(id) => assert!(told.contains(&format!("\"parentId\":\"{id}\"")), "{lines:?}: {told}"),
                None => assert_eq!(*told, spell(expected), "{lines:?}"),
            }
        }
    }

    #[test]
    fn a_header_that_is_there_twice_goes_and_another_one_is_no_leaf() {
        check(&["H", "1:", "H", "2:1"], &["H", "1:", "2:1"]);
        check(&["H", "1:", "2:1", "H"], &["H", "1:", "2:1"]);
        check(&["H", "1:", "O", "2:1"], &["H", "1:", "O", "2:1"]);
        check(&["H", "1:", "2:1", "O"], &["H", "1:", "2:1", "O", ">2"]);
        check(&["H", "O"], &["H", "O"]);
        // In version 1 lines are counted.
        let [first, entry] = [
            r#"{"type":"session","id":"one","timestamp":"t","cwd":"/"}"#,
            r#"{"type":"custom","timestamp":"2026-01-01T00:00:01Z"}"#,
        ];
        check(&[first, entry, first], &[first, entry, first]);
    }

    #[test]
    fn a_record_among_other_bytes_is_kept() {
        let [three, header] = ["3:2", "H"].map(spell);
        for (line, lines) in [
            (format!("x{three}y"), vec!["x", "3:2", "y"]),
            (format!("{three}y"), vec!["3:2", "y"]),
            (format!("\"{three}\","), vec!["\"", "3:2", "\","]),
            (format!("\0{three}\0"), vec!["3:2"]),
        ] {
            // What is between them goes in the end.
            let kept: Vec<_> = lines.into_iter().filter(|line| line.contains(':')).collect();
            check(&["H", "1:", "2:1", &line, "4:3"], &[&["H", "1:", "2:1"], &kept[..], &["4:3"]].concat());
        }
        // In a list, which is no entry, it is left for a person to look at.
        let list = format!("[{three}]");
        check(&["H", "1:", "2:1", &list], &["H", "1:", "2:1", &list, ">2"]);
        // A header that is further down, with something else on its line.
        check(&["1:", "2:1", &format!("x{header}"), "3:2"], &["H", "1:", "2:1", "3:2"]);
        // In version 1 an entry has no id.
        let [first, entry] = [
            r#"{"type":"session","id":"one","timestamp":"t","cwd":"/"}"#,
            r#"{"type":"custom","timestamp":"2026-01-01T00:00:01Z"}"#,
        ];
        for line in [format!("\0{entry}"), format!("{entry}x"), format!("x{entry}"), format!("\u{feff}{entry},")] {
            check(&[first, entry, &line], &[first, entry, &line]);
        }
        check(&[first, entry, "x"], &[first, entry]);
    }

    #[test]
    fn a_header_is_made_of_what_can_be_read() {
        let [header, entry] = ["H", "1:"].map(spell);
        check(&[&header.replace(":3,", ":Infinity,"), "1:"], &["H", "1:"]);
        let number = entry.replace(r#""2026-01-01T00:00:01Z""#, "1767225601000");
        check(&[&header[..header.len() - 1], &number], &["H", &number]);
    }

    #[test]
    fn an_orphan_hangs_where_the_lost_line_hung_or_stood() {
        check(&["H", "1:", "2:1", "3:1", NAMED, "5:4"], &["H", "1:", "2:1", "3:1", "5:2"]);
        check(&["H", "1:", "2:1", NAMED, "3:1", "5:4"], &["H", "1:", "2:1", "3:1", "5:2"]);
        // The only line that is lost is the only one that is missing.
        check(&["H", "1:", "2:1", NAMELESS, "5:1", "7:4"], &["H", "1:", "2:1", "5:1", "7:2"]);
        check(&["H", "1:", "2:1", NAMELESS, "5:1", NAMELESS, "6:5", "7:4"], &["H", "1:", "2:1", "5:1", "6:5", "7:6"]);
        check(&["H", "1:", "2:1", NAMELESS, "5:1", "6:3", "7:4"], &["H", "1:", "2:1", "5:1", "6:5", "7:6"]);
        check(&["H", "1:", "2:1", "INFO {}", "5:1", "7:4"], &["H", "1:", "2:1", "5:1", "7:5"]);
    }

    #[test]
    fn an_orphan_hangs_at_what_was_written_before_it() {
        check(&["H", "1:", "2:1", "4:3"], &["H", "1:", "2:1", "4:2"]);
        // Its line was swapped with an older one.
        check(&["H", "1:", "2:1", "5:4", "3:2"], &["H", "1:", "2:1", "5:3", "3:2", ">5"]);
        check(&["H", "1:", "2:1", "4:3", "5:2"], &["H", "1:", "2:1", "4:2", "5:2"]);
    }
}
