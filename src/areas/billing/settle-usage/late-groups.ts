import type { Temporal } from 'temporal-polyfill';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CorrectionId,
  EventId,
  ExternalSubscriptionId,
  InvoiceId,
  OrganizationId,
} from '../../../platform/ids.ts';
import { firstIdAt } from '../../../platform/ids.ts';
import type { Page as DuePage, Reach } from '../../../platform/periodic-job.ts';
import { lateEventsPolicy } from '../../catalog/usage-policies/queries.ts';
import type { Policy } from '../../catalog/usage-policies/schema.ts';
import { countedAt } from '../../usage/event-corrections/first-invoice.ts';
import { isClosed } from '../../usage/event-retention/closed-time.ts';
import { isInArrival, isLive } from '../../usage/events/live-events.ts';

/** Overlap for events of a batch that was still being stored during the last look. */
const OVERLAP_MS = 600_000;

/** Late events of one subscription and window that came under the same policy. */
export interface LateGroup {
  external_subscription_id: ExternalSubscriptionId;
  window_from: Temporal.Instant;
  policy: Policy;
  event_ids: EventId[];
}

/** An id with another time, by so much; ids of one millisecond keep their order. */
const moved = (id: string, byMs: number): string => {
  const epochMilliseconds = Number.parseInt(id.slice(0, 13).replace('-', ''), 16) + byMs;
  return `${firstIdAt({ epochMilliseconds }).slice(0, 14)}${id.slice(14)}`;
};

const before = (id: string): string => moved(id, -OVERLAP_MS);
const earliest = (...ids: string[]): string => ids.sort()[0]!;
const latest = (...ids: string[]): string => ids.sort().at(-1)!;

/** Which events are looked at, and for which invoices. */
interface Looked {
  invoiceId?: InvoiceId;
  events?: Fragment;
  /** Also for an invoice that waits for its taxes or its first payment: its usage is counted. */
  orWaits?: boolean;
}

/** When an id was made, in milliseconds, as SQL. */
const madeAtMs = (db: Db, id: Fragment) => db`('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint`;

/**
 * What stands after `from`: those of some live events `e` that came late for a final invoice, the earliest or a certain
 * one, or also for one that waits, where the policy when they came was not to ignore them.
 */
const lateEvents = (
  db: Db,
  organizationId: Fragment,
  which: Fragment,
  { invoiceId, events = db`events`, orWaits = false }: Looked = {},
) => db`
  ${events} e
  cross join lateral (
    select line.charges_from_datetime as window_from, line.invoice_id,
      ${lateEventsPolicy(db, organizationId, { planId: db`s.plan_id`, eventId: db`e.id` })} as policy
    from billable_metrics m
    join subscriptions s on s.organization_id = ${organizationId} and s.external_id = e.external_subscription_id
    join charges c on c.organization_id = ${organizationId} and c.billable_metric_id = m.id and c.plan_id = s.plan_id
      and not c.pay_in_advance and c.invoiceable and c.deleted_at is null
    join invoice_subscriptions line on line.organization_id = ${organizationId} and line.subscription_id = s.id
      and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating') and not line.regenerated
      and line.charges_to_datetime > e.timestamp
      and (m.recurring or date_trunc('milliseconds', line.charges_from_datetime) <= e.timestamp)
    join invoices i on i.organization_id = ${organizationId} and i.id = line.invoice_id
      and ${
        orWaits
          ? db`i.status not in ('draft', 'generating', 'voided', 'deleted')`
          : db`i.status in ('finalized', 'closed')`
      } and not i.skip_usage
      and ${countedAt(db, 'i')} <= e.created_at ${invoiceId === undefined ? db`` : db`and i.id = ${invoiceId}`}
    where m.organization_id = ${organizationId} and m.code = e.code and m.deleted_at is null
    order by line.charges_from_datetime
    limit 1
  ) late
  where e.organization_id = ${organizationId} and ${which} and ${isLive(db, db`e`)} and late.policy <> 'ignore'
    and not ${isClosed(db, eventOf(db, organizationId))}`;

const eventOf = (db: Db, organizationId: Fragment) => ({
  organizationId,
  subscription: db`e.external_subscription_id`,
  code: db`e.code`,
  at: db`e.timestamp`,
});

/**
 * Organizations with a policy for late events, now or lately, so that events that came under it have their turn, and
 * how far their events were examined.
 */
