import { Temporal } from 'temporal-polyfill';
import { type Decimal, decimal } from '../../../../engine/money/decimal.ts';
import type { Context } from '../../../../platform/context.ts';
import { type Html, html } from '../../../../platform/html.ts';
import { fill } from '../../../messaging/documents/number-and-date-formats.ts';
import type { SubscriptionShown } from '../../../subscriptions/subscriptions/queries.ts';
import { readFeaturesInUse } from '../../../usage/access/access-facts.ts';
import type { Frame } from '../frame.ts';
import { meterOf } from '../parts.ts';

/** A feature that the customer has, with its limits and what is used of them. */
export interface FeatureInUse {
  name: string;
  /** Values of privileges that are no limit: switches, texts, numbers. */
  values: readonly { name: string; type: string; text: string }[];
  limits: readonly { used: Decimal; limit: Decimal; resetsAt: Temporal.Instant | null }[];
}

/** Features of a subscription, as many statements as `readFeaturesInUse` takes. */
export async function readFeatures(ctx: Context, subscription: SubscriptionShown): Promise<FeatureInUse[]> {
  const { features, granted, windows } = await readFeaturesInUse(ctx, subscription, ctx.now());
  return granted.map(({ code, privileges, limits }) => {
    const feature = features.find((each) => each.code === code)!;
    const limited = new Set(limits.map(({ most }) => most));
    return {
      name: feature.name || code,
      values: privileges
        .filter(({ text }) => limits.length === 0 || !limited.has(text))
        .map(({ code: privilege, type, text }) => ({
          name: feature.privileges.find((each) => each.code === privilege)?.name || privilege,
          type,
          text,
        })),
      limits: limits.map(({ most, resetsAt, window }) => ({
        used: windows[window]!.used,
        limit: decimal(most),
        resetsAt: resetsAt === null ? null : Temporal.Instant.from(resetsAt),
      })),
    };
  });
}

export function featuresCard(frame: Frame, features: readonly FeatureInUse[], currency: string): Html | false {
  if (features.length === 0) return false;
  const { words } = frame.language;
  const format = frame.formatOf(currency);
  const shownText = (type: string, text: string): string => {
    if (type === 'boolean') return text === 'true' ? words.yes : words.no;
    return type === 'integer' ? format.units(text) : text;
  };
  return html`<h2>${words.features}</h2>
<ul class="card">${features.map(
    ({ name, values, limits }) => html`<li><div class="row"><div class="what"><strong>${name}</strong>
<span class="soft">${values.map((each) => `${each.name}: ${shownText(each.type, each.text)}`).join(' · ')}</span></div></div>
${limits.map(
  ({ used, limit, resetsAt }) =>
    html`<div><span class="num">${fill(words.usedOf, { used: format.units(used), limit: format.units(limit) })}</span>${resetsAt && html` <span class="soft">· ${fill(words.resetsOn, { date: frame.day(resetsAt) })}</span>`}${meterOf(used, limit)}</div>`,
)}</li>
`,
  )}</ul>`;
}
