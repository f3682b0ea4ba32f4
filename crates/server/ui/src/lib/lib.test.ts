import { describe, expect, it } from "vitest";
import { isAbort, problemOf } from "../api/client";
import { EventParser, events } from "../api/sse";
import type { Answer, TraceEvent } from "../api/types";
import { diff } from "./diff";
import { bytes, count, cut, duration, money, percent } from "./format";
import { frontier, ticks } from "./frontier";
import { answerOf, answers, groupRuns, outcome } from "./answer/outcome";
import { safeLink } from "./links";
import { blocks, cites, plain, quotedBlocks } from "./answer/markdown";
import { cutAt, locate, marked, scalars, toUnits } from "./offsets";
import { hops, malformed, exhaustedLimits, tree, usage } from "./trace/tree";
import { waterfall } from "./trace/waterfall";
import { useTexts } from "./texts/t.svelte";
import { way, withMarks } from "./answer/way";
import { describe as describeStep, summarize } from "./trace/describe";

const spanStarted = (span: number, parent: number, name = `span ${span}`): TraceEvent =>
  ({ event: "span_started", span, parent, name });
const searched = (span: number, elapsed_ms = 10, hits: string[] = []): TraceEvent => ({
  event: "searched", span, layer: "atom", mode: "hybrid", query: "who", elapsed_ms,
  hits: hits.map((title) => ({ id: title, title, text: "", score: 1 })),
});
const modelCalled = (span: number, more: object = {}): TraceEvent => ({
  event: "model_called", span, prompt: "kar3/propose", hash: "h", role: "proposer", model: "m", attempt: 1,
  messages: [], reply: "{}", status: "valid", usage: { prompt_tokens: 10, completion_tokens: 2 },
  cached: false, usd: 0.5, elapsed_ms: 20, ...more,
});

describe("offsets", () => {
  const text = "a𝛼b😀c";
  it("counts scalar values, not code units", () => {
    expect(scalars(text)).toBe(5);
    expect(text.length).toBe(7);
    expect(toUnits(text, 0)).toBe(0);
    expect(toUnits(text, 2)).toBe(3);
    expect(toUnits(text, 5)).toBe(7);
    expect(toUnits(text, 99)).toBe(7);
  });
  it("counts a lone surrogate as one", () => expect(scalars("\ud800x")).toBe(2));
  it("cuts a window at a citation beyond pairs", () => {
    const parts = cutAt("😀😀 The lamp is green. End", 100, 103, 121, "The lamp is green.");
    expect(parts).toEqual({ before: "😀😀 ", marked: "The lamp is green.", after: " End", found: "exact" });
  });
  it("finds a quote that moved or whose white space differs", () => {
    const parts = cutAt("New words. The lamp\nis green.", 0, 0, 18, "The lamp is green.");
    expect(parts.marked).toBe("The lamp\nis green.");
    expect(parts.found).toBe("moved");
  });
  it("reports a missing quote", () => {
    expect(cutAt("short", 0, 90, 99, "gone").found).toBe("missing");
  });
  it("does not treat a quote as a pattern", () => expect(locate("a.b (c)", "(c)")).toEqual([4, 7]));
});

describe("safe links", () => {
  it("accepts http and https", () => {
    expect(safeLink("https://example.org/a?b=c")).toBe("https://example.org/a?b=c");
    expect(safeLink("HTTP://example.org")).toBe("http://example.org/");
  });
  it.each([
    "javascript:alert(1)", " java\nscript:alert(1)", "data:text/html,<script>", "//example.org", "/inside",
    "vbscript:x", "https://user:word@example.org", "https://exa mple.org", "http:example.org", "",
  ])("refuses %j", (address) => expect(safeLink(address)).toBeUndefined());
});

