import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { newId } from '../../../platform/ids.ts';
import { recordChange } from '../../../platform/records/record-change.ts';
import { refuse } from '../../../platform/refusal.ts';
import { findPricingUnit, isPricingUnitUsed, lockPricingUnit, type PricingUnitRow } from './queries.ts';
import type { PricingUnitCreate, PricingUnitUpdate } from './schema.ts';
import { pricingUnitView } from './view.ts';

/** @throws Refusal 422 code: value_already_exist */
export async function createPricingUnit(ctx: Context, { body }: { body: PricingUnitCreate }) {
  if (await findPricingUnit(ctx.db, ctx.organizationId, body.code))
    throw refuse.invalid({ code: ['value_already_exist'] });
  const now = ctx.now();
  const unit: PricingUnitRow = {
    id: newId(),
    code: body.code,
    name: body.name,
    short_name: body.short_name,
    description: textOrNull(body.description),
    created_at: now,
    updated_at: now,
  };
  await insertPricingUnit(ctx.db, ctx.organizationId, unit);
  return answer(ctx, 'created', unit);
}

/**
 * Changes the names of a pricing unit; its code may be sent again but not changed.
 *
 * @throws Refusal 404 pricing_unit
 * @throws Refusal 422 code: value_is_frozen
 */
export async function updatePricingUnit(ctx: Context, { code, body }: { code: string; body: PricingUnitUpdate }) {
  const stored = await lockPricingUnit(ctx.db, ctx.organizationId, code);
  if (body.code !== undefined && body.code !== stored.code) throw refuse.invalid({ code: ['value_is_frozen'] });
  const unit: PricingUnitRow = {
    ...stored,
    name: body.name ?? stored.name,
    short_name: body.short_name ?? stored.short_name,
    description: body.description === undefined ? stored.description : textOrNull(body.description),
    updated_at: ctx.now(),
  };
  await updatePricingUnitRow(ctx.db, ctx.organizationId, unit);
  return answer(ctx, 'updated', unit, stored);
}

/**
 * Deletes a pricing unit that no charge uses; its code is free again. Answers it as it was.
 *
 * @throws Refusal 404 pricing_unit; 405 not_deletable
 */
export async function deletePricingUnit(ctx: Context, { code }: { code: string }) {
  const unit = await lockPricingUnit(ctx.db, ctx.organizationId, code);
  if (await isPricingUnitUsed(ctx.db, ctx.organizationId, unit.id)) throw refuse.notAllowed('not_deletable');
  await markPricingUnitDeleted(ctx.db, ctx.organizationId, unit.id, ctx.now());
  return answer(ctx, 'deleted', unit);
}

function answer(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  unit: PricingUnitRow,
  before?: PricingUnitRow,
) {
  const object = pricingUnitView(unit);
  const former = before ? { before: pricingUnitView(before) } : {};
  recordChange(ctx, { name: 'pricing_unit', resourceType: 'PricingUnit', action, object, ...former });
  return { pricing_unit: object };
}

const textOrNull = (text: string | null | undefined): string | null => (text?.trim() ? text : null);

const insertPricingUnit = (db: Db, organizationId: string, unit: PricingUnitRow) => db`
  insert into pricing_units (id, organization_id, code, name, short_name, description, created_at, updated_at)
  values (${unit.id}, ${organizationId}, ${unit.code}, ${unit.name}, ${unit.short_name}, ${unit.description},
    ${unit.created_at}, ${unit.updated_at})`;

const updatePricingUnitRow = (db: Db, organizationId: string, unit: PricingUnitRow) => db`
  update pricing_units
  set name = ${unit.name}, short_name = ${unit.short_name}, description = ${unit.description},
    updated_at = ${unit.updated_at}
  where organization_id = ${organizationId} and id = ${unit.id}`;

const markPricingUnitDeleted = (db: Db, organizationId: string, id: string, now: Temporal.Instant) => db`
  update pricing_units set deleted_at = ${now}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${id}`;
