import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, CustomerId, FeeId } from '../../../platform/ids.ts';
import { taxShares } from './invoice-finalized.ts';
import { type LedgerLine, type Posting, post } from './postings.ts';

/** A fee on no invoice, as the journal needs it. */
interface BookedFee {
  billing_entity_id: BillingEntityId;
  customer_id: CustomerId;
  amount_cents: number;
  amount_currency: string;
  taxes_amount_cents: number;
  timezone: string;
  self_billed: boolean;
  taxes: { code: string; amountCents: number }[];
  /** Cash booked as received, and as given back. */
  paid_cents: number;
  refunded_cents: number;
  paid_count: number;
  refunded_count: number;
}

/**
 * Books the payment status that a person sets on a standalone fee: paid is income in cash, refunded returns the cash,
 * and a later other status reverses it. A fee that was never paid books nothing. The fee is locked.
 *
 * Rules: ledger.md#l22, ledger.md#l23, ledger.md#l24.
 */
export async function bookFeeStatus(ctx: Context, feeId: FeeId, status: string): Promise<void> {
  const fee = await readFee(ctx, feeId);
  const total = fee.amount_cents + fee.taxes_amount_cents;
  const paidBefore = fee.paid_cents !== 0;
  const isRefunded = status === 'refunded' && paidBefore;
  const paidNow = status === 'succeeded' || isRefunded ? total : 0;
  if (paidNow !== 0 && !paidBefore)
    await bookLines(ctx, feeId, { fee, rule: 'standalone_fee_paid', lines: paidLines(fee) });
  if (isRefunded && fee.refunded_cents === 0)
    await bookLines(ctx, feeId, { fee, rule: 'standalone_fee_refunded', lines: refundedLines(fee) });
  if (!isRefunded && fee.refunded_cents !== 0)
    await bookLines(ctx, feeId, { fee, rule: 'standalone_fee_refunded', lines: refundedLines(fee).map(reversed) });
  if (paidNow === 0 && paidBefore)
    await bookLines(ctx, feeId, { fee, rule: 'standalone_fee_paid', lines: paidLines(fee).map(reversed) });
}

async function bookLines(
  ctx: Context,
  feeId: FeeId,
  {
    fee,
    rule,
    lines,
  }: { fee: BookedFee; rule: 'standalone_fee_paid' | 'standalone_fee_refunded'; lines: readonly LedgerLine[] },
): Promise<void> {
  const bookedOn = localDate(ctx.now(), fee.timezone);
  const posting: Posting = {
    rule,
    source: { type: 'Fee', id: feeId },
    ordinal: rule === 'standalone_fee_paid' ? fee.paid_count : fee.refunded_count,
    currency: fee.amount_currency,
    billingEntityId: fee.billing_entity_id,
    bookedAt: ctx.now(),
    bookedOn,
    documentDate: bookedOn,
    customerId: fee.customer_id,
    invoiceId: null,
    feeId,
    lines: fee.self_billed ? lines.map(asPartner) : lines,
  };
  await post(ctx, posting);
}

const paidLines = (fee: BookedFee): LedgerLine[] => [
  { account: 'cash', side: 'debit', amountCents: fee.amount_cents + fee.taxes_amount_cents },
  { account: 'revenue.usage', side: 'credit', amountCents: fee.amount_cents },
  ...taxLines(fee, 'credit'),
];

const refundedLines = (fee: BookedFee): LedgerLine[] => [
  { account: 'sales_returns', side: 'debit', amountCents: fee.amount_cents },
  ...taxLines(fee, 'debit'),
  { account: 'cash', side: 'credit', amountCents: fee.amount_cents + fee.taxes_amount_cents },
];

const taxLines = ({ taxes, taxes_amount_cents: taxesAmountCents }: BookedFee, side: 'debit' | 'credit'): LedgerLine[] =>
  taxShares({ taxes, taxesAmountCents }).map(({ code, amountCents }) => ({
    account: 'tax_payable',
    side,
    amountCents,
    taxCode: code,
  }));

const reversed = (line: LedgerLine): LedgerLine => ({ ...line, side: line.side === 'debit' ? 'credit' : 'debit' });

/** The same for a partner, who made the sale: money goes out, and cash stays cash. */
const asPartner = (line: LedgerLine): LedgerLine => {
  const account =
    line.account === 'cash' ? 'cash' : line.account === 'tax_payable' ? 'tax_recoverable' : 'partner_costs';
  return { ...reversed(line), account };
};

async function readFee(ctx: Context, feeId: FeeId): Promise<BookedFee> {
  const [row] = await ctx.db<BookedFee[]>`
    select fee.billing_entity_id, fee.customer_id, fee.amount_cents, fee.amount_currency, fee.taxes_amount_cents,
      entity.timezone, customer.account_type = 'partner' as self_billed,
      (select coalesce(json_agg(json_build_object('code', tax.tax_code, 'amountCents', tax.amount_cents)
        order by tax.id), '[]')
       from fee_applied_taxes tax
       where tax.organization_id = fee.organization_id and tax.fee_id = fee.id) as taxes,
      booked.*
    from fees fee
    join customers customer on customer.organization_id = fee.organization_id and customer.id = fee.customer_id
    join billing_entities entity on entity.organization_id = fee.organization_id and entity.id = fee.billing_entity_id
    cross join lateral (
      select
        coalesce(sum(signed.cents) filter (where done.rule = 'standalone_fee_paid'), 0)::bigint as paid_cents,
        coalesce(sum(signed.cents) filter (where done.rule = 'standalone_fee_refunded'), 0)::bigint as refunded_cents,
        count(*) filter (where done.rule = 'standalone_fee_paid') as paid_count,
        count(*) filter (where done.rule = 'standalone_fee_refunded') as refunded_count
      from ledger_entries entry
      join ledger_transactions done on done.organization_id = entry.organization_id and done.id = entry.transaction_id
      cross join lateral (
        select case entry.side when 'debit' then entry.amount_cents else -entry.amount_cents end as cents) signed
      where entry.organization_id = fee.organization_id and entry.fee_id = fee.id and entry.account_code = 'cash'
    ) booked
    where fee.organization_id = ${ctx.organizationId} and fee.id = ${feeId}`;
  return row!;
}
