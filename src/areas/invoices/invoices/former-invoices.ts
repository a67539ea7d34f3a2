import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';

/** `former`, as SQL: an invoice and those in whose place it was made anew, back to the first one. */
export const formerInvoices = ({ db, organizationId }: Scope, invoiceId: InvoiceId) => db`
    with recursive former as (
      select id, voided_invoice_id from invoices where organization_id = ${organizationId} and id = ${invoiceId}
      union all
      select voided.id, voided.voided_invoice_id
      from former
      join invoices voided on voided.organization_id = ${organizationId} and voided.id = former.voided_invoice_id
    )`;
