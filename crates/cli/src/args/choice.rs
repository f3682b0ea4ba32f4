//! Options that take one of a few named values.
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halma_core::{Layer, Mode};

/// A value on the command line and what it means.
pub(crate) struct Choice<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) value: T,
    pub(crate) help: &'static str,
}

impl<T: Copy> Choice<T> {
    pub(crate) const fn new(name: &'static str, value: T, help: &'static str) -> Self {
        Self { name, value, help }
    }
}

/// Parses the name of a choice.
pub(crate) fn one_of<T>(choices: &'static [Choice<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let possible = |choice: &Choice<T>| PossibleValue::new(choice.name).help(choice.help);
    let names = PossibleValuesParser::new(choices.iter().map(possible));
    names.map(|name| {
        let choice = choices.iter().find(|choice| choice.name == name);
        choice.expect("clap accepts the names of choices only").value
    })
}

const MODES: &[Choice<Mode>] = &[
    Choice::new("bm25", Mode::Bm25, "Keywords"),
    Choice::new("dense", Mode::Dense, "Embedding vectors"),
    Choice::new("hybrid", Mode::Hybrid, "Keywords and vectors, fused"),
    Choice::new("graph", Mode::Graph, "Both on all layers, propagated along the graph to chunks"),
];

pub(crate) fn mode() -> impl TypedValueParser<Value = Mode> {
    one_of(MODES)
}

pub(crate) fn layer() -> impl TypedValueParser<Value = Layer> {
    let names = PossibleValuesParser::new(Layer::ALL.map(Layer::name));
    names.map(|name| {
        let layer = Layer::ALL.into_iter().find(|layer| layer.name() == name);
        layer.expect("clap accepts the names of layers only")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_can_be_chosen_by_its_name() {
        assert_eq!(MODES.iter().map(|choice| choice.value).collect::<Vec<_>>(), Mode::ALL);
        assert!(MODES.iter().all(|choice| choice.name == choice.value.name()));
    }
}
