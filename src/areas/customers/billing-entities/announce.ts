import type { Context } from '../../../platform/context.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { securityDiff } from '../../../platform/records/security-log.ts';
import { listTaxesOfBillingEntities } from '../../catalog/taxes/queries.ts';
import { listSelectedSections } from '../invoice-custom-sections/queries.ts';
import type { BillingEntityRow } from './queries.ts';
import { billingEntityDetails } from './view.ts';

/** A billing entity with its taxes and sections, as it is shown when read by its code. */
export async function detailsOf(ctx: Context, entity: BillingEntityRow) {
  return billingEntityDetails(
    entity,
    await listTaxesOfBillingEntities(ctx, [entity.id]),
    await listSelectedSections(ctx, { type: 'billing_entity', id: entity.id }),
  );
}

/** The line of the audit trail about settings that hang on a billing entity. `before`, `after`: by their name. */
export const settingsActivity = ({ id, code }: BillingEntityRow, before: object, after: object) => ({
  type: 'billing_entities.updated',
  resourceType: 'BillingEntity',
  resourceId: id,
  object: { svc_id: id, code, ...after },
  changes: changedKeys(before, after),
});

/**
 * Writes a change of such settings into the audit trail and the security log. Rules: logs.md#activity-logs,
 * logs.md#security-logs.
 */
export function recordSettings(
  ctx: Context,
  entity: BillingEntityRow,
  { name, before, after }: { name: string; before: object; after: object },
): void {
  const { id, code } = entity;
  ctx.record({
    activity: settingsActivity(entity, { [name]: before }, { [name]: after }),
    security: { event: 'billing_entity.updated', resources: { svc_id: id, code, ...securityDiff(before, after) } },
  });
}

/**
 * Writes a billing entity's state into the audit trail and the security log. Rules: logs.md#activity-logs,
 * logs.md#security-logs.
 */
export function recordBillingEntity(
  ctx: Context,
  action: 'created' | 'updated',
  { entity, object, before }: { entity: BillingEntityRow; object: object; before?: object },
): void {
  ctx.record({
    activity: {
      type: `billing_entities.${action}`,
      resourceType: 'BillingEntity',
      resourceId: entity.id,
      object,
      ...(before ? { changes: changedKeys(before, object) } : {}),
    },
    security: {
      event: `billing_entity.${action}`,
      resources: { svc_id: entity.id, code: entity.code, ...(before ? securityDiff(before, object) : {}) },
    },
  });
}
