// What a run looks like on the wire, in the shapes of the trace; every text here is made up.
import { citation, nodes } from "./world.mjs";

const hit = (id, score) => {
  const { title, text } = nodes.find((n) => n.id === id);
  return { id, title, text, score };
};
const began = (span, parent, name) => ({ event: "span_started", span, parent, name });
const asked = (span, prompt, role, reply, more = {}) => ({
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
const noted = (span, note) => ({ event: "note", span, note });

const found = (question) => [
  began(1, 0, "hop 1"),
  asked(1, "kar3/propose", "proposer", { thinking: "The tower first.", sub_questions: ["Who was the architect of the Varn lighthouse?"] }, { question }),
  searched(1, "atom", "Who was the architect of the Varn lighthouse?", ["a1", "a2"]),
  asked(1, "kar3/select", "selector", "One of them, I think", { status: { malformed: "no JSON object in the reply" }, question }),
  asked(1, "kar3/select", "selector", { question_idx: 1 }, { attempt: 2, question, elapsed_ms: 380 }),
  noted(1, "reads “Varn lighthouse” for: Who was the architect of the Varn lighthouse?"),
  began(2, 0, "hop 2"),
  asked(2, "kar3/propose", "proposer", { sub_questions: ["In which country was Ilse Thorn born?", "Where did Ilse Thorn grow up?"] }, { question }),
  searched(2, "atom", "In which country was Ilse Thorn born?", ["a4", "a5"]),
  searched(2, "atom", "Where did Ilse Thorn grow up?", ["a4"], 6),
  asked(2, "kar3/select", "selector", { question_idx: 1 }, { cached: true, usd: 0, question, elapsed_ms: 1 }),
  noted(2, "reads “Ilse Thorn” for: In which country was Ilse Thorn born?"),
  began(3, 0, "hop 3"),
  asked(3, "kar3/propose", "proposer", { sub_questions: [] }, { question, elapsed_ms: 450 }),
  noted(3, "enough is known"),
  asked(0, "kar3/answer", "reader", { answer: "Norway", rationale: "The notes name both." }, { question, elapsed_ms: 910, usd: 0.0007 }),
];

const plays = {
  found: (question) => ({
    events: found(question),
    answer: {
      text: "**Norway.** The architect of the Varn lighthouse was Ilse Thorn [1], who was born in Haldvik, Norway [2]. The railing is still to be renewed [3].",
      reason: "The note on the tower names its architect; the note on her says where she was born.",
      citations: [citation("d1c1"), citation("d2c1"), citation("d4c2")], abstained: false, confidence: 0.86, partial: false,
    },
  }),
  none: (question) => ({
    events: [
      began(1, 0, "hop 1"), asked(1, "kar3/propose", "proposer", { sub_questions: [question] }, { question }),
      searched(1, "atom", question, []), noted(1, "nothing is near the proposals: searching with the question"),
      searched(1, "chunk", question, []), asked(0, "kar3/answer", "reader", { answer: "" }, { question }),
    ],
    answer: { text: "", reason: "No passage is near enough to the question.", citations: [], abstained: true, confidence: null, partial: false },
  }),
  partial: (question) => ({
    events: [...found(question).slice(0, 9), { event: "budget_exhausted", span: 2, limit: "calls" }, asked(0, "kar3/answer", "reader", { answer: "Ilse Thorn" }, { question })],
    answer: { text: "Ilse Thorn", reason: "", citations: [citation("d1c1")], abstained: false, confidence: null, partial: true },
  }),
  side: (question) => ({
    events: [
      began(1, 0, "plan"), asked(1, "prob_tree/tree", "planner", { tree: ["architect", "birth"] }, { question }),
      began(2, 1, "Who was the architect?"), began(3, 1, "Where was the architect born?"),
      searched(2, "chunk", "architect of the Varn lighthouse", ["d1c1", "d4c1"], 12), searched(3, "chunk", "born architect lighthouse", ["d2c1"], 14),
      asked(2, "prob_tree/open", "reader", { answer: "Ilse Thorn" }, { question }), asked(3, "prob_tree/open", "reader", { answer: "Norway" }, { question, elapsed_ms: 730 }),
      asked(0, "prob_tree/closed", "reader", { answer: "Norway" }, { question }),
    ],
    answer: { text: "Norway", reason: "Both branches agree.", citations: [citation("d2c1")], abstained: false, confidence: 0.7, partial: false },
  }),
};

export function play(question, strategy, budget) {
  if (/unknown|nothing/i.test(question)) return plays.none(question);
  if (budget?.calls || /budget/i.test(question)) return plays.partial(question);
  return (strategy === "prob_tree" ? plays.side : plays.found)(question);
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
