import { cents } from '../../../../engine/money/cents.ts';
import { exponentOf } from '../../../../engine/money/currency.ts';
import { decimal } from '../../../../engine/money/decimal.ts';
import { toSmallestUnit } from '../../../../engine/money/units.ts';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { groupRows } from '../../../../platform/lists/group-rows.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import { subscriptionName } from '../../../subscriptions/subscriptions/printed-name.ts';
import { listSubscriptionsShown, type SubscriptionShown } from '../../../subscriptions/subscriptions/queries.ts';
import { type Frame, formOf, framed, may } from '../frame.ts';
import { button, headOf, nothing, rowOf, waysOf } from '../parts.ts';
import { listOf } from '../reads.ts';
import type { FaultName } from '../texts/portal-texts.ts';
import { listOwnAlerts, listPlanMetrics, type OwnAlert, type PlanMetric } from './queries.ts';

/** An alert as it was asked for, and why it was refused. */
export interface AlertTry {
  subscription: string;
  metric: string;
  amount: string;
  fault: FaultName;
}

/** The highest limit, in main units: beyond it nobody would be told anything. */
const MOST_AMOUNT = 10_000_000;

/** Bounds of a limit, in cents. */
export const limitBounds = (currency: string) => ({
  leastCents: 1,
  mostCents: toSmallestUnit(decimal(MOST_AMOUNT), exponentOf(currency as never)).toNumber(),
});

/** The alerts of a customer by subscription, each with the form of another one. Three statements. */
export async function alertsPage(
  ctx: Context,
  frame: Frame,
  { page, said, tried }: { page: number; said?: Html; tried?: AlertTry },
): Promise<string> {
  const { customer, language } = frame;
  const filters = { external_customer_id: customer.external_id, statuses: ['active'] as const };
  const [subscriptions, alerts] = await Promise.all([
    listOf(page, (slice) => listSubscriptionsShown(ctx, filters, { ...slice, endedLast: true })),
    listOwnAlerts(ctx, customer.id),
  ]);
  const metrics = await listPlanMetrics(
    ctx,
    subscriptions.rows.map(({ id }) => id),
  );
  const alertsOf = groupRows(alerts, (alert) => alert.external_subscription_id);
  const metricsOf = groupRows(metrics, (metric) => metric.subscription_id);
  const { words } = language;
  return framed(
    frame,
    words.alerts,
    html`${headOf(frame, words.alerts, { hint: words.alertsHint })}
${said}${
  subscriptions.rows.length === 0
    ? nothing(words.nothing)
    : subscriptions.rows.map((subscription) =>
        subscriptionCard(frame, subscription, {
          alerts: alertsOf.get(subscription.external_id) ?? [],
          metrics: metricsOf.get(subscription.id) ?? [],
          tried: tried?.subscription === subscription.id ? tried : undefined,
        }),
      )
}
${waysOf(frame, subscriptions)}`,
  );
}

function subscriptionCard(
  frame: Frame,
  subscription: SubscriptionShown,
  { alerts, metrics, tried }: { alerts: OwnAlert[]; metrics: PlanMetric[]; tried: AlertTry | undefined },
): Html {
  const { words } = frame.language;
  const format = frame.formatOf(subscription.plan_amount_currency);
  const nameOf = (alert: OwnAlert) => alert.metric_name ?? words.allUsage;
  const row = (alert: OwnAlert) => {
    const limit = fill(words.fromAmount, { amount: format.amount(cents(Number(alert.limit))) });
    const remove = formOf(
      frame,
      `alerts/${alert.id}/remove`,
      button(words.remove, { about: `${nameOf(alert)}, ${limit}`, style: 'second small' }),
    );
    return html`<li>${rowOf(nameOf(alert), [limit], may(frame, 'alerts') && remove)}</li>\n`;
  };
  return html`<section class="card"><header><h2>${subscriptionName(subscription)}</h2></header>
${alerts.length > 0 && html`<ul>${alerts.map(row)}</ul>`}
${may(frame, 'alerts') && html`<div class="body">${formFor(frame, subscription, metrics, tried)}</div>`}</section>
`;
}

function formFor(
  frame: Frame,
  { id, plan_amount_currency: currency }: SubscriptionShown,
  metrics: readonly PlanMetric[],
  tried: AlertTry | undefined,
): Html {
  const { words } = frame.language;
  const { leastCents, mostCents } = limitBounds(currency);
  const format = frame.formatOf(currency);
  const bounds = { min: format.amount(cents(leastCents)), max: format.amount(cents(mostCents)) };
  const fault = `fault-${id}`;
  const option = (value: string, name: string) =>
    html`<option value="${value}"${value === tried?.metric && { html: ' selected' }}>${name}</option>`;
  return formOf(
    frame,
    'alerts',
    html`<input type="hidden" name="subscription" value="${id}">
<div class="fields"><div><label>${words.usageOf}<select name="metric">${option('', words.allUsage)}${metrics.map(({ code, name }) => option(code, name))}</select></label></div>
<div><label>${fill(words.howMuch, { currency })}
<input name="amount" inputmode="decimal" autocomplete="off" required maxlength="20" value="${tried?.amount ?? ''}"${tried && { html: ` aria-invalid="true" aria-describedby="${fault}" autofocus` }}></label>
${tried && html`<p class="fault" id="${fault}">${fill(words.faults[tried.fault], bounds)}</p>`}</div></div>
<div class="deeds">${button(words.addAlert)}</div>`,
  );
}
