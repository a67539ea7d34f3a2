import type { CreditingNote, NotedInvoice } from '../../../engine/invoices/progressive-rest.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ChargeFilterId, ChargeId, CustomerId, FeeId, InvoiceId, SubscriptionId } from '../../../platform/ids.ts';
import { readTakenOver } from '../../credits/credit-notes/progressive-parts.ts';
import { readCopies } from '../../invoices/fees/copied-fees.ts';
import { type ProgressivePartJson, progressivePartsOf } from '../../invoices/fees/queries.ts';
import { firstInvoiceOf } from '../../usage/event-corrections/first-invoice.ts';

/** A window whose progressive invoice is asked for: any instant in it. */
export interface AskedWindow {
  position: number;
  subscription_id: SubscriptionId;
  at: string;
}

interface NotedInvoiceRow {
  fees: ProgressiveFeeRow[];
  /** Those whose credit lowers what is left. */
  notes: {
    credit_amount_cents: number;
    taxes_amount_cents: number;
    total_amount_cents: number;
    items: {
      fee_id: FeeId;
      precise_amount_cents: string;
      /** The fees by which it had been taken over. */
      given_for_fee_ids: FeeId[] | null;
      given_part_cents: number | null;
      /** Given for a fee that is copied: it does not lower what is left. */
      copied: boolean;
    }[];
  }[];
}

interface ProgressiveInvoiceRow extends NotedInvoiceRow {
  position: number;
  id: string;
  /** Before notes. */
  left_cents: number;
  /** What other invoices took over. */
  drawn: ProgressivePartJson[];
}

export interface ProgressiveFeeRow {
  id: FeeId;
  charge_id: ChargeId;
  charge_filter_id: ChargeFilterId | FeeId | null;
  grouped_by: object;
  amount_cents: number;
  precise_coupons_amount_cents: string;
  untaxed_amount_cents: string;
  taxes_rate: string;
  progressive_parts: ProgressivePartJson[] | null;
}

/**
 * The newest progressive invoice of each requested window, with what is left of it to credit. Newest is the one that
 * billed last: one that was made anew keeps the place of the voided one.
 *
 * replaced  for an invoice that is made anew the voided one: only what was billed before it
 */
export const listProgressiveInvoices = (
  scope: Scope,
  customerId: CustomerId,
  asked: readonly AskedWindow[],
  replaced?: Replaced,
) => scope.db<ProgressiveInvoiceRow[]>`
  select asked.position, progressive.id,
    (progressive.fees_amount_cents - progressive.coupons_amount_cents - coalesce((
      select sum(credit.amount_cents)
      from credits credit
      join invoices used on used.organization_id = credit.organization_id and used.id = credit.invoice_id
      where credit.organization_id = ${scope.organizationId} and credit.progressive_billing_invoice_id = progressive.id
        and used.status not in ('voided', 'closed', 'deleted')), 0))::bigint as left_cents,
    ${feesAndNotes(scope, replaced)},
    coalesce((
      select jsonb_agg(part.value)
      from credits credit
      join invoices used on used.organization_id = credit.organization_id and used.id = credit.invoice_id
      join fees fee on fee.organization_id = credit.organization_id and fee.invoice_id = credit.invoice_id
        and fee.progressive_parts is not null and fee.deleted_at is null
      cross join lateral jsonb_array_elements(fee.progressive_parts) as part (value)
      where credit.organization_id = ${scope.organizationId} and credit.progressive_billing_invoice_id = progressive.id
        and used.status not in ('voided', 'closed', 'deleted')), '[]') as drawn
  from jsonb_to_recordset(${json(asked)}::jsonb) as asked (position integer, subscription_id uuid, at timestamptz)
  cross join lateral (
    select invoice.id, invoice.fees_amount_cents, invoice.coupons_amount_cents
    from invoices invoice
    join invoice_subscriptions line on line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
    where invoice.organization_id = ${scope.organizationId} and invoice.customer_id = ${customerId}
      and invoice.invoice_type = 'progressive_billing' and invoice.status in ('finalized', 'failed')
      and line.subscription_id = asked.subscription_id and line.charges_from_datetime <= asked.at
      and line.charges_to_datetime > asked.at
      ${replaced === undefined ? scope.db`` : billedBefore(scope, replaced.invoiceId)}
    order by line.billed_at desc, ${firstInvoiceOf(scope.db, scope.db`invoice.id`)} desc
    limit 1
  ) progressive
  order by asked.position`;

const billedBefore = (scope: Scope, invoiceId: InvoiceId) => scope.db`
  and (line.billed_at, ${firstInvoiceOf(scope.db, scope.db`invoice.id`)}) < (
    select former.billed_at, ${firstInvoiceOf(scope.db, scope.db`invoice.id`)}
    from invoices invoice
    join invoice_subscriptions former on former.organization_id = invoice.organization_id
      and former.invoice_id = invoice.id
    where invoice.organization_id = ${scope.organizationId} and invoice.id = ${invoiceId}
      and former.subscription_id = line.subscription_id)`;

