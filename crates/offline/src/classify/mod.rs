//! Task `classify`: what sort of question this is, for a base that holds what it holds.
mod cues;

use std::collections::HashSet;

use halma_core::Question;
use serde::Deserialize;
use serde_json::json;

use self::cues::{COUNTS, CUES, ENDS};
use crate::decompose::chain;
use crate::decompose::sides::comparison;
use crate::input::{Passage, Table};
use crate::lexicon::Lexicon;
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
    let said: Vec<String> =
        split(question).into_iter().map(|r| question[r].to_lowercase()).collect();
    let said = format!(" {} ", said.join(" "));
    let cue =
        |list: &[&'static str]| list.iter().copied().find(|cue| said.contains(&format!(" {cue} ")));
    let cued =
        |name: &str| CUES.iter().find(|(kind, _)| *kind == name).and_then(|(_, list)| cue(list));
    if let Some(cue) = cued("creative") {
        return ("creative", format!("It says `{cue}`."));
    }
    // `Will Quill` is a name; a verb opens the question or follows its first words.
    if let Some(cue) = cued("predictive").filter(|cue| *cue != "will" || wills(question)) {
        return ("predictive", format!("It says `{cue}`."));
    }
    let table = input.catalog.tables.iter().find(|table| speaks_of(table, question, lexicon));
    if let (Some(cue), Some(table)) = (cue(COUNTS).or_else(|| cue(ENDS)), table) {
        return if one_row(table, question, lexicon) {
            ("factual", format!("A row of `{}` says it.", table.name))
        } else {
            ("quantitative", format!("It says `{cue}`, and `{}` has the rows.", table.name))
        };
    }
    if comparison(question, lexicon).is_some()
        || cue(&["compare", "difference between", "versus", "vs"]).is_some()
    {
        return ("comparative", "The same is asked of two things.".into());
    }
    if let Some(cue) = cued("summarising") {
        return ("summarising", format!("It says `{cue}`."));
    }
    let steps = chain(question, lexicon).len();
    if steps > 1 {
        return ("bridging", format!("It takes {steps} look-ups, one resting on the other."));
    }
    let near = input.near.len();
    ("factual", format!("It asks for one thing; {near} passages are near."))
}

fn wills(question: &str) -> bool {
    let words: Vec<&str> = question.split_whitespace().take(6).collect();
    let first = words.first().is_some_and(|word| word.eq_ignore_ascii_case("will"));
    first || words.contains(&"will")
}

/// Whether two words of the question, or its only one, are in the head of the table. A question
/// that says `table` needs one.
fn speaks_of(table: &Table, question: &str, lexicon: &Lexicon) -> bool {
    let wanted: HashSet<String> = lexicon.content(question).into_iter().collect();
    let says_so = split(question).into_iter().any(|r| question[r].eq_ignore_ascii_case("table"));
    let held = table.stems(lexicon);
    let enough = if says_so { 1 } else { 2.min(wanted.len()).max(1) };
    wanted.intersection(&held).count() >= enough
}

/// Whether the number that is asked for stands in a column of its own: `how many beds does X
/// have` with a column `beds`, asked of one thing by name.
fn one_row(table: &Table, question: &str, lexicon: &Lexicon) -> bool {
    let named = crate::links::named_things(question, lexicon);
    let stems: HashSet<String> = lexicon.content(question).into_iter().collect();
    let column = table.columns.iter().any(|column| {
        column.is_number() && lexicon.content(&column.name).iter().any(|stem| stems.contains(stem))
    });
    let whole = ["average", "mean", "total", "sum", "median", "altogether"];
    let all =
        split(question).into_iter().any(|r| whole.contains(&question[r].to_lowercase().as_str()));
    named.len() == 1 && column && !all
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
    fn the_words_tell_the_kind() {
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
            ("How many wheels does the mill of Varn have?", "factual"),
            ("How many children did Mara Quill have?", "factual"),
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
