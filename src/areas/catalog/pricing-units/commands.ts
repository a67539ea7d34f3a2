import type { Context } from '../../../platform/context.ts';
import { deleteRow, insertRow, lockRow, refuseTakenCode, updateRow } from '../../../platform/db/rows.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { refuse } from '../../../platform/refusal.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { isPricingUnitUsed, type PricingUnitRow, pricingUnits } from './queries.ts';
import type { PricingUnitCreate, PricingUnitUpdate } from './schema.ts';

/** @throws Refusal 422 code: value_already_exist */
export async function createPricingUnit(ctx: Context, { body }: { body: PricingUnitCreate }) {
  await refuseTakenCode(ctx, pricingUnits, body.code);
  const unit = await insertRow(ctx, pricingUnits, { ...body, description: textOrNull(body.description) });
  return answer(ctx, 'created', unit);
}

/**
 * Changes the names of a pricing unit; its code may be sent again but not changed.
 *
 * @throws Refusal 404 pricing_unit
 * @throws Refusal 422 code: value_is_frozen
 */
export async function updatePricingUnit(ctx: Context, { code, body }: { code: string; body: PricingUnitUpdate }) {
  const stored = await lockRow(ctx, pricingUnits, code);
  if (body.code !== undefined && body.code !== stored.code) throw refuse.invalid({ code: ['value_is_frozen'] });
  const unit = await updateRow(ctx, pricingUnits, stored, { ...body, description: textOrNull(body.description) });
  return answer(ctx, 'updated', unit, stored);
}

/**
 * Deletes a pricing unit that no charge uses; its code is free again. Answers it as it was.
 *
 * @throws Refusal 404 pricing_unit; 405 not_deletable
 */
export async function deletePricingUnit(ctx: Context, { code }: { code: string }) {
  const unit = await lockRow(ctx, pricingUnits, code);
  if (await isPricingUnitUsed(ctx, unit.id)) throw refuse.notAllowed('not_deletable');
  await deleteRow(ctx, pricingUnits, unit.id);
  return answer(ctx, 'deleted', unit);
}

function answer(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  unit: PricingUnitRow,
  before?: PricingUnitRow,
) {
  const object = viewOf(pricingUnits, unit);
  const former = before ? { before: viewOf(pricingUnits, before) } : {};
  recordChange(ctx, { name: 'pricing_unit', resourceType: 'PricingUnit', action, object, ...former });
  return { pricing_unit: object };
}

/** A blank text becomes null; an absent one stays absent. */
const textOrNull = (text: string | null | undefined) => (text === undefined || text?.trim() ? text : null);
