//! The half of a text or of a web result: made by rules or by a model, and read again from this
//! passage alone.
use halma_core::text::content_words;
use halma_core::{Cx, Hit, Prompt, Question, Result};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};

use super::bridge::Bridge;
use super::build::Wording;
use super::checks::{agree, holds};
use super::half::{Ask, Clue, Side};
use super::kind::Sort;
use super::record::Place;
use super::statement::Statement;

const STATEMENTS: Prompt<Vec<String>> = Prompt::lines("blend/statements");
const CLUE: Prompt<ClueReply> = Prompt::json("blend/clue");
const ASK: Prompt<AskReply> = Prompt::json("blend/ask");
const READ: Prompt<PassageReading> = Prompt::json("blend/read");

#[derive(Deserialize)]
struct ClueReply {
    question: String,
    phrase: String,
}

#[derive(Deserialize)]
struct AskReply {
    question: String,
    answer: String,
}

#[derive(Deserialize)]
struct PassageReading {
    answer: String,
}

#[derive(Serialize)]
struct BlendChunk<'a> {
    title: &'a str,
    text: &'a str,
}

/// At most this many halves of each kind are made of a passage by rules.
const EACH: usize = 2;

/// What a passage has on the bridge, and how many halves were made that it does not support.
pub(super) async fn side(
    cx: &Cx,
    (bridge, sort): (&Bridge, Sort),
    hit: &Hit,
    wording: Wording,
) -> Result<(Side, u64)> {
    let made = match wording {
        Wording::Rules => by_rules(cx, bridge, sort, hit).await?,
        Wording::Model => by_model(cx, bridge, sort, hit).await?,
    };
    let (mut side, mut unverified) = (Side::default(), 0);
    for clue in made.clues {
        if read(cx, &clue.question, hit).await?.is_some_and(|said| agree(&said, &bridge.name)) {
            side.clues.push(clue);
        } else {
            unverified += 1;
        }
    }
    for ask in made.asks {
        let said = read(cx, &ask.question, hit).await?;
        if said.is_some_and(|said| ask.answers.iter().any(|answer| agree(&said, answer))) {
            side.asks.push(ask);
        } else {
            unverified += 1;
        }
    }
    Ok((side, unverified))
}

/// The answer from one passage; `None` where it has none.
async fn read(cx: &Cx, question: &str, hit: &Hit) -> Result<Option<String>> {
    let variables = context! {
        question => Serde(Question::new(question)),
        context => Serde([hit]),
    };
    let answer = cx.ask(&READ, variables).await?.answer;
    Ok(Some(answer).filter(|answer| !answer.trim().is_empty()))
}

async fn by_rules(cx: &Cx, bridge: &Bridge, sort: Sort, hit: &Hit) -> Result<Side> {
    // The headline of a page is not a name that a pronoun could stand for.
    let title = if sort == Sort::Web { "" } else { &hit.title };
    let chunk = BlendChunk { title, text: &hit.text };
    let statements = cx.ask(&STATEMENTS, context! { chunk => Serde(chunk) }).await?;
    let mut side = Side::default();
    for statement in statements.iter().filter_map(|line| Statement::parse(line)) {
        let place = || place(sort, hit);
        let subject = agree(&statement.subject, &bridge.name);
        if subject && !holds(&statement.rest, &bridge.name) && side.clues.len() < EACH {
            side.clues.push(Clue {
                question: statement.for_subject(bridge.kind()),
                phrase: statement.phrase(bridge.kind()),
                place: place(),
                others: vec![],
            });
        }
        let asked = if subject {
            statement.about_subject()
        } else if statement.is_about(&bridge.name) {
            Some((statement.for_subject(None), statement.subject.clone()))
        } else {
            None
        };
        if let Some((question, answer)) = asked.filter(|_| side.asks.len() < EACH) {
            side.asks.push(Ask { question, answers: vec![answer], place: place() });
        }
    }
    Ok(side)
}

async fn by_model(cx: &Cx, bridge: &Bridge, sort: Sort, hit: &Hit) -> Result<Side> {
    let name = bridge.name.as_str();
    let variables = || {
        let passage = BlendChunk { title: &hit.title, text: &hit.text };
        context! { name, kind => bridge.kind().unwrap_or_default(), passage => Serde(passage) }
    };
    let mut side = Side::default();
    let hidden = |reply: &ClueReply| {
        let given = holds(&reply.question, name) || holds(&reply.phrase, name);
        if given { Err(format!("the name `{name}` stands in it")) } else { Ok(()) }
    };
    let clue = cx.ask_checked(&CLUE, variables(), hidden).await?;
    if !content_words(&clue.question).is_empty() && !content_words(&clue.phrase).is_empty() {
        let ClueReply { question, phrase } = clue;
        side.clues.push(Clue { question, phrase, place: place(sort, hit), others: vec![] });
    }
    let named = |reply: &AskReply| {
        let lacks = !reply.question.trim().is_empty() && !holds(&reply.question, name);
        if lacks { Err(format!("the name `{name}` does not stand in it")) } else { Ok(()) }
    };
    let AskReply { question, answer } = cx.ask_checked(&ASK, variables(), named).await?;
    if !question.trim().is_empty() && !answer.trim().is_empty() {
        side.asks.push(Ask { question, answers: vec![answer], place: place(sort, hit) });
    }
    Ok(side)
}

fn place(sort: Sort, hit: &Hit) -> Place {
    let (document, title, text) = (hit.document.clone(), hit.title.clone(), hit.text.clone());
    match sort {
        Sort::Web => Place::Web { address: document, title, text },
        Sort::Kg | Sort::Text => Place::Text { document, title, text },
    }
}
