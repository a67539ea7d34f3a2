import type { Temporal } from 'temporal-polyfill';
import type { Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeId, CustomerId, ExternalSubscriptionId, InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { countedAt } from './first-invoice.ts';

/** A charge on an invoice whose usage a correction changes, with its window and the state of the invoice. */
export interface ConcernedCharge {
  invoice_id: InvoiceId;
  is_draft: boolean;
  subscription_id: SubscriptionId;
  charge_id: ChargeId;
  charges_from_datetime: Temporal.Instant;
  charges_to_datetime: Temporal.Instant;
}

/** How many periods of a recurring metric one correction changes at most (event-corrections.md#effect). */
export const MOST_PERIODS = 36;

/**
 * Charges in arrears on invoices whose windows hold one of these moments; of a recurring metric the windows from the
 * moment on, at most 36. Invoices that no longer count are left out, and so are progressive ones, because the next one
 * is cumulative, and charges created after the invoice.
 *
 * moments       rows (code, timestamp): where events were, and where they will be
 * withRenewals  also charges in advance whose units are carried into the periods that these invoices open
 *
 * Rule: event-corrections.md#effect.
 */
export const listConcernedCharges = (
  { db, organizationId }: Scope,
  externalSubscriptionId: ExternalSubscriptionId,
  { moments, withRenewals }: { moments: Fragment; withRenewals: boolean },
) => db<ConcernedCharge[]>`
  select invoice_id, is_draft, subscription_id, charge_id, charges_from_datetime, charges_to_datetime
  from (
    select found.*, dense_rank() over (partition by charge_id, is_draft order by charges_from_datetime,
      invoice_id) as nth
    from (
      select distinct i.id as invoice_id, i.status = 'draft' as is_draft, s.id as subscription_id, c.id as charge_id,
        line.charges_from_datetime, line.charges_to_datetime
      from (${moments}) moment
      join billable_metrics m on m.organization_id = ${organizationId} and m.code = moment.code
      join charges c on c.organization_id = ${organizationId} and c.billable_metric_id = m.id
        and c.invoiceable and ${withRenewals ? db`(not c.pay_in_advance or m.recurring)` : db`not c.pay_in_advance`}
      join subscriptions s on s.organization_id = ${organizationId} and s.external_id = ${externalSubscriptionId}
      join invoice_subscriptions line on line.organization_id = ${organizationId} and line.subscription_id = s.id
        and line.invoicing_reason in ('subscription_periodic', 'subscription_terminating')
        and not line.regenerated and line.charges_to_datetime > moment.timestamp
        and (m.recurring or date_trunc('milliseconds', line.charges_from_datetime) <= moment.timestamp)
      join invoices i on i.organization_id = ${organizationId} and i.id = line.invoice_id
        and i.status not in ('voided', 'deleted') and not i.skip_usage
      where (s.plan_id = c.plan_id and c.deleted_at is null
          and (i.status = 'draft' or c.created_at <= ${countedAt(db, 'i')}))
        or exists (
          select from fees f
          where f.organization_id = ${organizationId} and f.invoice_id = i.id and f.subscription_id = s.id
            and f.charge_id = c.id and f.deleted_at is null and f.correction_id is null)
    ) found
  ) ranked
  where nth <= ${MOST_PERIODS}
  order by charges_from_datetime, invoice_id, charge_id`;

/** Draft invoices that are refreshed with the corrected usage. */
export const flagDrafts = ({ db, organizationId }: Scope, invoiceIds: readonly InvoiceId[]) => db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${organizationId} and id = any (${invoiceIds}::uuid[]) and status = 'draft'
    and not ready_to_be_refreshed`;

/**
 * Active subscriptions of an external id: their alerts and thresholds are evaluated again (events.md#after-storing
 * (2)).
 */
export const markSubscriptions = ({ db, organizationId }: Scope, externalSubscriptionId: ExternalSubscriptionId) => db`
  update subscriptions set usage_may_have_changed = true
  where organization_id = ${organizationId} and external_id = ${externalSubscriptionId} and status = 'active'
    and not usage_may_have_changed`;

/** Customers who have, or had, a subscription of an external id, in the order in which they are locked. */
export const listCustomersOf = ({ db, organizationId }: Scope, externalSubscriptionId: ExternalSubscriptionId) => db<
  { customer_id: CustomerId; external_id: string }[]
>`
  select distinct s.customer_id, c.external_id
  from subscriptions s join customers c on c.organization_id = s.organization_id and c.id = s.customer_id
  where s.organization_id = ${organizationId} and s.external_id = ${externalSubscriptionId}
  order by s.customer_id`;

/** Locks the customers of several subscriptions by their ids until the transaction ends. */
export const lockCustomersOf = (
  { db, organizationId }: Scope,
  externalSubscriptionIds: readonly ExternalSubscriptionId[],
) => db`
  select id from customers
  where organization_id = ${organizationId} and id = any (array(
    select customer_id from subscriptions
    where organization_id = ${organizationId} and external_id = any (${externalSubscriptionIds}::text[])))
  order by id
  for no key update`;
