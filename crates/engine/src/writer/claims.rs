//! The claims of a full answer, each checked against the passages that it cites.
use halma_core::text::marks::split_mark;
use halma_core::text::sentences;
use halma_core::text::support::{TitledText, is_supported};
use halma_core::{Claim, Cx, Prompt};
use minijinja::context;
use minijinja::value::Serde;
use serde::Deserialize;

use super::evidence::EvidenceSource;
use crate::config::CheckClaims;

const CHECK: Prompt<Verdicts> = Prompt::json("answer/check");

#[derive(Deserialize)]
struct Verdicts {
    verdicts: Vec<String>,
}

/// What the claims of one answer are checked with.
pub(super) struct Checker<'a> {
    pub(super) how: CheckClaims,
    /// All sources of the answer, also those that its text does not cite.
    pub(super) sources: &'a [EvidenceSource],
    /// The question with the account of the computation, of an answer that was computed.
    pub(super) computed: Option<TitledText<'a>>,
    pub(super) cx: &'a Cx,
}

/// The most rows that a computed claim cites by itself.
pub(super) const MAX_ROWS: usize = 3;

impl Checker<'_> {
    /// The claims of a text whose marks number `used`, and the sources that it now cites: a claim
    /// that only another source supports cites that one as well.
    pub(super) async fn check(
        &self,
        text: &str,
        mut used: Vec<EvidenceSource>,
    ) -> (Vec<Claim>, Vec<EvidenceSource>) {
        let mut claims = vec![];
        // Those that a model can judge by passages: what was computed stands in none.
        let (mut judged, mut statements) = (vec![], vec![]);
        let (mut at, mut characters) = (0, 0);
        for range in sentences(text) {
            let (statement, mut citations) = split_marks(&text[range.clone()]);
            citations.retain(|number| *number <= used.len());
            let computed = self.is_computed(&statement);
            let supported = computed || self.is_supported(&statement, &mut citations, &mut used);
            if computed && citations.is_empty() {
                citations.extend(1..=used.len().min(MAX_ROWS));
            }
            let start = characters + text[at..range.start].chars().count();
            let end = start + text[range.clone()].chars().count();
            (at, characters) = (range.end, end);
            if !computed {
                for &number in &citations {
                    used[number - 1].quote_for(&statement);
                }
                judged.push(claims.len());
                statements.push(statement);
            }
            claims.push(Claim { start, end, citations, supported });
        }
        if self.how == CheckClaims::Model && !used.is_empty() && !statements.is_empty() {
            let verdicts = self.ask(&statements, &used).await;
            for (at, supported) in judged.into_iter().zip(verdicts) {
                claims[at].supported = supported;
            }
        }
        (claims, used)
    }

    fn is_computed(&self, claim: &str) -> bool {
        self.computed.is_some_and(|account| is_supported(claim, &[account]))
    }

    fn is_supported(
        &self,
        claim: &str,
        citations: &mut Vec<usize>,
        used: &mut Vec<EvidenceSource>,
    ) -> bool {
        let cited: Vec<TitledText<'_>> = citations.iter().map(|n| used[n - 1].passage()).collect();
        if is_supported(claim, &cited) {
            return true;
        }
        let all: Vec<TitledText<'_>> = self.sources.iter().map(EvidenceSource::passage).collect();
        match self.sources.iter().find(|source| is_supported(claim, &[source.passage()])) {
            Some(source) => {
                citations.push(number_of(source, used));
                true
            }
            // What it says may be put together from several.
            None => !citations.is_empty() && is_supported(claim, &all),
        }
    }

    /// What a model says of each claim; none where it gives no verdicts, so that the check by words
    /// stands.
    async fn ask(&self, statements: &[String], used: &[EvidenceSource]) -> Vec<bool> {
        let variables = context! { claims => Serde(statements), passages => Serde(used) };
        let fits = |reply: &Verdicts| match (reply.verdicts.len(), statements.len()) {
            (given, needed) if given == needed => Ok(()),
            (given, needed) => Err(format!("{given} verdicts for {needed} claims")),
        };
        let supported = |verdict: String| verdict.trim().eq_ignore_ascii_case("supported");
        match self.cx.ask_checked(&CHECK, variables, fits).await {
            Ok(Verdicts { verdicts }) => verdicts.into_iter().map(supported).collect(),
            Err(error) => {
                self.cx.note(format!("claims are checked by words only: {error}"));
                vec![]
            }
        }
    }
}

/// The number of a source among those that are cited, to which it is added.
fn number_of(source: &EvidenceSource, used: &mut Vec<EvidenceSource>) -> usize {
    let position = used.iter().position(|other| other.node() == source.node());
    position.map_or_else(
        || {
            used.push(source.clone());
            used.len()
        },
        |at| at + 1,
    )
}

/// A sentence without its marks, and their numbers.
pub(super) fn split_marks(sentence: &str) -> (String, Vec<usize>) {
    let mut numbers: Vec<usize> = vec![];
    let mut out = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        if let Some((number, tail)) = split_mark(after) {
            if !numbers.contains(&number) {
                numbers.push(number);
            }
            rest = tail;
        } else {
            out.push('[');
            rest = after;
        }
    }
    out.push_str(rest);
    (out.replace(" .", ".").trim().to_owned(), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_from_a_sentence() {
        assert_eq!(split_marks("A in 1931 [2][1][2]."), ("A in 1931.".into(), vec![2, 1]));
        assert_eq!(split_marks("a [b] c[3"), ("a [b] c[3".into(), vec![]));
    }
}
