import {
  type ProgressiveCredit,
  type ProgressiveInvoice,
  progressiveCredit,
} from '../../../engine/invoices/progressive-credit.ts';
import { type CreditingNote, restsOfFees } from '../../../engine/invoices/progressive-rest.ts';
import type { CreditableFee } from '../../../engine/invoices/take-over.ts';
import { cents } from '../../../engine/money/cents.ts';
import { decimal } from '../../../engine/money/decimal.ts';
import { canonicalJson } from '../../../platform/canonical-json.ts';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { ChargeFilterId, ChargeId, CustomerId, FeeId, SubscriptionId } from '../../../platform/ids.ts';
import { type ProgressivePartJson, progressivePartsOf } from '../../invoices/fees/queries.ts';
import type { LineFee } from './fees.ts';
import type { BilledLine } from './lines.ts';

/**
 * What progressive invoices credit to the windows that fees or lines bill, for drafts too each time they are computed.
 * Fees of single events were never on a progressive invoice. Reads only.
 *
 * Rule: progressive-billing.md#credit-on-later-invoices.
 */
export async function progressiveCredits(
  ctx: Context,
  customerId: CustomerId,
  fees: readonly LineFee[],
  billed: readonly BilledLine[] = [],
): Promise<ProgressiveCredit[]> {
  const lines = new Map<BilledLine, LineFee[]>(
    billed.filter(({ usageWindow }) => usageWindow !== undefined).map((line) => [line, []]),
  );
  for (const fee of fees) {
    if (fee.charge === undefined || fee.inAdvance !== undefined || fee.correction !== undefined) continue;
    if (fee.line.usageWindow === undefined) continue;
    const own = lines.get(fee.line);
    if (own) own.push(fee);
    else lines.set(fee.line, [fee]);
  }
  if (lines.size === 0) return [];
  const asked = [...lines.keys()];
  const found = await listProgressiveInvoices(
    ctx,
    customerId,
    asked.map((line, position) => ({
      position,
      subscription_id: line.subscription.id,
      at: line.usageWindow!.from.toString(),
    })),
  );
  return found.map((row) =>
    progressiveCredit(progressiveInvoice(row), lines.get(asked[row.position]!)!.map(creditableOf)),
  );
}

function progressiveInvoice({ id, left_cents, fees, notes, drawn }: ProgressiveInvoiceRow): ProgressiveInvoice {
  const billed = fees.map((fee) => ({
    id: fee.id,
    amountCents: fee.amount_cents,
    preciseCouponsAmountCents: decimal(fee.precise_coupons_amount_cents),
    untaxedAmountCents: decimal(fee.untaxed_amount_cents),
    taxesRate: decimal(fee.taxes_rate),
    parts: progressivePartsOf(fee.progressive_parts),
  }));
  const noted = notes.map(
    (note): CreditingNote => ({
      creditCents: note.credit_amount_cents,
      totalCents: note.total_amount_cents,
      items: note.items.map((item) => ({
        feeId: item.fee_id,
        preciseAmountCents: decimal(item.precise_amount_cents),
      })),
    }),
  );
  const rests = restsOfFees(billed, noted, progressivePartsOf(drawn));
  return {
    id,
    leftCents: cents(left_cents),
    fees: fees.map((fee) => ({ id: fee.id, ...creditable(fee), ...rests.get(fee.id)! })),
  };
}

interface ProgressiveInvoiceRow {
  position: number;
  id: string;
  left_cents: number;
  fees: ProgressiveFeeRow[];
  /** Those whose credit lowers what is left. */
  notes: {
    credit_amount_cents: number;
    total_amount_cents: number;
    items: { fee_id: FeeId; precise_amount_cents: string }[];
  }[];
  /** What other invoices took over. */
  drawn: ProgressivePartJson[];
}

interface ProgressiveFeeRow extends BilledFee {
  id: FeeId;
  precise_coupons_amount_cents: string;
  untaxed_amount_cents: string;
  taxes_rate: string;
  progressive_parts: ProgressivePartJson[] | null;
}

interface BilledFee {
  charge_id: ChargeId;
  charge_filter_id: ChargeFilterId | FeeId | null;
  grouped_by: object;
  amount_cents: number;
}

const creditable = (fee: BilledFee): CreditableFee => ({
  chargeId: fee.charge_id,
  usageKey: canonicalJson([fee.charge_id, fee.charge_filter_id, fee.grouped_by]),
  amountCents: cents(fee.amount_cents),
});

