//! Queries as algebra: the words of a user or a model become literals or IRIs, never syntax.
use oxigraph::model::{Literal, NamedNode, Variable};
use spargebra::Query;
use spargebra::algebra::{
    Expression, Function, GraphPattern, OrderExpression, PropertyPathExpression,
};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::vocabulary::Vocabulary;

pub(crate) fn var(name: &str) -> Variable {
    Variable::new_unchecked(name)
}

/// One of our own IRIs.
pub(crate) fn iri_node(iri: &str) -> NamedNode {
    NamedNode::new_unchecked(iri)
}

pub(crate) fn bgp(patterns: Vec<TriplePattern>) -> GraphPattern {
    GraphPattern::Bgp { patterns }
}

pub(crate) fn triple(
    subject: impl Into<TermPattern>,
    predicate: impl Into<NamedNodePattern>,
    object: impl Into<TermPattern>,
) -> GraphPattern {
    bgp(vec![TriplePattern {
        subject: subject.into(),
        predicate: predicate.into(),
        object: object.into(),
    }])
}

/// `subject a|b|c object`; nothing where the list is empty.
pub(crate) fn any_of(
    subject: impl Into<TermPattern>,
    predicates: &[&str],
    object: impl Into<TermPattern>,
) -> GraphPattern {
    let Some(path) = alternatives(predicates) else { return nothing() };
    GraphPattern::Path { subject: subject.into(), path, object: object.into() }
}

fn alternatives(predicates: &[&str]) -> Option<PropertyPathExpression> {
    let paths = predicates.iter().map(|iri| PropertyPathExpression::NamedNode(iri_node(iri)));
    paths.reduce(|left, right| PropertyPathExpression::Alternative(Box::new(left), Box::new(right)))
}

/// `subject types/subclasses* object`: the classes of a thing with those above them.
pub(crate) fn upwards(
    subject: impl Into<TermPattern>,
    vocabulary: &Vocabulary,
    object: impl Into<TermPattern>,
) -> GraphPattern {
    let Some(first) = alternatives(&vocabulary.types) else { return nothing() };
    let path = match alternatives(&vocabulary.subclasses) {
        Some(above) => PropertyPathExpression::Sequence(
            Box::new(first),
            Box::new(PropertyPathExpression::ZeroOrMore(Box::new(above))),
        ),
        None => first,
    };
    GraphPattern::Path { subject: subject.into(), path, object: object.into() }
}

/// A pattern without solutions.
fn nothing() -> GraphPattern {
    GraphPattern::Values { variables: vec![], bindings: vec![] }
}

/// `GRAPH ?graph { … }`.
pub(crate) fn in_graph(inner: GraphPattern) -> GraphPattern {
    let name = NamedNodePattern::Variable(var("graph"));
    GraphPattern::Graph { name, inner: Box::new(inner) }
}

pub(crate) fn join(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::Join { left: Box::new(left), right: Box::new(right) }
}

pub(crate) fn union(patterns: Vec<GraphPattern>) -> GraphPattern {
    let mut patterns = patterns.into_iter();
    let Some(first) = patterns.next() else { return nothing() };
    patterns.fold(first, |left, right| GraphPattern::Union {
        left: Box::new(left),
        right: Box::new(right),
    })
}

pub(crate) fn optional(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::LeftJoin { left: Box::new(left), right: Box::new(right), expression: None }
}

pub(crate) fn values(name: &str, terms: Vec<GroundTerm>) -> GraphPattern {
    let bindings = terms.into_iter().map(|term| vec![Some(term)]).collect();
    GraphPattern::Values { variables: vec![var(name)], bindings }
}

pub(crate) fn filter(inner: GraphPattern, expr: Expression) -> GraphPattern {
    GraphPattern::Filter { expr, inner: Box::new(inner) }
}

/// Without texts in other languages than ours, none, and `mul`, which stands for all.
pub(crate) fn readable(inner: GraphPattern, value: &str, language: &str) -> GraphPattern {
    let text = Expression::FunctionCall(Function::IsLiteral, vec![var(value).into()]);
    let tag = Expression::FunctionCall(Function::Lang, vec![var(value).into()]);
    let tags = [language, "", "mul"].map(|tag| Literal::new_simple_literal(tag).into());
    let same = Expression::In(Box::new(tag.clone()), tags.to_vec());
    let range = Literal::new_simple_literal(language).into();
    let wider = Expression::FunctionCall(Function::LangMatches, vec![tag, range]);
    let ours = Expression::Or(Box::new(same), Box::new(wider));
    let other = Expression::Not(Box::new(text));
    filter(inner, Expression::Or(Box::new(other), Box::new(ours)))
}

/// Whether an IRI begins with some text.
pub(crate) fn begins_with(name: &str, text: &str) -> Expression {
    let iri = Expression::FunctionCall(Function::Str, vec![var(name).into()]);
    let text = Literal::new_simple_literal(text).into();
    Expression::FunctionCall(Function::StrStarts, vec![iri, text])
}

/// Whether a text contains all these words, in upper or lower case.
pub(crate) fn holds(text: &str, words: &[&str]) -> Option<Expression> {
    let lower = Expression::FunctionCall(
        Function::LCase,
        vec![Expression::FunctionCall(Function::Str, vec![var(text).into()])],
    );
    let holds = words.iter().map(|word| {
        let word = Literal::new_simple_literal(*word).into();
        Expression::FunctionCall(Function::Contains, vec![lower.clone(), word])
    });
    holds.reduce(|left, right| Expression::And(Box::new(left), Box::new(right)))
}

pub(crate) fn is_iri(name: &str) -> Expression {
    Expression::FunctionCall(Function::IsIri, vec![var(name).into()])
}

/// `SELECT DISTINCT … LIMIT most`, as a query or within one.
pub(crate) fn distinct(
    pattern: GraphPattern,
    names: &[impl AsRef<str>],
    limit: Option<usize>,
) -> GraphPattern {
    let project = GraphPattern::Project {
        inner: Box::new(pattern),
        variables: names.iter().map(|name| var(name.as_ref())).collect(),
    };
    let inner = Box::new(GraphPattern::Distinct { inner: Box::new(project) });
    match limit {
        Some(limit) => GraphPattern::Slice { inner, start: 0, length: Some(limit) },
        None => *inner,
    }
}

/// The best `most` by a number that may be missing.
pub(crate) fn greatest(
    pattern: GraphPattern,
    names: &[&str],
    number: &str,
    limit: usize,
) -> GraphPattern {
    let expression = vec![OrderExpression::Desc(var(number).into())];
    distinct(GraphPattern::OrderBy { inner: Box::new(pattern), expression }, names, Some(limit))
}

/// The first `most` solutions, in the order of the endpoint.
pub(crate) fn sample(pattern: GraphPattern, names: &[&str], limit: usize) -> GraphPattern {
    let variables = names.iter().map(|name| var(name)).collect();
    let inner = Box::new(GraphPattern::Project { inner: Box::new(pattern), variables });
    GraphPattern::Slice { inner, start: 0, length: Some(limit) }
}

pub(crate) fn select(pattern: GraphPattern) -> Query {
    Query::Select { dataset: None, pattern, base_iri: None }
}
