import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues, json } from '../../../platform/db/values.ts';
import type { BillingEntityId, CustomerId, OrganizationId } from '../../../platform/ids.ts';
import { type CustomerFields, type CustomerRow, customerColumns, entityOfCustomer } from './queries.ts';

/** Stores a customer and reads it, without metadata and links; undefined when a live one has its external id. */
export async function insertCustomer(
  db: Db,
  row: Partial<CustomerFields> & {
    id: string;
    organization_id: OrganizationId;
    billing_entity_id: BillingEntityId;
    external_id: string;
    sequential_id: number;
    slug: string;
    created_at: Temporal.Instant;
    updated_at: Temporal.Instant;
  },
): Promise<CustomerRow | undefined> {
  const [customer] = await db<CustomerRow[]>`
    with customer as (
      insert into customers ${db(columnValues(row))}
      on conflict (organization_id, external_id) where deleted_at is null do nothing
      returning *
    )
    select ${customerColumns(db)} from customer ${entityOfCustomer(db)}`;
  return customer;
}

export const updateCustomer = (
  { db, organizationId }: Scope,
  id: CustomerId,
  changes: Partial<CustomerFields> & { updated_at: Temporal.Instant },
) => db`
  update customers set ${db(columnValues(changes))}
  where organization_id = ${organizationId} and id = ${id}`;

export const markCustomerDeleted = ({ db, organizationId }: Scope, id: CustomerId, at: Temporal.Instant) => db`
  update customers set deleted_at = ${at}, updated_at = ${at}
  where organization_id = ${organizationId} and id = ${id}`;

export interface MetadataItem {
  id: string;
  key: string;
  value: string;
  display_in_invoice: boolean;
  created_at: string;
}

/** Replaces all metadata; deletes before it inserts, because two entries may swap their keys. */
export async function replaceMetadata(
  { db, organizationId }: Scope,
  customerId: CustomerId,
  { items, now }: { items: MetadataItem[]; now: Temporal.Instant },
): Promise<void> {
  await db`delete from customer_metadata where organization_id = ${organizationId} and customer_id = ${customerId}`;
  if (items.length === 0) return;
  await db`
    insert into customer_metadata (id, organization_id, customer_id, key, value, display_in_invoice, created_at,
      updated_at)
    select item.id, ${organizationId}::uuid, ${customerId}::uuid, item.key, item.value, item.display_in_invoice,
      item.created_at, ${now}
    from jsonb_to_recordset(${json(items)}::jsonb) as item (id uuid, key text, value text, display_in_invoice boolean,
      created_at timestamptz)`;
}

/** Due days of the customer's drafts under the payment term that now holds: its own, else its billing entity's. */
export const moveDueDatesOfCustomer = ({ db, organizationId }: Scope, customerId: CustomerId) => db`
  update invoices
  set net_payment_term = term.days, payment_due_date = invoices.issuing_date + term.days
  from (
    select coalesce(customer.net_payment_term, entity.net_payment_term) as days
    from customers customer
    join billing_entities entity on entity.organization_id = customer.organization_id
      and entity.id = customer.billing_entity_id
    where customer.organization_id = ${organizationId} and customer.id = ${customerId}
  ) term
  where invoices.organization_id = ${organizationId} and invoices.customer_id = ${customerId}
    and invoices.status = 'draft'`;
