import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../engine/calendar/local-day.ts';
import { type DocumentNumbering, numberPerBillingEntity, numberPerCustomer } from '../../engine/invoices/number.ts';
import type { Db } from '../../platform/db/connect.ts';

export interface NumberedInvoice {
  id: string;
  customer: { id: string; sequential_id: number };
  issuer: { id: string; timezone: string; document_numbering: DocumentNumbering; document_number_prefix: string };
  selfBilled: boolean;
}

/**
 * Gives an invoice its number, once it is final: the next of its customer at this billing entity, and the next of the
 * entity where that numbers its documents in one series. Counters are rows of this transaction, so nothing is given
 * twice and a rollback gives everything back. Call it last: others wait for the entity's row until the commit.
 *
 * Rule: subscriptions-and-invoices F.4.
 */
export async function assignNumber(
  db: Db,
  organizationId: string,
  { id, customer, issuer, selfBilled }: NumberedInvoice,
  now: Temporal.Instant,
): Promise<void> {
  const sequentialId = await nextOfCustomer(db, organizationId, customer.id, issuer.id);
  const isOneSeries = issuer.document_numbering === 'per_billing_entity' && !selfBilled;
  const entitySequence = isOneSeries ? await nextOfEntity(db, organizationId, issuer.id) : null;
  const number =
    entitySequence === null
      ? numberPerCustomer(issuer.document_number_prefix, customer.sequential_id, sequentialId)
      : numberPerBillingEntity(issuer.document_number_prefix, localDate(now, issuer.timezone), entitySequence);
  await db`
    update invoices
    set number = ${number}, sequential_id = ${sequentialId}, billing_entity_sequential_id = ${entitySequence}
    where organization_id = ${organizationId} and id = ${id}`;
}

async function nextOfCustomer(db: Db, organizationId: string, customerId: string, issuerId: string): Promise<number> {
  const [row] = await db<{ last: number }[]>`
    insert into customer_invoice_sequences as sequence (organization_id, customer_id, billing_entity_id, last)
    values (${organizationId}, ${customerId}, ${issuerId}, 1)
    on conflict (organization_id, customer_id, billing_entity_id) do update set last = sequence.last + 1
    returning last`;
  return row!.last;
}

/**
 * The entity's next number. After a time of numbers per customer the series goes on at the count of numbered documents.
 */
async function nextOfEntity(db: Db, organizationId: string, issuerId: string): Promise<number> {
  const [entity] = await db<{ invoices_sequence: number }[]>`
    select invoices_sequence from billing_entities
    where organization_id = ${organizationId} and id = ${issuerId}
    for no key update`;
  const [newest] = await db<{ billing_entity_sequential_id: number | null }[]>`
    select billing_entity_sequential_id from invoices
    where organization_id = ${organizationId} and billing_entity_id = ${issuerId} and sequential_id is not null
      and not self_billed
    order by finalized_at desc, id desc
    limit 1`;
  const isInterrupted = newest !== undefined && newest.billing_entity_sequential_id === null;
  const last = isInterrupted ? await countNumbered(db, organizationId, issuerId) : 0;
  const next = Math.max(entity!.invoices_sequence, last) + 1;
  await db`
    update billing_entities set invoices_sequence = ${next}
    where organization_id = ${organizationId} and id = ${issuerId}`;
  return next;
}

async function countNumbered(db: Db, organizationId: string, issuerId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*) from invoices
    where organization_id = ${organizationId} and billing_entity_id = ${issuerId} and not self_billed
      and status in ('finalized', 'voided') and sequential_id is not null`;
  return row!.count;
}
