import type { Context } from '../../../platform/context.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, DunningCampaignId } from '../../../platform/ids.ts';
import { newId } from '../../../platform/ids.ts';
import { changedKeys } from '../../../platform/records/changes.ts';
import { refuse } from '../../../platform/refusal.ts';
import { getDefaultBillingEntity } from '../../customers/billing-entities/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { setCampaignOfEntity } from './assign-campaign.ts';
import { resetCustomers } from './dunning-counters.ts';
import { type CampaignRow, findCampaign, getCampaign, readDunningState } from './queries.ts';
import type { CampaignCreate, CampaignUpdate } from './schema.ts';
import { campaignView } from './view.ts';

/** @throws Refusal 422 code value_already_exist */
export async function createCampaign(ctx: Context, { body }: { body: CampaignCreate }) {
  const { db, organizationId } = ctx;
  if (await findCampaign(ctx, body.code)) throw refuse.invalid({ code: ['value_already_exist'] });
  const id = newId();
  await db`
    insert into dunning_campaigns (id, organization_id, code, name, description, days_between_attempts, max_attempts,
      bcc_emails, created_at, updated_at)
    values (${id}, ${organizationId}, ${body.code}, ${body.name}, ${body.description ?? null},
      ${body.days_between_attempts ?? 1}, ${body.max_attempts ?? 1}, ${body.bcc_emails ?? []}, ${ctx.now()},
      ${ctx.now()})`;
  await storeThresholds(ctx, id, body.thresholds);
  if (body.applied_to_organization) await setCampaignOfEntity(ctx, (await getDefaultBillingEntity(ctx)).id, id);
  return announce(ctx, 'created', await getCampaign(ctx, body.code));
}

/**
 * Changes a campaign. Counters are reset of customers whose overdue balances reach none of its new thresholds.
 *
 * @throws Refusal 404 dunning_campaign; 422 code value_already_exist
 * Rules: payment-requests.md#dunning, payment-requests.md#dunning-campaigns.
 */
export async function updateCampaign(ctx: Context, { code, body }: { code: string; body: CampaignUpdate }) {
  const { db, organizationId } = ctx;
  const stored = await lock(ctx, code);
  if (body.code !== undefined && body.code !== code && (await findCampaign(ctx, body.code)))
    throw refuse.invalid({ code: ['value_already_exist'] });
  await db`
    update dunning_campaigns set code = ${body.code ?? stored.code}, name = ${body.name ?? stored.name},
      description = ${body.description === undefined ? stored.description : body.description},
      days_between_attempts = ${body.days_between_attempts ?? stored.days_between_attempts},
      max_attempts = ${body.max_attempts ?? stored.max_attempts}, bcc_emails = ${body.bcc_emails ?? stored.bcc_emails},
      updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${stored.id}`;
  if (body.thresholds) await replaceThresholds(ctx, stored, body.thresholds);
  if (body.applied_to_organization !== undefined && body.applied_to_organization !== stored.applied_to_organization) {
    const entity = await getDefaultBillingEntity(ctx);
    await setCampaignOfEntity(ctx, entity.id, body.applied_to_organization ? stored.id : null);
  }
  return announce(ctx, 'updated', await getCampaign(ctx, body.code ?? code), stored);
}

/**
 * Deletes a campaign: it is no longer used, and the counters of its customers are reset. Its payment requests go on.
 *
 * @throws Refusal 404 dunning_campaign
 */
export async function deleteCampaign(ctx: Context, { code }: { code: string }) {
  const { db, organizationId } = ctx;
  const campaign = await lock(ctx, code);
  await resetCustomers(ctx, await usersOf(ctx, campaign.id));
  await db`
    update customers set dunning_campaign_id = null
    where organization_id = ${organizationId} and dunning_campaign_id = ${campaign.id}`;
  await db`
    update billing_entities set dunning_campaign_id = null
    where organization_id = ${organizationId} and dunning_campaign_id = ${campaign.id}`;
  await db`
    update dunning_campaigns set deleted_at = ${ctx.now()}, updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${campaign.id}`;
  return announce(ctx, 'deleted', campaign);
}

