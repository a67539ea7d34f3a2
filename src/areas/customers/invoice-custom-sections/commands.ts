import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { columnValues } from '../../../platform/db/values.ts';
import { newId } from '../../../platform/ids.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findSection, getSection, lockSection, type SectionRow } from './queries.ts';
import type { SectionCreate, SectionUpdate } from './schema.ts';
import { sectionView } from './view.ts';

/** @throws Refusal 422 code: value_already_exist */
export async function createSection(ctx: Context, { body }: { body: SectionCreate }) {
  await refuseNamesake(ctx, body.code);
  const { description = null, details = null, display_name = null } = body;
  await insertSection(ctx.db, {
    id: newId(),
    organization_id: ctx.organizationId,
    code: body.code,
    name: body.name,
    description,
    details,
    display_name,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  });
  return answer(ctx, 'created', await getSection(ctx.db, ctx.organizationId, body.code));
}

/**
 * Changes a section; invoices keep what they printed.
 *
 * @throws Refusal 404 invoice_custom_section; 405 invalid_status, of a system-generated one; 422 code
 */
export async function updateSection(ctx: Context, { code, body }: { code: string; body: SectionUpdate }) {
  const section = await lockManual(ctx, code);
  if (body.code !== undefined && body.code !== section.code) await refuseNamesake(ctx, body.code);
  const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
  await ctx.db`
    update invoice_custom_sections set ${ctx.db(columnValues({ ...change, updated_at: ctx.now() }))}
    where organization_id = ${ctx.organizationId} and id = ${section.id}`;
  return answer(ctx, 'updated', await getSection(ctx.db, ctx.organizationId, body.code ?? code), section);
}

/**
 * Deletes a section with everything that selects it; its code is free again, and invoices keep what they printed.
 *
 * @throws Refusal 404 invoice_custom_section; 405 invalid_status, of a system-generated one
 */
export async function deleteSection(ctx: Context, { code }: { code: string }) {
  const section = await lockManual(ctx, code);
  await ctx.db`
    update invoice_custom_sections set deleted_at = ${ctx.now()}, updated_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${section.id}`;
  await ctx.db`
    delete from invoice_custom_section_selections
    where organization_id = ${ctx.organizationId} and section_id = ${section.id}`;
  return answer(ctx, 'deleted', section);
}

function answer(ctx: Context, action: 'created' | 'updated' | 'deleted', section: SectionRow, before?: SectionRow) {
  const object = sectionView(section);
  const former = before ? { before: sectionView(before) } : {};
  recordChange(ctx, {
    name: 'invoice_custom_section',
    resourceType: 'InvoiceCustomSection',
    action,
    object,
    ...former,
  });
  return { invoice_custom_section: object };
}

async function lockManual(ctx: Context, code: string): Promise<SectionRow> {
  const section = await lockSection(ctx.db, ctx.organizationId, code);
  if (section.section_type !== 'manual') throw refuse.notAllowed('invalid_status');
  return section;
}

async function refuseNamesake(ctx: Context, code: string): Promise<void> {
  if (await findSection(ctx.db, ctx.organizationId, code)) throw refuse.invalid({ code: ['value_already_exist'] });
}

const insertSection = (db: Db, row: Omit<SectionRow, 'section_type' | 'applied_to_organization'>) =>
  db`insert into invoice_custom_sections ${db(columnValues(row))}`;
