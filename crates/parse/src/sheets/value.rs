//! The values of cells as a reader of the sheet sees them.
use calamine::{DataType, ExcelDateTime};

/// `None` for a cell without a value.
pub(crate) fn shown(value: &impl DataType) -> Option<String> {
    let truth = |value: bool| if value { "TRUE" } else { "FALSE" }.to_owned();
    // The result of a formula has its line ends escaped.
    let text = |text: &str| text.replace("_x000D_", "").trim().to_owned();
    let text = (value.get_string().map(text))
        .or_else(|| value.get_float().map(number))
        .or_else(|| value.get_int().map(|number| number.to_string()))
        .or_else(|| value.get_datetime().map(|value| time(&value)))
        .or_else(|| value.get_bool().map(truth))
        .or_else(|| value.get_datetime_iso().or(value.get_duration_iso()).map(iso))
        .or_else(|| value.get_error().map(ToString::to_string))?;
    Some(text).filter(|text| !text.is_empty())
}

/// Fifteen digits, as spreadsheets keep them: 0.1 + 0.2 is 0.3.
pub(super) fn number(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    if rounded == 0.0 { "0".to_owned() } else { rounded.to_string() }
}

/// A day, both, or a duration of ISO 8601, as dates and durations of other sheets are shown.
pub(super) fn iso(text: &str) -> String {
    let text = text.trim();
    let day = text.strip_suffix("T00:00:00").unwrap_or(text).replacen('T', " ", 1);
    let clock = text.strip_prefix("PT").and_then(|time| {
        let (hours, rest) = time.split_once('H')?;
        let (minutes, seconds) = rest.strip_suffix('S')?.split_once('M')?;
        Some(format!("{hours}:{minutes}:{seconds}"))
    });
    clock.unwrap_or(day)
}

/// The day after the last one that has a date, from 1900 on.
const NO_DATE: f64 = 2_958_466.0;

/// A day, a time of day, both, or a duration.
fn time(value: &ExcelDateTime) -> String {
    let days = value.as_f64();
    if days >= NO_DATE {
        return number(days);
    }
    let seconds = (days * 86_400.0).round();
    if value.is_duration() || seconds < 0.0 {
        let (sign, seconds) = if seconds < 0.0 { ("-", -seconds) } else { ("", seconds) };
        let hours = (seconds / 3_600.0).floor();
        let rest = seconds - hours * 3_600.0;
        let minutes = (rest / 60.0).floor();
        return format!("{sign}{hours}:{minutes:02}:{:02}", rest - minutes * 60.0);
    }
    // Rounded to seconds first, so that noon is not 11:59:59.
    let kind = calamine::ExcelDateTimeType::DateTime;
    let from_1904 = *value == ExcelDateTime::new(days, kind, true);
    let value = ExcelDateTime::new(seconds / 86_400.0 + 1e-9, kind, from_1904);
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
