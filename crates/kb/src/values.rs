//! What the values of a column are: numbers with their separators and units, dates, yes and no.
use halma_core::text::dates::{DateOrder, Period, parse_day};

use halma_core::ColumnKind;

/// How the cells of a column are read, so that all of them fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ColumnReading {
    pub(crate) kind: ColumnKind,
    /// What follows or precedes each number: `%`, `USD`, `mg`.
    pub(crate) unit: Option<String>,
    marks: Marks,
    order: DateOrder,
}

/// Which marks stand between the digits of a column's numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Marks {
    /// `1,234.5`
    #[default]
    Point,
    /// `1.234,5`
    Comma,
}

/// A cell as its column reads it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    Nothing,
    Integer(i64),
    Number(f64),
    Truth(bool),
    /// As `2023-01-31`.
    Date(String),
    Text(&'a str),
}

/// What all values of a column are, empty ones aside.
pub(crate) fn kind_of<'a>(cells: &(impl Iterator<Item = &'a str> + Clone)) -> ColumnKind {
    ColumnReading::of(cells).kind
}

impl ColumnReading {
    /// The reading that fits every cell; text where none does.
    pub(crate) fn of<'a>(cells: &(impl Iterator<Item = &'a str> + Clone)) -> Self {
        let values = || cells.clone().map(str::trim).filter(|cell| !is_nothing(cell));
        if values().next().is_none() {
            return Self::default();
        }
        let unit = unit_of(values()).map(str::to_owned);
        let mut orders = [Marks::Point, Marks::Comma];
        if are_thousands(values()) {
            orders.reverse();
        }
        for marks in orders {
            for kind in [ColumnKind::Integer, ColumnKind::Number] {
                let reading = Self { kind, unit: unit.clone(), marks, ..Self::default() };
                if values().all(|cell| reading.number(cell).is_some()) {
                    return reading;
                }
            }
        }
        if values().all(|cell| truth(cell).is_some()) {
            return Self { kind: ColumnKind::Boolean, ..Self::default() };
        }
        let Some(order) = order_of(values()) else { return Self::default() };
        Self { kind: ColumnKind::Date, order, ..Self::default() }
    }

    /// A cell as its column reads it; what does not fit is text.
    pub(crate) fn read<'a>(&self, cell: &'a str) -> Value<'a> {
        let cell = cell.trim();
        if cell.is_empty() {
            return Value::Nothing;
        }
        if self.kind == ColumnKind::Text {
            return Value::Text(cell);
        }
        if is_nothing(cell) {
            return Value::Nothing;
        }
        let read = match self.kind {
            ColumnKind::Integer | ColumnKind::Number => self.number(cell),
            ColumnKind::Boolean => truth(cell).map(Value::Truth),
            ColumnKind::Date => parse_day(cell, self.order).map(Value::Date),
            ColumnKind::Text => None,
        };
        read.unwrap_or(Value::Text(cell))
    }

    fn number<'a>(&self, cell: &str) -> Option<Value<'a>> {
        let (digits, unit) = amount(cell)?;
        // Nought needs no unit.
        let fits = unit == self.unit.as_deref() || (unit.is_none() && digits == "0");
        let plain = fits.then(|| self.marks.plain(digits))??;
        if self.kind == ColumnKind::Integer {
            return plain.parse().ok().map(Value::Integer);
        }
        // More digits than a number holds: a name.
        if plain.bytes().filter(u8::is_ascii_digit).count() > 17 {
            return None;
        }
        // A whole number that a decimal would round is a name, too.
        if plain.parse().is_ok_and(|whole: i64| whole.unsigned_abs() > 1 << 53) {
            return None;
        }
        let number: f64 = plain.parse().ok()?;
        number.is_finite().then_some(Value::Number(number))
    }
}

/// The unit of a column's numbers: that of the first one that has any.
pub(super) fn unit_of<'a>(mut cells: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    cells.find_map(|cell| amount(cell.trim())?.1)
}

