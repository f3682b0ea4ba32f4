// The part of the API under /api/v1 that the web UI calls.
import { compare, line as evaluation, question, report, view } from "./evaluation.mjs";
import { play, total } from "./plays.mjs";
import * as world from "./world.mjs";

const SPEED = Number(process.env.MOCK_MS ?? 260);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const state = { documents: world.documents.map((d) => ({ ...d, metadata: d.name.startsWith("towers/") ? { kind: "towers" } : {} })), uploads: [], builds: [], traces: [], shared: new Set(), feedback: [], keys: [], workspaces: ["default"], next: 1 };
const prompts = ["kar3/propose", "kar3/select", "kar3/answer", "naive/answer"].map((name) => ({
  name, task: "propose", role: name.split("/")[1] === "answer" ? "reader" : "proposer", hash: "5f2a91c0", changed: false, variables: ["atoms", "question"],
  text: `---\nmax_tokens: 512\n---\n## system\nYou decompose a question.\n## user\n{% for atom in atoms %}{{ loop.index }}. {{ atom.text }}\n{% endfor %}\nQuestion: {{ question.text }}\n`,
}));
for (const prompt of prompts) prompt.shipped_text = prompt.text;

const strategies = [
  ["auto", "classifies the question, starts at the cheapest level and escalates", "2, and those of the levels that it tries", true],
  ["kar3", "collects one chunk per hop: proposes sub-questions, searches the atoms, selects one", "2 for each hop and 1 to 2 more"],
  ["naive", "searches once and reads", "1"], ["ircot", "alternates reasoning and search", "1 for each sentence and 1"],
  ["dec", "decomposes the question first, then answers each part", "at most 4n + 1 for n sub-questions"], ["graph_local", "reads the neighbourhood of the entities in the question", "1"],
].map(([name, summary, calls, isDefault]) => ({
  name, summary, paper: "A paper, 2025", needs: [], default: Boolean(isDefault), calls, settings: { hops: 5, atoms: 16, rerank: false },
}));
strategies.push({ name: "prob_tree", summary: "weighs the branches of a tree of questions", paper: "A paper, 2023", needs: ["log-probabilities of the model for `reader`"], default: false, calls: "1 for each leaf", settings: {} });
strategies.push({ name: "rerank_only", summary: "an example of an unavailable strategy", paper: "", needs: ["a reranker"], unmet: "no reranker is configured", default: false, calls: "1", settings: {} });

