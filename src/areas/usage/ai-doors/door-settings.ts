import { own } from '../../../engine/own.ts';

/** How the usage of models of an organization becomes events. Rule: ai-usage.md#settings. */
export interface DoorSettings {
  /** Code of the events, unless a call names another. */
  eventCode: string;
  /** One event a call, or one a part. */
  emit: Emit;
  /** Names whose text is an external id of a subscription, in their order. */
  subscriptionKeys: readonly string[];
  /** Codes of CloudEvents by their type. */
  cloudEventTypes: ReadonlyMap<string, string>;
  /** In which the price book stands. */
  currency: string;
}

export const EMITS = ['call', 'kinds'] as const;
export type Emit = (typeof EMITS)[number];

export const DEFAULT_EVENT_CODE = 'ai_usage';
export const DEFAULT_CURRENCY = 'USD';
export const DEFAULT_SUBSCRIPTION_KEYS = ['external_subscription_id'];

/** Settings of the doors from those that were stored; what was not set has its default. */
export function doorSettings(stored: Readonly<Record<string, unknown>>): DoorSettings {
  const code = own(stored, 'event_code');
  const keys = own(stored, 'subscription_keys');
  const currency = own(stored, 'book_currency');
  const types = own(stored, 'cloud_event_types');
  return {
    eventCode: typeof code === 'string' ? code : DEFAULT_EVENT_CODE,
    emit: EMITS.find((each) => each === own(stored, 'emit')) ?? 'call',
    subscriptionKeys: Array.isArray(keys) ? (keys as string[]) : DEFAULT_SUBSCRIPTION_KEYS,
    currency: typeof currency === 'string' ? currency : DEFAULT_CURRENCY,
    cloudEventTypes: new Map(Object.entries((types ?? {}) as Record<string, string>)),
  };
}
