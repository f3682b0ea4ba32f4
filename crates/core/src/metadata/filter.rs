//! Conditions on the fields of documents.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FieldValue, Metadata, MetadataError, check_name};

/// Conditions on fields, all of which must be met. A document without a field meets no condition on
/// it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct MetadataFilter(pub BTreeMap<String, MetadataTest>);

/// A condition on one field: a value that it must equal, a list of which it must equal one, or a
/// range. A field with several values meets it when one of them does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(
    untagged,
    expecting = "expected a value, a list of values, or a range of `gte`, `gt`, `lte` and `lt`"
)]
pub enum MetadataTest {
    /// A value, or a list of alternatives.
    Equals(FieldValue),
    Range(ValueRange),
}

/// A range of numbers or dates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ValueRange {
    /// At least this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gte: Option<FieldValue>,
    /// More, or later, than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gt: Option<FieldValue>,
    /// At most this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lte: Option<FieldValue>,
    /// Less, or earlier, than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lt: Option<FieldValue>,
}

impl MetadataFilter {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether these fields meet every condition.
    pub fn admits(&self, metadata: &Metadata) -> bool {
        let meets = |(name, test): (&String, &MetadataTest)| {
            metadata.0.get(name).is_some_and(|value| test.admits(value))
        };
        self.0.iter().all(meets)
    }

    /// Refuses names and values that no field can have, and ranges of what has no order.
    pub fn check(&self) -> Result<(), MetadataError> {
        if self.0.len() > 32 {
            let (field, reason) = ("metadata".to_owned(), "there are more than 32 conditions");
            return Err(MetadataError { field, reason });
        }
        self.0.iter().try_for_each(|(name, test)| {
            check_name(name)?;
            test.check(name)
        })
    }

    /// Adds a condition as it is written on a command line: `team=legal`, `team=legal,finance` (one
    /// of them), `year>=2020`, `date<2024-01`. Further conditions on one field extend its range.
    pub fn add(&mut self, written: &str) -> Result<(), MetadataError> {
        let wrong = |reason| MetadataError { field: written.to_owned(), reason };
        let at = written.find(['=', '<', '>']);
        let at = at.ok_or_else(|| wrong("write it as FIELD=VALUE, FIELD>=VALUE or FIELD<VALUE"))?;
        let (name, rest) = (written[..at].trim().to_owned(), &written[at..]);
        check_name(&name)?;
        let (sign, value) = match rest.strip_prefix("<=").or_else(|| rest.strip_prefix(">=")) {
            Some(value) => (&rest[..2], value.trim()),
            None => (&rest[..1], rest[1..].trim()),
        };
        if sign == "=" {
            let test = MetadataTest::Equals(alternatives(value));
            test.check(&name)?;
            return match self.0.insert(name, test) {
                None => Ok(()),
                Some(_) => Err(wrong("there are two conditions on one field")),
            };
        }
        let test = self.0.entry(name.clone()).or_insert(MetadataTest::Range(ValueRange::default()));
        let MetadataTest::Range(range) = test else {
            return Err(wrong("there are two conditions on one field"));
        };
        let bound = match sign {
            ">=" => &mut range.gte,
            ">" => &mut range.gt,
            "<=" => &mut range.lte,
            _ => &mut range.lt,
        };
        *bound = Some(FieldValue::parse(value));
        test.check(&name)
    }

    /// The fields that a document must have to meet conditions of one value.
    pub fn required(&self) -> Metadata {
        let required = |(name, test): (&String, &MetadataTest)| match test {
            MetadataTest::Equals(FieldValue::List(_)) | MetadataTest::Range(_) => None,
            MetadataTest::Equals(value) => Some((name.clone(), value.clone())),
        };
        Metadata(self.0.iter().filter_map(required).collect())
    }
}

/// A value, or several with commas between them.
fn alternatives(written: &str) -> FieldValue {
    match FieldValue::parse(written) {
        FieldValue::Text(text) if !written.starts_with('"') && text.contains(',') => {
            FieldValue::List(text.split(',').map(|one| FieldValue::parse(one.trim())).collect())
        }
        value => value,
    }
}

impl MetadataTest {
    fn admits(&self, value: &FieldValue) -> bool {
        match self {
            Self::Equals(FieldValue::List(any)) => any.iter().any(|one| value.holds(one)),
            Self::Equals(one) => value.holds(one),
            Self::Range(range) => match value {
                FieldValue::List(values) => values.iter().any(|value| range.contains(value)),
                value => range.contains(value),
            },
        }
    }

    fn check(&self, field: &str) -> Result<(), MetadataError> {
        let range = match self {
            Self::Equals(value) => return value.check(field),
            Self::Range(range) => range,
        };
        let wrong = |reason| Err(MetadataError { field: field.to_owned(), reason });
        let bounds = || range.bounds().into_iter().flatten();
        if bounds().next().is_none() {
            return wrong("a range needs `gte`, `gt`, `lte` or `lt`");
        }
        if !bounds().all(FieldValue::is_ordered) {
            return wrong("a range is one of numbers or of dates such as 2023-01-31");
        }
        bounds().try_for_each(|bound| bound.check(field))
    }
}

