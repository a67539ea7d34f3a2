import type { Sql } from '../../platform/db/connect.ts';
import type { LogTable } from './partitions.ts';

export const HOURS_OF_A_DAY = 24;

/** The longest time for which any organization keeps a log, in days; those without a word of their own keep `usual`. */
export async function longestLogDays(sql: Sql, table: LogTable, usual: number): Promise<number> {
  const period = table === 'security_logs' ? sql`null::integer` : sql`organization.audit_logs_period_days`;
  const [row] = await sql<{ days: number | null }[]>`
    select max(coalesce(rule.days, ${period}, ${usual})) as days
    from organizations organization
    left join retention_rules rule on rule.organization_id = organization.id and rule.class = ${table}`;
  return row?.days ?? usual;
}
