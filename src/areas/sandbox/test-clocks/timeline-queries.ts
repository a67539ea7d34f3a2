import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';

export interface TimelineRow {
  sequence: number;
  at: Temporal.Instant;
  kind: 'clock' | 'job' | 'activity' | 'webhook' | 'payment';
  name: string;
  resource_type: string | null;
  resource_id: string | null;
  external_customer_id: ExternalCustomerId | null;
  summary: Record<string, unknown>;
}

export interface TimelineFilters {
  /** Simulated instants, both inclusive. */
  from: Temporal.Instant | undefined;
  to: Temporal.Instant | undefined;
  kinds: string[] | undefined;
  resource_types: string[] | undefined;
  external_customer_id: ExternalCustomerId | undefined;
}

/** Number of the first line of the present clock, or of the newest when it was deleted; undefined without any. */
export async function findFirstLine({ db, organizationId }: Scope): Promise<number | undefined> {
  const [row] = await db<{ first: number }[]>`
    select first from test_clock_timelines where organization_id = ${organizationId}`;
  return row?.first;
}

/** Lines from number `first` on, in their order. */
export async function listTimeline(
  { db, organizationId }: Scope,
  first: number,
  { filters, page }: { filters: TimelineFilters; page: Page },
): Promise<{ rows: TimelineRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const where = db`
    organization_id = ${organizationId} and sequence >= ${first}
    ${filters.from ? db`and at >= ${filters.from}` : db``}
    ${filters.to ? db`and at <= ${filters.to}` : db``}
    ${filters.kinds ? db`and kind = any (${filters.kinds}::text[])` : db``}
    ${filters.resource_types ? db`and resource_type = any (${filters.resource_types}::text[])` : db``}
    ${filters.external_customer_id ? db`and external_customer_id = ${filters.external_customer_id}` : db``}`;
  const [rows, [count]] = await Promise.all([
    db<TimelineRow[]>`
      select sequence, at, kind, name, resource_type, resource_id, external_customer_id, summary
      from test_clock_timeline where ${where} order by sequence limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`select count(*) as total from test_clock_timeline where ${where}`,
  ]);
  return { rows: [...rows], totalCount: count?.total ?? 0 };
}
