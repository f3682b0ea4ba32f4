//! Recorded entities and triples of another system's model, put through our validation and
//! resolution. Needs the folder of recordings that the environment variable `HALMA_DATA` names.
use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::extracted_chunk::ExtractedChunk;
use super::resolve::{ResolutionEvidence, Resolved, resolve};
use crate::stages::FactsReply;
use crate::store::hash;
use crate::terms::form;

#[derive(Deserialize)]
struct Recorded {
    docs: Vec<RecordedPassage>,
}

#[derive(Deserialize)]
struct RecordedPassage {
    title: String,
    text: String,
    extracted_entities: Vec<String>,
    extracted_triples: Vec<Vec<String>>,
}

fn recorded() -> Recorded {
    let folder = std::env::var_os("HALMA_DATA").expect("HALMA_DATA names the folder of test data");
    let path = Path::new(&folder).join("recorded/openie_musique_train_1890.json");
    let text = std::fs::read_to_string(path).unwrap();
    // Python writes values that are not numbers without quotes.
    serde_json::from_str(&text.replace(": NaN", ": null")).unwrap()
}

/// What the text supports of every passage, and how many would be asked for again.
fn reads(recorded: Recorded) -> (Vec<ExtractedChunk>, usize) {
    let (mut reads, mut again) = (vec![], 0);
    for (row, passage) in (0_u32..).zip(recorded.docs) {
        let triples = passage
            .extracted_triples
            .into_iter()
            .filter_map(|triple| <[String; 3]>::try_from(triple).ok());
        let reply = FactsReply::recorded(passage.extracted_entities, triples.collect());
        let whole = format!("{}\n\n{}", passage.title, passage.text);
        let id = hash(&[whole.as_bytes()]);
        again += usize::from(reply.complaint(&form(&whole)).is_some());
        let extract = reply.accept(&whole);
        reads.push(ExtractedChunk {
            chunk: row,
            chunk_id: id,
            document_id: id,
            extract,
            outside: None,
        });
    }
    reads.sort_by_key(|read| read.document_id);
    reads.dedup_by_key(|read| read.document_id);
    (reads, again)
}

fn names(reads: &[ExtractedChunk]) -> usize {
    let names: BTreeSet<&str> =
        reads.iter().flat_map(|r| &r.extract.mentions).map(|s| s.name.as_str()).collect();
    names.len()
}

#[test]
#[ignore = "needs HALMA_DATA: the folder with recorded/openie_musique_train_1890.json"]
fn recorded_facts_are_supported_and_resolved() {
    let recorded = recorded();
    let passages = recorded.docs.len();
    let triples: usize = recorded.docs.iter().map(|doc| doc.extracted_triples.len()).sum();
    let (reads, _) = reads(recorded);
    let facts: usize = reads.iter().map(|read| read.extract.facts.len()).sum();
    let resolved = resolve(&reads, &ResolutionEvidence::default());
    assert!(reads.len() * 100 > passages * 95, "{} of {passages}", reads.len());
    // Most of what the model said stands in the text, ends that it did not list included.
    assert!(facts * 100 > triples * 75, "{facts} of {triples}");
    assert!(resolved.entities.len() < names(&reads));
    // Without types and descriptions only the spelling speaks: little is merged, nothing is asked.
    assert!(resolved.merges.len() < names(&reads) / 20);
}

#[test]
#[ignore = "needs HALMA_DATA, and prints a measurement; `make soak` runs it"]
#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn measure_recorded_facts() {
    let recorded = recorded();
    let triples: usize = recorded.docs.iter().map(|doc| doc.extracted_triples.len()).sum();
    let began = std::time::Instant::now();
    let (reads, again) = reads(recorded);
    println!("{} passages in {:?}, {again} asked again", reads.len(), began.elapsed());
    let facts: usize = reads.iter().map(|read| read.extract.facts.len()).sum();
    let mentions: usize = reads.iter().map(|read| read.extract.mentions.len()).sum();
    let mut left_out = crate::LeftOut::default();
    for read in &reads {
        left_out.add(read.extract.left_out);
    }
    println!("{facts} of {triples} facts kept, {mentions} mentions, {left_out:?}");
    let began = std::time::Instant::now();
    let Resolved { entities, merges, questions, locals } =
        resolve(&reads, &ResolutionEvidence::default());
    println!("resolved in {:?}", began.elapsed());
    println!(
        "{} names, {} entities, {} merges, {} questions",
        names(&reads),
        entities.len(),
        merges.len(),
        questions.len()
    );
    for merge in merges.values() {
        let together = merge.one.from == merge.two.from;
        println!("M {:?}\t{}\t{}\t{together}", merge.rule, merge.one.name, merge.two.name);
    }
    for question in &questions {
        let name = |of: &[usize]| locals[of[0]].name.form.clone();
        println!("Q {}\t{}", name(&question.one), name(&question.two));
    }
    for entity in entities.iter().filter(|entity| entity.aliases.len() > 1) {
        println!("E {}\t{}", entity.name, entity.aliases.join(" | "));
    }
}
