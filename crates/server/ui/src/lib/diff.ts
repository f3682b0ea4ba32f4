// Which lines differ between two texts: the longest common subsequence of lines.

export interface Change {
  kind: "same" | "added" | "removed";
  text: string;
}

export function diff(before: string, after: string): Change[] {
  const a = before.split("\n");
  const b = after.split("\n");
  // common[i][j]: the length of the longest common subsequence of a[i..] and b[j..].
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [row, next] = [common[i]!, common[i + 1]!];
      row[j] = a[i] === b[j] ? next[j + 1]! + 1 : Math.max(next[j]!, row[j + 1]!);
    }
  }
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      changes.push({ kind: "same", text: a[i]! });
      i += 1;
      j += 1;
    } else if (i < a.length && (j >= b.length || common[i + 1]![j]! >= common[i]![j + 1]!)) {
      changes.push({ kind: "removed", text: a[i]! });
      i += 1;
    } else {
      changes.push({ kind: "added", text: b[j]! });
      j += 1;
    }
  }
  return changes;
}