/** Usage fees of the invoice `progressive` and its notes. */
const feesAndNotes = (scope: Scope, replaced?: Replaced) => scope.db`
    coalesce((
      select jsonb_agg(jsonb_build_object('id', fee.id, 'charge_id', fee.charge_id, 'charge_filter_id', fee.charge_filter_id,
        'grouped_by', fee.grouped_by, 'amount_cents', fee.amount_cents,
        'precise_coupons_amount_cents', fee.precise_coupons_amount_cents::text,
        'untaxed_amount_cents', fee.untaxed_amount_cents::text, 'taxes_rate', fee.taxes_rate::text,
        'progressive_parts', fee.progressive_parts) order by fee.created_at, fee.id)
      from fees fee
      where fee.organization_id = ${scope.organizationId} and fee.invoice_id = progressive.id
        and fee.fee_type = 'charge' and fee.deleted_at is null), '[]') as fees,
    coalesce((
      select jsonb_agg(jsonb_build_object('credit_amount_cents', note.credit_amount_cents,
        'taxes_amount_cents', note.taxes_amount_cents, 'total_amount_cents', note.total_amount_cents, 'items', (
          select coalesce(jsonb_agg(jsonb_build_object('fee_id', item.fee_id,
            'precise_amount_cents', item.precise_amount_cents::text,
            'given_for_fee_ids', item.given_for_fee_ids, 'given_part_cents', item.given_part_cents,
            'copied', coalesce(item.given_for_fee_ids && ${replaced?.copiedFeeIds ?? []}::uuid[], false))), '[]')
          from credit_note_items item
          where item.organization_id = note.organization_id and item.credit_note_id = note.id
            and item.fee_id is not null)))
      from credit_notes note
      where note.organization_id = ${scope.organizationId} and note.invoice_id = progressive.id
        and note.status in ('draft', 'finalized') and note.credit_status in ('available', 'consumed')
        and note.credit_amount_cents > 0), '[]') as notes`;

/** A voided invoice in whose place one is made anew. */
export interface Replaced {
  invoiceId: InvoiceId;
  /**
   * Its fees that are copied as they are, and those that these are copies of. What was given back for them does not
   * lower what is left: the new ones take the same over, and what corrections settled about them stands.
   */
  copiedFeeIds: readonly FeeId[];
}

/** copiedIds  fees of the voided invoice that are copied as they are */
export async function readReplaced(scope: Scope, invoiceId: InvoiceId, copiedIds: readonly FeeId[]): Promise<Replaced> {
  return { invoiceId, copiedFeeIds: [...(await readCopies(scope, copiedIds)).keys()] };
}

/**
 * The progressive invoices whose fees those of others took over, oldest first, and which fee stands for one that was
 * made anew.
 */
export async function readEarlier(
  scope: Scope,
  newest: readonly ProgressiveInvoiceRow[],
  replaced?: Replaced,
): Promise<{ standsFor: ReadonlyMap<FeeId, FeeId>; earlier: NotedInvoice[] }> {
  const takers = newest.flatMap(({ fees }) => fees.filter(({ progressive_parts }) => progressive_parts !== null));
  if (takers.length === 0) return { standsFor: new Map(), earlier: [] };
  const { standsFor } = await readTakenOver(
    scope,
    takers.map(({ id }) => id),
  );
  const rows = await scope.db<NotedInvoiceRow[]>`
    select ${feesAndNotes(scope, replaced)}
    from invoices progressive
    where progressive.organization_id = ${scope.organizationId} and progressive.id in (
      select invoice_id from fees
      where organization_id = ${scope.organizationId} and id = any (${[...standsFor.values()]}::uuid[]))
    order by (
      select min(line.billed_at) from invoice_subscriptions line
      where line.organization_id = progressive.organization_id and line.invoice_id = progressive.id
    ), ${firstInvoiceOf(scope.db, scope.db`progressive.id`)}`;
  return { standsFor, earlier: rows.map((row) => notedInvoice(row, standsFor)) };
}

/** The same as the rules see it. */
export const notedInvoice = ({ fees, notes }: NotedInvoiceRow, standsFor: ReadonlyMap<FeeId, FeeId>): NotedInvoice => ({
  fees: fees.map((fee) => ({
    id: fee.id,
    amountCents: fee.amount_cents,
    preciseCouponsAmountCents: decimal(fee.precise_coupons_amount_cents),
    untaxedAmountCents: decimal(fee.untaxed_amount_cents),
    taxesRate: decimal(fee.taxes_rate),
    parts: progressivePartsOf(fee.progressive_parts, standsFor),
  })),
  notes: notes.map(
    (note): CreditingNote => ({
      creditCents: note.credit_amount_cents,
      taxesCents: note.taxes_amount_cents,
      totalCents: note.total_amount_cents,
      items: note.items.map((item) => ({
        feeId: item.fee_id,
        preciseAmountCents: decimal(item.precise_amount_cents),
        isLeftOut: item.copied,
        givenFor:
          item.given_for_fee_ids === null
            ? undefined
            : {
                feeIds: item.given_for_fee_ids.map((id) => standsFor.get(id) ?? id),
                partCents: item.given_part_cents ?? 0,
              },
      })),
    }),
  ),
});
