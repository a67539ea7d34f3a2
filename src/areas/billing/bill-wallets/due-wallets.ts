import type { Temporal } from 'temporal-polyfill';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, type Placed } from '../../../platform/db/keyset.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import type { Page, Reach } from '../../../platform/periodic-job.ts';

interface DueRow {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: string;
}

/** Wallets that expired at or before `at`. */
export const listExpiredWallets = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`wallet.organization_id`, db`wallet.expiration_at, wallet.id`);
  return db<(DueRow & Placed)[]>`
    select wallet.organization_id, organization.sandbox, wallet.id, ${rows.place}
    from wallets wallet
    join organizations organization on organization.id = wallet.organization_id
    where wallet.status = 'active' and wallet.expiration_at <= ${at} and ${inReach(db, reach, db`wallet.organization_id`)}
      and ${rows.isBehind}
    ${rows.order}`;
};

export const earliestExpiry = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(expiration_at) as at from wallets where organization_id = ${organizationId} and status = 'active'`;

/** Rules that expired at or before `at`. */
export const listExpiredRules = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`rule.organization_id`, db`rule.expiration_at, rule.id`);
  return db<(DueRow & Placed)[]>`
    select rule.organization_id, organization.sandbox, rule.wallet_id as id, ${rows.place}
    from recurring_transaction_rules rule
    join organizations organization on organization.id = rule.organization_id
    where rule.status = 'active' and rule.expiration_at <= ${at} and ${inReach(db, reach, db`rule.organization_id`)}
      and ${rows.isBehind}
    ${rows.order}`;
};

export const earliestRuleExpiry = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(expiration_at) as at from recurring_transaction_rules
  where organization_id = ${organizationId} and status = 'active'`;

const ruleTables = (db: Db) => db`
  recurring_transaction_rules rule
  join wallets wallet on wallet.organization_id = rule.organization_id and wallet.id = rule.wallet_id
  join customers customer on customer.organization_id = wallet.organization_id and customer.id = wallet.customer_id
  join billing_entities home on home.organization_id = customer.organization_id
    and home.id = customer.billing_entity_id`;

/** Wallets whose interval rule is due on the customer's day of `at`, or was before. */
export const listDueTopUps = (db: Db, at: Temporal.Instant, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`rule.organization_id`, db`rule.next_top_up_on, rule.id`);
  return db<(DueRow & Placed)[]>`
    select rule.organization_id, organization.sandbox, rule.wallet_id as id, ${rows.place}
    from ${ruleTables(db)}
    join organizations organization on organization.id = rule.organization_id
    where rule.status = 'active' and wallet.status = 'active' and rule.next_top_up_on is not null
      and rule.next_top_up_on <= (${at}::timestamptz at time zone coalesce(customer.timezone, home.timezone))::date
      and (rule.expiration_at is null or rule.expiration_at > ${at})
      and ${inReach(db, reach, db`rule.organization_id`)} and ${rows.isBehind}
    ${rows.order}`;
};

export const earliestTopUp = ({ db, organizationId }: Scope) => db<{ at: Temporal.Instant | null }[]>`
  select min(rule.next_top_up_on::timestamp at time zone coalesce(customer.timezone, home.timezone)) as at
  from ${ruleTables(db)}
  where rule.organization_id = ${organizationId} and rule.status = 'active' and wallet.status = 'active'
    and (rule.expiration_at is null
      or rule.expiration_at > rule.next_top_up_on::timestamp at time zone 'UTC' - interval '2 days')`;
