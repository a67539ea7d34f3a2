import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../engine/calendar/local-day.ts';
import {
  type DocumentNumbering,
  seriesOfBillingEntity,
  seriesOfCustomer,
} from '../../../engine/invoices/invoice-number.ts';
import type { Db, Fragment } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId, InvoiceId } from '../../../platform/ids.ts';

/** Whose number an invoice gets once it is final. */
export interface NumberedInvoice {
  customer: { id: CustomerId; sequential_id: number };
  issuer: { id: string; timezone: string; document_numbering: DocumentNumbering; document_number_prefix: string };
  selfBilled: boolean;
  now: Temporal.Instant;
}

/** Gives a stored invoice its number: one statement. Call it last, see nextNumber. */
export async function assignNumber(scope: Scope, id: InvoiceId, numbered: NumberedInvoice): Promise<void> {
  const { counted, columns, counters } = nextNumber(scope, numbered);
  await scope.db`
    with ${counted}
    update invoices set ${columns} from ${counters} where organization_id = ${scope.organizationId} and id = ${id}`;
}

/**
 * Parts of an `update invoices` that give it the next number of its customer at this billing entity, and the next of
 * the entity where that numbers its documents in one series. Counters are rows of this transaction, so nothing is given
 * twice and a rollback gives everything back. Run the statement late: others wait for the entity's row until the
 * commit. A switch to one series has set the entity's counter to go on at the number of documents.
 *
 * @returns `counted`: what `with` holds; `columns`: what is set; `counters`: what follows `from`
 * Rule: invoices.md#numbers.
 */
export function nextNumber(
  { db, organizationId }: Scope,
  { customer, issuer, selfBilled, now }: NumberedInvoice,
): Record<'counted' | 'columns' | 'counters', Fragment> {
  const ofCustomer = db`
    of_customer as (
      insert into customer_invoice_sequences as sequence (organization_id, customer_id, billing_entity_id, last)
      values (${organizationId}, ${customer.id}, ${issuer.id}, 1)
      on conflict (organization_id, customer_id, billing_entity_id) do update set last = sequence.last + 1
      returning last
    )`;
  const prefix = issuer.document_number_prefix;
  if (selfBilled || issuer.document_numbering === 'per_customer')
    return {
      counted: ofCustomer,
      columns: db`
        number = ${inSeries(db, seriesOfCustomer(prefix, customer.sequential_id), db`of_customer.last`)},
        sequential_id = of_customer.last, billing_entity_sequential_id = null`,
      counters: db`of_customer`,
    };
  return {
    counted: db`${ofCustomer}, of_entity as (
      update billing_entities set invoices_sequence = invoices_sequence + 1
      where organization_id = ${organizationId} and id = ${issuer.id}
      returning invoices_sequence as last
    )`,
    columns: db`
      number = ${inSeries(db, seriesOfBillingEntity(prefix, localDate(now, issuer.timezone)), db`of_entity.last`)},
      sequential_id = of_customer.last, billing_entity_sequential_id = of_entity.last`,
    counters: db`of_customer, of_entity`,
  };
}

/** The number of a document in its series, with at least three digits; longer ones are not cut. */
const inSeries = (db: Db, series: string, sequence: Fragment): Fragment => db`
  ${series}::text || lpad(${sequence}::text, greatest(3, length(${sequence}::text)), '0')`;
