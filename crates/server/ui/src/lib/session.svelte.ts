// Who is here: the workspace, what the key allows, whether a key is wanted.
import { health, me } from "../api/calls";
import { key, problemOf, whenKeyWanted } from "../api/client";
import type { Me, Problem, Scope } from "../api/types";

class Session {
  me = $state.raw<Me | null>(null);
  version = $state("");
  problem = $state.raw<Problem | null>(null);
  keyWanted = $state(false);
  /** Grows when the key or the workspace changes, so that pages load anew. */
  turn = $state(0);

  constructor() {
    whenKeyWanted(() => (this.keyWanted = true));
  }

  may(scope: Scope): boolean {
    return this.me?.scopes.includes(scope) ?? false;
  }

  async start(): Promise<void> {
    try {
      health().then((h) => (this.version = h.version), () => {});
      this.me = await me();
      this.problem = null;
      this.keyWanted = false;
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  async enter(given: string): Promise<void> {
    key.set(given.trim());
    await this.start();
    if (this.me) this.turn += 1;
  }

  async leave(): Promise<void> {
    key.forget();
    this.me = null;
    await this.start();
    this.turn += 1;
  }
}

export const session = new Session();
