//! Which documents a filter admits, by what their records say.
use halma_core::{DateBound, Filter};

use crate::names::fits;
use crate::store::DocumentRecord;

/// Whether a filter admits a document, as far as its names do not matter.
pub(crate) fn admits_document(filter: &Filter, document: &DocumentRecord) -> bool {
    let formatted = |format: &String| document.format.eq_ignore_ascii_case(format);
    (filter.formats.is_empty() || filter.formats.iter().any(formatted))
        && is_within(filter, document.date.as_deref())
}

/// Whether a filter admits a document under its name at this place, with the fields that it has
/// under this name.
pub(crate) fn admits_name(filter: &Filter, document: &DocumentRecord, at: usize) -> bool {
    let named = |pattern: &String| fits(pattern, &document.names[at]);
    (filter.documents.is_empty() || filter.documents.iter().any(named))
        && (filter.metadata.is_empty() || filter.metadata.admits(&document.metadata_of(at)))
}

/// Dates are compared as far as both go: what is dated `2023` may be of May 2023.
fn is_within(filter: &Filter, date: Option<&str>) -> bool {
    let bounds = [&filter.since, &filter.until].map(|bound| bound.as_ref().map(DateBound::as_str));
    if bounds.iter().all(Option::is_none) {
        return true;
    }
    let is_date =
        |date: &&str| date.len() >= 4 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let date = date.map(|date| date.get(..10).unwrap_or(date)).filter(is_date);
    let Some(date) = date else { return false };
    let common = |bound: &str| {
        let length = bound.len().min(date.len());
        (date[..length].to_owned(), bound[..length].to_owned())
    };
    let since = bounds[0].is_none_or(|bound| {
        let (date, bound) = common(bound);
        date >= bound
    });
    let until = bounds[1].is_none_or(|bound| {
        let (date, bound) = common(bound);
        date <= bound
    });
    since && until
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_prefixes_and_what_is_no_date_fits_nothing() {
        let filter = |since: &str, until: &str| Filter {
            since: since.parse().ok(),
            until: until.parse().ok(),
            ..Filter::default()
        };
        for (since, until, date, expected) in [
            ("2023", "", Some("2023-05-01"), true),
            ("2023-05-02", "", Some("2023-05-01T10:00"), false),
            ("", "2023-05", Some("2023-05-31"), true),
            ("", "2023-04", Some("2023-05-31"), false),
            ("2023-05", "2023-06", Some("2023"), true),
            ("2023", "", None, false),
            ("2023", "", Some("yesterday"), false),
            ("", "", None, true),
        ] {
            assert_eq!(
                is_within(&filter(since, until), date),
                expected,
                "{since} {until} {date:?}"
            );
        }
    }
}
