//! Different names for one thing: candidates that share a block, rules for clear cases, the model
//! for the others.
use std::collections::{BTreeMap, BTreeSet};

use super::Local;
use super::clusters::Clusters;
use super::description_match::{Agreement, EntityKind};
use super::name_similarity::{Name, NameSimilarity, declared_block};
use crate::store::MergeRule;
use crate::terms::abbreviates;

/// Blocks with more names say nothing: every `Smith` of a register. It is names that count, wherever
/// they stand and whatever they came to, so that it is known of a block without resolving them.
pub(crate) const BLOCK: usize = 100;

/// Of two names with more pairs of entities none is compared.
const PAIRS: usize = 100;

/// A pair of clusters that a rule would join.
struct Edge {
    rule: MergeRule,
    score: f32,
    pair: (usize, usize),
    /// Whether every name of one must be like every one of the other.
    strict: bool,
}

enum Decision {
    Join(f32),
    Ask,
    No,
}

/// What rules join is joined first: only what is still apart then is left to the model.
pub(super) fn join(clusters: &mut Clusters<'_>) {
    let (mut edges, mut open) = (vec![], vec![]);
    for (one, two) in candidates(clusters) {
        if clusters.find(one) == clusters.find(two) {
            continue;
        }
        match decide(clusters, one, two) {
            Some((rule, strict, Decision::Join(score))) => {
                edges.push(Edge { rule, score, pair: (one, two), strict });
            }
            Some((_, _, Decision::Ask)) => open.push((one, two)),
            _ => {}
        }
    }
    edges.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        a.rule.cmp(&b.rule).then(by_score).then(a.pair.cmp(&b.pair))
    });
    for edge in edges {
        if !edge.strict || all_alike(clusters, edge.pair) {
            clusters.join(edge.pair, edge.rule, edge.score, String::new());
        }
    }
    for (one, two) in open {
        if clusters.find(one) == clusters.find(two) {
            continue;
        }
        if let Some(reason) = clusters.verdict(one, two) {
            clusters.join((one, two), MergeRule::Verdict, 1.0, reason);
        } else if !clusters.are_distinct(one, two) {
            clusters.ask(one, two);
        }
    }
}

/// Pairs of locals, one for each cluster and name, whose names meet in a block.
fn candidates(clusters: &mut Clusters<'_>) -> BTreeSet<(usize, usize)> {
    let locals = clusters.locals;
    let mut seen = BTreeSet::new();
    let mut blocks: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, local) in locals.iter().enumerate() {
        let root = clusters.find(at);
        if clusters.absorbed[at] || !seen.insert((root, &local.name.form)) {
            continue;
        }
        for block in local.name.blocks() {
            blocks.entry(block).or_default().push(at);
        }
        // What a text declares to be a short form of this name, wherever it stands.
        blocks.entry(declared_block(&local.name.form)).or_default().push(at);
        for alias in &local.aliases {
            blocks.entry(declared_block(alias)).or_default().push(at);
        }
    }
    let mut pairs = BTreeSet::new();
    for (block, members) in blocks {
        if members.len() < 2 || clusters.is_crowded(&block) {
            continue;
        }
        // Locals are sorted by form.
        let names: Vec<&[usize]> =
            members.chunk_by(|a, b| locals[*a].name.form == locals[*b].name.form).collect();
        for (i, ones) in names.iter().enumerate() {
            for twos in names[i + 1..].iter().filter(|twos| ones.len() * twos.len() <= PAIRS) {
                pairs.extend(alike(locals, ones, twos, &block));
            }
        }
    }
    pairs
}

/// Pairs of locals of two names that are worth a closer look.
fn alike<'a>(
    locals: &'a [Local],
    ones: &'a [usize],
    twos: &'a [usize],
    block: &'a str,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let pairs = ones.iter().flat_map(|one| twos.iter().map(|two| (*one, *two)));
    pairs
        .filter(|(one, two)| locals[*one].name.may_be_like(&locals[*two].name, block))
        .map(|(one, two)| (one.min(two), one.max(two)))
}

/// What is to be done about two clusters by their names, kinds and descriptions: the rule,
/// whether it is strict, and the decision.
fn decide(
    clusters: &mut Clusters<'_>,
    one: usize,
    two: usize,
) -> Option<(MergeRule, bool, Decision)> {
    let (a, b) = (&clusters.locals[one], &clusters.locals[two]);
    let declares = |x: &Local, y: &Local| x.aliases.contains(&y.name.form);
    let in_text = declares(a, b) || declares(b, a);
    let similarity = a.name.like(&b.name);
    if !in_text && similarity.is_none() {
        return None;
    }
    let said = clusters.agreement(one, two);
    if said == Agreement::Apart {
        return None;
    }
    if in_text {
        return Some((MergeRule::Bracket, false, trusting(said)));
    }
    let pair = Pair { a, b, said, together: clusters.share_document(one, two) };
    let similarity = similarity?;
    pair.as_people(similarity).or_else(|| pair.as_any(similarity))
}

