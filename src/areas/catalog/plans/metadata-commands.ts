import type { Context } from '../../../platform/context.ts';
import { refuse } from '../../../platform/refusal.ts';
import { announcePlan } from './announce.ts';
import { type Metadata, metadataFaults } from './metadata.ts';
import { lockPlanByCode, type PlanRow } from './queries.ts';
import { showPlan } from './show-plans.ts';
import { updatePlanMetadata } from './writes.ts';

interface Input {
  code: string;
  body: Metadata;
}

/** Replaces the plan's metadata. @throws Refusal 404 plan */
export async function replacePlanMetadata(ctx: Context, { code, body }: Input) {
  return change(ctx, await lockPlanByCode(ctx, code), body);
}

/**
 * Adds keys to the plan's metadata, and rewrites those of the same name.
 *
 * @throws Refusal 404 plan
 * @throws Refusal 422 value: too_many_keys, counted with those that were there
 */
export async function mergePlanMetadata(ctx: Context, { code, body }: Input) {
  const plan = await lockPlanByCode(ctx, code);
  const merged = { ...plan.metadata, ...body };
  const faults = metadataFaults(merged);
  if (faults.length > 0) throw refuse.invalid({ value: faults });
  return change(ctx, plan, merged);
}

/** @throws Refusal 404 plan */
export async function deleteAllPlanMetadata(ctx: Context, { code }: { code: string }) {
  return change(ctx, await lockPlanByCode(ctx, code), null);
}

/** @throws Refusal 404 plan; 404 metadata, when the plan has none at all */
export async function deletePlanMetadataKey(ctx: Context, { code, key }: { code: string; key: string }) {
  const plan = await lockPlanByCode(ctx, code);
  if (plan.metadata === null) throw refuse.notFound('metadata');
  const { [key]: _gone, ...left } = plan.metadata;
  return change(ctx, plan, left);
}

// Rule: credit-notes.md#metadata.
async function change(ctx: Context, plan: PlanRow, metadata: Metadata | null) {
  const before = await showPlan(ctx, plan);
  await updatePlanMetadata(ctx, plan.id, { metadata, now: ctx.now() });
  announcePlan(ctx, 'updated', { ...before, plan: { ...plan, metadata } }, before);
  return { metadata };
}
