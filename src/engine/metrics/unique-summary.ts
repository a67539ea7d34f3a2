import { decimal } from '../money/decimal.ts';
import type { Aggregate } from './usage-bucket.ts';
import type { Operation } from './usage-event.ts';

export type Membership = 'removed' | 'added';

/**
 * The effect of one value's events over some time, for both possible states before them: the net change of the count
 * and the state afterwards. Columns of a rollup row.
 */
export interface UniqueSummary {
  changes_from_removed: number;
  changes_from_added: number;
  final_from_removed: Membership;
  final_from_added: Membership;
}

/** The summary of one value in one hour. */
export interface UniqueRow extends UniqueSummary {
  value: string;
}

/** Without events nothing changes. */
const UNCHANGED: UniqueSummary = {
  changes_from_removed: 0,
  changes_from_added: 0,
  final_from_removed: 'removed',
  final_from_added: 'added',
};
const ADD: UniqueSummary = { ...UNCHANGED, changes_from_removed: 1, final_from_removed: 'added' };
const REMOVE: UniqueSummary = { ...UNCHANGED, changes_from_added: -1, final_from_added: 'removed' };

/** Summary of the operations on one value, in processing order. Rule: rollups.md#buckets "unique_count". */
export const summarizeOperations = (operations: readonly Operation[]): UniqueSummary =>
  operations.map((operation) => (operation === 'add' ? ADD : REMOVE)).reduce(composeSummaries, UNCHANGED);

/** Summary of `first` followed by `second`. Associative, so hours may be combined to days. */
export function composeSummaries(first: UniqueSummary, second: UniqueSummary): UniqueSummary {
  const after = (state: Membership) =>
    state === 'added'
      ? { changes: second.changes_from_added, final: second.final_from_added }
      : { changes: second.changes_from_removed, final: second.final_from_removed };
  const fromRemoved = after(first.final_from_removed);
  const fromAdded = after(first.final_from_added);
  return {
    changes_from_removed: first.changes_from_removed + fromRemoved.changes,
    changes_from_added: first.changes_from_added + fromAdded.changes,
    final_from_removed: fromRemoved.final,
    final_from_added: fromAdded.final,
  };
}

/**
 * Number of values in use after the rows of one filter and group. Rows of one value come in the order of time; if
 * events of two rows of one hour interleave, their order is lost and the hour is summarized from raw events instead.
 *
 * Rules: aggregation.md#unique-count, rollups.md#buckets "unique_count".
 */
export function combineUniqueRows(rows: readonly UniqueRow[]): Aggregate {
  const summaries = new Map<string, UniqueSummary>();
  for (const row of rows) summaries.set(row.value, composeSummaries(summaries.get(row.value) ?? UNCHANGED, row));
  const count = [...summaries.values()].reduce((total, summary) => total + summary.changes_from_removed, 0);
  return { units: decimal(count), eventsCount: count };
}
