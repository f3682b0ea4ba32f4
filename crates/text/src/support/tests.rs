//! Tests of `support.rs`.
use super::*;

const FILMS: [TitledText<'_>; 4] = [
    TitledText {
        title: "Low Tide",
        text: "Low Tide is a Danish film of 1974. It was directed by Mara Quill.",
    },
    TitledText { title: "Tides", text: "Tides rise and fall. They follow the moon." },
    TitledText {
        title: "Mara Quill",
        text: "# Life\n\nMara Quill was a painter. She was born in Lower Saxby.",
    },
    TitledText { title: "High Noon Mill", text: "High Noon Mill is a film of 1981." },
];

fn explained(question: &str, answer: &str) -> Vec<(usize, &'static str)> {
    let sentences = explain(Explained { question, answer, reason: "" }, &FILMS);
    sentences.into_iter().map(|s| (s.passage, &FILMS[s.passage].text[s.range])).collect()
}

fn composed(question: &str, answer: &str, passages: &[TitledText<'_>]) -> String {
    compose(Explained { question, answer, reason: "" }, passages)
}

#[test]
fn an_answer_is_explained_by_the_sentences_that_lead_to_it() {
    assert_eq!(
        explained("Where was the director of Low Tide born?", "Lower Saxby"),
        [(0, "It was directed by Mara Quill."), (2, "She was born in Lower Saxby.")]
    );
    assert_eq!(
        explained("Which film came first, Low Tide or High Noon Mill?", "Low Tide"),
        [(0, "Low Tide is a Danish film of 1974."), (3, "High Noon Mill is a film of 1981.")]
    );
    assert_eq!(
        explained("Is Low Tide a film?", "yes"),
        [(0, "Low Tide is a Danish film of 1974.")]
    );
    assert!(explained("Qui est-ce?", "").is_empty());
    assert!(explain(Explained { question: "Who?", answer: "Ann", reason: "" }, &[]).is_empty());
}

#[test]
fn a_claim_needs_its_numbers_names_and_most_of_its_words() {
    assert!(is_supported("Low Tide, a Danish film, appeared in 1974.", &FILMS[..1]));
    assert!(!is_supported("Low Tide is a Danish film of 1975.", &FILMS[..1]));
    assert!(!is_supported("Low Tide was directed by Orla Finch.", &FILMS[..1]));
    assert!(!is_supported("Low Tide won many prizes abroad.", &FILMS[..1]));
    assert!(!is_supported("Low Tide is a Danish film.", &[]));
    assert!(is_supported(
        "There were 1200 of them.",
        &[TitledText { title: "", text: "1,200 came." }]
    ));
}

#[test]
fn the_nearest_sentence_is_found() {
    let text = FILMS[2].text;
    let range = nearest_sentence("Her birthplace, where she was born, is Saxby.", text).unwrap();
    assert_eq!(&text[range], "She was born in Lower Saxby.");
    assert_eq!(nearest_sentence("xyz", text), None);
}

#[test]
fn the_reason_leads_to_sentences_that_the_question_does_not_name() {
    let passages = [
        TitledText {
            title: "Fulph",
            text: "Fulph was the first of its kind. Fulph came on 4 June 2018.",
        },
        TitledText { title: "Trux", text: "Trux was the first, too. Trux came on 28 May 2019." },
    ];
    let explained = Explained {
        question: "Which came first, Fulph or Trux?",
        answer: "Fulph",
        reason: "Fulph came in June 2018, Trux in May 2019.",
    };
    assert_eq!(
        compose(explained, &passages),
        "Fulph came on 4 June 2018 [1]. Trux came on 28 May 2019 [2]."
    );
}

#[test]
fn an_answer_is_written_in_sentences_of_the_passages() {
    assert_eq!(
        composed("Where was the director of Low Tide born?", "Lower Saxby", &FILMS),
        "The answer is Lower Saxby: Low Tide was directed by Mara Quill [1]. Mara Quill was \
         born in Lower Saxby [3]."
    );
    assert_eq!(
        composed("Who directed Low Tide?", "Mara Quill", &FILMS[..2]),
        "Low Tide was directed by Mara Quill [1]."
    );
    assert_eq!(
        composed("Is Low Tide a film?", "yes", &FILMS),
        "Yes: Low Tide is a Danish film of 1974 [1]."
    );
    assert_eq!(composed("Qui?", "Ann", &[]), "Ann");
}

#[test]
fn sentences_get_the_passages_that_support_them() {
    assert_eq!(
        sentences_with_sources("Tides follow the moon. Mars is red.\n", &FILMS),
        "Tides follow the moon [2]. Mars is red.\n"
    );
}

#[test]
fn markdown_is_removed() {
    let text =
        "## Seat\n\n- It is in **Paris**, [France](https://x.example).\n| a | b |\n|---|---|";
    assert_eq!(without_markdown(text), "Seat\n\nIt is in Paris, France.\na, b");
    assert_eq!(without_markdown("a ]( b [c"), "a ]( b [c");
}
