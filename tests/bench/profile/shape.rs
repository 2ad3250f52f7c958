//! Trees of extreme shape with entries as small as they come: the work on the tree shows, not the
//! work on the bytes.

use std::io::{self, Write};

use super::session::Session;
use super::{Goal, Stats};

/// One chain.
pub fn deep<W: Write>(mut session: Session<W>) -> io::Result<Stats> {
    while !session.is_done() {
        small_entry(&mut session)?;
    }
    session.finish()
}

/// A chain with branch tips: of three entries two are on the chain and one is a tip. A third of the
/// tips are siblings under the middle of the chain, the others hang at every third of its entries,
/// each older than the entry with which the chain goes on.
pub fn bushy<W: Write>(mut session: Session<W>) -> io::Result<Stats> {
    if !session.version().is_tree() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a version 1 session has no branches"));
    }
    let entries = match session.goal() {
        Goal::Entries(entries) => entries,
        Goal::Bytes(bytes) => bytes / 150,
    };
    // The end of the chain is a tip as well.
    let tips = (entries / 3).saturating_sub(1);
    let siblings = tips / 3;
    let spread = tips - siblings;
    let chain = entries - tips;
    for link in 0..chain {
        small_entry(&mut session)?;
        if link == chain / 2 {
            for _ in 0..siblings {
                tip(&mut session)?;
            }
        }
        // As a line on a raster: `spread` tips over all links but the last.
        let inner = chain - 1;
        if link < inner && link * spread / inner != (link + 1) * spread / inner {
            tip(&mut session)?;
        }
    }
    session.finish()
}

fn tip<W: Write>(session: &mut Session<W>) -> io::Result<()> {
    let depth = session.depth();
    small_entry(session)?;
    session.go_back(depth);
    Ok(())
}

/// Writes a short prompt or, every third time, a piece of extension state, which is not in the
/// model's context: 150 bytes on average.
fn small_entry<W: Write>(session: &mut Session<W>) -> io::Result<()> {
    if session.random.below(3) == 0 {
        session.begin("custom")?;
        session.text(r#","customType":"todo","data":{"done":7}"#)?;
    } else {
        session.begin("message")?;
        session.text(r#","message":{"role":"user","content":"go on","timestamp":"#)?;
        let now = session.clock.epoch();
        write!(session, "{now}}}")?;
    }
    session.end()
}
