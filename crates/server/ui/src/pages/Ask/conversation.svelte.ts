// Conversations: questions, each with one or more runs. They survive a change of page, so that a visit
// to the library does not end a running answer.
import { traces } from "../../api/calls";
import { key, problemOf, type ProblemInfo } from "../../api/client";
import type { Turn } from "../../api/types";
import { session } from "../../lib/access/session.svelte";
import { conversationList } from "../../lib/asking/conversations.svelte";
import { answers } from "../../lib/answer/outcome";
import { go, route } from "../../lib/route.svelte";
import { running } from "./running";
import { Run, type AskOptions } from "./run.svelte";

export interface Question {
  text: string;
  runs: Run[];
}

/** How many earlier questions are loaded. */
const MAX_LOADED = 50;

/** Random, as the server expects it: 16 characters of those of a name. */
const newId = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => (n % 36).toString(36)).join("");

export class Conversation {
  questions = $state<Question[]>([]);
  state = $state<"ready" | "loading" | "missing" | "failed">("ready");
  problem = $state.raw<ProblemInfo | null>(null);
  /** Someone else asked in it: it can only be read. */
  isForeign = $state(false);

  constructor(readonly id: string) {}

  get title(): string {
    return this.questions[0]?.text ?? "";
  }

  /** The questions and answers before a question, for one that refers to them. */
  private historyBefore(at: number): Turn[] {
    return this.questions.slice(0, at).flatMap((question): Turn[] => {
      const answered = question.runs.find((run) => run.answer && answers(run.answer.answer));
      if (!answered?.answer) return [];
      return [{ role: "user", text: question.text }, { role: "assistant", text: answered.answer.answer.text }];
    });
  }

  /** Asks a question, or with `instead` the changed text of an earlier one, which then has its history. */
  ask(text: string, options: AskOptions, instead?: number): void {
    this.questions.push({ text, runs: [] });
    this.run(this.questions.length - 1, options, instead);
  }

  /** Runs a question again, in addition to its earlier runs. */
  run(at: number, options: AskOptions, before = at): void {
    const question = this.questions[at];
    if (!question) return;
    const run = new Run(options);
    question.runs = [...question.runs.filter((one) => one.state !== "lost"), run];
    const history = this.historyBefore(before);
    const set = Object.entries(options).filter(([, value]) => value !== undefined && value !== "");
    conversationList.note(this.id, question.text);
    running.add(this.id, question.text);
    const request = { question: question.text, ...(history.length ? { history } : {}), ...Object.fromEntries(set) };
    void conversationList.start()
      .then(() => run.start(conversationList.isAvailable ? { ...request, conversation: this.id } : request))
      .finally(() => running.remove(this.id, question.text));
  }

  drop(at: number, run: Run): void {
    run.stop();
    const question = this.questions[at];
    if (!question) return;
    question.runs = question.runs.filter((one) => one !== run);
    if (!question.runs.length) this.questions.splice(at, 1);
  }

  stop(): void {
    for (const question of this.questions) for (const run of question.runs) run.stop();
  }

  /** The questions that the server has, and those that a reload has ended. */
  async load(): Promise<void> {
    [this.state, this.problem] = ["loading", null];
    try {
      const page = await traces.list({ conversation: this.id, limit: MAX_LOADED });
      const heads = page.items.reverse();
      this.isForeign = heads.some((head) => head.key && !key.get()?.startsWith(`halma_${head.key}_`));
      const runs = await Promise.all(heads.map((head) => Run.load(head.id)));
      const questions: Question[] = [];
      for (const { run, question } of runs) {
        const last = questions.at(-1);
        if (last?.text === question) last.runs.push(run);
        else questions.push({ text: question, runs: [run] });
      }
      for (const text of running.of(this.id)) {
        if (questions.at(-1)?.text !== text) questions.push({ text, runs: [Run.lost()] });
      }
      running.clear(this.id);
      this.questions = questions;
      this.state = questions.length ? "ready" : "missing";
    } catch (error) {
      this.problem = problemOf(error);
      this.state = "failed";
    }
  }
}

class Asking {
  current = $state.raw<Conversation>(new Conversation(newId()));
  draft = $state("");
  options = $state<AskOptions>({});
  private readonly opened = new Map<string, Conversation>();

  ask(text: string, options = $state.snapshot(this.options) as AskOptions, instead?: number): void {
    this.opened.set(this.current.id, this.current);
    this.current.ask(text, options, instead);
  }

  /** Opens the conversation of an address; a new one without an id. */
  open(id: string): void {
    if (id === this.current.id) return;
    if (!id && !this.current.questions.length && this.current.state === "ready") return;
    const known = this.opened.get(id);
    this.current = known ?? new Conversation(id || newId());
    if (!id || known) return;
    this.opened.set(id, this.current);
    void this.current.load();
  }

  async remove(conversation: Conversation): Promise<void> {
    conversation.stop();
    await conversationList.remove(conversation.id);
    this.opened.delete(conversation.id);
    running.clear(conversation.id);
  }

  /** The conversations of one workspace, or of one key, must not be visible in the next. */
  forget(): void {
    for (const conversation of [...this.opened.values(), this.current]) conversation.stop();
    this.opened.clear();
    this.current = new Conversation(newId());
    this.options = {};
    running.clear();
    if (route.parts[0] === "c") go("/", { replace: true });
  }
}

export const asking = new Asking();
session.onSwitch(() => asking.forget());
