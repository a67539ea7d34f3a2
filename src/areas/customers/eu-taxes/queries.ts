import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId, InvoiceId, TaxId } from '../../../platform/ids.ts';

/** A billing entity as a seller. */
export interface Seller {
  country: string | null;
  timezone: string;
  eu_tax_management: boolean;
}

export async function readSeller({ db, organizationId }: Scope, billingEntityId: BillingEntityId): Promise<Seller> {
  const [row] = await db<Seller[]>`
    select country, timezone, eu_tax_management from billing_entities
    where organization_id = ${organizationId} and id = ${billingEntityId}`;
  return row!;
}

export interface CheckRow {
  id: string;
  customer_id: CustomerId;
  tax_identification_number: string;
  status: 'pending' | 'valid' | 'invalid';
  tax_ids: TaxId[];
  attempts: number;
  last_error: string | null;
  next_attempt_at: Temporal.Instant | null;
}

const columns = (db: Db) => db`
  id, customer_id, tax_identification_number, status, tax_ids, attempts, last_error, next_attempt_at`;

/** The question about a customer's number, asked or answered. */
export async function findCheck({ db, organizationId }: Scope, customerId: CustomerId): Promise<CheckRow | undefined> {
  const [row] = await db<CheckRow[]>`
    select ${columns(db)} from vies_checks where organization_id = ${organizationId} and customer_id = ${customerId}`;
  return row;
}

/** An open question by its id. */
export async function findOpenCheck({ db, organizationId }: Scope, id: string): Promise<CheckRow | undefined> {
  const [row] = await db<CheckRow[]>`
    select ${columns(db)} from vies_checks
    where organization_id = ${organizationId} and id = ${id} and status = 'pending'`;
  return row;
}

/** Whether the register has not yet answered for a customer. */
export async function isAwaitingRegister({ db, organizationId }: Scope, customerId: CustomerId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from vies_checks
      where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'pending') as found`;
  return row!.found;
}

/** Invoices of a customer that wait for their taxes, oldest first. */
export const listAwaitingInvoices = ({ db, organizationId }: Scope, customerId: CustomerId) => db<{ id: InvoiceId }[]>`
  select id from invoices
  where organization_id = ${organizationId} and customer_id = ${customerId} and status = 'pending'
    and tax_status = 'pending'
  order by created_at, id`;

/** Locks a live customer until the transaction ends; whether it exists. */
export async function holdCustomer({ db, organizationId }: Scope, customerId: CustomerId): Promise<boolean> {
  const held = await db`
    select id from customers where organization_id = ${organizationId} and id = ${customerId} and deleted_at is null
    for no key update`;
  return held.length > 0;
}
