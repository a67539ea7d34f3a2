import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { PaymentProviderId, ReconciliationId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { RECONCILIATION_STATUSES, RunsQuery } from './schema.ts';

/** What a run has counted so far. */
export interface Counts {
  compared: number;
  equal: number;
  /** Of the provider's account, and not ours. */
  foreign: number;
  /** Ours that are not final, and of which the provider does not tell; absent in older runs. */
  unreadable?: number;
  /** By kind. */
  drifts: Record<string, number>;
}

export const NOTHING_COUNTED: Counts = { compared: 0, equal: 0, foreign: 0, unreadable: 0, drifts: {} };

export interface RunRow {
  id: ReconciliationId;
  status: (typeof RECONCILIATION_STATUSES)[number];
  payment_provider_id: PaymentProviderId | null;
  provider_code: string | null;
  from_at: Temporal.Instant;
  to_at: Temporal.Instant | null;
  counts: Counts;
  error: { code: string; message: string; svc_resource_id: string | null } | null;
  created_at: Temporal.Instant;
  started_at: Temporal.Instant | null;
  finished_at: Temporal.Instant | null;
}

const columns = (db: Db) => db`
  run.id, run.status, run.payment_provider_id, provider.code as provider_code, run.from_at, run.to_at, run.counts,
  run.error, run.created_at, run.started_at, run.finished_at`;

const tables = (db: Db) => db`
  provider_reconciliations run
  left join payment_providers provider on provider.organization_id = run.organization_id
    and provider.id = run.payment_provider_id`;

/** @throws Refusal 404 provider_reconciliation */
export async function getRun({ db, organizationId }: Scope, id: string): Promise<RunRow> {
  const [row] = isUuid(id)
    ? await db<RunRow[]>`
      select ${columns(db)} from ${tables(db)} where run.organization_id = ${organizationId} and run.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('provider_reconciliation');
  return row;
}

/** A page of runs, newest first, and how many there are. */
export async function listRuns({ db, organizationId }: Scope, query: RunsQuery) {
  const { limit, offset } = limitOf(query);
  const passing = db`run.organization_id = ${organizationId}
    ${query.payment_provider_code === undefined ? db`` : db`and provider.code = ${query.payment_provider_code}`}`;
  const [rows, [count]] = await Promise.all([
    db<RunRow[]>`
      select ${columns(db)} from ${tables(db)} where ${passing}
      order by run.created_at desc, run.id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from ${tables(db)} where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}

/** How many runs of the organization are not at their end. */
export async function countOpenRuns({ db, organizationId }: Scope): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) from provider_reconciliations
    where organization_id = ${organizationId} and status in ('pending', 'running')`;
  return row!.count;
}

export const insertRun = (
  { db, organizationId }: Scope,
  run: {
    id: ReconciliationId;
    providerId: PaymentProviderId | null;
    from: Temporal.Instant;
    to: Temporal.Instant | null;
    now: Temporal.Instant;
  },
) => db`
  insert into provider_reconciliations (id, organization_id, payment_provider_id, status, from_at, to_at, counts,
    created_at, updated_at)
  values (${run.id}, ${organizationId}, ${run.providerId}, 'pending', ${run.from}, ${run.to},
    ${json(NOTHING_COUNTED)}, ${run.now}, ${run.now})`;
