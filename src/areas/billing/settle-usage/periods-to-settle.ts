import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CorrectionId, InvoiceId } from '../../../platform/ids.ts';
import type { ConcernedCharge } from '../../usage/event-corrections/periods.ts';

/** Stores the charges on issued invoices that a correction has to settle; stored ones stay. */
export async function insertPeriods(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  concerned: readonly ConcernedCharge[],
): Promise<void> {
  if (concerned.length === 0) return;
  const rows = concerned.map(
    ({ invoice_id, subscription_id, charge_id, charges_from_datetime, charges_to_datetime }) => ({
      invoice_id,
      subscription_id,
      charge_id,
      charges_from_datetime,
      charges_to_datetime,
    }),
  );
  await db`
    insert into correction_periods (organization_id, correction_id, invoice_id, subscription_id, charge_id,
      charges_from_datetime, charges_to_datetime)
    select ${organizationId}::uuid, ${correctionId}::uuid, invoice_id, subscription_id, charge_id,
      charges_from_datetime,
      charges_to_datetime
    from jsonb_to_recordset(${json(rows)}::jsonb) as period (invoice_id uuid, subscription_id uuid, charge_id uuid,
      charges_from_datetime timestamptz, charges_to_datetime timestamptz)
    on conflict do nothing`;
}

/** Charges of the earliest invoice that a correction still has to settle. */
export const listNextPeriods = ({ db, organizationId }: Scope, correctionId: CorrectionId) => db<ConcernedCharge[]>`
  select invoice_id, false as is_draft, subscription_id, charge_id, charges_from_datetime, charges_to_datetime
  from correction_periods
  where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
    and invoice_id = (
      select invoice_id from correction_periods
      where organization_id = ${organizationId} and correction_id = ${correctionId} and settled_at is null
      order by charges_from_datetime, invoice_id limit 1)
  order by subscription_id, charge_id`;

export const markSettled = (
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  { invoiceId, now }: { invoiceId: InvoiceId; now: Temporal.Instant },
) => db`
  update correction_periods set settled_at = ${now}
  where organization_id = ${organizationId} and correction_id = ${correctionId} and invoice_id = ${invoiceId}
    and settled_at is null`;

/**
 * Lets a correction settle, instead of a voided invoice, the one that counts of those that were made in the place of
 * the same first one.
 *
 * @returns whether there is one
 * Rule: event-corrections.md#regenerated-invoices.
 */
export async function movePeriods(
  { db, organizationId }: Scope,
  correctionId: CorrectionId,
  { voidedId, invoiceIds }: { voidedId: InvoiceId; invoiceIds: readonly InvoiceId[] },
): Promise<boolean> {
  const rows = await db`
    with standing as (
      select id from invoices
      where organization_id = ${organizationId} and id = any (${invoiceIds}::uuid[])
        and status not in ('voided', 'deleted')
      order by id desc limit 1
    ), moved as (
      insert into correction_periods (organization_id, correction_id, invoice_id, subscription_id, charge_id,
        charges_from_datetime, charges_to_datetime)
      select period.organization_id, period.correction_id, standing.id, period.subscription_id, period.charge_id,
        period.charges_from_datetime, period.charges_to_datetime
      from correction_periods period cross join standing
      where period.organization_id = ${organizationId} and period.correction_id = ${correctionId}
        and period.invoice_id = ${voidedId} and period.settled_at is null
      on conflict do nothing
    )
    delete from correction_periods period using standing
    where period.organization_id = ${organizationId} and period.correction_id = ${correctionId}
      and period.invoice_id = ${voidedId} and period.settled_at is null
    returning 1`;
  return rows.length > 0;
}

/** Whether an invoice has reached an end state; one that is yet to be issued has not. */
export async function readState(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
): Promise<{ is_issued: boolean; is_voided: boolean }> {
  const [row] = await db<{ is_issued: boolean; is_voided: boolean }[]>`
    select status not in ('draft', 'generating', 'open', 'pending', 'failed') as is_issued,
      status = 'voided' as is_voided
    from invoices where organization_id = ${organizationId} and id = ${invoiceId}`;
  return row ?? { is_issued: true, is_voided: false };
}

export const lockInvoice = ({ db, organizationId }: Scope, id: InvoiceId) => db`
  select from invoices where organization_id = ${organizationId} and id = ${id} for update`;
