//! How long it takes to resolve one more document, in processor time.
use std::time::Duration;

use super::library::{Content, Library, mention};
use crate::extract::resolution::{Resolution, Scope};

/// Mentions of a passage.
const MENTIONS: usize = 8;

/// Given names; last names are as many as there are passages, so that some are shared.
const GIVEN: [&str; 24] = [
    "John", "Mary", "James", "Anna", "Peter", "Laura", "Thomas", "Helen", "George", "Clara",
    "Henry", "Alice", "Walter", "Emma", "Robert", "Julia", "Edward", "Rose", "Charles", "Martha",
    "Arthur", "Edith", "Frank", "Ada",
];

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// Some are far more frequent than others.
    fn skewed(&mut self, end: usize) -> usize {
        let most = self.below(end) + 1;
        self.below(most)
    }
}

/// A word of syllables.
fn word(mut number: usize) -> String {
    let mut word = String::new();
    for _ in 0..3 {
        word.push(char::from(b"bcdfghjklmnprstvz"[number % 17]));
        word.push(char::from(b"aeiou"[(number / 17) % 5]));
        number /= 85;
    }
    word[..1].to_uppercase() + &word[1..]
}

/// A passage that names persons, companies and places, described each time in other words.
fn passage(numbers: &mut Numbers, passages: usize) -> Content {
    let mut mentions = vec![];
    for _ in 0..MENTIONS {
        let (one, two) = (word(numbers.skewed(passages)), word(numbers.below(passages)));
        let (name, kind) = match numbers.below(4) {
            0 | 1 => (format!("{} {one}", GIVEN[numbers.below(GIVEN.len())]), "person"),
            2 => (format!("{one} {two} Company"), "organisation"),
            _ => (format!("{one}ville"), "place"),
        };
        let said = [numbers.below(900), numbers.below(900), numbers.below(900)].map(word);
        let described = format!("Known for {} and {} of {}.", said[0], said[1], said[2]);
        mentions.push(mention(&name, kind, &described));
    }
    mentions.dedup_by(|one, two| one.name == two.name);
    vec![mentions]
}

/// Processor time of this thread.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

#[test]
#[ignore = "minutes, and prints a measurement"]
#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn measure_one_more_document() {
    for passages in [1_000, 10_000, 100_000] {
        let mut numbers = Numbers(42);
        let library = Library::new();
        let documents: Vec<(String, Content)> =
            (0..passages).map(|i| (format!("d{i}"), passage(&mut numbers, passages))).collect();
        library.fill(&documents);
        let began = processor_time();
        library.settle().unwrap();
        println!("{passages} passages, all at once: {:?}", processor_time() - began);
        let mut took = vec![];
        for i in 0..20 {
            let one = [(format!("new{i}"), passage(&mut numbers, passages))];
            library.fill(&one);
            let began = processor_time();
            let resolution = Resolution::load(&library.base).unwrap().unwrap();
            resolution.write(&library.base).unwrap();
            let whole = matches!(resolution.scope, Scope::Everything);
            took.push((processor_time() - began, resolution.read, whole));
        }
        took.sort();
        let (median, most) = (took[took.len() / 2], took[took.len() - 1]);
        println!("one more: {median:?}, at most {most:?} (time, extracts read, everything)");
        let one = [("last".to_owned(), passage(&mut numbers, passages))];
        library.fill(&one);
        library.base.store.write(|writer| writer.touch_everything()).unwrap();
        let began = processor_time();
        library.settle().unwrap();
        println!("one more, everything resolved: {:?}", processor_time() - began);
    }
}
