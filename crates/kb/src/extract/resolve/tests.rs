//! Names that are one thing, names that are not, and what a user or the model says about it.
use super::*;
use crate::store::{Extraction, MergeRule, PairVerdict};

fn mention(name: &str, kind: &str, description: &str) -> EntityMention {
    let (name, kind, description) = (name.into(), kind.into(), description.into());
    EntityMention { name, kind, description, aliases: vec![], times: 1 }
}

/// One chunk of a document with these names, types and descriptions.
fn read(document: Id, named: &[(&str, &str, &str)]) -> ExtractedChunk {
    let mentions = named.iter().map(|(n, k, d)| mention(n, k, d)).collect();
    let extract = Extraction { mentions, ..Extraction::default() };
    let row = u32::try_from(document).unwrap();
    ExtractedChunk { chunk: row, chunk_id: document, document_id: document, extract, outside: None }
}

fn keys(resolved: &Resolved) -> Vec<&str> {
    resolved.entities.iter().map(|entity| entity.key.as_str()).collect()
}

fn rules(resolved: &Resolved) -> Vec<MergeRule> {
    let mut rules: Vec<MergeRule> = resolved.merges.values().map(|merge| merge.rule).collect();
    rules.sort();
    rules
}

const FOOTBALLER: (&str, &str, &str) =
    ("John Smith", "person", "An English footballer who played for Leeds United.");
const POLITICIAN: (&str, &str, &str) =
    ("John Smith", "person", "A Scottish politician who led the Labour Party.");

#[test]
fn three_spellings_of_one_thing_are_one_entity() {
    let reads = [
        read(1, &[("World Health Organization", "organisation", "The health agency of the UN.")]),
        read(2, &[("The World Health Organisation", "organisation", "A health agency of the UN.")]),
        read(3, &[("WHO", "organisation", "The health agency of the United Nations, the UN.")]),
    ];
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert_eq!(keys(&resolved), ["world health organization"]);
    let entity = &resolved.entities[0];
    assert_eq!(entity.name, "World Health Organization");
    assert_eq!(entity.aliases, ["who", "world health organisation"]);
    assert_eq!(rules(&resolved), [MergeRule::Spelling, MergeRule::Abbreviation]);
}

#[test]
fn a_short_form_in_brackets_holds_in_other_documents_too() {
    let mut first = read(1, &[("World Health Organization", "organisation", ""), ("WHO", "", "")]);
    first.extract.mentions[0].aliases.push("WHO".into());
    let reads = [first, read(2, &[("WHO", "organisation", "")])];
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert_eq!(keys(&resolved), ["world health organization"]);
    // A band of that name is none of it.
    let reads = [reads.into_iter().next().unwrap(), read(2, &[("Who", "person", "")])];
    assert_eq!(
        keys(&resolve(&reads, &ResolutionEvidence::default())),
        ["who", "world health organization"]
    );
}

#[test]
fn namesakes_stay_apart_and_the_model_is_asked() {
    let reads = [read(1, &[FOOTBALLER]), read(2, &[POLITICIAN])];
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert_eq!(
        keys(&resolved),
        [
            "john smith (person english footballer played)",
            "john smith (person scottish politician led)"
        ]
    );
    assert!(resolved.merges.is_empty());
    assert_eq!(resolved.questions.len(), 1);
    // Types that clash need no model.
    let reads = [read(1, &[("Jordan", "person", "")]), read(2, &[("Jordan", "place", "")])];
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert_eq!((resolved.entities.len(), resolved.questions.len()), (2, 0));
}

#[test]
fn a_verdict_is_followed_even_when_more_is_known_later() {
    let mut reads = vec![read(1, &[FOOTBALLER]), read(2, &[POLITICIAN])];
    let (one, two) = resolve(&reads, &ResolutionEvidence::default()).questions[0].prints;
    let verdict = |same| ResolutionEvidence {
        verdicts: vec![PairVerdict { one, two, same, reason: "so".into(), documents: vec![] }],
        ..ResolutionEvidence::default()
    };
    reads.push(read(
        3,
        &[("John Smith", "person", "The footballer of Leeds United, who was born in York.")],
    ));
    let same = resolve(&reads, &verdict(true));
    assert_eq!(keys(&same), ["john smith"]);
    assert_eq!(rules(&same), [MergeRule::LikeDescriptions, MergeRule::Verdict]);
    let apart = resolve(&reads, &verdict(false));
    assert_eq!((apart.entities.len(), apart.questions.len()), (2, 0));
}

