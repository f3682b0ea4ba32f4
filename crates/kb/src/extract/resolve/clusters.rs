//! Clusters of mentions that are joined one pair at a time, each with its evidence, unless
//! something forbids it.
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::description_match::{Agreement, EntityKind, agreement};
use super::name_similarity::block_id;
use super::{Local, Question, ResolutionEvidence};
use crate::store::{ClusterSnapshot, Id, MergeRecord, MergeRule, hash};

/// How many prints, documents and locals of a cluster are kept as evidence, compared or shown.
const KEPT: usize = 64;
const COMPARED: usize = 8;

/// Descriptions whose vectors are so near say the same.
const NEAR: f32 = 0.8;

pub(super) struct Clusters<'a> {
    pub(super) locals: &'a [Local],
    evidence: &'a ResolutionEvidence,
    parent: Vec<usize>,
    /// Of each root: its locals, in order of joining.
    members: Vec<Vec<usize>>,
    prints: Vec<BTreeSet<Id>>,
    kinds: Vec<BTreeSet<EntityKind>>,
    /// Prints that must stay apart, both ways.
    apart: HashMap<Id, HashSet<Id>>,
    /// Prints that the model said are one, both ways, with its words.
    same: HashMap<Id, HashMap<Id, &'a str>>,
    /// Locals that belong to a fuller name of their document.
    pub(super) absorbed: Vec<bool>,
    merges: BTreeMap<Id, MergeRecord>,
    questions: BTreeMap<(Id, Id), Question>,
}

impl<'a> Clusters<'a> {
    pub(super) fn new(locals: &'a [Local], evidence: &'a ResolutionEvidence) -> Self {
        let mut apart: HashMap<Id, HashSet<Id>> = HashMap::new();
        let mut same: HashMap<Id, HashMap<Id, &str>> = HashMap::new();
        let mut part = |one: Id, two: Id| {
            apart.entry(one).or_default().insert(two);
            apart.entry(two).or_default().insert(one);
        };
        for undone in &evidence.undone {
            for one in &undone.one {
                undone.two.iter().for_each(|two| part(*one, *two));
            }
        }
        for verdict in &evidence.verdicts {
            if verdict.same {
                same.entry(verdict.one).or_default().insert(verdict.two, &verdict.reason);
                same.entry(verdict.two).or_default().insert(verdict.one, &verdict.reason);
            } else {
                part(verdict.one, verdict.two);
            }
        }
        let count = locals.len();
        Self {
            locals,
            evidence,
            parent: (0..count).collect(),
            members: (0..count).map(|at| vec![at]).collect(),
            prints: locals.iter().map(|local| BTreeSet::from([local.print])).collect(),
            kinds: locals.iter().map(|local| BTreeSet::from([local.kind])).collect(),
            apart,
            same,
            absorbed: vec![false; count],
            merges: BTreeMap::new(),
            questions: BTreeMap::new(),
        }
    }

    pub(super) fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    pub(super) fn members(&mut self, at: usize) -> &[usize] {
        let root = self.find(at);
        &self.members[root]
    }

    /// Keeps two prints apart permanently.
    pub(super) fn forbid(&mut self, one: usize, two: usize) {
        let (one, two) = (self.locals[one].print, self.locals[two].print);
        self.apart.entry(one).or_default().insert(two);
        self.apart.entry(two).or_default().insert(one);
    }

    /// Whether a user, the model or the types keep two clusters apart.
    fn is_forbidden(&self, one: usize, two: usize) -> bool {
        let clash = |a: &EntityKind| self.kinds[two].iter().any(|b| !a.fits(*b));
        if self.kinds[one].iter().any(clash) {
            return true;
        }
        let (few, many) =
            if self.prints[one].len() <= self.prints[two].len() { (one, two) } else { (two, one) };
        let others = &self.prints[many];
        self.prints[few].iter().filter_map(|print| self.apart.get(print)).any(|apart| {
            if apart.len() < others.len() {
                apart.iter().any(|print| others.contains(print))
            } else {
                others.iter().any(|print| apart.contains(print))
            }
        })
    }

