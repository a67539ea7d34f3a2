import type { Decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { type Format, fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { subscriptionName } from '../../../subscriptions/subscriptions/printed-name.ts';
import type { SubscriptionShown } from '../../../subscriptions/subscriptions/queries.ts';
import { barChart } from '../chart.ts';
import { addressOf, type Frame, framed } from '../frame.ts';
import { factsOf, headOf, nothing } from '../parts.ts';
import { featuresCard, readFeatures } from './features.ts';
import { nextInvoiceCard, nextInvoiceOf } from './next-invoice.ts';
import { type ChargeStanding, getOwnSubscription, readUsage, type UsageStanding } from './reads.ts';

/** Charges on one page: the charts of more would make it heavy. */
const CHARGES_SHOWN = 6;

/**
 * Usage of a subscription: what each charge has come to, by day, and what the next invoice will be.
 *
 * preview  asks for the next invoice of subscriptions, by external ids; undefined where it cannot be told
 *
 * @throws Refusal 404 of a subscription of others
 * Rule: portal.md#usage.
 */
export async function usagePage(
  ctx: Context,
  frame: Frame,
  { id, page, preview }: { id: string; page: number; preview: (externalIds: string[]) => Promise<unknown> },
): Promise<string> {
  const { show } = frame.settings;
  const subscription = await getOwnSubscription(ctx, frame.customer.id, id);
  const isActive = subscription.status === 'active';
  const [from, to] = [(page - 1) * CHARGES_SHOWN, page * CHARGES_SHOWN];
  const [usage, features, answer] = await Promise.all([
    isActive && show.usage
      ? readUsage(ctx, [subscription], { subject: `portal usage ${subscription.id}`, byDay: { from, to } })
      : [],
    isActive && show.entitlements ? readFeatures(ctx, subscription) : [],
    isActive ? preview([subscription.external_id]) : undefined,
  ]);
  const { words } = frame.language;
  const name = subscriptionName(subscription);
  const standing = usage?.[0];
  const invoice = nextInvoiceOf(answer);
  return framed(
    frame,
    name,
    html`${headOf(frame, name, { crumb: true, hint: standing && frame.formatOf(subscription.plan_amount_currency).period(standing.proration.period) })}
${usage === null && nothing(words.usageUnknown)}
${standing && summaryOf(frame, standing)}
${standing && (standing.charges.length > 0 ? standing.charges.slice(from, to).map((charge) => chargeCard(frame, standing, charge)) : nothing(words.nothing))}
${standing && chargePages(frame, standing.charges.length, page)}
${invoice && nextInvoiceCard(frame, invoice)}
${featuresCard(frame, features, subscription.plan_amount_currency)}
${!standing && usage !== null && !invoice && features.length === 0 && nothing(words.nothing)}`,
  );
}

/** Ways to the other charges of a plan that has many. */
function chargePages(frame: Frame, charges: number, page: number): Html | false {
  const count = Math.ceil(charges / CHARGES_SHOWN);
  if (count <= 1) return false;
  const pages = Array.from({ length: count }, (_, n) => n + 1);
  return html`<nav class="tabs" aria-label="${frame.language.words.usage}">${pages.map(
    (each) =>
      html`<a href="${addressOf(frame, frame.path, { page: String(each) })}"${each === page && { html: ' aria-current="page"' }}>${String(each)}</a>`,
  )}</nav>`;
}

/** How long the running period still takes, in days. */
export const daysLeftOf = ({ elapsed }: UsageStanding): number => Math.max(0, elapsed.of - elapsed.days);

/** The price of a plan a period. */
export function planPrice(frame: Frame, subscription: SubscriptionShown): string {
  const amount = frame.formatOf(subscription.plan_amount_currency).amount(subscription.plan_amount_cents);
  const text = frame.language.words.per[subscription.interval as keyof typeof frame.language.words.per];
  return fill(text ?? '{amount}', { amount });
}

function summaryOf(frame: Frame, standing: UsageStanding): Html {
  const { words } = frame.language;
  const { subscription } = standing;
  const format = frame.formatOf(subscription.plan_amount_currency);
  const { show } = frame.settings;
  return html`<div class="card alone">${factsOf(
    [
      [
        words.plan,
        html`${subscription.plan_invoice_display_name ?? subscription.plan_name}<span class="soft">${planPrice(frame, subscription)}</span>`,
      ],
      [words.usage, format.amount(standing.amountCents)],
      show.projection && [words.projected, projectionOf(frame, format, standing)],
      [words.daysLeft, format.days(daysLeftOf(standing))],
      [words.nextBill, subscription.next_billing_at && frame.day(subscription.next_billing_at)],
    ].filter((each) => each !== false) as [string, string | Html | null][],
  )}</div>`;
}

/** What usage comes to by the end of the period, with the range in which it may be. */
export function projectionOf(
  { language: { words } }: Frame,
  format: Format,
  { projectedCents, lowCents, highCents }: Pick<UsageStanding, 'projectedCents' | 'lowCents' | 'highCents'>,
): Html {
  const band = fill(words.band, { low: format.amount(lowCents), high: format.amount(highCents) });
  return html`${format.amount(projectedCents)}${lowCents !== highCents && html`<span class="soft">${band}</span>`}`;
}

function chargeCard(frame: Frame, { subscription }: UsageStanding, charge: ChargeStanding): Html {
  const { words, documents } = frame.language;
  const format = frame.formatOf(subscription.plan_amount_currency);
  const { next, days } = charge;
  const units = (value: Decimal) => format.units(value);
  return html`<section class="card"><header><h2>${charge.name}</h2><span class="sum">${format.amount(charge.amountCents)}</span></header>
<div class="body">${factsOf([
    [documents.units, units(charge.units)],
    [words.freeLeft, next?.freeLeft && units(next.freeLeft)],
    [
      words.nextUnit,
      next &&
        (next.per
          ? fill(words.perUnits, { amount: format.price(next.price), units: units(next.per) })
          : format.price(next.price)),
    ],
    [words.tier, next?.tier && fill(words.tierOf, { number: String(next.tier.number), of: String(next.tier.of) })],
    [
      words.projected,
      frame.settings.show.projection &&
        projectionOf(frame, format, { projectedCents: charge.projectedCents, ...charge.band }),
    ],
  ])}
${
  days !== null &&
  barChart(
    days.map(({ on, units: value }) => ({ label: shortDay(frame, on), value, shown: units(value) })),
    {
      id: `c-${charge.id}`,
      title: fill(words.perDay, { name: charge.name }),
      description: fill(words.perDayHint, { days: format.days(days.length), units: units(charge.units) }),
      asTable: words.asTable,
      step: words.day,
      value: documents.units,
    },
    units,
  )
}</div></section>
`;
}

const shortDay = ({ language }: Frame, on: { toLocaleString(locale: string, options: object): string }): string =>
  on.toLocaleString(language.locale, { day: 'numeric', month: 'short' });
