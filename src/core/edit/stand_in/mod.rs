//! Stand-ins for what people wrote and said (help rules, "Stand-ins"): a session that can be shown to others, with
//! the shape of the old one.
//!
//! The text of a line is copied token by token, so that whatever is not replaced keeps its bytes. Must never let
//! through what is not known: `rules` lists what stays.

mod rules;
mod words;

use crate::core::json::{Cursor, Raw, text};
use crate::core::read::line;
use crate::core::session::Session;

pub use words::StandInKey;

use rules::{Rule, Within};

/// An image of one pixel in each of the usual formats, in base64.
const PIXELS: [(&str, &str); 4] = [
    ("image/gif", "R0lGODdhAQABAIEAAP///wAAAAAAAAAAACwAAAAAAQABAAAIBAABBAQAOw=="),
    (
        "image/jpeg",
        concat!(
            "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP////////////////////////////////////////////////////////////////",
            "//////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/",
            "2gAIAQEAAD8AR//Z"
        ),
    ),
    ("image/webp", "UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAfQ//73v/+BiOh/AAA="),
    ("image/png", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4//8/AAX+Av4N70a4AAAAAElFTkSuQmCC"),
];

/// What omp writes in place of the data of an image that is in a file of its own.
const BLOB: &[u8] = b"blob:sha256:";

/// Replaces what people wrote in the lines of one session.
#[derive(Clone, Copy, Debug)]
pub struct StandIns<'s> {
    session: &'s Session,
    key: StandInKey,
}

/// An object or a list that is open.
struct Open {
    is_object: bool,
    place: Within,
    /// The rule of the next value.
    rule: Rule,
    /// Whether a string is the name of a member.
    is_name_next: bool,
    /// The image that an image becomes.
    pixel: &'static str,
}

impl<'s> StandIns<'s> {
    /// Starts for a session.
    pub fn new(session: &'s Session, key: StandInKey) -> Self {
        Self { session, key }
    }

