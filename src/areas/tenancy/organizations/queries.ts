import type { Temporal } from 'temporal-polyfill';
import { assert } from '../../../engine/assert.ts';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ApiKeyId, OrganizationId, WebhookEndpointId } from '../../../platform/ids.ts';
import type { ORGANIZATION_NUMBERINGS } from './schema.ts';

/** What `PUT /organizations` may change of the row itself. */
export interface OrganizationFields {
  slug: string;
  country: string | null;
  address_line1: string | null;
  address_line2: string | null;
  city: string | null;
  state: string | null;
  zipcode: string | null;
  email: string | null;
  legal_name: string | null;
  legal_number: string | null;
  tax_identification_number: string | null;
  net_payment_term: number;
  email_settings: string[];
  document_numbering: (typeof ORGANIZATION_NUMBERINGS)[number];
  document_number_prefix: string;
  finalize_zero_amount_invoice: boolean;
  invoice_footer: string | null;
  invoice_grace_period: number;
  document_locale: string;
}

export interface OrganizationRow extends OrganizationFields {
  id: OrganizationId;
  name: string;
  sandbox: boolean;
  created_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  id, name, slug, sandbox, country, address_line1, address_line2, city, state, zipcode, email, legal_name, legal_number,
  tax_identification_number, net_payment_term, email_settings, document_numbering, document_number_prefix,
  finalize_zero_amount_invoice, invoice_footer, invoice_grace_period, document_locale, created_at`;

export async function readOrganization({ db, organizationId }: Scope): Promise<OrganizationRow> {
  const [organization] = await db<OrganizationRow[]>`
    select ${columns(db)} from organizations where id = ${organizationId}`;
  assert(organization, 'the organization of a key exists');
  return organization;
}

/** As readOrganization; the row stays locked until the transaction ends. */
export async function lockOrganization({ db, organizationId }: Scope): Promise<OrganizationRow> {
  const [organization] = await db<OrganizationRow[]>`
    select ${columns(db)} from organizations where id = ${organizationId} for no key update`;
  assert(organization, 'the organization of a key exists');
  return organization;
}

/** Whether another organization has the slug. */
export async function isSlugTaken({ db, organizationId }: Scope, slug: string): Promise<boolean> {
  const [row] = await db<{ taken: boolean }[]>`
    select exists (select from organizations where slug = ${slug} and id <> ${organizationId}) as taken`;
  return row!.taken;
}

/** Webhook endpoints of an organization, the first one made first. */
export const listWebhookUrls = ({ db, organizationId }: Scope) => db<{ id: WebhookEndpointId; webhook_url: string }[]>`
  select id, webhook_url from webhook_endpoints where organization_id = ${organizationId} order by created_at, id`;

/** Every organization, for the operator: with the last characters of its valid keys, oldest first. */
export const listOrganizations = (db: Db, now: Temporal.Instant) => db<
  { id: ApiKeyId; name: string; slug: string; sandbox: boolean; created_at: Temporal.Instant; keys: string[] }[]
>`
  select id, name, slug, sandbox, created_at, array(
    select last_four from api_keys key
    where key.organization_id = organization.id and (key.expires_at is null or key.expires_at > ${now})
    order by key.id) as keys
  from organizations organization
  order by created_at, id`;
