//! The way from passages to questions: bridges, halves, pairs.
use std::collections::{BTreeMap, HashSet};

use halma_core::text::normalise_name;
use halma_core::{Cx, Error, Hit, Layer, Mode, Query, Result};

use super::bridge::{Bridge, candidates, in_graph};
use super::error::BlendError;
use super::half::{Ask, Clue, Side};
use super::kind::{Dropped, Kind, Sort};
use super::merge::merge;
use super::record::Blended;
use super::{graph, passage};
use crate::random::Random;

/// How the words of the questions come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// By rules: repeatable, plain, and of few patterns.
    Rules,
    /// By the model of the role `proposer`.
    Model,
}

/// What is to be made.
#[derive(Debug, Clone)]
pub struct Wishes {
    pub kinds: Vec<Kind>,
    /// Number of questions of each kind.
    pub each: usize,
    /// The order in which the passages are tried.
    pub seed: u64,
    pub wording: Wording,
    /// The name of the source of web results.
    pub web: String,
}

/// What was made.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Built {
    pub questions: Vec<Blended>,
    /// How many were made of each kind.
    pub made: BTreeMap<Kind, usize>,
    /// How many are missing of each kind that was asked for.
    pub missing: BTreeMap<Kind, usize>,
    /// How many names were tried as bridges.
    pub bridges: u64,
    pub dropped: BTreeMap<Dropped, u64>,
}

impl Built {
    /// The questions as JSON lines.
    pub fn lines(&self) -> serde_json::Result<String> {
        let lines: serde_json::Result<Vec<String>> =
            self.questions.iter().map(serde_json::to_string).collect();
        Ok(lines?.into_iter().map(|line| line + "\n").collect())
    }

    /// Why what was tried came to nothing, in one line.
    pub fn reasons(&self) -> String {
        super::error::reasons(&self.dropped)
    }
}

/// Makes questions of these passages of a base, each with a run of its own from `open`. At most
/// one of a kind is made of a bridge.
///
/// # Errors
///
/// [`BlendError`] when a source that a kind needs is not configured, when there is nothing to make
/// questions of, or when none could be verified.
pub async fn build(
    open: &(dyn Fn() -> Cx + Send + Sync),
    passages: &[Hit],
    wishes: &Wishes,
) -> std::result::Result<Built, BlendError> {
    possible(&open(), passages, wishes)?;
    let mut work = Work { wishes, tried: HashSet::new(), built: Built::default() };
    for index in order(passages.len(), wishes.seed) {
        if work.open_kinds().is_empty() {
            break;
        }
        if let Err(error) = work.passage(&open(), &passages[index]).await {
            let why = excused(&error).ok_or(error)?;
            work.count(why, 1);
        }
    }
    let mut built = work.built;
    for kind in &wishes.kinds {
        let made = built.questions.iter().filter(|question| question.kind == *kind).count();
        built.made.insert(*kind, made);
        if made < wishes.each {
            built.missing.insert(*kind, wishes.each - made);
        }
    }
    if built.questions.is_empty() {
        return Err(BlendError::NothingMade(built.dropped));
    }
    Ok(built)
}

fn possible(cx: &Cx, passages: &[Hit], wishes: &Wishes) -> std::result::Result<(), BlendError> {
    let needing = |sort: Sort| wishes.kinds.iter().find(|kind| kind.needs(sort));
    if wishes.kinds.is_empty() || wishes.each == 0 {
        return Err(BlendError::NoKinds);
    }
    if passages.is_empty() {
        return Err(BlendError::NoPassages);
    }
    if let Some(kind) = needing(Sort::Kg).filter(|_| cx.facts().is_none()) {
        return Err(BlendError::NoGraph(kind.name()));
    }
    let known = || cx.sources().iter().any(|source| source.name == wishes.web);
    if let Some(kind) = needing(Sort::Web).filter(|_| !known()) {
        let source_name = wishes.web.clone();
        return Err(BlendError::NoSource { kind: kind.name(), source_name });
    }
    Ok(())
}

/// What spoils one passage or bridge and not the whole.
fn excused(error: &Error) -> Option<Dropped> {
    match error {
        Error::Spent(_) => Some(Dropped::Spent),
        Error::BadReply { .. } => Some(Dropped::BadReply),
        Error::Source { .. } => Some(Dropped::SourceFailed),
        _ => None,
    }
}

/// The places of a list in an order that only the seed decides (Fisher and Yates).
fn order(length: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut order: Vec<usize> = (0..length).collect();
    for last in (1..length).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// At most this many passages and web results are read for a bridge.
const READ: usize = 3;

struct Work<'w> {
    wishes: &'w Wishes,
    tried: HashSet<String>,
    built: Built,
}

