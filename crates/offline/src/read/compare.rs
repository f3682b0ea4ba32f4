//! Either-or questions, by the dates or numbers of the two sides.
use std::cmp::Ordering;
use std::collections::HashSet;

use halma_core::text::normalise_name;

use super::score::Query;
use super::sides::{Side, compared, side_spans};
use super::text::{BIRTH, DEATH, Line, Text};
use super::{Answer, abstain};
use crate::decompose::sides::{ComparisonKind, comparison};
use crate::lexicon::Lexicon;
use crate::lists::{is_listed, list};
use crate::spans::{Kind, Span};
use crate::weights::covered;

/// What decides between the sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// An event's date; the stem of the event where the question names one.
    Date(Option<&'static str>),
    Number,
}

/// `None` where the question does not compare two sides.
pub(crate) fn choose(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Option<Answer> {
    let sides = compared(query, ComparisonKind::Either, text, lexicon)?;
    if let Some(decided) = decide(query, &sides, text, lexicon) {
        return Some(decided.answer);
    }
    if sides[0].passages == sides[1].passages {
        return Some(abstain("No sentence has a date or a number for each side."));
    }
    let [a, b] = sides.each_ref().map(|side| support(side, &sides, query, text, lexicon));
    let (winner, line) = if b.0 > a.0 { (1, b.1) } else { (0, a.1) };
    let rationale = format!("Neither has a date or a number; the better match is “{line}”");
    Some(Answer { text: sides[winner].name.clone(), rationale })
}

/// The side that one clear value of each side decides for.
pub(super) fn by_values(query: &Query<'_>, text: &Text, lexicon: &Lexicon) -> Option<Answer> {
    let sides = compared(query, ComparisonKind::Either, text, lexicon)?;
    let decided = decide(query, &sides, text, lexicon)?;
    decided.clear.then_some(decided.answer)
}

/// Whether the answer to an either-or question follows from one clear value of each side; `None` for
/// other questions.
pub(super) fn is_decided(
    query: &Query<'_>,
    answer: &str,
    text: &Text,
    lexicon: &Lexicon,
) -> Option<bool> {
    let sides = compared(query, ComparisonKind::Either, text, lexicon)?;
    let decided = decide(query, &sides, text, lexicon);
    let same = |answered: &str| normalise_name(answered) == normalise_name(answer);
    Some(decided.is_some_and(|decided| decided.clear && same(&decided.answer.text)))
}

/// An answer by the values of both sides.
struct Decision {
    answer: Answer,
    /// Whether each side has one value of what is compared, and no other.
    clear: bool,
}

fn decide(
    query: &Query<'_>,
    sides: &[Side; 2],
    text: &Text,
    lexicon: &Lexicon,
) -> Option<Decision> {
    let (by, least) = measure(query)?;
    let context = Context { query, text, lexicon };
    let (a, b) = (context.value(&sides[0], by)?, context.value(&sides[1], by)?);
    if (&a.line, a.at) == (&b.line, b.at) {
        return None;
    }
    let order = a.compare(&b)?;
    let winner = usize::from(order.is_lt() != least);
    let rationale = format!("Compared: “{}” and “{}”", a.line, b.line);
    let answer = Answer { text: sides[winner].name.clone(), rationale };
    Some(Decision { answer, clear: a.clear && b.clear })
}

/// What is compared, and whether the lesser wins.
pub(super) fn measure(query: &Query<'_>) -> Option<(By, bool)> {
    let words = query.sentence.lower_words();
    let any = |name: &str| words.iter().any(|word| is_listed(name, word));
    let stem = |stem: &str| query.sentence.words.iter().any(|word| word.stem == stem);
    let event = if stem(DEATH) {
        Some(DEATH)
    } else if stem(BIRTH) || any("age") {
        Some(BIRTH)
    } else if stem("found") {
        Some("found")
    } else {
        ["release", "publish"].into_iter().find(|event| stem(event))
    };
    if any("early") {
        Some((By::Date(event), true))
    } else if any("late") {
        Some((By::Date(event), false))
    } else if any("more") {
        Some((By::Number, false))
    } else if any("less") {
        Some((By::Number, true))
    } else {
        None
    }
}

/// What one side has of what is compared.
struct SideValue {
    amount: f64,
    /// What it is an amount of, by its unit or a word near it: `length`, `euro`, `inhabit`.
    dimension: String,
    /// Whether a date is known to the day or month.
    exact: bool,
    /// Whether its sentence says what is compared, and no other sentence another value.
    clear: bool,
    /// Its sentence.
    line: String,
    /// The word of the sentence with which it begins.
    at: usize,
    /// Words from it to the name of the side.
    distance: usize,
}

impl SideValue {
    /// `None` where the values are equal or of different dimensions.
    fn compare(&self, other: &Self) -> Option<Ordering> {
        let whole = |value: &Self, exact| if exact { value.amount } else { value.amount.floor() };
        let exact = self.exact && other.exact;
        let order = whole(self, exact).partial_cmp(&whole(other, exact))?;
        (order.is_ne() && self.dimension == other.dimension).then_some(order)
    }
}

/// What the value of a side is read from.
struct Context<'a> {
    query: &'a Query<'a>,
    text: &'a Text,
    lexicon: &'a Lexicon,
}

