import type { Temporal } from 'temporal-polyfill';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Decimal } from '../../../engine/money/decimal.ts';
import type { FeeType } from '../../../engine/taxes/choose-taxes.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type {
  ChargeFilterId,
  ChargeId,
  FeeId,
  FixedChargeId,
  InvoiceId,
  SubscriptionId,
} from '../../../platform/ids.ts';

/** Key of what a fee bills, by which an adjustment finds its fee when the draft is computed again. */
export interface BilledThing {
  subscription_id: SubscriptionId;
  fee_type: FeeType;
  charge_id: ChargeId | null;
  charge_filter_id: ChargeFilterId | null;
  fixed_charge_id: FixedChargeId | null;
  grouped_by: GroupedBy;
  from_datetime: Temporal.Instant;
  to_datetime: Temporal.Instant;
}

/** What was set by hand about one fee of a draft. Rule: usage-fees.md#adjusted-fees. */
export interface AdjustedFeeRow extends BilledThing {
  id: string;
  /** Id that the fee keeps while it is adjusted. */
  fee_id: FeeId;
  units: Decimal | null;
  /** In the main unit. */
  unit_precise_amount: Decimal | null;
  invoice_display_name: string | null;
  created_at: Temporal.Instant;
}

export const listAdjustedFees = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<AdjustedFeeRow[]>`
  select id, fee_id, subscription_id, fee_type, charge_id, charge_filter_id, fixed_charge_id, grouped_by, from_datetime,
    to_datetime, units, unit_precise_amount, invoice_display_name, created_at
  from adjusted_fees
  where organization_id = ${organizationId} and invoice_id = ${invoiceId}
  order by id`;

export const insertAdjustedFee = ({ db, organizationId }: Scope, invoiceId: InvoiceId, row: AdjustedFeeRow) => db`
  insert into adjusted_fees ${db(columnValues({ organization_id: organizationId, invoice_id: invoiceId, ...row }))}`;

/** @returns whether it existed */
export async function deleteAdjustedFee(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
  feeId: FeeId,
): Promise<boolean> {
  const rows = await db`
    delete from adjusted_fees
    where organization_id = ${organizationId} and invoice_id = ${invoiceId} and fee_id = ${feeId}
    returning id`;
  return rows.length > 0;
}

/** A fee on a draft that may be adjusted; true-ups follow the fees that they complete. */
export interface AdjustableFee extends BilledThing {
  id: FeeId;
}

export const listAdjustableFees = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<AdjustableFee[]>`
  select id, subscription_id, fee_type, charge_id, charge_filter_id, fixed_charge_id, grouped_by, from_datetime,
    to_datetime
  from fees
  where organization_id = ${organizationId} and invoice_id = ${invoiceId} and deleted_at is null
    and true_up_parent_fee_id is null and correction_id is null and subscription_id is not null
    and from_datetime is not null
  order by created_at, id`;
