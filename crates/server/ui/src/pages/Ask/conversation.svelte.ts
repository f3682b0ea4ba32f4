// The conversation: questions, each with one or more runs. It survives a change of page, so that a
// visit to the library does not end a running answer.
import { ask, traces } from "../../api/calls";
import { ApiError, isAbort, noteRefusal, problemOf, type ProblemInfo } from "../../api/client";
import { events } from "../../api/sse";
import type {
  AnswerKind, AnswerStyle, AskRequest, AskResponse, Budget, TraceEvent, Turn,
} from "../../api/types";
import { answers } from "../../lib/outcome";
import type { ModelAsked } from "../../lib/trace/tree";
import { session } from "../../lib/access/session.svelte";

export type RunState = "running" | "done" | "stopped" | "failed";

export type Setting = string | number | boolean | null;

/** Options of a question. */
export interface AskOptions {
  strategy?: string;
  settings?: Record<string, Setting>;
  answer_kind?: AnswerKind | "";
  answer_style?: AnswerStyle | "";
  budget?: Budget;
}

export class Run {
  state = $state<RunState>("running");
  id = $state("");
  strategy = $state("");
  events = $state.raw<TraceEvent[]>([]);
  text = $state("");
  /** The model that works now. */
  asked = $state.raw<ModelAsked | null>(null);
  answer = $state.raw<AskResponse | null>(null);
  problem = $state.raw<ProblemInfo | null>(null);
  readonly options: AskOptions;
  readonly started = performance.now();
  ended = $state(0);
  private readonly abort = new AbortController();
  private pending: TraceEvent[] = [];
  private flushing = false;

  constructor(options: AskOptions) {
    this.options = options;
    this.strategy = options.strategy ?? "";
  }

  stop(): void {
    this.abort.abort();
  }

  async start(request: AskRequest): Promise<void> {
    try {
      const response = await ask(request, this.abort.signal);
      for await (const sent of events(response)) this.receive(sent.event, sent.data);
      if (this.state === "running") {
        throw new ApiError({ title: "The answer is incomplete", status: 0, detail: "The connection ended before the answer was complete.", hint: "Ask again." });
      }
    } catch (error) {
      this.flush();
      if (isAbort(error)) this.end("stopped");
      else {
        this.problem = problemOf(error);
        this.end("failed");
      }
    }
  }

  private receive(event: string, data: string): void {
    const value = JSON.parse(data);
    if (event === "started") {
      this.id = value.id ?? "";
      this.strategy = value.strategy ?? this.strategy;
    } else if (event === "trace") this.addEvent(value as TraceEvent);
    else if (event === "model_asked") this.asked = value as ModelAsked;
    else if (event === "answer_delta") this.text = (value.restart ? "" : this.text) + (value.text ?? "");
    else if (event === "answer") {
      this.flush();
      this.answer = value as AskResponse;
      this.id ||= this.answer.id;
      this.strategy = this.answer.strategy || this.strategy;
      this.end("done");
    } else if (event === "error") {
      this.flush();
      this.problem = (value.problem ?? value) as ProblemInfo;
      // The key was revoked during the run, or the workspace deleted.
      noteRefusal(this.problem.status);
      this.end("failed");
    }
  }

  // Events arrive in bursts; the tree is redrawn only a few times per second.
  private addEvent(event: TraceEvent): void {
    if (event.event === "model_called" || event.event === "model_call_failed") this.asked = null;
    this.pending.push(event);
    if (this.flushing) return;
    this.flushing = true;
    setTimeout(() => this.flush(), 50);
  }

  private flush(): void {
    this.flushing = false;
    if (!this.pending.length) return;
    this.events = [...this.events, ...this.pending];
    this.pending = [];
  }

  private end(state: RunState): void {
    this.state = state;
    this.ended = performance.now();
  }

  /** An earlier run, from its trace. */
  static async load(id: string): Promise<{ run: Run; question: string }> {
    const trace = await traces.get(id);
    const run = new Run({ strategy: trace.strategy });
    run.id = id;
    run.events = trace.trace;
    if (trace.answer) {
      const { strategy, usage, elapsed_ms, answer } = trace;
      const started = trace.trace.find((event) => event.event === "answer_started");
      const first_word_ms = started?.event === "answer_started" ? started.elapsed_ms : null;
      run.answer = { id, answer, strategy, usage, elapsed_ms, first_word_ms, hops: trace.hops, question: trace.question };
      run.end("done");
    } else {
      run.problem = trace.error ? problemOf(trace.error) : null;
      run.end(trace.error ? "failed" : "stopped");
    }
    return { run, question: trace.question };
  }
}

export interface Question {
  text: string;
  /** The conversation before it, as sent. */
  history: Turn[];
  runs: Run[];
}

const STORAGE_KEY = "halma.conversation";

class Conversation {
  private restored = false;
  questions = $state<Question[]>([]);
  draft = $state("");
  options = $state<AskOptions>({});

  /** The questions and answers so far, for a question that refers to them. */
  private history(): Turn[] {
    return this.questions.flatMap((q): Turn[] => {
      const answered = q.runs.find((run) => run.answer && answers(run.answer.answer));
      if (!answered?.answer) return [];
      return [{ role: "user", text: q.text }, { role: "assistant", text: answered.answer.answer.text }];
    });
  }

  /** Asks a question; a suggestion brings the strategy that answers it. */
  ask(text: string, strategy?: string): void {
    const question: Question = { text, history: this.history(), runs: [] };
    this.questions.push(question);
    const options = $state.snapshot(this.options) as AskOptions;
    // The settings are those of the strategy that was chosen.
    this.run(this.questions.length - 1, strategy ? { ...options, settings: undefined, strategy } : options);
  }

  /** Runs a question again, in addition to its earlier runs. */
  run(at: number, options: AskOptions): void {
    const question = this.questions[at];
    if (!question) return;
    const run = new Run(options);
    question.runs.push(run);
    const { text, history } = question;
    const set = Object.entries(options).filter(([, v]) => v !== undefined && v !== "");
    void run.start({ question: text, ...(history.length ? { history } : {}), ...Object.fromEntries(set) });
  }

  drop(at: number, run: Run): void {
    run.stop();
    const question = this.questions[at];
    if (!question) return;
    question.runs = question.runs.filter((one) => one !== run);
    if (!question.runs.length) this.questions.splice(at, 1);
  }

  async reopen(id: string): Promise<void> {
    if (this.questions.some((q) => q.runs.some((run) => run.id === id))) return;
    const { run, question } = await Run.load(id);
    this.questions.push({ text: question, history: [], runs: [run] });
  }

  /** Saves the ids of the finished answers, so that they survive a reload. */
  save(): void {
    const ids = this.questions.flatMap((q) => q.runs.filter((run) => run.id && run.state === "done").slice(-1).map((run) => run.id));
    if (ids.length) sessionStorage.setItem(STORAGE_KEY, JSON.stringify(ids.slice(-10)));
    else sessionStorage.removeItem(STORAGE_KEY);
  }

  async restore(): Promise<void> {
    if (this.restored) return;
    this.restored = true;
    const ids: unknown = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? "[]");
    for (const id of Array.isArray(ids) ? ids : []) {
      // A trace may have been deleted in the meantime.
      if (typeof id === "string") await this.reopen(id).catch(() => {});
    }
  }

  clear(): void {
    for (const question of this.questions) for (const run of question.runs) run.stop();
    this.questions = [];
  }
}

export const conversation = new Conversation();
// The conversation in one workspace, or of one key, must not be visible in the next.
session.onSwitch(() => {
  conversation.clear();
  conversation.save();
});
