import type { Temporal } from 'temporal-polyfill';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { Producer } from '../../../platform/queue/producer.ts';

export const BUDGET_SWEEP = 'budget-sweep';

/** Payload of the job that folds what no decision has folded. */
export const budgetSweep = (at: Temporal.Instant) => ({ job: BUDGET_SWEEP, at: at.toString(), item: {} });

/** Shortest time between two sweeps of an organization that its usage wakes. */
const COALESCE_MS = 1000;

/** The latest second for which a process has woken the sweep of an organization. */
const wokenOf = new WeakMap<object, Map<OrganizationId, number>>();
/** How many organizations are remembered; beyond it one of them is woken twice. */
const MOST_REMEMBERED = 10_000;

/**
 * Wakes the sweep of organizations whose budgets have counted usage, once a second each, so that what it passes is
 * announced soon. A lost nudge is made up by the tick. Rule: budgets.md#life-of-a-window.
 */
export function wakeSweep(
  producer: Pick<Producer, 'add'>,
  organizations: Iterable<OrganizationId>,
  realNow: Temporal.Instant,
): void {
  const nowMs = realNow.epochMilliseconds;
  const slot = Math.floor(nowMs / COALESCE_MS) + 1;
  const woken = wokenOf.get(producer) ?? new Map<OrganizationId, number>();
  wokenOf.set(producer, woken);
  for (const id of organizations) {
    if (woken.get(id) === slot) continue;
    if (woken.size >= MOST_REMEMBERED) woken.clear();
    woken.set(id, slot);
    const options = { id: `budgets-${id}-${slot}`, delayMs: slot * COALESCE_MS - nowMs, forgetFailed: true };
    producer.add('periodic.work', { organization_id: id, ...budgetSweep(realNow) }, options).catch(() => {});
  }
}
