//! Dates as metadata of files state them.
use super::calendar::month_number;

/// `2023-01-31`, `2023-01` or `2023` from the dates that files state: ISO 8601, the PDF form
/// `D:20230131120000Z`, or mail's `Tue, 31 Jan 2023 12:00:00 +0000`. `None` for anything else.
pub fn normalise_stamp(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.strip_prefix("D:").unwrap_or(text);
    let number = digits.bytes().take_while(u8::is_ascii_digit).count();
    if number >= 8 || (text.starts_with("D:") && number >= 4) {
        return compact(&digits[..number.min(8)]);
    }
    if number == 4 {
        return dashed(digits);
    }
    in_words(text)
}

/// `20230131`, `202301` or `2023`.
fn compact(digits: &str) -> Option<String> {
    let part =
        |range: std::ops::Range<usize>| digits.get(range).and_then(|d| d.parse::<u32>().ok());
    join(part(0..4)?, part(4..6), part(6..8))
}

/// `2023-01-31…`, `2023/01/31`, `2023-01` or `2023`.
fn dashed(text: &str) -> Option<String> {
    let year = text.get(..4)?.parse().ok()?;
    let rest = &text[4..];
    if rest.is_empty() {
        return join(year, None, None);
    }
    let mut parts = rest.strip_prefix(['-', '/', '.'])?.splitn(2, ['-', '/', '.']);
    let month = parts.next()?.parse().ok()?;
    let Some(day) = parts.next() else { return join(year, Some(month), None) };
    let end = day.bytes().take_while(u8::is_ascii_digit).count();
    join(year, Some(month), Some(day[..end].parse().ok()?))
}

/// A day, an English month and a year in any of the usual orders.
fn in_words(text: &str) -> Option<String> {
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text.split([' ', ',', '-', '/']).filter(|word| !word.is_empty()) {
        match (word.len(), word.parse::<u32>(), month_number(word)) {
            (4, Ok(number), _) if year.is_none() => year = Some(number),
            (1 | 2, Ok(number), _) if day.is_none() => day = Some(number),
            (_, Err(_), Some(number)) if month.is_none() => month = Some(number),
            _ => {}
        }
    }
    join(year?, Some(month?), day)
}

fn join(year: u32, month: Option<u32>, day: Option<u32>) -> Option<String> {
    // Earlier years come from clocks that were never set.
    if !(1_000..=2_200).contains(&year) {
        return None;
    }
    let month = month.filter(|month| (1..=12).contains(month));
    let day = day.filter(|day| (1..=31).contains(day));
    Some(match (month, day) {
        (Some(month), Some(day)) => format!("{year:04}-{month:02}-{day:02}"),
        (Some(month), None) => format!("{year:04}-{month:02}"),
        _ => format!("{year:04}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_take_one_form() {
        for (text, date) in [
            ("D:20230131120000+01'00'", "2023-01-31"),
            ("D:2023", "2023"),
            ("2023-01-31T12:00:00Z", "2023-01-31"),
            ("2023/1/5", "2023-01-05"),
            ("2023-01", "2023-01"),
            ("Tue, 31 Jan 2023 12:00:00 +0000", "2023-01-31"),
            ("20 June 1975", "1975-06-20"),
            ("June 2, 1975", "1975-06-02"),
        ] {
            assert_eq!(normalise_stamp(text).as_deref(), Some(date), "{text}");
        }
        for text in ["", "soon", "0000-00-00", "12", "D:"] {
            assert_eq!(normalise_stamp(text), None, "{text}");
        }
    }
}
