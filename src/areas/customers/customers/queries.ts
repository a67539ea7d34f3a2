import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { EInvoicing } from '../../../engine/e-documents/parties.ts';
import type { Profile } from '../../../engine/e-documents/profiles.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId, OrganizationId, PaymentProviderId } from '../../../platform/ids.ts';
import { countRecords } from '../../../platform/lists/count.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { metadataCondition } from '../../../platform/lists/metadata-condition.ts';
import { type Counted, limitOf, pageOf } from '../../../platform/lists/pagination.ts';
import type { ContractProvider } from '../../../platform/payments/contract-providers.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { IntegrationCategory, IntegrationType } from '../integrations/schema.ts';
import type {
  ACCOUNT_TYPES,
  CUSTOMER_TYPES,
  CustomerListQuery,
  ISSUING_DATE_ADJUSTMENTS,
  ISSUING_DATE_ANCHORS,
  ZERO_AMOUNT_OPTIONS,
} from './schema.ts';

/** Metadata as the API shows it. */
export interface CustomerMetadata {
  svc_id: string;
  key: string;
  value: string;
  display_in_invoice: boolean;
  created_at: string;
}

/** Fields of the row that an upsert may change. */
export interface CustomerFields {
  billing_entity_id: BillingEntityId;
  account_type: (typeof ACCOUNT_TYPES)[number];
  customer_type: (typeof CUSTOMER_TYPES)[number] | null;
  name: string | null;
  firstname: string | null;
  lastname: string | null;
  legal_name: string | null;
  legal_number: string | null;
  tax_identification_number: string | null;
  email: string | null;
  phone: string | null;
  url: string | null;
  logo_url: string | null;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  zipcode: string | null;
  country: string | null;
  shipping_address_line1: string | null;
  shipping_address_line2: string | null;
  shipping_city: string | null;
  shipping_state: string | null;
  shipping_zipcode: string | null;
  shipping_country: string | null;
  currency: string | null;
  timezone: string | null;
  net_payment_term: number | null;
  finalize_zero_amount_invoice: (typeof ZERO_AMOUNT_OPTIONS)[number];
  skip_invoice_custom_sections: boolean;
  external_salesforce_id: string | null;
  invoice_grace_period: number | null;
  subscription_invoice_issuing_date_anchor: (typeof ISSUING_DATE_ANCHORS)[number] | null;
  subscription_invoice_issuing_date_adjustment: (typeof ISSUING_DATE_ADJUSTMENTS)[number] | null;
  document_locale: string | null;
  payment_provider: ContractProvider | null;
  payment_provider_code: string | null;
  provider_customer_id: string | null;
  /** The connection of the customer; null while only its provider is named. */
  payment_provider_id: PaymentProviderId | null;
  provider_payment_methods: string[];
  e_invoicing: EInvoicing | null;
  e_document_profile: Profile | null;
}

/** An id that another system gave, or knows by. */
export type ForeignId = string;

/** A link with another system as the API shows it. */
export interface CustomerLink {
  svc_id: string;
  type: Exclude<IntegrationType, 'e_invoicing'>;
  category: Exclude<IntegrationCategory, 'e_invoicing'>;
  integration_code: string;
  external_customer_id: ForeignId;
  is_default: boolean;
}

