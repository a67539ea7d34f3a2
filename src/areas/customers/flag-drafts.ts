import { isImagined } from '../../platform/db/preview-tables.ts';
import type { Scope } from '../../platform/db/scope.ts';
import type { CustomerId, IntegrationId } from '../../platform/ids.ts';

/** Marks the customer's drafts for a new computation. */
export const flagDraftsOfCustomer = ({ db, organizationId }: Scope, customerId: CustomerId) => db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'draft'
    and not ready_to_be_refreshed and not (${isImagined(db)})`;

/** Marks the drafts of all customers that are linked with a connection for a new computation. */
export const flagDraftsOfIntegration = ({ db, organizationId }: Scope, integrationId: IntegrationId) => db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${organizationId} and status = 'draft' and not ready_to_be_refreshed
    and customer_id in (select customer_id from integration_customers
      where organization_id = ${organizationId} and integration_id = ${integrationId})`;
