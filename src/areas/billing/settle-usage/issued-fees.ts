import { wholeInputs } from '../../../engine/explain/shared-inputs.ts';
import type { StoredFeeInputs } from '../../../engine/explain/stored-inputs.ts';
import type { GroupedBy } from '../../../engine/metrics/group-values.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ChargeFilterId, ChargeId, FeeId, InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import type { StoredInParts } from '../../invoices/fee-explanations/queries.ts';
import { type FeeRow, listFeesOfInvoice } from '../../invoices/fees/queries.ts';
import { formerInvoices } from '../../invoices/invoices/former-invoices.ts';
import type { BilledItemKey } from './billed-items.ts';

/** A fee of an issued invoice with what it was computed from. */
export interface IssuedFee {
  fee: FeeRow;
  /** Of a copy what its first fee was computed from; null of imported ones. */
  inputs: StoredFeeInputs | null;
  /** The fee that it is a copy of, on the invoice that was issued first; itself if it is none. */
  first: Pick<FeeRow, 'id' | 'true_up_parent_fee_id'>;
  /** Whether a regeneration changed or added it. */
  isChanged: boolean;
}

/** Fees with what they were computed from, in the given order. Rule: event-corrections.md#regenerated-invoices. */
export async function withInputs({ db, organizationId }: Scope, fees: readonly FeeRow[]): Promise<IssuedFee[]> {
  if (fees.length === 0) return [];
  const rows = await db<
    (Pick<IssuedFee, 'isChanged'> &
      StoredInParts & {
        copy_id: FeeId;
        fee_id: FeeId;
        true_up_parent_fee_id: FeeId | null;
      })[]
  >`
    with recursive source as (
      select stored.fee_id as copy_id, stored.fee_id, stored.inputs, stored.shared_with, 0 as nth
      from fee_inputs stored
      where stored.organization_id = ${organizationId} and stored.fee_id = any (${fees.map(({ id }) => id)}::uuid[])
      union all
      select source.copy_id, former.fee_id, former.inputs, former.shared_with, source.nth + 1
      from source
      join fee_inputs former on former.organization_id = ${organizationId}
        and former.fee_id = (source.inputs #>> '{facts,fee_id}')::uuid
      where source.inputs #>> '{facts,kind}' = 'copied'
    )
    select distinct on (source.copy_id) source.copy_id, source.inputs, keeper.shared_inputs, fee.id as fee_id,
      fee.true_up_parent_fee_id,
      coalesce(invoice.voided_invoice_id is not null and source.inputs #>> '{facts,kind}' is distinct from 'copied',
        false) as "isChanged"
    from source
    join fees fee on fee.organization_id = ${organizationId} and fee.id = source.fee_id
    left join invoices invoice on invoice.organization_id = fee.organization_id and invoice.id = fee.invoice_id
    left join fee_inputs keeper on keeper.organization_id = ${organizationId} and keeper.fee_id = source.shared_with
    order by source.copy_id, source.nth desc`;
  const byFee = new Map(rows.map((row) => [row.copy_id, row]));
  return fees.map((fee): IssuedFee => {
    const row = byFee.get(fee.id);
    if (row === undefined) return { fee, inputs: null, first: fee, isChanged: false };
    const { fee_id: id, true_up_parent_fee_id, isChanged } = row;
    return { fee, inputs: wholeInputs(row.inputs, row.shared_inputs), first: { id, true_up_parent_fee_id }, isChanged };
  });
}

/** Fees of an invoice without those that bill differences of other invoices. */
export async function issuedFees(scope: Scope, invoiceId: InvoiceId): Promise<IssuedFee[]> {
  const rows = await listFeesOfInvoice(scope, invoiceId);
  return withInputs(
    scope,
    rows.filter(({ correction_id }) => correction_id === null),
  );
}

/** The item of a fee for usage or of a commitment. */
export const itemOfFee = ({ fee, first }: IssuedFee): BilledItemKey => ({
  subscription_id: fee.subscription_id!,
  kind: fee.fee_type === 'commitment' ? 'commitment' : first.true_up_parent_fee_id === null ? 'usage' : 'true_up',
  charge_id: fee.charge_id,
  charge_filter_id: fee.charge_filter_id,
  grouped_by: fee.grouped_by,
});

/** The item of a fee that an invoice billed for usage. */
export interface FormerItem extends BilledItemKey {
  charge_id: ChargeId;
}

/**
 * What the voided invoices in whose place an invoice was made had billed for usage. Rule:
 * event-corrections.md#regenerated-invoices.
 */
export async function listFormerItems(
  { db, organizationId }: Scope,
  { invoiceId, invoiceIds }: { invoiceId: InvoiceId; invoiceIds: readonly InvoiceId[] },
): Promise<FormerItem[]> {
  const formerIds = invoiceIds.filter((id) => id !== invoiceId);
  if (formerIds.length === 0) return [];
  return db<
    (FormerItem & { subscription_id: SubscriptionId; charge_filter_id: ChargeFilterId | null; grouped_by: GroupedBy })[]
  >`
    select distinct subscription_id, case when true_up_parent_fee_id is null then 'usage' else 'true_up' end as kind,
      charge_id, charge_filter_id, grouped_by
    from fees
    where organization_id = ${organizationId} and invoice_id = any (${formerIds}::uuid[]) and charge_id is not null
      and correction_id is null and deleted_at is null and (amount_cents <> 0 or units <> 0)`;
}

/** An invoice with all that were made in place of the same first one: that one comes first. */
export async function listInPlace({ db, organizationId }: Scope, invoiceId: InvoiceId): Promise<InvoiceId[]> {
  const rows = await db<{ id: InvoiceId }[]>`
    ${formerInvoices({ db, organizationId }, invoiceId)}, made as (
      select id, 0 as nth from former where voided_invoice_id is null
      union all
      select next.id, made.nth + 1
      from made
      join invoices next on next.organization_id = ${organizationId} and next.voided_invoice_id = made.id
    )
    select id from made order by nth, id`;
  return rows.map(({ id }) => id);
}
