//! Task `classify`: the kind of a question, given the tables and passages of the base.
use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use crate::decompose::chain;
use crate::decompose::sides::comparison;
use crate::input::{Passage, Table};
use crate::lexicon::Lexicon;
use crate::lists::{cue, is_listed, list};
use crate::read::cells::Row;
use crate::words::split;

#[derive(Debug, Deserialize)]
pub(crate) struct ClassifyInput {
    question: Question,
    catalog: Catalog,
    #[serde(default)]
    near: Vec<Passage>,
}

#[derive(Debug, Default, Deserialize)]
struct Catalog {
    #[serde(default)]
    tables: Vec<Table>,
}

pub(crate) fn reply(lexicon: &Lexicon, input: &ClassifyInput) -> String {
    let (kind, reason) = kind(input, lexicon);
    json!({ "kind": kind, "reason": reason }).to_string()
}

fn kind(input: &ClassifyInput, lexicon: &Lexicon) -> (&'static str, String) {
    let question = &input.question.text;
    let cue = |name: &str| cue(name, question);
    let reason = |cue: &str| format!("It says `{cue}`.");
    if let Some(cue) = cue("creative") {
        return ("creative", reason(cue));
    }
    // `Will Quill` is a name; a verb opens the question or follows its first words.
    if let Some(cue) = cue("predictive").filter(|cue| *cue != "will" || wills(question)) {
        return ("predictive", reason(cue));
    }
    let tables = &input.catalog.tables;
    let by_head = tables.iter().find(|table| matches_head(table, question, lexicon));
    let table = by_head.or(tables.first().filter(|_| names_cell(input, lexicon)));
    let cue_of_rows = cue("aggregate").or_else(|| cue("extreme")).or_else(|| asks_list(question));
    if let (Some(cue), Some(table)) = (cue_of_rows, table) {
        let reason = format!("It says `{cue}`, and `{}` has the rows.", table.name);
        return ("quantitative", reason);
    }
    let compares = ["more", "less", "early", "late"];
    let degree = words(question).any(|word| compares.iter().any(|list| is_listed(list, &word)));
    if let (true, Some(table)) = (degree && words(question).any(|word| word == "or"), table) {
        let reason = format!("It compares rows of `{}`.", table.name);
        return ("quantitative", reason);
    }
    if comparison(question, lexicon).is_some() || cue("comparative").is_some() {
        return ("comparative", "It asks the same of two things.".into());
    }
    if let Some(cue) = cue("collection") {
        return ("collection", reason(cue));
    }
    if let Some(cue) = cue("summarising") {
        return ("summarising", reason(cue));
    }
    let steps = chain(question, lexicon).len();
    if steps > 1 {
        return ("bridging", format!("It takes {steps} look-ups, each based on the one before."));
    }
    let near = input.near.len();
    ("factual", format!("It asks for one thing; {near} passages are near."))
}

fn words(question: &str) -> impl Iterator<Item = String> {
    split(question).into_iter().map(|range| question[range].to_lowercase())
}

fn wills(question: &str) -> bool {
    let words: Vec<&str> = question.split_whitespace().take(6).collect();
    let first = words.first().is_some_and(|word| word.eq_ignore_ascii_case("will"));
    first || words.contains(&"will")
}

/// Whether a word of the question is in the head of the table, or the table and the question are
/// about people. Whether all of its words are, the query says.
fn matches_head(table: &Table, question: &str, lexicon: &Lexicon) -> bool {
    let stems: HashSet<String> = lexicon.content(question).into_iter().collect();
    let about_people = || list("people").any(|word| stems.contains(&lexicon.stem(word)));
    !stems.is_disjoint(&table.stems(lexicon)) || (table.lists_people() && about_people())
}

/// The word by which a question asks for several things: `Which mills are in Varn?`
fn asks_list(question: &str) -> Option<&'static str> {
    let words: Vec<String> = words(question).take(3).collect();
    let is_plural = |word: &String| word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    let cue = ["which", "list"].into_iter().find(|cue| words.first().is_some_and(|w| w == cue));
    cue.filter(|_| words[1..].iter().any(is_plural))
}

/// Whether the question names a cell of a row that is near.
fn names_cell(input: &ClassifyInput, lexicon: &Lexicon) -> bool {
    let stems: HashSet<String> = lexicon.content(&input.question.text).into_iter().collect();
    input.near.iter().flat_map(Row::all).any(|row| !row.named(&stems, lexicon).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(question: &str) -> &'static str {
        let table = json!({
            "name": "mills", "caption": "Mills of the valley", "document": "m.csv", "rows": 40,
            "columns": [
                { "name": "town", "kind": "text", "unit": "" },
                { "name": "wheels", "kind": "integer", "unit": "" }
            ]
        });
        let catalog = Catalog { tables: vec![serde_json::from_value(table).unwrap()] };
        let input = ClassifyInput { question: Question::new(question), catalog, near: vec![] };
        super::kind(&input, &Lexicon::new()).0
    }

    #[test]
    fn cue_words_decide_the_kind() {
        for (question, expected) in [
            ("Who painted Low Tide?", "factual"),
            ("Where was the painter of Low Tide born?", "bridging"),
            ("Who is older, Mara Quill or Orla Finch?", "comparative"),
            ("Compare Low Tide with High Noon.", "comparative"),
            ("How many mills of the valley have two wheels?", "quantitative"),
            ("What is the average number of wheels of the mills?", "quantitative"),
            ("How many mills in the table were shut before 1920?", "quantitative"),
            ("How many ships in the table were built before 1920?", "factual"),
            ("Which mill has the most wheels?", "quantitative"),
            ("How many wheels does the mill of Varn have?", "quantitative"),
            ("How many children did Mara Quill have?", "factual"),
            ("What does wheels of the mills mean?", "factual"),
            ("Which themes run through these reports?", "collection"),
            ("Summarise all the documents.", "collection"),
            ("Summarise the reports.", "summarising"),
            ("What are the main themes of the letters?", "summarising"),
            ("What will the price of flour be next year?", "predictive"),
            ("How could we win more readers?", "creative"),
            ("Who was Will Quill?", "factual"),
            ("", "factual"),
            ("¿Quién pintó Marea Baja?", "factual"),
        ] {
            assert_eq!(kind(question), expected, "{question}");
        }
    }
}
