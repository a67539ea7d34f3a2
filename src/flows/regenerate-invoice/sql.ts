import type { Db } from '../../platform/db/connect.ts';

/** Whether an invoice that still counts was made in the place of a voided one. */
export async function hasReplacement(db: Db, organizationId: string, sourceId: string): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from invoices
      where organization_id = ${organizationId} and voided_invoice_id = ${sourceId}
        and status not in ('voided', 'closed', 'deleted')) as found`;
  return row!.found;
}

/** Ties an invoice to the one that it replaces, whose lines then hold their periods no more. */
export async function replaceSource(
  db: Db,
  organizationId: string,
  { sourceId, invoiceId }: { sourceId: string; invoiceId: string },
): Promise<void> {
  await db`
    update invoices set voided_invoice_id = ${sourceId}
    where organization_id = ${organizationId} and id = ${invoiceId}`;
  await db`
    update invoice_subscriptions set regenerated = true
    where organization_id = ${organizationId} and invoice_id = ${sourceId}`;
}
