import { Temporal } from 'temporal-polyfill';
import { instantText } from '../engine/calendar/instant-text.ts';

/**
 * A value as it is read back after it was stored as JSON: decimals and instants as texts, without fields that are
 * undefined. The same as `JSON.parse(JSON.stringify(value))`, without the library's slow text of an instant.
 */
export function plainJson(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Temporal.Instant) return instantText(value);
  if (Array.isArray(value)) return value.map((element) => plainJson(element === undefined ? null : element));
  if ('toJSON' in value && typeof value.toJSON === 'function') return plainJson(value.toJSON(''));

  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([key, field]) => [key, plainJson(field)]));
}
