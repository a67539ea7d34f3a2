import type { Temporal } from 'temporal-polyfill';
import type { Budget } from '../../../engine/budgets/budget.ts';
import { currentBillingPeriod } from '../../../engine/calendar/windows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, ExternalSubscriptionId, SubscriptionId } from '../../../platform/ids.ts';
import { listShown, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import type { BillingPeriods } from './place-usage.ts';

/** Whose an external subscription id is. */
interface Subscriber {
  external_id: string;
  id: SubscriptionId;
  customer_id: CustomerId;
  is_active: boolean;
}

/** What budgets need to know of subscriptions: whose they are, and their charges periods. */
export interface Subscribers {
  of(externalSubscriptionId: ExternalSubscriptionId): Pick<Subscriber, 'customer_id' | 'is_active'> | undefined;
  billingPeriods: BillingPeriods;
}

/** Whether budgets ask whose subscription it is, or for its charges period. */
export const needSubscribers = (budgets: readonly Budget[]): boolean =>
  budgets.some(({ customer_id, period }) => customer_id !== null || period === 'billing_period');

export const NO_SUBSCRIBERS: Subscribers = { of: () => undefined, billingPeriods: () => undefined };

/**
 * Reads whose subscriptions some external ids are: the active record of each, else the latest. Their terms are read too
 * where a budget counts by billing period.
 */
export async function readSubscribers(
  scope: Scope,
  externalIds: readonly string[],
  budgets: readonly Budget[],
): Promise<Subscribers> {
  const wanted = [...new Set(externalIds)];
  const rows = wanted.length === 0 ? [] : await listSubscribers(scope, wanted);
  const byExternalId = new Map(rows.map((row) => [row.external_id, row]));
  const timed = budgets.some(({ period }) => period === 'billing_period');
  const shown = timed && rows.length > 0 ? await listShown(scope, idsOf(rows, budgets)) : [];
  const terms = new Map(shown.map((subscription) => [subscription.external_id, subscription]));
  return {
    of: (externalId) => byExternalId.get(externalId),
    billingPeriods: (externalId, at) => periodOf(terms.get(externalId), at),
  };
}

const idsOf = (rows: readonly Subscriber[], budgets: readonly Budget[]): SubscriptionId[] => {
  const named = new Set(budgets.map((budget) => budget.external_subscription_id));
  return rows.flatMap(({ id, external_id }) => (named.has(external_id) ? [id] : []));
};

function periodOf(subscription: SubscriptionShown | undefined, at: Temporal.Instant) {
  if (!subscription?.started_at) return undefined;
  return currentBillingPeriod(subscription, subscription, subscription.zone, at);
}

const listSubscribers = ({ db, organizationId }: Scope, externalIds: readonly string[]) => db<Subscriber[]>`
  select distinct on (external_id) external_id, id, customer_id, status = 'active' as is_active
  from subscriptions
  where organization_id = ${organizationId} and external_id = any (${externalIds}::text[])
    and status in ('active', 'terminated')
  order by external_id, status = 'active' desc, started_at desc nulls last, id desc`;
