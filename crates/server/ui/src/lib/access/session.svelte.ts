// The session: the workspace, the permissions of the key, whether a key is required.
import { health, me, ready } from "../../api/calls";
import { ApiError, key, onKeyRequired, onWorkspaceRefused, problemOf, workspace, type ProblemInfo } from "../../api/client";
import type { Me, Scope } from "../../api/types";
import { missingPermission, type MissingPermission, type Reach } from "./permissions";
import { go, route } from "../route.svelte";
import { t } from "../texts/t.svelte";
import { unsaved } from "../unsaved.svelte";

class Session {
  me = $state.raw<Me | null>(null);
  version = $state("");
  /** The model of the server's embedder, `null` without one, `undefined` while that is unknown. */
  embedder = $state<string | null | undefined>(undefined);
  problem = $state.raw<ProblemInfo | null>(null);
  /** Something that happened without the user, such as that the workspace was deleted. */
  notice = $state("");
  keyRequired = $state(false);
  /** Whether the dialog for a key was opened to use another one, not because one is required. */
  changingKey = $state(false);
  /** Incremented when the key or the workspace changes, so that pages reload. */
  generation = $state(0);
  private readonly listeners: (() => void)[] = [];
  private checking = false;

  constructor() {
    onKeyRequired(() => (this.keyRequired = true));
    onWorkspaceRefused(() => void this.checkWorkspace());
  }

  /** Calls this when another workspace or key is used, whose data must not be mixed with the old. */
  onSwitch(listener: () => void): void {
    this.listeners.push(listener);
  }

  may(scope: Scope, reach?: Reach): boolean {
    return this.me !== null && missingPermission(this.me, scope, reach) === null;
  }

  /** What the key lacks; `null` if it permits this. */
  missing(scope: Scope, reach?: Reach): MissingPermission | null {
    return this.me && missingPermission(this.me, scope, reach);
  }

  async start(): Promise<void> {
    health().then((h) => (this.version = h.version), () => {});
    try {
      const [found, readiness] = await Promise.all([this.findMe(), ready().catch(() => undefined)]);
      const isOther = this.me !== null && this.me.workspace !== found.workspace;
      this.me = found;
      this.embedder = readiness && (readiness.embedder ?? null);
      [this.problem, this.keyRequired, this.changingKey] = [null, false, false];
      if (isOther) this.switched();
    } catch (error) {
      this.problem = problemOf(error);
    }
  }

  /** A workspace that is gone, or that the key may not open, is left for the key's own one. */
  private async findMe(): Promise<Me> {
    try {
      return await me();
    } catch (error) {
      const left = workspace.get();
      if (!left || !(error instanceof ApiError) || ![403, 404].includes(error.status)) throw error;
      workspace.set(null);
      const own = await me();
      this.notice = error.status === 404
        ? t("workspace.gone", { left, own: own.workspace })
        : t("workspace.refused", { left, own: own.workspace });
      // What the address names may not exist there.
      if (route.parts.length > 1 && route.parts[0] !== "settings") go(`/${route.parts[0]}`, { replace: true });
      return own;
    }
  }

  /** After a refusal: whether the workspace is still there for this key. */
  private async checkWorkspace(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    await this.start();
    this.checking = false;
  }

  private switched(): void {
    for (const listener of this.listeners) listener();
    this.generation += 1;
  }

  async chooseWorkspace(name: string): Promise<void> {
    const before = workspace.get();
    workspace.set(name);
    this.notice = "";
    await this.start();
    if (this.problem) workspace.set(before);
  }

  /** Opens the dialog for a key in order to use another one. */
  changeKey(): void {
    [this.changingKey, this.keyRequired] = [true, true];
  }

  closeKeyDialog(): void {
    [this.changingKey, this.keyRequired] = [false, false];
  }

  /** Uses this key; why it cannot be used, otherwise. */
  async signIn(given: string): Promise<ProblemInfo | null> {
    const before = key.get();
    key.set(given.trim());
    this.notice = "";
    await this.start();
    const { problem } = this;
    // A text that is being edited is not lost because the key had expired.
    if (!problem && !unsaved.what) this.generation += 1;
    else if (problem && this.changingKey) {
      // The key that is in use stays in use.
      if (before) key.set(before);
      else key.forget();
      this.problem = null;
    }
    return problem;
  }

  async signOut(): Promise<void> {
    key.forget();
    workspace.set(null);
    [this.me, this.notice] = [null, ""];
    this.switched();
    await this.start();
  }
}

export const session = new Session();
