//! The values of cells as a reader of the sheet sees them.
use calamine::{DataRef, ExcelDateTime};

/// `None` for a cell without a value.
pub(crate) fn shown(value: &DataRef<'_>) -> Option<String> {
    let text = match value {
        DataRef::Empty => return None,
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.trim().to_owned()
        }
        DataRef::SharedString(text) => text.trim().to_owned(),
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => self::number(*number),
        DataRef::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        DataRef::DateTime(time) => self::time(time),
        DataRef::Error(error) => error.to_string(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// Fifteen digits, as spreadsheets keep them: 0.1 + 0.2 is 0.3.
pub(super) fn number(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// A day, a time of day, both, or a duration.
fn time(value: &ExcelDateTime) -> String {
    let seconds = (value.as_f64() * 86_400.0).round();
    if value.is_duration() {
        let (sign, seconds) = if seconds < 0.0 { ("-", -seconds) } else { ("", seconds) };
        let hours = (seconds / 3_600.0).floor();
        let rest = seconds - hours * 3_600.0;
        let minutes = (rest / 60.0).floor();
        return format!("{sign}{hours}:{minutes:02}:{:02}", rest - minutes * 60.0);
    }
    // Rounded to seconds first, so that noon is not 11:59:59.
    let kind = calamine::ExcelDateTimeType::DateTime;
    let value = ExcelDateTime::new(seconds / 86_400.0 + 1e-9, kind, false);
    let (year, month, day, hour, minute, second, _) = value.to_ymd_hms_milli();
    let clock = if second == 0 {
        format!("{hour:02}:{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    };
    let date = format!("{year:04}-{month:02}-{day:02}");
    match (seconds.abs() < 86_400.0, seconds % 86_400.0 == 0.0) {
        (true, _) => clock,
        (_, true) => date,
        _ => format!("{date} {clock}"),
    }
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType::{DateTime, TimeDelta};

    use super::*;

    #[test]
    fn numbers_have_no_noise() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(45_322.0), "45322");
        assert_eq!(number(-0.0), "0");
        assert_eq!(number(1.0 / 3.0), "0.333333333333333");
        assert_eq!(number(12_345_678_901.5), "12345678901.5");
    }

    #[test]
    fn days_and_times_are_written_out() {
        let of = |value: f64| time(&ExcelDateTime::new(value, DateTime, false));
        assert_eq!(of(44_957.0), "2023-01-31");
        assert_eq!(of(44_957.5), "2023-01-31 12:00");
        assert_eq!(of(44_957.0 + 1.0 / 3.0), "2023-01-31 08:00");
        assert_eq!(of(0.75), "18:00");
        assert_eq!(time(&ExcelDateTime::new(1.5, TimeDelta, false)), "36:00:00");
    }
}
