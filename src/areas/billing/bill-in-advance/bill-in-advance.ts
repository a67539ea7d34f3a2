import { localDate } from '../../../engine/calendar/local-day.ts';
import { usageStartOf } from '../../../engine/calendar/terms.ts';
import { AmountOutOfRange } from '../../../engine/money/cents.ts';
import { exponentOf } from '../../../engine/money/currency.ts';
import type { Context } from '../../../platform/context.ts';
import { newId } from '../../../platform/ids.ts';
import { type EventPriced, priceEvent } from '../../usage/in-advance/price-event.ts';
import { insertRecord, listBilledEvents } from '../../usage/in-advance-records/in-advance-records.ts';
import type { BillInAdvance } from '../../usage/ingest-events/owe-in-advance.ts';
import { listPricedCharges, type PricedCharge } from '../../usage/usage/priced-charges.ts';
import type { LineFee } from '../build-invoice/fees.ts';
import { type BilledLine, currentLine, prorationOf } from '../build-invoice/lines.ts';
import {
  type BilledSubscription,
  lockPayer,
  type PayerFacts,
  readBilledSubscriptions,
} from '../build-invoice/payer-and-issuer.ts';
import { storeStandaloneFees } from '../build-invoice/standalone-fees.ts';
import { subscriptionWhenAccepted } from '../build-invoice/subscription-as-billed.ts';
import { type BillableEvent, billedBefore, covers, customerOf, listBillableEvents } from './billable-events.ts';
import { eventFee } from './event-fee.ts';
import { invoiceEvent } from './invoice-event.ts';

/**
 * After-step `bill-in-advance`: each event makes one fee under each charge of the plan that is paid in advance on its
 * metric, in the order of arrival. Those of invoiceable charges get an invoice of their own, others stand alone.
 *
 * The cost of an event is fixed when the event is accepted, even if the subscription ends before the step runs. The
 * customer's row is locked, so each event sees the result of the one before it; an event that was billed under a charge
 * is not billed again, whatever the order and the number of runs.
 *
 * Rules: events.md#subscription-of-an-event, events.md#after-storing (5), in-advance.md#units-of-one-event,
 * in-advance.md#fees-in-advance.
 */
export async function billInAdvance(ctx: Context, { subscription_id, event_ids }: BillInAdvance): Promise<void> {
  const payer = await lockPayer(ctx, await customerOf(ctx, subscription_id));
  const [[subscription], events, records] = await Promise.all([
    readBilledSubscriptions(ctx, [subscription_id], {
      invoiceId: newId(),
      at: ctx.now(),
      billedOn: localDate(ctx.now(), payer.zone),
      zone: payer.zone,
    }),
    listBillableEvents(ctx, event_ids),
    listBilledEvents(ctx, event_ids),
  ]);
  const charges = await listPricedCharges(ctx, [subscription!.plan_id]);
  const isBilled = billedBefore(records);
  const standalone: LineFee[] = [];
  for (const event of events) {
    if (!covers(subscription!, event.timestamp)) continue;
    const due = charges.filter(
      (charge) => charge.pay_in_advance && charge.metric.code === event.code && !isBilled(event.id, charge.id),
    );
    const billed = subscriptionWhenAccepted(subscription!, event.created_at);
    standalone.push(...(await billEvent(ctx, payer, { subscription: billed, event, charges: due })));
  }
  // Read together: one statement of each kind for all events.
  await storeStandaloneFees(ctx, payer, standalone);
}

/** Bills one event; fees that stand alone are left to be stored. */
async function billEvent(
  ctx: Context,
  payer: PayerFacts,
  {
    subscription,
    event,
    charges,
  }: { subscription: BilledSubscription; event: BillableEvent; charges: readonly PricedCharge[] },
): Promise<LineFee[]> {
  if (charges.length === 0) return [];
  const standalone: LineFee[] = [];
  const line = currentLine(subscription, 'in_advance_charge', {
    at: ctx.now(),
    zone: payer.zone,
    inside: event.timestamp,
  });
  for (const priced of await priceOrSkip(ctx, line, event, charges)) {
    await insertRecord(
      ctx,
      {
        external_subscription_id: subscription.external_id,
        charge_id: priced.charge.id,
        charge_filter_id: priced.filter?.id ?? null,
        grouped_by: priced.group,
        event_id: event.id,
        event_timestamp: event.timestamp,
        record: priced.event.record,
      },
      ctx.now(),
    );
    const fee = eventFee(line, event, priced);
    if (priced.charge.invoiceable) await invoiceEvent(ctx, payer, line, fee);
    else standalone.push(fee);
  }
  return standalone;
}

/** A price that overflows makes no fee: retrying cannot help. */
async function priceOrSkip(
  ctx: Context,
  line: BilledLine,
  event: BillableEvent,
  charges: readonly PricedCharge[],
): Promise<EventPriced[]> {
  const { subscription } = line;
  try {
    return await priceEvent(
      ctx,
      {
        subscription,
        startedAt: usageStartOf(subscription),
        proration: prorationOf(line, line.usageWindow!),
        exponent: exponentOf(subscription.amount_currency),
      },
      {
        event: {
          id: event.id,
          timestamp: event.timestamp,
          texts: event.texts,
          preciseTotalAmountCents: event.precise_total_amount_cents,
        },
        charges,
      },
    );
  } catch (error) {
    if (!(error instanceof AmountOutOfRange)) throw error;
    ctx.log.warn({ eventId: event.id, err: error.message }, 'event not billed in advance');
    return [];
  }
}
