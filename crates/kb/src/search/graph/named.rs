//! Activate: which entities a question names, exactly or nearly.
use std::ops::Range;

use halma_core::Layer;
use halma_core::text::{
    NameKind, Shape, Words, is_cjk, is_stop_word, mixed_runs, names, normalise_name, quotes,
};

use super::GraphContext;
use super::activation::{Activation, Activations, Reach, activate};
use crate::store::{Row, SparseRows, hash};

/// The longest name looked up, in words of the question.
const LONGEST: usize = 10;

/// Words of a question beyond which no names are looked up.
const WORDS: usize = 200;

/// Characters of a run without spaces that are looked at, and those of the longest name in it.
const UNSPACED: usize = 120;
const LONGEST_UNSPACED: usize = 30;

/// Entities of one name that are activated, at most.
const NAMESAKES: usize = 16;

/// A name that stands in no chunk just so is taken for the nearest in these many of the best chunks.
const NEAR_CHUNKS: usize = 60;

impl GraphContext<'_> {
    /// The entities the question names with how surely: 1 where the normalised names are equal,
    /// less for an alias that several share, else the similarity of the names. `best` are the chunks
    /// nearest by BM25 and vectors, best first.
    pub(super) fn named(&self, question: &str, best: &[Row]) -> heed::Result<Activations> {
        let mut words = Words::new(question);
        words.words.truncate(WORDS);
        let mut active = Activations::new();
        let mut taken: Vec<Range<usize>> = vec![];
        for span in candidates(&words) {
            let within = |taken: &Range<usize>| taken.start <= span.start && span.end <= taken.end;
            if taken.iter().any(within) {
                continue;
            }
            let key = normalise_name(words.slice(&span));
            if self.activate_called(&key, &mut active)? {
                taken.push(span);
            }
        }
        self.activate_unspaced(question, &mut active)?;
        let open = names(question).into_iter().filter(|name| {
            let bytes = |taken: &Range<usize>| words.bytes(taken);
            let overlaps = |b: Range<usize>| b.start < name.range.end && name.range.start < b.end;
            name.kind == NameKind::Name && !taken.iter().map(bytes).any(overlaps)
        });
        for name in open {
            let key = normalise_name(&question[name.range]);
            if let Some((row, weight)) = self.nearest(&key, best)? {
                activate(&mut active, row, Activation { weight, by: Reach::SimilarName });
            }
        }
        Ok(active)
    }

    /// Activates the entity whose key this name is, and those that go by it as well, which share
    /// the activation of an alias. A key may be no more than the title of a document, so it does
    /// not keep the others of that name from being meant. Returns whether there was any.
    fn activate_called(&self, key: &str, active: &mut Activations) -> heed::Result<bool> {
        let exact = self.reader.find(Layer::Entity, hash(&[key.as_bytes()]))?;
        if let Some(row) = exact {
            active.insert(row, Activation { weight: 1.0, by: Reach::Name });
        }
        let weight = self.settings.aliases;
        if weight <= 0.0 {
            return Ok(exact.is_some());
        }
        let aliases = self.cache.aliases(self.reader)?;
        let called = aliases.called(key);
        let count = u16::try_from(called.len()).unwrap_or(u16::MAX);
        let shared = Activation { weight: weight / f32::from(count).sqrt(), by: Reach::Alias };
        for row in called.iter().take(NAMESAKES) {
            activate(active, *row, shared);
        }
        Ok(exact.is_some() || !called.is_empty())
    }

    /// Activates the entities whose names stand in a question without spaces, the longest first.
    fn activate_unspaced(&self, question: &str, active: &mut Activations) -> heed::Result<()> {
        for run in mixed_runs(question) {
            let places: Vec<usize> = question[run.clone()]
                .char_indices()
                .map(|(at, _)| run.start + at)
                .take(UNSPACED)
                .collect();
            let end = |at: usize| places.get(at).copied().unwrap_or(run.end);
            let mut taken: Vec<Range<usize>> = vec![];
            for length in (2..=LONGEST_UNSPACED.min(places.len())).rev() {
                for (at, start) in places.iter().enumerate().take(places.len() - length + 1) {
                    let span = *start..end(at + length);
                    let overlaps = |t: &Range<usize>| t.start < span.end && span.start < t.end;
                    if taken.iter().any(overlaps) || !may_be_unspaced(question, &span) {
                        continue;
                    }
                    if self.activate_called(&normalise_name(&question[span.clone()]), active)? {
                        taken.push(span);
                    }
                }
            }
        }
        Ok(())
    }

    /// The entity of the best chunks whose name is most like this one.
    fn nearest(&self, key: &str, best: &[Row]) -> heed::Result<Option<(Row, f32)>> {
        let query_words = NameWords::new(key);
        let mut nearest: Option<(Row, f32)> = None;
        let mut looked_at = SparseRows::default();
        if query_words.words.is_empty() {
            return Ok(None);
        }
        for chunk in best.iter().take(NEAR_CHUNKS) {
            let Some(place) = self.walk().find(*chunk) else { continue };
            for entity in self.walk().titles(place).chain(self.walk().names(place)) {
                if !looked_at.insert(entity) {
                    continue;
                }
                let key = self.cache.key(self.reader, entity)?;
                let similarity = query_words.similarity(&key);
                if similarity >= self.settings.similarity
                    && nearest.is_none_or(|(_, best_similarity)| similarity > best_similarity)
                {
                    nearest = Some((entity, similarity));
                }
            }
        }
        Ok(nearest)
    }
}

