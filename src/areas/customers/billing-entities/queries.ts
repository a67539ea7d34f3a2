import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { EInvoicing } from '../../../engine/e-documents/parties.ts';
import type { Profile } from '../../../engine/e-documents/profiles.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, OrganizationId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { BankAccount } from '../e-invoicing.ts';

/** Fields of a billing entity that its routes may change. */
export interface BillingEntityFields {
  name: string;
  default_currency: string;
  country: string | null;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  zipcode: string | null;
  phone: string | null;
  email: string | null;
  legal_name: string | null;
  legal_number: string | null;
  tax_identification_number: string | null;
  timezone: string;
  net_payment_term: number;
  email_settings: string[];
  document_numbering: 'per_customer' | 'per_billing_entity';
  document_number_prefix: string;
  finalize_zero_amount_invoice: boolean;
  invoice_footer: string | null;
  invoice_grace_period: number;
  subscription_invoice_issuing_date_anchor: 'next_period_start' | 'current_period_end';
  subscription_invoice_issuing_date_adjustment: 'align_with_finalization_date' | 'keep_anchor';
  document_locale: string;
  einvoicing: boolean;
  eu_tax_management: boolean;
  logo_url: string | null;
  e_invoicing: EInvoicing | null;
  e_document_profile: Profile | null;
  bank_accounts: BankAccount[];
}

export interface BillingEntityRow extends BillingEntityFields {
  id: BillingEntityId;
  organization_id: OrganizationId;
  code: string;
  /** The organization's oldest live entity (billing-entities.md). */
  is_default: boolean;
  /** Since then it cannot be chosen. */
  archived_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  entity.id, entity.organization_id, entity.code, entity.name, entity.default_currency, entity.country,
  entity.address_line1, entity.address_line2, entity.city, entity.state, entity.zipcode, entity.phone, entity.email,
  entity.legal_name, entity.legal_number, entity.tax_identification_number, entity.timezone, entity.net_payment_term,
  entity.email_settings, entity.document_numbering, entity.document_number_prefix,
  entity.finalize_zero_amount_invoice, entity.invoice_footer, entity.invoice_grace_period,
  entity.subscription_invoice_issuing_date_anchor, entity.subscription_invoice_issuing_date_adjustment,
  entity.document_locale, entity.einvoicing, entity.eu_tax_management, entity.logo_url, entity.e_invoicing,
  entity.e_document_profile, entity.bank_accounts, entity.archived_at,
  entity.created_at, entity.updated_at,
  entity.id = (
    select oldest.id from billing_entities oldest
    where oldest.organization_id = entity.organization_id and oldest.deleted_at is null
    order by oldest.created_at, oldest.id limit 1
  ) as is_default`;

/** The live entity of a code, archived or not. */
export async function findBillingEntity(
  { db, organizationId }: Scope,
  code: string,
): Promise<BillingEntityRow | undefined> {
  const [entity] = await db<BillingEntityRow[]>`
    select ${columns(db)} from billing_entities entity
    where entity.organization_id = ${organizationId} and entity.code = ${code} and entity.deleted_at is null`;
  return entity;
}

/** @throws Refusal 404 billing_entity */
export async function getBillingEntity(scope: Scope, code: string): Promise<BillingEntityRow> {
  const entity = await findBillingEntity(scope, code);
  if (!entity) throw refuse.notFound('billing_entity');
  return entity;
}

/**
 * As getBillingEntity; the row stays locked until the transaction ends.
 *
 * @throws Refusal 404 billing_entity
 */
export async function lockBillingEntity({ db, organizationId }: Scope, code: string): Promise<BillingEntityRow> {
  const [entity] = await db<BillingEntityRow[]>`
    select ${columns(db)} from billing_entities entity
    where entity.organization_id = ${organizationId} and entity.code = ${code} and entity.deleted_at is null
    for no key update of entity`;
  if (!entity) throw refuse.notFound('billing_entity');
  return entity;
}

/** The default entity: the organization's oldest live one. */
export async function getDefaultBillingEntity({ db, organizationId }: Scope): Promise<BillingEntityRow> {
  const [entity] = await db<BillingEntityRow[]>`
    select ${columns(db)} from billing_entities entity
    where entity.organization_id = ${organizationId} and entity.deleted_at is null
    order by entity.created_at, entity.id limit 1`;
  assert(entity, 'an organization has a billing entity');
  return entity;
}

/** Live entities, oldest first. */
export const listBillingEntities = ({ db, organizationId }: Scope) => db<BillingEntityRow[]>`
  select ${columns(db)} from billing_entities entity
  where entity.organization_id = ${organizationId} and entity.deleted_at is null
  order by entity.created_at, entity.id`;

/**
 * For filters of lists: every distinct code must name an entity; archived ones count (lists.md#filters-and-order).
 *
 * @throws Refusal 404 billing_entity
 */
export async function checkBillingEntityCodes({ db, organizationId }: Scope, codes: readonly string[]): Promise<void> {
  const wanted = [...new Set(codes)];
  if (wanted.length === 0) return;
  const [row] = await db<{ found: number }[]>`
    select count(*) as found from billing_entities
    where organization_id = ${organizationId} and deleted_at is null and code = any (${wanted})`;
  if (row!.found < wanted.length) throw refuse.notFound('billing_entity');
}
