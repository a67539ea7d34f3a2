import type { Temporal } from 'temporal-polyfill';
import type { GroupedBy } from '../../../../engine/metrics/group-values.ts';
import type { Scope } from '../../../../platform/db/scope.ts';
import type {
  ChargeFilterId,
  ChargeId,
  CorrectionId,
  EventId,
  FeeId,
  InvoiceId,
  SubscriptionId,
} from '../../../../platform/ids.ts';
import { MOST_PERIODS } from '../../../usage/event-corrections/periods.ts';
import { isCorrected } from './fees-of-events.ts';
import { firstMoments } from './stored-chains.ts';

/** A charge whose units the line of an invoice carried into the period that it opened, as fees on no invoice. */
export interface Renewal {
  subscription_id: SubscriptionId;
  charge_id: ChargeId;
  invoice_id: InvoiceId;
}

/**
 * Stores the periods after corrected events that were opened with units as fees on no invoice, at most 36 a charge.
 * These fees were made with the first invoice of their line, whatever became of that invoice.
 *
 * Rules: in-advance.md#units-of-one-event, event-corrections.md#effect "recurring metric".
 */
export const insertRenewals = (
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  eventIds: readonly EventId[],
) => db`
  with moment as (${firstMoments({ db, organizationId }, eventIds)}), stored as (
    insert into correction_renewals as kept (organization_id, correction_id, subscription_id, charge_id, billed_at,
      invoice_id)
    select ${organizationId}::uuid, ${correctionId}::uuid, subscription_id, charge_id, billed_at, invoice_id
    from (
      select distinct s.id as subscription_id, c.id as charge_id, line.billed_at, line.invoice_id,
        dense_rank() over (partition by c.id order by line.billed_at) as nth
      from moment
      join billable_metrics m on m.organization_id = ${organizationId} and m.code = moment.code and m.recurring
      join charges c on c.organization_id = ${organizationId} and c.billable_metric_id = m.id and c.pay_in_advance
        and not c.invoiceable
      join subscriptions s on s.organization_id = ${organizationId} and s.external_id = moment.external_subscription_id
      join invoice_subscriptions line on line.organization_id = ${organizationId} and line.subscription_id = s.id
        and line.invoicing_reason in ('subscription_periodic', 'subscription_starting') and line.billed_at > moment.at
      join invoices i on i.organization_id = ${organizationId} and i.id = line.invoice_id
        and i.status <> 'generating' and not i.skip_usage and i.voided_invoice_id is null
      where (s.plan_id = c.plan_id and c.deleted_at is null and c.created_at <= i.created_at)
        or exists (
          select from fees f
          where f.organization_id = ${organizationId} and f.subscription_id = s.id and f.charge_id = c.id
            and f.fee_type = 'charge' and f.event_transaction_id is null and f.correction_id is null
            and f.from_datetime <= line.billed_at and f.from_datetime > line.billed_at - interval '25 hours')
    ) found
    where nth <= ${MOST_PERIODS}
    on conflict (correction_id, subscription_id, charge_id, billed_at) do update set settled_at = null
    returning true
  )
  select count(*) from stored`;

/** Periods that a correction still has to settle, earliest first. */
export const listRenewals = ({ db, organizationId }: Scope, correctionId: CorrectionId) => db<Renewal[]>`
  select subscription_id, charge_id, invoice_id from correction_renewals
  where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
  order by billed_at, subscription_id, charge_id`;

export const markRenewalsSettled = (
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  now: Temporal.Instant,
) => db`
  update correction_renewals set settled_at = ${now}
  where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null`;

/**
 * Fees on no invoice by which a charge opened a period, oldest first: those that count, and those that were deleted and
 * stay deleted.
 */
export const listRenewedFees = (
  { db, organizationId }: Scope,
  { subscription_id, charge_id }: Renewal,
  from: Temporal.Instant,
) => db<{ id: FeeId; is_live: boolean; charge_filter_id: ChargeFilterId | null; grouped_by: GroupedBy }[]>`
  select fee.id, fee.deleted_at is null as is_live, fee.charge_filter_id, fee.grouped_by
  from fees fee
  where fee.organization_id = ${organizationId} and fee.subscription_id = ${subscription_id}
    and fee.charge_id = ${charge_id} and fee.fee_type = 'charge' and fee.event_transaction_id is null
    and fee.correction_id is null and not fee.invoiceable and fee.from_datetime = ${from}
    and (fee.deleted_at is null or not ${isCorrected(db)})
  order by fee.id`;
