import type { Temporal } from 'temporal-polyfill';
import { RATE_DAYS, type WalletDay } from '../../../engine/credits/burn-down.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { WalletId } from '../../../platform/ids.ts';

/**
 * Keeps the figures of a wallet's day, its last ones, and answers the days before it from which the rate is computed,
 * ascending: those of the rate and one more, or all where there are fewer.
 */
export const keepDay = ({ db, organizationId }: Scope, walletId: WalletId, { day, ...figures }: WalletDay) => db<
  WalletDay[]
>`
  with kept as (
    insert into wallet_days as known (organization_id, wallet_id, day, balance_cents, ongoing_balance_cents,
      added_cents)
    values (${organizationId}, ${walletId}, ${day}, ${figures.balance_cents}, ${figures.ongoing_balance_cents},
      ${figures.added_cents})
    on conflict (organization_id, wallet_id, day) do update set balance_cents = excluded.balance_cents,
      ongoing_balance_cents = excluded.ongoing_balance_cents, added_cents = known.added_cents + excluded.added_cents
  ), before as (
    select day, balance_cents, ongoing_balance_cents, added_cents from wallet_days
    where organization_id = ${organizationId} and wallet_id = ${walletId} and day < ${day}
    order by day desc
    limit ${RATE_DAYS + 1}
  )
  select * from before order by day`;

/** Days of a wallet from `from` on, and the last known one before it, ascending. */
export const listDays = ({ db, organizationId }: Scope, walletId: WalletId, from: Temporal.PlainDate) => db<
  WalletDay[]
>`
  (select day, balance_cents, ongoing_balance_cents, added_cents from wallet_days
    where organization_id = ${organizationId} and wallet_id = ${walletId} and day < ${from}
    order by day desc limit 1)
  union all
  (select day, balance_cents, ongoing_balance_cents, added_cents from wallet_days
    where organization_id = ${organizationId} and wallet_id = ${walletId} and day >= ${from})
  order by day`;

export const storeExhaustedOn = ({ db, organizationId }: Scope, walletId: WalletId, day: Temporal.PlainDate | null) =>
  db`
    update wallets set exhausted_on = ${day} where organization_id = ${organizationId} and id = ${walletId}`;
