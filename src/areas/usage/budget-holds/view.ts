import { Temporal } from 'temporal-polyfill';
import { decimal, decimalText } from '../../../engine/money/decimal.ts';
import { seconds, secondsOrNull } from '../../../platform/schema/view.ts';
import { groupView } from '../budgets/view.ts';
import type { HoldRow } from './queries.ts';
import type { HoldView } from './schema.ts';

/** A hold as the API shows it. Rule: budgets.md#holds. */
export const holdView = (hold: HoldRow): HoldView => ({
  svc_id: hold.id,
  hold_key: hold.hold_key,
  status: hold.status,
  external_subscription_id: hold.external_subscription_id,
  late: hold.is_late,
  event_transaction_id: hold.event_transaction_id,
  budgets: hold.windows.map(({ budget, ...window }) => ({
    code: budget.code,
    group: groupView(budget, window.group_values),
    measure: budget.measure,
    currency: budget.currency,
    from: seconds(Temporal.Instant.from(window.starts_at)),
    to: window.ends_at === null ? null : seconds(Temporal.Instant.from(window.ends_at)),
    held: decimalText(decimal(window.held)),
    settled: window.settled === null ? null : decimalText(decimal(window.settled)),
  })),
  expires_at: seconds(hold.expires_at),
  created_at: seconds(hold.created_at),
  closed_at: secondsOrNull(hold.closed_at),
});
