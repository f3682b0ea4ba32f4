//! A deserializer that reads values as careless models write them: keys in another case, one value
//! for a list and a list for one value, numbers as words, `null` for nothing. Where a value already
//! has the shape that is asked for, it is read unchanged.
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

use super::answer::is_no_answer;
use super::loose::parse_loose;
use super::numbers::read_number;
use super::parse_lines;

/// A JSON value that is read with tolerance for the type it is read into.
pub(crate) struct Careless(pub(crate) Value);

impl Careless {
    /// A number where one is written as text; `null` is the number that means none.
    fn number(self) -> Value {
        match single(self.0) {
            Value::String(text) => read_number(&text).map_or(Value::String(text), Value::Number),
            Value::Null => Value::from(0),
            // 3.0 is 3.
            Value::Number(number) => match number.as_f64() {
                Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15 => {
                    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
                    let whole = float as i64;
                    Value::from(whole)
                }
                _ => Value::Number(number),
            },
            other => other,
        }
    }

    fn text(self) -> Result<String, Error> {
        match self.0 {
            Value::Null => Ok(String::new()),
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(truth) => Ok(truth.to_string()),
            Value::Array(items) => {
                let texts: Result<Vec<String>, Error> =
                    items.into_iter().map(|item| Self(item).text()).collect();
                let texts = texts?;
                let sentences = texts.iter().all(|text| text.ends_with(['.', '?', '!', ';']));
                Ok(texts.join(if sentences { " " } else { ", " }))
            }
            Value::Object(fields) if fields.len() == 1 => match fields.into_iter().next() {
                Some((_, only @ (Value::String(_) | Value::Number(_)))) => Self(only).text(),
                _ => Err(Error::custom("invalid type: map, expected a string")),
            },
            Value::Object(_) => Err(Error::custom("invalid type: map, expected a string")),
        }
    }

    /// The items of a list, or of what stands for one.
    fn items(self) -> Result<Vec<Value>, Value> {
        match self.0 {
            Value::Array(items) => Ok(items),
            Value::Null => Ok(vec![]),
            Value::String(text) if is_no_answer(&text) => Ok(vec![]),
            Value::String(text) => Ok(match parse_loose(text.trim()) {
                Some(Value::Array(items)) => items,
                _ => listed(&text),
            }),
            Value::Object(fields) if fields.len() == 1 && fields.values().all(Value::is_array) => {
                Ok(fields.into_iter().flat_map(|(_, list)| Self(list).items()).flatten().collect())
            }
            Value::Object(fields) => Ok(vec![Value::Object(fields)]),
            number @ Value::Number(_) => Ok(vec![number]),
            truth @ Value::Bool(_) => Err(truth),
        }
    }

    /// The fields of an object, or of a text or a list that holds nothing else.
    fn fields(self) -> Result<Map<String, Value>, Value> {
        match single(self.0) {
            Value::Object(fields) => Ok(fields),
            Value::String(text) => match parse_loose(text.trim()) {
                Some(Value::Object(fields)) => Ok(fields),
                _ => Err(Value::String(text)),
            },
            other => Err(other),
        }
    }
}

/// The only item of a list of one.
fn single(value: Value) -> Value {
    match value {
        Value::Array(mut items) if items.len() == 1 => items.remove(0),
        other => other,
    }
}

/// A text that stands for a list: numbers, or one item a line.
fn listed(text: &str) -> Vec<Value> {
    let parts = text.split([',', ';', ' ', '\n']).map(str::trim);
    let parts: Vec<&str> = parts.filter(|part| !matches!(*part, "" | "and" | "&")).collect();
    let number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit() || "[#(".contains(c));
    if parts.iter().all(|part| number(part) && read_number(part).is_some()) {
        return parts.into_iter().filter_map(read_number).map(Value::Number).collect();
    }
    let lines = parse_lines(text).unwrap_or_else(|_| vec![text.to_owned()]);
    lines.into_iter().map(Value::String).collect()
}

/// Letters and digits only, in lower case and without a plural's `s`: how keys are compared.
fn canonical(key: &str) -> String {
    let letters = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    let letters: String = letters.collect();
    letters.strip_suffix('s').map(str::to_owned).unwrap_or(letters)
}

/// Keys as the type writes them; a key that is there exactly is never replaced by one like it.
fn renamed(fields: Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    let exact: Vec<String> = fields.keys().cloned().collect();
    let mut out = Map::new();
    for (key, value) in fields {
        let alike = |name: &&&str| {
            canonical(name) == canonical(&key) && !exact.iter().any(|key| key == **name)
        };
        let name = match names.iter().find(alike) {
            Some(name) if !names.contains(&key.as_str()) => (*name).to_owned(),
            _ => key,
        };
        out.entry(name).or_insert(value);
    }
    out
}

impl IntoDeserializer<'_, Error> for Careless {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Every kind of number is read in one way.
macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.number().deserialize_any(visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Careless {
    type Error = Error;

    numbers!(deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64);

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let truth = match single(self.0) {
            Value::String(text) => match text.trim().to_lowercase().trim_end_matches('.') {
                "true" | "yes" => Value::Bool(true),
                "false" | "no" => Value::Bool(false),
                _ => Value::String(text),
            },
            Value::Number(number) if number.as_u64().is_some_and(|number| number < 2) => {
                Value::Bool(number.as_u64() == Some(1))
            }
            other => other,
        };
        truth.deserialize_bool(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.items() {
            Ok(items) => visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Careless))),
            Err(other) => other.deserialize_seq(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.fields() {
            Ok(fields) => {
                let fields = fields.into_iter().map(|(key, v)| (Self(key.into()), Self(v)));
                visitor.visit_map(MapDeserializer::new(fields))
            }
            Err(other) => other.deserialize_map(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.fields() {
            Ok(fields) => Self(Value::Object(renamed(fields, names))).deserialize_map(visitor),
            // A list would be read as the fields in their order.
            Err(Value::Array(_)) => Err(Error::custom("invalid type: list, expected an object")),
            Err(other) => other.deserialize_map(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match single(self.0) {
            Value::String(text) => {
                let alike = |variant: &&&str| canonical(variant) == canonical(&text);
                let variant = variants.iter().find(alike).map_or(text.as_str(), |name| name);
                visitor.visit_enum(variant.to_owned().into_deserializer())
            }
            other => other.deserialize_enum(name, variants, visitor),
        }
    }

    forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// An object that was cut off and then closed: only a type that names its fields can tell that
/// none which it needs is missing.
pub(crate) struct Cut(pub(crate) Value);

impl<'de> Deserializer<'de> for Cut {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("the reply is cut off"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        Careless(self.0).deserialize_struct(name, names, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
