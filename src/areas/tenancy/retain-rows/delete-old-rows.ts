import type { Temporal } from 'temporal-polyfill';
import type { Fragment, Sql } from '../../../platform/db/connect.ts';
import { firstIdAt } from '../../../platform/ids.ts';
import type { RetentionClassName } from '../retention/retention-classes.ts';
import type { LogTable } from './log-partitions.ts';

export const HOURS_OF_A_DAY = 24;

/** Rows of organizations that keep a class for this many days, older than that. */
export interface Selection {
  name: RetentionClassName;
  /** Days for organizations without a rule; null leaves them out. */
  usual: number | null;
  days: number;
  before: Temporal.Instant;
}

/**
 * The longest time for which any organization keeps a log, in days; organizations without a rule keep it `usual` days.
 */
export async function longestLogDays(sql: Sql, table: LogTable, usual: number): Promise<number> {
  const period = table === 'security_logs' ? sql`null::integer` : sql`organization.audit_logs_period_days`;
  const [row] = await sql<{ days: number | null }[]>`
    select max(coalesce(rule.days, ${period}, ${usual})) as days
    from organizations organization
    left join retention_rules rule on rule.organization_id = organization.id and rule.class = ${table}`;
  return row?.days ?? usual;
}

/** The different numbers of days for which organizations keep a class. */
export async function listDays(sql: Sql, name: RetentionClassName, usual: number | null): Promise<number[]> {
  const rows = await sql<{ days: number }[]>`
    select days from retention_rules where class = ${name} and days is not null
    union select ${usual}::integer where ${usual}::integer is not null
    order by days`;
  return rows.map((row) => row.days);
}

/** Whether the organization of a row keeps the class for the selection's days. */
export const keeps = (sql: Sql, organizationId: Fragment, { name, usual, days }: Selection) => sql`
  coalesce((
    select rule.days from retention_rules rule
    where rule.organization_id = ${organizationId} and rule.class = ${name}), ${usual}) = ${days}`;

export const deleteDeliveries = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from webhook_deliveries where id = any (array(
    select d.id from webhook_endpoints endpoint
    join webhook_deliveries d on d.organization_id = endpoint.organization_id and d.webhook_endpoint_id = endpoint.id
    where d.updated_at < ${selection.before} and ${keeps(sql, sql`endpoint.organization_id`, selection)}
    limit ${limit}))`;

export const deleteInboundEvents = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from inbound_events where id = any (array(
    select event.id from inbound_events event
    where event.updated_at < ${selection.before} and ${keeps(sql, sql`event.organization_id`, selection)}
    limit ${limit}))`;

/** Healed or ignored events; their ids contain real time, which no test clock changes. */
export const deleteUnmatchedEvents = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from unmatched_events where ctid = any (array(
    select event.ctid from unmatched_events event
    where event.status in ('healed', 'ignored') and event.event_id < ${firstIdAt(selection.before)}
      and coalesce(event.healed_at, event.first_seen_at) < ${selection.before}
      and ${keeps(sql, sql`event.organization_id`, selection)}
    limit ${limit}))`;

/** Compared by id, which contains real time. */
export const deleteVerifications = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from verifications where id = any (array(
    select made.id from verifications made
    where made.id < ${firstIdAt(selection.before)} and ${keeps(sql, sql`made.organization_id`, selection)}
    limit ${limit}))`;

/** Mails that are on their way no more, with the copies that sandboxes keep; by id, which contains real time. */
export const deleteMails = (sql: Sql, selection: Selection, limit: number) => sql`
  with gone as (
    delete from mails where id = any (array(
      select mail.id from mails mail
      where mail.id < ${firstIdAt(selection.before)} and mail.status in ('sent', 'failed', 'unsent')
        and ${keeps(sql, sql`mail.organization_id`, selection)}
      limit ${limit}))
    returning id
  ), copies as (
    delete from sandbox_mails where id in (select id from gone)
  )
  select id from gone`;

/** Texts of mails that are on their way no more. */
export const deleteMailTexts = (sql: Sql, before: Temporal.Instant, limit: number) => sql`
  update mails set body = '', html = null where id = any (array(
    select id from mails
    where id < ${firstIdAt(before)} and status in ('sent', 'failed', 'unsent') and body <> ''
    limit ${limit}))`;

export const deleteWebhookHours = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from webhook_hours where ctid = any (array(
    select sums.ctid from webhook_hours sums
    where sums.hour < ${selection.before} and ${keeps(sql, sql`sums.organization_id`, selection)}
    limit ${limit}))`;

/** Days of wallets, but not the last one, which every later day is as; those of test clocks lie at any time. */
export const deleteWalletDays = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from wallet_days where ctid = any (array(
    select old.ctid from wallet_days old
    where old.day < (${selection.before}::timestamptz at time zone 'UTC')::date
      and ${keeps(sql, sql`old.organization_id`, selection)}
      and not exists (select from test_clocks clock where clock.organization_id = old.organization_id)
      and exists (
        select from wallet_days later
        where later.organization_id = old.organization_id and later.wallet_id = old.wallet_id and later.day > old.day
          and later.day < (${selection.before}::timestamptz at time zone 'UTC')::date)
    limit ${limit}))`;

export const deleteEventVolumes = (sql: Sql, selection: Selection, limit: number) => sql`
  delete from event_volume_hours where ctid = any (array(
    select sums.ctid from event_volume_hours sums
    where sums.hour < ${selection.before} and ${keeps(sql, sql`sums.organization_id`, selection)}
    limit ${limit}))`;
