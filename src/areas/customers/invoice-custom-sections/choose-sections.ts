import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { InvoiceSectionId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import type { SectionOwnerType } from './queries.ts';
import type { SectionChoice } from './schema.ts';

/**
 * Replaces what an owner selects; selections that stay keep their ids, unknown codes are ignored. System-generated
 * sections cannot be chosen and stay.
 *
 * Rule: billing-entities.md, customers.md#fields.
 */
export async function replaceSections(
  { db, organizationId }: Scope,
  owner: { type: SectionOwnerType; id: string },
  { codes, now }: { codes: readonly string[]; now: Temporal.Instant },
): Promise<void> {
  await db`
    delete from invoice_custom_section_selections picked using invoice_custom_sections section
    where picked.organization_id = ${organizationId} and picked.owner_type = ${owner.type}
      and picked.owner_id = ${owner.id} and section.id = picked.section_id and section.section_type = 'manual'
      and section.code <> all (${codes})`;
  const ids = codes.map((code) => ({ id: newId(), code }));
  if (ids.length === 0) return;
  // Locked, so that a section that is deleted meanwhile is not selected.
  await db`
    insert into invoice_custom_section_selections (id, organization_id, owner_type, owner_id, section_id, created_at)
    select distinct on (section.id) given.id, ${organizationId}::uuid, ${owner.type}, ${owner.id}::uuid, section.id,
      ${now}::timestamptz
    from jsonb_to_recordset(${json(ids)}::jsonb) as given (id uuid, code text)
    join (
      select id, code from invoice_custom_sections
      where organization_id = ${organizationId} and deleted_at is null and code = any (${codes})
      for key share
    ) section on section.code = given.code
    order by section.id, given.id
    on conflict do nothing`;
}

/**
 * Stores the sections that an input selects for an owner: an absent list keeps them, null removes all, and an owner
 * that skips sections has none. Rule: invoices.md#custom-sections.
 */
export async function chooseSections(
  ctx: Context,
  owner: { type: SectionOwnerType; id: string },
  choice: SectionChoice,
): Promise<void> {
  const codes = choice === null || choice?.skip_invoice_custom_sections ? [] : choice?.invoice_custom_section_codes;
  if (codes) await replaceSections(ctx, owner, { codes, now: ctx.now() });
}

/** Copies the selections of one owner to another in the same order, for the record that follows a subscription. */
export async function copySections(
  { db, organizationId }: Scope,
  type: SectionOwnerType,
  { from, to }: { from: string; to: string },
  now: Temporal.Instant,
): Promise<void> {
  const picked = await db<{ section_id: InvoiceSectionId }[]>`
    select section_id from invoice_custom_section_selections
    where organization_id = ${organizationId} and owner_type = ${type} and owner_id = ${from}
    order by id`;
  if (picked.length === 0) return;
  const rows = picked.map(({ section_id }) => ({ id: newId(), section_id }));
  await db`
    insert into invoice_custom_section_selections (id, organization_id, owner_type, owner_id, section_id, created_at)
    select id, ${organizationId}::uuid, ${type}, ${to}::uuid, section_id, ${now}::timestamptz
    from jsonb_to_recordset(${json(rows)}::jsonb) as given (id uuid, section_id uuid)
    on conflict do nothing`;
}

/** Takes a section away from everything that selects it. */
export const dropSelections = ({ db, organizationId }: Scope, sectionId: InvoiceSectionId) => db`
  delete from invoice_custom_section_selections
  where organization_id = ${organizationId} and section_id = ${sectionId}`;
