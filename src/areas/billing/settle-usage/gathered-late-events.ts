import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { LateGroup } from './late-groups.ts';

/** What a look is for: an invoice, or null for the hourly one. */
type LookFor = InvoiceId | null;

/** Keeps late events until the look that found them ends. Those that it has found before stay as they are. */
export async function keepGathered(
  { db, organizationId }: Scope,
  invoiceId: LookFor,
  groups: readonly LateGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  const rows = groups.flatMap(({ event_ids, ...group }) => event_ids.map((id) => ({ ...group, id })));
  await db`
    insert into gathered_late_events (organization_id, invoice_id, external_subscription_id, window_from, policy,
      event_id)
    select ${organizationId}::uuid, ${invoiceId}::uuid, found.*
    from unnest(
      ${rows.map(({ external_subscription_id }) => external_subscription_id)}::text[],
      ${rows.map(({ window_from }) => window_from.toString())}::text[]::timestamptz[],
      ${rows.map(({ policy }) => policy)}::text[],
      ${rows.map(({ id }) => id)}::uuid[]) found
    on conflict do nothing`;
}

/**
 * Takes out the next groups of gathered events, at most `limit` events: whole groups, and those of one subscription and
 * window together. A group of more events than that is cut.
 *
 * @returns them, earliest window first, then those that came first, and whether no others are left
 */
export async function takeGathered(
  { db, organizationId }: Scope,
  invoiceId: LookFor,
  limit: number,
): Promise<{ groups: LateGroup[]; isLast: boolean }> {
  const ofLook = db`
    gathered_late_events
    where organization_id = ${organizationId} and invoice_id ${invoiceId === null ? db`is null` : db`= ${invoiceId}`}`;
  // The invoice is named among the keys so that the index is read in its order.
  const read = await db<LateGroup[]>`
    select external_subscription_id, window_from, policy, array_agg(event_id::text order by event_id) as event_ids
    from (
      select * from ${ofLook}
      order by invoice_id, window_from, external_subscription_id, policy, event_id
      limit ${limit + 1}::int
    ) page
    group by window_from, external_subscription_id, policy
    order by window_from, external_subscription_id, policy`;
  const isLast = countEvents(read) <= limit;
  const end = (isLast ? read : wholeGroups(read, limit)).at(-1);
  if (end === undefined) return { groups: [], isLast };
  const groups = await db<LateGroup[]>`
    with taken as (
      delete from ${ofLook}
        and (window_from, external_subscription_id, policy, event_id)
          <= (${end.window_from}, ${end.external_subscription_id}, ${end.policy}, ${end.event_ids.at(-1)!})
      returning *)
    select external_subscription_id, window_from, policy, array_agg(event_id::text order by event_id) as event_ids
    from taken
    group by window_from, external_subscription_id, policy
    order by window_from, external_subscription_id, min(event_id::text)`;
  return { groups: [...groups], isLast };
}

const countEvents = (groups: readonly LateGroup[]): number =>
  groups.reduce((sum, { event_ids }) => sum + event_ids.length, 0);

/** Of groups that were read up to a limit: those that the limit has not cut, or a part of a single one. */
function wholeGroups(read: readonly LateGroup[], limit: number): LateGroup[] {
  const cut = read.at(-1)!;
  const others = read.filter((each) => !isSameWindow(each, cut));
  if (others.length > 0) return others;
  return read.length > 1 ? read.slice(0, -1) : [{ ...cut, event_ids: cut.event_ids.slice(0, limit) }];
}

const isSameWindow = (one: LateGroup, other: LateGroup): boolean =>
  one.window_from.equals(other.window_from) && one.external_subscription_id === other.external_subscription_id;
