//! The time in a made-up session: starts at 2026-01-05 09:00 UTC and only moves forward.

use std::fmt::{self, Display};

const DAY: u64 = 86_400_000;

pub struct Clock {
    epoch: u64,
    of_day: u64,
    year: u64,
    month: u64,
    day: u64,
}

impl Clock {
    pub fn new() -> Self {
        // 20 458 days from the epoch to 2026-01-05.
        let of_day = 9 * 3_600_000;
        Self { epoch: 20_458 * DAY + of_day, of_day, year: 2026, month: 1, day: 5 }
    }

    /// Returns milliseconds since 1970.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    pub fn advance(&mut self, milliseconds: u64) {
        self.epoch += milliseconds;
        self.of_day += milliseconds;
        while self.of_day >= DAY {
            self.of_day -= DAY;
            self.next_day();
        }
    }

    fn next_day(&mut self) {
        self.day += 1;
        let leap = self.year.is_multiple_of(4);
        let length = match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        if self.day > length {
            self.day = 1;
            self.month += 1;
        }
        if self.month > 12 {
            self.month = 1;
            self.year += 1;
        }
    }
}

/// ISO 8601 with milliseconds, as the agents write it.
impl Display for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, of_day, .. } = self;
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let (second, milli) = (of_day / 1000 % 60, of_day % 1000);
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
    }
}
