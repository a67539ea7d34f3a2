import type { Temporal } from 'temporal-polyfill';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { BillingEntityId } from '../../../platform/ids.ts';
import type { StoredSettings } from './settings.ts';

/** What a billing entity has set of the pages of its customers. */
export async function readStoredSettings(
  { db, organizationId }: Scope,
  billingEntityId: BillingEntityId,
): Promise<StoredSettings> {
  const [row] = await db<{ settings: StoredSettings }[]>`
    select settings from portal_settings
    where organization_id = ${organizationId} and billing_entity_id = ${billingEntityId}`;
  return row?.settings ?? {};
}

export const storeSettings = (
  { db, organizationId }: Scope,
  billingEntityId: BillingEntityId,
  { settings, at }: { settings: StoredSettings; at: Temporal.Instant },
) => db`
  insert into portal_settings (organization_id, billing_entity_id, settings, updated_at)
  values (${organizationId}, ${billingEntityId}, ${json(settings)}::jsonb, ${at})
  on conflict (organization_id, billing_entity_id) do update set
    settings = excluded.settings, updated_at = excluded.updated_at`;
