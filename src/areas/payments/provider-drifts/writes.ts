import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import type { PaymentProviderId, ProviderDriftId, ReconciliationId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { type Figures, type FoundDrift, OF_MONEY, ruleOf } from './drift-kinds.ts';
import { type DriftRow, getDrift } from './queries.ts';
import { driftView } from './view.ts';

/**
 * Keeps a difference at a provider: a known one that is open is seen again, a new one is announced. One that a person
 * has resolved comes back only with other figures, a double payment that was given back not by a run. What a person has
 * said of other money there holds whatever state our payment takes after that: it may be ended for this very reason.
 *
 * @param runId  the run that found it; null: an event did
 * @returns its id; undefined if it was resolved before
 * Rule: provider-reconciliation.md#states.
 */
export async function noteDrift(
  ctx: Context,
  connectionId: PaymentProviderId,
  drift: FoundDrift,
  runId: ReconciliationId | null = null,
): Promise<ProviderDriftId | undefined> {
  const { kind, objectId, ours, theirs } = drift;
  const [kept] = await ctx.db<{ id: ProviderDriftId; is_new: boolean }[]>`
    insert into provider_drifts (id, organization_id, connection_id, kind, severity, status, provider_object_id,
      payment_id, customer_id, ours, theirs, run_id, first_seen_at, last_seen_at)
    select ${newId()}, ${ctx.organizationId}::uuid, ${connectionId}::uuid, ${kind}, ${ruleOf(kind).severity}, 'open',
      ${objectId}, ${drift.paymentId}::uuid, ${drift.customerId}::uuid, ${json(ours)}::jsonb, ${json(theirs)}::jsonb,
      ${runId}::uuid, ${ctx.now()}, ${ctx.now()}
    where not exists (
      select from (
        select status, resolution, ours, theirs from provider_drifts
        where organization_id = ${ctx.organizationId} and connection_id = ${connectionId} and kind = ${kind}
          and provider_object_id = ${objectId} and status <> 'open'
        order by closed_at desc limit 1) last
      where last.status = 'resolved' and ${hasSameFigures(ctx, 'theirs', theirs)}
          and (${OF_MONEY.includes(kind)}::boolean or ${hasSameFigures(ctx, 'ours', ours)})
        or last.status = 'repaired' and last.resolution ->> 'action' = 'refund')
    on conflict (connection_id, kind, provider_object_id) where status = 'open' do update set
      ours = excluded.ours, theirs = excluded.theirs, run_id = coalesce(excluded.run_id, provider_drifts.run_id),
      last_seen_at = excluded.last_seen_at
    returning id, xmax = 0 as is_new`;
  if (kept?.is_new) await announceDrift(ctx, kept.id);
  return kept?.id;
}

/**
 * Condition: a side has the status and money that it had. An event and a run say different things besides, such as what
 * a payment has settled.
 */
const hasSameFigures = ({ db }: Context, side: 'ours' | 'theirs', figures: Figures | null) => db`
  (last.${db(side)} ->> 'status', last.${db(side)} ->> 'amount_cents', last.${db(side)} ->> 'currency')
  is not distinct from (${json(figures)}::jsonb ->> 'status', ${json(figures)}::jsonb ->> 'amount_cents',
    ${json(figures)}::jsonb ->> 'currency')`;

async function announceDrift(ctx: Context, id: ProviderDriftId): Promise<void> {
  const drift = await getDrift(ctx, id);
  ctx.record({
    webhook: {
      type: 'provider_drift.found',
      objectType: 'provider_drift',
      objectId: id,
      customerId: drift.customer_id,
      object: driftView(drift),
    },
  });
}

/** Ends an open drift. @returns whether it was open */
export async function closeDrift(
  { db, organizationId, now }: Context,
  id: ProviderDriftId,
  { status, resolution = null }: { status: Exclude<DriftRow['status'], 'open'>; resolution?: object | null },
): Promise<boolean> {
  const closed = await db`
    update provider_drifts set status = ${status}, resolution = ${json(resolution)}, closed_at = ${now()}
    where organization_id = ${organizationId} and id = ${id} and status = 'open' returning id`;
  return closed.length > 0;
}

/** Keeps open drifts of objects of which a run says nothing yet, because their events may be on their way. */
export const keepOpen = (
  { db, organizationId }: Context,
  connectionId: PaymentProviderId,
  runId: ReconciliationId,
  objectIds: readonly string[],
) => db`
  update provider_drifts set run_id = ${runId}
  where organization_id = ${organizationId} and connection_id = ${connectionId} and status = 'open'
    and provider_object_id = any (${objectIds})`;

/**
 * Ends the open drifts of a connection that a run has looked for and not found again: their object was listed, or what
 * was reserved is released.
 */
export async function endVanishedDrifts(
  { db, organizationId, now }: Context,
  connectionId: PaymentProviderId,
  runId: ReconciliationId,
): Promise<void> {
  await db`
    update provider_drifts drift set status = 'vanished', closed_at = ${now()}
    where drift.organization_id = ${organizationId} and drift.connection_id = ${connectionId} and drift.status = 'open'
      and drift.run_id is distinct from ${runId} and drift.refund_asked_at is null
      and not exists (select from provider_drifts found
        where found.connection_id = drift.connection_id and found.provider_object_id = drift.provider_object_id
          and found.status = 'open' and found.run_id = ${runId})
      and (exists (select from provider_objects_seen seen
          where seen.run_id = ${runId} and seen.connection_id = ${connectionId}
            and seen.object_id = drift.provider_object_id)
        or drift.kind = 'authorization_open' and exists (select from authorizations held
          where held.organization_id = drift.organization_id and held.id::text = drift.provider_object_id
            and held.released_at is not null))`;
}
