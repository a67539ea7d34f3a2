import type { Context } from '../../../platform/context.ts';
import { refuseFaults } from '../../../platform/schema/faults.ts';
import { changeBillingEntity } from '../../customers/billing-entities/commands.ts';
import { countryFaults } from '../../customers/billing-entities/country-rules.ts';
import { documentNumberPrefix } from '../../customers/billing-entities/document-number-prefix.ts';
import {
  type BillingEntityFields,
  getDefaultBillingEntity,
  lockBillingEntity,
} from '../../customers/billing-entities/queries.ts';
import { createWebhookEndpoint, updateWebhookEndpoint } from '../../messaging/webhook-endpoints/commands.ts';
import {
  isSlugTaken,
  listWebhookUrls,
  lockOrganization,
  type OrganizationFields,
  type OrganizationRow,
} from './queries.ts';
import { showOrganization } from './reads.ts';
import type { OrganizationUpdate } from './schema.ts';
import { updateOrganizationRow } from './writes.ts';

/**
 * Changes the caller's organization: only keys that were sent. The same values go to its default billing entity;
 * currency and zone are kept there alone. The webhook URL is that of the first endpoint. Rule: organizations.md.
 *
 * @throws Refusal 422 name value_is_frozen; slug, webhook_url value_already_exist; webhook_url url_is_invalid
 * @throws Refusal 422 einvoicing, eu_tax_management, when the entity's settings do not allow the new country
 */
export async function updateOrganization(ctx: Context, { body }: { body: OrganizationUpdate }) {
  const organization = await lockOrganization(ctx);
  const { code } = await getDefaultBillingEntity(ctx);
  const entity = await lockBillingEntity(ctx, code);
  const { ofOrganization, ofEntity } = fieldsOf(body, organization);
  const endpoints = await listWebhookUrls(ctx);
  const isUrlMissing = body.webhook_url === null && endpoints.length > 0;
  const isUrlTaken = endpoints.slice(1).some((endpoint) => endpoint.webhook_url === body.webhook_url);
  const isTaken = body.slug !== undefined && (await isSlugTaken(ctx, body.slug));
  const isRenamed = body.name !== undefined && body.name !== organization.name;
  refuseFaults({
    ...(isRenamed ? { name: ['value_is_frozen'] } : {}),
    ...(isTaken ? { slug: ['value_already_exist'] } : {}),
    ...(isUrlTaken ? { webhook_url: ['value_already_exist'] } : {}),
    ...(isUrlMissing ? { webhook_url: ['value_is_mandatory'] } : {}),
    ...countryFaults({ ...entity, ...ofEntity }),
  });

  await updateOrganizationRow(ctx, { ...ofOrganization, updated_at: ctx.now() });
  if (Object.keys(ofEntity).length > 0) await changeBillingEntity(ctx, entity, ofEntity);
  if (body.webhook_url) await moveWebhooks(ctx, body.webhook_url, endpoints[0]);
  ctx.record({ keysChanged: true });
  return showOrganization(ctx);
}

async function moveWebhooks(
  ctx: Context,
  url: string,
  first: { id: string; webhook_url: string } | undefined,
): Promise<void> {
  if (!first) await createWebhookEndpoint(ctx, { body: { webhook_url: url } });
  else if (first.webhook_url !== url)
    await updateWebhookEndpoint(ctx, { svc_id: first.id, body: { webhook_url: url } });
}

function fieldsOf(body: OrganizationUpdate, organization: OrganizationRow) {
  const {
    name: _name,
    webhook_url: _url,
    billing_configuration: configuration,
    slug,
    document_numbering: numbering,
    document_number_prefix: prefix,
    default_currency,
    timezone,
    ...shared
  } = body;
  const common = {
    ...shared,
    ...configuration,
    document_number_prefix: prefix === null ? documentNumberPrefix(organization.name, organization.id) : prefix,
  };
  const entityNumbering = numbering === 'per_organization' ? 'per_billing_entity' : numbering;
  return {
    ofOrganization: sent<OrganizationFields>({ ...common, slug, document_numbering: numbering }),
    ofEntity: sent<BillingEntityFields>({ ...common, default_currency, timezone, document_numbering: entityNumbering }),
  };
}

const sent = <Fields>(fields: Partial<Fields>): Partial<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
