import type { Context } from '../../../platform/context.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { recordSettings } from '../billing-entities/announce.ts';
import { getBillingEntity, lockBillingEntity } from '../billing-entities/queries.ts';
import { readStoredSettings, storeSettings } from './queries.ts';
import type { PortalSettingsUpdate } from './schema.ts';
import { effectiveSettings, type StoredSettings } from './settings.ts';

/** @throws Refusal 404 billing_entity */
export async function showPortalSettings(ctx: Context, { code }: { code: string }) {
  const entity = await getBillingEntity(ctx, code);
  return { portal: effectiveSettings(await readStoredSettings(ctx, entity.id)) };
}

/**
 * Sets how the pages of an issuer's customers look and what may be done there; what is absent stays.
 *
 * @throws Refusal 404 billing_entity
 * @throws Refusal 422 embed_origins url_is_invalid, of http outside a sandbox
 * Rule: portal.md#settings.
 */
export async function updatePortalSettings(ctx: Context, { code, body }: { code: string; body: PortalSettingsUpdate }) {
  const entity = await lockBillingEntity(ctx, code);
  const isPlain = body.embed_origins?.some((origin) => origin.startsWith('http:')) === true;
  refuseFaults(isPlain && !ctx.sandbox ? { embed_origins: ['url_is_invalid'] } : {});
  const stored = await readStoredSettings(ctx, entity.id);
  const sent = Object.fromEntries(
    Object.entries(body).filter(([, value]) => value !== undefined),
  ) as unknown as StoredSettings;
  const settings: StoredSettings = { ...stored, ...sent };
  if (sent.show) settings.show = { ...stored.show, ...sent.show };
  if (sent.allow) settings.allow = { ...stored.allow, ...sent.allow };
  await storeSettings(ctx, entity.id, { settings, at: ctx.now() });
  const [before, after] = [effectiveSettings(stored), effectiveSettings(settings)];
  recordSettings(ctx, entity, { name: 'portal', before, after });
  return { portal: after };
}
