import type { Temporal } from 'temporal-polyfill';
import { isAfter } from '../../../engine/calendar/instants.ts';
import { type Currency, exponentOf } from '../../../engine/money/currency.ts';
import { type Decimal, decimal } from '../../../engine/money/decimal.ts';
import { toMainUnit } from '../../../engine/money/units.ts';
import { trialEnd } from '../../../engine/subscriptions/trial.ts';
import type { Context } from '../../../platform/context.ts';
import { isUuid, type SubscriptionId } from '../../../platform/ids.ts';
import { nextAmount } from '../../billing/preview-invoice/next-amount.ts';
import { findTriggered, type Triggered } from '../../credits/evaluate-alerts/mailed-alerts.ts';
import { type Format, fill } from '../../messaging/documents/number-and-date-formats.ts';
import { type MailContent, type MailLink, oneLine } from '../../messaging/mails/compose-mail.ts';
import { headline } from '../../messaging/mails/mail-page.ts';
import { portalMark } from '../../messaging/mails/pay-link.ts';
import { mailTextsOf } from '../../messaging/mails/texts/by-locale.ts';
import { subscriptionName } from '../../subscriptions/subscriptions/printed-name.ts';
import { listShown, type SubscriptionShown } from '../../subscriptions/subscriptions/queries.ts';
import { firstStartOf, getPlanFacts } from '../../subscriptions/subscriptions/writes.ts';
import { portalTextsOf } from '../customer-portal/texts/by-locale.ts';
import {
  type About,
  type FindNotice,
  factsBlock,
  type LinkLife,
  linkBlock,
  type Notice,
  readReader,
} from './notice.ts';

/** A trial that is still to end, unless its end has moved since. Rule: mails.md#templates. */
export const findTrialNotice: FindNotice = async (ctx, id, occasion) => {
  const subscription = await findActive(ctx, id);
  const endsAt = subscription && (await endOfTrial(ctx, subscription));
  if (!endsAt || !isAfter(endsAt, ctx.now()) || (occasion !== undefined && occasion !== endingAt(endsAt)))
    return undefined;
  return endingNotice(ctx, subscription, { template: 'trial_ending', endsAt });
};

/** A subscription that is still to end. Rule: mails.md#templates. */
export const findEndingNotice: FindNotice = async (ctx, id) => {
  const subscription = await findActive(ctx, id);
  const endsAt = subscription?.ending_at;
  if (!subscription || !endsAt || !isAfter(endsAt, ctx.now())) return undefined;
  return endingNotice(ctx, subscription, { template: 'subscription_ending', endsAt });
};

/** The occasion of a mail about an end: another end is another one. */
export const endingAt = (at: Temporal.Instant): string =>
  `ends ${at.round({ smallestUnit: 'second', roundingMode: 'floor' })}`;

export async function findActive(ctx: Context, id: string): Promise<SubscriptionShown | undefined> {
  const [subscription] = isUuid(id) ? await listShown(ctx, [id as SubscriptionId]) : [];
  return subscription?.status === 'active' ? subscription : undefined;
}

export async function endOfTrial(ctx: Context, subscription: SubscriptionShown): Promise<Temporal.Instant | undefined> {
  if (subscription.trial_ended_at !== null) return undefined;
  const plan = await getPlanFacts(ctx, subscription.plan_id);
  const firstStartedAt = await firstStartOf(ctx, subscription.customer_id, subscription.external_id);
  return trialEnd({ plan, subscription, firstStartedAt });
}

interface Ending {
  template: 'trial_ending' | 'subscription_ending';
  endsAt: Temporal.Instant;
}

async function endingNotice(
  ctx: Context,
  subscription: SubscriptionShown,
  { template, endsAt }: Ending,
): Promise<Notice> {
  return noticeOf(ctx, subscription, async ({ about, zone, format, link, isPreview }) => {
    const next = isPreview
      ? undefined
      : await nextAmount(ctx, subscription, template === 'trial_ending' ? endsAt : undefined);
    const price = portalTextsOf(about.locale).per[subscription.interval];
    return endingContent(about, {
      template,
      name: oneLine(subscriptionName(subscription)),
      plan: oneLine(subscription.plan_invoice_display_name ?? subscription.plan_name),
      price: fill(price, { amount: format.amount(subscription.plan_amount_cents) }),
      date: format.date(endsAt.toZonedDateTimeISO(zone).toPlainDate()),
      next: next === undefined ? '' : format.amount(next),
      link,
      life: { hours: ctx.config.PORTAL_TOKEN_TTL_HOURS },
    });
  });
}

