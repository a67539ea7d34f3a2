import type { Context } from '../../../platform/context.ts';
import { listTaxesOfBillingEntities } from '../../catalog/taxes/queries.ts';
import { getDefaultBillingEntity } from '../../customers/billing-entities/queries.ts';
import { listWebhookUrls, readOrganization } from './queries.ts';
import { organizationView } from './view.ts';

/** The caller's organization. */
export async function showOrganization(ctx: Context) {
  const [organization, entity, endpoints] = await Promise.all([
    readOrganization(ctx),
    getDefaultBillingEntity(ctx),
    listWebhookUrls(ctx),
  ]);
  const taxes = await listTaxesOfBillingEntities(ctx, [entity.id]);
  return {
    organization: organizationView(
      organization,
      entity,
      taxes,
      endpoints.map((endpoint) => endpoint.webhook_url),
    ),
  };
}
