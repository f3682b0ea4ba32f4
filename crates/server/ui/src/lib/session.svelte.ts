// The session: the workspace, the scopes of the key, whether a key is required.
import { health, me } from "../api/calls";
import { key, problemOf, onKeyRequired, type ProblemInfo } from "../api/client";
import type { Me, Scope } from "../api/types";

class Session {
  me = $state.raw<Me | null>(null);
  version = $state("");
  problem = $state.raw<ProblemInfo | null>(null);
  keyRequired = $state(false);
  /** Incremented when the key or the workspace changes, so that pages reload. */
  generation = $state(0);

  constructor() {
    onKeyRequired(() => (this.keyRequired = true));
  }

  may(scope: Scope): boolean {
    return this.me?.scopes.includes(scope) ?? false;
  }

  async start(): Promise<void> {
    try {
      health().then((h) => (this.version = h.version), () => {});
      this.me = await me();
      this.problem = null;
      this.keyRequired = false;
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  async signIn(given: string): Promise<void> {
    key.set(given.trim());
    await this.start();
    if (this.me) this.generation += 1;
  }

  async signOut(): Promise<void> {
    key.forget();
    this.me = null;
    await this.start();
    this.generation += 1;
  }
}

export const session = new Session();
