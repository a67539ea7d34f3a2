import type { Context } from '../../../platform/context.ts';
import { isMandate } from '../../customers/payment-methods/mandates.ts';
import { readMethod } from '../../customers/payment-methods/queries.ts';
import { passDefaultOn } from '../../customers/payment-methods/writes.ts';
import type { PaymentRow } from '../payments/queries.ts';
import { GIVEN_BACK } from '../payments/writes.ts';

const FAILURES = 2;
const FAILURE_DAYS = 90;

/** Words of payments that somebody called off or that we have given back, which says nothing of the account. */
const CALLED_OFF = ['canceled', 'cancelled', 'Cancelled', GIVEN_BACK];

/**
 * Makes another method the default when a mandate has failed twice within 90 days: no debit is collected by it any more
 * unless somebody names it. A payment has just failed, or was taken back.
 *
 * Rule: payments.md#failing-mandates.
 */
export async function leaveFailingMandate(ctx: Context, { payment_method_id: id }: PaymentRow): Promise<void> {
  if (id === null) return;
  const method = await readMethod(ctx, id);
  if (!method.is_default || !isMandate(method)) return;
  const failed = await ctx.db`
    select from payments
    where organization_id = ${ctx.organizationId}
      and payment_method_id = ${id} and payment_status = 'failed' and provider_payment_id is not null
      and status <> all (${CALLED_OFF})
      and coalesce(reversed_at, updated_at) > ${ctx.now().subtract({ hours: FAILURE_DAYS * 24 })}
    limit ${FAILURES}`;
  if (failed.length === FAILURES) await passDefaultOn(ctx, method, ctx.now());
}
