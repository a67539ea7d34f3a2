import { createHash } from 'node:crypto';
import type { Group } from '../../../engine/budgets/match-budget.ts';
import type { BudgetId } from '../../../platform/ids.ts';
import { isStorable } from '../../../platform/schema/storable.ts';

/** Longest value of a group that is kept as it is; of a longer one its hash, since any text may be a property. */
const VALUE_MAX = 255;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A question may hold texts that Postgres does not store. */
const isKept = (value: string): boolean => value.length <= VALUE_MAX && isStorable(value);

/** The values of a group as they are stored and shown. Rule: budgets.md#windows. */
export const storedGroup = (group: Group): Group =>
  group.map((value) => (value === null || isKept(value) ? value : `sha256:${sha256(value)}`));

/** The key of a stored group, in hex. */
export const groupKey = (group: Group): string => sha256(JSON.stringify(group)).slice(0, 32);

/**
 * The id of a window: two writers that make it at once make the same row, and neither has to read it back.
 * Rule: budgets.md#windows.
 */
export function windowId(budgetId: BudgetId, group: Group, startsAt: { epochMilliseconds: number }): string {
  const hex = sha256(JSON.stringify([budgetId, group, startsAt.epochMilliseconds]));
  // Version 8, of contents of one's own; clients check the form.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