impl ValueRange {
    fn bounds(&self) -> [Option<&FieldValue>; 4] {
        [self.gte.as_ref(), self.gt.as_ref(), self.lte.as_ref(), self.lt.as_ref()]
    }

    fn contains(&self, value: &FieldValue) -> bool {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let meets = |bound: &Option<FieldValue>, allowed: &[std::cmp::Ordering]| {
            let order = |bound| value.order(bound).is_some_and(|order| allowed.contains(&order));
            bound.as_ref().is_none_or(order)
        };
        meets(&self.gte, &[Greater, Equal])
            && meets(&self.gt, &[Greater])
            && meets(&self.lte, &[Less, Equal])
            && meets(&self.lt, &[Less])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(json: &str) -> Metadata {
        serde_json::from_str(json).unwrap()
    }

    fn filter(json: &str) -> MetadataFilter {
        serde_json::from_str(json).unwrap()
    }

    proptest! {
        #[test]
        fn any_condition_is_refused_or_survives_its_json(
            written in prop::collection::vec("[a-c]{0,2}(=|<=|>=|<|>|)[-0-9a-z,.\"\u{e4}]{0,8}", 0..5),
            value in "[-0-9a-z.,\u{e4}]{0,8}",
        ) {
            let mut filter = MetadataFilter::default();
            for condition in &written {
                if filter.add(condition).is_err() {
                    return Ok(());
                }
            }
            prop_assert!(filter.check().is_ok(), "{:?}", filter);
            let json = serde_json::to_string(&filter).unwrap();
            let again: MetadataFilter = serde_json::from_str(&json).unwrap();
            let fields = Metadata(
                ["a", "b", "c"].map(|name| (name.to_owned(), FieldValue::parse(&value))).into(),
            );
            prop_assert_eq!(filter.admits(&fields), again.admits(&fields), "{}", json);
        }
    }

    #[test]
    fn every_condition_must_be_met_and_a_missing_field_meets_none() {
        let document = fields(
            r#"{"team": "legal", "year": 2021, "signed": "2023-05-02", "tags": ["a", "b"],
                "final": true}"#,
        );
        for (json, expected) in [
            ("{}", true),
            (r#"{"team": "legal"}"#, true),
            (r#"{"team": "Legal"}"#, false),
            (r#"{"team": ["finance", "legal"]}"#, true),
            (r#"{"team": []}"#, false),
            (r#"{"tags": "b"}"#, true),
            (r#"{"tags": ["c", "b"]}"#, true),
            (r#"{"final": true, "year": 2021}"#, true),
            (r#"{"final": false}"#, false),
            (r#"{"year": "2021"}"#, false),
            (r#"{"year": {"gte": 2021, "lt": 2022}}"#, true),
            (r#"{"year": {"gt": 2021}}"#, false),
            (r#"{"signed": {"gte": "2023-05", "lte": "2023"}}"#, true),
            (r#"{"signed": {"lt": "2023-05-02"}}"#, false),
            (r#"{"signed": {"gte": 2023}}"#, false),
            (r#"{"other": "legal"}"#, false),
            (r#"{"team": "legal", "other": 1}"#, false),
        ] {
            assert_eq!(filter(json).admits(&document), expected, "{json}");
        }
    }

    #[test]
    fn conditions_are_read_as_they_are_written() {
        let mut all = MetadataFilter::default();
        for written in ["team=legal, finance", "year>=2020", "year < 2024", "code=\"7,8\"", "n=7"] {
            all.add(written).unwrap();
        }
        let json = r#"{"team": ["legal", "finance"], "year": {"gte": 2020, "lt": 2024},
            "code": "7,8", "n": 7}"#;
        assert_eq!(all, filter(json));
        assert_eq!(
            serde_json::from_str::<MetadataFilter>(&serde_json::to_string(&all).unwrap()).unwrap(),
            all
        );
        for wrong in ["team", "=a", "a b=c", "year>=last", "team=other", "team>1", "x>[1]"] {
            assert!(all.clone().add(wrong).is_err(), "{wrong}");
        }
        assert_eq!(all.required(), fields(r#"{"code": "7,8", "n": 7}"#));
    }

    #[test]
    fn unordered_ranges_and_unknown_operators_are_refused() {
        for json in
            [r#"{"a": {}}"#, r#"{"a": {"gte": "x"}}"#, r#"{"a": {"gte": true}}"#, r#"{"a b": 1}"#]
        {
            assert!(filter(json).check().is_err(), "{json}");
        }
        assert!(serde_json::from_str::<MetadataFilter>(r#"{"a": {"like": "x"}}"#).is_err());
        assert!(serde_json::from_str::<MetadataFilter>(r#"{"a": null}"#).is_err());
    }
}
