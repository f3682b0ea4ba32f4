//! What a trained reader says of the passages, as features of spans.
use std::collections::BTreeMap;
use std::ops::Range;

use halma_core::{PassageReader, Reading};

use super::text::{Line, Text};
use crate::spans::{Kind, Span};
use crate::words::{Sentence, Shape};

/// The features that a trained reader gives a span, in the order of [`JOINT`](super::score::JOINT)
/// after those of the rules.
pub(crate) const TRAINED: usize = 7;

pub(crate) type TrainedFeatures = [f32; TRAINED];

/// Passages that are read one by one, at most; and their characters, as long as it is more than one
/// passage. Reading takes some 10 ms of a processor for a passage of 500 characters.
const MAX_PASSAGES: usize = 5;
const MAX_CHARS: usize = 4_000;

/// Passages that are read together, and their characters: what fits one window.
const JOINED: usize = 4;
const JOINED_CHARS: usize = 1_450;

/// Spans of a text that the reader itself proposes, and the longest of them in words.
const OWN_SPANS: usize = 4;
const LONGEST: usize = 12;

/// Brings logits to the size of the other features.
const SCALE: f32 = 10.0;

/// What the reader says of the passages, one by one and together.
pub(crate) struct Readings {
    /// One for each passage; `None` where it was not read.
    passages: Vec<Option<ReadText>>,
    /// The best passages together.
    joined: Option<ReadText>,
    /// The highest score of any span of a single passage.
    best: f32,
}

/// Lines that were read as one text.
struct ReadText {
    reading: Reading,
    /// Where each line begins in it, in bytes.
    starts: BTreeMap<usize, usize>,
    /// The highest score of its spans.
    best: f32,
    proposed: Vec<Range<usize>>,
}

impl Readings {
    /// Reads the passages that hold the lines with the highest `values`, one for each line. `None`
    /// where that failed: the rules do without.
    pub(crate) fn new(
        reader: &dyn PassageReader,
        question: &str,
        text: &Text,
        values: &[f32],
    ) -> Option<Self> {
        let order = by_value(text, values);
        let single = choose(text, &order);
        let mut parts: Vec<Vec<usize>> = single.iter().map(|&at| lines_of(text, at)).collect();
        if order.len() > 1 {
            parts.push(join(text, &order, values));
        }
        let mut read = read(reader, question, text, &parts)?;
        let joined = if order.len() > 1 { read.pop() } else { None };
        let mut passages: Vec<Option<ReadText>> = text.titles.iter().map(|_| None).collect();
        let best = read.iter().map(|read| read.best).fold(f32::MIN, f32::max);
        for (passage, read) in single.into_iter().zip(read) {
            passages[passage] = Some(read);
        }
        Some(Self { passages, joined, best })
    }

    pub(crate) fn has(&self, passage: usize) -> bool {
        self.passages.get(passage).is_some_and(Option::is_some)
    }

    /// The features of words of a line.
    pub(crate) fn features(
        &self,
        text: &Text,
        line: usize,
        words: &Range<usize>,
    ) -> Option<TrainedFeatures> {
        let sentence = &text.lines[line].sentence;
        let bytes =
            sentence.words[words.start].range.start..sentence.words[words.end - 1].range.end;
        let read = self.passages.get(text.lines[line].passage)?.as_ref()?;
        let score = read.score(line, &bytes)?;
        let kinds = read.reading.windows.iter().map(|window| &window.kinds);
        let spans = kinds.map(|k| log_share(k.span, &[k.span, k.yes, k.no, k.none]));
        let answers = spans.fold(-SCALE, f32::max);
        // A line that was left out is as unlikely as a bad one.
        let (together, highest) = match &self.joined {
            Some(joined) => {
                (joined.score(line, &bytes).unwrap_or(joined.best - SCALE), joined.best)
            }
            None => (score, read.best),
        };
        Some([
            score / SCALE,
            (score - read.best) / SCALE,
            (score - self.best) / SCALE,
            answers.max(-SCALE) / SCALE,
            read.reading.relevance().unwrap_or(0.0) / SCALE,
            together / SCALE,
            (together - highest) / SCALE,
        ])
    }

    /// Spans of a line that the reader proposes and that are not among those of the rules.
    pub(crate) fn own_spans(&self, text: &Text, line: usize, rule_spans: &[Span]) -> Vec<Span> {
        let sentence = &text.lines[line].sentence;
        let single = self.passages.get(text.lines[line].passage).and_then(Option::as_ref);
        let mut spans: Vec<Span> = vec![];
        for read in single.into_iter().chain(&self.joined) {
            let Some(&start) = read.starts.get(&line) else { continue };
            let end = start + sentence.text.len();
            let inside =
                read.proposed.iter().filter(|range| range.start >= start && range.end <= end);
            let proposed = inside
                .filter_map(|range| span(sentence, &(range.start - start..range.end - start)));
            for span in proposed {
                let same = |other: &Span| other.words == span.words;
                if !rule_spans.iter().any(same) && !spans.iter().any(same) {
                    spans.push(span);
                }
            }
        }
        spans
    }
}

