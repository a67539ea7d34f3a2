import type { Operation } from '../platform/operation.ts';
import { refuse } from '../platform/refusal.ts';
import type { Identity } from './authenticate.ts';

/**
 * Checks that the API key of a request has the permission of its operation. An operation with several resources needs
 * the permission of one of them. Rule: api-keys.md#authentication.
 *
 * @throws Refusal 403 read_action_not_allowed_for_… or write_action_not_allowed_for_…
 */
export function authorise(operation: Operation, identity: Identity): void {
  if (operation.permission === null) return;
  const mode = operation.mode ?? (operation.method === 'get' ? 'read' : 'write');
  const resources = typeof operation.permission === 'string' ? [operation.permission] : operation.permission;
  if (resources.some((resource) => identity.permissions[resource]?.includes(mode))) return;
  throw refuse.forbidden(`${mode}_action_not_allowed_for_${resources[0]}`);
}
