import { createHash } from 'node:crypto';
import { excessOf, shallowText, shortText } from '../platform/json/json-shape.ts';
import type { Inbound } from '../platform/payments/descriptor.ts';
import { redactedPart } from '../platform/payments/redact-event.ts';
import { storableJson, storableText } from '../platform/schema/storable.ts';

/** How many characters an id may have, which an index must hold, and how many a type. */
const NAME_MAX = 255;
/** How many characters of an unreadable body are stored to show what arrived. */
const NOT_UNDERSTOOD_MAX = 1000;
/** Type stored for such a body; no provider has an event of this name. */
export const NOT_UNDERSTOOD = 'not_understood';

export interface ToldEvent {
  providerEventId: string;
  type: string;
  payload: object;
}

/**
 * The events of a payment provider's signed body in a form that can be stored. It is never refused, because it may be
 * about money, and a provider repeats a refused event for days and then stops sending: invalid characters are replaced,
 * parts that are too deep or too large are shortened, and an unreadable body is stored in part under its digest.
 *
 * Rule: provider-connections.md#inbound-events.
 */
export function readProviderEvents(body: string, eventsIn: Inbound['eventsIn']): ToldEvent[] {
  const parsed = parse(body);
  const events = parsed ? eventsIn(parsed) : [];
  if (events.length > 0)
    return events.map(({ id, type, payload }) => ({
      providerEventId: nameOf(id),
      type: nameOf(type),
      payload: storableJson(payload) as object,
    }));
  // Digits at the cut may be the first ones of a card's number.
  const start = body.length > NOT_UNDERSTOOD_MAX ? body.slice(0, NOT_UNDERSTOOD_MAX).replace(/[\d\s-]+$/, '') : body;
  const kept = redactedPart(storableText(start));
  return [{ providerEventId: digestOf(body), type: NOT_UNDERSTOOD, payload: { [NOT_UNDERSTOOD]: kept } }];
}

function parse(body: string): Record<string, unknown> | undefined {
  let text = body.startsWith('\ufeff') ? body.slice(1) : body;
  if (excessOf(text) === 'depth') text = shallowText(text);
  if (excessOf(text) === 'values') text = shortText(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** A name in a length that an index holds; a shortened one gets a digest, so that it stays different from others. */
function nameOf(text: string): string {
  const name = storableText(text);
  if (name === text && name.length <= NAME_MAX) return name;
  const digest = digestOf(text);
  return storableText(`${name.slice(0, NAME_MAX - digest.length - 1)}-${digest}`);
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
