import type { Temporal } from 'temporal-polyfill';
import type { DateSettings, InheritedDateSettings } from '../../../engine/invoices/issuing-and-due-dates.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId, CustomerId, InvoiceId } from '../../../platform/ids.ts';

/** Whose drafts: one customer's, or those that a billing entity issues. */
export type DraftOwner = { customer_id: CustomerId } | { billing_entity_id: BillingEntityId };

export interface DatedDraft {
  id: InvoiceId;
  /** Local day of its billing. */
  billed_on: Temporal.PlainDate;
  is_recurring: boolean;
  customer: InheritedDateSettings;
  entity: DateSettings;
}

const settings = (db: Db, table: string) => db`
  jsonb_build_object(
    'invoice_grace_period', ${db(table)}.invoice_grace_period,
    'net_payment_term', ${db(table)}.net_payment_term,
    'subscription_invoice_issuing_date_anchor', ${db(table)}.subscription_invoice_issuing_date_anchor,
    'subscription_invoice_issuing_date_adjustment', ${db(table)}.subscription_invoice_issuing_date_adjustment)`;

const ownedBy = (db: Db, owner: DraftOwner) =>
  'customer_id' in owner
    ? db`invoice.customer_id = ${owner.customer_id}`
    : db`invoice.billing_entity_id = ${owner.billing_entity_id}`;

/** Drafts with the settings that date them, by id, after `afterId`. */
export const listDatedDrafts = (
  { db, organizationId }: Scope,
  owner: DraftOwner,
  page: { afterId: string | undefined; limit: number },
) => db<DatedDraft[]>`
  select invoice.id, line.billed_on, line.is_recurring, ${settings(db, 'customer')} as customer,
    ${settings(db, 'entity')} as entity
  from invoices invoice
  join customers customer on customer.organization_id = invoice.organization_id and customer.id = invoice.customer_id
  join billing_entities entity
    on entity.organization_id = invoice.organization_id and entity.id = invoice.billing_entity_id
  join lateral (
    select min(billed_on) as billed_on, bool_or(recurring) as is_recurring from invoice_subscriptions
    where organization_id = invoice.organization_id and invoice_id = invoice.id
    having count(*) > 0
  ) line on true
  where invoice.organization_id = ${organizationId} and invoice.status = 'draft' and ${ownedBy(db, owner)}
    and invoice.id > coalesce(${page.afterId ?? null}::uuid, '00000000-0000-0000-0000-000000000000')
  order by invoice.id
  limit ${page.limit}`;

export interface NewDates {
  id: string;
  issuing_date: string;
  expected_finalization_date: string;
  payment_due_date: string;
  net_payment_term: number;
}

/** Gives drafts their new dates; an invoice that is no longer a draft keeps its own. */
export const writeDates = ({ db, organizationId }: Scope, rows: NewDates[]) => db`
  update invoices
  set issuing_date = row.issuing_date, expected_finalization_date = row.expected_finalization_date,
    payment_due_date = row.payment_due_date, net_payment_term = row.net_payment_term
  from jsonb_to_recordset(${json(rows)}::jsonb) as row (id uuid, issuing_date date, expected_finalization_date date,
    payment_due_date date, net_payment_term integer)
  where invoices.organization_id = ${organizationId} and invoices.id = row.id and invoices.status = 'draft'`;

export const listDraftIds = ({ db, organizationId }: Scope, owner: DraftOwner) => db<{ id: InvoiceId }[]>`
  select invoice.id from invoices invoice
  where invoice.organization_id = ${organizationId} and invoice.status = 'draft' and ${ownedBy(db, owner)}
  order by invoice.id`;
