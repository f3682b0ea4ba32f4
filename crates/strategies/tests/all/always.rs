//! Questions that are always answered (`abstain = false`), as the papers' tables ask them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
use std::sync::Arc;

use halma_core::{
    Cx, Knowledge, Llm, Meter, Models, Outcome, PromptInfo, Prompts, Question, Setup,
};
use halma_strategies::{ALL, PROMPTS};
use halma_testkit::Toy;

use crate::prompts::Sampler;
use crate::variables::{hit, variables};

/// What a strategy says over a base without any document; its own settings are the defaults.
async fn over_an_empty_base(name: &str, table: &str) -> Outcome {
    let entry = ALL.iter().find(|entry| entry.name == name).unwrap();
    let strategy = entry.build_from(table.parse().unwrap()).unwrap();
    let models = Models::new(Arc::new(Sampler::default()) as Arc<dyn Llm>);
    let prompts = Arc::new(Prompts::shipped(&[PROMPTS]).unwrap());
    let setup = Setup::new(models, Toy::empty() as Arc<dyn Knowledge>, prompts);
    let cx = Cx::new(Arc::new(setup), Arc::new(Meter::unlimited()), None);
    Outcome::run(strategy.as_ref(), &Question::new("Where is Varn?"), &cx).await
}

#[tokio::test]
async fn every_strategy_answers_where_nothing_is_found_if_it_is_not_to_abstain() {
    let mut abstaining = 0;
    for name in ALL.iter().map(|entry| entry.name) {
        let answer = over_an_empty_base(name, "abstain = false").await.answer.unwrap();
        assert!(!answer.abstained && !answer.text.is_empty(), "{name}: {}", answer.reason);
        abstaining += usize::from(over_an_empty_base(name, "").await.answer.unwrap().abstained);
    }
    assert!(abstaining >= 12, "{abstaining} strategies abstain where they may");
}

#[test]
fn no_reading_prompt_asks_for_an_empty_answer_and_for_an_answer_in_any_case() {
    let prompts = Prompts::shipped(&[PROMPTS]).unwrap();
    let question = Question::new("Where is Varn?");
    let always = Question { abstain: false, ..question.clone() };
    let context = [hit("Varn", "Varn is a reef.")];
    let text = |info: &PromptInfo, question: &Question| {
        let rendered = prompts.render(&info.name, &variables(question, &context)).unwrap();
        let shown = rendered.messages.into_iter().chain(rendered.demonstrations);
        shown.map(|message| message.text).collect::<Vec<_>>().join("\n")
    };
    let says_never_empty = |info: &&PromptInfo| text(info, &always).contains("is never empty");
    let of_strategies = |info: &PromptInfo| PROMPTS.iter().any(|file| file.name == info.name);
    let all: Vec<PromptInfo> = prompts.list().into_iter().filter(of_strategies).collect();
    let reading: Vec<&PromptInfo> = all.iter().filter(says_never_empty).collect();
    assert!(reading.len() > 25, "{}", reading.len());
    for info in reading {
        for empty in ["to \"\"", "\"answer\": \"\"", "Do not guess"] {
            assert!(!text(info, &always).contains(empty), "{}: {empty}", info.name);
        }
        assert!(text(info, &question).contains("to \"\""), "{}", info.name);
    }
}

#[test]
fn a_reader_may_use_its_own_knowledge_only_where_that_is_set() {
    let prompts = Prompts::shipped(&[PROMPTS]).unwrap();
    let may = |own_knowledge: bool| {
        let question = Question { own_knowledge, ..Question::new("Where is Varn?") };
        let variables = variables(&question, &[hit("Varn", "Varn is a reef.")]);
        prompts.render("naive/answer", &variables).unwrap().messages[0].text.clone()
    };
    assert!(may(true).contains("your own knowledge") && !may(true).contains("Use only"));
    assert!(may(false).contains("Use only") && !may(false).contains("your own knowledge"));
}