    /// What the model said about two clusters: its words if they are one.
    pub(super) fn verdict(&mut self, one: usize, two: usize) -> Option<String> {
        let (one, two) = (self.find(one), self.find(two));
        let others = &self.prints[two];
        let said = self.prints[one].iter().filter_map(|print| self.same.get(print));
        let said = said.flat_map(|with| with.iter()).filter(|(print, _)| others.contains(print));
        // The smallest, so that the same words are quoted every time.
        said.min_by_key(|(print, _)| **print).map(|(_, reason)| (*reason).to_owned())
    }

    /// Whether the model said that they are two.
    pub(super) fn are_distinct(&mut self, one: usize, two: usize) -> bool {
        let (one, two) = (self.find(one), self.find(two));
        self.is_forbidden(one, two)
    }

    /// Joins without a record: both say the same under the same name, or nothing.
    pub(super) fn unite(&mut self, one: usize, two: usize) -> bool {
        let (one, two) = (self.find(one), self.find(two));
        if one == two || self.is_forbidden(one, two) {
            return false;
        }
        let (into, from) = if self.members[one].len() >= self.members[two].len() {
            (one, two)
        } else {
            (two, one)
        };
        self.parent[from] = into;
        let members = std::mem::take(&mut self.members[from]);
        self.members[into].extend(members);
        let prints = std::mem::take(&mut self.prints[from]);
        self.prints[into].extend(prints);
        let kinds = std::mem::take(&mut self.kinds[from]);
        self.kinds[into].extend(kinds);
        true
    }

    /// Joins two clusters and keeps why.
    pub(super) fn join(
        &mut self,
        (one, two): (usize, usize),
        rule: MergeRule,
        score: f32,
        reason: String,
    ) -> bool {
        let (first, second) = (self.find(one), self.find(two));
        if first == second {
            return true;
        }
        let (mut one, mut two) = (self.side(first, one), self.side(second, two));
        if !self.unite(first, second) {
            return false;
        }
        if two.prints < one.prints {
            std::mem::swap(&mut one, &mut two);
        }
        let least =
            |side: &ClusterSnapshot| side.prints.first().copied().unwrap_or(0).to_be_bytes();
        let id = hash(&[&[rule as u8], &least(&one), &least(&two)]);
        let record = MergeRecord { rule, one, two, score, reason };
        match self.merges.get_mut(&id) {
            // The same again in another document.
            Some(existing) => {
                existing.one.take_in(&record.one);
                existing.two.take_in(&record.two);
            }
            None => {
                self.merges.insert(id, record);
            }
        }
        true
    }

    /// The cluster as evidence: shown as the local of it that was compared.
    fn side(&self, root: usize, shown: usize) -> ClusterSnapshot {
        let local = &self.locals[shown];
        let commonest = |counts: &BTreeMap<String, u32>| {
            let best =
                counts.iter().max_by_key(|(word, count)| (**count, std::cmp::Reverse(*word)));
            best.map_or_else(String::new, |(word, _)| word.clone())
        };
        let documents: BTreeSet<Id> =
            self.members[root].iter().map(|at| self.locals[*at].document).collect();
        ClusterSnapshot {
            name: commonest(&local.shown),
            kind: commonest(&local.kinds),
            description: local.descriptions.first().cloned().unwrap_or_default(),
            from: local.document,
            documents: documents.into_iter().take(COMPARED).collect(),
            prints: self.prints[root].iter().copied().take(KEPT).collect(),
        }
    }

    /// Leaves it to the model whether two clusters are one.
    pub(super) fn ask(&mut self, one: usize, two: usize) {
        let (one, two) = (self.find(one), self.find(two));
        let least = |clusters: &Self, root: usize| clusters.prints[root].first().copied();
        let (Some(a), Some(b)) = (least(self, one), least(self, two)) else { return };
        if a == b {
            return;
        }
        let ((a, one), (b, two)) = if a < b { ((a, one), (b, two)) } else { ((b, two), (a, one)) };
        let shown = |clusters: &Self, root: usize| {
            let mut members = clusters.members[root].clone();
            let locals = clusters.locals;
            members.sort_by_key(|at| (locals[*at].print, locals[*at].document));
            members.dedup_by_key(|at| locals[*at].print);
            members.truncate(COMPARED);
            members
        };
        let question = Question { prints: (a, b), one: shown(self, one), two: shown(self, two) };
        self.questions.insert((a, b), question);
    }

