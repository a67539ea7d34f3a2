import { storableJson, storableText } from '../platform/schema/storable.ts';
import { excessOf, shallowText } from './json-shape.ts';

/** Characters of an id and of a type: an index holds the id. */
const NAME_MAX = 255;

export interface ToldEvent {
  providerEventId: string;
  type: string;
  payload: object;
}

/**
 * An event of a payment provider as it can be stored: it tells of money, so that odd characters in it and a nesting that
 * nobody reads are mended and not refused. Undefined: what is no event, or holds more values than any does.
 *
 * Rule: beyond 13.2.
 */
export function readProviderEvent(body: string): ToldEvent | undefined {
  const excess = excessOf(body);
  if (excess === 'values') return undefined;
  let event: unknown;
  try {
    event = JSON.parse(excess === 'depth' ? shallowText(body) : body);
  } catch {
    return undefined;
  }
  if (typeof event !== 'object' || event === null) return undefined;
  const { id, type } = event as { id?: unknown; type?: unknown };
  if (typeof id !== 'string' || typeof type !== 'string') return undefined;
  return { providerEventId: nameOf(id), type: nameOf(type), payload: storableJson(event) as object };
}

const nameOf = (text: string): string => storableText(text.slice(0, NAME_MAX));
