//! Timestamps: what a stored `timestamp` means, in milliseconds since 1970-01-01T00:00Z.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;

use super::json::{Kind, Raw};

static PARSER: DateTimeParser = DateTimeParser::new();
static PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));

/// Numbers below this are seconds, from here on milliseconds (semantics: "Tree").
const FIRST_MILLISECONDS: f64 = 1e11;

/// A stored timestamp, read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamp {
    /// Missing, or neither a string nor a number.
    #[default]
    Absent,
    /// `YYYY-MM-DDTHH:MM:SS.mmmZ`, as agents write it: the number says it all.
    Plain(i64),
    /// Any other spelling of a known time.
    Other(i64),
    /// A string or number that names no time.
    Unknown,
}

impl Stamp {
    /// Reads a stored value.
    pub fn read(raw: Raw<'_>) -> Self {
        match raw.kind() {
            Kind::String => raw.string_body().map_or(Self::Absent, Self::parse),
            Kind::Number => raw.number().and_then(from_number).map_or(Self::Unknown, Self::Other),
            _ => Self::Absent,
        }
    }

    fn parse(body: &[u8]) -> Self {
        let parsed = PARSER.parse_timestamp(body).map(Timestamp::as_millisecond).or_else(|_| {
            // No offset means UTC.
            let civil: DateTime = PARSER.parse_datetime(body)?;
            TimeZone::UTC.to_timestamp(civil).map(Timestamp::as_millisecond)
        });
        match parsed {
            Ok(ms) if is_plain(body) => Self::Plain(ms),
            Ok(ms) => Self::Other(ms),
            Err(_) => Self::Unknown,
        }
    }

    /// Gives the time in milliseconds, if it is known.
    pub fn ms(self) -> Option<i64> {
        match self {
            Self::Plain(ms) | Self::Other(ms) => Some(ms),
            Self::Absent | Self::Unknown => None,
        }
    }
}

/// Spells a time as agents do, with milliseconds and `Z`; `-` if it is out of range.
pub fn iso(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| "-".to_owned(), |time| PRINTER.timestamp_to_string(&time))
}

/// Spells a time to the minute, for people, in UTC; `-` if it is not known.
pub fn minute(stamp: Stamp) -> String {
    let Some(ms) = stamp.ms() else { return "-".to_owned() };
    iso(ms).chars().take(16).map(|char| if char == 'T' { ' ' } else { char }).collect()
}

/// Spells how long ago something was, for people, in one unit.
pub fn ago(ms: i64) -> String {
    const UNITS: [(i64, &str); 4] = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "min"), (1, "s")];
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

/// Tells whether a timestamp that parses has exactly the spelling that [`iso`] gives it.
fn is_plain(body: &[u8]) -> bool {
    let shape = b"0000-00-00T00:00:00.000Z";
    body.len() == shape.len()
        && body.iter().zip(shape).all(|(&byte, &form)| if form == b'0' { byte.is_ascii_digit() } else { byte == form })
        && body.get(17..19) != Some(b"60")
        && body.get(11..13) != Some(b"24")
}

#[cfg(test)]
mod tests {
    use super::{Raw, Stamp, iso};

    fn read(text: &str) -> Stamp {
        Stamp::read(Raw::new(text.as_bytes()))
    }

    #[test]
    fn reads_iso_and_numbers() {
        let ms = 1_767_268_842_547;
        assert_eq!(read("\"2026-01-01T12:00:42.547Z\""), Stamp::Plain(ms));
        assert_eq!(read("\"2026-01-01T13:00:42.547+01:00\""), Stamp::Other(ms));
        assert_eq!(read("\"2026-01-01T12:00:42.547\""), Stamp::Other(ms));
        assert_eq!(read("\"2026-01-01\""), Stamp::Other(1_767_225_600_000));
        assert_eq!(read("1767268842547"), Stamp::Other(ms));
        assert_eq!(read("1767268842"), Stamp::Other(1_767_268_842_000));
        assert_eq!(read("\"yesterday\""), Stamp::Unknown);
        assert_eq!(read("1e400"), Stamp::Unknown);
        assert_eq!(read("null"), Stamp::Absent);
        assert_eq!(read("true"), Stamp::Absent);
    }

    #[test]
    fn plain_times_print_as_stored() {
        for text in ["2026-01-01T12:00:42.547Z", "1999-12-31T23:59:59.000Z", "0001-01-01T00:00:00.000Z"] {
            let Stamp::Plain(ms) = read(&format!("\"{text}\"")) else { panic!("{text}") };
            assert_eq!(iso(ms), text);
        }
    }
}
