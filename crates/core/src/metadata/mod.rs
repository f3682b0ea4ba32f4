//! Fields that users give to documents (texts, numbers, truths, and lists of them), and conditions
//! on them.
mod filter;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::filter::{MetadataFilter, MetadataTest, ValueRange};

/// Fields of one document at most.
const MAX_FIELDS: usize = 64;
/// Characters of the name of a field, and of a text, at most.
const LONGEST_NAME: usize = 64;
const LONGEST_TEXT: usize = 1_000;
/// Values of a list at most.
const MAX_VALUES: usize = 100;

/// The value of a field. A text of the form `2023-01-31` (or `2023-01-31T10:00`) is a date.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(no_recursion))]
#[serde(untagged, expecting = "expected a text, a number, `true`, `false`, or a list of these")]
pub enum FieldValue {
    Truth(bool),
    Number(#[serde(serialize_with = "as_written")] f64),
    Text(String),
    /// Of texts, numbers and truths.
    List(Vec<FieldValue>),
}

/// Whole numbers without a fraction, as they are usually written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn as_written<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    /// Up to here every whole number is one of `f64`.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number within the bounds of i64"
        )]
        return serializer.serialize_i64(*number as i64);
    }
    serializer.serialize_f64(*number)
}

// Numbers come from JSON, which has no NaN, and `Metadata::check` refuses it.
impl Eq for FieldValue {}

impl FieldValue {
    /// A value as it is written on a command line: JSON where it is a truth, a number, a quoted text
    /// or a list, else the text itself.
    pub fn parse(text: &str) -> Self {
        match serde_json::from_str::<Self>(text) {
            Ok(value) => value,
            Err(_) => Self::Text(text.to_owned()),
        }
    }

    /// Whether this value, or one of a list, equals `other`.
    pub fn holds(&self, other: &Self) -> bool {
        match self {
            Self::List(values) => values.iter().any(|value| value == other),
            value => value == other,
        }
    }

    /// The order of two numbers or two dates; `None` for anything else. Dates are compared as far
    /// as both go: what is dated `2023` may be of May 2023.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.partial_cmp(b),
            (Self::Text(a), Self::Text(b)) if is_date(a) && is_date(b) => {
                let common = a.len().min(b.len());
                Some(a[..common].cmp(&b[..common]))
            }
            _ => None,
        }
    }

    /// Whether it is a number or a date, so that ranges have a meaning.
    fn is_ordered(&self) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Text(text) => is_date(text),
            Self::Truth(_) | Self::List(_) => false,
        }
    }

    fn check(&self, field: &str) -> Result<(), MetadataError> {
        let wrong = |reason| Err(MetadataError { field: field.to_owned(), reason });
        match self {
            Self::Truth(_) => Ok(()),
            Self::Number(number) if number.is_finite() => Ok(()),
            Self::Number(_) => wrong("it is not a finite number"),
            Self::Text(text) if text.chars().count() <= LONGEST_TEXT => Ok(()),
            Self::Text(_) => wrong("it is longer than 1,000 characters"),
            Self::List(values) if values.len() > MAX_VALUES => wrong("it has more than 100 values"),
            Self::List(values) => values.iter().try_for_each(|value| match value {
                Self::List(_) => wrong("a list holds another list"),
                value => value.check(field),
            }),
        }
    }
}

/// Whether a text is a date: a year, with month and day, and perhaps a time.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let dash = |at: usize| bytes.get(at) == Some(&b'-');
    text.is_ascii()
        && digits(0..4)
        && (bytes.len() == 4
            || dash(4)
                && digits(5..7)
                && (bytes.len() == 7
                    || dash(7)
                        && digits(8..10)
                        && (bytes.len() == 10 || matches!(bytes[10], b'T' | b' '))))
}

/// The fields of one document by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Metadata(pub BTreeMap<String, FieldValue>);

/// A field that cannot be as it is given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the field `{field}`: {reason}")]
pub struct MetadataError {
    pub field: String,
    pub reason: &'static str,
}

impl Metadata {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses names and values that are too long, too many, or of a form that no filter reads.
    pub fn check(&self) -> Result<(), MetadataError> {
        if self.0.len() > MAX_FIELDS {
            let (field, reason) = ("metadata".to_owned(), "there are more than 64 fields");
            return Err(MetadataError { field, reason });
        }
        self.0.iter().try_for_each(|(name, value)| {
            check_name(name)?;
            value.check(name)
        })
    }

    /// These fields, and those of `other` in their place where both have one.
    #[must_use]
    pub fn overlaid(mut self, other: &Self) -> Self {
        self.0.extend(other.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }
}

/// A field's name: letters, digits, `_`, `-` and `.`.
fn check_name(name: &str) -> Result<(), MetadataError> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.is_empty() && name.chars().all(plain) && name.chars().count() <= LONGEST_NAME {
        return Ok(());
    }
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    let reason = "a name has 1 to 64 letters, digits, `_`, `-` or `.`";
    Err(MetadataError { field: shown, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_typed_by_how_it_is_written() {
        use FieldValue::{List, Number, Text, Truth};
        for (written, expected) in [
            ("legal", Text("legal".into())),
            ("\"7\"", Text("7".into())),
            ("7", Number(7.0)),
            ("-1.5", Number(-1.5)),
            ("true", Truth(true)),
            ("True", Text("True".into())),
            ("[\"a\", 1]", List(vec![Text("a".into()), Number(1.0)])),
            ("2023-01-31", Text("2023-01-31".into())),
            ("{}", Text("{}".into())),
            ("", Text(String::new())),
        ] {
            assert_eq!(FieldValue::parse(written), expected, "{written}");
        }
    }

    #[test]
    fn dates_and_numbers_have_an_order_and_other_texts_have_none() {
        let order = |a: &str, b: &str| FieldValue::parse(a).order(&FieldValue::parse(b));
        assert_eq!(order("2023-05", "2023-06-01"), Some(Ordering::Less));
        assert_eq!(order("2023-05-01T10:00", "2023-05"), Some(Ordering::Equal));
        assert_eq!(order("9", "10"), Some(Ordering::Less));
        assert_eq!(order("\"9\"", "10"), None);
        assert_eq!(order("abc", "abd"), None);
        assert_eq!(order("2023-1-1", "2023-01-02"), None);
    }

    #[test]
    fn fields_are_bounded() {
        let one = |name: &str, value: FieldValue| Metadata(BTreeMap::from([(name.into(), value)]));
        assert!(one("team", FieldValue::parse("legal")).check().is_ok());
        assert!(one("größe", FieldValue::Number(1.0)).check().is_ok());
        for (name, value) in [
            ("", FieldValue::Truth(true)),
            ("a b", FieldValue::Truth(true)),
            (&*"a".repeat(65), FieldValue::Truth(true)),
            ("a", FieldValue::Number(f64::NAN)),
            ("a", FieldValue::Text("x".repeat(1_001))),
            ("a", FieldValue::List(vec![FieldValue::Truth(true); 101])),
            ("a", FieldValue::List(vec![FieldValue::List(vec![])])),
        ] {
            assert!(one(name, value).check().is_err(), "{name}");
        }
    }
}