#[test]
fn an_undone_merge_is_not_made_again_and_nothing_else_changes() {
    let reads = [
        read(1, &[("John F. Kennedy", "person", "A president of the United States.")]),
        read(2, &[("John Kennedy", "person", "President of the United States until 1963.")]),
        read(
            3,
            &[("Ford Motor Company", "organisation", ""), ("Ford Motor Co.", "organisation", "")],
        ),
    ];
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert_eq!(keys(&resolved), ["ford motor company", "john f kennedy"]);
    let merge = resolved.merges.values().find(|m| m.rule == MergeRule::MiddleName).unwrap();
    let undone = Undone { one: merge.one.prints.clone(), two: merge.two.prints.clone() };
    let evidence = ResolutionEvidence { undone: vec![undone], ..ResolutionEvidence::default() };
    let resolved = resolve(&reads, &evidence);
    assert_eq!(keys(&resolved), ["ford motor company", "john f kennedy", "john kennedy"]);
    assert_eq!(rules(&resolved), [MergeRule::Company]);
}

#[test]
fn a_last_name_is_the_one_person_of_its_document_that_has_it() {
    let reads = [
        read(1, &[("Steven Spielberg", "person", ""), ("Spielberg", "person", "")]),
        read(2, &[("Sasha Spielberg", "person", ""), ("Spielberg", "person", "")]),
        read(
            3,
            &[("Kate Bush", "person", ""), ("George Bush", "person", ""), ("Bush", "person", "")],
        ),
    ];
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert_eq!(
        keys(&resolved),
        ["bush", "george bush", "kate bush", "sasha spielberg", "steven spielberg"]
    );
    assert_eq!(rules(&resolved), [MergeRule::LastName, MergeRule::LastName]);
}

#[test]
fn two_middle_names_do_not_meet_in_none() {
    let described = "A chemist of the University of Oslo.";
    let reads = [
        read(1, &[("John A. Smith", "person", described)]),
        read(2, &[("John Smith", "person", described)]),
        read(3, &[("John B. Smith", "person", described)]),
    ];
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert_eq!(resolved.entities.len(), 2, "{:?}", keys(&resolved));
}

#[test]
fn the_order_of_what_comes_in_does_not_matter() {
    let mut reads = vec![
        read(5, &[FOOTBALLER, ("WHO", "", "")]),
        read(2, &[POLITICIAN, ("World Health Organization", "organisation", "")]),
        read(9, &[("J. Smith", "person", "A footballer of Leeds United."), ("Müller", "", "")]),
        read(4, &[("John Smith", "", ""), ("Mueller", "", "")]),
        read(7, &[("John Smith", "person", "Played for Leeds United as a footballer.")]),
    ];
    reads.sort_by_key(|read| read.document_id);
    let expected = resolve(&reads, &ResolutionEvidence::default());
    let sides = |r: &Resolved| r.merges.clone().into_iter().collect::<Vec<_>>();
    for shift in 0..reads.len() {
        reads.rotate_left(shift);
        let resolved = resolve(&reads, &ResolutionEvidence::default());
        assert_eq!(keys(&resolved), keys(&expected));
        assert_eq!(sides(&resolved), sides(&expected));
    }
}

#[test]
fn many_of_one_name_are_resolved_in_no_time() {
    let reads: Vec<ExtractedChunk> = (1..3000)
        .map(|i| {
            let described = format!("A village {} near the river {}.", i % 700, i % 40);
            read(i, &[("Newtown", "place", &described), ("Tom Hill", "person", "")])
        })
        .collect();
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert!(resolved.entities.len() < 800, "{}", resolved.entities.len());
}