const line = ({ text, ...document }) => ({ title: document.name, ...document });
const doc = (id) => state.documents.find((d) => d.id === id || d.name === id);
const detail = (of) => of && {
  id: of.id, names: [of.name], title: of.text.split("\n")[0].replace(/^#+ /, ""), format: of.format, bytes: of.bytes, length: Array.from(of.text).length,
  url: null, date: "2019-05-03", author: null, language: "en", warnings: [], metadata: of.metadata ?? {}, counts: { chunk: of.chunks, atom: of.atoms, entity: 4, fact: 3 }, sections: [], original: true,
};
const hits = (text, layer, limit) => {
  const words = text.toLowerCase().split(/\W+/).filter((w) => w.length > 2);
  const held = world.nodes.filter((n) => !layer || n.layer === layer);
  const score = (n) => words.filter((w) => n.text.toLowerCase().includes(w)).length / (words.length || 1);
  return held.map((n) => ({ ...n, score: score(n), parts: [{ name: "bm25", score: score(n), through: words[0] }] })).filter((n) => n.score > 0).sort((a, b) => b.score - a.score).slice(0, limit ?? 20);
};

async function body(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}
const problem = (response, status, title, detail, hint) => {
  response.writeHead(status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify({ type: "about:blank", title, status, detail, hint, request_id: response.getHeader("x-request-id") }));
};
const stream = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  return (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
};

async function ask(request, response) {
  const { question, strategy, effort, budget, conversation = null, stream: streamed = false } = JSON.parse(await body(request));
  if (/error/i.test(question)) return problem(response, 503, "The model cannot be reached", "`mock-small` at the configured address did not answer within 30 s", "See `halma doctor`, or choose another model under Settings.");
  const used = strategy ?? { quick: "naive", deep: "kar3", exhaustive: "kar3" }[effort] ?? "auto";
  const id = `t${state.next++}`;
  const { events, answer } = play(question, used, budget);
  const send = streamed ? stream(response) : () => {};
  let left = false;
  response.on("close", () => (left = true));
  send("started", { id, strategy: used });
  for (const event of events) {
    await sleep(SPEED);
    if (left) return;
    send("trace", event);
  }
  for (const word of (answer.full?.text ?? answer.text).match(/\S+\s*/g) ?? []) {
    send("answer_delta", { event: "answer_delta", text: word, restart: false });
    await sleep(SPEED / 8);
  }
  const usage = total(events);
  const elapsed_ms = events.reduce((sum, e) => sum + (e.elapsed_ms ?? 0), 0);
  const hops = new Set(events.filter((e) => e.event === "searched").map((e) => e.span)).size;
  state.traces.unshift({ id, question, conversation, strategy: used, at: new Date().toISOString(), answer, abstained: answer.abstained, error: null, key: null, usage, hops, elapsed_ms, trace: events });
  const reply = { id, question, answer: { steps: [], ...answer }, strategy: used, usage, hops, elapsed_ms, first_word_ms: elapsed_ms / 2 };
  send("answer", reply);
  response.end(streamed ? undefined : JSON.stringify(reply));
}

async function upload(request, replace) {
  const text = (await body(request)).toString("latin1");
  const names = [...text.matchAll(/filename="([^"]+)"/g)].map((m) => Buffer.from(m[1], "latin1").toString("utf8"));
  const [refused, kept] = [names.filter((n) => n.endsWith(".exe")), names.filter((n) => !n.endsWith(".exe"))];
  const accepted = kept.map((name) => ({ name, bytes: Math.round(text.length / names.length), upload: `u${state.next++}` }));
  const taken = accepted.filter(({ name }) => !replace && [...state.uploads, ...state.documents].some((held) => held.name === name));
  if (taken.length === names.length) throw Object.assign(new Error(`there is another file named \`${names[0]}\``), { status: 409 });
  state.uploads = [...state.uploads.filter(({ name }) => !names.includes(name)), ...accepted];
  return { accepted, refused: refused.map((name) => ({ name, reason: "it is a program, not a document", hint: "Halma reads PDF, DOCX, PPTX, XLSX, CSV, HTML, Markdown, text, e-mail and EPUB." })) };
}

/** Like the server's: a stage is reported with its results, a paused build without figures. */
function status({ work, ...build }) {
  const report = (stage, done, total) => ({ ...build, stage, done, total });
  if (build.state !== "running") return report(build.state, 0, 0);
  if (work < 20) return report("reading", Math.min(work, 10) * 100_000, 1_000_000);
  if (work < 45) return { ...report("atomizing", work - 20, 25), rate_per_s: 6, seconds_left: (45 - work) / 6 };
  return report("embedding", (work - 44) * 8, (work - 44) * 8);
}

function startBuild(uploads) {
  const build = { id: `b${state.next++}`, state: "running", work: 0, started: new Date().toISOString() };
  state.builds.unshift(build);
  const chosen = state.uploads.filter((u) => !uploads?.length || uploads.includes(u.upload));
  state.uploads = state.uploads.filter((u) => !chosen.includes(u));
  for (const { name, bytes } of chosen) state.documents.unshift({ id: `n${state.next++}`, name, bytes, format: name.split(".").pop(), state: "building", chunks: 0, atoms: 0, updated: build.started, text: "New text." });
  const clock = setInterval(() => {
    if (build.state === "paused") return;
    build.work += 2;
    if (build.work < 60 && build.state === "running") return;
    if (build.state === "running") build.state = "done";
    build.finished = new Date().toISOString();
    for (const d of state.documents.filter((one) => one.state === "building")) Object.assign(d, { state: "indexed", chunks: 4, atoms: 9 });
    clearInterval(clock);
  }, 100);
  return status(build);
}

async function watch(response, id) {
  const send = stream(response);
  let left = false;
  response.on("close", () => (left = true));
  for (;;) {
    const build = state.builds.find((b) => b.id === id);
    if (left || !build) break;
    const ended = build.finished !== undefined || build.state === "paused";
    send(ended ? "done" : "progress", status(build));
    if (ended) break;
    await sleep(150);
  }
  response.end();
}

/** Newest first; the title is the first question. */
function conversations() {
  const found = new Map();
  for (const { conversation: id, question, at } of state.traces.filter((t) => t.conversation)) {
    const before = found.get(id);
    found.set(id, { id, title: question, at: before?.at ?? at, questions: (before?.questions ?? 0) + 1, shared: state.shared.has(id) });
  }
  return [...found.values()];
}

const part = decodeURIComponent;
/** Other workspaces than the default one are empty. */
const workspaceOf = (request) => request.headers["x-halma-workspace"] ?? "default";
const MODELS = { models: [{ name: "extractive", url: "", model: "extractive", price: { prompt: 0, completion: 0 } }, { name: "small", url: "http://127.0.0.1:11434/v1", model: "mock-small", price: { prompt: 0.15, completion: 0.6 } }], roles: { reader: "small", proposer: "small", judge: "extractive" } };
if (process.env.MOCK_MODEL === "none") Object.assign(MODELS, { models: MODELS.models.slice(0, 1), roles: { reader: "extractive" } });
/** Method, path, what to reply. */
const ROUTES = [
  ["GET", /^\/health$/, () => ({ status: "ok", version: "0.1.0" })],
  ["GET", /^\/ready$/, () => ({ ready: true, store: true, embedder: process.env.MOCK_EMBEDDER === "none" ? null : "mock-embedder", disk: true, queue: true })],
  ["GET", /^\/me$/, (_, __, request) => ({ workspace: workspaceOf(request), scopes: ["ask", "write", "admin"], keys_required: state.keys.length > 0, name: null, demo: true })],
  ["GET", /^\/documents$/, (_, q, request) => ({ items: (workspaceOf(request) === "default" ? state.documents : []).filter((d) => d.name.includes(q.get("query") ?? "") && (!q.get("state") || d.state === q.get("state"))).slice(0, Number(q.get("limit") ?? 50)).map(line), next: null })],
  ["POST", /^\/documents$/, async (_, query, request) => upload(request, query.get("replace") === "true")],
  ["GET", /^\/documents\/([^/]+)$/, ([id]) => detail(doc(id))],
  ["DELETE", /^\/documents\/([^/]+)$/, ([id]) => {
    state.documents = state.documents.filter((d) => d.id !== id);
    return { removed: { document: 1, chunk: 4, atom: 9 } };
  }],
  ["GET", /^\/documents\/([^/]+)\/text$/, ([id], q) => {
    const all = Array.from(doc(id).text);
    const [start, end] = [Number(q.get("start") ?? 0), Math.min(all.length, Number(q.get("end") ?? all.length))];
    return { text: all.slice(start, end).join(""), start, end, length: all.length, pages: [] };
  }],
  ["GET", /^\/documents\/([^/]+)\/nodes$/, ([id], q) => ({ items: world.nodes.filter((n) => n.layer === q.get("layer") && (id.startsWith("n") || n.document === doc(id)?.name)) })],
  ["PUT", /^\/documents\/([^/]+)\/metadata$/, async ([id], _, request) => (doc(id).metadata = JSON.parse(await body(request)))],
  ["POST", /^\/builds\/estimate$/, () => ({ documents: state.uploads.length, chunks: 6 * state.uploads.length, calls: 7 * state.uploads.length, tokens: 4100 * state.uploads.length, usd: 0.0031 * state.uploads.length, seconds: 14, stages: [{ task: "atomize", model: "small", units: 6, calls: 7, prompt_tokens: 3900, completion_tokens: 200, usd: 0.0031, seconds: 14, measured: false }], kept: [{ part: "atoms", made_with: "sentences", configured: "questions", cost: { texts: 412, calls: 412, prompt_tokens: 320000, completion_tokens: 41000, usd: 0.11 } }] })],
  ["POST", /^\/builds$/, async (_, __, request) => {
    const { uploads, rebuild = [] } = JSON.parse(await body(request));
    for (const name of rebuild.includes("chunks") ? uploads : []) Object.assign(doc(name), { state: "building", error: undefined });
    return startBuild(uploads);
  }],
  ["GET", /^\/builds$/, () => ({ items: state.builds.map(status) })],
  ["GET", /^\/builds\/([^/]+)$/, ([id]) => status(state.builds.find((b) => b.id === id))],
  ["POST", /^\/builds\/([^/]+)\/(pause|resume|cancel)$/, ([id, what]) => status(Object.assign(state.builds.find((b) => b.id === id), { state: { pause: "paused", resume: "running", cancel: "cancelled" }[what] }))],
  ["GET", /^\/traces$/, (_, q) => ({ items: state.traces.filter((t) => t.question.toLowerCase().includes((q.get("query") ?? "").toLowerCase()) && (!q.get("strategy") || t.strategy === q.get("strategy")) && (!q.get("conversation") || t.conversation === q.get("conversation"))).map(({ trace, answer, ...head }) => ({ ...head, answer: answer.text, documents: [] })) })],
  ["GET", /^\/conversations$/, () => ({ items: conversations(), next: null })],
  ["PUT", /^\/conversations\/([^/]+)\/shared$/, async ([id], _, request) => (state.shared[JSON.parse(await body(request)).shared ? "add" : "delete"](id), null)],
  ["DELETE", /^\/conversations\/([^/]+)$/, ([id]) => ((state.traces = state.traces.filter((t) => t.conversation !== id)), null)],
  ["GET", /^\/traces\/([^/]+)$/, ([id]) => state.traces.find((t) => t.id === id)],
  ["DELETE", /^\/traces\/([^/]+)$/, ([id]) => ((state.traces = state.traces.filter((t) => t.id !== id)), {})],
  ["POST", /^\/search$/, async (_, __, request) => {
    const { text, layer, limit } = JSON.parse(await body(request));
    return { hits: hits(text, layer, limit) };
  }],
  ["GET", /^\/entities$/, (_, q) => ({ items: world.entityLines.filter((e) => e.name.toLowerCase().includes((q.get("query") ?? "").toLowerCase())), next: null })],
  ["GET", /^\/nodes\/([^/]+)$/, ([id]) => world.nodes.find((n) => n.id === id)],
  ["GET", /^\/nodes\/([^/]+)\/neighbours$/, ([id]) => {
    const edges = world.EDGES.filter((e) => e.from === id || e.to === id);
    const ids = new Set(edges.flatMap((e) => [e.from, e.to]));
    ids.delete(id);
    return { center: world.nodes.find((n) => n.id === id), nodes: world.nodes.filter((n) => ids.has(n.id)), edges, cut: false };
  }],
  ["GET", /^\/tables$/, () => [{ name: "towers_list", caption: "Towers of the coast", columns: ["name", "opened", "height"].map((name) => ({ name, written: name, kind: "text", unit: null })), rows: 5, unites: [] }]],
  ["GET", /^\/tables\/([^/]+)$/, () => ({ name: "towers_list", caption: "Towers of the coast", columns: ["name", "opened", "height"].map((name) => ({ name, written: name, kind: "text", unit: null })), rows: 5, unites: [], data: [["Varn", 1911, 41], ["Skarv", 1902, 28], ["Moen", 1926, 35], ["Hest", 1899, 30], ["Lyngvær", 1931, 33]] })],
  ["POST", /^\/sql$/, async (_, __, request) => {
    const { sql } = JSON.parse(await body(request));
    if (!/^\s*select/i.test(sql)) throw Object.assign(new Error("only SELECT is allowed"), { status: 400 });
    return { columns: ["towers", "mean_height"], rows: [{ values: [5, 33.4], sources: [] }], documents: ["towers/list.csv"], cut: false };
  }],
  ["GET", /^\/strategies$/, () => strategies],
  ["GET", /^\/examples$/, () => ({ items: world.nodes.filter((n) => n.layer === "atom" && n.text.endsWith("?")).slice(0, 3).map((n) => ({ question: n.text })) })],
  ["PUT", /^\/models\/roles$/, async (_, __, request) => ({ ...MODELS, roles: Object.assign(MODELS.roles, JSON.parse(await body(request)).roles) })],
  ["GET", /^\/prompts$/, () => ({ items: prompts.map(({ text, shipped_text, ...line }) => line) })],
  ["GET", /^\/prompts\/(.+)$/, ([name]) => prompts.find((p) => p.name === name)],
  ["PUT", /^\/prompts\/(.+)$/, async ([name], _, request) => Object.assign(prompts.find((p) => p.name === name), { text: JSON.parse(await body(request)).text, changed: true })],
  ["DELETE", /^\/prompts\/(.+)$/, ([name]) => {
    const prompt = prompts.find((p) => p.name === name);
    return Object.assign(prompt, { text: prompt.shipped_text, changed: false });
  }],
  ["GET", /^\/models$/, () => MODELS],
  ["POST", /^\/models\/([^/]+)\/test$/, ([name]) => ({ ok: name === "extractive", ms: 212, message: name === "extractive" ? "the model replied" : "the connection was refused" })],
  ["GET", /^\/models\/servers$/, () => ({ servers: [{ kind: "Ollama", url: "http://127.0.0.1:11434/v1", loading: false, models: [{ name: "llama3.2:3b", context: 131_072 }, { name: "qwen3:8b" }] }] })],
  ["POST", /^\/models\/trial$/, async (_, __, request) => {
    if (JSON.parse(await body(request)).url.includes(":9/")) throw Object.assign(new Error("the server cannot be reached"), { status: 502 });
    return { outcome: "right", is_slow: false, json: "schema", tokens_per_second: 41.3, efforts: ["quick", "normal", "deep", "exhaustive"].map((effort, i) => ({ effort, calls: 1 + i * 3, seconds: 2 + i * 9, usd: 0 })) };
  }],
  ["POST", /^\/models$/, async (_, __, request) => {
    const { name, address } = JSON.parse(await body(request));
    MODELS.models.push({ name, url: address.url, model: address.model, price: { prompt: 0, completion: 0 } });
    return Object.assign(MODELS, { roles: { ...MODELS.roles, reader: name } });
  }],
  ["GET", /^\/config$/, () => ({ values: [["budget.ask.calls", null, "default"], ["budget.ask.usd", 0.5, "halma.toml"], ["serve.max_upload_bytes", 200_000_000, "default"], ["kb.path", ".halma", "default"]].map(([key, value, origin]) => ({ key, value, origin })) })],
  ["GET", /^\/usage$/, (_, q) => {
    const groups = { day: ["2026-03-01", "2026-03-02", "2026-03-03"], key: ["front end", "analysts"], strategy: ["auto", "kar3", "naive"] }[q.get("by")] ?? [];
    return groups.map((group, i) => ({ group, questions: 12 + i * 9, calls: 80 + i * 70, cached: 14, prompt_tokens: 41_000 * (i + 1), completion_tokens: 3900, usd: 0.021 * (i + 1) }));
  }],
  ["GET", /^\/keys$/, () => ({ items: state.keys })],
  ["POST", /^\/keys$/, async (_, __, request) => {
    const key = { id: `k${state.next++}`, created: new Date().toISOString(), ...JSON.parse(await body(request)) };
    state.keys.push(key);
    return { ...key, key: "halma_4kq0_made0up0for0looking" };
  }],
  ["DELETE", /^\/keys\/([^/]+)$/, ([id]) => ((state.keys = state.keys.filter((k) => k.id !== id)), {})],
  ["GET", /^\/feedback$/, (_, q) => ({ items: state.feedback.filter((one) => (!q.get("verdict") || one.verdict === q.get("verdict")) && (!q.get("state") || one.candidates.some((candidate) => candidate.state === q.get("state")))) })],
  ["POST", /^\/feedback$/, async (_, __, request) => {
    const given = JSON.parse(await body(request));
    const trace = state.traces.find((t) => t.id === given.run);
    if (!trace) return undefined;
    const candidate = { number: 1, kind: "answer", question: trace.question, answer: given.correction ?? trace.answer.text, sources: [], state: "pending", at: 0 };
    const one = { id: `f${state.next++}`, question: trace.question, answer: trace.answer.text, strategy: trace.strategy, by: "", at: Date.now() / 1000, candidates: [candidate], ...given };
    state.feedback.unshift(one);
    return one;
  }],
  ["POST", /^\/feedback\/([^/]+)\/(accept|reject|undo)$/, async ([id, decision], _, request) => {
    const { candidates } = JSON.parse(await body(request));
    const one = state.feedback.find((f) => f.id === id);
    for (const c of one.candidates) if (!candidates.length || candidates.includes(c.number)) c.state = { accept: "accepted", reject: "rejected", undo: "undone" }[decision];
    return one;
  }],
  ["DELETE", /^\/feedback\/([^/]+)$/, ([id]) => ((state.feedback = state.feedback.filter((f) => f.id !== id)), {})],
  ["GET", /^\/workspaces$/, () => ({ items: state.workspaces.map((name) => ({ name, documents: name === "default" ? state.documents.length : 0, created: "2026-01-02T10:00:00Z" })) })],
  ["POST", /^\/workspaces$/, async (_, __, request) => {
    const { name } = JSON.parse(await body(request));
    state.workspaces.push(name);
    return { name, documents: 0 };
  }],
  ["DELETE", /^\/workspaces\/([^/]+)$/, ([name]) => {
    state.workspaces = state.workspaces.filter((one) => one !== name);
    return null;
  }],
  ["GET", /^\/evaluation-runs$/, () => ({ items: state.evaluations ?? [] })],
  ["POST", /^\/evaluation-runs$/, async (_, __, request) => {
    const { name, questions } = JSON.parse(await body(request));
    const total = questions.split("\n").filter((line) => line.trim()).length;
    const run = { id: `r${state.next++}`, name, state: "running", label: "naive", done: 0, total, failed: 0, started: new Date().toISOString() };
    state.evaluations = [run, ...(state.evaluations ?? [])];
    setTimeout(() => Object.assign(run, { state: run.state === "running" ? "done" : run.state, done: total }), 1500);
    return run;
  }],
  ["POST", /^\/evaluation-runs\/([^/]+)\/cancel$/, ([id]) => Object.assign(state.evaluations.find((run) => run.id === id), { state: "cancelled" })],
  ["GET", /^\/evaluations$/, () => ({ items: [evaluation] })],
  ["GET", /^\/evaluations\/([^/]+)$/, () => report],
  ["GET", /^\/evaluations\/([^/]+)\/view$/, () => view],
  ["GET", /^\/evaluations\/([^/]+)\/question$/, (_, q) => question(q.get("question"))],
  ["GET", /^\/evaluations\/([^/]+)\/compare$/, (_, q) => compare(q.get("a"), q.get("b"))],
];

export async function answer(request, response, url) {
  const path = url.pathname.replace("/api/v1", "");
  const build = /^\/builds\/([^/]+)\/events$/.exec(path);
  const file = /^\/documents\/([^/]+)\/file$/.exec(path);
  if (!state.workspaces.includes(workspaceOf(request))) return problem(response, 404, "Not Found", "there is no such workspace");
  try {
    if (request.method === "POST" && path === "/ask") return await ask(request, response);
    if (build) return await watch(response, build[1]);
    if (file) return response.writeHead(200, { "content-type": "application/octet-stream" }).end(doc(file[1]).format === "pdf" ? world.pdf() : doc(file[1]).text);
    for (const [method, pattern, reply] of ROUTES) {
      const match = method === request.method && pattern.exec(path);
      if (!match) continue;
      const result = await reply(match.slice(1).map(part), url.searchParams, request);
      if (result === undefined) break;
      if (result === null) return response.writeHead(204).end();
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify(result));
    }
    problem(response, 404, "Not Found", `there is no such path: ${path}`, "See /api/docs.");
  } catch (error) {
    problem(response, error.status ?? 500, "The mock failed", error.message);
  }
}
