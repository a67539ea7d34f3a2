import type { Context } from '../context.ts';
import { changedKeys } from './changes.ts';

interface Change {
  /** Name of the record in types of activities, for example `pricing_unit`. */
  name: string;
  /** Its class, for example `PricingUnit`. */
  resourceType: string;
  action: 'created' | 'updated' | 'deleted';
  /** The record as the API shows it after the action. */
  object: { svc_id: string };
  /** As it was shown before an update. */
  before?: object;
}

/**
 * Writes `<name>.created`, `.updated` or `.deleted` into the audit trail. Rules: logs.md#activity-logs,
 * other-routes.md#records.
 */
export const recordChange = (
  { record }: Pick<Context, 'record'>,
  { name, resourceType, action, object, before }: Change,
): void =>
  record({
    activity: {
      type: `${name}.${action}`,
      resourceType,
      resourceId: object.svc_id,
      object,
      ...(before ? { changes: changedKeys(before, object) } : {}),
    },
  });
