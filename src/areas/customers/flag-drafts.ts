import type { Db } from '../../platform/db/connect.ts';

/** Marks the customer's drafts for a new computation. */
export const flagDraftsOfCustomer = (db: Db, organizationId: string, customerId: string) => db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'draft'
    and not ready_to_be_refreshed`;
