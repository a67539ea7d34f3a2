import { randomUUID } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { realNow } from '../../../platform/clock/real-clock.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { oweNotice } from '../../messaging/mails/owe-mail.ts';
import { digestOfKey } from '../organizations/commands.ts';
import { defaultPermissions, type Permissions } from '../organizations/permissions.ts';
import { recordCreated, recordDeleted, recordRotated, recordUpdated } from './announce.ts';
import { lackedPermission } from './permissions-input.ts';
import {
  type ApiKeyRow,
  getApiKey,
  hasOtherKeyHolding,
  hasOtherLastingKey,
  lockKeysOfOrganization,
  readPermissions,
} from './queries.ts';
import type { ApiKeyInput, ApiKeyRotation } from './schema.ts';
import { apiKeyView } from './view.ts';
import { expireApiKey, insertApiKey, updateApiKeyRow } from './writes.ts';

const INVALID_DATE = 'invalid_date';
const LAST_KEY = 'last_non_expiring_api_key';

/**
 * Creates a key. Only this answer contains its value. Times of keys are real, also under a test clock.
 *
 * @throws Refusal 403 of the first permission that the caller's own key lacks
 * @throws Refusal 422 permissions; expires_at invalid_date, unless it is in the future
 */
export async function createApiKey(ctx: Context, { body }: { body: ApiKeyInput }) {
  const now = realNow();
  const expiresAt = aheadOf(now, body.expires_at);
  const permissions = body.permissions ?? defaultPermissions();
  await lockKeysOfOrganization(ctx);
  await refuseWhatCallerLacks(ctx, permissions);
  const { key, value } = await addKey(ctx, { name: body.name ?? null, permissions, expiresAt }, now);
  recordCreated(ctx, key);
  return { api_key: { ...apiKeyView(key), value } };
}

/**
 * Changes name and permissions of a key.
 *
 * @throws Refusal 404 api_key
 * @throws Refusal 403 of the first permission, of those the key has or is to have, that the caller's own key lacks
 * @throws Refusal 422 permissions; expires_at value_is_frozen; base last_non_expiring_api_key, when no key could grant
 *   again what the key loses
 */
export async function updateApiKey(ctx: Context, { svc_id, body }: { svc_id: string; body: ApiKeyInput }) {
  const now = realNow();
  await lockKeysOfOrganization(ctx);
  const stored = await getApiKey(ctx, svc_id, now);
  await refuseWhatCallerLacks(ctx, stored.permissions);
  if (body.expires_at !== undefined && !isSameEnd(stored.expires_at, body.expires_at))
    throw refuse.invalid({ expires_at: ['value_is_frozen'] });
  if (body.permissions) {
    await refuseWhatCallerLacks(ctx, body.permissions);
    if (lackedPermission(stored.permissions, body.permissions)) await refuseLockOut(ctx, stored);
  }
  const changed: ApiKeyRow = {
    ...stored,
    name: body.name === undefined ? stored.name : body.name,
    permissions: body.permissions ?? stored.permissions,
    updated_at: now,
  };
  await updateApiKeyRow(ctx.db, changed);
  recordUpdated(ctx, stored, changed);
  return { api_key: apiKeyView(changed) };
}

/**
 * Replaces a key by a new one with the same permissions; the old one stays valid until `expires_at`, by default not at
 * all. Only this answer contains the new value.
 *
 * @throws Refusal 404 api_key
 * @throws Refusal 403 of the first permission that the caller's own key lacks, since it sees the new value
 * @throws Refusal 422 expires_at invalid_date, in the past
 */
