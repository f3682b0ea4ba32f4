//! A made report of three strategies over sixty questions, with traces, for tests and for looking
//! at the page.
use std::collections::BTreeMap;

use halma_core::{
    Answer, Budget, Citation, Event, HitLine, Layer, Message, Mode, NodeId, Question, ReplyStatus,
    Trace, Usage,
};

use super::details::{Details, QuestionDetail, RunDetail, TraceAt};
use crate::random::Random;
use crate::record::{Record, Verdict};
use crate::report::tests::{forecasts, item};
use crate::runner::{Answered, Contestant};
use crate::{DataSet, Failure, Format, GoldPassage, Item, Report, Run};

const PLACES: [&str; 6] = ["Oldbridge", "Varn", "Saint Bryn", "Lennford", "Tarrow", "Mirefield"];
const TRADES: [&str; 5] = ["architect", "painter", "composer", "surveyor", "shipbuilder"];

/// What a strategy does, for the making: name, hops, tokens a call, how often it finds, selects
/// and reads rightly (of 100).
type Habit = (&'static str, usize, u64, [usize; 3]);

const HABITS: [Habit; 3] = [
    ("cot", 0, 190, [0, 0, 34]),
    ("naive", 1, 1_800, [62, 97, 72]),
    ("kar3", 4, 1_300, [91, 93, 84]),
];

pub(super) fn made() -> (Report, Details) {
    report(&questions(60), &[])
}

/// A smaller one with these words wherever documents, models and users speak.
pub(super) fn with_words(words: &[String]) -> (Report, Details) {
    let word = |i: usize| words[i % words.len()].clone();
    let (mut report, mut details) = report(&questions(3), words);
    report.dataset = word(3);
    report.base = word(2);
    for (i, head) in report.questions.iter_mut().enumerate() {
        head.id = format!("{i}{}", word(i + 1));
        head.kind = Some(word(i + 2));
    }
    for (i, run) in report.runs.iter_mut().enumerate() {
        run.label = format!("{}{i}", word(i));
        run.settings = serde_json::json!({ "words": word(i + 1) });
        let kinds = std::mem::take(&mut run.by_kind).into_iter().enumerate();
        run.by_kind = kinds.map(|(i, (_, metrics))| (format!("{i}{}", word(i)), metrics)).collect();
        for part in &mut run.components {
            part.prompt = word(i);
        }
        for failure in &mut run.failures {
            failure.reason = word(i + 2);
        }
        run.assessed[0].criteria[0].left_out = BTreeMap::from([(word(i + 1), 1)]);
        run.models = BTreeMap::from([(word(i), [word(i + 1)].into())]);
        run.prompts = BTreeMap::from([(word(i + 2), [word(i + 3)].into())]);
    }
    for (i, question) in details.questions.iter_mut().enumerate() {
        question.text = word(i);
        question.golds = vec![word(i + 2)];
        question.gold_titles = vec![word(i + 1)];
    }
    (report, details)
}

fn questions(count: usize) -> DataSet {
    let items = (0..count).map(|i| {
        let (place, trade) = (PLACES[i % 6], TRADES[i % 5]);
        let hops = 2 + i % 3;
        let text = match hops {
            2 => format!("In which town was the {trade} of the {place} lighthouse born?"),
            3 => format!("Who taught the {trade} whose {place} fresco hangs in the harbour?"),
            _ => format!("Which river runs past the school where the {trade} of {place} met his pupil's teacher?"),
        };
        let gold = (0..hops).map(|k| GoldPassage {
            title: format!("{place} {}", ["lighthouse", trade, "school", "river"][k]),
            text: format!("The {trade} of {place}, passage {k}, was told of in {}.", 1800 + i),
        });
        let question = Question { id: format!("q{i:02}"), ..Question::new(text) };
        let mut item = item(question, &[PLACES[(i + 2) % 6]], gold.collect());
        item.kind = Some(["bridge", "comparison", "inference", "compositional"][i % 4].to_owned());
        item
    });
    let (name, format) = ("harbour_dev".to_owned(), Format::Hotpotqa);
    DataSet { name, format, items: items.collect(), refused: vec![] }
}

/// Asks nobody; its name and settings are what a report needs.
struct Named(Habit);

#[async_trait::async_trait]
impl halma_core::Strategy for Named {
    fn name(&self) -> &'static str {
        self.0.0
    }

    fn settings(&self) -> serde_json::Value {
        serde_json::json!({"n": self.0.1.max(1), "mode": "dense"})
    }

    async fn answer(&self, _: &Question, _: &halma_core::Cx) -> halma_core::Result<Answer> {
        Ok(Answer::default())
    }
}