/// Whether points group the thousands of a column's numbers (`12.500` and `980`): three digits follow
/// each, and what has none is too small for one. With decimals, whole numbers would have three too.
fn are_thousands<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let (mut grouped, mut small) = (false, false);
    for digits in cells.filter_map(|cell| Some(amount(cell)?.0)) {
        let digits = digits.trim_start_matches(['-', '−', '+', '(']).trim_end_matches(')');
        match digits.split_once('.') {
            Some((whole, rest))
                if (1..=3).contains(&whole.len())
                    && !whole.starts_with('0')
                    && rest.len() == 3
                    && rest.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                grouped = true;
            }
            None if digits.len() <= 3 => small |= digits != "0",
            _ => return false,
        }
    }
    grouped && small
}

/// What comes first in a column of dates; `None` where they are none, and where nothing decides.
fn order_of<'a>(cells: impl Iterator<Item = &'a str>) -> Option<DateOrder> {
    let (mut day_first, mut month_first, mut clear) = (true, true, true);
    for cell in cells {
        let by_day = parse_day(cell, DateOrder::DayFirst);
        let by_month = parse_day(cell, DateOrder::MonthFirst);
        day_first &= by_day.is_some();
        month_first &= by_month.is_some();
        clear &= by_day == by_month;
        if !day_first && !month_first {
            return None;
        }
    }
    match (day_first, month_first) {
        (true, true) if !clear => None,
        (false, _) => Some(DateOrder::MonthFirst),
        (true, _) => Some(DateOrder::DayFirst),
    }
}

/// Whether a cell says that there is no value.
fn is_nothing(cell: &str) -> bool {
    const WORDS: [&str; 9] = ["n/a", "na", "n.a.", "n. a.", "#n/a", "nan", "null", "nil", "none"];
    cell.chars().all(|c| matches!(c, '-' | '–' | '—' | '−' | '.' | '…' | '?'))
        || WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

fn truth(cell: &str) -> Option<bool> {
    match cell.to_lowercase().as_str() {
        "yes" | "true" | "y" | "✓" | "✔" => Some(true),
        "no" | "false" | "n" | "✗" | "✘" => Some(false),
        _ => None,
    }
}

/// Units that stand next to a number without a space.
const SIGNS: &[&str] = &["%", "‰", "$", "€", "£", "¥", "₹", "°C", "°F", "°", "US$"];

/// The digits of an amount, with their marks and sign, and its unit.
fn amount(cell: &str) -> Option<(&str, Option<&str>)> {
    let digit = |c: char| c.is_ascii_digit();
    let begin = cell.find(digit)?;
    let end = cell.rfind(digit)? + 1;
    // The sign belongs to the digits, and so do brackets around them.
    let begin = cell[..begin]
        .rfind(|c| !matches!(c, '-' | '−' | '+' | '(' | '.'))
        .map_or(0, |at| at + cell[at..].chars().next().map_or(0, char::len_utf8));
    let end = end + usize::from(cell[end..].starts_with(')'));
    let (before, after) = (&cell[..begin], &cell[end..]);
    let unit = match (before.trim(), after.trim()) {
        ("", "") => None,
        (unit, "") if SIGNS.contains(&unit) || (before.ends_with(' ') && is_code(unit)) => {
            Some(unit)
        }
        ("", unit) if SIGNS.contains(&unit) || (after.starts_with(' ') && is_unit(unit)) => {
            Some(unit)
        }
        // `-$5` and `($5)` are rare enough to be text.
        _ => return None,
    };
    Some((&cell[begin..end], unit))
}

/// `USD`: a currency may stand before its amount.
fn is_code(unit: &str) -> bool {
    unit.len() == 3 && unit.bytes().all(|byte| byte.is_ascii_uppercase())
}

fn is_unit(unit: &str) -> bool {
    unit.chars().count() <= 10
        && unit.chars().all(|c| c.is_alphabetic() || matches!(c, '/' | '²' | '³' | 'µ' | '°'))
}

impl Marks {
    /// Digits as the machine writes them; `None` where the marks stand wrong, and for numbers
    /// that are names (`007`).
    fn plain(self, digits: &str) -> Option<String> {
        let (negative, digits) = match digits.strip_prefix('(').and_then(|d| d.strip_suffix(')')) {
            Some(inside) => (true, inside),
            None => match digits.strip_prefix(['-', '−']) {
                Some(rest) => (true, rest),
                // A telephone number.
                None if digits.starts_with('+')
                    && digits.len() > 8
                    && !digits.contains(['.', ',']) =>
                {
                    return None;
                }
                None => (false, digits.strip_prefix('+').unwrap_or(digits)),
            },
        };
        let (point, group) = match self {
            Self::Point => ('.', ','),
            Self::Comma => (',', '.'),
        };
        let (digits, exponent) = match digits.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, Some(exponent)),
            None => (digits, None),
        };
        let (whole, rest) = match digits.split_once(point) {
            Some((whole, rest)) => (whole, Some(rest)),
            None => (digits, None),
        };
        let group = |c: char| c == group || matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '’');
        let groups: Vec<&str> = whole.split(group).collect();
        let grouped = groups.len() > 1
            && (1..=3).contains(&groups[0].len())
            && groups[1..].iter().all(|group| group.len() == 3);
        let mut plain = groups.concat();
        let leading = plain.len() > 1 && plain.starts_with('0');
        if (groups.len() > 1 && !grouped) || leading {
            return None;
        }
        if plain.is_empty() {
            plain.push('0');
        }
        if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
            plain.push('.');
            plain.push_str(rest);
        }
        if let Some(exponent) = exponent {
            plain.push('e');
            plain.push_str(exponent);
        }
        let number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-' | '+');
        let fits = plain.chars().all(number) && plain.parse::<f64>().is_ok();
        fits.then(|| if negative { format!("-{plain}") } else { plain })
    }
}

