// Made-up runs in the format of traces.
import { citation, nodes } from "./world.mjs";

const hit = (id, score) => {
  const { title, text } = nodes.find((n) => n.id === id);
  return { id, title, text, score };
};
const spanStarted = (span, parent, name) => ({ event: "span_started", span, parent, name });
const modelCalled = (span, prompt, role, reply, more = {}) => ({
  event: "model_called", span, prompt, hash: "5f2a91c07be34d18", role, model: "mock-small", attempt: 1,
  messages: [
    { role: "system", text: "You take a question apart. Reply with JSON." },
    { role: "user", text: `Known so far:\n1. The Varn lighthouse stands on a reef.\n\nQuestion: ${more.question ?? "…"}\n<script>alert("never")</script>` },
  ],
  reply: typeof reply === "string" ? reply : JSON.stringify(reply), status: "valid",
  usage: { prompt_tokens: 412, completion_tokens: 38 }, cached: false, usd: 0.00021, elapsed_ms: 640, ...more,
});
const searched = (span, layer, query, ids, elapsed_ms = 9) =>
  ({ event: "searched", span, layer, mode: "hybrid", query, hits: ids.map((id, i) => hit(id, 0.83 - i * 0.09)), elapsed_ms });
const note = (span, text) => ({ event: "note", span, note: text });

const answered = (question) => [
  spanStarted(1, 0, "hop 1"),
  modelCalled(1, "kar3/propose", "proposer", { thinking: "The tower first.", sub_questions: ["Who was the architect of the Varn lighthouse?"] }, { question }),
  searched(1, "atom", "Who was the architect of the Varn lighthouse?", ["a1", "a2"]),
  modelCalled(1, "kar3/select", "selector", "One of them, I think", { status: { malformed: "no JSON object in the reply" }, question }),
  modelCalled(1, "kar3/select", "selector", { candidate: 1 }, { attempt: 2, question, elapsed_ms: 380 }),
  note(1, "reads “Varn lighthouse” for: Who was the architect of the Varn lighthouse?"),
  spanStarted(2, 0, "hop 2"),
  modelCalled(2, "kar3/propose", "proposer", { sub_questions: ["In which country was Ilse Thorn born?", "Where did Ilse Thorn grow up?"] }, { question }),
  searched(2, "atom", "In which country was Ilse Thorn born?", ["a4", "a5"]),
  searched(2, "atom", "Where did Ilse Thorn grow up?", ["a4"], 6),
  modelCalled(2, "kar3/select", "selector", { candidate: 1 }, { cached: true, usd: 0, question, elapsed_ms: 1 }),
  note(2, "reads “Ilse Thorn” for: In which country was Ilse Thorn born?"),
  spanStarted(3, 0, "hop 3"),
  modelCalled(3, "kar3/propose", "proposer", { sub_questions: [] }, { question, elapsed_ms: 450 }),
  note(3, "enough information"),
  modelCalled(0, "kar3/answer", "reader", { answer: "Norway", rationale: "The notes name both." }, { question, elapsed_ms: 910, usd: 0.0007 }),
];

/** A passage whose first sentence is nearest. */
const passage = (id) => {
  const source = citation(id);
  const quote = /^.*?[.!?](?=\s|$)/su.exec(source.quote)?.[0] ?? source.quote;
  return { text: source.quote, source: { ...source, quote, end: source.start + Array.from(quote).length } };
};

const plays = {
  answered: (question) => ({
    events: answered(question),
    answer: {
      text: "Norway",
      full: {
        text: "The architect of the Varn lighthouse was born in Norway [1][2]. She was Ilse Thorn [1], who was born in Haldvik, Norway [2]. She never returned there.",
        claims: [
          { start: 0, end: 63, citations: [1, 2], supported: true },
          { start: 64, end: 126, citations: [1, 2], supported: true },
          { start: 127, end: 152, citations: [], supported: false },
        ],
      },
      steps: [
        { query: "Who was the architect of the Varn lighthouse?", citation: 1 },
        { query: "In which country was Ilse Thorn born?", citation: 2 },
      ],
      reason: "The note on the tower names its architect; the note on her says where she was born.",
      citations: [citation("d1c1"), citation("d2c1")], abstained: false, confidence: 0.86, partial: false,
    },
  }),
  none: (question) => ({
    events: [
      spanStarted(1, 0, "hop 1"), modelCalled(1, "kar3/propose", "proposer", { sub_questions: [question] }, { question }),
      searched(1, "atom", question, []), note(1, "no proposal has a near atom: searching with the question"),
      searched(1, "chunk", question, ["d1c1", "d3c1"]), modelCalled(0, "kar3/answer", "reader", { answer: "" }, { question }),
    ],
    answer: { text: "", kind: "none", reason: "No passage is near enough to the question.", citations: [], abstained: true, confidence: null, partial: false },
  }),
  passages: (question) => ({
    events: [searched(0, "chunk", question, ["d1c1", "d2c1", "d3c1"], 12)],
    answer: {
      text: "", kind: "passages", reason: "", citations: [], abstained: true, confidence: 0.41, partial: false,
      limitation: "No language model is configured, so Halma shows the nearest passages in place of an answer. `halma init` connects a model.",
      passages: ["d1c1", "d2c1", "d3c1"].map(passage),
    },
  }),
  partial: (question) => ({
    events: [...answered(question).slice(0, 9), { event: "budget_exhausted", span: 2, limit: "calls" }, modelCalled(0, "kar3/answer", "reader", { answer: "Ilse Thorn" }, { question })],
    answer: { text: "Ilse Thorn", reason: "", citations: [citation("d1c1")], abstained: false, confidence: null, partial: true },
  }),
  side: (question) => ({
    events: [
      spanStarted(1, 0, "plan"), modelCalled(1, "prob_tree/tree", "planner", { tree: ["architect", "birth"] }, { question }),
      spanStarted(2, 1, "Who was the architect?"), spanStarted(3, 1, "Where was the architect born?"),
      searched(2, "chunk", "architect of the Varn lighthouse", ["d1c1", "d4c1"], 12), searched(3, "chunk", "born architect lighthouse", ["d2c1"], 14),
      modelCalled(2, "prob_tree/open", "reader", { answer: "Ilse Thorn" }, { question }), modelCalled(3, "prob_tree/open", "reader", { answer: "Norway" }, { question, elapsed_ms: 730 }),
      modelCalled(0, "prob_tree/closed", "reader", { answer: "Norway" }, { question }),
    ],
    answer: { text: "Norway", reason: "Both branches agree.", citations: [citation("d2c1")], abstained: false, confidence: 0.7, partial: false },
  }),
};

export function play(question, strategy, budget) {
  if (/unknown|nothing/i.test(question)) return plays.none(question);
  if (/nearest passages/i.test(question)) return plays.passages(question);
  if (budget?.calls || /budget/i.test(question)) return plays.partial(question);
  return (strategy === "prob_tree" ? plays.side : plays.answered)(question);
}

export function total(events) {
  const usage = { llm_calls: 0, cached_calls: 0, prompt_tokens: 0, completion_tokens: 0, usd: 0 };
  for (const e of events.filter((one) => one.event === "model_called")) {
    if (e.cached) usage.cached_calls += 1;
    else {
      usage.llm_calls += 1;
      usage.prompt_tokens += e.usage.prompt_tokens;
      usage.completion_tokens += e.usage.completion_tokens;
      usage.usd += e.usd;
    }
  }
  return usage;
}
