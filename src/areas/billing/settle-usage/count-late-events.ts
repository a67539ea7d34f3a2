import type { Temporal } from 'temporal-polyfill';
import type { Period } from '../../../engine/calendar/period.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, InvoiceId } from '../../../platform/ids.ts';
import { countedAt } from '../../usage/event-corrections/first-invoice.ts';
import { isLeftOut } from '../../usage/usage-counts/queries.ts';
import type { LateEvents } from '../../usage/usage-counts/request.ts';
import type { IssuedFee } from './issued-fees.ts';

/** The events of a charge on an issued invoice that came after it was counted. */
export interface LateFor {
  externalSubscriptionId: ExternalSubscriptionId;
  code: string;
  window: Pick<Period, 'to'> & { from: Temporal.Instant | null };
  late: LateEvents;
}

/**
 * Events that arrived after the usage of an issued invoice was counted. The id of a fee shows when that was; for a
 * charge without fees it is the instant that is kept. A copy counted nothing: its first fee did.
 */
export function lateFor(issued: readonly IssuedFee[], at: Temporal.Instant): LateEvents {
  const ids = issued.flatMap(({ first, isChanged }) => (isChanged ? [] : [first.id])).sort();
  return ids.length === 0 ? { since: at } : { afterId: ids.at(-1)! };
}

/** When the usage of an issued invoice was counted, or that of the first one in whose place it was made. */
export async function readCountedAt({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<Temporal.Instant> {
  const [row] = await db<{ at: Temporal.Instant }[]>`
    select ${countedAt(db, 'invoice')} as at from invoices invoice
    where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row!.at;
}

/** The number of late events not taken in, for each request in order. Rule: everywhere.md#corrections. */
export async function countLeftOut(scope: Scope, asked: readonly LateFor[]): Promise<number[]> {
  const requests = asked.map(({ externalSubscriptionId, code, window, late }, n) => ({
    n,
    subscription: externalSubscriptionId,
    code,
    from: window.from?.round({ smallestUnit: 'millisecond', roundingMode: 'trunc' }).toString() ?? '-infinity',
    to: window.to.toString(),
    late_after_id: 'afterId' in late ? late.afterId : null,
    late_since: 'since' in late ? late.since.toString() : null,
  }));
  const rows = await scope.db<{ n: number; count: number }[]>`
    select request.n, count(*) as count
    from jsonb_to_recordset(${JSON.stringify(requests)}::text::jsonb) as request (n int, subscription text, code text,
      "from" timestamptz, "to" timestamptz, late_after_id uuid, late_since timestamptz)
    cross join lateral (
      select from events e
      where e.organization_id = ${scope.organizationId} and e.external_subscription_id = request.subscription
        and e.code = request.code and e.timestamp >= request."from" and e.timestamp < request."to"
        and e.deleted_at is null and ${isLeftOut(scope)}
      offset 0 -- one range of the index each, whatever the statistics say
    ) late
    group by request.n`;
  const counts = new Map(rows.map(({ n, count }) => [n, count]));
  return asked.map((_, n) => counts.get(n) ?? 0);
}