    /// What the descriptions of two clusters say about each other, by their most alike locals.
    pub(super) fn agreement(&mut self, one: usize, two: usize) -> Agreement {
        let (one, two) = (self.find(one), self.find(two));
        if self.kinds[one].iter().any(|a| self.kinds[two].iter().any(|b| !a.fits(*b))) {
            return Agreement::Apart;
        }
        let sample = |members: &[usize]| {
            let mut sample: Vec<usize> = members.to_vec();
            sample
                .sort_by_key(|at| (self.locals[*at].described.is_empty(), self.locals[*at].print));
            sample.dedup_by_key(|at| self.locals[*at].print);
            sample.truncate(COMPARED);
            sample
        };
        let (ones, twos) = (sample(&self.members[one]), sample(&self.members[two]));
        let pairs = ones.iter().flat_map(|a| twos.iter().map(move |b| (*a, *b)));
        let mut best = Agreement::Unknown;
        for (a, b) in pairs {
            best = better(best, self.of_locals(a, b));
        }
        best
    }

    /// The same of two locals, with their vectors where there are some.
    pub(super) fn of_locals(&self, one: usize, two: usize) -> Agreement {
        let (a, b) = (&self.locals[one], &self.locals[two]);
        let said = agreement((a.kind, &a.described), (b.kind, &b.described));
        let pair = (a.print.min(b.print), a.print.max(b.print));
        match (said, self.evidence.near.get(&pair)) {
            (Agreement::Unclear, Some(near)) if *near >= NEAR => Agreement::Same(*near),
            _ => said,
        }
    }

    /// Whether so many names meet in a block that it says nothing.
    pub(super) fn is_crowded(&self, block: &str) -> bool {
        !self.evidence.crowded.is_empty() && self.evidence.crowded.contains(&block_id(block))
    }

    pub(super) fn share_document(&mut self, one: usize, two: usize) -> bool {
        let (one, two) = (self.find(one), self.find(two));
        let (few, many) =
            if self.members[one].len() < self.members[two].len() { (one, two) } else { (two, one) };
        let documents: HashSet<Id> =
            self.members[few].iter().map(|at| self.locals[*at].document).collect();
        self.members[many].iter().any(|at| documents.contains(&self.locals[*at].document))
    }

    /// The clusters, how they came about and what is left to ask.
    pub(super) fn finish(mut self) -> (Vec<Vec<usize>>, BTreeMap<Id, MergeRecord>, Vec<Question>) {
        let roots: Vec<usize> =
            (0..self.locals.len()).filter(|at| self.parent[*at] == *at).collect();
        let mut groups: Vec<Vec<usize>> =
            roots.into_iter().map(|root| std::mem::take(&mut self.members[root])).collect();
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort();
        (groups, self.merges, self.questions.into_values().collect())
    }
}

/// The stronger of two: a contradiction, then similarity, then an open question.
fn better(one: Agreement, two: Agreement) -> Agreement {
    use Agreement::{Apart, Same, Unclear, Unknown};
    match (one, two) {
        (Apart, _) | (_, Apart) => Apart,
        (Same(a), Same(b)) => Same(a.max(b)),
        (Same(a), _) | (_, Same(a)) => Same(a),
        (Unclear, _) | (_, Unclear) => Unclear,
        (Unknown, Unknown) => Unknown,
    }
}

impl ClusterSnapshot {
    fn take_in(&mut self, other: &Self) {
        for (stored, new, limit) in [
            (&mut self.documents, &other.documents, COMPARED),
            (&mut self.prints, &other.prints, KEPT),
        ] {
            let all: BTreeSet<Id> = stored.iter().chain(new).copied().collect();
            *stored = all.into_iter().take(limit).collect();
        }
    }
}