impl Work<'_> {
    /// The kinds of which there are not enough yet.
    fn open_kinds(&self) -> Vec<Kind> {
        let made = |kind: &Kind| self.built.questions.iter().filter(|q| q.kind == *kind).count();
        let kinds = self.wishes.kinds.iter().copied();
        kinds.filter(|kind| made(kind) < self.wishes.each).collect()
    }

    fn count(&mut self, why: Dropped, count: u64) {
        if count > 0 {
            *self.built.dropped.entry(why).or_default() += count;
        }
    }

    async fn passage(&mut self, cx: &Cx, passage: &Hit) -> Result<()> {
        for mut bridge in candidates(cx, passage).await? {
            let kinds = self.open_kinds();
            if kinds.is_empty() {
                return Ok(());
            }
            if !self.tried.insert(normalise_name(&bridge.name)) {
                continue;
            }
            self.built.bridges += 1;
            match self.bridge(cx, &mut bridge, &kinds).await {
                Ok(()) => {}
                Err(error @ Error::Spent(_)) => return Err(error),
                Err(error) => {
                    let why = excused(&error).ok_or(error)?;
                    self.count(why, 1);
                }
            }
        }
        Ok(())
    }

    /// The sides of a bridge, as far as the kinds still need them, and one question of each kind.
    async fn bridge(&mut self, cx: &Cx, bridge: &mut Bridge, kinds: &[Kind]) -> Result<()> {
        let mut sides: BTreeMap<Sort, Side> = BTreeMap::new();
        if cx.facts().is_some() {
            match in_graph(cx, &bridge.name).await? {
                Ok(entity) => bridge.entity = Some(entity),
                // The name may mean another one in the next text.
                Err(why @ Dropped::SeveralEntities) => {
                    self.count(why, 1);
                    return Ok(());
                }
                Err(why) if kinds.iter().any(|kind| kind.needs(Sort::Kg)) => self.count(why, 1),
                Err(_) => {}
            }
        }
        let possible = |kind: &&Kind| bridge.entity.is_some() || !kind.needs(Sort::Kg);
        let kinds: Vec<Kind> = kinds.iter().filter(possible).copied().collect();
        let needed = |sort: Sort| kinds.iter().any(|kind| kind.needs(sort));
        if let Some(entity) = bridge.entity.as_ref().filter(|_| needed(Sort::Kg)) {
            let (side, dropped) = graph::side(cx, entity).await?;
            for (why, count) in dropped {
                self.count(why, count);
            }
            sides.insert(Sort::Kg, side);
        }
        if needed(Sort::Web) {
            let hits = cx.source(&self.wishes.web, &bridge.name, READ).await?;
            let naming: Vec<Hit> = hits.into_iter().filter(|hit| bridge.is_named_in(hit)).collect();
            self.count(Dropped::NoWebResult, u64::from(naming.is_empty()));
            sides.insert(Sort::Web, self.read(cx, (bridge, Sort::Web), &naming).await?);
        }
        // Without another source there is no use in reading the base.
        let others = kinds.iter().flat_map(|kind| kind.sorts()).filter(|sort| *sort != Sort::Text);
        let other = others.into_iter().any(|sort| sides.get(&sort).is_some_and(|s| !s.is_empty()));
        if needed(Sort::Text) && other {
            let hits = passages(cx, bridge).await?;
            sides.insert(Sort::Text, self.read(cx, (bridge, Sort::Text), &hits).await?);
        }
        for kind in kinds {
            self.pair(cx, bridge, kind, &sides).await?;
        }
        Ok(())
    }

    async fn read(&mut self, cx: &Cx, of: (&Bridge, Sort), hits: &[Hit]) -> Result<Side> {
        let mut whole = Side::default();
        for hit in hits {
            let (side, unverified) = passage::side(cx, of, hit, self.wishes.wording).await?;
            self.count(Dropped::Unverified, unverified);
            whole.add(side);
        }
        Ok(whole)
    }

    /// The first pair of halves that makes a question of this kind; the side that leads to the
    /// bridge alternates, so that neither is always the first.
    async fn pair(
        &mut self,
        cx: &Cx,
        bridge: &Bridge,
        kind: Kind,
        sides: &BTreeMap<Sort, Side>,
    ) -> Result<()> {
        let [one, other] = kind.sorts();
        let (Some(one), Some(other)) = (sides.get(&one), sides.get(&other)) else { return Ok(()) };
        let made = self.built.questions.iter().filter(|question| question.kind == kind).count();
        let ways =
            if made % 2 == 0 { [(one, other), (other, one)] } else { [(other, one), (one, other)] };
        let mut tried = false;
        for (first, second) in ways {
            for (clue, ask) in pairs(first, second) {
                tried = true;
                let name = bridge.name.as_str();
                match merge(cx, (clue, ask), name, self.wishes.wording).await? {
                    Ok(question) => {
                        self.keep((kind, bridge), question, (clue, ask));
                        return Ok(());
                    }
                    Err(why) => self.count(why, 1),
                }
            }
        }
        self.count(Dropped::NothingToAsk, u64::from(!tried));
        Ok(())
    }

    fn keep(
        &mut self,
        (kind, bridge): (Kind, &Bridge),
        question: String,
        (clue, ask): (&Clue, &Ask),
    ) {
        self.built.questions.push(Blended {
            index: self.built.questions.len() + 1,
            kind,
            question,
            sub_q1: clue.question.clone(),
            sub_source1: clue.place.clone(),
            entity: bridge.name.clone(),
            entity_id: bridge.entity.as_ref().map(|entity| entity.id.0.clone()),
            sub_q2: ask.question.clone(),
            sub_source2: ask.place.clone(),
            short_answer: ask.answers.first().cloned().unwrap_or_default(),
            answers: ask.answers.clone(),
        });
    }
}

fn pairs<'s>(first: &'s Side, second: &'s Side) -> impl Iterator<Item = (&'s Clue, &'s Ask)> {
    first.clues.iter().flat_map(|clue| second.asks.iter().map(move |ask| (clue, ask)))
}

/// The passages of the base that name the bridge.
async fn passages(cx: &Cx, bridge: &Bridge) -> Result<Vec<Hit>> {
    let query = Query::new(vec![bridge.name.clone()], Layer::Chunk, Mode::Hybrid, READ);
    let found = cx.search(&query).await?.into_iter().flatten();
    Ok(found.filter(|hit| bridge.is_named_in(hit)).collect())
}
