/**
 * The events that the bench sends: 1 000 subscriptions, 5 metrics, properties of 4 keys. An event is a function of its
 * number, so that a run can be repeated byte for byte without keeping what was sent.
 */
export interface EventSource {
  /** Distinguishes the events of two runs. */
  label: string;
  /** Unix seconds of the events. */
  at: number;
  /** All events are of one subscription, metric and hour: they add to one row of sums. */
  isOneRow?: boolean;
}

export const SUBSCRIPTIONS = 1000;
export const METRICS = ['requests', 'bytes', 'seconds', 'calls', 'messages'] as const;
export const REGIONS = ['eu-1', 'eu-2', 'us-1', 'us-2', 'ap-1'] as const;
export const TIERS = ['free', 'pro', 'max'] as const;

export const subscriptionOf = (number: number): string => `sub-${number % SUBSCRIPTIONS}`;

// Multiplying by an odd constant scatters the ids over the unique index, as those of real clients are.
const scatter = (number: number): string => (Math.imul(number, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');

export const transactionIdOf = (source: EventSource, number: number): string =>
  `${scatter(number)}-${source.label}-${number}`;

/** JSON text of one event; `amount` replaces the property of that name. */
export function eventJson(source: EventSource, number: number, amount = (number % 977) / 4): string {
  const mixed = Math.imul(number, 0x85ebca6b) >>> 8;
  const isOneRow = source.isOneRow === true;
  return (
    `{"transaction_id":"${transactionIdOf(source, number)}","external_subscription_id":"${subscriptionOf(isOneRow ? 0 : number)}",` +
    `"code":"${METRICS[isOneRow ? 0 : mixed % 5]}","timestamp":${source.at}.${String(number % 1000).padStart(3, '0')},` +
    `"properties":{"amount":${amount},"region":"${REGIONS[(mixed >>> 3) % 5]}","tier":"${TIERS[(mixed >>> 6) % 3]}",` +
    `"request":"r${mixed}"}}`
  );
}

/**
 * Body of one request: one event under `event`, or several under `events`. Event k of request n has number n × per + k.
 */
export function requestBody(source: EventSource, request: number, eventsPerRequest: number): string {
  if (eventsPerRequest === 1) return `{"event":${eventJson(source, request)}}`;
  const first = request * eventsPerRequest;
  return `{"events":[${Array.from({ length: eventsPerRequest }, (_, index) => eventJson(source, first + index)).join(',')}]}`;
}
