// Changes that are not saved yet: before they are lost, the user is asked.

class Unsaved {
  /** What has such changes, as the question names it; empty without any. */
  what = $state("");
  /** What continues once the changes are discarded. */
  private next = $state.raw<(() => void) | null>(null);

  get isAsking(): boolean {
    return this.next !== null;
  }

  /** Does this at once, or, where changes would be lost, when the user has agreed to that. */
  leave(action: () => void): void {
    if (this.what) this.next = action;
    else action();
  }

  discard(): void {
    const { next } = this;
    [this.what, this.next] = ["", null];
    next?.();
  }

  stay(): void {
    this.next = null;
  }
}

export const unsaved = new Unsaved();
