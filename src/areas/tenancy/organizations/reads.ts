import type { Context } from '../../../platform/context.ts';
import { listTaxesOfBillingEntities } from '../../catalog/taxes/queries.ts';
import { getDefaultBillingEntity } from '../../customers/billing-entities/queries.ts';
import { listWebhookUrls, readOrganization } from './queries.ts';
import { organizationView } from './view.ts';

/** The caller's organization. */
export async function showOrganization({ db, organizationId }: Context) {
  const [organization, entity, endpoints] = await Promise.all([
    readOrganization(db, organizationId),
    getDefaultBillingEntity(db, organizationId),
    listWebhookUrls(db, organizationId),
  ]);
  const taxes = await listTaxesOfBillingEntities(db, organizationId, [entity.id]);
  return {
    organization: organizationView(
      organization,
      entity,
      taxes,
      endpoints.map((endpoint) => endpoint.webhook_url),
    ),
  };
}
