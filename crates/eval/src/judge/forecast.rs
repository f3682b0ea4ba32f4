//! Reading a forecast from the words of an answer (PIKE-RAG's L3), and comparing it with what came.
use halma_core::{Cx, Prompt, Result};
use minijinja::context;
use serde::Deserialize;

use super::scheme::Finding;
use crate::Item;

const FORECAST: Prompt<Outlook> = Prompt::json("judge/forecast");

/// Where a series goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Up,
    Down,
    Flat,
}

impl Direction {
    /// From one value to another.
    fn between(from: f64, to: f64) -> Self {
        match to - from {
            change if change > 0.0 => Self::Up,
            change if change < 0.0 => Self::Down,
            _ => Self::Flat,
        }
    }
}

/// What an answer forecasts, as far as it says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
pub(super) struct Outlook {
    pub(super) direction: Option<Direction>,
    pub(super) value: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Outlook {
    /// Of an answer in the form that `pike_l3` asks for, `12 (80 % interval 9 to 15)`: the number
    /// before the parenthesis that has the interval, and its bounds. No model has to read it.
    fn stated(answer: &str) -> Option<Self> {
        let (before, after) = answer.split_once('(')?;
        let (_, bounds) = after.split_once(')')?.0.split_once("interval ")?;
        let (low, high) = bounds.split_once(" to ")?;
        let value = numbers(before).last()?;
        let (low, high) = (numbers(low).next()?, numbers(high).next()?);
        // More than one: the answer says several things, and a reader has to choose.
        let single = answer.matches(" interval ").count() == 1 && numbers(before).count() == 1;
        (single && low <= high).then_some(Self {
            direction: None,
            value: Some(value),
            low: Some(low),
            high: Some(high),
        })
    }

    /// Where it goes: as it says, else from the last value known to the one that it expects.
    fn heads(&self, last: Option<f64>) -> Option<Direction> {
        let by_value = || Some(Direction::between(last?, self.value?));
        self.direction.or_else(by_value)
    }
}

/// What an answer forecasts: as it states it in so many words, else as the judge reads it. The judge
/// computes nothing of its own.
///
/// # Errors
///
/// Bounds in the wrong order are asked for again, then [`halma_core::Error::BadReply`].
pub(super) async fn outlook(cx: &Cx, question: &str, answer: &str) -> Result<Outlook> {
    if let Some(stated) = Outlook::stated(answer) {
        return Ok(stated);
    }
    let ordered = |outlook: &Outlook| match (outlook.low, outlook.high) {
        (Some(low), Some(high)) if low > high => Err(format!("`low` {low} is above `high` {high}")),
        _ => Ok(()),
    };
    cx.span("outlook").ask_checked(&FORECAST, context! { question, answer }, ordered).await
}

/// What came, by the gold answers of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ActualValue {
    pub direction: Option<Direction>,
    pub value: Option<f64>,
    /// The last value that was known when the question was asked.
    pub last: Option<f64>,
}

/// Gold answers that name a direction.
const DIRECTIONS: [(&str, Direction); 12] = [
    ("up", Direction::Up),
    ("rise", Direction::Up),
    ("increase", Direction::Up),
    ("higher", Direction::Up),
    ("down", Direction::Down),
    ("fall", Direction::Down),
    ("decrease", Direction::Down),
    ("lower", Direction::Down),
    ("flat", Direction::Flat),
    ("stable", Direction::Flat),
    ("unchanged", Direction::Flat),
    ("no change", Direction::Flat),
];

impl ActualValue {
    /// The first gold answer that is a number and nothing else, and the first that is a word for a
    /// direction; without such a word the number's own, from the last value known. A sentence is
    /// neither: its numbers may be years, and its words be denied.
    pub fn read(item: &Item) -> Self {
        let value = item.answers.iter().find_map(|answer| plain_number(answer));
        let named = item.answers.iter().find_map(|answer| direction(answer));
        let by_value = || Some(Direction::between(item.last?, value?));
        Self { direction: named.or_else(by_value), value, last: item.last }
    }

    /// Whether there is anything to compare a forecast with.
    pub(super) fn is_known(&self) -> bool {
        self.direction.is_some() || self.value.is_some()
    }

    /// 1 where the forecast goes where it went, else 0; 1 where what came lies in the interval, else
    /// 0; then how far the forecast is from what came, in the unit of the question, and how far the
    /// last value is, for an answer that forecasts a value: so that both errors are of the same
    /// questions.
    pub(super) fn findings(&self, outlook: &Outlook) -> [Finding; 4] {
        [
            self.is_direction(outlook),
            self.is_covered(outlook),
            self.error(outlook),
            self.naive(outlook),
        ]
    }

    fn is_direction(&self, outlook: &Outlook) -> Finding {
        let actual = self.direction.ok_or(NO_DIRECTION)?;
        let forecast = outlook.heads(self.last).ok_or("the answer forecasts no direction")?;
        Ok(f64::from(u8::from(forecast == actual)))
    }

    fn is_covered(&self, outlook: &Outlook) -> Finding {
        let actual = self.value.ok_or(NO_VALUE)?;
        outlook.value.ok_or(NO_FORECAST)?;
        let interval = outlook.low.zip(outlook.high).ok_or("the answer gives no interval")?;
        Ok(f64::from(u8::from((interval.0..=interval.1).contains(&actual))))
    }