/** A customer with what its answer needs of its billing entity, and its metadata. */
export interface CustomerRow extends CustomerFields {
  id: CustomerId;
  organization_id: OrganizationId;
  external_id: string;
  sequential_id: number;
  slug: string;
  billing_entity_code: string;
  /** Zone of the billing entity: holds where the customer has none of its own. */
  billing_entity_timezone: string;
  metadata: CustomerMetadata[];
  /** Its links with other systems. */
  integration_customers: CustomerLink[];
  deleted_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

/** What a customer is read with, of `customer` and its billing entity. */
export const customerColumns = (db: Db) => db`
  customer.id, customer.organization_id, customer.billing_entity_id, customer.external_id, customer.sequential_id,
  customer.slug, customer.account_type, customer.customer_type, customer.name, customer.firstname, customer.lastname,
  customer.legal_name, customer.legal_number, customer.tax_identification_number, customer.email, customer.phone,
  customer.url, customer.logo_url, customer.address_line1, customer.address_line2, customer.city, customer.state,
  customer.zipcode, customer.country, customer.shipping_address_line1, customer.shipping_address_line2,
  customer.shipping_city, customer.shipping_state, customer.shipping_zipcode, customer.shipping_country,
  customer.currency, customer.timezone, customer.net_payment_term, customer.finalize_zero_amount_invoice,
  customer.skip_invoice_custom_sections, customer.external_salesforce_id, customer.invoice_grace_period,
  customer.subscription_invoice_issuing_date_anchor, customer.subscription_invoice_issuing_date_adjustment,
  customer.document_locale, customer.payment_provider, customer.payment_provider_code, customer.provider_customer_id,
  customer.provider_payment_methods, customer.payment_provider_id, customer.e_invoicing,
  customer.e_document_profile, customer.deleted_at, customer.created_at, customer.updated_at,
  entity.code as billing_entity_code, entity.timezone as billing_entity_timezone,
  coalesce((
    select jsonb_agg(jsonb_build_object('svc_id', item.id, 'key', item.key, 'value', item.value,
      'display_in_invoice', item.display_in_invoice,
      'created_at', to_char(item.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) order by item.id)
    from customer_metadata item
    where item.organization_id = customer.organization_id and item.customer_id = customer.id
  ), '[]') as metadata,
  coalesce((
    select jsonb_agg(jsonb_build_object('svc_id', link.id, 'type', integration.integration_type,
      'category', link.category, 'integration_code', integration.code,
      'external_customer_id', link.external_customer_id, 'is_default', true) order by link.id)
    from integration_customers link
    join integrations integration on integration.organization_id = link.organization_id
      and integration.id = link.integration_id
    where link.organization_id = customer.organization_id and link.customer_id = customer.id
  ), '[]') as integration_customers`;

export const entityOfCustomer = (db: Db) => db`
  join billing_entities entity on entity.organization_id = customer.organization_id
    and entity.id = customer.billing_entity_id`;

/** The live customer of an external id. */
export async function findCustomer(
  { db, organizationId }: Scope,
  externalId: string,
): Promise<CustomerRow | undefined> {
  const [customer] = await db<CustomerRow[]>`
    select ${customerColumns(db)} from customers customer ${entityOfCustomer(db)}
    where customer.organization_id = ${organizationId} and customer.external_id = ${externalId}
      and customer.deleted_at is null`;
  return customer;
}

/** The id of the live customer of an external id, within a condition: found once, whatever the rest is read by. */
export const liveCustomerId = ({ db, organizationId }: Scope, externalId: string) => db`
  (select id from customers
   where organization_id = ${organizationId} and external_id = ${externalId} and deleted_at is null)`;

/** @throws Refusal 404 customer */
export async function getCustomer(scope: Scope, externalId: string): Promise<CustomerRow> {
  const customer = await findCustomer(scope, externalId);
  if (!customer) throw refuse.notFound('customer');
  return customer;
}

/** As findCustomer; the row stays locked until the transaction ends. */
export async function lockCustomer(
  { db, organizationId }: Scope,
  externalId: string,
): Promise<CustomerRow | undefined> {
  const [customer] = await db<CustomerRow[]>`
    select ${customerColumns(db)} from customers customer ${entityOfCustomer(db)}
    where customer.organization_id = ${organizationId} and customer.external_id = ${externalId}
      and customer.deleted_at is null
    for no key update of customer`;
  return customer;
}

/** Customers by id, deleted ones too: what documents show. */
export const listCustomersByIds = ({ db, organizationId }: Scope, ids: readonly CustomerId[]) => db<CustomerRow[]>`
  select ${customerColumns(db)} from customers customer ${entityOfCustomer(db)}
  where customer.organization_id = ${organizationId} and customer.id = any (${ids})`;

/** A customer of ours by its id. */
export async function readCustomer(scope: Scope, id: CustomerId): Promise<CustomerRow> {
  const [customer] = await listCustomersByIds(scope, [id]);
  assert(customer, 'a customer that is referred to exists');
  return customer;
}

/**
 * Customers that pass the filters, newest first. A search term is ignored beside an external id
 * (lists.md#filters-and-order); a metadata filter without value asks for customers without that key.
 */
export async function listCustomers(
  scope: Scope,
  query: CustomerListQuery,
): Promise<{ rows: readonly CustomerRow[]; total: Counted }> {
  const { db, organizationId } = scope;
  const { limit, offset } = limitOf(query);
  const passing = db`
    customer.organization_id = ${organizationId} and customer.deleted_at is null ${conditions(scope, query)}`;
  return pageOf(query, {
    rows: () => db<CustomerRow[]>`
      select ${customerColumns(db)} from customers customer ${entityOfCustomer(db)}
      where ${passing}
      order by customer.created_at desc, customer.id desc
      limit ${limit} offset ${offset}`,
    count: () => countRecords(db, db`customers customer ${entityOfCustomer(db)} where ${passing}`),
  });
}

function conditions({ db, organizationId }: Scope, query: CustomerListQuery) {
  // The first part keeps the list from being empty, which the driver would treat as a value.
  const parts = [db``];
  const term = query.search_term;
  if (query.external_id !== undefined) parts.push(db`and customer.external_id = ${query.external_id}`);
  else if (term !== undefined) {
    const pattern = containsPattern(term);
    parts.push(db`and (customer.name ilike ${pattern} or customer.firstname ilike ${pattern}
      or customer.lastname ilike ${pattern} or customer.legal_name ilike ${pattern}
      or customer.external_id ilike ${pattern} or customer.email ilike ${pattern})`);
  }
  if (query.account_type) parts.push(db`and customer.account_type = any (${query.account_type})`);
  if (query.customer_type) parts.push(db`and customer.customer_type = ${query.customer_type}`);
  if (query.has_customer_type !== undefined)
    parts.push(db`and (customer.customer_type is not null) = ${query.has_customer_type}`);
  if (query.billing_entity_codes) parts.push(db`and entity.code = any (${query.billing_entity_codes})`);
  if (query.countries) parts.push(db`and customer.country = any (${query.countries})`);
  if (query.states) parts.push(db`and customer.state = any (${query.states})`);
  if (query.zipcodes) parts.push(db`and customer.zipcode = any (${query.zipcodes})`);
  if (query.currencies) parts.push(db`and customer.currency = any (${query.currencies})`);
  if (query.has_tax_identification_number !== undefined)
    parts.push(db`and (customer.tax_identification_number is not null) = ${query.has_tax_identification_number}`);
  const items = db`from customer_metadata item where item.organization_id = ${organizationId}`;
  const [owner, reference] = [db`customer.id`, db`item.customer_id`];
  parts.push(metadataCondition(db, { owner, items, reference }, query.metadata));
  return parts;
}

/** Whether the customer has anything that fixes its account type (customers.md#saving (4)). */
export async function hasBillingHistory({ db, organizationId }: Scope, customerId: CustomerId): Promise<boolean> {
  const [row] = await db<{ found: boolean }[]>`
    select exists (select from subscriptions where organization_id = ${organizationId} and customer_id = ${customerId})
      or exists (select from invoices where organization_id = ${organizationId} and customer_id = ${customerId})
      or exists (select from wallets where organization_id = ${organizationId} and customer_id = ${customerId})
      or exists (select from applied_coupons where organization_id = ${organizationId} and customer_id = ${customerId}
        and amount_currency is not null) as found`;
  return row!.found;
}
