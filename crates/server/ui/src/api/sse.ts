// Server-sent events over `fetch`, because `EventSource` can send neither a body nor a header.
import { t } from "../lib/texts/t.svelte";
import { ApiError, isAbort } from "./client";

export interface ServerEvent {
  event: string;
  data: string;
}

/** Parses events from pieces of text as they arrive; incomplete ones are buffered. */
export class EventParser {
  private buffer = "";
  private event = "";
  private data: string[] = [];

  feed(piece: string): ServerEvent[] {
    this.buffer += piece;
    const done: ServerEvent[] = [];
    for (;;) {
      const at = this.buffer.search(/\r\n|\n|\r/);
      // A lone CR at the end may be the first half of CRLF.
      if (at < 0 || (this.buffer[at] === "\r" && at === this.buffer.length - 1)) break;
      const line = this.buffer.slice(0, at);
      this.buffer = this.buffer.slice(at + (this.buffer.startsWith("\r\n", at) ? 2 : 1));
      const sent = this.line(line);
      if (sent) done.push(sent);
    }
    return done;
  }

  private line(line: string): ServerEvent | undefined {
    if (line === "") {
      const sent = { event: this.event || "message", data: this.data.join("\n") };
      const hasData = this.data.length > 0;
      this.event = "";
      this.data = [];
      return hasData ? sent : undefined;
    }
    if (line.startsWith(":")) return undefined;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    return undefined;
  }
}

/** What people are told when a response breaks off, which browsers call a network error. */
function lost(error: unknown): unknown {
  if (isAbort(error)) return error;
  return new ApiError({
    title: t("problem.lost"),
    status: 0,
    detail: t("problem.lost.detail"),
    hint: t("problem.lost.hint"),
  });
}

/** The events of a response as they arrive. */
export async function* events(response: Response): AsyncGenerator<ServerEvent> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((error: unknown) => { throw lost(error); });
      if (done) return;
      yield* parser.feed(value);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
