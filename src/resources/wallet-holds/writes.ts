import type { Temporal } from 'temporal-polyfill';
import type { HoldStatus } from '../../engine/credits/wallet-hold.ts';
import type { Cents } from '../../engine/money/cents.ts';
import type { Db } from '../../platform/db/connect.ts';

interface NewHold {
  id: string;
  wallet_id: string;
  amount_cents: Cents;
  available_cents: Cents;
  reference: string | null;
  external_subscription_id: string | null;
  expires_at: Temporal.Instant;
}

export const insertHold = (db: Db, organizationId: string, hold: NewHold, now: Temporal.Instant) => db`
  insert into wallet_holds (id, organization_id, wallet_id, amount_cents, available_cents, reference,
    external_subscription_id, expires_at, created_at, updated_at)
  values (${hold.id}, ${organizationId}, ${hold.wallet_id}, ${hold.amount_cents}, ${hold.available_cents},
    ${hold.reference}, ${hold.external_subscription_id}, ${hold.expires_at}, ${now}, ${now})`;

/** Sets amount and end of an open hold. */
export const changeHold = (
  db: Db,
  organizationId: string,
  hold: { id: string; amount_cents: Cents; available_cents: Cents; expires_at: Temporal.Instant },
  now: Temporal.Instant,
) => db`
  update wallet_holds set amount_cents = ${hold.amount_cents}, available_cents = ${hold.available_cents},
    expires_at = ${hold.expires_at}, updated_at = ${now}
  where organization_id = ${organizationId} and id = ${hold.id}`;

interface Closing {
  id: string;
  status: Exclude<HoldStatus, 'open'>;
  closed_at: Temporal.Instant;
  settled_amount_cents?: Cents | null;
  event_transaction_id?: string | null;
  settlement_digest?: Uint8Array | null;
  awaits_refresh?: boolean;
}

/** Ends an open hold. */
export const closeHold = (db: Db, organizationId: string, closing: Closing, now: Temporal.Instant) => db`
  update wallet_holds set status = ${closing.status}, closed_at = ${closing.closed_at},
    settled_amount_cents = ${closing.settled_amount_cents ?? null},
    event_transaction_id = ${closing.event_transaction_id ?? null},
    settlement_digest = ${closing.settlement_digest ?? null}, awaits_refresh = ${closing.awaits_refresh ?? false},
    updated_at = ${now}
  where organization_id = ${organizationId} and id = ${closing.id} and status = 'open'`;

/** Ongoing balances of a customer's wallets contain the events of what was settled before: it no longer counts. */
export const forgetSettled = (db: Db, organizationId: string, customerId: string) => db`
  update wallet_holds hold set awaits_refresh = false
  from wallets wallet
  where hold.organization_id = ${organizationId} and hold.awaits_refresh and wallet.id = hold.wallet_id
    and wallet.organization_id = ${organizationId} and wallet.customer_id = ${customerId}`;
