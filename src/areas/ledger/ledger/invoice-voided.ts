import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import { type Balances, balancesOfInvoice } from './balances-of-invoice.ts';
import { type BookedDocument, bookOnInvoice, type Change } from './book-on-invoice.ts';

/**
 * Books a void: the invoice's posting is reversed, and nothing stays due. For a paid top-up nothing is booked, and its
 * credits stay.
 *
 * Rules: ledger.md#l19, ledger.md#l24.
 */
export async function bookVoid(ctx: Context, invoice: BookedDocument & { invoice_type: string }): Promise<void> {
  const booked = await listBooked(ctx, invoice.id);
  if (invoice.invoice_type === 'advance_charges')
    return bookOnInvoice(ctx, 'invoice_voided', invoice, paidBeforeChanges(booked));
  const balances = await balancesOfInvoice(ctx, invoice.id);
  const { prepaid_pending: pending } = balances;
  if (pending === 0) return;
  const ordered: Change[] = pending === undefined ? [] : [{ account: 'prepaid_pending', amountCents: pending }];
  await bookOnInvoice(
    ctx,
    'invoice_voided',
    invoice,
    voidChanges([...booked, ...ordered], balances, invoice.self_billed),
  );
}

/**
 * Changes of a void: the lines of L1 reversed, their difference against what is due (what counts as received elsewhere
 * first), and what is then left due moved away: more received than owed is unapplied, less is given up.
 */
export function voidChanges(booked: readonly Change[], balances: Balances, isSelfBilled: boolean): Change[] {
  const dueAccount = isSelfBilled ? 'partner_payable' : 'receivable';
  const reversed = booked
    .filter(({ account }) => account !== dueAccount)
    .map((change) => ({ ...change, amountCents: -change.amountCents }));
  const back = -reversed.reduce((total, { amountCents }) => total + amountCents, 0);
  const unrecorded = -(balances.unrecorded_receipts ?? 0);
  const fromDue = back - unrecorded;
  const left = (balances[dueAccount] ?? 0) + fromDue;
  return [
    ...reversed,
    { account: 'unrecorded_receipts', amountCents: unrecorded },
    { account: dueAccount, amountCents: fromDue },
    { account: dueAccount, amountCents: -left },
    { account: left < 0 ? 'unapplied_receipts' : 'write_offs', amountCents: left },
  ];
}

/**
 * Changes of a void whose fees were paid one by one: their income and tax turn into money that is not owed.
 * Rule: ledger.md#l23.
 */
function paidBeforeChanges(booked: readonly Change[]): Change[] {
  const reversed = booked.map((change) => ({ ...change, amountCents: -change.amountCents }));
  const back = -reversed.reduce((total, { amountCents }) => total + amountCents, 0);
  return [...reversed, { account: 'unapplied_receipts', amountCents: back }];
}

/** What the invoice, or its fees before it, booked as income and tax, less the net and tax parts of its notes. */
const listBooked = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db<Change[]>`
  select entry.account_code as account, entry.tax_code as "taxCode",
    case entry.side when 'debit' then entry.amount_cents else -entry.amount_cents end as "amountCents"
  from ledger_transactions booked
  join ledger_entries entry on entry.organization_id = booked.organization_id and entry.transaction_id = booked.id
  where booked.organization_id = ${organizationId}
    and (booked.rule = 'invoice_finalized' and booked.source_type = 'Invoice' and booked.source_id = ${invoiceId}
      or booked.rule in ('standalone_fee_paid', 'standalone_fee_refunded') and entry.account_code <> 'cash'
        and entry.fee_id in (select id from fees
          where fees.organization_id = ${organizationId} and fees.invoice_id = ${invoiceId})
      or booked.rule = 'credit_note_created' and entry.invoice_id = ${invoiceId}
        and entry.account_code in ('sales_returns', 'tax_payable', 'partner_costs', 'tax_recoverable'))
  order by entry.position`;
