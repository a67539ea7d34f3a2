import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { InvoiceId } from '../../../platform/ids.ts';
import type { SectionOwnerType } from './queries.ts';
import type { SectionChoice } from './schema.ts';

/** A section as an invoice keeps it, gathered as JSON by the query of the invoice. */
export interface AppliedSectionJson {
  id: string;
  invoice_id: InvoiceId;
  code: string;
  name: string;
  display_name: string | null;
  details: string | null;
  created_at: string;
}

/** Column of the sections of the invoice at hand, by code. */
export const appliedSections = (db: Db) => db`(
  select coalesce(jsonb_agg(jsonb_build_object('id', applied.id, 'invoice_id', applied.invoice_id, 'code', applied.code,
    'name', applied.name, 'display_name', applied.display_name, 'details', applied.details,
    'created_at', applied.created_at) order by applied.code), '[]')
  from applied_invoice_custom_sections applied
  where applied.organization_id = invoice.organization_id and applied.invoice_id = invoice.id)`;

/** Who besides the customer chooses the sections of an invoice without subscriptions. */
interface Deciding {
  /** The sections in the request that makes the invoice. */
  request?: SectionChoice;
  /** The wallet, rule or transaction that it is for. */
  owner?: { type: SectionOwnerType; id: string };
}

/**
 * Stores the sections of an invoice as they are now, in place of those of a former computation.
 *
 * The request's, else the own selections of the subscriptions or the wallet, else the customer's, else the billing
 * entity's. Of several subscriptions: all their own ones together, and the customer's or entity's too when any has
 * none; those that skip take no part, and when all skip there are none. A customer that skips has none of its own or
 * the entity's. System-generated ones of the customer are always there.
 *
 * Rule: invoices.md#custom-sections.
 */
export async function applySections(
  { db, organizationId }: Scope,
  invoiceId: InvoiceId,
  { request, owner }: Deciding,
  now: Temporal.Instant,
): Promise<void> {
  const codes = request?.invoice_custom_section_codes ?? [];
  const isRequested = codes.length > 0;
  const skips = request?.skip_invoice_custom_sections === true && !isRequested;
  await db`
    with removed as (
      delete from applied_invoice_custom_sections
      where organization_id = ${organizationId} and invoice_id = ${invoiceId}
    ), payer as (
      select customer.id, invoice.billing_entity_id, customer.skip_invoice_custom_sections as skips
      from invoices invoice
      join customers customer on customer.organization_id = invoice.organization_id
        and customer.id = invoice.customer_id
      where invoice.organization_id = ${organizationId} and invoice.id = ${invoiceId}
    ), lines as (
      select s.id, s.skip_invoice_custom_sections as skips
      from invoice_subscriptions line
      join subscriptions s on s.organization_id = line.organization_id and s.id = line.subscription_id
      where line.organization_id = ${organizationId} and line.invoice_id = ${invoiceId}
    ), own as (
      select picked.owner_id, picked.section_id from invoice_custom_section_selections picked
      where picked.organization_id = ${organizationId} and (
        picked.owner_type = 'subscription' and picked.owner_id in (select id from lines where not skips)
        or picked.owner_type = ${owner?.type ?? ''} and picked.owner_id = ${owner?.id ?? null})
    ), inherits as (
      select case
        when ${isRequested || skips} or (select skips from payer) then false
        when exists (select from lines)
          then exists (select from lines where not skips and id not in (select owner_id from own))
        else not exists (select from own)
      end as wanted
    ), of_customer as (
      select picked.section_id, section.section_type from invoice_custom_section_selections picked
      join invoice_custom_sections section on section.id = picked.section_id and section.deleted_at is null
      where picked.organization_id = ${organizationId} and picked.owner_type = 'customer'
        and picked.owner_id = (select id from payer)
    ), chosen as (
      select id as section_id from invoice_custom_sections
      where organization_id = ${organizationId} and deleted_at is null and code = any (${codes})
      union
      select section_id from own where not ${isRequested || skips}
      union
      select section_id from of_customer where section_type = 'system_generated' or (select wanted from inherits)
      union
      select picked.section_id from invoice_custom_section_selections picked
      where picked.organization_id = ${organizationId} and picked.owner_type = 'billing_entity'
        and picked.owner_id = (select billing_entity_id from payer) and (select wanted from inherits)
        and not exists (select from of_customer where section_type = 'manual')
    ), stored as (
      insert into applied_invoice_custom_sections (id, organization_id, invoice_id, code, name, display_name, details,
        created_at)
      select gen_random_uuid(), section.organization_id, ${invoiceId}::uuid, section.code, section.name,
        section.display_name, section.details, ${now}
      from invoice_custom_sections section
      where section.organization_id = ${organizationId} and section.deleted_at is null
        and section.id in (select section_id from chosen)
      returning true
    )
    select count(*) from stored`;
}
