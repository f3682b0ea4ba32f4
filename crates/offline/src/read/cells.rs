//! A cell of a table's row: `Article: Oak table; Unit price (EUR): 449.00` says what the oak table
//! costs. Only where every word of the question is accounted for.
use std::collections::HashSet;

use super::Answer;
use super::target::{Sort, Target};
use crate::input::Passage;
use crate::lexicon::Lexicon;
use crate::lists::{is_listed, list};
use crate::words::Sentence;

/// A row with its heads and values in order.
pub(crate) struct Row<'p> {
    title: &'p str,
    cells: Vec<(&'p str, &'p str)>,
}

impl<'p> Row<'p> {
    /// The rows of a passage: lines of at least two cells.
    pub(crate) fn all(passage: &'p Passage) -> impl Iterator<Item = Self> {
        passage.text.lines().filter_map(|line| Self::parse(&passage.title, line))
    }

    fn parse(title: &'p str, line: &'p str) -> Option<Self> {
        let cells: Option<Vec<_>> =
            line.trim().split("; ").map(|cell| cell.split_once(": ")).collect();
        let cells = cells.filter(|cells| cells.len() > 1)?;
        Some(Self { title, cells })
    }

    /// The stems of the values that the question has as a whole.
    pub(crate) fn named(&self, question: &HashSet<String>, lexicon: &Lexicon) -> HashSet<String> {
        let stems = self.cells.iter().map(|(_, value)| lexicon.content(value));
        let whole = |stems: &Vec<String>| stems.iter().all(|stem| question.contains(stem));
        stems.filter(whole).flatten().collect()
    }

    /// The cell that is asked for; `None` where two fit equally well, and where a word of the
    /// question is in no cell that the row is told by.
    fn cell(&self, query: &CellQuery<'_>) -> Option<(&'p str, &'p str)> {
        let lexicon = query.lexicon;
        let mut scored: Vec<(usize, usize)> = self
            .cells
            .iter()
            .enumerate()
            .map(|(at, (head, _))| (query.score(head, at), at))
            .collect();
        scored.retain(|(score, _)| *score > 0);
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let at = match scored.as_slice() {
            [(first, _), (second, _), ..] if first == second => return None,
            [(_, at), ..] => *at,
            [] => return None,
        };
        let (head, value) = self.cells[at];
        let named = self.named(&query.stems, lexicon);
        let label = self.cells.first().map(|(head, _)| *head).unwrap_or_default();
        let heads = [self.title, label, head].map(|text| lexicon.content(text));
        let heads: HashSet<String> = heads.into_iter().flatten().collect();
        let accounted = |stem: &String| {
            named.contains(stem) || heads.contains(stem) || query.of_cells.contains(stem)
        };
        let stems = lexicon.content(value);
        // What the question says itself is not asked for.
        let is_new = stems.is_empty() || stems.iter().any(|stem| !query.stems.contains(stem));
        let fits = query.sort != Sort::Number || value.contains(|c: char| c.is_ascii_digit());
        let is_told = !named.is_empty() && query.stems.iter().all(accounted);
        (is_told && is_new && fits && !value.is_empty()).then_some((head, value))
    }
}

/// What a question asks of a row.
struct CellQuery<'a> {
    /// The stems of its words, without those that only ask.
    stems: HashSet<String>,
    /// All of its words in lower case.
    words: Vec<String>,
    /// The stems of words that name nothing in a table.
    of_cells: HashSet<String>,
    is_money: bool,
    sort: Sort,
    lexicon: &'a Lexicon,
}

impl CellQuery<'_> {
    /// How well the head of the column `at` is what is asked for.
    fn score(&self, head: &str, at: usize) -> usize {
        let shared =
            self.lexicon.content(head).iter().filter(|stem| self.stems.contains(*stem)).count();
        let mut words = head.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        let is = |lists: &'static [&'static str]| {
            move |word: String| lists.iter().any(|name| is_listed(name, &word))
        };
        // A head of function words alone: `Since`.
        let is_said = |word: String| self.words.contains(&word);
        let fits = match self.sort {
            _ if self.lexicon.content(head).is_empty() => words.all(is_said),
            _ if self.is_money => words.any(is(&["money", "currencies"])),
            Sort::Person => {
                at == 0 && words.any(|word| word == "name" || is_listed("people", &word))
            }
            _ => false,
        };
        shared * 2 + usize::from(fits)
    }
}

