//! A vector as servers write it: little-endian floats in base64, or an array of numbers.
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

#[derive(Debug)]
pub(crate) struct Numbers(pub(crate) Vec<f32>);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either).map(Self)
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Vec<f32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of numbers or 32-bit floats in base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<f32>, E> {
        let bytes = STANDARD.decode(text).map_err(E::custom)?;
        let (floats, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(E::custom(format!(
                "{} bytes are not a whole number of floats",
                bytes.len()
            )));
        }
        Ok(floats.iter().map(|float| f32::from_le_bytes(*float)).collect())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Vec<f32>, A::Error> {
        let mut vector = Vec::with_capacity(numbers.size_hint().unwrap_or(384));
        while let Some(Float(number)) = numbers.next_element()? {
            vector.push(number);
        }
        Ok(vector)
    }
}

/// A number of a vector.
struct Float(f32);

impl<'de> Deserialize<'de> for Float {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneFloat).map(Self)
    }
}

struct OneFloat;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "vectors are of 32-bit floats"
)]
impl<'de> Visitor<'de> for OneFloat {
    type Value = f32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<f32, E> {
        Ok(number as f32)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<f32, E> {
        Ok(number as f32)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<f32, E> {
        Ok(number as f32)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<f32, A::Error> {
        Err(A::Error::custom(
            "a vector for each token in place of one for the text: start the server with pooling",
        ))
    }
}
