import { assert } from '../../../engine/assert.ts';
import { canOrderMove } from '../../../engine/quotes/quote-states.ts';
import type { Context } from '../../../platform/context.ts';
import type { OrderId } from '../../../platform/ids.ts';
import { Answer } from '../../../platform/operation.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { seconds } from '../../../platform/schema/view.ts';
import { recordOrder } from '../orders/announce.ts';
import { getOrder, type OrderRow } from '../orders/queries.ts';
import type { ExecutionMode, OrderExecute } from '../orders/schema.ts';
import { orderExtendedView } from '../orders/view.ts';
import { NOTHING_DONE, setExecutionMode, storeExecution } from '../orders/writes.ts';
import { lockQuote } from '../quotes/lock-quote.ts';
import { makeRecords } from './make-records.ts';
import { attempt } from './refusal-or-result.ts';

/**
 * Executes an order, once: an executed one is returned unchanged. A refusal creates nothing, and the order fails.
 *
 * @returns the order, or the refusal of its execution
 * @throws Refusal 404 order; 422 lock_acquisition_failed; status not_editable; execution_mode value_is_mandatory
 * Rules: quotes.md#routes, quotes.md#execution.
 */
export async function executeOrder(
  ctx: Context,
  { svc_id, body }: { svc_id: string; body: OrderExecute | undefined },
): Promise<object> {
  const order = await lockOrder(ctx, svc_id);
  if (order.status === 'executed') return { order: orderExtendedView(order) };
  const wanted = body?.order?.execution_mode ?? null;
  if (wanted !== null && wanted !== order.execution_mode) {
    if (order.status !== 'created') throw refuse.invalid({ status: ['not_editable'] });
    await setExecutionMode(ctx, order.id, { mode: wanted, now: ctx.now() });
  }
  const mode = wanted ?? order.execution_mode;
  if (mode === null) throw refuse.invalid({ execution_mode: ['value_is_mandatory'] });
  const refusal = await execute(ctx, order, mode);
  if (refusal) return new Answer(refusal.body, { status: refusal.status });
  return { order: orderExtendedView(await getOrder(ctx, order.id)) };
}

/**
 * An order, locked until the transaction ends.
 *
 * @throws Refusal 404 order; 422 lock_acquisition_failed
 */
export async function lockOrder(ctx: Context, id: OrderId): Promise<OrderRow> {
  const { quote_id: quoteId } = await getOrder(ctx, id);
  await lockQuote(ctx, quoteId, refuse.locked());
  return getOrder(ctx, id);
}

/**
 * Executes a locked order that was not executed yet.
 *
 * @returns the refusal, after which the order has failed
 */
export async function execute(ctx: Context, order: OrderRow, mode: ExecutionMode): Promise<Refusal | undefined> {
  assert(canOrderMove(order.status, 'executed'), 'an order is executed once');
  const attempted = await attempt(ctx, async (inner) => (mode === 'order_only' ? {} : makeRecords(inner, order)));
  const record = { ...NOTHING_DONE, execution_mode: mode };
  if (!attempted.ok) {
    const errors = errorsOf(attempted.refusal);
    await storeExecution(ctx, order.id, {
      outcome: { status: 'failed', record: { ...record, errors } },
      now: ctx.now(),
    });
    return attempted.refusal;
  }
  await storeExecution(ctx, order.id, {
    outcome: { status: 'executed', record: { ...record, ...attempted.result, executed_at: seconds(ctx.now()) } },
    now: ctx.now(),
  });
  await recordOrder(ctx, 'order.executed', order.id);
  return undefined;
}

/** A refusal as text: `plan_not_found`, `currency: value_is_mandatory`. */
function errorsOf({ body }: Refusal): string[] {
  const details = Object.entries((body.error_details ?? {}) as Record<string, unknown>);
  if (details.length > 0) return details.flatMap(([field, codes]) => [codes].flat().map((code) => `${field}: ${code}`));
  return [body.resource === undefined ? String(body.code ?? body.error) : `${body.resource}_not_found`];
}
