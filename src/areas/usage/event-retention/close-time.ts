import type { Temporal } from 'temporal-polyfill';
import type { Fragment, Sql } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { type ExternalSubscriptionId, firstIdAt } from '../../../platform/ids.ts';
import { lockCorrections } from '../event-corrections/lock-events.ts';

/** Subscriptions that one transaction closes; it holds the lock of corrections of each. */
const SUBSCRIPTIONS_A_PAGE = 500;

/** What may be closed: what was billed before `before`, at most up to `until`. */
export interface Closing {
  before: Temporal.Instant;
  until: Temporal.Instant;
  now: Temporal.Instant;
}

/**
 * Closes the time of an organization's subscriptions whose windows were billed long enough ago. From the commit on no
 * correction and no late event reaches into it; those that have begun are waited for, or keep it open.
 *
 * Rule: retention.md#raw-events.
 */
export async function closeTime(
  { db: sql, organizationId }: Scope<Sql>,
  closing: Closing,
  hold?: () => Promise<void>,
): Promise<void> {
  for (let after: ExternalSubscriptionId = ''; ; ) {
    await hold?.();
    const page = await listSubscriptions({ db: sql, organizationId }, after);
    const ids = page.map(({ external_id }) => external_id);
    const closable = await listClosable({ db: sql, organizationId }, ids, closing);
    if (closable.length > 0)
      await sql.begin(async (tx) => {
        const scope = { db: tx, organizationId };
        await lockCorrections(
          scope,
          closable.map(({ id }) => id),
        );
        await writeHorizons(
          scope,
          closable.map(({ id }) => id),
          closing,
        );
      });
    if (ids.length < SUBSCRIPTIONS_A_PAGE) return;
    after = ids.at(-1)!;
  }
}

const listSubscriptions = ({ db, organizationId }: Scope, after: ExternalSubscriptionId) => db<
  { external_id: ExternalSubscriptionId }[]
>`
  select distinct external_id from subscriptions
  where organization_id = ${organizationId} and external_id > ${after}
  order by external_id limit ${SUBSCRIPTIONS_A_PAGE}`;

const listClosable = (scope: Scope, ids: readonly ExternalSubscriptionId[], closing: Closing) =>
  scope.db<{ id: ExternalSubscriptionId }[]>`select id from ${closable(scope, ids, closing)} order by id`;

/** In a statement of its own, which sees what corrections did that were waited for. */
const writeHorizons = (scope: Scope, ids: readonly ExternalSubscriptionId[], closing: Closing) => scope.db`
  insert into event_horizons as former (organization_id, external_subscription_id, closed_before, closed_at, kept_codes)
  select ${scope.organizationId}::uuid, closable.id, closable.closed_before, ${closing.now}, array(
    select kept.code from (${keptCodes(scope)}) kept
    where not exists (
      select from removed_events removed
      where removed.organization_id = ${scope.organizationId} and removed.external_subscription_id = closable.id
        and removed.code = kept.code)
    order by kept.code)
  from ${closable(scope, ids, closing)}
  order by closable.id
  on conflict (organization_id, external_subscription_id) do update set
    closed_before = excluded.closed_before, closed_at = excluded.closed_at, kept_codes = excluded.kept_codes`;

/** Codes whose units go on into later windows, or are counted over the life of a subscription. */
const keptCodes = ({ db, organizationId }: Scope): Fragment => db`
  select distinct metric.code from billable_metrics metric
  where metric.organization_id = ${organizationId} and (
    metric.recurring or metric.aggregation_type = 'weighted_sum_agg'
    or exists (select from feature_usage_limits usage_limit
      where usage_limit.organization_id = ${organizationId} and usage_limit.billable_metric_id = metric.id
        and usage_limit.period = 'lifetime')
    or exists (select from alerts alert
      where alert.organization_id = ${organizationId} and alert.billable_metric_id = metric.id
        and alert.alert_type = 'billable_metric_lifetime_usage_units' and alert.deleted_at is null))`;

/**
 * SQL after `from`: subscriptions (id, closed_before) that can be closed further than they are. A window is over when
 * its invoice was finalized before `before`, in real time also where a test clock is. Whatever still has an open window
 * begins there; what was never billed begins with the subscription.
 */
const closable = (
  { db, organizationId }: Scope,
  ids: readonly ExternalSubscriptionId[],
  { before, until }: Closing,
): Fragment => db`
  (
    select billed.id, least(date_trunc('hour', billed.until, 'UTC'), ${until}) as closed_before
    from (
      select s.external_id as id, least(
        min(coalesce(windows.billed_until, s.started_at, s.subscription_at)) filter (where state.goes_on),
        min(windows.open_from),
        case when count(*) filter (where state.goes_on) = 0 then max(s.terminated_at) end
      ) as until, max(windows.billed_until) is not null or not bool_or(state.goes_on) as was_billed
      from subscriptions s
      join organizations organization on organization.id = s.organization_id
      cross join lateral (
        select s.status in ('pending', 'incomplete', 'active')
          or s.status = 'terminated' and (s.terminated_at >= ${before} and not organization.sandbox) as goes_on
      ) state
      cross join lateral (
        select max(line.charges_to_datetime) filter (where invoice.is_over) as billed_until,
          min(line.charges_from_datetime) filter (where not invoice.is_over) as open_from
        from invoice_subscriptions line
        cross join lateral (
          select i.status in ('finalized', 'closed') and i.id < ${firstIdAt(before)}
            and (coalesce(i.finalized_at, i.created_at) < ${before} or organization.sandbox) as is_over
          from invoices i
          where i.organization_id = ${organizationId} and i.id = line.invoice_id
            and i.status not in ('voided', 'deleted')
        ) invoice
        where line.organization_id = ${organizationId} and line.subscription_id = s.id
          and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating')
          and line.charges_from_datetime < line.charges_to_datetime
      ) windows
      where s.organization_id = ${organizationId} and s.external_id = any (${ids}::text[]) and s.status <> 'canceled'
      group by s.external_id
    ) billed
    left join event_horizons horizon on horizon.organization_id = ${organizationId}
      and horizon.external_subscription_id = billed.id
    where billed.was_billed
      and least(date_trunc('hour', billed.until, 'UTC'), ${until}) > coalesce(horizon.closed_before, '-infinity')
      and not exists (
        select from event_corrections correction
        where correction.organization_id = ${organizationId} and correction.external_subscription_id = billed.id
          and correction.status in ('pending', 'applied', 'failed') and not correction.dry_run)
      and not exists (
        select from gathered_late_events gathered
        where gathered.organization_id = ${organizationId} and gathered.external_subscription_id = billed.id)
      and not exists (
        select from usage_dirty_hours dirty
        where dirty.organization_id = ${organizationId} and dirty.external_subscription_id = billed.id)
      and not exists (
        select from usage_shapes shape
        where shape.organization_id = ${organizationId} and shape.state = 'building')
  ) closable`;
