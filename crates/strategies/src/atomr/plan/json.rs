//! The JSON of a plan: keys in their order, repeated ones kept.
use std::fmt;

use halma_core::text::words;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::loose;
use super::repair::{Refusal, RepairKind, Repairs};

/// How many `{` of a text are tried as the beginning of an object.
const TRIES: usize = 64;

/// A value of a plan; what is neither text, number, list nor object says nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Object(Entries),
    Nothing,
}

pub(super) type Entries = Vec<(String, Json)>;

/// The entries of the plan's object.
pub(super) fn entries(text: &str, repairs: &mut Repairs) -> Result<Entries, Refusal> {
    let text = text.trim().trim_start_matches('\u{feff}');
    if let Ok(Json::Text(inner)) = serde_json::from_str(text) {
        repairs.note(RepairKind::TextAround, "the plan is written as a string");
        return objects(inner.trim(), repairs);
    }
    objects(text, repairs)
}

/// The entries of all objects that stand side by side: one that begins with the same question as
/// an earlier one replaces it.
fn objects(text: &str, repairs: &mut Repairs) -> Result<Entries, Refusal> {
    let mut plan: Entries = vec![];
    let (mut at, mut around) = (0, false);
    for _ in 0..TRIES {
        let Some(start) = text[at..].find('{') else { break };
        around |= text[at..at + start].contains(|c: char| !c.is_whitespace() && !"[,".contains(c));
        at += start;
        let Some((mut found, length)) = object(&text[at..], repairs)? else {
            around = true;
            at += 1;
            continue;
        };
        let first = |entries: &Entries| entries.first().map(|(key, _)| words(key));
        if first(&plan) == first(&found) {
            plan.clear();
        }
        plan.append(&mut found);
        at += length;
    }
    around |= text[at..].contains(|c: char| !c.is_whitespace() && !"],}".contains(c));
    if around && !plan.is_empty() {
        repairs.note(RepairKind::TextAround, text.lines().next().unwrap_or_default());
    }
    if plan.is_empty() { Err(Refusal::NoObject) } else { Ok(plan) }
}

/// The object at the beginning of a text, with its length; none if there are no values in it.
fn object(text: &str, repairs: &mut Repairs) -> Result<Option<(Entries, usize)>, Refusal> {
    let says = |entries: &Entries| entries.iter().any(|(_, value)| *value != Json::Nothing);
    let mut strict = serde_json::Deserializer::from_str(text).into_iter::<Json>();
    if let Some(Ok(Json::Object(entries))) = strict.next() {
        let length = strict.byte_offset();
        // A bracket too many would end the plan before its last entries.
        let goes_on = text[length..].trim_start().strip_prefix(',');
        if !goes_on.is_some_and(|rest| rest.trim_start().starts_with('"')) {
            return Ok(says(&entries).then_some((entries, length)));
        }
    }
    let read = loose::object(text);
    if read.cut.is_some() && read.entries.is_empty() {
        return Err(Refusal::CutOff);
    }
    if !says(&read.entries) {
        return Ok(None);
    }
    match (read.cut, read.mended) {
        (Some(cut), _) => repairs.note(RepairKind::CutOff, cut),
        (None, Some(fault)) => repairs.note(RepairKind::JsonMended, fault),
        // Single quotes or a comma: nothing had to be guessed.
        (None, None) => repairs.note(RepairKind::JsonMended, &read.entries[0].0),
    }
    Ok(Some((read.entries, read.length)))
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

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Text(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Text(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Text(number.to_string()))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Nothing)
    }
}