impl Context<'_> {
    fn value(&self, side: &Side, by: By) -> Option<SideValue> {
        let mut best: Option<(usize, SideValue)> = None;
        for (line, span) in side_spans(side, self.text, self.lexicon) {
            let Some(Fit { rank, amount, about }) = self.fit(line, &span, by) else { continue };
            let unit = unit_after(line, &span).unwrap_or(Unit { dimension: about, factor: 1.0 });
            let amount = amount * unit.factor;
            let value = SideValue {
                amount,
                dimension: unit.dimension,
                exact: !matches!(span.kind, Kind::Year(_)),
                clear: rank >= CLEAR,
                line: line.sentence.text.clone(),
                at: span.words.start,
                distance: self.distance(side, line, &span),
            };
            match &mut best {
                Some((highest, _)) if rank < *highest => {}
                // Of two in one sentence the nearer one is meant: `A has 9 gates and B has 14 gates`.
                Some((highest, other)) if rank == *highest && other.line == value.line => {
                    other.clear &= other.distance != value.distance;
                    if value.distance < other.distance {
                        *other = value;
                    }
                }
                Some((highest, other)) if rank == *highest => {
                    other.clear &= (other.amount - amount).abs() <= 1e-9 * amount.abs();
                }
                _ => best = Some((rank, value)),
            }
        }
        best.map(|(_, value)| value)
    }

    /// Words between a span and the name of a side.
    fn distance(&self, side: &Side, line: &Line, span: &Span) -> usize {
        let name = self.lexicon.content(&side.name);
        let words = line.sentence.words.iter().enumerate();
        let named = words.filter(|(_, word)| name.contains(&word.stem));
        named.map(|(at, _)| at.abs_diff(span.words.start)).min().unwrap_or_default()
    }

    fn fit(&self, line: &Line, span: &Span, by: By) -> Option<Fit> {
        let distance = |stem: &str| {
            let words = line.sentence.words.iter().enumerate();
            let same = words.filter(|(_, word)| word.stem == stem);
            same.map(|(i, _)| i.abs_diff(span.words.start)).min().unwrap_or(usize::MAX)
        };
        match (by, span.kind) {
            (By::Date(event), Kind::Date(amount) | Kind::Year(amount)) => {
                let lives = line.life[span.words.start];
                let exact = usize::from(matches!(span.kind, Kind::Date(_)));
                let rank = match event {
                    Some(event) if lives == Some(event) => 6 + exact,
                    Some(_) if lives.is_some() => 0,
                    Some(event) if distance(event) < NEAR => 4 + exact,
                    _ => CLEAR,
                };
                Some(Fit { rank, amount, about: String::new() })
            }
            (By::Number, Kind::Number(amount)) => {
                // The nearest number of a sentence that has several.
                let near = self.measured().into_iter().map(|stem| (distance(&stem), stem)).min();
                let near = near.filter(|(words, _)| *words < NEAR);
                let (rank, about) = match near {
                    Some((words, stem)) => (CLEAR + NEAR - words, stem),
                    None => (1, String::new()),
                };
                Some(Fit { rank, amount, about })
            }
            _ => None,
        }
    }

    /// The stems of what is compared: `long` of `longer`.
    fn measured(&self) -> Vec<String> {
        let comparison = comparison(self.query.text, self.lexicon);
        let name = comparison.map(|c| c.attribute("it", self.lexicon).name).unwrap_or_default();
        self.lexicon.content(&name)
    }
}

/// How well a value fits what is compared.
struct Fit {
    /// Higher is better; from [`CLEAR`] on it is a value of what is compared.
    rank: usize,
    amount: f64,
    /// The stem of the word that says what it measures.
    about: String,
}

/// The rank from which on a value is one of what is compared.
const CLEAR: usize = 2;

/// Words between a value and the word for what it measures, at most.
const NEAR: usize = 6;

/// A unit of measurement.
struct Unit {
    /// `length`, or the name of a currency.
    dimension: String,
    factor: f64,
}