const withPolicy = (db: Db) => db`
  organizations organization
  left join late_event_cursors seen on seen.organization_id = organization.id
  where exists (
    select from late_event_policies held
    where held.organization_id = organization.id and held.policy <> 'ignore' and not exists (
      select from late_event_policies later
      where later.organization_id = held.organization_id and later.plan_id is not distinct from held.plan_id
        and later.from_id > held.from_id
        -- What came under the former policy may be stored up to the end of the overlap: it is looked at once more.
        and ${madeAtMs(db, db`later.from_id`)} < ${madeAtMs(db, db`seen.seen_id`)} - ${OVERLAP_MS}::bigint))`;

/**
 * Organizations whose events are to be looked at: in real time all with a policy, because looking at the events of an
 * hour for each is cheaper than asking which have late ones; else the one of the clock, while it has events that were
 * not looked at.
 */
export const listLateOrganizations = (db: Db, reach: Reach, page: DuePage) => {
  const rows = keyset(db, page, db`organization.id`);
  return db<({ organization_id: OrganizationId; sandbox: boolean; seen_id: string | null } & Placed)[]>`
  select organization.id as organization_id, organization.sandbox, seen.seen_id, ${rows.place}
  from ${withPolicy(db)} and ${inReach(db, reach, db`organization.id`)}
    ${
      reach === 'real-time'
        ? db``
        : db`and (seen.seen_id is null or exists (
            select from events e
            where e.organization_id = organization.id and ${isInArrival(db)} and e.id > seen.seen_id))`
    }
    and ${rows.isBehind}
  ${rows.order}`;
};

/**
 * How far events were looked at, locked; of an organization that is looked at for the first time, what came before its
 * first policy. Undefined: it never had one.
 */
export async function lockCursor({ db, organizationId }: Scope): Promise<string | undefined> {
  await db`
    insert into late_event_cursors (organization_id, seen_id)
    select ${organizationId}::uuid, from_id from late_event_policies
    where organization_id = ${organizationId} and policy <> 'ignore'
    order by from_id limit 1
    on conflict do nothing`;
  const [row] = await db<{ seen_id: string }[]>`
    select seen_id from late_event_cursors where organization_id = ${organizationId} for update`;
  return row?.seen_id;
}

/**
 * From where on events are to be looked at: how far they were, or where the next policy begins, since what came while
 * every policy was to ignore it is not late. Undefined: no policy holds any more.
 */
export async function findLookFrom({ db, organizationId }: Scope, seenId: string): Promise<string | undefined> {
  const [row] = await db<{ from_id: string }[]>`
    select greatest(held.from_id, ${seenId}) as from_id
    from late_event_policies held
    where held.organization_id = ${organizationId} and held.policy <> 'ignore' and not exists (
      select from late_event_policies later
      where later.organization_id = held.organization_id and later.plan_id is not distinct from held.plan_id
        and later.from_id > held.from_id and later.from_id <= ${before(seenId)})
    order by 1
    limit 1`;
  return row?.from_id;
}

/** A part of an organization's events, in the order of their ids. */
export interface Stretch {
  afterId: string;
  /** Null: to the end. */
  untilId: string | null;
}

/** Where a look is: how far events were looked at for good, and the last one that this look has seen. */
interface Reached {
  seenId: string;
  afterId: string | null;
}

/** The next events to be looked at, from where `findLookFrom` says on: at most `limit`, deleted ones too. */
export async function findStretch(
  { db, organizationId }: Scope,
  from: string,
  { afterId, limit }: { afterId: Reached['afterId']; limit: number },
): Promise<Stretch> {
  const start = afterId === null ? before(from) : latest(before(from), afterId);
  const [last] = await db<{ id: string }[]>`
    select e.id from events e
    where e.organization_id = ${organizationId} and ${isInArrival(db)} and e.id > ${start}
    order by e.id
    offset ${limit - 1}::int limit 1`;
  return { afterId: start, untilId: last?.id ?? null };
}

/**
 * How far events are looked at for good, once a stretch was: the next look goes back by the overlap from there. It
 * stays where it is when a former stretch of the same look ended within the overlap before its `now`, because events
 * before that end may have been stored since.
 *
 * now  an id made before the stretch was looked at
 */
export const seenAfter = ({ seenId, afterId }: Reached, { untilId }: Stretch, now: string): string => {
  if (afterId !== null && before(seenId) < afterId) return seenId;
  return untilId === null ? now : earliest(moved(untilId, OVERLAP_MS), now);
};

