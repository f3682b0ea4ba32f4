//! No question is too odd to be answered in the form of its task.
use proptest::prelude::*;

use super::*;

/// Every task, with variables in which the texts stand wherever one may.
fn tasks(a: &str, b: &str) -> Vec<(&'static str, Value)> {
    let question = question(a);
    let hit = json!({ "title": b, "text": a, "score": 0.5, "cosine": 0.5 });
    let other = json!({ "title": a, "text": b, "score": 0.5, "cosine": null });
    let history = json!([{ "question": a, "answer": b }, { "question": b, "answer": "" }]);
    let table = json!({
        "name": a, "caption": b, "document": "", "rows": 2,
        "columns": [
            { "name": b, "kind": "text", "unit": "" },
            { "name": "mills", "kind": "integer", "unit": "" }
        ],
        "samples": [[b, 1], [null, "x"]]
    });
    let both = json!({ "question": question, "context": [hit, other], "candidates": [hit],
        "history": history, "thoughts": [b], "points": [{ "point": b }, { "point": a }],
        "sub_question": format!("{b} #1 [2] <9>"), "entities": [{ "text": b, "kind": "name" }],
        "used": [a], "number": 3, "answer": b, "gold": a, "near": [hit], "failed": null,
        "leaves": [{ "number": 1, "asked": a, "operator": b }], "sources": [{ "name": b }],
        "catalog": { "counts": {}, "tables": [table] }, "tables": [table] });
    let chunk = json!({ "chunk": { "title": a, "text": b } });
    let names = [
        "propose",
        "select",
        "read",
        "decompose",
        "follow_up",
        "rewrite",
        "keywords",
        "support",
        "judge",
        "classify",
        "compare",
        "summarise",
        "combine",
        "sql",
        "plan",
        "sources",
        "conclude",
    ];
    let operate = |name: &str| {
        json!({ "asked": a, "operator": { "name": name, "arguments": [a, b] }, "facts": [a, b],
            "entities": [a, b], "context": [hit, other] })
    };
    let operators = ["Search", "Relate", "Filter"].map(|name| ("operate", operate(name)));
    let same = names.map(|name| (name, both.clone())).into_iter();
    same.chain(operators).chain([("questions", chunk)]).collect()
}

/// The keys that a reply has, by task; none where it is not JSON.
fn keys(task: &str) -> &'static [&'static str] {
    match task {
        "decompose" | "propose" => &["sub_questions"],
        "follow_up" => &["follow_up"],
        "rewrite" => &["dependency", "question"],
        "keywords" => &["keywords"],
        "support" => &["supported", "score", "reason"],
        "classify" => &["kind", "reason"],
        "compare" => &["cells"],
        "summarise" => &["points"],
        "combine" | "read" => &["rationale", "answer"],
        "sql" => &["sql", "reason"],
        "sources" => &["sources"],
        "operate" | "conclude" => &["answer", "answers"],
        "select" => &["candidate"],
        _ => &[],
    }
}

fn check(lexicon: &Extractive, a: &str, b: &str) {
    for (task, variables) in tasks(a, b) {
        let reply = lexicon.run(&request(task, &variables)).unwrap().unwrap();
        for key in keys(task) {
            let read: Value = serde_json::from_str(&reply).unwrap();
            assert!(read.get(key).is_some(), "{task}: {reply}");
        }
    }
}

#[test]
fn odd_questions_are_answered_in_form() {
    let model = Extractive::new();
    let clauses = "who knew the smith who saw the mill that burnt in the town where ".repeat(40);
    let owners = "Mara's father's ".repeat(200);
    let commas = "Varn, ".repeat(300);
    for text in [
        "",
        " ",
        "?",
        "#1",
        "#",
        "'s",
        "’s ’s",
        "of",
        "the of the",
        "the city where",
        "who who who",
        "Wo wurde der Maler von „Ebbe“ geboren?",
        "谁画了《退潮》？他出生在哪里？",
        "من رسم الجزر؟",
        "¿Quién es mayor, Mara Quill o Orla Finch?",
        "Où est né le peintre de « Marée basse » ?",
        "🙂🙂 of 🙂's 🙂 where 🙂 is?",
        "É's É of É where É",
        "A or B",
        "A, B or C?",
        "Are both A and B",
        "\u{0}\u{202e}\u{301}",
        "((((\"\"“”",
        "“”",
        "(",
        "#999999999999999999999",
        "İI ıi ß ŒŒ",
        "Is Is is IS and And and the same",
        "more than 3 than 4 or more",
        &clauses,
        &owners,
        &commas,
    ] {
        check(&model, text, "The mill of Varn burnt in 1901.");
        check(&model, "Where was the father of the painter of Low Tide born?", text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_text_is_answered_in_form(
        a in "(\\PC|the |of |'s |#1|where |is |and |or |[A-Z][a-z]{1,4} |both |, |\\?){0,30}",
        b in "\\PC{0,30}",
    ) {
        check(&Extractive::new(), &a, &b);
    }
}
