import type { Context } from '../../../platform/context.ts';
import { deleteRow, getRow, insertRow, lockRow, refuseTakenCode, updateRow } from '../../../platform/db/rows.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { refuse } from '../../../platform/refusal.ts';
import { dropSelections } from './choose-sections.ts';
import { type SectionRow, sections } from './queries.ts';
import type { SectionCreate, SectionUpdate } from './schema.ts';
import { sectionView } from './view.ts';

/** @throws Refusal 422 code: value_already_exist */
export async function createSection(ctx: Context, { body }: { body: SectionCreate }) {
  await refuseTakenCode(ctx, sections, body.code);
  await insertRow(ctx, sections, { ...body, section_type: 'manual' });
  return answer(ctx, 'created', await getRow(ctx, sections, body.code));
}

/**
 * Changes a section; invoices keep what they printed.
 *
 * @throws Refusal 404 invoice_custom_section; 405 invalid_status, of a system-generated one; 422 code
 */
export async function updateSection(ctx: Context, { code, body }: { code: string; body: SectionUpdate }) {
  const stored = await lockManual(ctx, code);
  await refuseTakenCode(ctx, sections, body.code ?? code, stored.id);
  await updateRow(ctx, sections, stored, body);
  return answer(ctx, 'updated', await getRow(ctx, sections, body.code ?? code), stored);
}

/**
 * Deletes a section with everything that selects it; its code is free again, and invoices keep what they printed.
 *
 * @throws Refusal 404 invoice_custom_section; 405 invalid_status, of a system-generated one
 */
export async function deleteSection(ctx: Context, { code }: { code: string }) {
  const section = await lockManual(ctx, code);
  await deleteRow(ctx, sections, section.id);
  await dropSelections(ctx, section.id);
  return answer(ctx, 'deleted', section);
}

async function lockManual(ctx: Context, code: string): Promise<SectionRow> {
  const section = await lockRow(ctx, sections, code);
  if (section.section_type !== 'manual') throw refuse.notAllowed('invalid_status');
  return section;
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
