import type { Temporal } from 'temporal-polyfill';
import { holdOrganizationNow } from '../../../platform/clock/organization-clock.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import type { Fragment, Tx } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { OrganizationId, PaymentProviderId, ReconciliationId } from '../../../platform/ids.ts';
import {
  CredentialsRefused,
  type ProviderError,
  ProviderRefusal,
  TooManyCalls,
} from '../../../platform/payments/port.ts';
import { Later } from '../../../platform/payments/provider-calls.ts';
import { transact, transactHoldingClock } from '../../../platform/records/transact.ts';
import { Outage } from '../../../platform/refusal.ts';
import type { RefundOfDrift } from '../collect-payments/follow-refund-of-drift.ts';
import type { FoundDrift } from '../provider-drifts/drift-kinds.ts';
import { endVanishedDrifts, keepOpen, noteDrift } from '../provider-drifts/writes.ts';
import type { Connected, NetworkDeps } from '../provider-network/network.ts';
import { connected } from '../provider-network/network.ts';
import { RECONCILE_JOB } from '../provider-reconciliations/commands.ts';
import type { Counts } from '../provider-reconciliations/queries.ts';
import type { Compared } from './compare-lists.ts';
import { type Place, readPage } from './pages.ts';
import { type Cursor, currentPlace, nextPhase, placeAfterOutage, placeElsewhere, type StoredCursor } from './places.ts';
import { followFoundRefund, repairByItself } from './repair.ts';

/** Pause between two pages: five of them a second leave a provider's calls to the charges. */
const PAUSE_MS = 200;
/** A run that its providers have kept from its end for so long is given up; the next day has its own. */
const GIVEN_UP_AFTER_HOURS = 24;

interface Run {
  id: ReconciliationId;
  payment_provider_id: PaymentProviderId | null;
  status: 'pending' | 'running';
  from_at: Temporal.Instant;
  to_at: Temporal.Instant | null;
  cursor: StoredCursor | null;
  counts: Counts;
  error: object | null;
  started_at: Temporal.Instant;
  /** Whether its organization is a sandbox. */
  sandbox: boolean;
}

/**
 * Job `payment.reconcile`: compares one page of what a provider holds with ours and comes back for the next. Where it
 * is stands in the run's row, so that another worker goes on after any stop. Of one organization one run works. A run
 * whose provider gives no answer goes on with its other connections, and when it has none it lets other runs work.
 *
 * @throws Later, while there are more pages; TooManyCalls
 * Rule: provider-reconciliation.md#runs.
 */
export async function reconcile(
  deps: NetworkDeps,
  {
    organization_id: organizationId,
    provider_reconciliation_id: id,
  }: { organization_id: OrganizationId; provider_reconciliation_id: ReconciliationId },
): Promise<void> {
  const scope = { db: deps.sql, organizationId };
  const run = await startRun(scope, id);
  if (!run) return;
  if (isTooOld(run)) return finish(deps, organizationId, run, TOO_LONG);
  const place = await currentPlace(scope, run);
  if (!place) return finish(deps, organizationId, run, null);
  const connection = await connected(deps, organizationId, place.connection_id, run);
  const page = await readNext(scope, run, connection, place);
  if (page === 'no answer') {
    if (!(await goElsewhere(deps, organizationId, run, place))) return;
  } else await storePage(deps, organizationId, { run, place, connection, page });
  throw new Later(PAUSE_MS);
}

interface Page {
  /** Undefined: the connection has nothing more. */
  next: Place | undefined;
  /** Compares in the transaction that stores what was found. */
  compare(ctx: Context): Promise<readonly Compared[]>;
  error?: ProviderError;
}

/** The page of a place, or of the next phase that the connection has anything for. */
async function readNext(
  scope: Scope,
  run: Run,
  connection: Connected | undefined,
  place: Place,
): Promise<Page | 'no answer'> {
  const window = { runId: run.id, from: run.from_at, to: run.to_at, startedAt: run.started_at };
  try {
    for (let at: Place | undefined = connection ? place : undefined; at; at = nextPhase(at)) {
      const page = await readPage(scope, connection!, at, window);
      if (page) return { compare: page.compare, next: page.next === null ? nextPhase(at) : { ...at, at: page.next } };
    }
    return { compare: async () => [], next: undefined };
  } catch (error) {
    // Nothing more is to be had of this connection.
    if (error instanceof ProviderRefusal || error instanceof CredentialsRefused)
      return { compare: async () => [], next: undefined, error: error.error };
    if (error instanceof Outage && !(error instanceof TooManyCalls)) return 'no answer';
    throw error;
  }
}

