import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type {
  CustomerId,
  ExternalCustomerId,
  PaymentId,
  PaymentProviderId,
  ProviderDriftId,
} from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { limitOf } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type Action, type DriftKind, type Figures, ruleOf } from './drift-kinds.ts';
import type { DRIFT_STATUSES, DriftsQuery } from './schema.ts';

export interface DriftRow {
  id: ProviderDriftId;
  connection_id: PaymentProviderId;
  provider_code: string;
  kind: DriftKind;
  severity: 'warning' | 'error';
  status: (typeof DRIFT_STATUSES)[number];
  provider_object_id: string;
  payment_id: PaymentId | null;
  customer_id: CustomerId | null;
  external_customer_id: ExternalCustomerId | null;
  ours: Figures | null;
  theirs: Figures | null;
  resolution: object | null;
  /** Since when the provider is asked to give a double payment back; then nothing else is done. */
  refund_asked_at: Temporal.Instant | null;
  refund_id: string | null;
  /** The provider's own word. */
  refund_status: string | null;
  first_seen_at: Temporal.Instant;
  last_seen_at: Temporal.Instant;
  closed_at: Temporal.Instant | null;
}

const columns = (db: Db) => db`
  drift.id, drift.connection_id, provider.code as provider_code, drift.kind, drift.severity, drift.status,
  drift.provider_object_id, drift.payment_id, drift.customer_id, customer.external_id as external_customer_id,
  drift.ours, drift.theirs, drift.resolution, drift.refund_asked_at, drift.refund_id, drift.refund_status,
  drift.first_seen_at, drift.last_seen_at, drift.closed_at`;

const tables = (db: Db) => db`
  provider_drifts drift
  join payment_providers provider on provider.organization_id = drift.organization_id
    and provider.id = drift.connection_id
  left join customers customer on customer.organization_id = drift.organization_id
    and customer.id = drift.customer_id`;

/** What a person may do about a drift as it is: while money is being given back, nothing else. */
export const actionsOf = ({ kind, status, refund_asked_at }: DriftRow): readonly Action[] => {
  if (status !== 'open') return [];
  return refund_asked_at === null ? ruleOf(kind).actions : ['refund'];
};

/** @throws Refusal 404 provider_drift */
export async function getDrift({ db, organizationId }: Scope, id: string): Promise<DriftRow> {
  const [row] = isUuid(id)
    ? await db<DriftRow[]>`
      select ${columns(db)} from ${tables(db)} where drift.organization_id = ${organizationId} and drift.id = ${id}`
    : [];
  if (!row) throw refuse.notFound('provider_drift');
  return row;
}

/** A drift, locked until the transaction ends. @throws Refusal 404 provider_drift */
export async function lockDrift(scope: Scope, id: ProviderDriftId): Promise<DriftRow> {
  await scope.db`select from provider_drifts where organization_id = ${scope.organizationId} and id = ${id} for update`;
  return getDrift(scope, id);
}

/** A page of drifts, newest first, and how many there are. */
export async function listDrifts({ db, organizationId }: Scope, query: DriftsQuery) {
  const { limit, offset } = limitOf(query);
  const { payment_provider_code: code, external_customer_id: customer, payment_id: payment } = query;
  const passing = db`drift.organization_id = ${organizationId}
    ${query.kinds === undefined ? db`` : db`and drift.kind = any (${query.kinds})`}
    ${query.statuses === undefined ? db`` : db`and drift.status = any (${query.statuses})`}
    ${code === undefined ? db`` : db`and provider.code = ${code}`}
    ${customer === undefined ? db`` : db`and customer.external_id = ${customer}`}
    ${payment === undefined ? db`` : db`and drift.payment_id::text = ${payment}`}`;
  const [rows, [count]] = await Promise.all([
    db<DriftRow[]>`
      select ${columns(db)} from ${tables(db)} where ${passing}
      order by drift.first_seen_at desc, drift.id desc limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from ${tables(db)} where ${passing}`,
  ]);
  return { rows, totalCount: count!.total };
}

/** Open drifts of all organizations by kind. */
export const countOpenByKind = (db: Db) => db<{ kind: string; count: number }[]>`
  select kind, count(*) from provider_drifts where status = 'open' group by 1`;
