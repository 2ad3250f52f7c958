//! Reads times as people type them: dates, and ages like `2d` (help rules, "Views"). The current time
//! and its zone come in as an argument.

use jiff::civil::{Date, DateTime};
use jiff::fmt::friendly::SpanParser;
use jiff::fmt::temporal::DateTimeParser;
use jiff::{Timestamp, ZonedDateTime};

use crate::core::time::Stamp;

static DATES: DateTimeParser = DateTimeParser::new();
static AGES: SpanParser = SpanParser::new();

/// The moment of its day that a date without a time means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayEdge {
    /// The first moment.
    Start,
    /// The last moment.
    End,
}

/// A span of time, both ends included, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Its start; `None` if it has none.
    pub since: Option<i64>,
    /// Its end; `None` if it has none.
    pub until: Option<i64>,
}

impl Period {
    /// Returns whether it has a start or an end.
    pub(crate) fn is_bound(self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Returns whether a time is within it; `None` if the time is not known.
    pub fn holds(self, stamp: Stamp) -> Option<bool> {
        let ms = stamp.ms()?;
        Some(self.since.is_none_or(|since| since <= ms) && self.until.is_none_or(|until| ms <= until))
    }
}

/// Reads a date, a time, or an age (how long before `now`) and returns milliseconds since 1970. A time
/// without a zone is in that of `now`; a date without a time is the start or end of its day, by `edge`.
///
/// # Errors
/// The reason why the text is none of these.
pub fn read(text: &str, now: &ZonedDateTime, edge: DayEdge) -> Result<i64, &'static str> {
    const NEITHER: &str = "neither a time like `2026-01-31` or `2026-01-31T10:00`, nor an age like `2d`, `3h` or `90m`";
    const FAR: &str = "that is out of the range of dates";
    // The parsers below would ignore a zone in brackets.
    if text.contains('[') {
        return Err("a zone is `Z` or an offset like `+02:00`");
    }
    const DATE: usize = "2026-01-31".len();
    if text.len() == DATE
        && let Ok(date) = text.parse::<Date>()
    {
        let day = date.to_zoned_datetime(now.time_zone().clone());
        let moment = match edge {
            DayEdge::Start => day,
            DayEdge::End => day.and_then(|day| day.end_of_day()),
        };
        // The first and last valid dates have moments that a timestamp cannot hold.
        let beyond = if date.year() > 0 { i64::MAX } else { i64::MIN };
        return Ok(moment.map_or(beyond, |moment| moment.timestamp().as_millisecond()));
    }
    if let Ok(time) = DATES.parse_timestamp(text) {
        return Ok(time.as_millisecond());
    }
    if let (true, Ok(time)) = (text.len() > DATE, text.parse::<DateTime>()) {
        let time = time.to_zoned_datetime(now.time_zone().clone()).map_err(|_| FAR)?;
        return Ok(time.timestamp().as_millisecond());
    }
    let age = AGES.parse_span(text).map_err(|_| NEITHER)?;
    now.checked_sub(age.abs()).map(|time| Timestamp::as_millisecond(time.timestamp())).map_err(|_| FAR)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::{Offset, TimeZone};

    use super::{DayEdge, Period, read};
    use crate::core::time::Stamp;
    use crate::core::time::iso;

    /// Reads `text` at half an hour before midnight, two hours east of Greenwich.
    fn check(text: &str, edge: DayEdge, expected: &str) {
        let zone = TimeZone::fixed(Offset::constant(2));
        let now = "2026-02-03T21:30:00.250Z".parse::<Timestamp>().unwrap().to_zoned_datetime(zone);
        assert_eq!(read(text, &now, edge).map(iso).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn date_without_time_is_the_edge_of_a_local_day() {
        check("2026-01-31", DayEdge::Start, "2026-01-30T22:00:00.000Z");
        check("2026-01-31", DayEdge::End, "2026-01-31T21:59:59.999Z");
        let now = Timestamp::UNIX_EPOCH.to_zoned_datetime(TimeZone::UTC);
        assert_eq!(read("9999-12-31", &now, DayEdge::End), Ok(i64::MAX));
    }

    #[test]
    fn time_without_zone_is_local() {
        for edge in [DayEdge::Start, DayEdge::End] {
            check("2026-01-31T10:00", edge, "2026-01-31T08:00:00.000Z");
            check("2026-01-31 10:00:01.5", edge, "2026-01-31T08:00:01.500Z");
            check("2026-01-31T10:00Z", edge, "2026-01-31T10:00:00.000Z");
            check("2026-01-31T10:00:00.123Z", edge, "2026-01-31T10:00:00.123Z");
            check("2026-01-31T10:00-05:00", edge, "2026-01-31T15:00:00.000Z");
        }
    }

    #[test]
    fn age_counts_back_from_now() {
        check("2d", DayEdge::Start, "2026-02-01T21:30:00.250Z");
        check("1w", DayEdge::End, "2026-01-27T21:30:00.250Z");
        check("3h", DayEdge::Start, "2026-02-03T18:30:00.250Z");
        check("90m", DayEdge::Start, "2026-02-03T20:00:00.250Z");
        check("1d12h", DayEdge::Start, "2026-02-02T09:30:00.250Z");
        check("2 days ago", DayEdge::Start, "2026-02-01T21:30:00.250Z");
    }

    #[test]
    fn text_that_is_not_a_time_is_refused() {
        let now = Timestamp::UNIX_EPOCH.to_zoned_datetime(TimeZone::UTC);
        for text in ["", "yesterday", "2", "2026", "2026-13-01", "2026-02-30", "10:00", "2026-01-31T", "5 parsecs"] {
            assert!(read(text, &now, DayEdge::Start).unwrap_err().starts_with("neither"), "{text}");
        }
        assert!(read("2026-01-31T10:00[Europe/Berlin]", &now, DayEdge::Start).unwrap_err().starts_with("a zone"));
        assert!(read("20000y", &now, DayEdge::Start).is_err());
    }

    #[test]
    fn period_includes_both_ends() {
        let holds = |since, until, ms| Period { since, until }.holds(Stamp::Plain(ms));
        assert_eq!([1, 2, 3, 4].map(|ms| holds(Some(2), Some(3), ms)), [false, true, true, false].map(Some));
        assert_eq!([1, 2].map(|ms| holds(Some(2), None, ms)), [Some(false), Some(true)]);
        assert_eq!([2, 3].map(|ms| holds(None, Some(2), ms)), [Some(true), Some(false)]);
        let bound = Period { since: Some(2), until: None };
        assert_eq!([Stamp::Absent, Stamp::Unknown].map(|stamp| bound.holds(stamp)), [None, None]);
        assert!(bound.is_bound() && !Period::default().is_bound());
    }
}
