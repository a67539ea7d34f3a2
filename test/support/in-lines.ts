/** Texts of so many lines each, the last one of fewer: `(['a', 'b', 'c'], 2)` → `['a\nb', 'c']`. */
export const inLines = (lines: readonly string[], count: number): string[] =>
  Array.from({ length: Math.ceil(lines.length / count) }, (_, index) =>
    lines.slice(index * count, (index + 1) * count).join('\n'),
  );
