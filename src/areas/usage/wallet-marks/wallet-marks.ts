import type { Temporal } from 'temporal-polyfill';
import type { Context } from '../../../platform/context.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import { json } from '../../../platform/db/values.ts';
import type { CustomerId, OrganizationId, SubscriptionId } from '../../../platform/ids.ts';
import type { Page, Reach } from '../../../platform/periodic-job.ts';

/** The periodic job that treats marks. */
export const WALLET_ONGOING = 'wallet-ongoing';

/**
 * Requests a new computation of the ongoing balances of a customer with active wallets: at once in real time, at the
 * next tick under a test clock. Rules: periodic-jobs.md#wallet-ongoing, top-ups.md#ongoing-balance "refresh".
 */
export async function markWallets(ctx: Context, customerId: CustomerId): Promise<void> {
  const { count } = await ctx.db`
    insert into wallet_marks (id, organization_id, customer_id, marked_at)
    select gen_random_uuid(), ${ctx.organizationId}::uuid, ${customerId}::uuid, ${ctx.now()}
    where exists (select from wallets wallet
      where wallet.organization_id = ${ctx.organizationId} and wallet.customer_id = ${customerId}
        and wallet.status = 'active')`;
  if (count === 0) return;
  ctx.after({
    nudge: 'periodic.work',
    payload: { job: WALLET_ONGOING, at: ctx.now().toString(), item: { customer_id: customerId } },
  });
}

export interface MarkOfUsage {
  organization_id: OrganizationId;
  subscription_id: SubscriptionId;
  /** The organization's own time. */
  at: string;
}

/** Marks the customers of used subscriptions, those with an active wallet. @returns what was marked */
export const markWalletsOfUsage = (db: Db, marks: readonly MarkOfUsage[]) => db<
  { organization_id: OrganizationId; customer_id: CustomerId }[]
>`
  insert into wallet_marks (id, organization_id, customer_id, marked_at)
  select gen_random_uuid(), used.organization_id, used.customer_id, used.at
  from (
    select s.organization_id, s.customer_id, max(mark.at) as at
    from jsonb_to_recordset(${json(marks)}::jsonb) as mark (organization_id uuid, subscription_id uuid, at timestamptz)
    join subscriptions s on s.organization_id = mark.organization_id and s.id = mark.subscription_id
    group by s.organization_id, s.customer_id
  ) used
  where exists (select from wallets wallet
    where wallet.organization_id = used.organization_id and wallet.customer_id = used.customer_id
      and wallet.status = 'active')
  returning organization_id, customer_id`;

/** Current marks of a customer. */
export const listWalletMarks = ({ db, organizationId }: Scope, customerId: CustomerId) => db<{ id: string }[]>`
  select id from wallet_marks where organization_id = ${organizationId} and customer_id = ${customerId}`;

export const dropWalletMarks = ({ db, organizationId }: Scope, ids: readonly string[]) => db`
  delete from wallet_marks where organization_id = ${organizationId} and id = any (${ids}::uuid[])`;

/** The first mark of an organization. */
export async function earliestWalletMark({ db, organizationId }: Scope): Promise<Temporal.Instant | null> {
  const [row] = await db<{ at: Temporal.Instant | null }[]>`
    select min(marked_at) as at from wallet_marks where organization_id = ${organizationId}`;
  return row!.at;
}

/** Customers with a mark set at or before `at`, the longest marked first. */
export const listMarkedCustomers = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`marked.organization_id`, db`marked.since, marked.customer_id`);
  return db<({ organization_id: OrganizationId; sandbox: boolean; customer_id: CustomerId } & Placed)[]>`
    select marked.organization_id, organization.sandbox, marked.customer_id, ${rows.place}
    from (
      select mark.organization_id, mark.customer_id, min(mark.marked_at) as since
      from wallet_marks mark
      where mark.marked_at <= ${at} and ${inReach(db, reach, db`mark.organization_id`)}
      group by mark.organization_id, mark.customer_id
    ) marked
    join organizations organization on organization.id = marked.organization_id
    where ${rows.isBehind}
    ${rows.order}`;
};
