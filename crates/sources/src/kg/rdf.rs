//! The words of RDF that many graphs share, and its terms as values that a reader understands.
use halma_core::{FactValue, ValueKind};
use oxigraph::model::{LiteralRef, vocab::xsd};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::words::spaced;

pub(crate) const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// What sorts things into classes.
pub(crate) const TYPES: &[&str] = &[TYPE, "http://www.wikidata.org/prop/direct/P31"];

/// What sorts classes into larger ones.
pub(crate) const SUBCLASSES: &[&str] = &[
    "http://www.w3.org/2000/01/rdf-schema#subClassOf",
    "http://www.wikidata.org/prop/direct/P279",
];

/// Where the relations that properties make stand, in Wikidata and every other Wikibase; the
/// properties themselves are described apart from them.
const DIRECT: &str = "/prop/direct/";

/// Properties that name a thing, the first that is there counts.
pub(crate) const LABELS: &[&str] = &[
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://xmlns.com/foaf/0.1/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
];

pub(crate) const ALIASES: &[&str] = &[
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://www.w3.org/2004/02/skos/core#hiddenLabel",
    "http://schema.org/alternateName",
    "https://schema.org/alternateName",
];

pub(crate) const DESCRIPTIONS: &[&str] = &[
    "http://schema.org/description",
    "https://schema.org/description",
    "http://www.w3.org/2000/01/rdf-schema#comment",
    "http://www.w3.org/2004/02/skos/core#definition",
    "http://purl.org/dc/terms/description",
    "http://purl.org/dc/elements/1.1/description",
];

/// The unit of a number, at its property or at a node that holds number and unit.
pub(crate) const UNITS: &[&str] = &[
    "http://schema.org/unitText",
    "https://schema.org/unitText",
    "http://qudt.org/schema/qudt/unit",
    "http://qudt.org/schema/qudt/hasUnit",
    "http://schema.org/unitCode",
    "https://schema.org/unitCode",
    "http://wikiba.se/ontology#quantityUnit",
];

/// The number at such a node.
pub(crate) const QUANTITIES: &[&str] = &[
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#value",
    "http://qudt.org/schema/qudt/numericValue",
    "http://qudt.org/schema/qudt/value",
    "http://schema.org/value",
    "https://schema.org/value",
    "http://wikiba.se/ontology#quantityAmount",
];

/// How widely a thing is known: articles about it, then statements.
pub(crate) const FAME: &[&str] =
    &["http://wikiba.se/ontology#sitelinks", "http://wikiba.se/ontology#statements"];

/// Wikidata's pages that are not things: for disambiguation, categories, templates, lists.
pub(crate) const PAGES: &[&str] = &[
    "http://www.wikidata.org/entity/Q4167410",
    "http://www.wikidata.org/entity/Q4167836",
    "http://www.wikidata.org/entity/Q11266439",
    "http://www.wikidata.org/entity/Q13406463",
];

/// Classes of what is not an entity but describes the graph.
pub(crate) const OF_PROPERTIES: &[&str] = &[
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#Property",
    "http://www.w3.org/2002/07/owl#ObjectProperty",
    "http://www.w3.org/2002/07/owl#DatatypeProperty",
    "http://www.w3.org/2002/07/owl#AnnotationProperty",
    "http://www.w3.org/2002/07/owl#Ontology",
];

pub(crate) const OF_CLASSES: &[&str] =
    &["http://www.w3.org/2000/01/rdf-schema#Class", "http://www.w3.org/2002/07/owl#Class"];

/// What `rdf:type` is called where a graph does not name it.
pub(crate) const TYPE_NAMES: &[&str] = &["type", "instance of", "kind", "class"];

/// Whether a property only names, describes or sorts, so that it is not a relation to ask for.
pub(crate) fn is_describing(property: &str) -> bool {
    [LABELS, ALIASES, DESCRIPTIONS, UNITS, FAME].iter().any(|list| list.contains(&property))
        || property == SUBCLASSES[0]
}

/// The Wikibase and the number of a property of one: `P31` of `http://www.wikidata.org`.
pub(crate) fn wikibase(property: &str) -> Option<(&str, &str)> {
    property.split_once(DIRECT)
}

/// Whether a property belongs to a Wikibase's statements, which are read through their direct
/// properties.
pub(crate) fn is_of_statements(property: &str) -> bool {
    property.starts_with("http://wikiba.se/ontology#")
        || (property.contains("/prop/") && !property.contains(DIRECT))
}

/// Where a property is described: at itself, or as a Wikibase has it.
pub(crate) fn described_at(property: &str) -> String {
    match wikibase(property) {
        Some((base, number)) => format!("{base}/entity/{number}"),
        None => property.to_owned(),
    }
}

/// Whether an IRI stands for a value that is not known (Blazegraph writes blank nodes so).
pub(crate) fn is_unknown(iri: &str) -> bool {
    iri.contains("/.well-known/genid/")
}

/// The last part of an IRI in words: `placeOfBirth` as `place of birth`.
pub(crate) fn local_name(iri: &str) -> String {
    let end = iri.trim_end_matches(['/', '#']);
    let name = end.rsplit(['/', '#', ':']).next().unwrap_or(end);
    let words = spaced(&unescaped(name)).trim().to_owned();
    // A single capital of a camel is not a name's; `ESA` stays as it is.
    if words.contains(' ') && name.starts_with(|c: char| c.is_lowercase()) {
        return words.to_lowercase();
    }
    if words.is_empty() { iri.to_owned() } else { words }
}

