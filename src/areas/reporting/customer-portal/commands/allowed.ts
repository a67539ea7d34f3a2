import type { Context } from '../../../../platform/context.ts';
import type { CustomerId } from '../../../../platform/ids.ts';
import { refuse } from '../../../../platform/refusal.ts';
import { type CustomerRow, lockCustomer, readCustomer } from '../../../customers/customers/queries.ts';
import { readStoredSettings } from '../../../customers/portal-settings/queries.ts';
import { effectiveSettings, type PortalSettings } from '../../../customers/portal-settings/settings.ts';

/**
 * The customer of a form, locked, where its seller allows the power at this moment.
 *
 * @throws Refusal 404 customer, of one that is deleted; 405 feature_not_supported, where the seller does not allow it
 */
export async function lockAllowed(
  ctx: Context,
  customerId: CustomerId,
  power: keyof PortalSettings['allow'] | null,
): Promise<{ customer: CustomerRow; settings: PortalSettings }> {
  const { external_id } = await readCustomer(ctx, customerId);
  const customer = await lockCustomer(ctx, external_id);
  if (customer?.id !== customerId) throw refuse.notFound('customer');
  const settings = effectiveSettings(await readStoredSettings(ctx, customer.billing_entity_id));
  if (power !== null && !settings.allow[power]) throw refuse.notAllowed('feature_not_supported');
  return { customer, settings };
}
