//! Units of measure, and the conversion between them.

/// The head of the file describes its format.
const UNITS: &str = include_str!("../data/units.txt");

/// What a unit measures, and its size in the first unit of that measure.
pub(crate) fn unit(name: &str) -> Option<(&'static str, f64)> {
    let name = name.trim().trim_end_matches('.');
    find(name).or_else(|| find(&name.to_lowercase()))
}

fn find(name: &str) -> Option<(&'static str, f64)> {
    let mut measure = "";
    for line in UNITS.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let first = words.next()?;
        match first.parse::<f64>() {
            Err(_) => measure = first,
            Ok(factor) if words.any(|word| word == name) => return Some((measure, factor)),
            Ok(_) => {}
        }
    }
    None
}

/// A number of one unit in another; unchanged where either is not given, `None` where they cannot
/// be compared.
pub(crate) fn converted(number: f64, from: &str, to: &str) -> Option<f64> {
    if from.is_empty() || to.is_empty() || from == to {
        return Some(number);
    }
    match (unit(from), unit(to)) {
        (Some((a, factor)), Some((b, other))) if a == b => Some(number * factor / other),
        (Some(_), Some(_)) => None,
        // Currencies and counts are compared by name.
        _ => {
            let plain = |name: &str| name.trim_end_matches('s').to_lowercase();
            (plain(from) == plain(to)).then_some(number)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_measure_are_turned_into_each_other() {
        let to =
            |number, from, to| converted(number, from, to).map(|n: f64| (n * 1e6).round() / 1e6);
        assert_eq!(to(700.0, "kilometres", "km"), Some(700.0));
        assert_eq!(to(1.0, "mile", "m"), Some(1609.344));
        assert_eq!(to(2.0, "KiloGM", "g"), Some(2000.0));
        assert_eq!(to(36.0, "hours", "days"), Some(1.5));
        assert_eq!(to(5.0, "", "km"), Some(5.0));
        assert_eq!(to(5.0, "employees", "employee"), Some(5.0));
        assert_eq!(to(5.0, "km", "kg"), None);
        assert_eq!(to(5.0, "km", "dollars"), None);
    }

    #[test]
    fn no_unit_has_two_meanings() {
        let mut seen = std::collections::BTreeSet::new();
        for line in UNITS.lines().filter(|line| !line.starts_with('#')) {
            for name in line
                .split(' ')
                .filter(|word| word.parse::<f64>().is_err())
                .skip(usize::from(!line.contains(' ')))
            {
                assert!(seen.insert(name), "`{name}` is there twice");
            }
        }
    }
}
