//! Reads stored timestamps and prints times. A time is a number of milliseconds since
//! 1970-01-01T00:00Z everywhere; [`when`] reads what people type. Must never ask for the current time:
//! it comes in as an argument.

pub mod when;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;

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

/// Reads the plain form of a time. Every line has one, and a parser for all forms takes longer for it
/// than the rest of a short line takes.
fn plain_ms(body: &[u8]) -> Option<i64> {
    let body: &[u8; 24] = body.try_into().ok()?;
    // By digit: its value; everything else must be as in the shape.
    let mut digits = [0_u8; 24];
    for at in 0..24 {
        let is_digit = SHAPE[at] == b'0';
        digits[at] = body[at].wrapping_sub(SHAPE[at]);
        if digits[at] > if is_digit { 9 } else { 0 } {
            return None;
        }
    }
    let two = |at: usize| i64::from(digits[at]) * 10 + i64::from(digits[at + 1]);
    let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
    let (hour, minute, second, ms) = (two(11), two(14), two(17), two(20) * 10 + i64::from(digits[22]));
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let minutes = (days_to(year, month, day) * 24 + hour) * 60 + minute;
    Some((minutes * 60 + second) * 1000 + ms).filter(|&ms| Timestamp::from_millisecond(ms).is_ok())
}

/// Returns the number of days of a month.
fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;
/// The days of 400 years, after which the calendar repeats itself.
const ERA: i64 = 146_097;

/// Returns the days from 1970-01-01 to a date of the years 0 to 9999. Years are counted from March, so that
/// the leap day is the last one: before a month there are 30.6 days for each month since then, rounded.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let days = year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1;
    era * ERA + days - EPOCH
}

/// Returns the plain form of a time; `None` if it is before the year 0 or out of range.
pub fn plain(ms: i64) -> Option<[u8; 24]> {
    Timestamp::from_millisecond(ms).ok()?;
    let (days, of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // As in `days_to`: which year of its 400 years a day is in, and which month of that.
    let (era, day) = ((days + EPOCH).div_euclid(ERA), (days + EPOCH).rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (year * 365 + year / 4 - year / 100);
    let month = (day * 5 + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year + i64::from(month > 9);
    let month = if month > 9 { month - 9 } else { month + 3 };
    if year < 0 {
        return None;
    }
    let mut out = *SHAPE;
    let mut put = |at: usize, number: i64| {
        // Each is below 100.
        let number = u8::try_from(number).unwrap_or(0);
        out[at] += number / 10;
        out[at + 1] += number % 10;
    };
    let seconds = of_day / 1000;
    let parts = [(0, year / 100), (2, year % 100), (5, month), (8, day), (11, seconds / 3600)];
    parts.into_iter().for_each(|(at, number)| put(at, number));
    put(14, seconds / 60 % 60);
    put(17, seconds % 60);
    put(20, of_day % 1000 / 10);
    out[22] += u8::try_from(of_day % 10).unwrap_or(0);
    Some(out)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::civil::DateTime;

    use super::{PRINTER, Raw, Stamp, TimeZone, iso, plain, plain_ms};

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
    fn dates_and_times_are_those_that_the_library_knows() {
        let theirs = |year, month, day, hour, minute, second| {
            let time = DateTime::new(year, month, day, hour, minute, second, 7_000_000).ok()?;
            TimeZone::UTC.to_timestamp(time).ok().map(Timestamp::as_millisecond)
        };
        let check = |year, month, day, hour, minute, second| {
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.007Z");
            assert_eq!(plain_ms(text.as_bytes()), theirs(year, month, day, hour, minute, second), "{text}");
        };
        for year in [0, 1, 4, 99, 100, 400, 1900, 1970, 2000, 2023, 2024, 2100, 9996, 9999] {
            (0..=13).for_each(|month| (0..=32).for_each(|day| check(year, month, day, 12, 0, 59)));
        }
        for (hour, minute, second) in [(0, 0, 0), (23, 59, 59), (24, 0, 0), (0, 60, 0), (0, 0, 60), (99, 0, 0)] {
            check(2026, 12, 1, hour, minute, second);
        }
        let plain = *b"2026-01-01T12:00:42.547Z";
        for at in 0..plain.len() {
            for odd in [b'0' - 1, b'9' + 1, b'0' ^ 0x80, b' ', 0].into_iter().filter(|&odd| odd != plain[at]) {
                let mut text = plain;
                text[at] = odd;
                assert_eq!(plain_ms(&text), None, "{at} {odd}");
            }
        }
        assert_eq!((plain_ms(&plain[1..]), plain_ms(b"")), (None, None));
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
