import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { Db } from '../../../platform/db/connect.ts';
import { columnsOf } from '../../../platform/db/rows.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { BillingEntityId, CustomerId, InvoiceSectionId, OrganizationId } from '../../../platform/ids.ts';
import { column, computed, hidden, orAbsent, plain, type RowOf } from '../../../platform/schema/columns.ts';

const isAppliedToOrganization = (db: Db) => db`
  exists (
    select from invoice_custom_section_selections selection
    where selection.organization_id = invoice_custom_section.organization_id
      and selection.section_id = invoice_custom_section.id
      and selection.owner_type = 'billing_entity' and selection.owner_id = (
        select oldest.id from billing_entities oldest
        where oldest.organization_id = invoice_custom_section.organization_id and oldest.deleted_at is null
        order by oldest.created_at, oldest.id limit 1)
  )`;

/**
 * A section as it is stored and shown. The contract has no null here: what is not set is left out.
 * Rule: other-routes.md#records.
 */
export const sections = {
  name: 'invoice_custom_section',
  table: 'invoice_custom_sections',
  columns: {
    id: column.idOf<InvoiceSectionId>(),
    code: column.text,
    name: column.text,
    description: orAbsent(column.text),
    details: orAbsent(column.text),
    display_name: orAbsent(column.text),
    section_type: hidden(plain(z.enum(['manual', 'system_generated']))),
    /** Whether the default billing entity selects it. */
    applied_to_organization: computed(column.boolean, isAppliedToOrganization),
    organization_id: column.idOf<OrganizationId>(),
    created_at: column.instant,
  },
};
export type SectionRow = RowOf<typeof sections>;

/** What may select sections. */
export type SectionOwnerType =
  | 'billing_entity'
  | 'customer'
  | 'subscription'
  | 'wallet'
  | 'recurring_transaction_rule'
  | 'wallet_transaction';

/** A selection with its section, gathered as JSON by the query of its owner. */
export interface SelectedSectionJson extends Omit<SectionRow, 'created_at'> {
  selection_id: string;
  selected_at: string;
  created_at: string;
}

/** Column of the sections that an owner selects, oldest selection first: `ownerId` is the column of its id. */
export const selectedSections = (
  db: Db,
  type: SectionOwnerType,
  { organizationId, ownerId }: { organizationId: ReturnType<Db>; ownerId: ReturnType<Db> },
) => db`(
  select coalesce(jsonb_agg(jsonb_build_object('selection_id', picked.id, 'selected_at', picked.created_at,
    'id', section.id, 'organization_id', section.organization_id, 'code', section.code, 'name', section.name,
    'description', section.description, 'details', section.details, 'display_name', section.display_name,
    'section_type', section.section_type, 'created_at', section.created_at, 'applied_to_organization', exists (
      select from invoice_custom_section_selections chosen
      where chosen.organization_id = section.organization_id and chosen.section_id = section.id
        and chosen.owner_type = 'billing_entity' and chosen.owner_id = (
          select oldest.id from billing_entities oldest
          where oldest.organization_id = section.organization_id and oldest.deleted_at is null
          order by oldest.created_at, oldest.id limit 1)
    )) order by picked.id), '[]')
  from invoice_custom_section_selections picked
  join invoice_custom_sections section on section.id = picked.section_id and section.deleted_at is null
  where picked.organization_id = ${organizationId} and picked.owner_type = ${type} and picked.owner_id = ${ownerId})`;

/** Sections that an owner selects. */
export async function listSelectedSections(
  { db, organizationId }: Scope,
  owner: { type: SectionOwnerType; id: string },
): Promise<SectionRow[]> {
  return db<SectionRow[]>`
    select ${columnsOf(db, sections)} from invoice_custom_section_selections picked
    join invoice_custom_sections invoice_custom_section
      on invoice_custom_section.id = picked.section_id and invoice_custom_section.deleted_at is null
    where picked.organization_id = ${organizationId} and picked.owner_type = ${owner.type}
      and picked.owner_id = ${owner.id}
    order by picked.id`;
}

/**
 * Sections that hold for a customer: its own, else those of its billing entity; none when it skips them.
 * Rule: customers.md#fields.
 */
export async function listApplicableSections(
  scope: Scope,
  customer: { id: CustomerId; billing_entity_id: BillingEntityId; skip_invoice_custom_sections: boolean },
): Promise<SectionRow[]> {
  if (customer.skip_invoice_custom_sections) return [];
  const [own, ofEntity] = await Promise.all([
    listSelectedSections(scope, { type: 'customer', id: customer.id }),
    listSelectedSections(scope, { type: 'billing_entity', id: customer.billing_entity_id }),
  ]);
  if (own.some(({ section_type }) => section_type === 'manual')) return own;
  return [...own, ...ofEntity.filter(({ id }) => own.every((section) => section.id !== id))];
}

/** Row of a selection as JSON, with its instants read. */
export const sectionOfJson = (json: SelectedSectionJson): SectionRow => ({
  ...json,
  created_at: Temporal.Instant.from(json.created_at),
});
