import type { Temporal } from 'temporal-polyfill';
import { firstTickOf } from '../../../engine/calendar/billing-day.ts';
import { periodHolding } from '../../../engine/calendar/grid.ts';
import { isDateBefore, later, type PlainDate } from '../../../engine/calendar/instants.ts';
import { dayStart, localDate } from '../../../engine/calendar/local-day.ts';
import { gridsOf } from '../../../engine/calendar/terms.ts';
import type { SubscriptionId } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { minuteOf } from '../../../schedule.ts';
import { terminateSubscription } from '../../subscriptions/subscriptions/commands/terminate.ts';
import type { SubscriptionRow } from '../../subscriptions/subscriptions/queries.ts';
import { getPlanFacts, type PlanFacts } from '../../subscriptions/subscriptions/writes.ts';
import { changeOver } from '../bill-subscriptions/downgrade.ts';
import type { InvoiceToBuild } from '../build-invoice/build-invoice.ts';
import type { PayerFacts } from '../build-invoice/payer-and-issuer.ts';
import type { Imagined } from './run-and-take-back.ts';

/** An invoice to be made: its lines and its billing instant. */
export interface ComingInvoice {
  lines: InvoiceToBuild['lines'];
  at: Temporal.Instant;
}

/** Minute of the tick that ends subscriptions (periodic-jobs.md#terminate-ended). */
const ENDING_TICK_MINUTE = minuteOf('terminate-ended');

interface Running {
  subscription: SubscriptionRow;
  plan: PlanFacts;
  /** Local day on which it is billed next. */
  billedOn: PlainDate;
  /** Whether a period of its own interval begins on that day: a scheduled plan change then takes over. */
  opensPeriod: boolean;
}

/**
 * The next periodic invoice of active subscriptions of one customer, together: subscriptions that end before it are
 * ended, and scheduled plan changes take over.
 *
 * @throws Refusal 422 base, when they cannot share an invoice
 * Rule: previews.md.
 */
export async function comingInvoice(
  imagined: Imagined,
  payer: PayerFacts,
  subscriptions: readonly SubscriptionRow[],
  now: Temporal.Instant,
): Promise<ComingInvoice> {
  const ctx = imagined.at(now);
  const running: Running[] = [];
  for (const subscription of subscriptions) {
    const plan = await getPlanFacts(ctx, subscription.plan_id);
    running.push({ subscription, plan, ...nextBilling(subscription, plan, payer.zone, now) });
  }
  refuseMixture(running, payer);

  const at = dayStart(running[0]!.billedOn, payer.zone);
  const [only, ...others] = running;
  if (others.length === 0 && endsBefore(only!, payer.zone)) return endOf(imagined, only!, payer.zone, now);
  const lines: InvoiceToBuild['lines'][number][] = [];
  for (const each of running) lines.push(...(await linesOf(imagined, payer, { running: each, at, now })));
  return { lines, at };
}

function nextBilling(subscription: SubscriptionRow, plan: PlanFacts, zone: string, now: Temporal.Instant) {
  const grids = gridsOf(plan, subscription, zone);
  const today = localDate(later(now, subscription.started_at!), zone);
  const billedOn = periodHolding(grids.billing, today).last.add({ days: 1 });
  return { billedOn, opensPeriod: periodHolding(grids.plan, billedOn).first.equals(billedOn) };
}

async function linesOf(
  imagined: Imagined,
  payer: PayerFacts,
  { running, at, now }: { running: Running; at: Temporal.Instant; now: Temporal.Instant },
): Promise<ComingInvoice['lines']> {
  const { subscription, plan, opensPeriod } = running;
  if (endsBefore(running, payer.zone)) return (await endOf(imagined, running, payer.zone, now)).lines;
  const successorId = opensPeriod ? await pendingSuccessor(imagined, subscription.id, at) : undefined;
  if (successorId === undefined) return [{ subscription_id: subscription.id, reason: 'subscription_periodic' }];
  const leaving = { ...subscription, amount_currency: plan.amount_currency, successor_id: successorId };
  const changed = await changeOver(imagined.at(at), payer, leaving, at);
  return changed
    .filter(({ amount_currency }) => amount_currency === plan.amount_currency)
    .map(({ id, reason }) => ({ subscription_id: id, reason }));
}

const endsBefore = ({ subscription: { ending_at }, billedOn }: Running, zone: string): boolean =>
  ending_at !== null && isDateBefore(localDate(ending_at, zone), billedOn);

/** Ends a subscription in the tick that will end it. */
async function endOf(
  imagined: Imagined,
  { subscription }: Running,
  zone: string,
  now: Temporal.Instant,
): Promise<ComingInvoice> {
  const endsAt = later(firstTickOf(localDate(subscription.ending_at!, zone), zone, ENDING_TICK_MINUTE), now);
  await terminateSubscription(imagined.at(endsAt), subscription, { invoice: 'generate' });
  return { lines: [{ subscription_id: subscription.id, reason: 'subscription_terminating' }], at: endsAt };
}

async function pendingSuccessor(
  imagined: Imagined,
  id: SubscriptionId,
  at: Temporal.Instant,
): Promise<string | undefined> {
  const { db, organizationId } = imagined.at(at);
  const [row] = await db<{ id: SubscriptionId }[]>`
    select id from subscriptions
    where organization_id = ${organizationId} and previous_subscription_id = ${id} and status = 'pending'
    order by created_at desc, id desc
    limit 1`;
  return row?.id;
}

function refuseMixture(running: readonly Running[], payer: PayerFacts): void {
  const count = (pick: (each: Running) => string) => new Set(running.map(pick)).size;
  if (count(({ plan }) => plan.amount_currency) > 1)
    throw refuse.invalid({ base: ['subscription_currencies_does_not_match'] });
  if (count(({ subscription }) => subscription.billing_entity_id ?? payer.billing_entity_id) > 1)
    throw refuse.invalid({ base: ['subscription_billing_entities_do_not_match'] });
  if (count(({ billedOn }) => billedOn.toString()) > 1)
    throw refuse.invalid({ base: ['billing_periods_does_not_match'] });
}
