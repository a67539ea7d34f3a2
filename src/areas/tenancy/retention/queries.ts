import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Config } from '../../../platform/config.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import { classOf, type RetentionClassName } from './retention-classes.ts';

const HOURS_OF_A_DAY = 24;

export interface ChosenRetention {
  /** Null uses the service's setting. */
  audit_logs_period_days: number | null;
  /** Days by class, of the classes that have a rule. */
  rules: Partial<Record<RetentionClassName, number | null>>;
}

/** The days that an organization chose. */
export async function readRetention({ db, organizationId }: Scope): Promise<ChosenRetention> {
  const [row] = await db<ChosenRetention[]>`
    select audit_logs_period_days, (
      select coalesce(jsonb_object_agg(class, days), '{}') from retention_rules
        where organization_id = ${organizationId}
    ) as rules
    from organizations where id = ${organizationId}`;
  assert(row, 'the organization of a key exists');
  return row;
}

/** Days that rows of a class are kept; null = for ever. */
export function daysOf(chosen: ChosenRetention, name: RetentionClassName, config: Config): number | null {
  const rule = chosen.rules[name];
  if (rule !== undefined) return rule;
  const { default: days } = classOf(name);
  if (days === 'audit_logs_period') return chosen.audit_logs_period_days ?? config.AUDIT_LOGS_PERIOD_DAYS;
  if (days === 'events_raw_days') return config.EVENTS_RAW_DAYS ?? null;
  return days === 'webhook_events_period' ? config.FEED_RETENTION_DAYS : days;
}

/** Real time since which rows of a log are shown. Rule: logs.md#storage. */
export async function shownSince(
  ctx: Pick<Context, 'db' | 'organizationId' | 'config'>,
  log: 'activity_logs' | 'api_logs' | 'security_logs',
): Promise<Temporal.Instant> {
  const days = daysOf(await readRetention(ctx), log, ctx.config);
  assert(days !== null, 'logs are kept for a number of days');
  return realNow().subtract({ hours: HOURS_OF_A_DAY * days });
}

export const upsertRules = (
  { db, organizationId }: Scope,
  rules: { class: RetentionClassName; days: number }[],
  at: Temporal.Instant,
) => db`
  insert into retention_rules (organization_id, class, days, updated_at)
  select ${organizationId}::uuid, class, days, ${at}
  from jsonb_to_recordset(${json(rules)}::jsonb) as row (class text, days integer)
  on conflict (organization_id, class) do update set days = excluded.days, updated_at = excluded.updated_at`;
