// Which contestants nobody beats: no other is at least as right for at most the same cost.

export interface Point {
  label: string;
  cost: number;
  right: number;
}

/** The undominated points, the cheapest first. */
export function frontier<P extends Point>(points: readonly P[]): P[] {
  const order = [...points].sort((a, b) => a.cost - b.cost || b.right - a.right);
  const kept: P[] = [];
  for (const point of order) {
    if (point.right > (kept.at(-1)?.right ?? -Infinity)) kept.push(point);
  }
  return kept;
}

/** Round numbers from 0 to at least `most`, about `wanted` of them. */
export function ticks(most: number, wanted = 5): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? 10 * power;
  const made: number[] = [];
  for (let i = 0; i * step < most + step - step * 1e-9; i += 1) made.push(Number((i * step).toPrecision(12)));
  return made;
}
