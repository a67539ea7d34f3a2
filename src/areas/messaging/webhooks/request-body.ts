import { toWire } from '../../../platform/wire-prefix.ts';

const BODY_MAX_BYTES = 1024 * 1024;
/** Lists that are left out of a body that is too large (webhooks.md#delivery). */
const LONG_LISTS = ['fees', 'charges'];

/**
 * Body of the request: the event's text as it was stored, under the wire's prefix. Above 1 MiB the lists of fees and
 * charges are left out, with `"truncated": true` beside where they stood. With the prefix `svc` a body of ordinary size
 * is the stored text itself.
 */
export function bodyOf(payload: string, prefix: string): string {
  const text = prefix === 'svc' ? payload : JSON.stringify(toWire(JSON.parse(payload), prefix));
  return isTooLarge(text) ? shortBody(text) : text;
}

export const isTooLarge = (body: string): boolean => Buffer.byteLength(body) > BODY_MAX_BYTES;

/** A body without its long lists. */
export const shortBody = (body: string): string => JSON.stringify(withoutLongLists(JSON.parse(body)));

function withoutLongLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLongLists);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const kept = entries.filter(([key, inner]) => !(LONG_LISTS.includes(key) && Array.isArray(inner)));
  const shortened = kept.map(([key, inner]) => [key, withoutLongLists(inner)]);
  return Object.fromEntries(kept.length < entries.length ? [...shortened, ['truncated', true]] : shortened);
}
