//! The days, months and years that filters take.
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::dates::days_in_month;

/// A year, a month or a day: `2023`, `2023-01` or `2023-01-31`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DateBound(String);

/// A text that is not a [`DateBound`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{shown}` is not a date; write 2023, 2023-01 or 2023-01-31")]
pub struct NotADate {
    /// The beginning of the text.
    shown: String,
}

impl DateBound {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DateBound {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        if is_date(text) {
            return Ok(Self(text.to_owned()));
        }
        Err(NotADate { shown: text.chars().take(40).collect() })
    }
}

impl TryFrom<String> for DateBound {
    type Error = NotADate;

    fn try_from(text: String) -> Result<Self, NotADate> {
        text.parse()
    }
}

impl From<DateBound> for String {
    fn from(date: DateBound) -> Self {
        date.0
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |at: usize, digits: usize| -> Option<u32> {
        let part = parts[at];
        let plain = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| plain)
    };
    let Some(year) = number(0, 4).filter(|_| parts.len() <= 3) else { return false };
    let month = (parts.len() > 1).then(|| number(1, 2).filter(|month| (1..=12).contains(month)));
    let day = (parts.len() > 2).then(|| number(2, 2));
    match (month, day) {
        (None, _) => true,
        (Some(month), None) => month.is_some(),
        (Some(month), Some(day)) => month
            .zip(day)
            .is_some_and(|(month, day)| (1..=days_in_month(year, month)).contains(&day)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_years_months_and_days_of_the_calendar() {
        for date in ["2023", "0999", "2023-01", "2023-12", "2023-01-31", "2024-02-29"] {
            assert_eq!(date.parse::<DateBound>().unwrap().as_str(), date);
        }
        for wrong in [
            "",
            "23",
            "20231",
            "2023-",
            "2023-1",
            "2023-13",
            "2023-00",
            "2023-02-29",
            "2023-01-00",
            "2023-01-31-1",
            "2023-01-31T10:00",
            "31.01.2023",
            "yesterday",
            "+023",
            "２０２３",
        ] {
            let error = wrong.parse::<DateBound>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{wrong}`")) && error.contains("2023-01-31"));
        }
        let long = "2".repeat(10_000).parse::<DateBound>().unwrap_err();
        assert!(long.to_string().len() < 200);
        let read = serde_json::from_str::<DateBound>;
        assert_eq!(read("\"2023\"").unwrap(), "2023".parse().unwrap());
        assert!(read("\"2023-13\"").unwrap_err().to_string().contains("2023-13"));
    }
}
