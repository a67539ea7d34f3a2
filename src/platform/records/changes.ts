type Shown = Record<string, unknown>;

/**
 * What an update changed, for the audit trail: `{key: [before, after]}` of the top-level keys of a record's JSON that
 * differ, `updated_at` apart. Rule: logs.md#activity-logs.
 */
export function changedKeys(before: object, after: object): Record<string, [unknown, unknown]> {
  const changes: Record<string, [unknown, unknown]> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (key === 'updated_at') continue;
    const pair: [unknown, unknown] = [(before as Shown)[key] ?? null, (after as Shown)[key] ?? null];
    if (JSON.stringify(pair[0]) !== JSON.stringify(pair[1])) changes[key] = pair;
  }
  return changes;
}