/// The unit behind a number.
fn unit_after(line: &Line, span: &Span) -> Option<Unit> {
    line.sentence.words.get(span.words.end)?;
    let word = line.sentence.word(span.words.end).to_lowercase();
    if is_listed("currencies", &word) {
        return Some(Unit { dimension: word.trim_end_matches('s').to_owned(), factor: 1.0 });
    }
    DIMENSIONS.iter().find_map(|dimension| {
        let mut units = list(dimension).filter_map(|unit| unit.split_once(' '));
        let (_, factor) = units.find(|(name, _)| *name == word.trim_end_matches('s'))?;
        Some(Unit { dimension: (*dimension).to_owned(), factor: factor.parse().ok()? })
    })
}

/// Lists of units with their factors.
const DIMENSIONS: &[&str] = &["length", "mass", "duration", "area", "volume"];

/// The share of the rest of the question in the passages about a side, with the best sentence.
fn support(
    side: &Side,
    sides: &[Side; 2],
    query: &Query<'_>,
    text: &Text,
    lexicon: &Lexicon,
) -> (f32, String) {
    let named: HashSet<String> =
        sides.iter().flat_map(|side| lexicon.content(&side.name)).collect();
    let mut rest = query.mass.clone();
    rest.retain(|(stem, _)| !named.contains(stem));
    let mut all = HashSet::new();
    let mut best = (0.0_f32, String::new());
    for line in side.passages.iter().flat_map(|&passage| text.lines_of(passage)) {
        let stems = line.stems();
        let share = covered(&rest, &stems);
        if share > best.0 {
            best = (share, line.sentence.text.clone());
        }
        all.extend(stems);
    }
    (covered(&rest, &all), best.1)
}

#[cfg(test)]
mod tests {
    use halma_core::text::support::TitledText;
    use halma_core::{AnswerKind, Question};

    use crate::input::Passage;
    use crate::lexicon::Lexicon;
    use crate::read::confidence::evidence;
    use crate::read::target::Target;
    use crate::read::{ReadInput, read};
    use crate::words::Sentence;

    const TEXT: &str = "The Varn dam is 950 m long. It was built in 1931. The Oller dam is 1.2 km \
        long and 40 m high. The mill in Varn has 12 wheels and 3 doors. The mill in Saxby has \
        9 wheels and 5 doors. Ada Moor was born on 5 March 1960. Ben Holt was born on \
        12 January 1960. The lamp costs 90 euros. The bench costs 75 euros. The desk costs \
        80 dollars. Norden has 14 gates and the depot in Emden has 9 gates. There are 5 ramps \
        in Norden and 4 in Emden.";

    /// The answer, and whether it is shown as one.
    fn answer(question: &str) -> (String, bool) {
        let lexicon = Lexicon::new();
        let passage = Passage { title: "Notes".into(), text: TEXT.into(), ..Passage::default() };
        let text = read(&lexicon, &ReadInput::new(Question::new(question), vec![passage])).text;
        let passages = [TitledText { title: "Notes", text: TEXT }];
        let evidence = evidence(&lexicon, None, (question, &text), &passages);
        (text, evidence.confidence() > 0.5)
    }

    #[test]
    fn two_sides_in_one_passage_are_compared_by_their_values() {
        for (question, expected) in [
            ("Which is longer, the Varn dam or the Oller dam?", "Oller dam"),
            ("Which dam is shorter, the Oller dam or the Varn dam?", "Varn dam"),
            ("Which mill has more wheels, the mill in Saxby or the mill in Varn?", "mill in Varn"),
            ("Which mill has fewer doors, the mill in Saxby or the mill in Varn?", "mill in Varn"),
            ("Which depot has more gates, Norden or Emden?", "Norden"),
            ("Which depot has fewer gates, Norden or Emden?", "Emden"),
            ("Who is older, Ada Moor or Ben Holt?", "Ben Holt"),
            ("Who was born later, Ben Holt or Ada Moor?", "Ada Moor"),
        ] {
            assert_eq!(answer(question), (expected.to_owned(), true), "{question}");
        }
    }

    #[test]
    fn sides_without_comparable_values_are_not_guessed() {
        for question in [
            "Which is higher, the Varn dam or the Oller dam?",
            "Which is wider, the Varn dam or the Oller dam?",
            "Which costs more, the lamp or the desk?",
            "Who is taller, Ada Moor or Ben Holt?",
            "Which depot has more ramps, Norden or Emden?",
        ] {
            assert!(!answer(question).1, "{question}: {}", answer(question).0);
        }
    }

    #[test]
    fn a_yes_or_no_question_is_no_choice() {
        let lexicon = Lexicon::new();
        let words = Sentence::new("Is the Varn dam long?", &lexicon);
        let target = Target::new(&words, AnswerKind::Short, &lexicon);
        let text = super::Text::new(&[], &lexicon);
        let query = super::Query::new("Is the Varn dam long?", target, &text, &lexicon);
        assert!(super::choose(&query, &text, &lexicon).is_none());
    }
}
