import type { Scope } from '../../../platform/db/scope.ts';
import type { CustomerId } from '../../../platform/ids.ts';

/** Which records besides fees may affect an invoice of a customer. Those that do not exist are not queried later. */
export interface BillingFacts {
  /** The VAT register has not yet answered which taxes the customer gets. */
  awaits_register: boolean;
  has_progressive_invoices: boolean;
  has_coupons: boolean;
  has_notes: boolean;
  has_wallets: boolean;
  /** Whether the organization has any sections, deleted ones included, which an invoice may still show. */
  has_sections: boolean;
}

/**
 * Reads all of it in one statement. The caller holds the customer's lock, so nothing is added before the invoice is
 * stored.
 */
export async function readBillingFacts({ db, organizationId }: Scope, customerId: CustomerId): Promise<BillingFacts> {
  const [row] = await db<BillingFacts[]>`
    select
      exists (select from vies_checks
        where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'pending')
        as awaits_register,
      exists (select from invoices
        where organization_id = ${organizationId} and customer_id = ${customerId}
          and invoice_type = 'progressive_billing') as has_progressive_invoices,
      exists (select from applied_coupons
        where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active') as has_coupons,
      exists (select from credit_notes
        where organization_id = ${organizationId} and customer_id = ${customerId}
          and status = 'finalized' and credit_status = 'available' and balance_amount_cents > 0) as has_notes,
      exists (select from wallets
        where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'active') as has_wallets,
      exists (select from invoice_custom_sections where organization_id = ${organizationId}) as has_sections`;
  return row!;
}
