import { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { containsPattern } from '../../../platform/lists/filters.ts';
import { limitOf, type Page } from '../../../platform/lists/pagination.ts';
import { refuse } from '../../../platform/refusal.ts';

export interface SectionRow {
  id: string;
  organization_id: string;
  code: string;
  name: string;
  description: string | null;
  details: string | null;
  display_name: string | null;
  section_type: 'manual' | 'system_generated';
  /** Whether the default billing entity selects it. */
  applied_to_organization: boolean;
  created_at: Temporal.Instant;
  updated_at: Temporal.Instant;
}

const columns = (db: Db) => db`
  section.id, section.organization_id, section.code, section.name, section.description, section.details,
  section.display_name, section.section_type, section.created_at, section.updated_at,
  exists (
    select from invoice_custom_section_selections selection
    where selection.organization_id = section.organization_id and selection.section_id = section.id
      and selection.owner_type = 'billing_entity' and selection.owner_id = (
        select oldest.id from billing_entities oldest
        where oldest.organization_id = section.organization_id and oldest.deleted_at is null
        order by oldest.created_at, oldest.id limit 1)
  ) as applied_to_organization`;

export async function findSection(db: Db, organizationId: string, code: string): Promise<SectionRow | undefined> {
  const [row] = await db<SectionRow[]>`
    select ${columns(db)} from invoice_custom_sections section
    where section.organization_id = ${organizationId} and section.code = ${code} and section.deleted_at is null`;
  return row;
}

/** @throws Refusal 404 invoice_custom_section */
export async function getSection(db: Db, organizationId: string, code: string): Promise<SectionRow> {
  const row = await findSection(db, organizationId, code);
  if (!row) throw refuse.notFound('invoice_custom_section');
  return row;
}

/**
 * As getSection, and nobody else changes it until the transaction ends.
 *
 * @throws Refusal 404 invoice_custom_section
 */
export async function lockSection(db: Db, organizationId: string, code: string): Promise<SectionRow> {
  const [row] = await db<SectionRow[]>`
    select ${columns(db)} from invoice_custom_sections section
    where section.organization_id = ${organizationId} and section.code = ${code} and section.deleted_at is null
    for update of section`;
  if (!row) throw refuse.notFound('invoice_custom_section');
  return row;
}

const matching = (db: Db, organizationId: string, term: string | undefined) => db`
  section.organization_id = ${organizationId} and section.deleted_at is null
  ${
    term === undefined
      ? db``
      : db`and (section.name ilike ${containsPattern(term)} or section.code ilike ${containsPattern(term)})`
  }`;

/** A page of sections by name, newest first among equal names, and their number. */
export async function listSections(
  db: Db,
  organizationId: string,
  term: string | undefined,
  page: Page,
): Promise<{ rows: SectionRow[]; totalCount: number }> {
  const { limit, offset } = limitOf(page);
  const [rows, [count]] = await Promise.all([
    db<SectionRow[]>`
      select ${columns(db)} from invoice_custom_sections section where ${matching(db, organizationId, term)}
      order by section.name, section.created_at desc, section.id desc
      limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*) as total from invoice_custom_sections section where ${matching(db, organizationId, term)}`,
  ]);
  return { rows, totalCount: count!.total };
}

/** What may select sections. */
export type SectionOwnerType =
  | 'billing_entity'
  | 'customer'
  | 'subscription'
  | 'wallet'
  | 'recurring_transaction_rule'
  | 'wallet_transaction';

/** A selection with its section, gathered as JSON by the query of its owner. */
export interface SelectedSectionJson extends Omit<SectionRow, 'created_at' | 'updated_at'> {
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
  db: Db,
  organizationId: string,
  owner: { type: SectionOwnerType; id: string },
): Promise<SectionRow[]> {
  return db<SectionRow[]>`
    select ${columns(db)} from invoice_custom_section_selections picked
    join invoice_custom_sections section on section.id = picked.section_id and section.deleted_at is null
    where picked.organization_id = ${organizationId} and picked.owner_type = ${owner.type}
      and picked.owner_id = ${owner.id}
    order by picked.id`;
}

/**
 * Sections that hold for a customer: its own, else those of its billing entity; none when it skips them.
 * Rule: customers.md#fields.
 */
export async function listApplicableSections(
  db: Db,
  organizationId: string,
  customer: { id: string; billing_entity_id: string; skip_invoice_custom_sections: boolean },
): Promise<SectionRow[]> {
  if (customer.skip_invoice_custom_sections) return [];
  const own = await listSelectedSections(db, organizationId, { type: 'customer', id: customer.id });
  if (own.some(({ section_type }) => section_type === 'manual')) return own;
  const ofEntity = await listSelectedSections(db, organizationId, {
    type: 'billing_entity',
    id: customer.billing_entity_id,
  });
  return [...own, ...ofEntity.filter(({ id }) => own.every((section) => section.id !== id))];
}

/** Row of a selection as JSON, with its instants read. */
export const sectionOfJson = (json: SelectedSectionJson): SectionRow => ({
  ...json,
  created_at: Temporal.Instant.from(json.created_at),
  updated_at: Temporal.Instant.from(json.created_at),
});
