//! Lines of 60 MB between ordinary ones. Nothing here holds such a line in memory either.

use std::io::{self, Write};

use super::Stats;
use super::conversation::Conversation;

const LINE: usize = 60_000_000;
const BETWEEN: usize = 250;

/// Where the bytes of a long line are: each kind is hard for another part of a reader.
#[derive(Clone, Copy)]
enum Bulk {
    /// One string without any escape.
    Image,
    /// One string with many escapes, in an entry that is shown by its first words.
    Prompt,
    /// Very many small values.
    Settings,
    /// One string after which the interesting members come.
    Output,
}

pub fn write<W: Write>(mut conversation: Conversation<'_, W>) -> io::Result<Stats> {
    let mut kinds = [Bulk::Image, Bulk::Prompt, Bulk::Settings, Bulk::Output].into_iter().cycle();
    while !conversation.session.is_done() {
        for _ in 0..BETWEEN {
            conversation.step()?;
        }
        // A tool call and its result stay together.
        while !conversation.is_between_turns() {
            conversation.step()?;
        }
        let kind = kinds.next().expect("a cycle does not end");
        long_line(&mut conversation, kind)?;
    }
    conversation.session.finish()
}

fn long_line<W: Write>(conversation: &mut Conversation<'_, W>, kind: Bulk) -> io::Result<()> {
    let (session, pool) = (&mut conversation.session, conversation.pool);
    match kind {
        Bulk::Image => {
            session.begin("message")?;
            session.text(r#","message":{"role":"user","content":[{"type":"image","data":""#)?;
            session.png(&pool.base64, LINE)?;
            session.text(r#"","mimeType":"image/png"},{"type":"text","text":"What is wrong here?"}]"#)?;
            conversation.end_message()
        }
        Bulk::Prompt => {
            session.begin("message")?;
            session.text(r#","message":{"role":"user","content":"Look at this log:\n"#)?;
            session.lines(&pool.shell, LINE)?;
            session.text("\"")?;
            conversation.end_message()
        }
        Bulk::Settings => {
            session.begin("custom")?;
            session.text(r#","customType":"index","data":[{"at":0}"#)?;
            let mut left = LINE;
            while left > 0 {
                let item = r#",{"at":17,"of":[1,2.5,null],"is":true,"by":"x"}"#;
                session.text(item)?;
                left = left.saturating_sub(item.len());
            }
            session.text("]")?;
            session.end()
        }
        Bulk::Output => {
            session.begin("message")?;
            session.text(r#","message":{"role":"bashExecution","output":""#)?;
            session.lines(&pool.shell, LINE)?;
            session.text(r#"","command":"cat build.log","exitCode":0,"cancelled":false,"truncated":false"#)?;
            conversation.end_message()
        }
    }
}
