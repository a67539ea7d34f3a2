import type { Instant } from '../../../engine/calendar/instants.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId } from '../../../platform/ids.ts';

/** How many calls without an amount are counted at most. */
const MOST_COUNTED = 10_000;

/** SQL after `from`: calls without an amount of a subscription in `[from, to)`, with their events as `e`. */
const waitingCalls = (
  db: Db,
  of: { organizationId: Fragment; subscription: Fragment; from: Fragment; to: Fragment },
): Fragment => db`
  ai_unpriced waiting
  join events e on e.id = waiting.event_id and e.organization_id = waiting.organization_id
  where waiting.organization_id = ${of.organizationId} and waiting.status = 'open'
    and waiting.external_subscription_id = ${of.subscription} and waiting.event_timestamp >= ${of.from}
    and waiting.event_timestamp < ${of.to}`;

/** Calls of a subscription without an amount, by the code of their events. Rule: price-book.md#unknown-models. */
export async function countWaitingCalls(
  { db, organizationId }: Scope,
  { subscription, from, to }: { subscription: ExternalSubscriptionId; from: Instant; to: Instant },
): Promise<ReadonlyMap<string, number>> {
  const of = {
    organizationId: db`${organizationId}`,
    subscription: db`${subscription}`,
    from: db`${from}::timestamptz`,
    to: db`${to}::timestamptz`,
  };
  const rows = await db<{ code: string; events: number }[]>`
    select code, count(*) as events from (select e.code from ${waitingCalls(db, of)} limit ${MOST_COUNTED}) call
    group by code`;
  return new Map(rows.map(({ code, events }) => [code, events]));
}

/** SQL: how many calls in the window of the fee of a dynamic charge `fee` have no amount; null: none. */
export const waitingCallsOfFee = (db: Db): Fragment => db`(
  select nullif(count(*), 0) from (
    select from ${waitingCalls(db, {
      organizationId: db`fee.organization_id`,
      subscription: db`fee.external_subscription_id`,
      from: db`fee.from_datetime`,
      to: db`fee.to_datetime`,
    })} and e.code = fee.item_code and not fee.pay_in_advance and exists (
      select from charges c
      where c.organization_id = fee.organization_id and c.id = fee.charge_id and c.charge_model = 'dynamic')
    limit ${MOST_COUNTED}
  ) call)`;
