import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import type { Context } from '../../../platform/context.ts';
import type { BillingEntityId, CustomerId } from '../../../platform/ids.ts';
import { type AccountCode, post } from './postings.ts';

/** An invoice as the journal names it; structural: an invoice's row can be passed. */
export interface BookedDocument {
  id: string;
  billing_entity_id: BillingEntityId;
  customer_id: CustomerId;
  currency: string;
  issuing_date: Temporal.PlainDate;
  self_billed: boolean;
}

/** Change of an account's balance, debits less credits. */
export interface Change {
  account: AccountCode;
  amountCents: number;
  taxCode?: string | null;
}

/** Writes one more posting of a rule about an invoice. Rule: ledger.md#journal. */
export async function bookOnInvoice(
  ctx: Context,
  rule: string,
  invoice: BookedDocument,
  changes: readonly Change[],
): Promise<void> {
  const { db, organizationId } = ctx;
  const [facts] = await db<{ timezone: string; ordinal: number }[]>`
    select timezone, (select count(*) from ledger_transactions
      where organization_id = ${organizationId} and rule = ${rule} and source_type = 'Invoice'
        and source_id = ${invoice.id}) as ordinal
    from billing_entities where organization_id = ${organizationId} and id = ${invoice.billing_entity_id}`;
  await post(ctx, {
    rule,
    source: { type: 'Invoice', id: invoice.id },
    ordinal: facts!.ordinal,
    currency: invoice.currency,
    billingEntityId: invoice.billing_entity_id,
    bookedAt: ctx.now(),
    bookedOn: localDate(ctx.now(), facts!.timezone),
    documentDate: invoice.issuing_date,
    customerId: invoice.customer_id,
    invoiceId: invoice.id,
    lines: changes.map(({ account, amountCents, taxCode }) => ({
      account,
      side: amountCents < 0 ? 'credit' : 'debit',
      amountCents: Math.abs(amountCents),
      ...(taxCode ? { taxCode } : {}),
    })),
  });
}
