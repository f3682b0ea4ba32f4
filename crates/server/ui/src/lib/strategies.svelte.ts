// The ways of answering, read once.
import { strategies as read } from "../api/calls";
import type { Strategy } from "../api/types";

let all = $state.raw<Strategy[]>([]);
let asked = false;

export const strategies = {
  get all(): Strategy[] {
    if (!asked) {
      asked = true;
      read().then((got) => (all = got), () => (asked = false));
    }
    return all;
  },
  get usual(): Strategy | undefined {
    return this.all.find((s) => s.default) ?? this.all[0];
  },
  named: (name: string): Strategy | undefined => all.find((s) => s.name === name),
  again(): void {
    asked = false;
  },
};

export const needsOf = (strategy: Strategy): string[] =>
  typeof strategy.needs === "string" ? (strategy.needs ? [strategy.needs] : []) : (strategy.needs ?? []);
