//! Compares a transcript with the recorded one in a strategy's `golden/` folder.
use std::sync::Arc;

use halma_core::{Budget, Facts, Knowledge, Llm, Source, Strategy};
use halma_testkit::{Check, Toy, check, round_trips};

use crate::PROMPTS;

/// A run to compare: everything that tests vary has a default here.
pub(crate) struct Run {
    pub(crate) question: &'static str,
    pub(crate) model: Arc<dyn Llm>,
    pub(crate) knowledge: Arc<dyn Knowledge>,
    pub(crate) budget: Budget,
    pub(crate) sources: Vec<Arc<dyn Source>>,
    pub(crate) facts: Option<Arc<dyn Facts>>,
}

impl Run {
    /// The lighthouse question on the lighthouse base, with no limits and no other source.
    pub(crate) fn new(model: Arc<dyn Llm>) -> Self {
        Self {
            question: "In which country was the architect of the Varn lighthouse born?",
            model,
            knowledge: lighthouse(),
            budget: Budget::default(),
            sources: vec![],
            facts: None,
        }
    }

    fn against(self) -> (&'static str, Check) {
        let Self { question, model, knowledge, budget, sources, facts } = self;
        (question, Check { prompts: PROMPTS, model, knowledge, budget, sources, facts })
    }
}

/// Runs a strategy and compares its transcript with a recorded one: `kar3/two_hops` is
/// `kar3/golden/two_hops.snap`. Returns it.
pub(crate) async fn golden(name: &str, strategy: &dyn Strategy, run: Run) -> String {
    let (folder, file) = name.split_once('/').expect("named by folder and file");
    let (question, against) = run.against();
    let transcript = check(strategy, question, against).await;
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{folder}/golden"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(file, transcript));
    transcript
}

/// Runs a strategy against a [`halma_testkit::Timed`] model: its transcript, and how many round
/// trips it waited for.
pub(crate) async fn timed(strategy: &dyn Strategy, run: Run) -> (String, u128) {
    let (question, against) = run.against();
    round_trips(strategy, question, against).await
}

/// Two notes that lead from a building to its architect to a country, and one that leads nowhere.
pub(crate) fn lighthouse() -> Arc<Toy> {
    Toy::new(&[
        (
            "varn",
            "Varn lighthouse",
            "The Varn lighthouse stands on a reef. Its architect was Ilse Thorn. It opened in 1911.",
            &[
                "Who was the architect of the Varn lighthouse?",
                "When did the Varn lighthouse open?",
            ],
        ),
        (
            "thorn",
            "Ilse Thorn",
            "Ilse Thorn built harbours. She was born in Norway in 1870.",
            &["Where was Ilse Thorn born?", "What did Ilse Thorn build?"],
        ),
        ("reef", "Reefs", "A reef is a ridge below the water.", &["What is a reef?"]),
    ])
}
