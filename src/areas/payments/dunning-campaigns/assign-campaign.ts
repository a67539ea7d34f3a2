import type { Context } from '../../../platform/context.ts';
import type { CustomerId, DunningCampaignId } from '../../../platform/ids.ts';
import type { PayloadOf } from '../../../platform/reactions.ts';
import { refuse } from '../../../platform/refusal.ts';
import type { dunningOfCustomerWished, dunningOfEntityWished } from '../../customers/announcements.ts';
import { resetCustomers } from './dunning-counters.ts';
import { getCampaign } from './queries.ts';

/**
 * Gives a customer a campaign of its own, or excludes it from all; each clears the other, and every change resets the
 * counters. Partner accounts have neither.
 *
 * @throws Refusal 404 dunning_campaign; 422 exclude_from_dunning_campaign value_is_invalid, when both are given
 * Rules: payment-requests.md#dunning, payment-requests.md#dunning-campaigns.
 */
export async function assignToCustomer(
  ctx: Context,
  { customer, wish }: PayloadOf<typeof dunningOfCustomerWished>,
): Promise<void> {
  const { db, organizationId } = ctx;
  const { dunning_campaign_code: code, exclude_from_dunning_campaign: excluded } = wish;
  if (code === undefined && excluded === undefined) return;
  if (code && excluded) throw refuse.invalid({ exclude_from_dunning_campaign: ['value_is_invalid'] });
  const campaign = code ? await getCampaign(ctx, code) : null;
  if (customer.account_type === 'partner') return;
  const [changed] = await db`
    update customers set
      dunning_campaign_id = ${code === undefined ? (excluded ? null : db`dunning_campaign_id`) : (campaign?.id ?? null)},
      exclude_from_dunning = ${campaign ? false : excluded === undefined ? db`exclude_from_dunning` : excluded}
    where organization_id = ${organizationId} and id = ${customer.id}
      and (${code !== undefined} and dunning_campaign_id is distinct from ${campaign?.id ?? null}
        or ${excluded !== undefined} and exclude_from_dunning <> ${excluded ?? false})
    returning id`;
  if (changed) await resetCustomers(ctx, [customer.id]);
}

/**
 * Gives a billing entity a campaign, or none; counters of the customers concerned are reset.
 *
 * @throws Refusal 404 dunning_campaign
 */
export async function assignToEntity(
  ctx: Context,
  { billing_entity, dunning_campaign_code: code }: PayloadOf<typeof dunningOfEntityWished>,
): Promise<void> {
  const campaign = code === null ? null : await getCampaign(ctx, code);
  await setCampaignOfEntity(ctx, billing_entity.id, campaign?.id ?? null);
}

/** As assignToEntity, with a known campaign. */
export async function setCampaignOfEntity(
  ctx: Context,
  entityId: string,
  campaignId: DunningCampaignId | null,
): Promise<void> {
  const { db, organizationId } = ctx;
  const changed = await db`
    update billing_entities set dunning_campaign_id = ${campaignId}, updated_at = ${ctx.now()}
    where organization_id = ${organizationId} and id = ${entityId} and dunning_campaign_id is distinct
      from ${campaignId}
    returning id`;
  if (changed.length > 0) await resetCustomers(ctx, await customersOfEntity(ctx, entityId));
}

/** Customers that follow the campaign of their billing entity. */
async function customersOfEntity(ctx: Context, entityId: string): Promise<string[]> {
  const rows = await ctx.db<{ id: CustomerId }[]>`
    select id from customers where organization_id = ${ctx.organizationId} and billing_entity_id = ${entityId}
      and dunning_campaign_id is null and last_dunning_attempt_at is not null`;
  return rows.map(({ id }) => id);
}