fn report(data: &DataSet, words: &[String]) -> (Report, Details) {
    let mut report = Report::new(data, "5f1c0e27 all-MiniLM-L6-v2", Budget::default());
    let blank = |(place, item): (usize, &Item)| QuestionDetail {
        place,
        text: item.question.text.clone(),
        golds: item.answers.clone(),
        gold_titles: item.gold.iter().map(|gold| gold.title.clone()).collect(),
        runs: vec![],
    };
    let mut details = Details { questions: data.items.iter().enumerate().map(blank).collect() };
    let mut random = Random::new(11);
    for habit in HABITS {
        let strategy = std::sync::Arc::new(Named(habit));
        let (label, fingerprint) = (habit.0.to_owned(), "made".to_owned());
        let contestant = Contestant { strategy, label, fingerprint, point: BTreeMap::new() };
        let mut book = crate::runner::tests::book(data);
        for (i, item) in data.items.iter().enumerate() {
            let (record, trace) = asked(item, habit, &mut random, words);
            book.enter(i, &record, None);
            details.questions[i].runs.push(shown(record, trace));
        }
        let answered: Answered = book.close(false);
        let retrieved = vec![Some(Ok(vec![Some(1), Some(4)])); data.items.len()];
        let run = Run::of(&contestant, data, answered, &retrieved);
        report.runs.push(Run { assessed: vec![forecasts()], ..run });
    }
    (report, details)
}

fn shown(record: Record, trace: Trace) -> RunDetail {
    let (answer, failure) = match record.outcome {
        Verdict::Answered(answer) => (Some(answer), None),
        Verdict::Failed { kind, reason } => {
            (None, Some(Failure { question: record.question, kind, reason }))
        }
        Verdict::Stopped { .. } => (None, None),
    };
    RunDetail { answer, failure, trace: TraceAt::Here(trace) }
}

fn asked(item: &Item, habit: Habit, random: &mut Random, words: &[String]) -> (Record, Trace) {
    let (name, hops, tokens, [finds, selects, reads]) = habit;
    let mut maker = Maker { trace: vec![], name, tokens, words, item };
    let mut chance = |of: usize| random.below(100) < of;
    let mut read = vec![];
    for (k, gold) in item.gold.iter().take(hops).enumerate() {
        let found = chance(finds);
        let selected = found && chance(selects);
        maker.hop(k + 1, found.then_some(gold), selected);
        if selected {
            read.push(gold);
        }
    }
    let complete = read.len() == item.gold.len() || hops == 0;
    let right = complete && chance(reads) || !complete && chance(9);
    let broken = hops > 1 && chance(4);
    let verdict = maker.close(&read, right, broken, chance(12));
    let jitter = 0.6 + 0.01 * crate::report::number(random.below(110));
    let latency = (180.0 + 420.0 * crate::report::number(maker.trace.len())) * jitter;
    let trace = Trace(maker.trace);
    (Record::new(item, "made", verdict, (&trace, latency)), trace)
}

struct Maker<'a> {
    trace: Vec<Event>,
    name: &'a str,
    tokens: u64,
    words: &'a [String],
    item: &'a Item,
}