describe("markdown", () => {
  it("keeps HTML as text", () => {
    expect(blocks("<img src=x onerror=alert(1)>")).toEqual([
      { kind: "paragraph", inner: [{ kind: "text", text: "<img src=x onerror=alert(1)>" }] },
    ]);
  });
  it("shows an unsafe link as it was written", () => {
    const text = "[click](javascript:alert(1))";
    const [block] = blocks(text);
    expect(JSON.stringify(block)).not.toContain('"link"');
    expect(block).toEqual({ kind: "paragraph", inner: [{ kind: "text", text }] });
  });
  it("recognises only existing citations", () => {
    const made = blocks("So it is [1], not [7].", 2);
    expect(cites(made)).toBe(true);
    expect(made[0]).toMatchObject({ inner: [{ text: "So it " }, { kind: "cite", number: 1, lead: "is" }, { text: ", not [7]." }] });
    expect(cites(blocks("So it is [1]."))).toBe(false);
  });
  it("reads several citations in one bracket", () => {
    expect(blocks("Yes [1, 2]", 2)[0]).toMatchObject({ inner: [{ number: 1, lead: "Yes" }, { number: 2, lead: "" }] });
  });
  it("reads lists, emphasis and code", () => {
    const made = blocks("Two:\n- **one** and *other*\n- `x`\n\n1. a\n2. b\n```\n<b>\n```");
    expect(made.map((b) => b.kind)).toEqual(["paragraph", "list", "list", "code"]);
  });
  it("does not treat a number at the start of a line in a paragraph as a list", () => {
    expect(blocks("It was in the year\n1885. Then more.")).toHaveLength(1);
  });
  it("has a plain form for lists", () => expect(plain("**Yes** [1], by *her* [2]:\n- a\n- b")).toBe("Yes, by her: a; b"));
  it("reads tables, with a bar in a cell", () => {
    const [block, after] = blocks("| a | b |\n| --- | :-: |\n| *x* | y\\|z [1] |\n\nEnd", 1);
    expect(block).toMatchObject({ kind: "table", rows: [[[{ text: "a" }], [{ text: "b" }]], [[{ kind: "em" }], [{ kind: "cite", lead: "y|z" }]]] });
    expect(plain("| a | b |\n| - | - |\n| 1 | 2 |")).toBe("a; b; 1; 2");
    expect(after?.kind).toBe("paragraph");
    expect(blocks("a | b")[0]?.kind).toBe("paragraph");
  });
  it("marks a quote that spans a heading, a paragraph and a table", () => {
    const made = quotedBlocks("# One\n\n", "## Two\n\nText *here*.\n\n| a | b |\n| - | - |\n| 1 | 2", " |\n\nAfter");
    const marked = (inner: unknown): string => [...JSON.stringify(inner).matchAll(/"kind":"mark","text":"([^"]*)"/g)].map((m) => m[1]).join("·");
    expect(made.map((block) => block.kind)).toEqual(["heading", "heading", "paragraph", "table", "paragraph"]);
    expect(made.map(marked)).toEqual(["", "Two", "Text ·here·.", "a·b·1·2", ""]);
  });
  it("marks a row of a table, and a heading", () => {
    const made = quotedBlocks("", "| a | b |", "\n| - | - |\n| 1 | 2 |\n");
    expect(made).toMatchObject([{ kind: "table", rows: [[[{ kind: "mark", text: "a" }], [{ kind: "mark", text: "b" }]], [[{ kind: "text" }], [{ kind: "text" }]]] }]);
    expect(quotedBlocks("", "## Two", "\n\nText")).toMatchObject([{ kind: "heading", inner: [{ kind: "mark", text: "Two" }] }, { inner: [{ kind: "text" }] }]);
  });
  it("marks nothing without a quote", () => expect(JSON.stringify(quotedBlocks("A [?] \uE000b", "", ""))).not.toContain("mark"));
  it("is quick with hostile text", () => {
    const start = performance.now();
    blocks("*".repeat(50_000) + "[".repeat(50_000) + "`".repeat(50_001));
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe("server-sent events", () => {
  it("parses events wherever the pieces end", () => {
    const whole = ": beat\n\nevent: trace\r\ndata: {\"a\":1}\r\n\r\nevent: answer\ndata: one\ndata: two\n\n";
    for (let size = 1; size <= whole.length; size += 1) {
      const parser = new EventParser();
      const parsed = [];
      for (let at = 0; at < whole.length; at += size) parsed.push(...parser.feed(whole.slice(at, at + size)));
      expect(parsed).toEqual([{ event: "trace", data: '{"a":1}' }, { event: "answer", data: "one\ntwo" }]);
    }
  });
  it("report a connection that breaks off as what it is", async () => {
    const broken = (error: Error) => {
      let sent = false;
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if (sent) controller.error(error);
        else controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
        sent = true;
      };
      return new Response(new ReadableStream({ pull }));
    };
    const read = async (error: Error) => {
      const seen: string[] = [];
      try {
        for await (const event of events(broken(error))) seen.push(event.data);
      } catch (caught) {
        return { seen, caught };
      }
      return { seen, caught: undefined };
    };
    const lost = await read(new TypeError("network error"));
    expect(lost.seen).toEqual(["1"]);
    expect(problemOf(lost.caught).title).toBe("The connection to the server was lost");
    expect(isAbort((await read(new DOMException("stopped", "AbortError"))).caught)).toBe(true);
  });
});

describe("trace", () => {
  const events = [spanStarted(1, 0, "hop 1"), searched(1), modelCalled(1), spanStarted(2, 1, "inner"), searched(2), modelCalled(0, { cached: true })];
  it("folds into a tree in the order of events", () => {
    const root = tree(events);
    expect(root.items.map((i) => i.kind)).toEqual(["branch", "leaf"]);
    const hop = root.items[0]!;
    expect(hop).toMatchObject({ name: "hop 1", items: [{ index: 1 }, { index: 2 }, { name: "inner", items: [{ index: 4 }] }] });
  });
  it("keeps events of unknown spans", () => {
    expect(tree([searched(9)]).items).toHaveLength(1);
    expect(tree([spanStarted(3, 8)]).items).toHaveLength(1);
  });
  it("sums the usage and counts cached calls separately", () => {
    expect(usage(events)).toEqual({ llm_calls: 1, cached_calls: 1, prompt_tokens: 10, completion_tokens: 2, usd: 0.5 });
    expect(hops(events)).toBe(2);
  });
  it("finds malformed replies and exhausted limits", () => {
    const bad = [modelCalled(0, { status: { malformed: "no JSON" } }), { event: "budget_exhausted", span: 0, limit: "calls" } as const];
    expect(malformed(bad)).toBe(1);
    expect(exhaustedLimits([...bad, ...bad])).toEqual(["calls"]);
  });
  it("describes a step", () => {
    expect(describeStep(searched(1, 1, ["Lamp", "Wick"]) as never)).toMatchObject({ action: "searched atoms", result: "Lamp and 1 more" });
    expect(describeStep(searched(1) as never).result).toBe("no results");
    expect(summarize('```json\n{"sub_questions": ["Who?", "When?"]}\n```')).toBe("Who? · When?");
    expect(summarize("plain words")).toBe("plain words");
  });
});

describe("waterfall", () => {
  it("draws the steps of one span one after another", () => {
    const { bars, total } = waterfall([searched(0, 10), modelCalled(0)]);
    expect(bars.map((b) => [b.start, b.end])).toEqual([[0, 10], [10, 30]]);
    expect(total).toBe(30);
  });
  it("draws consecutive spans one after another", () => {
    const { bars } = waterfall([spanStarted(1, 0), searched(1, 10), spanStarted(2, 0), searched(2, 5), searched(0, 1)]);
    expect(bars.map((b) => b.start)).toEqual([0, 10, 15]);
  });
  it("draws spans with interleaved events concurrently", () => {
    const { bars, total } = waterfall([
      spanStarted(1, 0), spanStarted(2, 0), searched(1, 10), searched(2, 15), searched(1, 10), searched(2, 1), modelCalled(0),
    ]);
    expect(bars.map((b) => b.start)).toEqual([0, 0, 10, 15, 20]);
    expect(total).toBe(40);
  });
});

describe("outcomes", () => {
  it("puts runs of the same question and key together", () => {
    const run = (id: string, question: string, key: string | null = null) => ({ id, question, key }) as never;
    expect(groupRuns([run("4", "Who built it?"), run("3", "When?"), run("2", "who  built it"), run("1", "Who built it?", "k")]).map((group) => group.map(({ id }) => id).join(""))).toEqual(["42", "3", "1"]);
  });
  const run = { id: "t", question: "q", strategy: "s", at: "", abstained: false, usage: usage([]), hops: 0, elapsed_ms: 1, documents: [] };
  it.each([
    [{ error: "the key was revoked" }, "failed", ""], [{}, "none", ""], [{ answer: "", abstained: true }, "abstained", ""],
    [{ answer: "yes", abstained: false }, "answered", "yes"],
  ])("of %j is %s", (more, word, text) => {
    expect(outcome({ ...run, ...more })[0]).toBe(`outcome.${word}`);
    expect(answerOf({ ...run, ...more })).toBe(text);
  });
});

describe("answers", () => {
  const answer: Answer = { text: "yes", kind: "answer", reason: "", citations: [], abstained: false, partial: false };
  it.each<[Partial<Answer>, boolean]>([
    [{}, true], [{ kind: "count" }, true], [{ kind: undefined }, true], [{ text: " " }, false],
    [{ text: "", abstained: true }, false], [{ kind: "passages" }, false], [{ kind: "none" }, false],
  ])("with %j: %s", (more, is) => expect(answers({ ...answer, ...more })).toBe(is));
});

describe("passages", () => {
  it("are split at the nearest sentence", () => {
    expect(marked("It stormed. The lamp\nwent out. It was lit.", "The lamp went out.")).toEqual({ before: "It stormed. ", quote: "The lamp\nwent out.", after: " It was lit." });
  });
  it("show their start where the sentence is not in them", () => {
    expect(marked("It stormed.", "gone")).toEqual({ before: "", quote: "", after: "It stormed." });
  });
  it("are cut between words far from the sentence", () => {
    const parts = marked(`${"wave ".repeat(300)}The lamp.${" wave".repeat(300)}`, "The lamp.");
    expect(parts.before).toMatch(/^…wave .*wave $/);
    expect(parts.after).toMatch(/^ wave .*wave…$/);
    expect(parts.before.length).toBeLessThan(610);
  });
});

describe("small things", () => {
  it("finds the changed lines", () => {
    expect(diff("a\nb\nc", "a\nx\nc").map((c) => c.kind)).toEqual(["same", "removed", "added", "same"]);
    expect(diff("a", "a")).toEqual([{ kind: "same", text: "a" }]);
  });
  it("keeps only undominated points", () => {
    const points = [
      { label: "expensive", cost: 9, right: 0.8 }, { label: "cheap", cost: 1, right: 0.5 },
      { label: "dominated", cost: 5, right: 0.4 }, { label: "same", cost: 9, right: 0.7 },
    ];
    expect(frontier(points).map((p) => p.label)).toEqual(["cheap", "expensive"]);
  });
  it("ends an axis at or above the largest value", () => {
    expect(ticks(97)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(ticks(0)).toEqual([0, 1]);
    for (const most of [0.003, 1, 7, 12345]) expect(ticks(most).at(-1)).toBeGreaterThanOrEqual(most);
  });
  it("formats numbers", () => {
    expect(money(0)).toBe("$0");
    expect(money(0.00001)).toBe("< $0.0001");
    expect(money(0.0312)).toBe("$0.0312");
    expect(duration(59_990)).toBe("1 min");
    expect(duration(3_900_000)).toBe("1 h 5 min");
    expect(bytes(999)).toBe("999 B");
    expect(bytes(1_250_000)).toBe("1.3 MB");
    useTexts({}, "de");
    expect([count(12_345), money(0.0312), duration(1200), percent(0.051)]).toEqual(["12.345", "0,0312\u00a0$", "1,2 s", "5,1\u00a0%"]);
    useTexts({}, "en-GB");
    expect(cut("one  two", 5)).toBe("one…");
  });
});

describe("the way to an answer", () => {
  const cited = (title: string, quote: string) => ({ node: title, document: title, title, section: null, page: null, start: 0, end: 1, quote });
  const answer = (text: string, citations: ReturnType<typeof cited>[], queries: string[]): Answer => ({
    text, reason: "", citations, abstained: false, confidence: null, partial: false,
    steps: queries.map((query, i) => ({ query, citation: i + 1 })),
  });
  it("is a chain where a passage names the next", () => {
    const found = way("Who founded the maker of Inflec?", answer("Ann", [cited("Inflec", "Inflec is made by Celt."), cited("Celt", "Ann founded it.")], ["Inflec", "Celt founder"]));
    expect(found.edges).toEqual([[0, 1], [1, 2], [2, 3]]);
    expect(found.nodes.map((node) => node.row)).toEqual([0, 1, 2, 3]);
    expect(found.nodes.at(-1)?.label).toBe("Ann");
  });
  it("branches where the question names both sides", () => {
    const found = way("Which came first, Trux or Fulph?", answer("Fulph", [cited("Trux", "Trux came in 2018."), cited("Fulph", "Fulph, unlike Trux, in 2017.")], ["Trux", "Fulph"]));
    expect(found.edges).toEqual([[0, 1], [0, 2], [1, 3], [2, 3]]);
    expect(found.nodes[2]).toMatchObject({ row: 1, place: 1, places: 2 });
  });
  it("leads from the question to the answer where nothing is cited", () => {
    expect(way("Who?", answer("Ann", [], [])).edges).toEqual([[0, 1]]);
  });
  it("marks what no source supports", () => {
    expect(withMarks("A. B. C.", [2, 8], " [?]")).toBe("A. [?] B. C. [?]");
    expect(blocks("A. [?]", 0)[0]).toEqual({ kind: "paragraph", inner: [{ kind: "text", text: "A. " }, { kind: "doubt" }] });
  });
});