/// A day, a month or a year of our era in ISO order; `None` for longer or earlier periods.
pub(crate) fn iso(period: Period) -> Option<String> {
    let ((year, month, day), last) = (period.first, period.last);
    match (period.first == last, year == last.0, month == last.1) {
        _ if year <= 0 => None,
        (true, ..) => Some(format!("{year:04}-{month:02}-{day:02}")),
        (_, true, true) => Some(format!("{year:04}-{month:02}")),
        (_, true, false) => Some(format!("{year:04}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[&str]) -> ColumnReading {
        ColumnReading::of(&cells.iter().copied())
    }

    fn kind(cells: &[&str]) -> ColumnKind {
        of(cells).kind
    }

    fn numbers(cells: &[&str]) -> Vec<f64> {
        let reading = of(cells);
        let number = |cell: &&str| match reading.read(cell) {
            Value::Integer(number) => f64::from(i32::try_from(number).unwrap()),
            Value::Number(number) => number,
            other => panic!("{cell}: {other:?}"),
        };
        cells.iter().map(number).collect()
    }

    #[test]
    fn numbers_are_read_with_their_marks() {
        assert_eq!(numbers(&["1,234", "-7", "+8", "(12)", "−3"]), [1234.0, -7.0, 8.0, -12.0, -3.0]);
        assert_eq!(numbers(&["1,234.5", ".5", "2e3"]), [1234.5, 0.5, 2000.0]);
        assert_eq!(numbers(&["1.234,5", "7"]), [1234.5, 7.0]);
        assert_eq!(numbers(&["1,5", "1.234"]), [1.5, 1234.0]);
        assert_eq!(numbers(&["12 345", "1'000", "1\u{202f}000"]), [12345.0, 1000.0, 1000.0]);
        assert_eq!(kind(&["1", "2"]), ColumnKind::Integer);
        assert_eq!(kind(&["1", "2.5"]), ColumnKind::Number);
    }

    #[test]
    fn points_before_three_digits_are_thousands_next_to_small_whole_numbers() {
        assert_eq!(numbers(&["12.500", "1.250", "980"]), [12500.0, 1250.0, 980.0]);
        assert_eq!(numbers(&["1.250 €", "980 €"]), [1250.0, 980.0]);
        assert_eq!(numbers(&["-2.000", "7"]), [-2000.0, 7.0]);
        assert_eq!(numbers(&["12.500", "1.250"]), [12.5, 1.25], "nothing shows that they are");
        assert_eq!(numbers(&["0.125", "12.500", "3"]), [0.125, 12.5, 3.0]);
        assert_eq!(numbers(&["12.500", "1250"]), [12.5, 1250.0]);
        assert_eq!(numbers(&["12.500", "1.25", "980"]), [12.5, 1.25, 980.0]);
        assert_eq!(numbers(&["12,5", "980"]), [12.5, 980.0]);
    }

    #[test]
    fn whole_numbers_that_decimals_would_round_stay_as_they_are() {
        for cells in [
            &["9007199254740993", "0.5"][..],
            &["-9007199254740995", "2,5"],
            &["1.5", "12345678901234567"],
        ] {
            let reading = of(cells);
            assert_eq!(reading.read(cells[0]), Value::Text(cells[0]), "{cells:?}");
        }
        assert_eq!(kind(&["9007199254740993", "5"]), ColumnKind::Integer);
        assert_eq!(kind(&["9007199254740992", "0.5"]), ColumnKind::Number);
    }

    #[test]
    fn telephone_numbers_and_postcodes_are_text() {
        for cells in [&["+4930123456", "+4940123"][..], &["+49 301 234 567"], &["01067", "10115"]] {
            assert_eq!(kind(cells), ColumnKind::Text, "{cells:?}");
        }
        assert_eq!(kind(&["+1,234,567", "-8"]), ColumnKind::Integer);
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
        for cells in [
            &["007", "12"][..],
            &["1", "two"],
            &["1,23", "1.2.3"],
            &["12,34,56"],
            &["1-2"],
            &["5 kg", "5 lb"],
            &["3D"],
            &["99999999999999999999x"],
            &["12:30"],
            &["e5"],
        ] {
            assert_eq!(kind(cells), ColumnKind::Text, "{cells:?}");
        }
    }

    #[test]
    fn units_and_currencies_stay_in_a_note() {
        for (cells, unit) in [
            (&["5 %", "7.5%"][..], "%"),
            (&["$5", "$1,200.50"], "$"),
            (&["USD 5", "USD 7"], "USD"),
            (&["5 mg", "0", "n/a", "7 mg"], "mg"),
            (&["5 €", "7 €"], "€"),
        ] {
            let reading = of(cells);
            assert_ne!(reading.kind, ColumnKind::Text, "{cells:?}");
            assert_eq!(reading.unit.as_deref(), Some(unit));
        }
        assert_eq!(numbers(&["$5", "$1,200.50"]), [5.0, 1200.5]);
    }

    #[test]
    fn empty_values_are_nothing_and_a_column_of_them_is_text() {
        let reading = of(&["1", "", "n/a", "–", "-", "NA", "…"]);
        assert_eq!(reading.kind, ColumnKind::Integer);
        for cell in ["", " ", "n/a", "–", "NA"] {
            assert_eq!(reading.read(cell), Value::Nothing);
        }
        assert_eq!(of(&["", "-"]), ColumnReading::default());
        assert_eq!(of(&["NA", "Zambia"]).read("NA"), Value::Text("NA"), "Namibia");
    }

    #[test]
    fn dates_and_truths_are_read() {
        let reading = of(&["31.01.2023", "2023-02-01", "1 March 2023", "March 2, 2023"]);
        assert_eq!(reading.kind, ColumnKind::Date);
        assert_eq!(reading.read("31.01.2023"), Value::Date("2023-01-31".into()));
        assert_eq!(reading.read("March 2, 2023"), Value::Date("2023-03-02".into()));
        assert_eq!(
            of(&["01/31/2023", "02/03/2023"]).read("02/03/2023"),
            Value::Date("2023-02-03".into())
        );
        assert_eq!(
            of(&["31/01/2023", "02/03/2023"]).read("02/03/2023"),
            Value::Date("2023-03-02".into())
        );
        assert_eq!(kind(&["01/02/2023", "03/04/2023"]), ColumnKind::Text, "ambiguous");
        assert_eq!(kind(&["2023-02-30"]), ColumnKind::Text);
        assert_eq!(kind(&["2023", "2024"]), ColumnKind::Integer);
        assert_eq!(of(&["Yes", "no", ""]).read("Yes"), Value::Truth(true));
    }
}
