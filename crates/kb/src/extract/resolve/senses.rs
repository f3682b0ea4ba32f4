//! Mentions of one name: within a document they are one thing, across documents as far as what is
//! said of them agrees.
use std::collections::{BTreeMap, HashMap};

use super::Local;
use super::clusters::Clusters;
use super::description_match::{Agreement, EntityKind};
use crate::store::{Id, MergeRule};

/// Up to so many different descriptions of one name are compared each with each.
const EACH_WITH_EACH: usize = 300;
/// Above that, those that share a word which no more than so many others have.
const RARE: usize = 40;

/// The maximum of namesakes that the model compares at once.
const MAX_COMPARED: usize = 8;

/// Short forms join the full ones of their document.
pub(super) fn within_documents(clusters: &mut Clusters<'_>) {
    let mut documents: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
    for (at, local) in clusters.locals.iter().enumerate() {
        documents.entry(local.document).or_default().push(at);
    }
    for locals in documents.values() {
        for short in locals {
            let Some((full, rule)) = host(clusters.locals, locals, *short) else { continue };
            if clusters.join((full, *short), rule, 1.0, String::new()) {
                clusters.absorbed[*short] = true;
            }
        }
    }
}

/// The one local that a short form can stand for.
fn host(locals: &[Local], document: &[usize], short: usize) -> Option<(usize, MergeRule)> {
    let name = &locals[short].name.form;
    if name.contains(' ') {
        return None;
    }
    let mut declaring = document.iter().filter(|at| locals[**at].aliases.contains(name));
    if let (Some(full), None) = (declaring.next(), declaring.next()) {
        return (*full != short).then_some((*full, MergeRule::Bracket));
    }
    let may_be_person = matches!(locals[short].kind, EntityKind::Person | EntityKind::Unknown);
    if !may_be_person || name.chars().count() < 3 {
        return None;
    }
    let named_so = |at: &&usize| {
        let full = &locals[**at];
        full.kind == EntityKind::Person
            && full.name.form.rsplit_once(' ').is_some_and(|(_, last)| last == name.as_str())
    };
    let mut full = document.iter().filter(named_so);
    match (full.next(), full.next()) {
        (Some(full), None) => Some((*full, MergeRule::LastName)),
        _ => None,
    }
}

/// One name in several documents.
pub(super) fn across_documents(clusters: &mut Clusters<'_>) {
    let mut forms: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, local) in clusters.locals.iter().enumerate() {
        if !clusters.absorbed[at] {
            forms.entry(&local.name.form).or_default().push(at);
        }
    }
    for group in forms.values().filter(|group| group.len() > 1) {
        namesakes(clusters, group);
    }
}

fn namesakes(clusters: &mut Clusters<'_>, group: &[usize]) {
    let locals = clusters.locals;
    // Locals are sorted by print: equal ones stand together.
    let mut different: Vec<usize> = vec![];
    for at in group {
        match different.last() {
            Some(last) if locals[*last].print == locals[*at].print => {
                clusters.unite(*last, *at);
            }
            _ => different.push(*at),
        }
    }
    let (silent, described): (Vec<usize>, Vec<usize>) =
        different.into_iter().partition(|at| locals[*at].described.is_empty());
    join_alike(clusters, &described);
    let left = settle_unclear(clusters, &described);
    // What nobody describes goes with the one thing of that name, if there is only one.
    for (i, at) in silent.iter().enumerate() {
        let fits = |with: &&usize| locals[**with].kind.fits(locals[*at].kind);
        let mut fitting = left.iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(only), None) => {
                clusters.unite(*only, *at);
            }
            _ => {
                if let Some(other) = silent[..i].iter().find(fits) {
                    clusters.unite(*other, *at);
                }
            }
        }
    }
}

/// Joins what is described alike, the most alike first.
fn join_alike(clusters: &mut Clusters<'_>, described: &[usize]) {
    let locals = clusters.locals;
    let (mut alike, mut silent) = (vec![], vec![]);
    for (one, two) in pairs(locals, described) {
        match clusters.of_locals(one, two) {
            Agreement::Same(score) => alike.push((score, one, two)),
            Agreement::Unknown => silent.push((one, two)),
            Agreement::Apart => clusters.forbid(one, two),
            Agreement::Unclear => {}
        }
    }
    alike.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    for (score, one, two) in alike {
        clusters.join((one, two), MergeRule::LikeDescriptions, score, String::new());
    }
    for (one, two) in silent {
        clusters.join((one, two), MergeRule::SameName, 0.0, String::new());
    }
}

/// Takes the model's verdicts and leaves to it what is open; returns a local of each cluster.
fn settle_unclear(clusters: &mut Clusters<'_>, described: &[usize]) -> Vec<usize> {
    let mut left: Vec<usize> = vec![];
    for at in roots(clusters, described) {
        let mut joined = false;
        for other in left.clone() {
            if let Some(reason) = clusters.verdict(other, at)
                && clusters.join((other, at), MergeRule::Verdict, 1.0, reason)
            {
                joined = true;
                break;
            }
        }
        if !joined {
            left.push(at);
        }
    }
    let left = roots(clusters, &left);
    for (i, at) in left.iter().enumerate().skip(1).take(MAX_COMPARED) {
        let open = left[..i].iter().find(|other| !clusters.are_distinct(**other, *at));
        if let Some(other) = open.copied() {
            clusters.ask(other, *at);
        }
    }
    left
}

/// One local for each cluster, the largest first, then by what they say.
fn roots(clusters: &mut Clusters<'_>, locals: &[usize]) -> Vec<usize> {
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for at in locals {
        let root = clusters.find(*at);
        seen.entry(root).or_insert(*at);
    }
    let mut roots: Vec<(usize, usize)> = seen.into_iter().collect();
    roots.sort_by_key(|(root, at)| (std::cmp::Reverse(clusters.members(*root).len()), *at));
    roots.into_iter().map(|(_, at)| at).collect()
}

/// Pairs that are worth comparing.
fn pairs(locals: &[Local], of: &[usize]) -> Vec<(usize, usize)> {
    let mut pairs = vec![];
    if of.len() <= EACH_WITH_EACH {
        for (i, one) in of.iter().enumerate() {
            pairs.extend(of[i + 1..].iter().map(|two| (*one, *two)));
        }
        return pairs;
    }
    let mut by_stem: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in of {
        for stem in locals[*at].described.stems() {
            by_stem.entry(stem).or_default().push(*at);
        }
    }
    for members in by_stem.values() {
        if members.len() <= RARE {
            for (i, one) in members.iter().enumerate() {
                pairs.extend(members[i + 1..].iter().map(|two| (*one, *two)));
            }
        } else {
            pairs.extend(members.windows(2).map(|next| (next[0], next[1])));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
