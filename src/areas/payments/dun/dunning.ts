import type { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed, selected } from '../../../platform/db/keyset.ts';
import type { CustomerId, DunningCampaignId, OrganizationId } from '../../../platform/ids.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { idOf } from '../../../platform/schema/id.ts';
import { readCustomer } from '../../customers/customers/queries.ts';
import { listInvoicesByIds } from '../../invoices/invoices/queries.ts';
import { type DunningStateRow, readDunningState } from '../dunning-campaigns/queries.ts';
import { makeRequest } from '../payment-requests/make-request.ts';
import { lockPayables } from '../payments/writes.ts';

type Currency = DunningStateRow['currencies'][number];

/**
 * Asks customers for their overdue balances, as their campaigns say. Rules: periodic-jobs.md#dunning,
 * payment-requests.md#dunning.
 */
export const dunning = periodicJob({
  name: 'dunning',
  item: z.object({ customer_id: idOf<CustomerId>() }),
  select: async (sql, at, reach, page) =>
    selected(await listDue(sql, at, reach, page), page, (row) => ({
      organization_id: row.organization_id,
      sandbox: row.sandbox,
      item: { customer_id: row.id },
      key: `dun-${row.id}`,
      resource: { type: 'Customer', id: row.id },
    })),
  work: (ctx, item) => dun(ctx, item.customer_id),
  nextDueAt: async ({ db, organizationId }, after) => {
    const [row] = await db<{ at: Temporal.Instant | null }[]>`
      select min(coalesce(customer.last_dunning_attempt_at + make_interval(days => campaign.days_between_attempts),
        ${after})) as at
      from ${qualifying(db)} and customer.organization_id = ${organizationId}`;
    return row?.at ?? null;
  },
});

/**
 * Customers with a campaign and a currency whose overdue balance reaches its threshold with attempts left, whenever the
 * next attempt is due.
 */
const qualifying = (db: Db) => db`
  customers customer
  join billing_entities entity
    on entity.organization_id = customer.organization_id and entity.id = customer.billing_entity_id
  join dunning_campaigns campaign on campaign.organization_id = customer.organization_id
    and campaign.id = coalesce(customer.dunning_campaign_id, entity.dunning_campaign_id) and campaign.deleted_at is null
  where customer.deleted_at is null and not customer.exclude_from_dunning and customer.account_type = 'customer'
    and exists (
      select from dunning_campaign_thresholds threshold
      left join customer_dunning_counters counter on counter.organization_id = threshold.organization_id
        and counter.customer_id = customer.id and counter.currency = threshold.currency
      where threshold.organization_id = customer.organization_id and threshold.dunning_campaign_id = campaign.id
        and coalesce(counter.attempts, 0) < campaign.max_attempts
        and threshold.amount_cents <= (
          select sum(invoice.total_amount_cents) from invoices invoice
          where invoice.organization_id = customer.organization_id and invoice.customer_id = customer.id
            and invoice.payment_overdue and not invoice.self_billed and invoice.currency = threshold.currency))`;

const listDue = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  // Who was never asked comes first.
  const lastAttempt = db`coalesce(customer.last_dunning_attempt_at, '-infinity'::timestamptz)`;
  const rows = keyset(db, page, db`customer.organization_id`, db`${lastAttempt}, customer.id`);
  return db<({ organization_id: OrganizationId; sandbox: boolean; id: string } & Placed)[]>`
    select customer.organization_id, organization.sandbox, customer.id, ${rows.place}
    from organizations organization, ${qualifying(db)}
      and organization.id = customer.organization_id
      and (customer.last_dunning_attempt_at is null
        or customer.last_dunning_attempt_at + make_interval(days => campaign.days_between_attempts) < ${at})
      and ${inReach(db, reach, db`customer.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

/** Makes one attempt for a customer: a payment request for each currency and billing entity with a due balance. */
async function dun(ctx: Context, customerId: CustomerId): Promise<void> {
  const now = ctx.now();
  await lockPayables(ctx, customerId, []);
  const state = await readDunningState(ctx, customerId);
  if (state.campaign_id === null || state.excluded) return;
  if (state.next_attempt_after && now.epochNanoseconds <= state.next_attempt_after.epochNanoseconds) return;
  const due = state.currencies.filter(
    (each) => each.overdue_cents > 0 && each.overdue_cents >= each.threshold_cents && each.attempts < each.max_attempts,
  );
  if (due.length === 0) return;
  await count(ctx, customerId, due);
  for (const { currency, attempts } of due)
    await request(ctx, customerId, { campaignId: state.campaign_id, currency, attempt: attempts + 1 });
  await finish(ctx, customerId, state, due);
}

async function count(ctx: Context, customerId: CustomerId, due: readonly Currency[]): Promise<void> {
  await ctx.db`
    insert into customer_dunning_counters (organization_id, customer_id, currency, attempts)
    select ${ctx.organizationId}::uuid, ${customerId}::uuid, currency, 1
    from unnest(${due.map(({ currency }) => currency)}::text[]) as currency
    on conflict (organization_id, customer_id, currency)
      do update set attempts = customer_dunning_counters.attempts + 1`;
  await ctx.db`
    update customers set last_dunning_attempt_at = ${ctx.now()}
    where organization_id = ${ctx.organizationId} and id = ${customerId}`;
}

async function request(
  ctx: Context,
  customerId: CustomerId,
  { campaignId, currency, attempt }: { campaignId: DunningCampaignId; currency: string; attempt: number },
): Promise<void> {
  const { db, organizationId } = ctx;
  const found = await db<{ ids: string[] }[]>`
    select array_agg(id order by id) as ids from invoices
    where organization_id = ${organizationId} and customer_id = ${customerId} and currency = ${currency}
      and payment_overdue and ready_for_payment_processing and not self_billed
    group by billing_entity_id order by billing_entity_id`;
  const customer = await readCustomer(ctx, customerId);
  for (const { ids } of found) {
    await lockPayables(ctx, customerId, ids);
    const invoices = (await listInvoicesByIds(ctx, ids)).filter((invoice) => invoice.payment_overdue);
    if (invoices.length > 0)
      await makeRequest(ctx, customer, invoices, {
        email: customer.email,
        dunningCampaignId: campaignId,
        dunningAttempt: attempt,
      });
  }
}

/** Announces that a campaign has made its last attempt, once no recorded currency has an attempt left. */
async function finish(
  ctx: Context,
  customerId: CustomerId,
  state: DunningStateRow,
  due: readonly Currency[],
): Promise<void> {
  const now = new Set(due.map(({ currency }) => currency));
  const recorded = state.currencies
    .map((each) => ({ ...each, attempts: each.attempts + (now.has(each.currency) ? 1 : 0) }))
    .filter((each) => each.attempts > 0);
  if (recorded.some((each) => each.attempts < each.max_attempts)) return;
  const customer = await readCustomer(ctx, customerId);
  const balances = recorded.map((each) => ({ currency: each.currency, amount_cents: each.overdue_cents }));
  const main = balances.find(({ currency }) => currency === customer.currency) ?? balances[0]!;
  ctx.record({
    webhook: {
      type: 'dunning_campaign.finished',
      objectType: 'dunning_campaign',
      objectId: state.campaign_id,
      customerId,
      object: {
        external_customer_id: customer.external_id,
        dunning_campaign_code: state.campaign_code,
        overdue_balance_cents: main.amount_cents,
        overdue_balance_currency: main.currency,
        overdue_balances: balances,
      },
    },
  });
}
