//! Answers what the parser makes of texts, for `parser.mjs`, which asks a JavaScript engine the same.
//!
//! Reads from standard input, for each text, its length in bytes as four bytes (lowest first) and then
//! the text. Prints a line a text:
//!
//! * `-` if it is not JSON, else `+` and the value in a form of its own: strings decoded and written anew,
//!   members sorted by name and of several with one name the last, and of numbers their 64 bits, since
//!   programs spell them differently;
//! * before that `E` if the line of a session was taken for an object, which another reader decides, and
//!   `.` if it was not.
#![allow(clippy::print_stderr, reason = "a program of its own, not the crate's ui")]

use std::collections::BTreeMap;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::process::ExitCode;

use session_tree::core::entry::Scan;
use session_tree::core::json::text::push_json;
use session_tree::core::json::{Cursor, Raw, ValueKind};

fn main() -> ExitCode {
    match answer(&mut BufReader::with_capacity(1 << 20, io::stdin().lock()), &mut BufWriter::new(io::stdout().lock())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn answer(texts: &mut impl Read, answers: &mut impl Write) -> io::Result<()> {
    let mut scan = Scan::default();
    let (mut text, mut line) = (Vec::new(), Vec::new());
    let mut length = [0; 4];
    while read_length(texts, &mut length)? {
        text.clear();
        let length = u64::from(u32::from_le_bytes(length));
        if texts.by_ref().take(length).read_to_end(&mut text)? as u64 != length {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the last text is cut short"));
        }
        line.clear();
        line.push(if scan.read(&text).is_ok() { b'E' } else { b'.' });
        match parse(&text) {
            Some(value) => {
                line.push(b'+');
                push_value(&mut line, value);
            }
            None => line.push(b'-'),
        }
        line.push(b'\n');
        answers.write_all(&line)?;
        // The other side waits for the answers to all that it has sent.
        if length == 0 {
            answers.flush()?;
        }
    }
    answers.flush()
}

/// Returns whether there is another text.
fn read_length(texts: &mut impl Read, length: &mut [u8; 4]) -> io::Result<bool> {
    if texts.read(&mut length[..1])? == 0 {
        return Ok(false);
    }
    texts.read_exact(&mut length[1..])?;
    Ok(true)
}

fn parse(text: &[u8]) -> Option<Raw<'_>> {
    let mut cursor = Cursor::new(text);
    let span = cursor.value().ok()?;
    cursor.end().ok()?;
    Some(Raw::new(cursor.text(span)))
}

/// Appends the value in the form that both sides print. Recurses, which nothing in the crate may: the
/// texts are made by this test, and not deep.
fn push_value(out: &mut Vec<u8>, value: Raw<'_>) {
    match value.kind() {
        ValueKind::String => push_json(out, &value.str().expect("it is a string")),
        ValueKind::Number => {
            let number = value.number().expect("every number of JSON can be read");
            out.extend_from_slice(format!("{:016x}", number.to_bits()).as_bytes());
        }
        ValueKind::Array => {
            out.push(b'[');
            for element in value.elements() {
                push_value(out, element);
                out.push(b',');
            }
            out.push(b']');
        }
        ValueKind::Object => {
            let members: BTreeMap<String, Raw<'_>> =
                value.members().map(|(key, value)| (String::from_utf8_lossy(key.name()).into_owned(), value)).collect();
            out.push(b'{');
            for (name, value) in members {
                push_json(out, &name);
                out.push(b':');
                push_value(out, value);
                out.push(b',');
            }
            out.push(b'}');
        }
        ValueKind::Bool | ValueKind::Null => out.extend_from_slice(value.bytes()),
    }
}
