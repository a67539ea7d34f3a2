import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { columnValues } from '../../../platform/db/values.ts';
import type { BillingEntityId, OrganizationId } from '../../../platform/ids.ts';
import type { BillingEntityFields } from './queries.ts';

export const insertBillingEntity = (
  db: Db,
  row: Partial<BillingEntityFields> & {
    id: string;
    organization_id: OrganizationId;
    code: string;
    name: string;
    document_number_prefix: string;
    created_at: Temporal.Instant;
    updated_at: Temporal.Instant;
  },
) => db`insert into billing_entities ${db(columnValues(row))}`;

export const updateBillingEntityRow = (
  { db, organizationId }: Scope,
  id: BillingEntityId,
  changes: Partial<BillingEntityFields> & { updated_at: Temporal.Instant },
) => db`
  update billing_entities set ${db(columnValues(changes))}
  where organization_id = ${organizationId} and id = ${id}`;

export const setArchivedAt = (
  { db, organizationId }: Scope,
  id: BillingEntityId,
  { archivedAt, now }: { archivedAt: Temporal.Instant | null; now: Temporal.Instant },
) => db`
  update billing_entities set archived_at = ${archivedAt}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;

/** Marks all drafts of an entity for a new computation. */
export const flagDraftsOfEntity = ({ db, organizationId }: Scope, billingEntityId: BillingEntityId) => db`
  update invoices set ready_to_be_refreshed = true
  where organization_id = ${organizationId} and billing_entity_id = ${billingEntityId} and status = 'draft'
    and not ready_to_be_refreshed`;

/** Due days of the drafts of customers without a payment term of their own: issuing day plus `netPaymentTerm` days. */
export const moveDueDatesOfEntity = (
  { db, organizationId }: Scope,
  billingEntityId: BillingEntityId,
  netPaymentTerm: number,
) => db`
  update invoices
  set net_payment_term = ${netPaymentTerm}::integer,
    payment_due_date = invoices.issuing_date + ${netPaymentTerm}::integer
  from customers customer
  where invoices.organization_id = ${organizationId} and invoices.status = 'draft'
    and customer.organization_id = invoices.organization_id and customer.id = invoices.customer_id
    and customer.billing_entity_id = ${billingEntityId} and customer.net_payment_term is null`;

/**
 * Begins numbering per entity: the newest numbered invoice, unless it has a number of the entity, gets the count of
 * numbered invoices that are not self-billed, and the series continues from there (billing-entities.md).
 */
export const continueEntitySequence = ({ db, organizationId }: Scope, billingEntityId: BillingEntityId) => db`
  with numbered as (
    select id, billing_entity_sequential_id, finalized_at from invoices
    where organization_id = ${organizationId} and billing_entity_id = ${billingEntityId} and not self_billed
      and status in ('finalized', 'voided') and number is not null
  ), newest as (
    select id, billing_entity_sequential_id from numbered order by finalized_at desc nulls last, id desc limit 1
  ), counted as (
    select count(*) as total from numbered
  ), continued as (
    update invoices set billing_entity_sequential_id = counted.total
    from newest, counted
    where invoices.organization_id = ${organizationId} and invoices.id = newest.id
      and newest.billing_entity_sequential_id is null
      and not exists (select from numbered where numbered.billing_entity_sequential_id = counted.total)
  )
  update billing_entities set invoices_sequence = greatest(invoices_sequence, counted.total)
  from counted
  where billing_entities.organization_id = ${organizationId} and billing_entities.id = ${billingEntityId}`;
