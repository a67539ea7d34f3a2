import type { Db } from '../../../../platform/db/connect.ts';
import type { OrganizationId } from '../../../../platform/ids.ts';
import type { Catalog } from '../../../catalog/usage-shapes/storing-catalog.ts';
import {
  NO_SUBSCRIBERS,
  needSubscribers,
  readSubscribers,
  type Subscribers,
} from '../../budget-windows/subscribers.ts';
import type { IncomingBatch } from '../incoming-event.ts';

export type SubscribersOf = (organizationId: OrganizationId) => Subscribers;

/**
 * Whose subscriptions the events of batches name, of organizations with budgets that ask for it: others cost nothing.
 * Rule: budgets.md#storage.
 */
export async function readSubscribersOf(
  db: Db,
  batches: readonly IncomingBatch[],
  catalogs: ReadonlyMap<string, Catalog>,
): Promise<SubscribersOf> {
  const wanted = new Map<OrganizationId, Set<string>>();
  for (const { organization_id: id, events, isHeld } of batches) {
    if (isHeld || !needSubscribers(catalogs.get(id)?.budgets ?? [])) continue;
    const ids = wanted.get(id) ?? new Set();
    for (const event of events) ids.add(event.external_subscription_id);
    wanted.set(id, ids);
  }
  if (wanted.size === 0) return () => NO_SUBSCRIBERS;
  const read = await Promise.all(
    [...wanted].map(async ([organizationId, ids]) => {
      const { budgets } = catalogs.get(organizationId)!;
      return [organizationId, await readSubscribers({ db, organizationId }, [...ids], budgets)] as const;
    }),
  );
  const found = new Map(read);
  return (id) => found.get(id) ?? NO_SUBSCRIBERS;
}