/**
 * Leaves a provider that gives no answer. @returns whether the run has another connection to go on with; else it waits,
 * and is taken up again by its sweep
 */
async function goElsewhere(deps: NetworkDeps, organizationId: OrganizationId, run: Run, place: Cursor) {
  const scope = { db: deps.sql, organizationId };
  const { cursor, isElsewhere } = await placeAfterOutage(scope, run, place);
  await transactHoldingClock(deps, organizationId, async ({ db, after }) => {
    await db`
      update provider_reconciliations set cursor = ${json(cursor)}, updated_at = ${realNow()},
        status = ${isElsewhere ? 'running' : 'pending'}
      where organization_id = ${organizationId} and id = ${run.id} and status = 'running'
        and cursor is not distinct from ${json(run.cursor)}::jsonb`;
    const next = isElsewhere ? undefined : await longestWaiting({ db, organizationId }, run);
    if (next) after({ nudge: RECONCILE_JOB, payload: { provider_reconciliation_id: next } });
  });
  return isElsewhere;
}

async function storePage(
  deps: NetworkDeps,
  organizationId: OrganizationId,
  { run, place, connection, page }: { run: Run; place: Cursor; connection: Connected | undefined; page: Page },
): Promise<void> {
  const owed: FoundDrift[] = [];
  const refunds: RefundOfDrift[] = [];
  const present = (tx: Tx) => holdOrganizationNow({ db: tx, organizationId }, run.sandbox);
  await transact(deps, { id: organizationId, sandbox: run.sandbox }, present, async (ctx) => {
    // Another worker may have been faster.
    const [mine] = await ctx.db`
      select from provider_reconciliations
      where organization_id = ${organizationId} and id = ${run.id} and status = 'running'
        and cursor is not distinct from ${json(run.cursor)}::jsonb for update`;
    if (!mine) return;
    const found = await page.compare(ctx);
    refunds.push(...found.flatMap(({ refundOfDrift }) => refundOfDrift ?? []));
    const { counts, seen } = await keepFound(ctx, { run, place, found, owed });
    const error = page.error && {
      code: page.error.code,
      message: page.error.message,
      svc_resource_id: place.connection_id,
    };
    const listed = insertSeen(ctx, run, place, seen);
    if (page.next) return goOn(ctx, run, { cursor: { ...place, ...page.next }, counts, error, with: listed });
    await listed;
    await leaveConnection(ctx, run, place, connection !== undefined && !page.error);
    await goOn(ctx, run, { cursor: await placeElsewhere(ctx, run, place), counts, error });
  });
  for (const refund of refunds) await followFoundRefund(deps, organizationId, connection!.row, refund);
  for (const drift of owed) await repairByItself(deps, organizationId, connection!.row, drift);
}

/** Where a run goes on, and what it has counted; `with` is done in the same statement. */
async function goOn(
  { db, organizationId }: Context,
  run: Run,
  state: { cursor: Cursor; counts: Counts; error: object | undefined; with?: Fragment },
): Promise<void> {
  await db`
    ${state.with ? db`with other as (${state.with})` : db``}
    update provider_reconciliations set cursor = ${json(state.cursor)}, counts = ${json(state.counts)},
      error = coalesce(error, ${json(state.error ?? null)}::jsonb), updated_at = ${realNow()}
    where organization_id = ${organizationId} and id = ${run.id}`;
}

/** Remembers objects of ours that a provider has listed. */
const insertSeen = ({ db, organizationId }: Context, run: Run, place: Place, seen: readonly string[]) => db`
  insert into provider_objects_seen (organization_id, run_id, connection_id, object_id)
  select distinct ${organizationId}::uuid, ${run.id}::uuid, ${place.connection_id}::uuid, object_id
  from unnest(${seen}::text[]) as object_id
  on conflict do nothing`;