/** @returns how far it is now; it never goes back */
export async function moveCursor({ db, organizationId }: Scope, seenId: string): Promise<string> {
  const [row] = await db<{ seen_id: string }[]>`
    update late_event_cursors set seen_id = greatest(seen_id, ${seenId})
    where organization_id = ${organizationId}
    returning seen_id`;
  return row!.seen_id;
}

/**
 * Late events that no correction has priced, by subscription, window and policy, in the order of the windows; those
 * that came first go first.
 */
const listGroups = (
  { db, organizationId }: Scope,
  which: Fragment,
  { isPriced = db`true`, ...of }: Looked & { isPriced?: Fragment } = {},
) => db<LateGroup[]>`
  select e.external_subscription_id, late.window_from, late.policy, array_agg(e.id::text order by e.id) as event_ids
  from ${lateEvents(db, db`${organizationId}::uuid`, which, of)}
    and not exists (
      select from taken_late_events taken
      where taken.organization_id = ${organizationId} and taken.event_id = e.id and ${isPriced})
  group by e.external_subscription_id, late.window_from, late.policy
  order by late.window_from, e.external_subscription_id, min(e.id::text)`;

/** Those of a stretch. The planner reads it by id, whatever it believes of its size. */
export const listLateGroups = (scope: Scope, { afterId, untilId }: Stretch, limit: number) =>
  listGroups(scope, untilId === null ? scope.db`true` : scope.db`e.id <= ${untilId}::uuid`, {
    events: scope.db`(
      select * from events e
      where e.organization_id = ${scope.organizationId} and ${isInArrival(scope.db)} and e.id > ${afterId}
      order by e.id
      limit ${limit}::int)`,
  });

const hasPolicy = ({ db, organizationId }: Scope) => db`
  exists (select from late_event_policies held
    where held.organization_id = ${organizationId} and held.policy <> 'ignore')`;

/** Those among some events, also of an invoice that waits. */
export const listLateGroupsAmong = (scope: Scope, eventIds: readonly EventId[]) =>
  listGroups(scope, scope.db`e.id = any (${eventIds}::uuid[]) and ${hasPolicy(scope)}`, { orWaits: true });

/** Where usage of an invoice is looked at: a metric of a subscription. */
interface LookedAt {
  external_subscription_id: ExternalSubscriptionId;
  code: string;
  /** Null for a metric whose units go on into later periods. */
  from: Temporal.Instant | null;
  to: Temporal.Instant;
}

/** Usage up to which an invoice was looked at, in the order of subscriptions, codes and timestamps. */
export interface SeenUsage {
  external_subscription_id: ExternalSubscriptionId;
  code: string;
  /** Null: none of the metric. */
  timestamp: string | null;
}

/** Metrics of the subscriptions of an invoice from a certain one on, while the organization has a policy. */
export const listLookedAt = (scope: Scope, invoiceId: InvoiceId, seen: SeenUsage | null) => scope.db<LookedAt[]>`
  select s.external_id as external_subscription_id, m.code, max(line.charges_to_datetime) as to,
    case when not m.recurring then date_trunc('milliseconds', min(line.charges_from_datetime)) end as from
  from invoice_subscriptions line
  join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
  join charges c on c.organization_id = line.organization_id and c.plan_id = s.plan_id
    and not c.pay_in_advance and c.invoiceable and c.deleted_at is null
  join billable_metrics m on m.organization_id = line.organization_id and m.id = c.billable_metric_id
    and m.deleted_at is null
  where line.organization_id = ${scope.organizationId} and line.invoice_id = ${invoiceId}
    and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating') and not line.regenerated
    and (s.external_id, m.code) >= (${seen?.external_subscription_id ?? ''}, ${seen?.code ?? ''})
    and ${hasPolicy(scope)}
  group by s.external_id, m.code, m.recurring
  order by s.external_id, m.code`;

interface Page {
  events_count: number;
  until: Temporal.Instant | null;
  /** Those that are stored later than an id. */
  ids: EventId[];
}

