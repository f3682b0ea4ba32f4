//! Random histories of a base, compared after each step with one that was made in one go.
use proptest::prelude::*;

use super::library::{Content, Library, mention, questions};
use crate::extract::graph::{write_chunks, write_entities};
use crate::extract::name_index::{Names, catch_up};
use crate::extract::resolution::{Resolution, Scope};
use crate::store::{EntityMention, Id, PairVerdict, Task, UnitKey, hash};
use halma_core::Layer;

/// Names that clash, are short for each other, or are alike in one of the ways that are known.
const NAMES: &[(&str, &str)] = &[
    ("John Smith", "person"),
    ("John A. Smith", "person"),
    ("John B. Smith", "person"),
    ("J. Smith", "person"),
    ("Sir John Smith", "person"),
    ("Jane Smith", "person"),
    ("Smith", "person"),
    ("Smith", ""),
    ("Johnathan Smithson", "person"),
    ("Jonathan Smithson", "person"),
    ("Jonathan Smithsen", "person"),
    ("World Health Organization", "organisation"),
    ("World Health Organisation", "organisation"),
    ("WHO", "organisation"),
    ("WHO", ""),
    ("Who", "person"),
    ("Jaws", "film"),
    ("Jaws (film)", "film"),
    ("Jaws (novel)", "book"),
    ("Ford Motor Company", "organisation"),
    ("Ford Motor Co.", "organisation"),
    ("Ford", "person"),
    ("Henry Ford", "person"),
    ("Google", "organisation"),
    ("GOOG", "organisation"),
    ("Müller", "person"),
    ("Mueller", ""),
    ("Springfield", "place"),
    ("Springfield", "person"),
];

const DESCRIPTIONS: &[&str] = &[
    "",
    "",
    "An English footballer who played for Leeds United.",
    "A footballer who played for Leeds United in England.",
    "A Scottish politician who led the Labour Party.",
    "A chemist of the University of Oslo, born in 1950.",
    "A chemist, born in 1978.",
    "The health agency of the United Nations.",
    "A large town in Illinois.",
];

/// One number after the other out of a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn mentions(&mut self) -> Vec<EntityMention> {
        let mut mentions: Vec<EntityMention> = vec![];
        for _ in 0..=self.below(3) {
            let (name, kind) = NAMES[self.below(NAMES.len())];
            let described = DESCRIPTIONS[self.below(DESCRIPTIONS.len())];
            let mut mention = mention(name, kind, described);
            let alias = match name {
                "World Health Organization" => Some("WHO"),
                "Google" => Some("GOOG"),
                "Henry Ford" => Some("HF"),
                _ => None,
            };
            mention.aliases.extend(alias.filter(|_| self.below(2) == 0).map(str::to_owned));
            mention.times = 1 + u32::try_from(self.below(3)).unwrap();
            if mentions.iter().all(|other| other.name != name) {
                mentions.push(mention);
            }
        }
        mentions
    }

    fn content(&mut self) -> Content {
        (0..=self.below(2)).map(|_| self.mentions()).collect()
    }
}

/// Answers a question, as the model would.
fn answer(library: &Library, resolution: &Resolution, at: usize, same: bool) {
    let question = &resolution.resolved.questions[at];
    let (one, two) = question.prints;
    let locals = &resolution.resolved.locals;
    let documents = question.one.iter().chain(&question.two).map(|at| locals[*at].document);
    let documents: Vec<Id> = documents.collect();
    let verdict = PairVerdict { one, two, same, reason: "So it is.".into(), documents };
    let id = hash(&[&one.to_be_bytes(), &two.to_be_bytes()]);
    let key = UnitKey::with_id(Task::SameEntity, Layer::Entity, id);
    resolution.note_questions(&library.base).unwrap();
    library.base.store.write(|writer| writer.put_done(key, 1, &verdict)).unwrap();
}

/// Changes a base in some way. Returns whether it is to be settled then.
fn step(library: &mut Library, numbers: &mut Numbers) -> bool {
    let name = format!("d{}", numbers.below(12));
    match numbers.below(16) {
        0..=6 => library.put(&name, numbers.content()),
        7 | 8 => library.remove(&name),
        9 => library.extract_again(&name, numbers.mentions()),
        10..=12 => {
            let Some(resolution) = library.settle() else { return false };
            let open = resolution.resolved.questions.len();
            for at in 0..open.min(3) {
                answer(library, &resolution, at, numbers.below(2) == 0);
            }
        }
        13 => {
            library.settle();
            let merges = library.base.merges().unwrap();
            if !merges.is_empty() {
                let merge = &merges[numbers.below(merges.len())];
                library.base.undo_merge(&merge.id).unwrap();
            }
        }
        // Killed when the names had been entered, and between the writes after that.
        14 => drop(catch_up(&library.base.store).unwrap()),
        _ => {
            let store = &library.base.store;
            if let Some(resolution) = Resolution::load(&library.base).unwrap() {
                let (rows, _) = write_entities(store, &resolution.resolved).unwrap();
                if numbers.below(2) == 0 {
                    write_chunks(store, &resolution, &rows).unwrap();
                }
            }
        }
    }
    numbers.below(3) > 0
}

fn compare(library: &Library) {
    let resolution = library.settle();
    let (again, everything) = library.made_again();
    let (actual, expected) = (library.picture(), again.picture());
    let differing: Vec<&String> = actual
        .iter()
        .filter(|line| !expected.contains(line))
        .chain(expected.iter().filter(|line| !actual.contains(line)))
        .collect();
    assert!(actual == expected, "{differing:#?}");
    assert_eq!(questions(resolution.as_ref()), questions(everything.as_ref()));
    for base in [library, &again] {
        assert_eq!(base.settled_differences(), (Names::Sound, vec![]));
    }
}

/// Runs a history; returns how often only a part was resolved.
fn run(seeds: &[u32]) -> usize {
    let mut library = Library::new();
    library.put("first", vec![vec![mention("Mara Quill", "person", "A printer.")]]);
    library.settle();
    let mut partly = 0;
    for seed in seeds {
        let mut numbers = Numbers(u64::from(*seed));
        let is_settled = step(&mut library, &mut numbers);
        assert_eq!(library.differences(), (Names::Sound, vec![]));
        if is_settled {
            let resolution = Resolution::load(&library.base).unwrap();
            let scope = resolution.map(|resolution| resolution.scope);
            partly += usize::from(matches!(scope, Some(Scope::Touched { .. })));
            compare(&library);
        }
    }
    compare(&library);
    partly
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn a_base_that_changes_is_as_one_that_was_made_at_once(
        seeds in prop::collection::vec(any::<u32>(), 1..30)
    ) {
        run(&seeds);
    }
}

#[test]
fn histories_are_resolved_in_parts() {
    let seeds: Vec<u32> = (0..40).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    assert!(run(&seeds) > 15);
}
