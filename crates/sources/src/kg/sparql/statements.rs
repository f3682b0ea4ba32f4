//! Facts of a Wikibase, Wikidata above all, from its statements: values with their precision and
//! unit, qualifiers, and ranks. Model: <https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format>.
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use halma_core::{BoxError, EntityId, FactValue, ValueKind};
use oxigraph::model::Term;

use super::SparqlGraph;
use crate::kg::graph::{Class, Lookup, Node, Property, Stated, Statement};
use crate::kg::rdf;

const RANK: &str = "http://wikiba.se/ontology#rank";
const DEPRECATED: &str = "http://wikiba.se/ontology#DeprecatedRank";
const PREFERRED: &str = "http://wikiba.se/ontology#PreferredRank";

/// What a value's own node says: a number with its unit, a time with its precision.
const AMOUNT: &str = "http://wikiba.se/ontology#quantityAmount";
const UNIT: &str = "http://wikiba.se/ontology#quantityUnit";
const TIME: &str = "http://wikiba.se/ontology#timeValue";
const PRECISION: &str = "http://wikiba.se/ontology#timePrecision";
const OF_VALUES: &[&str] = &[AMOUNT, UNIT, TIME, PRECISION];

/// The qualifiers that are asked for at an endpoint: start, end, point in time.
const TIMES: &[&str] = &["P580", "P582", "P585"];
const STARTS: &[&str] = &["P580", "start time", "start%20time"];
const ENDS: &[&str] = &["P582", "end time", "end%20time"];
const POINTS: &[&str] = &["P585", "point in time", "point%20in%20time"];

/// One statement while it is gathered.
#[derive(Default)]
struct Claim {
    value: Option<Term>,
    /// The node with the value's unit or precision.
    node: Option<EntityId>,
    preferred: bool,
    deprecated: bool,
    /// By the number of the qualifying property.
    qualifiers: BTreeMap<String, Term>,
}

impl Claim {
    fn qualifier(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| match self.qualifiers.get(*name)? {
            Term::Literal(text) => Some(text.value()),
            _ => None,
        })
    }

    /// When it began to hold, or held; empty where that is not said.
    fn since(&self) -> &str {
        self.qualifier(STARTS).or_else(|| self.qualifier(POINTS)).unwrap_or_default()
    }
}

impl SparqlGraph {
    /// The facts of those things that have statements of a property. What holds now comes before
    /// what held once.
    pub(super) async fn statements(
        &self,
        heads: &[EntityId],
        property: &Arc<Property>,
    ) -> Result<Vec<Statement>, BoxError> {
        let Some((base, number)) = rdf::wikibase(&property.id) else { return Ok(vec![]) };
        let claims = self.look_up_claims(base, number, heads).await?;
        if claims.is_empty() {
            return Ok(vec![]);
        }
        let nodes: Vec<EntityId> =
            claims.values().filter_map(|(_, claim)| claim.node.clone()).collect();
        let values = self.exact_values(&nodes).await?;
        let names = self.qualifier_names(base, claims.values().map(|(_, claim)| claim)).await?;
        let mut by_head: HashMap<&str, Vec<&Claim>> = HashMap::new();
        for (head, claim) in claims.values().filter(|(_, claim)| !claim.deprecated) {
            by_head.entry(head).or_default().push(claim);
        }
        let mut facts = vec![];
        for head in heads {
            let mut head_claims = by_head.remove(head.0.as_str()).unwrap_or_default();
            head_claims.sort_by_key(|claim| {
                let ended = claim.qualifier(ENDS).is_some();
                (Reverse(claim.preferred), ended, Reverse(claim.since().to_owned()))
            });
            for (at, claim) in head_claims.iter().enumerate() {
                let exact = claim.node.as_ref().and_then(|node| values.get(&node.0)).cloned();
                let tail =
                    exact.map(Node::Value).or_else(|| self.tail(claim.value.as_ref()?, property));
                let Some(tail) = tail else { continue };
                facts.push(Statement {
                    head: head.clone(),
                    property: Arc::clone(property),
                    former: at > 0 && is_former(claim, head_claims[0], &tail),
                    tail,
                    source: self.stated_by(None),
                    qualifiers: self.spelled(base, claim, &names),
                });
            }
        }
        Ok(facts)
    }

    /// The statements that a Wikibase has of these things with a property.
    async fn look_up_claims(
        &self,
        base: &str,
        number: &str,
        heads: &[EntityId],
    ) -> Result<BTreeMap<String, (String, Claim)>, BoxError> {
        let path = |kind: &str| format!("{base}/prop/{kind}{number}");
        let qualifying = format!("{base}/prop/qualifier/");
        let (step, store) = (path(""), self.endpoint.in_process());
        if store.is_some_and(|store| !store.has_predicate(&step)) {
            return Ok(BTreeMap::new());
        }
        let qualifiers: Vec<String> = match store {
            Some(store) => store.predicates_beginning(&qualifying),
            None => TIMES.iter().map(|number| format!("{qualifying}{number}")).collect(),
        };
        let paths = [path("statement/"), path("statement/value/"), RANK.to_owned()];
        let properties: Vec<&str> = paths.iter().chain(&qualifiers).map(String::as_str).collect();
        let lookup = Lookup { over: Some(&step), properties: &properties };
        let values = self.look_up(heads, lookup).await?;
        Ok(self.claims(&values, &qualifiers, &qualifying))
    }

