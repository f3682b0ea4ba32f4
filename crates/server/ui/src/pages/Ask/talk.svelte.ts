// The conversation: questions, each with one or more runs side by side. It outlives the page, so
// that a look at the library does not end an answer that is being written.
import { ask, traces } from "../../api/calls";
import { isAbort, problemOf, Refused, wantKey } from "../../api/client";
import { events } from "../../api/sse";
import type {
  Asked, AskRequest, Budget, Problem, Setting, TraceEvent, Turn,
} from "../../api/types";

export type RunState = "running" | "done" | "stopped" | "failed";

/** What is asked beside the question itself. */
export interface How {
  strategy?: string;
  settings?: Record<string, Setting>;
  answer_kind?: string;
  budget?: Budget;
}

export class Run {
  state = $state<RunState>("running");
  id = $state("");
  strategy = $state("");
  events = $state.raw<TraceEvent[]>([]);
  text = $state("");
  answer = $state.raw<Asked | null>(null);
  problem = $state.raw<Problem | null>(null);
  readonly how: How;
  readonly began = performance.now();
  ended = $state(0);
  private readonly stopper = new AbortController();
  private waiting: TraceEvent[] = [];
  private flushing = false;

  constructor(how: How) {
    this.how = how;
    this.strategy = how.strategy ?? "";
  }

  stop(): void {
    this.stopper.abort();
  }

  async start(request: AskRequest): Promise<void> {
    try {
      const response = await ask(request, this.stopper.signal);
      for await (const sent of events(response)) this.take(sent.event, sent.data);
      if (this.state === "running") {
        throw new Refused({ title: "The answer broke off", status: 0, detail: "The connection ended before the answer was whole.", hint: "Ask again." });
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

  private take(event: string, data: string): void {
    const value = JSON.parse(data);
    if (event === "started") {
      this.id = value.id ?? "";
      this.strategy = value.strategy ?? this.strategy;
    } else if (event === "trace") this.grow(value as TraceEvent);
    else if (event === "answer_delta") this.text += value.text ?? "";
    else if (event === "answer") {
      this.flush();
      this.answer = value as Asked;
      this.id ||= this.answer.id;
      this.strategy = this.answer.strategy || this.strategy;
      this.end("done");
    } else if (event === "error") {
      this.flush();
      this.problem = (value.problem ?? value) as Problem;
      // The key was revoked while the answer was written.
      if (this.problem.status === 401) wantKey();
      this.end("failed");
    }
  }

  // Events come in bursts; the tree is drawn anew once a frame at most.
  private grow(event: TraceEvent): void {
    this.waiting.push(event);
    if (this.flushing) return;
    this.flushing = true;
    setTimeout(() => this.flush(), 50);
  }

  private flush(): void {
    this.flushing = false;
    if (!this.waiting.length) return;
    this.events = [...this.events, ...this.waiting];
    this.waiting = [];
  }

  private end(state: RunState): void {
    this.state = state;
    this.ended = performance.now();
  }

  /** A run that was made earlier, from its trace. */
  static async from(id: string): Promise<{ run: Run; question: string }> {
    const kept = await traces.get(id);
    const run = new Run({ strategy: kept.strategy });
    run.id = id;
    run.events = kept.trace;
    if (kept.answer) {
      const { strategy, usage, elapsed_ms, answer } = kept;
      run.answer = { id, answer, strategy, usage, elapsed_ms, hops: kept.hops ?? 0 };
      run.end("done");
    } else {
      run.problem = kept.error ? problemOf(kept.error) : null;
      run.end(kept.error ? "failed" : "stopped");
    }
    return { run, question: kept.question };
  }
}

export interface Question {
  text: string;
  /** What was said before it, as it was sent. */
  history: Turn[];
  runs: Run[];
}

const KEPT = "halma.talk";

class Talk {
  private restored = false;
  questions = $state<Question[]>([]);
  draft = $state("");
  how = $state<How>({});

  get busy(): boolean {
    return this.questions.some((q) => q.runs.some((run) => run.state === "running"));
  }

  /** The questions and answers so far, for a question that refers to them. */
  private history(): Turn[] {
    return this.questions.flatMap((q): Turn[] => {
      const said = q.runs.find((run) => run.answer && !run.answer.answer.abstained);
      if (!said?.answer) return [];
      return [{ role: "user", text: q.text }, { role: "assistant", text: said.answer.answer.text }];
    });
  }

  ask(text: string): void {
    const question: Question = { text, history: this.history(), runs: [] };
    this.questions.push(question);
    this.run(this.questions.length - 1, $state.snapshot(this.how) as How);
  }

  /** The same question once more, beside the runs there are. */
  run(at: number, how: How): void {
    const question = this.questions[at];
    if (!question) return;
    const run = new Run(how);
    question.runs.push(run);
    const { text, history } = question;
    const given = Object.entries(how).filter(([, v]) => v !== undefined && v !== "");
    void run.start({ question: text, ...(history.length ? { history } : {}), ...Object.fromEntries(given) });
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
    const { run, question } = await Run.from(id);
    this.questions.push({ text: question, history: [], runs: [run] });
  }

  /** What a reload of the page brings back: the answers that were kept, in their order. */
  keep(): void {
    const ids = this.questions.flatMap((q) => q.runs.filter((run) => run.id && run.state === "done").slice(-1).map((run) => run.id));
    if (ids.length) sessionStorage.setItem(KEPT, JSON.stringify(ids.slice(-10)));
    else sessionStorage.removeItem(KEPT);
  }

  async restore(): Promise<void> {
    if (this.restored) return;
    this.restored = true;
    const ids: unknown = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
    for (const id of Array.isArray(ids) ? ids : []) {
      // A trace may have been deleted meanwhile.
      if (typeof id === "string") await this.reopen(id).catch(() => {});
    }
  }

  clear(): void {
    for (const question of this.questions) for (const run of question.runs) run.stop();
    this.questions = [];
  }
}

export const talk = new Talk();
