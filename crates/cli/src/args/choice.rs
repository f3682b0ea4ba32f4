//! Options that take one of a few named values.
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halma_core::{AnswerStyle, Layer, Mode, check_limit};
use halma_engine::{Effort, LogFormat, WorkerKind};

/// Parses a limit in dollars or seconds.
pub(crate) fn limit(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it is not a number".to_owned())?;
    check_limit(number).map_err(|e| e.to_string())
}

/// A value on the command line and what it means.
pub(crate) struct Choice<T: 'static> {
    pub(crate) name: &'static str,
    pub(crate) value: T,
    /// Empty where the name says it.
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
    let possible = |choice: &Choice<T>| match choice.help {
        "" => PossibleValue::new(choice.name),
        help => PossibleValue::new(choice.name).help(help),
    };
    let names = PossibleValuesParser::new(choices.iter().map(possible));
    names.map(|name| {
        let choice = choices.iter().find(|choice| choice.name == name);
        choice.expect("clap accepts the names of choices only").value
    })
}

pub(super) const ANSWER_STYLES: &[Choice<AnswerStyle>] = &[
    Choice::new("full", AnswerStyle::Full, "Sentences with the numbers of their sources"),
    Choice::new("short", AnswerStyle::Short, "The answer alone"),
];

pub(super) const EFFORTS: &[Choice<Effort>] = &[
    Choice::new("quick", Effort::Quick, "One search and one reading"),
    Choice::new("normal", Effort::Normal, "The cheapest method that has a supported answer"),
    Choice::new("deep", Effort::Deep, "Hop by hop"),
    Choice::new("exhaustive", Effort::Exhaustive, "Hop by hop, with more hops and candidates"),
];

pub(super) const LOG_FORMATS: &[Choice<LogFormat>] = &[
    Choice::new("text", LogFormat::Text, "Lines for people"),
    Choice::new("json", LogFormat::Json, "One JSON object a line, with time and request"),
];

pub(super) const WORKER_KINDS: &[Choice<WorkerKind>] = &[
    Choice::new("parse", WorkerKind::Parse, "Read files"),
    Choice::new("sql", WorkerKind::Sql, "Run SQL"),
];

pub(crate) fn mode() -> impl TypedValueParser<Value = Mode> {
    let possible = |mode: Mode| PossibleValue::new(mode.name()).help(mode.description());
    let names = PossibleValuesParser::new(Mode::ALL.map(possible));
    names.map(|name| {
        let mode = Mode::ALL.into_iter().find(|mode| mode.name() == name);
        mode.expect("clap accepts the names of modes only")
    })
}

pub(crate) fn layer() -> impl TypedValueParser<Value = Layer> {
    let names = PossibleValuesParser::new(Layer::ALL.map(Layer::name));
    names.map(|name| {
        let layer = Layer::ALL.into_iter().find(|layer| layer.name() == name);
        layer.expect("clap accepts the names of layers only")
    })
}
