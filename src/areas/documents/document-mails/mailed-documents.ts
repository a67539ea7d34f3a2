import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId } from '../../../platform/ids.ts';
import { getCreditNote } from '../../credits/credit-notes/queries.ts';
import { getVisibleInvoice, type InvoiceRow } from '../../invoices/invoices/queries.ts';
import type { MailSetting } from '../../messaging/mails/owe-mail.ts';
import { getReceipt } from '../../payments/payment-receipts/queries.ts';

/** A document that is mailed, and the setting of its billing entity that allows it. */
export interface Mailed {
  kind: 'invoice' | 'credit_note' | 'payment_receipt';
  id: string;
  number: string;
  customer_id: CustomerId;
  billing_entity_id: BillingEntityId;
  setting: MailSetting;
  /** Whether it changes no more. */
  isFinal: boolean;
  resourceType: 'Invoice' | 'CreditNote' | 'PaymentReceipt';
}

/** An invoice in whatever status, as it is mailed. */
export function mailedInvoice({ id, number, customer_id, billing_entity_id, status }: InvoiceRow): Mailed {
  return {
    id,
    number,
    customer_id,
    billing_entity_id,
    isFinal: status === 'finalized' || status === 'voided',
    kind: 'invoice',
    setting: 'invoice.finalized',
    resourceType: 'Invoice',
  };
}

/** How each kind is read. @throws Refusal 404 of the kind */
export const mailedDocuments = {
  async invoice(ctx: Scope, id: string): Promise<Mailed> {
    return mailedInvoice(await getVisibleInvoice(ctx, id));
  },
  async credit_note(ctx: Scope, id: string): Promise<Mailed> {
    const note = await getCreditNote(ctx, id);
    const { number, customer_id, billing_entity_id } = note;
    const owner = { id: note.id, number, customer_id, billing_entity_id };
    return {
      ...owner,
      isFinal: true,
      kind: 'credit_note',
      setting: 'credit_note.created',
      resourceType: 'CreditNote',
    };
  },
  async payment_receipt(ctx: Scope, id: string): Promise<Mailed> {
    const { number, customer_id, billing_entity_id, ...receipt } = await getReceipt(ctx, id);
    return {
      id: receipt.id,
      number,
      customer_id,
      billing_entity_id,
      isFinal: true,
      kind: 'payment_receipt',
      setting: 'payment_receipt.created',
      resourceType: 'PaymentReceipt',
    };
  },
} as const;
