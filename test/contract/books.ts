import type { Sql } from '../../src/platform/db/connect.ts';
import { until } from '../support/until.ts';

/** Waits until no step is due, so that nothing moves by itself. */
export const everythingDone = (sql: Sql) =>
  until(async () => {
    const [left] = await sql`
      select (select count(*) from after_steps where due_at is null and failed_at is null) as steps`;
    return Number(left!.steps) === 0 ? true : undefined;
  });

// Tables that other work than requests touches at any time. The sums of held credit follow the clock; holds are
// compared.
const MOVING = [
  'webhook_deliveries',
  'webhook_hours',
  'event_volumes',
  'webhooks',
  'audit_runs',
  'audits',
  'after_steps',
  'ledger_tail',
  'ledger_daily',
  'wallet_held',
];
// What repeated deliveries note about their endpoint.
const HEALTH = ['consecutive_failures', 'failures_since', 'circuit_open_until'];

/** A digest of each table's rows of an organization; `besides`: tables that the requests are noted in. */
export async function booksOf(
  sql: Sql,
  organizationId: string,
  besides: readonly string[] = [],
): Promise<Record<string, string>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and not c.relispartition
    order by 1`;
  const digests = await Promise.all(
    tables
      .filter(({ name }) => !MOVING.includes(name) && !besides.includes(name))
      .map(async ({ name }) => {
        const [row] = await sql<{ digest: string | null }[]>`
          select md5(string_agg(shown.row, E'\n' order by shown.row)) as digest
          from ${sql(name)} t
          cross join lateral (select (to_jsonb(t) - ${HEALTH}::text[])::text as row) shown
          where organization_id = ${organizationId}`;
        return [name, row!.digest ?? ''] as const;
      }),
  );
  return Object.fromEntries(digests);
}