export async function rotateApiKey(ctx: Context, { svc_id, body }: { svc_id: string; body?: ApiKeyRotation }) {
  const now = realNow();
  const end = aheadOf(now, body?.expires_at) ?? now;
  await lockKeysOfOrganization(ctx);
  const old = await getApiKey(ctx, svc_id, now);
  await refuseWhatCallerLacks(ctx, old.permissions);
  await expireApiKey(ctx.db, old, { at: end, now });
  const name = body?.name === undefined ? old.name : body.name;
  const { key, value } = await addKey(ctx, { name, permissions: old.permissions, expiresAt: null }, now);
  recordRotated(ctx, old, key);
  return { api_key: { ...apiKeyView(key), value } };
}

/**
 * Ends a key at once; its row stays.
 *
 * @throws Refusal 404 api_key
 * @throws Refusal 403 of the first permission of the key that the caller's own key lacks
 * @throws Refusal 422 base last_non_expiring_api_key, unless another key without expiry remains, and one that can
 *   grant again what this one could
 */
export async function deleteApiKey(ctx: Context, { svc_id }: { svc_id: string }) {
  const now = realNow();
  await lockKeysOfOrganization(ctx);
  const key = await getApiKey(ctx, svc_id, now);
  await refuseWhatCallerLacks(ctx, key.permissions);
  if (!(await hasOtherLastingKey(ctx, key.id))) throw refuse.invalid({ base: [LAST_KEY] });
  await refuseLockOut(ctx, key);
  await expireApiKey(ctx.db, key, { at: now, now });
  const deleted = { ...key, expires_at: now, updated_at: now };
  recordDeleted(ctx, deleted);
  return { api_key: apiKeyView(deleted) };
}

async function addKey(
  ctx: Context,
  fields: { name: string | null; permissions: Permissions; expiresAt: Temporal.Instant | null },
  now: Temporal.Instant,
): Promise<{ key: ApiKeyRow; value: string }> {
  const value = randomUUID();
  const key: ApiKeyRow = {
    id: newId(),
    organization_id: ctx.organizationId,
    name: fields.name,
    last_four: value.slice(-4),
    permissions: fields.permissions,
    expires_at: fields.expiresAt,
    last_used_at: null,
    created_at: now,
    updated_at: now,
  };
  await insertApiKey(ctx.db, key, digestOfKey(value));
  oweNotice(ctx, { template: 'key_created', resource_id: key.id, occasion: 'created', at: now.toString() });
  return { key, value };
}

/**
 * Refuses to weaken a key without expiry that manages keys, unless another such key has all its permissions, because a
 * permission that no key can grant is lost for good.
 */
async function refuseLockOut(ctx: Context, key: ApiKeyRow): Promise<void> {
  if (key.expires_at !== null || !key.permissions.api_key?.includes('write')) return;
  if (await hasOtherKeyHolding(ctx, key)) return;
  throw refuse.invalid({ base: [LAST_KEY] });
}

/**
 * A key can neither grant a permission that it lacks (other-routes.md#records) nor take one from another key; the code
 * is that of a request without this permission.
 */
async function refuseWhatCallerLacks(ctx: Context, wanted: Permissions): Promise<void> {
  if (ctx.actor.apiKeyId === null) return;
  const held = await readPermissions(ctx, ctx.actor.apiKeyId);
  const lacked = lackedPermission(wanted, held);
  if (lacked === undefined) return;
  const [resource, mode] = lacked.split(':');
  throw refuse.forbidden(`${mode}_action_not_allowed_for_${resource}`);
}

function aheadOf(now: Temporal.Instant, sent: string | null | undefined): Temporal.Instant | null {
  if (sent === null || sent === undefined) return null;
  const at = Temporal.Instant.from(sent);
  if (Temporal.Instant.compare(at, now) < 0) throw refuse.invalid({ expires_at: [INVALID_DATE] });
  return at;
}

/** Ends are shown in whole seconds, so an end sent back unchanged is equal. */
function isSameEnd(stored: Temporal.Instant | null, sent: string | null): boolean {
  if (stored === null || sent === null) return stored === sent;
  return (
    Math.floor(stored.epochMilliseconds / 1000) === Math.floor(Temporal.Instant.from(sent).epochMilliseconds / 1000)
  );
}