    /// Returns the stand-in of a text that is not stored as JSON.
    pub(super) fn text(self, text: &str) -> String {
        let mut out = Vec::new();
        self.key.push_text(&mut out, text.as_bytes());
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Returns the stand-in of a line, without its line end.
    pub(super) fn line(self, line: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(line.len());
        self.push_line(&mut out, line);
        out
    }

    /// Appends the stand-in of a line, without its line end. A damaged one stays damaged, and as long as it was.
    fn push_line(self, out: &mut Vec<u8>, line: &[u8]) {
        let mut cursor = Cursor::new(line);
        if cursor.value().is_ok() && cursor.end().is_ok() {
            self.push_json(out, line, Within::Entry);
        } else {
            self.push_damaged(out, line);
        }
    }

    /// Appends the stand-in of valid JSON, with white space around it or not. `outermost` is what its object is,
    /// unless it is a header.
    fn push_json(self, out: &mut Vec<u8>, json: &[u8], outermost: Within) {
        let mut open: Vec<Open> = Vec::new();
        let mut at = 0;
        while let Some(&byte) = json.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'{' => {
                    let object = Open::object(open.last(), outermost, &json[start..]);
                    open.push(object);
                }
                b'[' => {
                    let (rule, pixel) = open.last().map_or((Rule::Replace, ""), |open| (open.rule, open.pixel));
                    open.push(Open { is_object: false, place: Within::Unknown, rule, is_name_next: false, pixel });
                }
                b'}' | b']' => _ = open.pop(),
                b',' => {
                    if let Some(open) = open.last_mut() {
                        open.is_name_next = open.is_object;
                    }
                }
                b'"' => {
                    at = string_end(json, at);
                    let raw = &json[start + 1..at - 1];
                    out.push(b'"');
                    match open.last_mut() {
                        Some(open) if open.is_name_next => {
                            open.is_name_next = false;
                            self.push_name(out, open, raw);
                        }
                        Some(open) => self.push_string(out, open.rule, open.pixel, raw),
                        None => self.push_string(out, Rule::Replace, "", raw),
                    }
                    out.push(b'"');
                    continue;
                }
                b'-' | b'0'..=b'9' => {
                    let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
                    at += json[at..].iter().take_while(|byte| is_part(byte)).count();
                    if open.last().is_some_and(|open| open.rule.keeps_numbers()) {
                        out.extend_from_slice(&json[start..at]);
                    } else {
                        self.key.push_number(out, &json[start..at]);
                    }
                    continue;
                }
                // White space, colons, and `true`, `false` and `null`.
                _ => {}
            }
            out.push(byte);
        }
    }

    fn push_name(self, out: &mut Vec<u8>, open: &mut Open, raw: &[u8]) {
        let name = text::decode(raw);
        open.rule = rules::rule(open.place, &name);
        if rules::is_known_name(&name) {
            out.extend_from_slice(raw);
        } else {
            self.push_unlike(out, raw, rules::is_known_name);
        }
    }

    /// Appends the stand-in of a string that must not become one that means something. Until it does not, the
    /// stand-in of the stand-in is taken, so that no two become one.
    fn push_unlike(self, out: &mut Vec<u8>, raw: &[u8], means_something: impl Fn(&str) -> bool) {
        const MOST: usize = 100;
        let mut stand_in = Vec::new();
        self.key.push_string(&mut stand_in, raw);
        for _ in 0..MOST {
            if !means_something(&text::decode_id(&stand_in)) {
                break;
            }
            let before = std::mem::take(&mut stand_in);
            self.key.push_string(&mut stand_in, &before);
        }
        out.extend_from_slice(&stand_in);
    }

    fn push_string(self, out: &mut Vec<u8>, rule: Rule, pixel: &str, raw: &[u8]) {
        if let Some(hash) = raw.strip_prefix(BLOB) {
            out.extend_from_slice(BLOB);
            return self.key.push_hash(out, hash);
        }
        match rule {
            Rule::Pixel => out.extend_from_slice(pixel.as_bytes()),
            _ if rule.keeps(&text::decode_id(raw), |id| self.session.find(id).is_some()) => out.extend_from_slice(raw),
            Rule::Id => self.push_unlike(out, raw, |id| self.session.find(id).is_some()),
            _ => self.key.push_string(out, raw),
        }
    }

    /// Appends the stand-in of what is not JSON. Whole records in it are treated as such, so that what is found in
    /// them can still be found.
    fn push_damaged(self, out: &mut Vec<u8>, line: &[u8]) {
        // What is before this has been written.
        let mut from = 0;
        for at in std::iter::once(0).chain(line::record_starts(line)) {
            if at < from || line.get(at) != Some(&b'{') {
                continue;
            }
            if let Ok(record) = Cursor::new(&line[at..]).value() {
                self.push_fragment(out, &line[from..at]);
                from = at + record.range().end;
                self.push_json(out, &line[at..from], Within::Record);
            }
        }
        self.push_fragment(out, &line[from..]);
    }

    /// Appends the stand-in of a part of a record, in which what stands between quotes stays if it is a known name
    /// or id.
    fn push_fragment(self, out: &mut Vec<u8>, fragment: &[u8]) {
        let mut from = 0;
        while let Some(quote) = fragment[from..].iter().position(|&byte| byte == b'"') {
            let start = from + quote + 1;
            let end = string_end(fragment, start);
            let is_closed = end > start && fragment[end - 1] == b'"';
            self.push_words(out, &fragment[from..start]);
            self.push_token(out, &fragment[start..end - usize::from(is_closed)]);
            if !is_closed {
                return;
            }
            out.push(b'"');
            from = end;
        }
        self.push_words(out, &fragment[from..]);
    }

    /// Appends what stands between strings, in which `true`, `false` and `null` stay.
    fn push_words(self, out: &mut Vec<u8>, bytes: &[u8]) {
        for word in bytes.chunk_by(|a, b| a.is_ascii_alphabetic() == b.is_ascii_alphabetic()) {
            match word {
                b"true" | b"false" | b"null" => out.extend_from_slice(word),
                _ => self.key.push_text(out, word),
            }
        }
    }

    /// Appends a string of a damaged line.
    fn push_token(self, out: &mut Vec<u8>, raw: &[u8]) {
        let known = text::decode_id(raw);
        let stays = rules::is_known_name(&known)
            || Rule::Kind.keeps(&known, |_| false)
            || Rule::Role.keeps(&known, |_| false)
            || self.session.find(&known).is_some();
        if stays {
            out.extend_from_slice(raw);
        } else {
            self.push_unlike(out, raw, |id| self.session.find(id).is_some());
        }
    }
}