async function keepFound(
  ctx: Context,
  { run, place, found, owed }: { run: Run; place: Place; found: readonly Compared[]; owed: FoundDrift[] },
): Promise<{ counts: Counts; seen: string[] }> {
  const counts: Counts = { ...run.counts, drifts: { ...run.counts.drifts } };
  const seen: string[] = [];
  const undecided: string[] = [];
  for (const each of found) {
    if ('verdict' in each && (each.verdict === 'foreign' || each.verdict === 'unreadable')) {
      counts[each.verdict] = (counts[each.verdict] ?? 0) + 1;
      continue;
    }
    counts.compared += 1;
    seen.push(each.objectId, ...(each.ourId === undefined ? [] : [each.ourId]));
    const isKept = 'drift' in each && (await noteDrift(ctx, place.connection_id, each.drift, run.id)) !== undefined;
    if (!isKept) {
      if ('verdict' in each && each.verdict === 'later') undecided.push(each.objectId);
      counts.equal += 1;
      continue;
    }
    counts.drifts[each.drift.kind] = (counts.drifts[each.drift.kind] ?? 0) + 1;
    if (each.repairsItself) owed.push(each.drift);
  }
  if (undecided.length > 0) await keepOpen(ctx, place.connection_id, run.id, undecided);
  return { counts, seen };
}

/** A connection is compared to its end: what was open and is equal now has vanished. */
async function leaveConnection(ctx: Context, run: Run, { connection_id: id }: Place, isSound: boolean): Promise<void> {
  if (isSound) {
    await endVanishedDrifts(ctx, id, run.id);
    await ctx.db`
      update payment_providers set reconciled_at = ${realNow()}
      where organization_id = ${ctx.organizationId} and id = ${id}`;
  }
  await ctx.db`delete from provider_objects_seen where run_id = ${run.id} and connection_id = ${id}`;
}

/** The run, once it is its turn; undefined while another one of the organization works, or when it has ended. */
async function startRun({ db, organizationId }: Scope, id: ReconciliationId): Promise<Run | undefined> {
  const [row] = await db<Run[]>`
    update provider_reconciliations run
    set status = 'running', started_at = coalesce(started_at, ${realNow()})
    where organization_id = ${organizationId} and id = ${id} and status in ('pending', 'running')
      and not exists (select from provider_reconciliations other
        where other.organization_id = ${organizationId} and other.status = 'running' and other.id <> ${id})
    returning id, payment_provider_id, status, from_at, to_at, cursor, counts, error, started_at,
      (select sandbox from organizations where id = ${organizationId}) as sandbox`.catch(
    (error: { constraint_name?: string }) => {
      if (error.constraint_name === 'provider_reconciliations_running_key') return [];
      throw error;
    },
  );
  return row;
}

const TOO_LONG = {
  code: 'provider_unreachable',
  message: 'The run could not end within a day.',
  svc_resource_id: null,
};

const isTooOld = ({ started_at }: Run): boolean =>
  realNow().epochMilliseconds > started_at.add({ hours: GIVEN_UP_AFTER_HOURS }).epochMilliseconds;

/** Ends a run, and nudges the one that waits for longest. */
async function finish(
  deps: NetworkDeps,
  organizationId: OrganizationId,
  run: Run,
  error: object | null,
): Promise<void> {
  await transactHoldingClock(deps, organizationId, async ({ db, after }) => {
    await db`
      update provider_reconciliations
      set status = case when coalesce(error, ${json(error)}::jsonb) is null then 'succeeded' else 'failed' end,
        error = coalesce(error, ${json(error)}::jsonb), finished_at = ${realNow()}, updated_at = ${realNow()}
      where organization_id = ${organizationId} and id = ${run.id} and status = 'running'`;
    await db`delete from provider_objects_seen where run_id = ${run.id}`;
    const next = await longestWaiting({ db, organizationId }, run);
    if (next) after({ nudge: RECONCILE_JOB, payload: { provider_reconciliation_id: next } });
  });
}

/** Another run that waits for its turn: one that nobody has begun or asked about for longest. */
async function longestWaiting({ db, organizationId }: Scope, run: Run): Promise<ReconciliationId | undefined> {
  const [waiting] = await db<{ id: ReconciliationId }[]>`
    select id from provider_reconciliations
    where organization_id = ${organizationId} and status = 'pending' and id <> ${run.id}
    order by updated_at, id limit 1`;
  return waiting?.id;
}