/// A rule that holds unless the descriptions speak against it.
fn trusting(said: Agreement) -> Decision {
    match said {
        Agreement::Same(score) => Decision::Join(score),
        Agreement::Unknown => Decision::Join(0.0),
        _ => Decision::Ask,
    }
}

/// Two names that are alike in some way.
struct Pair<'a> {
    a: &'a Local,
    b: &'a Local,
    said: Agreement,
    /// Whether one document has both.
    together: bool,
}

impl Pair<'_> {
    /// A rule that holds only if the descriptions agree or something else speaks for it.
    fn careful(&self, agrees: bool, doubtful: bool) -> Decision {
        match self.said {
            Agreement::Same(score) => Decision::Join(score),
            _ if agrees => Decision::Join(0.0),
            _ if doubtful => Decision::Ask,
            _ => Decision::No,
        }
    }

    /// Likenesses between names of people.
    fn as_people(&self, similarity: NameSimilarity) -> Option<(MergeRule, bool, Decision)> {
        let kinds = [self.a.kind, self.b.kind];
        if !kinds.iter().all(|kind| matches!(kind, EntityKind::Person | EntityKind::Unknown)) {
            return None;
        }
        let people = kinds == [EntityKind::Person, EntityKind::Person];
        let unclear = self.said == Agreement::Unclear;
        let together = people && self.together;
        let (rule, decision) = match similarity {
            NameSimilarity::Honorific => (MergeRule::Honorific, trusting(self.said)),
            NameSimilarity::MiddleName => (MergeRule::MiddleName, trusting(self.said)),
            NameSimilarity::Initials => (MergeRule::Initials, trusting(self.said)),
            NameSimilarity::MissingMiddle => {
                (MergeRule::MiddleName, self.careful(together, people))
            }
            NameSimilarity::OneInitial => {
                (MergeRule::Initials, self.careful(together, people && unclear))
            }
            _ => return None,
        };
        Some((rule, true, decision))
    }

    /// Likenesses between names of anything.
    fn as_any(&self, similarity: NameSimilarity) -> Option<(MergeRule, bool, Decision)> {
        let (a, b) = (self.a, self.b);
        let unclear = self.said == Agreement::Unclear;
        let corporate = [a.kind, b.kind].map(|kind| kind == EntityKind::Organisation);
        let (rule, decision) = match similarity {
            NameSimilarity::Spelling => (MergeRule::Spelling, trusting(self.said)),
            NameSimilarity::Joined => (MergeRule::Spelling, self.careful(false, unclear)),
            NameSimilarity::Company if corporate == [true, true] => {
                (MergeRule::Company, trusting(self.said))
            }
            NameSimilarity::Company => {
                (MergeRule::Company, self.careful(false, unclear && corporate.contains(&true)))
            }
            NameSimilarity::Qualifier if is_short_form(&a.name, &b.name) => {
                (MergeRule::Bracket, trusting(self.said))
            }
            NameSimilarity::Qualifier => {
                let qualified = qualifies(a, b) || qualifies(b, a);
                (MergeRule::Qualifier, self.careful(qualified, unclear))
            }
            NameSimilarity::Abbreviation => {
                (MergeRule::Abbreviation, self.careful(false, unclear || self.together))
            }
            // A slip of the pen and a namesake look the same: only the model may tell.
            NameSimilarity::Near if matches!(self.said, Agreement::Same(_)) => {
                (MergeRule::Spelling, Decision::Ask)
            }
            _ => return None,
        };
        Some((rule, false, decision))
    }
}

/// Whether the bracket of one name says what the other one is: `Jaws (film)` and a film `Jaws`.
fn qualifies(qualified: &Local, plain: &Local) -> bool {
    let kind = qualified.name.qualifier.as_ref().map(|(_, inner)| EntityKind::parse(inner));
    kind.is_some_and(|kind| kind != EntityKind::Unknown && kind == plain.kind)
}

/// Whether the bracket is only the short form: `World Health Organization (WHO)`.
fn is_short_form(one: &Name, two: &Name) -> bool {
    [one, two]
        .iter()
        .any(|name| name.qualifier.as_ref().is_some_and(|(base, inner)| abbreviates(inner, base)))
}

/// Whether all names of two clusters of people are like each other, so that `John A. Smith` and
/// `John B. Smith` do not meet in `John Smith`.
fn all_alike(clusters: &mut Clusters<'_>, (one, two): (usize, usize)) -> bool {
    let locals = clusters.locals;
    let mut names = |at: usize| {
        let mut seen = BTreeMap::new();
        for member in clusters.members(at).to_vec() {
            if !clusters.absorbed[member] {
                seen.entry(locals[member].name.form.as_str()).or_insert(member);
            }
        }
        seen.into_values().collect::<Vec<usize>>()
    };
    let (ones, twos) = (names(one), names(two));
    ones.iter().all(|a| {
        twos.iter().all(|b| {
            let (a, b) = (&locals[*a].name, &locals[*b].name);
            a.form == b.form || a.like(b).is_some()
        })
    })
}
