// The strategies, loaded once.
import { strategies as load } from "../../api/calls";
import type { StrategyLine } from "../../api/types";

let all = $state.raw<StrategyLine[]>([]);
let requested = false;

export const strategies = {
  get all(): StrategyLine[] {
    if (!requested) {
      requested = true;
      load().then((loaded) => (all = loaded), () => (requested = false));
    }
    return all;
  },
  get default(): StrategyLine | undefined {
    return this.all.find((s) => s.default) ?? this.all[0];
  },
  named: (name: string): StrategyLine | undefined => all.find((s) => s.name === name),
};
