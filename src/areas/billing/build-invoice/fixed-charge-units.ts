import type { Temporal } from 'temporal-polyfill';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { AddOnId, FixedChargeId, SubscriptionId } from '../../../platform/ids.ts';
import type { BilledLine } from './lines.ts';

/** A record of the log of units. */
export interface StoredUnits {
  id: string;
  subscription_id: SubscriptionId;
  fixed_charge_id: FixedChargeId;
  units: Decimal;
  timestamp: Temporal.Instant;
}

/**
 * Units of the fixed charges of some lines in recorded order, including those of a fixed charge's parent. A draft that
 * is computed again does not see later records, which an invoice of their own bills, but it always sees the units of
 * the start, however far the clocks of two processes differ.
 */
export const listUnits = ({ db, organizationId }: Scope, lines: readonly BilledLine[]) => db<StoredUnits[]>`
  select record.id, record.subscription_id, record.fixed_charge_id, record.units, record.effective_at as timestamp
  from jsonb_to_recordset(${json(keysOf(lines))}::jsonb) as line (subscription_id uuid, invoice_id uuid,
    started_at timestamptz)
  join fixed_charge_units record on record.organization_id = ${organizationId}
    and record.subscription_id = line.subscription_id
  left join invoices invoice on invoice.organization_id = ${organizationId} and invoice.id = line.invoice_id
  where invoice.id is null or invoice.status = 'generating' or record.id < invoice.id
    or (record.effective_at <= line.started_at + interval '1 second' and not exists (
      select from fixed_charge_units older
      where older.organization_id = record.organization_id and older.subscription_id = record.subscription_id
        and older.fixed_charge_id = record.fixed_charge_id and older.id < record.id))
  order by record.id`;

/** A fee of a fixed charge in advance that an earlier invoice holds. */
export interface FormerFee {
  subscription_id: SubscriptionId;
  fixed_charge_id: FixedChargeId;
  add_on_id: AddOnId;
  units: Decimal;
  amount_cents: number;
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
  billed_at: Temporal.Instant;
}

/**
 * Fees in advance of the subscriptions of some lines and of those that they replaced, oldest first; for a draft that is
 * computed again, those that were there when it was made.
 */
export const listFormerFees = ({ db, organizationId }: Scope, lines: readonly BilledLine[]) => db<FormerFee[]>`
  select distinct on (fee.id) fee.subscription_id, fee.fixed_charge_id, fee.item_id as add_on_id, fee.units,
    fee.amount_cents,
    fee.from_datetime, fee.to_datetime, billed.billed_at
  from jsonb_to_recordset(${json(keysOf(lines))}::jsonb)
    as line (subscription_id uuid, former_id uuid, invoice_id uuid, since timestamptz)
  join fees fee on fee.organization_id = ${organizationId}
    and fee.subscription_id in (line.subscription_id, line.former_id) and fee.fixed_charge_id is not null
    and fee.pay_in_advance and fee.deleted_at is null and fee.to_datetime > line.since
  join invoices invoice on invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id
    and invoice.id <> line.invoice_id and invoice.status not in ('voided', 'deleted')
  left join invoices own on own.organization_id = fee.organization_id and own.id = line.invoice_id
  join invoice_subscriptions billed on billed.organization_id = fee.organization_id
    and billed.invoice_id = fee.invoice_id and billed.subscription_id = fee.subscription_id
  where own.id is null or own.status = 'generating' or invoice.id < own.id
  order by fee.id`;

const keysOf = (lines: readonly BilledLine[]) =>
  lines.map(({ subscription, windows }) => ({
    subscription_id: subscription.id,
    former_id: subscription.previous_subscription_id,
    invoice_id: subscription.billed_on_invoice_id,
    since: windows.fixedChargesInAdvance.from.toString(),
    started_at: subscription.started_at?.toString() ?? null,
  }));
