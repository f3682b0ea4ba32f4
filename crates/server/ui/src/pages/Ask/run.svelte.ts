// One run of a question: its events as they arrive, and its answer.
import { ask, traces } from "../../api/calls";
import { ApiError, isAbort, noteRefusal, problemOf, type ProblemInfo } from "../../api/client";
import { events } from "../../api/sse";
import type { AnswerKind, AnswerStyle, AskRequest, AskResponse, Budget, Effort, Filter, TraceEvent } from "../../api/types";
import { t } from "../../lib/texts/t.svelte";
import type { ModelAsked } from "../../lib/trace/tree";

/** `lost`: the page was closed before the answer was complete. */
export type RunState = "running" | "done" | "stopped" | "failed" | "lost";

export type Setting = string | number | boolean | null;

/** Options of a question. A method (`strategy`) takes the place of an effort. */
export interface AskOptions {
  effort?: Effort;
  strategy?: string;
  filter?: Filter;
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
        throw new ApiError({ title: t("problem.incomplete"), status: 0, detail: t("problem.incomplete.detail") });
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

  /** A run that a reload of the page has ended. */
  static lost(): Run {
    const run = new Run({});
    run.end("lost");
    return run;
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
      const isCancelled = !trace.error || trace.error.startsWith("cancelled");
      run.problem = isCancelled ? null : problemOf(trace.error);
      run.end(isCancelled ? "stopped" : "failed");
    }
    return { run, question: trace.question };
  }
}
