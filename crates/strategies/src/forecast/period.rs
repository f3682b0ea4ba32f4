//! Days, months, quarters and years as numbers that can be counted.
use time::{Date, Month};

/// How long a period is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Granularity {
    Day,
    Month,
    Quarter,
    Year,
}

impl Granularity {
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Day, Self::Month, Self::Quarter, Self::Year].into_iter().find(|g| g.name() == name)
    }

    /// Periods after which a pattern may repeat; 1 for none.
    pub fn season(self) -> usize {
        match self {
            Self::Day => 7,
            Self::Month => 12,
            Self::Quarter => 4,
            Self::Year => 1,
        }
    }
}

/// A day, a month, a quarter or a year. Periods of one granularity are numbered in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Period {
    pub granularity: Granularity,
    index: i32,
}

impl Period {
    /// The period that a day lies in.
    pub fn containing(day: Date, granularity: Granularity) -> Self {
        let month = i32::from(u8::from(day.month())) - 1;
        let index = match granularity {
            Granularity::Day => day.to_julian_day(),
            Granularity::Month => day.year() * 12 + month,
            Granularity::Quarter => day.year() * 4 + month / 3,
            Granularity::Year => day.year(),
        };
        Self { granularity, index }
    }

    /// `2024`, `2024-Q2`, `2024-06` or `2024-06-15`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let year: i32 = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
        let (second, third) = (parts.next(), parts.next());
        if parts.next().is_some() {
            return None;
        }
        let Some(second) = second else { return date(year, 1, 1).map(|_| Self::year(year)) };
        if let Some(quarter) = second.strip_prefix(['Q', 'q']) {
            let quarter: i32 = quarter.parse().ok().filter(|n| (1..=4).contains(n))?;
            let index = year * 4 + quarter - 1;
            return third.is_none().then_some(Self { granularity: Granularity::Quarter, index });
        }
        let (granularity, day) = match third {
            Some(day) => (Granularity::Day, day.parse().ok()?),
            None => (Granularity::Month, 1),
        };
        Some(Self::containing(date(year, second.parse().ok()?, day)?, granularity))
    }

    fn year(year: i32) -> Self {
        Self { granularity: Granularity::Year, index: year }
    }

    /// As [`Period::parse`] reads it.
    pub fn label(self) -> String {
        let index = self.index;
        match self.granularity {
            Granularity::Day => self.first_day().to_string(),
            Granularity::Month => {
                format!("{:04}-{:02}", index.div_euclid(12), index.rem_euclid(12) + 1)
            }
            Granularity::Quarter => {
                format!("{:04}-Q{}", index.div_euclid(4), index.rem_euclid(4) + 1)
            }
            Granularity::Year => format!("{index:04}"),
        }
    }

    pub fn first_day(self) -> Date {
        let index = self.index;
        let day = match self.granularity {
            Granularity::Day => Date::from_julian_day(index).ok(),
            Granularity::Month => date(index.div_euclid(12), index.rem_euclid(12) + 1, 1),
            Granularity::Quarter => date(index.div_euclid(4), index.rem_euclid(4) * 3 + 1, 1),
            Granularity::Year => date(index, 1, 1),
        };
        day.unwrap_or(if index < 0 { Date::MIN } else { Date::MAX })
    }

    pub fn last_day(self) -> Date {
        self.plus(1).first_day().previous_day().unwrap_or(Date::MAX)
    }

    /// The period this many after it.
    #[must_use]
    pub fn plus(self, periods: i32) -> Self {
        Self { index: self.index.saturating_add(periods), ..self }
    }

    /// How many periods after `earlier` it is; both have one granularity.
    pub fn since(self, earlier: Self) -> i32 {
        self.index.saturating_sub(earlier.index)
    }
}

fn date(year: i32, month: i32, day: u8) -> Option<Date> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    Date::from_calendar_date(year, month, day).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_back() {
        for label in ["2024", "2024-Q3", "2024-02", "2024-02-29", "0987"] {
            assert_eq!(Period::parse(label).map(Period::label).as_deref(), Some(label));
        }
        for wrong in ["20223", "2023-13", "2023-Q5", "2023-02-30", "24", "", "2024-1-1-1", "soon"] {
            assert_eq!(Period::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn periods_follow_each_other() {
        let quarter = Period::parse("2023-Q4").unwrap();
        assert_eq!(quarter.plus(1).label(), "2024-Q1");
        assert_eq!(quarter.last_day().to_string(), "2023-12-31");
        assert_eq!(quarter.first_day().to_string(), "2023-10-01");
        let (from, to) = (Period::parse("2023-11").unwrap(), Period::parse("2024-02").unwrap());
        assert_eq!(to.since(from), 3);
        assert_eq!(Period::containing(to.last_day(), Granularity::Month), to);
        assert_eq!(to.last_day().to_string(), "2024-02-29");
    }
}