impl Open {
    /// Returns the object that opens here; `json` starts with it.
    fn object(around: Option<&Self>, outermost: Within, json: &[u8]) -> Self {
        let member = |name: &str| {
            let span = Cursor::new(json).value().ok()?;
            Raw::new(&json[span.range()]).get_str(name)
        };
        let place = match around.map(|open| open.rule) {
            None if member("type").as_deref() == Some("session") => Within::Header,
            None => outermost,
            Some(Rule::Inside(Within::Block)) if member("type").as_deref() == Some("image") => Within::Image,
            Some(Rule::Inside(place)) => place,
            Some(_) => Within::Unknown,
        };
        let pixel = if place == Within::Image {
            let mime = member("mimeType").unwrap_or_default();
            PIXELS.iter().find(|(name, _)| *name == mime).unwrap_or(&PIXELS[PIXELS.len() - 1]).1
        } else {
            ""
        };
        Self { is_object: true, place, rule: Rule::Replace, is_name_next: true, pixel }
    }
}

/// Returns the offset after the quote that ends a string whose first character is at `at`; the end of the text if
/// none does.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{StandInKey, StandIns};
    use crate::core::session::sample::{message, session};

    #[test]
    fn of_a_damaged_line_its_records_and_known_words_stay() {
        let session = session(&[message("a", "", "user", "x")]);
        let stand_ins = StandIns::new(&session, StandInKey::new(Uuid::from_u128(7)));
        let record = message("a", "", "user", "Harbour");
        let whole = String::from_utf8(stand_ins.line(record.as_bytes())).unwrap();
        assert!(
            whole.contains(r#""type":"message","id":"a","parentId":null"#) && !whole.contains("Harbour"),
            "{whole}"
        );
        // The line, and what of it is known: records are as they would be on lines of their own.
        for (line, expected) in [
            (format!("{record}{record}"), format!("{whole}{whole}")),
            (format!("\0\0{record}"), format!("\0\0{whole}")),
            (format!("{record}]{record}"), format!("{whole}]{whole}")),
            (r#"{"type":"message","role":"user","id":"a","parentId":null,true"#.to_owned(), String::new()),
            (r#""\\","role":"\"","type""#.to_owned(), String::new()),
        ] {
            let damaged = String::from_utf8(stand_ins.line(line.as_bytes())).unwrap();
            let expected = if expected.is_empty() { line } else { expected };
            assert_eq!(damaged, expected);
        }
        // A string that is cut, and one after another.
        for line in [r#"{"text":"Harbour","x":"Harbour"#, r#"Harbour":{"role":"Harbour""#, r#""Harbour\"#] {
            let damaged = String::from_utf8(stand_ins.line(line.as_bytes())).unwrap();
            assert!(!damaged.contains("Harbour") && damaged.len() == line.len(), "{damaged}");
        }
    }

    #[test]
    fn a_stand_in_that_would_mean_something_gets_one_itself() {
        let session = session(&[message("a", "", "user", "x")]);
        let stand_ins = StandIns::new(&session, StandInKey::new(Uuid::from_u128(7)));
        let plain = |raw: &[u8]| {
            let mut out = Vec::new();
            stand_ins.key.push_string(&mut out, raw);
            String::from_utf8(out).unwrap()
        };
        let first = plain(b"Harbour");
        let second = plain(first.as_bytes());
        for (meaning, expected) in [("", &first), (first.as_str(), &second)] {
            let mut out = Vec::new();
            stand_ins.push_unlike(&mut out, b"Harbour", |text| text == meaning);
            assert_eq!(String::from_utf8(out).unwrap(), *expected, "{meaning}");
        }
    }

    #[test]
    fn only_images_become_pixels() {
        let session = session(&[message("a", "", "user", "x")]);
        let stand_ins = StandIns::new(&session, StandInKey::new(Uuid::from_u128(7)));
        let has_pixel = |kind: &str| {
            let block = format!(r#"{{"type":"{kind}","data":"aGVsbG8=","mimeType":"image/png"}}"#);
            let line = message("a", "", "user", "x").replace(r#""x""#, &format!("[{block}]"));
            String::from_utf8(stand_ins.line(line.as_bytes())).unwrap().contains(super::PIXELS[3].1)
        };
        assert!(has_pixel("image") && !has_pixel("audio"));
    }
}
