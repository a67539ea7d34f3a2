import type { Temporal } from 'temporal-polyfill';
import type { Instant } from '../../../engine/calendar/instants.ts';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { documentLinks } from '../../messaging/documents/signed-link.ts';
import type { Payable } from '../../messaging/mails/pay-link.ts';
import { type Transfer, transferOf, transferTo } from '../../payments/payments/transfer-instructions.ts';
import { accountFor, canPayOnPage, referenceOf } from '../../payments/payments/ways-to-pay.ts';
import { listPaidBy, listPaidInvoices, type PaidBy, type PaidInvoice, type PayableRow } from './queries.ts';

/** What the page says, and what can be done there. */
export type PayState =
  | { kind: 'due' }
  | { kind: 'transfer'; transfer: Transfer }
  | { kind: 'ask' | 'voided' | 'nothingDue' }
  | { kind: 'processing'; expectedOn: Temporal.PlainDate | null }
  /** `url` is where the customer's bank asks for consent. */
  | { kind: 'confirm'; url: string }
  | { kind: 'paid'; receiptUrl: string | undefined };

/** Everything that the page shows. */
export interface PayPage {
  payable: PayableRow;
  invoices: readonly (PaidInvoice & { url: string | undefined })[];
  dueCents: number;
  isOverdue: boolean;
  state: PayState;
}

/**
 * Reads what the page of a payable shows: three round trips.
 *
 * @param hasReturned the customer comes from the provider's page, whose payment is reported a moment later
 * Rule: pay-links.md#what-the-page-shows.
 */
export async function readPayPage(
  ctx: Pick<Context, 'db' | 'config' | 'organizationId' | 'now'>,
  { payable, of, hasReturned }: { payable: PayableRow; of: Payable; hasReturned: boolean },
): Promise<PayPage> {
  const found = await listPaidInvoices(ctx, of);
  const payments = await listPaidBy(
    ctx,
    found.map(({ id }) => id),
  );
  const documents = [
    ...found.map(({ document_id }) => document_id),
    ...payments.map((each) => each.receipt_document_id),
  ];
  const links = await documentLinks(
    ctx.db,
    ctx.config,
    documents.filter((id) => id !== null),
  );
  const urlOf = (id: PaidInvoice['document_id']) => (id === null ? undefined : links.get(id));
  const open = found.filter(isOpen);
  const dueCents = open.reduce((total, invoice) => total + invoice.due_amount_cents, 0);
  const today = ctx.now().toZonedDateTimeISO('UTC').toPlainDate();
  return {
    payable,
    invoices: found.map((invoice) => ({ ...invoice, url: urlOf(invoice.document_id) })),
    dueCents,
    isOverdue: open.some((invoice) => invoice.payment_due_date.toString() < today.toString()),
    state: stateOf({ payable, found, open, payments, dueCents, hasReturned, urlOf }),
  };
}

const isOpen = (invoice: PaidInvoice): boolean =>
  invoice.status === 'finalized' &&
  invoice.payment_status !== 'succeeded' &&
  !invoice.self_billed &&
  invoice.due_amount_cents > 0;

interface Facts {
  payable: PayableRow;
  found: readonly PaidInvoice[];
  open: readonly PaidInvoice[];
  payments: readonly PaidBy[];
  dueCents: number;
  hasReturned: boolean;
  urlOf(id: PaidInvoice['document_id']): string | undefined;
}

function stateOf({ payable, found, open, payments, dueCents, hasReturned, urlOf }: Facts): PayState {
  if (dueCents === 0) {
    const arrived = payments.find(({ payment_status }) => payment_status === 'succeeded');
    if (arrived) return { kind: 'paid', receiptUrl: urlOf(arrived.receipt_document_id) };
    // Marked as paid by hand, without a payment.
    const isMarked = found.some((each) => each.payment_status === 'succeeded' && each.due_amount_cents > 0);
    if (isMarked) return { kind: 'paid', receiptUrl: undefined };
    return { kind: found.every(({ status }) => status === 'voided') ? 'voided' : 'nothingDue' };
  }
  const underWay = payments.find(({ payment_status }) => payment_status !== 'succeeded');
  const transfer = underWay && transferOf(underWay.next_action);
  if (transfer) return { kind: 'transfer', transfer };
  const url = underWay && urlOfAction(underWay.next_action);
  // Who comes back from there has done what was asked; its outcome is known a moment later.
  if (url !== undefined && !hasReturned) return { kind: 'confirm', url };
  if (underWay || hasReturned) return { kind: 'processing', expectedOn: underWay?.expected_settlement_date ?? null };
  const { currency } = open[0]!;
  const { provider_type, emulates, settings, secrets_last4, provider_deleted_at } = payable;
  const connection =
    provider_type === null
      ? undefined
      : {
          provider_type,
          emulates,
          settings: settings ?? {},
          secrets_last4: secrets_last4 ?? {},
          deleted_at: provider_deleted_at,
        };
  if (canPayOnPage({ ...payable, connection }, { amountCents: dueCents, currency })) return { kind: 'due' };
  const account = accountFor(payable.bank_accounts, currency);
  return account
    ? { kind: 'transfer', transfer: transferTo(account, referenceOf(open.map(({ number }) => number))) }
    : { kind: 'ask' };
}

/** Where a payment waits for its customer, as providers name it; undefined where there is no page for that. */
function urlOfAction(action: Record<string, unknown>): string | undefined {
  const redirect = action.redirect_to_url as { url?: unknown } | undefined;
  return [redirect?.url, action.url].find(isAddress);
}

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

/** The present of a payable's organization. */
export const presentOf = ({ frozen_time }: PayableRow): Instant => frozen_time ?? realNow();
