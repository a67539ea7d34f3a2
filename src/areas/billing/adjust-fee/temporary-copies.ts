import { assert } from '../../../engine/assert.ts';
import type { Context } from '../../../platform/context.ts';
import type { Tx } from '../../../platform/db/connect.ts';
import { isUuid } from '../../../platform/ids.ts';

// What a preview of a draft has instead of the draft's stored computation. Like the copies of other previews these are
// temporary, and Postgres looks up their names before those of stored tables: no other transaction can wait for them.
// Rows of other invoices are read where they are stored, so the cost is that of the draft, whatever came before it.

/**
 * Plans that the connection keeps of earlier statements, of this preview or another: they would go on reading what they
 * read then, since Postgres does not make them again when a temporary table comes before a stored one.
 */
const FORGET_PLANS = 'discard plans';

/** Gives the rest of the transaction a copy of the draft's adjustments to add one to. */
export async function copyAdjustments({ db, organizationId }: Context, invoiceId: string): Promise<void> {
  const tx = db as Tx;
  await tx.unsafe('create temp table copied_adjusted_fees (like adjusted_fees including all) on commit drop');
  await tx`
    insert into copied_adjusted_fees select * from adjusted_fees
    where organization_id = ${organizationId} and invoice_id = ${invoiceId}`;
  await tx.unsafe(`alter table copied_adjusted_fees rename to adjusted_fees; ${FORGET_PLANS}`);
}

/**
 * Lets the rest of the transaction read as if the stored fees, taxes and credits of a draft had been dropped, and finds
 * nothing where it drops them. What corrections left to be billed stays with fees that no adjustment is about.
 */
export async function hideComputation({ db }: Context, invoiceId: string): Promise<void> {
  assert(isUuid(invoiceId), 'an invoice has an id'); // a view takes no parameters
  const others = (table: string) =>
    `create temp view ${table} as select * from ${table} where invoice_id is distinct from '${invoiceId}'`;
  await (db as Tx).unsafe([...['fees', 'invoice_applied_taxes', 'credits'].map(others), FORGET_PLANS].join(';'));
}

/** Gives the rest of the transaction tables of fees and their taxes in which there are none yet. */
export async function takeFees({ db }: Context): Promise<void> {
  const empty = (table: string) => `create temp table ${table} (like ${table} including all) on commit drop`;
  await (db as Tx).unsafe(['drop view fees', empty('fees'), empty('fee_applied_taxes'), FORGET_PLANS].join(';'));
}
