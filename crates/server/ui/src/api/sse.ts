// Server-sent events over `fetch`, because `EventSource` can send neither a body nor a key.

export interface Sent {
  event: string;
  data: string;
}

/** Cuts a growing text into events. Feed it pieces as they come; it keeps what is not whole yet. */
export class Cutter {
  private held = "";
  private event = "";
  private data: string[] = [];

  feed(piece: string): Sent[] {
    this.held += piece;
    const done: Sent[] = [];
    for (;;) {
      const at = this.held.search(/\r\n|\n|\r/);
      // A lone CR at the end may be the first half of CRLF.
      if (at < 0 || (this.held[at] === "\r" && at === this.held.length - 1)) break;
      const line = this.held.slice(0, at);
      this.held = this.held.slice(at + (this.held.startsWith("\r\n", at) ? 2 : 1));
      const sent = this.line(line);
      if (sent) done.push(sent);
    }
    return done;
  }

  private line(line: string): Sent | undefined {
    if (line === "") {
      const sent = { event: this.event || "message", data: this.data.join("\n") };
      const whole = this.data.length > 0;
      this.event = "";
      this.data = [];
      return whole ? sent : undefined;
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

/** The events of a response as they arrive. */
export async function* events(response: Response): AsyncGenerator<Sent> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const cutter = new Cutter();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      yield* cutter.feed(value);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
