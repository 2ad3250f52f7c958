//! Reads stored timestamps and prints times. A time is a number of milliseconds since
//! 1970-01-01T00:00Z everywhere; [`when`] reads what people type. Must never ask for the current time:
//! it comes in as an argument.

pub mod when;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::{Offset, TimeZone};

use crate::core::json::{Raw, ValueKind};

static PARSER: DateTimeParser = DateTimeParser::new();
static PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// Smaller numbers are seconds, others milliseconds (help rules, "Reading", 8).
const FIRST_MILLISECONDS: f64 = 1e11;

/// The meaning of a stored timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// Missing, or neither a string nor a number.
    #[default]
    Absent,
    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`, as agents write it, so that the text can be made from the number.
    Plain(i64),
    /// Any other spelling of a known time.
    Other(i64),
    /// A string or number that is not a time.
    Unknown,
}

impl Stamp {
    /// Reads a stored JSON value.
    pub fn read(raw: Raw<'_>) -> Self {
        match raw.kind() {
            ValueKind::String => raw.string_body().map_or(Self::Absent, Self::parse),
            ValueKind::Number => raw.number().and_then(from_number).map_or(Self::Unknown, Self::Other),
            _ => Self::Absent,
        }
    }

    fn parse(body: &[u8]) -> Self {
        if let Some(ms) = plain_ms(body) {
            return Self::Plain(ms);
        }
        let parsed = PARSER.parse_timestamp(body).map(Timestamp::as_millisecond).or_else(|_| {
            // Agents take a time without offset as UTC.
            let civil: DateTime = PARSER.parse_datetime(body)?;
            TimeZone::UTC.to_timestamp(civil).map(Timestamp::as_millisecond)
        });
        match parsed {
            Ok(ms) if is_plain(body) => Self::Plain(ms),
            Ok(ms) => Self::Other(ms),
            Err(_) => Self::Unknown,
        }
    }

    /// Returns the time in milliseconds, or `None` if it is not known.
    pub fn ms(self) -> Option<i64> {
        match self {
            Self::Plain(ms) | Self::Other(ms) => Some(ms),
            Self::Absent | Self::Unknown => None,
        }
    }
}

/// Returns a time as agents write it, with milliseconds and `Z`; `-` if it is out of range.
pub fn iso(ms: i64) -> String {
    if let Some(plain) = plain(ms) {
        return plain.iter().map(|&byte| char::from(byte)).collect();
    }
    Timestamp::from_millisecond(ms).map_or_else(|_| "-".to_owned(), |time| PRINTER.timestamp_to_string(&time))
}

/// Returns a time for people, to the minute and in UTC; `-` if it is not known.
pub fn minute(stamp: Stamp) -> String {
    let Some(ms) = stamp.ms() else { return "-".to_owned() };
    iso(ms).chars().take(16).map(|char| if char == 'T' { ' ' } else { char }).collect()
}

/// Returns an age of `ms` milliseconds for people, in one unit.
pub fn ago(ms: i64) -> String {
    const UNITS: [(i64, &str); 5] =
        [(365 * 24 * 60 * 60, "y"), (24 * 60 * 60, "d"), (60 * 60, "h"), (60, "min"), (1, "s")];
    let seconds = ms.max(0) / 1000;
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    unit.map_or("just now".to_owned(), |(length, name)| format!("{} {name} ago", seconds / length))
}

fn from_number(number: f64) -> Option<i64> {
    let ms = if number >= FIRST_MILLISECONDS { number } else { number * 1000.0 };
    // `as` saturates, and the range check of `Timestamp` refuses what saturates.
    #[allow(clippy::cast_possible_truncation)]
    let ms = ms.trunc() as i64;
    Timestamp::from_millisecond(ms).ok().map(Timestamp::as_millisecond)
}

/// The plain form of a time, as agents write it and [`iso`] returns it.
const SHAPE: &[u8; 24] = b"0000-00-00T00:00:00.000Z";

/// Returns whether a valid timestamp has the plain form.
fn is_plain(body: &[u8]) -> bool {
    body.len() == SHAPE.len()
        && body.iter().zip(SHAPE).all(|(&byte, &form)| if form == b'0' { byte.is_ascii_digit() } else { byte == form })
        && body.get(17..19) != Some(b"60")
        && body.get(11..13) != Some(b"24")
}

/// Reads the plain form of a time. Every line has one, and a parser for all forms takes longer for it
/// than the rest of a short line takes.
fn plain_ms(body: &[u8]) -> Option<i64> {
    if !is_plain(body) {
        return None;
    }
    let number = |from: usize, to: usize| body[from..to].iter().fold(0, |n, &digit| n * 10 + i16::from(digit - b'0'));
    let two = |from: usize| i8::try_from(number(from, from + 2)).ok();
    let nanoseconds = i32::from(number(20, 23)) * 1_000_000;
    let time = DateTime::new(number(0, 4), two(5)?, two(8)?, two(11)?, two(14)?, two(17)?, nanoseconds).ok()?;
    Offset::UTC.to_timestamp(time).ok().map(Timestamp::as_millisecond)
}

/// Returns the plain form of a time; `None` if it is before the year 0 or out of range.
pub fn plain(ms: i64) -> Option<[u8; 24]> {
    let time = Offset::UTC.to_datetime(Timestamp::from_millisecond(ms).ok()?);
    let mut out = *SHAPE;
    let mut put = |from: usize, to: usize, mut number: i16| {
        for digit in out[from..to].iter_mut().rev() {
            *digit += u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
        }
    };
    if time.year() < 0 {
        return None;
    }
    put(0, 4, time.year());
    put(20, 23, time.millisecond());
    let parts = [(5, time.month()), (8, time.day()), (11, time.hour()), (14, time.minute()), (17, time.second())];
    parts.into_iter().for_each(|(at, number)| put(at, at + 2, i16::from(number)));
    Some(out)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::{PRINTER, Raw, Stamp, iso, plain, plain_ms};

    fn read(text: &str) -> Stamp {
        Stamp::read(Raw::new(text.as_bytes()))
    }

    #[test]
    fn iso_texts_and_numbers_are_times() {
        let ms = 1_767_268_842_547;
        for (text, expected) in [
            (r#""2026-01-01T12:00:42.547Z""#, Stamp::Plain(ms)),
            (r#""2026-01-01T13:00:42.547+01:00""#, Stamp::Other(ms)),
            (r#""2026-01-01T12:00:42.547""#, Stamp::Other(ms)),
            (r#""2026-01-01""#, Stamp::Other(1_767_225_600_000)),
            (r#""2024-02-29T23:59:59.999Z""#, Stamp::Plain(1_709_251_199_999)),
            (r#""0000-01-01T00:00:00.000Z""#, Stamp::Plain(-62_167_219_200_000)),
            (r#""9999-12-01T00:00:00.000Z""#, Stamp::Plain(253_399_622_400_000)),
            ("1767268842547", Stamp::Other(ms)),
            ("1767268842", Stamp::Other(1_767_268_842_000)),
            ("null", Stamp::Absent),
            ("true", Stamp::Absent),
            ("1e400", Stamp::Unknown),
            (r#""yesterday""#, Stamp::Unknown),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        for moment in ["02-29T00", "04-31T00", "13-01T00", "00-01T00", "04-30T25"] {
            assert_eq!(read(&format!("\"2026-{moment}:00:00.000Z\"")), Stamp::Unknown, "{moment}");
        }
    }

    #[test]
    fn plain_form_agrees_with_the_library() {
        let first = Timestamp::from_millisecond(-62_135_596_800_000).unwrap().as_millisecond();
        // Every day from 1884 to 2116; else one a month. The times of the day differ.
        let days = (-2_713_910_400_000..4_607_280_000_000).step_by(86_423_457);
        for ms in days.chain((first..253_370_764_800_000).step_by(2_600_423_457)) {
            let theirs = PRINTER.timestamp_to_string(&Timestamp::from_millisecond(ms).unwrap());
            let ours = plain(ms).unwrap();
            assert_eq!(str::from_utf8(&ours), Ok(theirs.as_str()));
            assert_eq!(plain_ms(&ours), Some(ms), "{theirs}");
        }
        assert_eq!((plain(-62_167_219_200_001), plain(i64::MAX)), (None, None));
        assert_eq!(iso(first - 1), "0000-12-31T23:59:59.999Z");
        assert_eq!(iso(253_370_764_800_000), "9999-01-01T00:00:00.000Z");
    }
}
