import type { Context } from '../../platform/context.ts';
import { readCustomer } from '../customers/queries.ts';
import { listFeesOfInvoice } from '../fees/queries.ts';
import { listShown } from '../subscriptions/queries.ts';
import { type InvoiceRow, listLinesOfInvoice } from './queries.ts';
import type { InvoiceParts } from './view.ts';

/** Gathers what an invoice on its own shows: four statements, whatever the number of its fees. */
export async function partsOf(ctx: Pick<Context, 'db' | 'organizationId'>, invoice: InvoiceRow): Promise<InvoiceParts> {
  const { db, organizationId } = ctx;
  const withSubscriptions = async () => {
    const lines = await listLinesOfInvoice(db, organizationId, invoice.id);
    const subscriptions = await listShown(
      db,
      organizationId,
      lines.map((line) => line.subscription_id),
    );
    const order = new Map(lines.map((line, index) => [line.subscription_id, index]));
    return { lines, subscriptions: [...subscriptions].sort((a, b) => order.get(a.id)! - order.get(b.id)!) };
  };
  const [customer, fees, billed] = await Promise.all([
    readCustomer(db, organizationId, invoice.customer_id),
    listFeesOfInvoice(db, organizationId, invoice.id),
    withSubscriptions(),
  ]);
  return { invoice, customer, fees, ...billed };
}
