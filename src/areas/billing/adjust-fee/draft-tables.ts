import type { Context } from '../../../platform/context.ts';
import type { Tx } from '../../../platform/db/connect.ts';
import { lookFirstIn, type PreviewSchemas } from '../../../platform/db/preview-tables.ts';
import type { InvoiceId } from '../../../platform/ids.ts';

// What a preview of a draft has instead of the draft's stored computation. Rows of other invoices are read where they
// are stored, so the cost is that of the draft, whatever came before it.

/**
 * Lets the rest of the transaction read as if the stored fees, taxes and credits of a draft had been dropped, and finds
 * nothing where it drops them. What corrections left to be billed stays with fees that no adjustment is about.
 */
export async function hideComputation({ db }: Context, schemas: PreviewSchemas, invoiceId: InvoiceId): Promise<void> {
  const tx = db as Tx;
  await tx`select set_config('meterstone.previewed_draft', ${invoiceId}, true)`;
  await lookFirstIn(tx, schemas.draft);
}

/** Gives the rest of the transaction tables of fees and their taxes in which there are none yet. */
export const takeFees = ({ db }: Context, schemas: PreviewSchemas) => lookFirstIn(db as Tx, schemas.fees);
