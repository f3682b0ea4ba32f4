// When each step of a trace ran. A trace records how long each step took and the order in which steps
// ended, not when they started, so start times are reconstructed: steps of one span ran one after
// another; spans with interleaved events ran concurrently.
import type { TraceEvent } from "../../api/types";
import { elapsed, isLive, type StepEvent } from "./tree";

export interface Bar {
  index: number;
  event: StepEvent;
  depth: number;
  start: number;
  end: number;
}

interface SpanTime {
  parent: number;
  depth: number;
  /** Start of its next step. */
  cursor: number;
  /** End of the latest step below it. */
  end: number;
}

export function waterfall(events: readonly TraceEvent[]): { bars: Bar[]; total: number } {
  const last = lastEvents(events);
  const spans = new Map<number, SpanTime>([[0, { parent: 0, depth: 0, cursor: 0, end: 0 }]]);
  const bars: Bar[] = [];
  events.forEach((event, index) => {
    if (event.event === "span_started") {
      const parent = spans.get(event.parent) ?? spans.get(0)!;
      // A sibling that is still running does not delay this span.
      const done = [...spans].filter(
        ([id, s]) => s.parent === event.parent && id !== 0 && (last.get(id) ?? -1) < index,
      );
      const start = Math.max(parent.cursor, ...done.map(([, s]) => s.end));
      spans.set(event.span, { parent: event.parent, depth: parent.depth + 1, cursor: start, end: start });
      return;
    }
    if (isLive(event) || event.event === "answer_started") return;
    const span = spans.get(event.span) ?? spans.get(0)!;
    // A step of the span itself starts after the child spans that have ended.
    const below = [...spans].filter(([id, s]) => s.parent === event.span && id !== event.span && (last.get(id) ?? -1) < index);
    const start = Math.max(span.cursor, ...below.map(([, s]) => s.end));
    const end = start + elapsed(event);
    span.cursor = end;
    for (let at: SpanTime | undefined = span, id = event.span; at; ) {
      at.end = Math.max(at.end, end);
      if (id === 0) break;
      id = at.parent;
      at = spans.get(id);
    }
    bars.push({ index, event, depth: span.depth, start, end });
  });
  return { bars, total: Math.max(0, ...bars.map((bar) => bar.end)) };
}

/** For each span the index of the last event in it or below it. */
function lastEvents(events: readonly TraceEvent[]): Map<number, number> {
  const parents = new Map<number, number>();
  const last = new Map<number, number>();
  events.forEach((event, index) => {
    if (event.event === "span_started") parents.set(event.span, event.parent);
    if (isLive(event)) return;
    const visited = new Set<number>();
    for (let id: number | undefined = event.span; id !== undefined && id !== 0 && !visited.has(id); id = parents.get(id)) {
      visited.add(id);
      last.set(id, index);
    }
  });
  return last;
}
