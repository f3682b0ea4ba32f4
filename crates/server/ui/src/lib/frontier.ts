// The Pareto frontier: points for which no other point is at least as accurate at no higher cost.

export interface Point {
  label: string;
  cost: number;
  right: number;
}

/** The undominated points, cheapest first. */
export function frontier<P extends Point>(points: readonly P[]): P[] {
  const order = [...points].sort((a, b) => a.cost - b.cost || b.right - a.right);
  const undominated: P[] = [];
  for (const point of order) {
    if (point.right > (undominated.at(-1)?.right ?? -Infinity)) undominated.push(point);
  }
  return undominated;
}

/** Round numbers from 0 to at least `max`, about `target` of them. */
export function ticks(max: number, target = 5): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / target;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const values: number[] = [];
  for (let i = 0; i * step < max + step - step * 1e-9; i += 1) values.push(Number((i * step).toPrecision(12)));
  return values;
}
