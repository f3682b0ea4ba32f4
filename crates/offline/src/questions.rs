//! Task `questions`: the sentences of a chunk as its atoms.
use halma_core::text::sentences;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct QuestionsInput {
    chunk: Chunk,
}

#[derive(Debug, Deserialize)]
struct Chunk {
    title: String,
    text: String,
}

const PRONOUNS: &[&str] = &["He", "She", "It", "They"];
const POSSESSIVES: &[&str] = &["His", "Her", "Its", "Their"];

/// Words that follow `Her` or `This` where it is a pronoun.
const AUXILIARIES: &[&str] = &["is", "was", "are", "were", "has", "had", "can", "will", "would"];

/// One atom a line; a leading pronoun is replaced by the title.
pub(crate) fn reply(input: &QuestionsInput) -> String {
    let Chunk { title, text } = &input.chunk;
    let title = title.trim();
    let atoms: Vec<String> = sentences(text)
        .into_iter()
        .map(|range| text[range].split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|sentence| says_something(sentence))
        .map(|sentence| named(title, without_colon(&sentence)))
        .collect();
    if atoms.is_empty() {
        // A heading, a list or a table is still all the chunk has to be found by.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        return without_colon(&text).to_owned();
    }
    atoms.join("\n")
}

/// A line that ends with a colon is read as one that introduces the atoms.
fn without_colon(sentence: &str) -> &str {
    sentence.trim_end_matches([':', '：', ' '])
}

/// Headings and fragments of one or two words say nothing that a question could ask for.
fn says_something(sentence: &str) -> bool {
    !sentence.starts_with('#') && sentence.split(' ').count() > 2
}

fn named(title: &str, sentence: &str) -> String {
    let Some((first, rest)) = sentence.split_once(' ') else { return sentence.to_owned() };
    let second = rest.split(' ').next().unwrap_or_default();
    if title.is_empty() {
        return sentence.to_owned();
    }
    if PRONOUNS.contains(&first) {
        return format!("{title} {rest}");
    }
    if POSSESSIVES.contains(&first) && !AUXILIARIES.contains(&second) {
        return format!("{title}'s {rest}");
    }
    if first == "This" {
        return if AUXILIARIES.contains(&second) {
            format!("{title} {rest}")
        } else {
            format!("{title}: this {rest}")
        };
    }
    sentence.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(title: &str, text: &str) -> Vec<String> {
        let input = QuestionsInput { chunk: Chunk { title: title.into(), text: text.into() } };
        reply(&input).lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_leading_pronoun_becomes_the_title() {
        assert_eq!(
            atoms(
                "Mara Quill",
                "# Life\n\nMara Quill paints.\nHer first\nshow was in Oslo. She teaches there. \
                 This painter is shy. Yes."
            ),
            [
                "Mara Quill paints.",
                "Mara Quill's first show was in Oslo.",
                "Mara Quill teaches there.",
                "Mara Quill: this painter is shy."
            ]
        );
    }

    #[test]
    fn a_chunk_without_sentences_is_its_own_atom() {
        assert_eq!(atoms("List", "# Names"), ["# Names"]);
        assert_eq!(
            atoms("Deed", "The parties agree as follows:"),
            ["The parties agree as follows"]
        );
    }
}
