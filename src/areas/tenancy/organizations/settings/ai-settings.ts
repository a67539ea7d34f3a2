import { z } from 'zod';
import { COST_SOURCES } from '../../../../engine/ai/rating/rate.ts';
import { CURRENCIES } from '../../../../engine/money/currency.ts';
import { own } from '../../../../engine/own.ts';
import { list, named } from '../../../../platform/schema/bounded.ts';
import { boolean, oneOf, text } from '../../../../platform/schema/fields.ts';
import { DEFAULT_CURRENCY, doorSettings, EMITS } from '../../../usage/ai-doors/door-settings.ts';

const KEY_MAX = 255;
const DIMENSIONS_MAX = 3;
const KEYS_MAX = 10;
const TYPES_MAX = 1000;

const key = () => text({ max: KEY_MAX, maxBytes: KEY_MAX });

/** Settings for the usage of models: what is absent stays. Rule: ai-usage.md#settings. */
export const AiSettingsUpdate = z
  .object({
    event_code: key(),
    book_currency: oneOf(CURRENCIES),
    use_deployment_prices: boolean(),
    cost_source: oneOf(COST_SOURCES),
    emit: oneOf(EMITS),
    margin_dimensions: list(key(), { max: DIMENSIONS_MAX }),
    subscription_keys: list(key(), { max: KEYS_MAX }),
    cloud_event_types: named(key(), { max: TYPES_MAX }),
  })
  .partial();
export type AiSettingsUpdate = z.output<typeof AiSettingsUpdate>;

export const AiSettingsView = z.object({
  event_code: z.string(),
  book_currency: z.string(),
  use_deployment_prices: z.boolean(),
  cost_source: z.enum(COST_SOURCES),
  emit: z.enum(EMITS),
  margin_dimensions: z.array(z.string()),
  subscription_keys: z.array(z.string()),
  cloud_event_types: z.record(z.string(), z.string()),
});
type AiSettingsView = z.output<typeof AiSettingsView>;

/** Effective settings from those that were set. */
export function aiSettingsView(stored: Readonly<Record<string, unknown>>): AiSettingsView {
  const { eventCode, emit, subscriptionKeys, cloudEventTypes } = doorSettings(stored);
  return {
    event_code: eventCode,
    book_currency: (own(stored, 'book_currency') as string | undefined) ?? DEFAULT_CURRENCY,
    use_deployment_prices: own(stored, 'use_deployment_prices') !== false,
    cost_source: COST_SOURCES.find((each) => each === own(stored, 'cost_source')) ?? 'book',
    emit,
    margin_dimensions: (own(stored, 'margin_dimensions') as string[] | undefined) ?? [],
    subscription_keys: [...subscriptionKeys],
    cloud_event_types: Object.fromEntries(cloudEventTypes),
  };
}

/** Settings by which events are rated when they are stored. */
const OF_THE_BOOK = ['book_currency', 'use_deployment_prices', 'cost_source', 'margin_dimensions'] as const;

/** Whether a change of settings changes how events are rated. */
export const changesRating = (before: AiSettingsView, after: AiSettingsView): boolean =>
  OF_THE_BOOK.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
