import type { Context } from '../../../platform/context.ts';
import { getRow, insertRow, refuseTakenCode, updateRow } from '../../../platform/db/rows.ts';
import { refuse } from '../../../platform/refusal.ts';
import { viewOf } from '../../../platform/schema/columns.ts';
import { announceFeature, announcePlansOf, plansShown } from './announce.ts';
import { preparePrivileges } from './privileges.ts';
import { features, listPlanIdsOfFeature, lockFeature } from './queries.ts';
import type { FeatureCreate, FeatureUpdate } from './schema.ts';
import { deleteFeatureRows, deletePrivilege, savePrivileges } from './writes.ts';

/**
 * Makes a feature with its privileges.
 *
 * @throws Refusal 422 code: value_already_exist; as preparePrivileges
 * Rule: entitlements.md.
 */
export async function createFeature(ctx: Context, { body }: { body: FeatureCreate }) {
  const privileges = preparePrivileges(body.privileges ?? [], []);
  await refuseTakenCode(ctx, features, body.code);
  const feature = { ...(await insertRow(ctx, features, body)), privileges, usage_limits: [] };
  if (privileges.length > 0) await savePrivileges(ctx, feature.id, { privileges, now: ctx.now() });
  announceFeature(ctx, 'created', feature);
  return { feature: viewOf(features, feature) };
}

/**
 * Changes names and adds privileges or their options; nothing is removed, and codes and types stay.
 *
 * @throws Refusal 404 feature
 * @throws Refusal 422 code: value_is_frozen; as preparePrivileges
 * Rule: entitlements.md#routes.
 */
export async function updateFeature(ctx: Context, { code, body }: { code: string; body: FeatureUpdate }) {
  const stored = await lockFeature(ctx, code);
  if (body.code !== undefined && body.code !== stored.code) throw refuse.invalid({ code: ['value_is_frozen'] });
  const privileges = preparePrivileges(body.privileges ?? [], stored.privileges);
  const plans = await plansShown(ctx, await listPlanIdsOfFeature(ctx, stored.id));

  await updateRow(ctx, features, stored, { name: body.name, description: body.description });
  if (privileges.length > 0) await savePrivileges(ctx, stored.id, { privileges, now: ctx.now() });

  const feature = await getRow(ctx, features, code);
  announceFeature(ctx, 'updated', feature, stored);
  await announcePlansOf(ctx, plans);
  return { feature: viewOf(features, feature) };
}

/**
 * Deletes a feature, its privileges and all that plans and subscriptions grant of it. Answers it as it was.
 *
 * @throws Refusal 404 feature
 * Rule: entitlements.md#routes.
 */
export async function deleteFeature(ctx: Context, { code }: { code: string }) {
  const feature = await lockFeature(ctx, code);
  const plans = await plansShown(ctx, await listPlanIdsOfFeature(ctx, feature.id));
  await deleteFeatureRows(ctx, feature.id, ctx.now());
  announceFeature(ctx, 'deleted', feature);
  await announcePlansOf(ctx, plans);
  return { feature: viewOf(features, feature) };
}

/**
 * Takes a privilege away from a feature, with its values. Answers the feature without it.
 *
 * @throws Refusal 404 feature, privilege
 * Rule: entitlements.md#routes.
 */
export async function deleteFeaturePrivilege(
  ctx: Context,
  { code, privilege_code }: { code: string; privilege_code: string },
) {
  const stored = await lockFeature(ctx, code);
  const privilege = stored.privileges.find((each) => each.code === privilege_code);
  if (!privilege) throw refuse.notFound('privilege');
  const plans = await plansShown(ctx, await listPlanIdsOfFeature(ctx, stored.id));
  await deletePrivilege(ctx, privilege.id);

  const feature = await getRow(ctx, features, code);
  announceFeature(ctx, 'updated', feature, stored);
  await announcePlansOf(ctx, plans);
  return { feature: viewOf(features, feature) };
}