/// Whether a question in lower case asks for an amount of money.
pub(crate) fn asks_money(words: &[String]) -> bool {
    words.starts_with(&["how".to_owned(), "much".to_owned()])
        || words.iter().any(|word| is_listed("money", word))
}

/// The cell that a question asks for, where all rows that the question tells say the same.
pub(crate) fn look_up(
    question: &Sentence,
    target: &Target,
    passages: &[Passage],
    lexicon: &Lexicon,
) -> Option<Answer> {
    let words = question.lower_words();
    let asks_more = |word: &String| is_listed("denial", word) || is_listed("beyond a cell", word);
    if target.sort == Sort::YesNo || words.iter().any(asks_more) {
        return None;
    }
    let is_money = asks_money(&words);
    let of_cells: HashSet<String> = list("of cells").map(|word| lexicon.stem(word)).collect();
    let asks =
        |at: &usize| question.words[*at].stop || (is_money && is_listed("money", &words[*at]));
    let content = (0..words.len()).filter(|at| !asks(at));
    let stems = content.map(|at| question.words[at].stem.clone()).collect();
    let query = CellQuery { stems, words, of_cells, is_money, sort: target.sort, lexicon };
    let rows = passages.iter().flat_map(Row::all);
    let mut cells = rows.filter_map(|row| row.cell(&query));
    let (head, value) = cells.next()?;
    cells.all(|(_, other)| other == value).then(|| Answer {
        text: with_unit(head, value),
        rationale: format!("The row has “{head}: {value}”."),
    })
}

/// `449.00 EUR` of a column `Unit price (EUR)`, `64 GB` of `RAM (GB)`.
fn with_unit(head: &str, value: &str) -> String {
    let unit = head.strip_suffix(')').and_then(|head| Some(head.rsplit_once('(')?.1));
    match unit.filter(|unit| unit.len() < 5 && !unit.contains(' ')) {
        Some(unit) if value.ends_with(|c: char| c.is_ascii_digit()) => format!("{value} {unit}"),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use halma_core::AnswerKind;

    use super::*;

    #[test]
    fn a_cell_is_read_where_the_question_tells_its_row() {
        let lexicon = Lexicon::new();
        let passage =
            |text: &str| Passage { title: "Shop".into(), text: text.into(), ..Passage::default() };
        let passages = [
            passage("Article: Oak bench; Kind: Benches; Unit price (EUR): 449.00; Stock: 12"),
            passage("Article: Pine bench; Kind: Benches; Unit price (EUR): 289.00; Stock: 30"),
            passage("Name: Tove Berg; Role: Head of sales; Phone: 4410; Since: 2011"),
        ];
        for (question, expected) in [
            ("What does the oak bench cost?", Some("449.00 EUR")),
            ("How much is a pine bench?", Some("289.00 EUR")),
            ("Who is the head of sales?", Some("Tove Berg")),
            ("What is the phone number of Tove Berg?", Some("4410")),
            ("since when is Tove Berg head of sales?", Some("2011")),
            ("What does a bench cost?", None),
            ("What did the oak bench cost in 2020?", None),
            ("Who is the head of sales in Oslo?", None),
            ("What is the price of the steel bench?", None),
            ("Is the price of the oak bench 449?", None),
            ("Which kind are not oak bench?", None),
            ("What costs more than the oak bench?", None),
            ("How many kinds of benches have the stock 12?", None),
        ] {
            let sentence = Sentence::new(question, &lexicon);
            let target = Target::new(&sentence, AnswerKind::Short, &lexicon);
            let answer = look_up(&sentence, &target, &passages, &lexicon).map(|answer| answer.text);
            assert_eq!(answer.as_deref(), expected, "{question}");
        }
    }
}
