import type { Temporal } from 'temporal-polyfill';
import { localDate } from '../../../../engine/calendar/local-day.ts';
import { holds, type Period } from '../../../../engine/calendar/period.ts';
import type { Currency } from '../../../../engine/money/currency.ts';
import type { Context } from '../../../../platform/context.ts';
import type { ChargeId, ExternalSubscriptionId, FeeId, SubscriptionId } from '../../../../platform/ids.ts';
import { newId } from '../../../../platform/ids.ts';
import { listFeesByIds } from '../../../invoices/fees/queries.ts';
import { listPricedCharges, type PricedCharge } from '../../../usage/usage/priced-charges.ts';
import { covers } from '../../bill-in-advance/billable-events.ts';
import { type BilledLine, currentLine } from '../../build-invoice/lines.ts';
import {
  type BilledSubscription,
  lockPayer,
  type PayerFacts,
  readBilledSubscriptions,
} from '../../build-invoice/payer-and-issuer.ts';
import { type IssuedFee, withInputs } from '../issued-fees.ts';
import { listStarted } from './stored-chains.ts';

/** Subscriptions of an external id, with the charges that billed their events in advance. */
export interface Terms {
  charges: ReadonlyMap<string, PricedCharge>;
  payerOf(subscriptionId: SubscriptionId): PayerFacts;
  currencyOf(subscriptionId: SubscriptionId): Currency;
  lineOf(subscriptionId: SubscriptionId, inside: Temporal.Instant): BilledLine;
  /** The line of the subscription on a charge's plan, or billed by it, that covers an instant. */
  lineAt(charge: PricedCharge, at: Temporal.Instant): BilledLine | undefined;
}

/** The correction has locked the customers; locking them again has no effect. */
export async function readTerms(
  ctx: Context,
  externalSubscriptionId: ExternalSubscriptionId,
  chargeIds: readonly ChargeId[],
): Promise<Terms> {
  const started = await listStarted(ctx, externalSubscriptionId, [...new Set(chargeIds)]);
  const charges = await listPricedCharges(ctx, [], { alsoIds: [...new Set(chargeIds)] });
  const billed: { subscription: BilledSubscription; payer: PayerFacts }[] = [];
  for (const customerId of [...new Set(started.map(({ customer_id }) => customer_id))].sort()) {
    const payer = await lockPayer(ctx, customerId);
    const ids = started.filter(({ customer_id }) => customer_id === customerId).map(({ id }) => id);
    const at = ctx.now();
    const line = { invoiceId: newId(), at, billedOn: localDate(at, payer.zone), zone: payer.zone };
    const subscriptions = await readBilledSubscriptions(ctx, ids, line);
    billed.push(...subscriptions.map((subscription) => ({ subscription, payer })));
  }
  const known = (id: string) => billed.find(({ subscription }) => subscription.id === id)!;
  const hasBilled = (id: string, chargeId: ChargeId) =>
    started.some((each) => each.id === id && each.charge_ids.includes(chargeId));
  const lineOf = (id: string, inside: Temporal.Instant): BilledLine => {
    const { subscription, payer } = known(id);
    return currentLine(subscription, 'in_advance_charge', { at: ctx.now(), zone: payer.zone, inside });
  };
  return {
    charges: new Map(charges.map((charge) => [charge.id, charge])),
    payerOf: (id) => known(id).payer,
    currencyOf: (id) => known(id).subscription.amount_currency,
    lineOf,
    lineAt(charge, at) {
      const found = billed.find(
        ({ subscription }) =>
          (subscription.plan_id === charge.plan_id || hasBilled(subscription.id, charge.id)) &&
          covers(subscription, at),
      );
      return found && lineOf(found.subscription.id, at);
    },
  };
}

/**
 * Whether an instant lies in a window whose first instant is compared in milliseconds.
 * Rule: events.md#subscription-of-an-event.
 */
export const isIn = ({ from, to }: Period, at: Temporal.Instant): boolean =>
  holds({ from: from.round({ smallestUnit: 'millisecond', roundingMode: 'floor' }), to }, at);

/** Fees with what they were computed from, by their ids. */
export async function readIssued(
  ctx: Context,
  feeIds: readonly FeeId[],
  which: 'standing' | 'deleted' = 'standing',
): Promise<Map<string, IssuedFee>> {
  if (feeIds.length === 0) return new Map();
  const issued = await withInputs(ctx, await listFeesByIds(ctx, feeIds, which));
  return new Map(issued.map((each) => [each.fee.id, each]));
}