    fn error(&self, outlook: &Outlook) -> Finding {
        let actual = self.value.ok_or(NO_VALUE)?;
        Ok((outlook.value.ok_or(NO_FORECAST)? - actual).abs())
    }

    fn naive(&self, outlook: &Outlook) -> Finding {
        let actual = self.value.ok_or(NO_VALUE)?;
        let last = self.last.ok_or("the question has no `last`")?;
        outlook.value.ok_or(NO_FORECAST)?;
        Ok((last - actual).abs())
    }
}

/// The numbers of a text, with commas between thousands.
fn numbers(text: &str) -> impl Iterator<Item = f64> {
    text.split_whitespace().filter_map(|word| plain_number(word.trim_matches([':', ';', '.', ','])))
}

const NO_DIRECTION: &str = "no gold answer is a direction, or a number after a `last`";
const NO_VALUE: &str = "no gold answer is a number";
const NO_FORECAST: &str = "the answer forecasts no value";

fn direction(answer: &str) -> Option<Direction> {
    let word = answer.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    DIRECTIONS.iter().find(|(name, _)| *name == word).map(|(_, direction)| *direction)
}

/// `1,200`, `-3.5`, `$12`, `7 %`; no other words, and no comma for a point.
fn plain_number(answer: &str) -> Option<f64> {
    let bare: String = answer.chars().filter(|c| !"$€£%".contains(*c)).collect();
    let bare = bare.trim().replace('−', "-");
    let (sign, digits) = match bare.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, bare.strip_prefix('+').unwrap_or(&bare)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let fits = all_digits(first)
        && groups.all(|group| group.len() == 3 && all_digits(group))
        && all_digits(fraction);
    let value: f64 = fits.then(|| digits.replace(',', "").parse().ok())??;
    Some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn came(answers: &[&str], last: Option<f64>) -> ActualValue {
        let answers = answers.iter().map(|answer| (*answer).to_owned());
        ActualValue::read(&Item { last, ..Item::new("q", "How many?", answers) })
    }

    #[test]
    fn what_came_is_read_from_gold_answers_that_are_nothing_else() {
        for (answer, wanted) in [
            ("1,200", Some(1200.0)),
            ("-3.5", Some(-3.5)),
            ("−$12", Some(-12.0)),
            ("7 %", Some(7.0)),
            ("1,5", None),
            ("12-15", None),
            ("120 in 2024", None),
            ("5.", None),
            ("", None),
        ] {
            assert_eq!(came(&[answer], None).value, wanted, "{answer:?}");
        }
        assert_eq!(came(&["It will not rise."], Some(1.0)).direction, None);
        assert_eq!(came(&["120", "Down."], Some(100.0)).direction, Some(Direction::Down));
        assert_eq!(came(&["120"], Some(100.0)).direction, Some(Direction::Up));
        assert_eq!(came(&["120"], None).direction, None);
    }

    #[test]
    fn a_stated_forecast_needs_no_reader() {
        let read =
            |answer: &str| Outlook::stated(answer).map(|said| (said.value, said.low, said.high));
        let full = |value, low, high| Some((Some(value), Some(low), Some(high)));
        assert_eq!(read("4.45 (80 % interval 2 to 7)"), full(4.45, 2.0, 7.0));
        assert_eq!(
            read("About 1,234 t (80 % interval 1,100 t to 1,300 t)."),
            full(1234.0, 1100.0, 1300.0)
        );
        assert_eq!(read("83 % (80 % interval 60 % to 95 %)"), full(83.0, 60.0, 95.0));
        for answer in [
            "4.45",
            "About 4 (2 to 7)",
            "In 2024 about 4 (80 % interval 2 to 7)",
            "4 (80 % interval 2 to 7), or 5 (80 % interval 3 to 8)",
            "4 (80 % interval 7 to 2)",
        ] {
            assert_eq!(read(answer), None, "{answer}");
        }
    }

    #[test]
    fn errors_are_those_of_the_forecast_and_of_the_last_value() {
        let came = came(&["120"], Some(100.0));
        let said = Outlook { value: Some(110.0), ..Outlook::default() };
        assert_eq!((came.error(&said), came.naive(&said)), (Ok(10.0), Ok(20.0)));
        let silent = Outlook::default();
        assert!(came.error(&silent).is_err() && came.naive(&silent).is_err());
    }

    #[test]
    fn a_forecast_is_compared_as_far_as_both_sides_say() {
        let said = Outlook { value: Some(110.0), low: Some(90.0), ..Outlook::default() };
        let full = Outlook { direction: Some(Direction::Down), high: Some(119.0), ..said };
        let came = came(&["120"], Some(100.0));
        assert_eq!(came.is_direction(&said), Ok(1.0));
        assert_eq!(came.is_direction(&full), Ok(0.0), "what it says goes before its value");
        assert_eq!(came.is_covered(&said), Err("the answer gives no interval"));
        assert_eq!(came.is_covered(&full), Ok(0.0));
        assert_eq!(ActualValue::default().is_direction(&full), Err(NO_DIRECTION));
        assert_eq!(ActualValue::default().is_covered(&full), Err(NO_VALUE));
    }
}
