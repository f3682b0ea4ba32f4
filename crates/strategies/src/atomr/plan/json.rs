//! The JSON of a plan: keys in their order, repeated ones kept.
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Refusal;

/// A value of a plan; what is neither text, list nor object says nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
    Nothing,
}

/// The entries of the plan's object.
pub(super) fn entries(text: &str) -> Result<Vec<(String, Json)>, Refusal> {
    let start = text.find('{').ok_or(Refusal::NoObject)?;
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Json>();
    match values.next() {
        Some(Ok(Json::Object(entries))) if !entries.is_empty() => Ok(entries),
        _ => Err(Refusal::NoObject),
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = vec![];
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut entries = vec![];
        while let Some(entry) = fields.next_entry()? {
            entries.push(entry);
        }
        Ok(Json::Object(entries))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Nothing)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::Nothing)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json, E> {
        Ok(Json::Nothing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Nothing)
    }
}