    /// Statements by their nodes, with the things that they are about.
    fn claims(
        &self,
        values: &[Stated],
        qualifiers: &[String],
        qualifying: &str,
    ) -> BTreeMap<String, (String, Claim)> {
        let mut claims: BTreeMap<String, (String, Claim)> = BTreeMap::new();
        for Stated { subject, node, property, value, .. } in values {
            let (_, claim) =
                claims.entry(node.clone()).or_insert_with(|| (subject.clone(), Claim::default()));
            match property {
                0 => claim.value = Some(value.clone()),
                1 => claim.node = self.id_of(value),
                2 => {
                    let is = |rank: &str| self.id_of(value).is_some_and(|id| id.0 == rank);
                    (claim.preferred, claim.deprecated) = (is(PREFERRED), is(DEPRECATED));
                }
                at => {
                    let number = qualifiers[at - 3].strip_prefix(qualifying).unwrap_or_default();
                    claim.qualifiers.insert(number.to_owned(), value.clone());
                }
            }
        }
        claims
    }

    /// Numbers with units and times with precisions, by their nodes.
    async fn exact_values(
        &self,
        nodes: &[EntityId],
    ) -> Result<HashMap<String, FactValue>, BoxError> {
        let lookup = Lookup { over: None, properties: OF_VALUES };
        let mut by_node: HashMap<String, [Option<Term>; 4]> = HashMap::new();
        for stated in self.look_up(nodes, lookup).await? {
            by_node.entry(stated.subject).or_default()[stated.property] = Some(stated.value);
        }
        let names = self.unit_names(by_node.values().filter_map(|one| one[1].as_ref())).await?;
        let value = |[amount, unit, time, precision]: [Option<Term>; 4]| match (amount, time) {
            (Some(Term::Literal(amount)), _) => {
                let unit = unit.map(|unit| self.unit(&unit, &names)).unwrap_or_default();
                Some(rdf::value(amount.as_ref(), &unit))
            }
            (_, Some(Term::Literal(time))) => {
                let precision = match precision {
                    Some(Term::Literal(digits)) => digits.value().parse().unwrap_or(11),
                    _ => 11,
                };
                let text = rdf::date_to(time.value(), precision);
                Some(FactValue { text, kind: ValueKind::Date, unit: String::new() })
            }
            _ => None,
        };
        let values = by_node.into_iter().filter_map(|(node, parts)| Some((node, value(parts)?)));
        Ok(values.collect())
    }

    /// The names of qualifying properties and of the things that qualify.
    async fn qualifier_names(
        &self,
        base: &str,
        claims: impl Iterator<Item = &Claim>,
    ) -> Result<HashMap<String, Class>, BoxError> {
        let mut ids = BTreeSet::new();
        for (number, value) in claims.flat_map(|claim| &claim.qualifiers) {
            ids.insert(format!("{base}/entity/{number}"));
            ids.extend(self.id_of(value).map(|id| id.0));
        }
        self.named_classes(&ids).await
    }

    /// The qualifiers of a statement as a reader sees them. Their times have no precision where
    /// they stand, so that of a moment only the year is told.
    fn spelled(&self, base: &str, claim: &Claim, names: &HashMap<String, Class>) -> Vec<String> {
        let name = |id: &str| names.get(id).and_then(|class| class.names.first().cloned());
        let spell = |(number, value): (&String, &Term)| {
            let value = match value {
                Term::Literal(text)
                    if text.datatype() == oxigraph::model::vocab::xsd::DATE_TIME =>
                {
                    rdf::date_to(text.value(), 9)
                }
                Term::Literal(text) => rdf::value(text.as_ref(), "").text,
                Term::NamedNode(node) if rdf::is_unknown(node.as_str()) => return None,
                Term::NamedNode(node) => name(&self.id(node.as_str()))?,
                Term::BlankNode(_) => return None,
            };
            let label = name(&format!("{base}/entity/{number}"))?;
            Some(format!("{label}: {value}"))
        };
        claim.qualifiers.iter().filter_map(spell).collect()
    }
}

/// Whether a statement held before the first one: that one is preferred, or has not ended, or, of
/// values that are measured again and again, is more recent.
fn is_former(claim: &Claim, first: &Claim, tail: &Node) -> bool {
    let ended = |claim: &Claim| claim.qualifier(ENDS).is_some();
    let measured = matches!(tail, Node::Value(_)) && claim.qualifier(POINTS).is_some();
    (first.preferred && !claim.preferred)
        || (ended(claim) && !ended(first))
        || (measured && claim.since() < first.since())
}