/// Whether a part of a question could be a name without spaces: words of Latin letters alone are
/// looked up as such, and a number or Latin word is not cut.
fn may_be_unspaced(question: &str, span: &Range<usize>) -> bool {
    let is_plain = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let part = &question[span.clone()];
    let (mut before, mut after) = (question[..span.start].chars(), question[span.end..].chars());
    let cuts = is_plain(before.next_back()) && is_plain(part.chars().next())
        || is_plain(part.chars().next_back()) && is_plain(after.next());
    !cuts && part.chars().any(is_cjk)
}

/// Runs of words that could be a name, the longest first. In a question with no capitals inside any
/// run could be one.
fn candidates(words: &Words<'_>) -> Vec<Range<usize>> {
    let count = words.words.len();
    let capital = |at: usize| words.words[at].shape != Shape::Lower;
    let bare = !(1..count).any(|at| words.words[at].shape == Shape::Capital);
    let quoted = quotes(words);
    let mut spans = vec![];
    for start in 0..count {
        for end in start + 1..=count.min(start + LONGEST) {
            let span = start..end;
            let inner = |at: usize| !words.words[at].stop || capital(at) && at > 0;
            let sound = inner(start) && inner(end - 1) || quoted.contains(&span);
            let open = span.clone().any(|at| capital(at) && (at > 0 || !words.words[at].stop));
            let lone_number = span.len() == 1 && words.words[start].shape == Shape::Digit;
            if sound && (open || bare || quoted.contains(&span)) && !lone_number {
                spans.push(span);
            }
        }
    }
    spans.sort_by_key(|span| (std::cmp::Reverse(span.len()), span.start));
    spans
}

/// The different words of a normalised name that say something.
struct NameWords<'n> {
    words: Vec<&'n str>,
    /// Letters of all.
    letters: usize,
}

impl<'n> NameWords<'n> {
    fn new(name: &'n str) -> Self {
        let mut content = Self { words: vec![], letters: 0 };
        for word in name.split(' ').filter(|word| !is_stop_word(word)) {
            // A name has a few words, of which a list is searched faster than a set is made.
            if !content.words.contains(&word) {
                content.words.push(word);
                content.letters += word.chars().count();
            }
        }
        content
    }

    /// The share of letters in words that both names have, in `[0, 1]`.
    fn similarity(&self, name: &str) -> f32 {
        let other = NameWords::new(name);
        let shared = other.words.iter().filter(|word| self.words.contains(word));
        let shared: usize = shared.map(|word| word.chars().count()).sum();
        let all = self.letters + other.letters;
        #[expect(clippy::cast_precision_loss, reason = "letters of names")]
        let share = 2.0 * shared as f32 / all.max(1) as f32;
        share
    }
}

#[cfg(test)]
mod tests {
    use super::may_be_unspaced;

    #[test]
    fn numbers_and_latin_words_are_not_cut() {
        let question = "C919客机在1993年";
        let may_be = |part: &str| {
            let at = question.find(part).unwrap_or_default();
            may_be_unspaced(question, &(at..at + part.len()))
        };
        for (part, expected) in [
            ("C919客机", true),
            ("客机", true),
            ("919客机", false),
            ("1993年", true),
            ("993年", false),
            ("C919", false),
        ] {
            assert_eq!(may_be(part), expected, "{part}");
        }
    }
}