impl Maker<'_> {
    /// What was said, or in its place the words that were given.
    fn said(&self, words: String) -> String {
        self.words.get(1).cloned().unwrap_or(words)
    }

    fn hop(&mut self, hop: usize, found: Option<&GoldPassage>, selected: bool) {
        let span = u32::try_from(hop).unwrap_or(0);
        let name =
            if self.words.is_empty() { format!("hop {hop}") } else { self.said(String::new()) };
        self.trace.push(Event::SpanStarted { span, parent: 0, name });
        let topic = found.map_or("nothing in particular", |gold| gold.title.as_str());
        if self.name == "kar3" {
            let reply = format!("{{\"sub_questions\": [\"What is told of {topic}?\"]}}");
            self.ask(span, "propose", "proposer", "", reply);
        }
        let hit = |title: &str, text: &str, score: f32| HitLine {
            id: NodeId::from(title),
            title: title.to_owned(),
            text: text.to_owned(),
            score,
        };
        let decoy = self.said("A market town with a decoy pond.".into());
        let mut hits = vec![hit("Decoy", &decoy, 0.44), hit("Salt tax", "A tax on salt.", 0.41)];
        if let Some(gold) = found {
            hits.insert(0, hit(&gold.title, &gold.text, 0.71));
        }
        let query = self.said(format!("What is told of {topic}?"));
        let layer = if self.name == "kar3" { Layer::Atom } else { Layer::Chunk };
        self.trace.push(Event::Searched {
            span,
            layer,
            mode: Mode::Dense,
            query,
            hits,
            elapsed_ms: 4.2,
        });
        if self.name == "kar3" {
            let reply = format!("{{\"question_idx\": {}}}", u8::from(selected));
            self.ask(span, "select", "selector", &format!("1. {topic}"), reply);
        }
    }

    fn ask(&mut self, span: u32, step: &str, role: &str, context: &str, reply: String) {
        let system = format!("You are the {role} of a careful reading room.\nReply in JSON.");
        let user = format!("{context}\nQuestion: {}", self.item.question.text);
        let message = |role: &str, text: String| Message { role: role.into(), text };
        self.trace.push(Event::ModelCalled {
            span,
            prompt: format!("{}/{step}", self.name).into(),
            hash: "9c1e7a40".into(),
            role: role.into(),
            model: "reader-70b".into(),
            attempt: 1,
            messages: vec![message("system", system), message("user", user)],
            reply: self.said(reply),
            status: ReplyStatus::Valid,
            usage: Usage { prompt_tokens: self.tokens, completion_tokens: self.tokens / 9 },
            cached: false,
            usd: 0.0004,
            elapsed_ms: 612.0,
        });
    }

    fn close(&mut self, read: &[&GoldPassage], right: bool, broken: bool, shy: bool) -> Verdict {
        let passages: Vec<String> =
            read.iter().enumerate().map(|(i, gold)| format!("{}. {}", i + 1, gold.text)).collect();
        if broken {
            let reason = self.said("the reply to `answer` does not fit: no field `answer`".into());
            return Verdict::Failed { kind: "bad_reply".into(), reason };
        }
        let text = match (right, self.words.get(1)) {
            (_, Some(words)) => words.clone(),
            (true, _) => self.item.answers[0].clone(),
            (false, _) => "Hollow Quay".into(),
        };
        self.ask(
            0,
            "answer",
            "reader",
            &passages.join("\n"),
            format!("{{\"answer\": \"{text}\"}}"),
        );
        let citations = read.iter().map(|gold| Citation {
            node: NodeId::from(gold.title.as_str()),
            document: "harbour.jsonl".into(),
            title: self.said(gold.title.clone()),
            section: None,
            page: Some(3),
            start: 0,
            end: 10,
            quote: self.said(gold.text.clone()),
        });
        let abstained = !right && shy && self.words.is_empty();
        Verdict::Answered(Answer {
            text: if abstained { String::new() } else { text },
            reason: self.said("Passage 1 names the town, passage 2 who came from it.".into()),
            citations: citations.collect(),
            abstained,
            ..Answer::default()
        })
    }
}