/** Usage that reached what its customer had set, as long as the subscription runs. Rule: mails.md#templates. */
export const findUsageNotice: FindNotice = async (ctx, id, occasion) => {
  const subscription = await findActive(ctx, id);
  const triggered =
    subscription &&
    (await findTriggered(ctx, occasion === undefined ? { subscriptionId: subscription.id } : { occasion }));
  if (!triggered) return undefined;
  return noticeOf(ctx, subscription, async ({ about, format, link }) =>
    usageContent(about, {
      name: oneLine(subscriptionName(subscription)),
      metric: triggered.metric_name === null ? '' : oneLine(triggered.metric_name),
      ...figuresOf(triggered, format, subscription.plan_amount_currency),
      link,
      life: { hours: ctx.config.PORTAL_TOKEN_TTL_HOURS },
    }),
  );
};

/** The figure and the highest limit that it reached, as units or as an amount. */
function figuresOf({ alert_type, current_value, crossed_thresholds }: Triggered, format: Format, currency: string) {
  const isUnits = alert_type.endsWith('_units');
  const shown = (value: Decimal): string =>
    isUnits ? format.units(value) : format.price(toMainUnit(value, exponentOf(currency as Currency)));
  const limits = crossed_thresholds.map(({ value }) => decimal(value));
  return { figure: shown(current_value), limit: shown(limits.reduce((most, each) => (each.gt(most) ? each : most))) };
}

interface Reading {
  about: About;
  zone: string;
  format: Format;
  link: MailLink;
  isPreview: boolean;
}

async function noticeOf(
  ctx: Context,
  subscription: SubscriptionShown,
  content: (reading: Reading) => Promise<MailContent> | MailContent,
): Promise<Notice> {
  const reader = await readReader(ctx, subscription.customer_id, subscription.billing_entity_id);
  return {
    billingEntityId: reader.billingEntityId,
    to: reader.to,
    resourceType: 'Subscription',
    async content({ isPreview } = { isPreview: false }) {
      const { about, zone, formatOf } = await reader.about();
      const mark = portalMark(subscription.customer_id, { of: 'usage', id: subscription.id });
      const link = { mark, label: mailTextsOf(about.locale).openPages };
      return content({ about, zone, format: formatOf(subscription.plan_amount_currency), link, isPreview });
    },
  };
}

/** What the mail of an end says: names, amounts and the day as they are printed. */
interface EndingFacts {
  template: Ending['template'];
  name: string;
  plan: string;
  price: string;
  date: string;
  /** The next invoice; empty where it cannot be told. */
  next: string;
  link: MailLink;
  life: LinkLife;
}

export function endingContent(
  about: About,
  { template, name, plan, price, date, next, link, life }: EndingFacts,
): MailContent {
  const { trialEnds, subscriptionEnds } = mailTextsOf(about.locale).notices;
  const words = portalTextsOf(about.locale);
  const note = fill(template === 'trial_ending' ? trialEnds : subscriptionEnds, { name });
  return {
    ...about,
    template,
    values: { subscription: name, due_date: date, amount: next },
    link,
    headline: { text: `${date}\n${note}`, html: [headline(date, note)] },
    blocks: [
      linkBlock(about.locale, link, life),
      factsBlock([[words.plan, `${plan} · ${price}`], ...(next === '' ? [] : [[words.nextInvoice, next] as const])]),
    ],
    isOwnLink: true,
  };
}

interface UsageFacts {
  name: string;
  /** Whose units are counted; empty: usage as a whole. */
  metric: string;
  figure: string;
  limit: string;
  link: MailLink;
  life: LinkLife;
}

export function usageContent(about: About, { name, metric, figure, limit, link, life }: UsageFacts): MailContent {
  const { usage } = portalTextsOf(about.locale);
  const note = metric === '' ? name : `${name} · ${metric}`;
  const reached = `${figure} / ${limit}`;
  return {
    ...about,
    template: 'usage_alert',
    values: { subscription: name, amount: figure, limit },
    link,
    headline: { text: `${reached}\n${note}`, html: [headline(reached, note)] },
    blocks: [
      linkBlock(about.locale, link, life),
      factsBlock([
        [usage, figure],
        [mailTextsOf(about.locale).notices.limit, limit],
      ]),
    ],
    isOwnLink: true,
  };
}