/** Sets the attempts of a customer to 0. @throws Refusal 404 customer */
export async function resetDunning(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx, external_id);
  await resetCustomers(ctx, [customer.id]);
  return showDunning(ctx, { external_id });
}

/** @throws Refusal 404 customer */
export async function showDunning(ctx: Context, { external_id }: { external_id: string }) {
  const customer = await getCustomer(ctx, external_id);
  const { campaign_id: _, ...state } = await readDunningState(ctx, customer.id);
  return {
    dunning: {
      campaign_code: state.campaign_code,
      source: state.source,
      excluded: state.excluded,
      last_attempt_at: state.last_attempt_at?.toString() ?? null,
      next_attempt_after: state.next_attempt_after?.toString() ?? null,
      currencies: state.currencies,
    },
  };
}

async function lock(ctx: Context, code: string): Promise<CampaignRow> {
  const campaign = await getCampaign(ctx, code);
  await ctx.db`
    select from dunning_campaigns where organization_id = ${ctx.organizationId} and id = ${campaign.id} for update`;
  return campaign;
}

/** An element that names a stored threshold keeps its id. */
async function replaceThresholds(
  ctx: Context,
  campaign: CampaignRow,
  thresholds: CampaignCreate['thresholds'],
): Promise<void> {
  const { db, organizationId } = ctx;
  const known = new Set(campaign.thresholds.map(({ svc_id }) => svc_id));
  await db`
    delete from dunning_campaign_thresholds
    where organization_id = ${organizationId} and dunning_campaign_id = ${campaign.id}`;
  await storeThresholds(ctx, campaign.id, thresholds, known);
  const users = await usersOf(ctx, campaign.id);
  const states = await Promise.all(users.map(async (id) => ({ id, state: await readDunningState(ctx, id) })));
  const without = states.filter(
    ({ state }) => !state.currencies.some((each) => each.overdue_cents >= each.threshold_cents),
  );
  await resetCustomers(
    ctx,
    without.map(({ id }) => id),
  );
}

async function storeThresholds(
  ctx: Context,
  campaignId: DunningCampaignId,
  thresholds: CampaignCreate['thresholds'],
  known: ReadonlySet<string> = new Set(),
): Promise<void> {
  const rows = thresholds.map((threshold) => ({
    id: threshold.svc_id && known.has(threshold.svc_id) ? threshold.svc_id : newId(),
    amount_cents: threshold.amount_cents,
    currency: threshold.currency,
  }));
  await ctx.db`
    insert into dunning_campaign_thresholds (id, organization_id, dunning_campaign_id, amount_cents, currency)
    select threshold.id, ${ctx.organizationId}::uuid, ${campaignId}::uuid, threshold.amount_cents, threshold.currency
    from jsonb_to_recordset(${json(rows)}::jsonb) as threshold (id uuid, amount_cents bigint, currency text)`;
}

/** Customers with counters of a campaign. */
async function usersOf(ctx: Context, campaignId: DunningCampaignId): Promise<string[]> {
  const rows = await ctx.db<{ id: CustomerId }[]>`
    select customer.id from customers customer
    join billing_entities entity
      on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
    where customer.organization_id = ${ctx.organizationId} and customer.last_dunning_attempt_at is not null
      and coalesce(customer.dunning_campaign_id, entity.dunning_campaign_id) = ${campaignId}`;
  return rows.map(({ id }) => id);
}

function announce(
  ctx: Context,
  action: 'created' | 'updated' | 'deleted',
  campaign: CampaignRow,
  before?: CampaignRow,
) {
  const object = campaignView(campaign);
  ctx.record({
    activity: {
      type: `dunning_campaign.${action}`,
      resourceType: 'DunningCampaign',
      resourceId: campaign.id,
      object,
      ...(before ? { changes: changedKeys(campaignView(before), object) } : {}),
    },
  });
  return { dunning_campaign: object };
}