/// A literal as a value. `unit` is what its property or node says.
pub(crate) fn value(literal: LiteralRef<'_>, unit: &str) -> FactValue {
    let (text, datatype) = (literal.value().trim(), literal.datatype());
    let of =
        |text: String, kind: ValueKind, unit: &str| FactValue { text, kind, unit: unit.to_owned() };
    if [xsd::DATE, xsd::G_YEAR, xsd::G_YEAR_MONTH].contains(&datatype) {
        return of(without_zone(text), ValueKind::Date, "");
    }
    if [xsd::DATE_TIME, xsd::DATE_TIME_STAMP].contains(&datatype) {
        let day = text.split('T').next().unwrap_or(text);
        return of(day.trim_start_matches('+').to_owned(), ValueKind::Date, "");
    }
    if datatype == xsd::BOOLEAN {
        let truth = matches!(text, "true" | "1");
        return of(truth.to_string(), ValueKind::Truth, "");
    }
    if [xsd::DOUBLE, xsd::FLOAT].contains(&datatype) {
        // `2.5E2` is a way to write, not a number that people write.
        let plain = text.parse::<f64>().ok().filter(|number| number.is_finite());
        let plain = plain.map_or_else(|| text.to_owned(), |number| number.to_string());
        return of(plain, ValueKind::Number, unit);
    }
    let number = text.parse::<f64>().is_ok_and(f64::is_finite);
    let iri = datatype.as_str();
    if iri.starts_with("http://www.w3.org/2001/XMLSchema#") && datatype != xsd::STRING && number {
        return of(text.trim_start_matches('+').to_owned(), ValueKind::Number, unit);
    }
    // Some graphs name the unit as the type of the literal.
    if number && !iri.starts_with("http://www.w3.org/") {
        return of(text.to_owned(), ValueKind::Number, &local_name(iri));
    }
    of(literal.value().to_owned(), ValueKind::Text, "")
}

/// A moment as the date that a Wikibase knows it to: 11 is a day, 10 a month, 9 a year, 8 a decade,
/// 7 a century. Its year 0 is 1 BC, as XSD 1.1 has it.
pub(crate) fn date_to(moment: &str, precision: u8) -> String {
    let day = moment.trim_start_matches('+').split('T').next().unwrap_or(moment);
    let (old, plain) = day.strip_prefix('-').map_or((false, day), |rest| (true, rest));
    let (year, rest) = plain.split_once('-').unwrap_or((plain, ""));
    let Ok(number) = year.parse::<i32>() else { return day.to_owned() };
    let (sign, number) = if old { ("-", number + 1) } else { ("", number) };
    let era = if old { " BC" } else { "" };
    match precision {
        11.. => format!("{sign}{number:04}-{rest}"),
        10 => format!("{sign}{number:04}-{}", rest.split('-').next().unwrap_or(rest)),
        9 if old => format!("{number}{era}"),
        9 => format!("{number:04}"),
        8 => format!("{}s{era}", number / 10 * 10),
        7 => format!("{} century{era}", ordinal((number + 99) / 100)),
        _ => format!("about {number}{era}"),
    }
}

fn ordinal(number: i32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `2020-01-01Z` and `2020+01:00` without their time zones.
fn without_zone(date: &str) -> String {
    let date = date.trim_end_matches('Z');
    let zone = date.len().checked_sub(6).and_then(|at| date.get(at..));
    let is_zone = zone
        .is_some_and(|zone| zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':'));
    if is_zone { date[..date.len() - 6].to_owned() } else { date.to_owned() }
}

/// What is escaped in a name: all but letters, digits, `.`, `-` and `_`.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_');

/// A name as part of a file's name or of an IRI.
pub(crate) fn escaped(name: &str) -> String {
    utf8_percent_encode(name, RESERVED).to_string()
}

pub(crate) fn unescaped(name: &str) -> String {
    percent_decode_str(name).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use oxigraph::model::{Literal, NamedNode};

    use super::*;

    fn parts(text: &str, datatype: &str) -> (String, ValueKind, String) {
        let literal = Literal::new_typed_literal(text, NamedNode::new(datatype).unwrap());
        let value = value(literal.as_ref(), "km");
        (value.text, value.kind, value.unit)
    }

    #[test]
    fn literals_become_values_that_can_be_read() {
        let xsd = |name: &str| format!("http://www.w3.org/2001/XMLSchema#{name}");
        for (text, datatype, wanted, kind, unit) in [
            ("252", xsd("integer"), "252", ValueKind::Number, "km"),
            ("2.5E2", xsd("double"), "250", ValueKind::Number, "km"),
            ("2020-01-02Z", xsd("date"), "2020-01-02", ValueKind::Date, ""),
            ("1894", xsd("gYear"), "1894", ValueKind::Date, ""),
            ("1952-03-11T00:00:00Z", xsd("dateTime"), "1952-03-11", ValueKind::Date, ""),
            ("1", xsd("boolean"), "true", ValueKind::Truth, ""),
            ("1984", xsd("string"), "1984", ValueKind::Text, ""),
            (
                "7",
                "http://dbpedia.org/datatype/kilometre".into(),
                "7",
                ValueKind::Number,
                "kilometre",
            ),
        ] {
            assert_eq!(parts(text, &datatype), (wanted.to_owned(), kind, unit.to_owned()));
        }
    }

    #[test]
    fn an_iri_without_a_label_is_read_from_its_end() {
        assert_eq!(local_name("http://a.example/p/placeOfBirth"), "place of birth");
        assert_eq!(local_name("http://a.example/p#mean_radius"), "mean radius");
        assert_eq!(local_name("http://a.example/ESA/"), "ESA");
        assert_eq!(local_name("http://a.example/Tokyo_Tower"), "Tokyo Tower");
    }
}