const creditableOf = (fee: LineFee): CreditableFee & { key: string } => ({
  key: fee.id,
  ...creditable({
    charge_id: fee.charge!.id,
    // A true-up has no usage of its own.
    charge_filter_id: fee.true_up_parent_fee_id === null ? fee.charge_filter_id : fee.id,
    grouped_by: fee.groupedBy,
    amount_cents: fee.amountCents,
  }),
});

/** The newest progressive invoice of each requested window, with what is left of it to credit. */
const listProgressiveInvoices = (
  { db, organizationId }: Scope,
  customerId: CustomerId,
  asked: readonly { position: number; subscription_id: SubscriptionId; at: string }[],
) => db<ProgressiveInvoiceRow[]>`
  select asked.position, progressive.id,
    greatest(progressive.fees_amount_cents - progressive.coupons_amount_cents - coalesce((
      select sum(credit.amount_cents)
      from credits credit
      join invoices used on used.organization_id = credit.organization_id and used.id = credit.invoice_id
      where credit.organization_id = ${organizationId} and credit.progressive_billing_invoice_id = progressive.id
        and used.status not in ('voided', 'closed', 'deleted')), 0) - coalesce((
      select sum(note.credit_amount_cents)
      from credit_notes note
      where note.organization_id = ${organizationId} and note.invoice_id = progressive.id and note.status = 'finalized'
        and note.credit_status in ('available', 'consumed')), 0), 0)::bigint as left_cents,
    coalesce((
      select jsonb_agg(jsonb_build_object('id', fee.id, 'charge_id', fee.charge_id, 'charge_filter_id', fee.charge_filter_id,
        'grouped_by', fee.grouped_by, 'amount_cents', fee.amount_cents,
        'precise_coupons_amount_cents', fee.precise_coupons_amount_cents::text,
        'untaxed_amount_cents', fee.untaxed_amount_cents::text, 'taxes_rate', fee.taxes_rate::text,
        'progressive_parts', fee.progressive_parts) order by fee.created_at, fee.id)
      from fees fee
      where fee.organization_id = ${organizationId} and fee.invoice_id = progressive.id and fee.fee_type = 'charge'
        and fee.deleted_at is null), '[]') as fees,
    coalesce((
      select jsonb_agg(jsonb_build_object('credit_amount_cents', note.credit_amount_cents,
        'total_amount_cents', note.total_amount_cents, 'items', (
          select coalesce(jsonb_agg(jsonb_build_object('fee_id', item.fee_id,
            'precise_amount_cents', item.precise_amount_cents::text)), '[]')
          from credit_note_items item
          where item.organization_id = note.organization_id and item.credit_note_id = note.id
            and item.fee_id is not null)))
      from credit_notes note
      where note.organization_id = ${organizationId} and note.invoice_id = progressive.id and note.status = 'finalized'
        and note.credit_status in ('available', 'consumed') and note.credit_amount_cents > 0), '[]') as notes,
    coalesce((
      select jsonb_agg(part.value)
      from credits credit
      join invoices used on used.organization_id = credit.organization_id and used.id = credit.invoice_id
      join fees fee on fee.organization_id = credit.organization_id and fee.invoice_id = credit.invoice_id
        and fee.progressive_parts is not null and fee.deleted_at is null
      cross join lateral jsonb_array_elements(fee.progressive_parts) as part (value)
      where credit.organization_id = ${organizationId} and credit.progressive_billing_invoice_id = progressive.id
        and used.status not in ('voided', 'closed', 'deleted')), '[]') as drawn
  from jsonb_to_recordset(${json(asked)}::jsonb) as asked (position integer, subscription_id uuid, at timestamptz)
  cross join lateral (
    select invoice.id, invoice.fees_amount_cents, invoice.coupons_amount_cents
    from invoices invoice
    join invoice_subscriptions line on line.organization_id = invoice.organization_id and line.invoice_id = invoice.id
    where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
      and invoice.invoice_type = 'progressive_billing' and invoice.status in ('finalized', 'failed')
      and line.subscription_id = asked.subscription_id and line.charges_from_datetime <= asked.at
      and line.charges_to_datetime > asked.at
    order by invoice.created_at desc, invoice.id desc
    limit 1
  ) progressive
  order by asked.position`;
