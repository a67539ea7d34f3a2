import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId } from '../../../platform/ids.ts';

/** How many errors of a customer are shown, the newest first. */
const SHOWN_MOST = 20;

export interface TaxErrorRow {
  id: string;
  error_code: 'tax_error';
  details: Record<string, string>;
}

/**
 * Why the taxes of a customer's invoices are unknown: an invoice that failed for it stays open until the engine
 * answers. Rule: customers.md#tax-errors.
 */
export const listTaxErrors = ({ db, organizationId }: Scope, customerId: CustomerId) => db<TaxErrorRow[]>`
  select error.id, error.error_code, error.details
  from invoices invoice
  join invoice_error_details error on error.organization_id = invoice.organization_id and error.invoice_id = invoice.id
  where invoice.organization_id = ${organizationId} and invoice.customer_id = ${customerId}
    and invoice.status = 'failed' and invoice.tax_status = 'failed' and error.error_code = 'tax_error'
  order by error.id desc
  limit ${SHOWN_MOST}`;

/** Whether the taxes of an invoice of a customer are unknown because an engine failed. */
export async function hasTaxError({ db, organizationId }: Scope, customerId: CustomerId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from invoices
      where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'failed'
        and tax_status = 'failed') as found`;
  return row!.found;
}
