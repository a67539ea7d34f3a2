import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import type { HoldRow } from './queries.ts';
import type { HoldView } from './schema.ts';

/** A hold as the API shows it. Rule: wallet-holds.md. */
export const holdView = (hold: HoldRow): HoldView => ({
  svc_id: hold.id,
  svc_wallet_id: hold.wallet_id,
  status: hold.status,
  amount_cents: hold.amount_cents,
  settled_amount_cents: hold.settled_amount_cents,
  currency: hold.currency,
  reference: hold.reference,
  external_subscription_id: hold.external_subscription_id,
  event_transaction_id: hold.event_transaction_id,
  expires_at: seconds(hold.expires_at),
  created_at: seconds(hold.created_at),
  closed_at: secondsOrNull(hold.closed_at),
});