impl ReadText {
    /// By how much bytes of a line are preferred to no answer.
    fn score(&self, line: usize, bytes: &Range<usize>) -> Option<f32> {
        let start = self.starts.get(&line)?;
        self.reading.score(&(start + bytes.start..start + bytes.end))
    }
}

/// Each list of lines as one text.
fn read(
    reader: &dyn PassageReader,
    question: &str,
    text: &Text,
    parts: &[Vec<usize>],
) -> Option<Vec<ReadText>> {
    let composed: Vec<_> = parts.iter().map(|lines| compose(text, lines)).collect();
    let texts: Vec<&str> = composed.iter().map(|(text, _)| text.as_str()).collect();
    let readings = match reader.read(question, &texts) {
        Ok(readings) => readings,
        Err(error) => {
            tracing::warn!(%error, "the passages are read by rules alone");
            return None;
        }
    };
    let read = composed.into_iter().zip(readings).map(|((_, starts), reading)| {
        let spans = reading.best(OWN_SPANS);
        let best = spans.first().map_or(-SCALE, |span| span.score);
        let proposed = spans.into_iter().map(|span| span.range).collect();
        ReadText { reading, starts, best, proposed }
    });
    Some(read.collect())
}

/// `ln` of the share that a logit has in a softmax.
fn log_share(logit: f32, all: &[f32]) -> f32 {
    let highest = all.iter().copied().fold(f32::MIN, f32::max);
    logit - highest - all.iter().map(|other| (other - highest).exp()).sum::<f32>().ln()
}

fn lines_of(text: &Text, passage: usize) -> Vec<usize> {
    (0..text.lines.len()).filter(|&line| text.lines[line].passage == passage).collect()
}

/// The passages with a line, that with the best line first.
fn by_value(text: &Text, values: &[f32]) -> Vec<usize> {
    let mut best: BTreeMap<usize, f32> = BTreeMap::new();
    for (line, value) in text.lines.iter().zip(values) {
        let highest = best.entry(line.passage).or_insert(f32::MIN);
        *highest = highest.max(*value);
    }
    let mut order: Vec<(usize, f32)> = best.into_iter().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.into_iter().map(|(passage, _)| passage).collect()
}

/// The first passages of an order, as long as they are few and short.
fn choose(text: &Text, order: &[usize]) -> Vec<usize> {
    let (mut chosen, mut chars) = (vec![], 0);
    for &passage in order.iter().take(MAX_PASSAGES) {
        let length: usize = text.lines_of(passage).map(|line| line.sentence.text.len()).sum();
        if !chosen.is_empty() && chars + length > MAX_CHARS {
            break;
        }
        chars += length;
        chosen.push(passage);
    }
    chosen
}

/// Of each of the first passages the first line, which says what it is about, and its best ones.
fn join(text: &Text, order: &[usize], values: &[f32]) -> Vec<usize> {
    let passages = &order[..order.len().min(JOINED)];
    let room = JOINED_CHARS / passages.len().max(1);
    let mut chosen = vec![];
    for &passage in passages {
        let mut lines = lines_of(text, passage);
        lines.sort_by(|a, b| {
            let first = |line: &usize| text.lines[*line].place != 0;
            first(a).cmp(&first(b)).then(values[*b].total_cmp(&values[*a])).then(a.cmp(b))
        });
        let mut left = room;
        let mut kept: Vec<usize> = vec![];
        for line in lines {
            let length = text.lines[line].sentence.text.len();
            if kept.is_empty() || length <= left {
                left = left.saturating_sub(length);
                kept.push(line);
            }
        }
        kept.sort_unstable();
        chosen.extend(kept);
    }
    chosen
}

/// Lines as the reader has learned them, each passage after its title, and where they begin.
fn compose(text: &Text, lines: &[usize]) -> (String, BTreeMap<usize, usize>) {
    let mut composed = String::new();
    let mut starts = BTreeMap::new();
    let mut last = None;
    for &line in lines {
        let Line { passage, sentence, .. } = &text.lines[line];
        let title = text.titles[*passage].whole.trim();
        let titled = last.replace(*passage) != Some(*passage) && !title.is_empty();
        let space = |composed: &mut String| {
            if !composed.is_empty() {
                composed.push(' ');
            }
        };
        space(&mut composed);
        if titled {
            composed.push_str(title);
            composed.push('.');
            space(&mut composed);
        }
        starts.insert(line, composed.len());
        composed.push_str(&sentence.text);
    }
    (composed, starts)
}

/// The words that a range of bytes touches.
fn span(sentence: &Sentence, range: &Range<usize>) -> Option<Span> {
    let start = sentence.words.iter().position(|word| word.range.end > range.start)?;
    let end = sentence.words.iter().rposition(|word| word.range.start < range.end)? + 1;
    let words = sentence.words.get(start..end).filter(|words| !words.is_empty())?;
    let named = words.iter().any(|word| word.shape == Shape::Capital);
    let kind = if named { Kind::Name } else { Kind::Phrase };
    (words.len() <= LONGEST).then_some(Span { words: start..end, kind })
}
