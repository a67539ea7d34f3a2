import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import {
  type DocumentNumbering,
  numberPerBillingEntity,
  numberPerCustomer,
} from '../../../engine/invoices/invoice-number.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, InvoiceId } from '../../../platform/ids.ts';

export interface NumberedInvoice {
  id: InvoiceId;
  customer: { id: CustomerId; sequential_id: number };
  issuer: { id: string; timezone: string; document_numbering: DocumentNumbering; document_number_prefix: string };
  selfBilled: boolean;
}

/**
 * Gives an invoice its number, once it is final: the next of its customer at this billing entity, and the next of the
 * entity where that numbers its documents in one series. Counters are rows of this transaction, so nothing is given
 * twice and a rollback gives everything back. Call it last: others wait for the entity's row until the commit.
 *
 * Rule: invoices.md#numbers.
 */
export async function assignNumber(
  scope: Scope,
  { id, customer, issuer, selfBilled }: NumberedInvoice,
  now: Temporal.Instant,
): Promise<void> {
  const sequentialId = await nextOfCustomer(scope, customer.id, issuer.id);
  const isOneSeries = issuer.document_numbering === 'per_billing_entity' && !selfBilled;
  const entitySequence = isOneSeries ? await nextOfEntity(scope, issuer.id) : null;
  const number =
    entitySequence === null
      ? numberPerCustomer(issuer.document_number_prefix, customer.sequential_id, sequentialId)
      : numberPerBillingEntity(issuer.document_number_prefix, localDate(now, issuer.timezone), entitySequence);
  await scope.db`
    update invoices
    set number = ${number}, sequential_id = ${sequentialId}, billing_entity_sequential_id = ${entitySequence}
    where organization_id = ${scope.organizationId} and id = ${id}`;
}

async function nextOfCustomer(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  issuerId: string,
): Promise<number> {
  const [row] = await db<{ last: number }[]>`
    insert into customer_invoice_sequences as sequence (organization_id, customer_id, billing_entity_id, last)
    values (${organizationId}, ${customerId}, ${issuerId}, 1)
    on conflict (organization_id, customer_id, billing_entity_id) do update set last = sequence.last + 1
    returning last`;
  return row!.last;
}

/** The entity's next number; a switch to one series has set the counter to go on at the number of documents. */
async function nextOfEntity({ db, organizationId }: Scope, issuerId: string): Promise<number> {
  const [row] = await db<{ invoices_sequence: number }[]>`
    update billing_entities set invoices_sequence = invoices_sequence + 1
    where organization_id = ${organizationId} and id = ${issuerId}
    returning invoices_sequence`;
  return row!.invoices_sequence;
}