/** The next events of a metric after a timestamp: at most `limit` and those of the last one's timestamp. */
export async function readPage(
  { db, organizationId }: Scope,
  { external_subscription_id, code, from, to }: LookedAt,
  { seen, afterId, limit }: { seen: string | null; afterId: InvoiceId; limit: number },
): Promise<Page> {
  const [page] = await db<Page[]>`
    select count(*)::int as events_count, max(timestamp) as until,
      coalesce(array_agg(id::text) filter (where id > ${afterId}), '{}') as ids
    from (
      select id, timestamp from events
      where organization_id = ${organizationId} and external_subscription_id = ${external_subscription_id}
        and code = ${code} and deleted_at is null and timestamp < ${to}
        and timestamp >= coalesce(${from}::timestamptz, '-infinity')
        and timestamp > coalesce(${seen}::timestamptz, '-infinity')
      order by timestamp
      fetch first (${limit}::int) rows with ties
    ) page`;
  return page!;
}

/**
 * Those among some events that are late for a certain invoice: events that no correction has taken in, or that were
 * taken in although nothing was to be settled then, when the invoice was voided.
 */
export const listLateGroupsOf = (scope: Scope, invoiceId: InvoiceId, eventIds: readonly EventId[]) =>
  listGroups(scope, scope.db`e.id = any (${eventIds}::uuid[])`, {
    isPriced: scope.db`(taken.correction_id is not null or e.version > 1)`,
    invoiceId,
  });

/**
 * Corrections of late events that were settled without an invoice, since it was voided and not made anew yet, with
 * those of some events that they took in.
 */
export const listSettledWithout = (
  { db, organizationId }: Scope,
  { invoiceId, invoiceIds, eventIds }: { invoiceId: InvoiceId; invoiceIds: InvoiceId[]; eventIds: readonly EventId[] },
) => db<{ correction_id: CorrectionId; event_ids: EventId[] }[]>`
  select taken.correction_id, array_agg(taken.event_id::text order by taken.event_id) as event_ids
  from taken_late_events taken
  cross join ${lateEvents(db, db`${organizationId}::uuid`, db`e.id = any (${eventIds}::uuid[])`, { invoiceId })}
    and taken.organization_id = ${organizationId} and taken.event_id = e.id and taken.correction_id is not null
    and not exists (
      select from correction_periods period
      where period.correction_id = taken.correction_id and period.organization_id = taken.organization_id
        and period.invoice_id = any (${invoiceIds}::uuid[]))
  group by taken.correction_id`;

/**
 * Corrections of late events that have settled nothing on an invoice although some of these are late for it, since it
 * was voided and not made anew yet: with the earliest one of each recurring metric, because what is late for a period
 * is late for the following ones. Those that come before the first of the invoices concern none of them.
 */
export const listSettledWithoutAny = (
  { db, organizationId }: Scope,
  { invoiceId, invoiceIds }: { invoiceId: InvoiceId; invoiceIds: InvoiceId[] },
) => db<{ external_subscription_id: ExternalSubscriptionId; correction_id: CorrectionId; event_ids: EventId[] }[]>`
  select e.external_subscription_id, e.correction_id, array_agg(e.id::text) as event_ids
  from ${lateEvents(db, db`${organizationId}::uuid`, db`true`, {
    invoiceId,
    orWaits: true,
    events: db`(
      with counted as materialized (
        select ${countedAt(db, 'i')} as at from invoices i
        where i.organization_id = ${organizationId} and i.id = ${invoiceId}
      )
      select distinct on (correction.id, e.code) e.*, correction.id as correction_id
      from (
        select distinct s.external_id
        from invoice_subscriptions line
        join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
        where line.organization_id = ${organizationId} and line.invoice_id = ${invoiceId}
      ) of_invoice
      join event_corrections correction on correction.organization_id = ${organizationId}
        and correction.external_subscription_id = of_invoice.external_id and correction.kind = 'late_events'
        and correction.id > ${invoiceIds[0]!}::uuid
      join taken_late_events taken on taken.organization_id = ${organizationId}
        and taken.correction_id = correction.id
      join events e on e.organization_id = ${organizationId} and e.id = taken.event_id
        and ${isLive(db, db`e`)}
      join billable_metrics m on m.organization_id = ${organizationId} and m.code = e.code and m.recurring
        and m.deleted_at is null
      cross join counted
      where counted.at <= e.created_at and not exists (
        select from correction_periods period
        where period.correction_id = correction.id and period.organization_id = ${organizationId}
          and period.invoice_id = any (${invoiceIds}::uuid[]))
      order by correction.id, e.code, e.timestamp)`,
  })}
  group by e.external_subscription_id, e.correction_id
  order by e.external_subscription_id, e.correction_id`;
