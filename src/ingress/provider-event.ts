import { createHash } from 'node:crypto';
import { storableJson, storableText } from '../platform/schema/storable.ts';
import { excessOf, shallowText, shortText } from './json-shape.ts';

/** Characters of an id and of a type: an index holds the id. */
const NAME_MAX = 255;
/** Characters of a body that is no event, kept to show what arrived. */
const NOT_UNDERSTOOD_MAX = 1000;
/** Type of such a body: no provider has an event of this name. */
export const NOT_UNDERSTOOD = 'not_understood';

export interface ToldEvent {
  providerEventId: string;
  type: string;
  payload: object;
}

/**
 * What a payment provider sent under its signature, as it can be stored. It may be about money, and a provider repeats
 * what was refused for days and then stops sending, so nothing is: odd characters are mended, what nests too deeply or
 * holds too many values is shortened, and what is no event is kept in part, under the digest of its body.
 *
 * Rule: provider-connections.md#inbound-events.
 */
export function readProviderEvent(body: string): ToldEvent {
  const event = parse(body);
  if (event)
    return { providerEventId: nameOf(event.id), type: nameOf(event.type), payload: storableJson(event) as object };
  const kept = storableText(body.slice(0, NOT_UNDERSTOOD_MAX));
  return { providerEventId: digestOf(body), type: NOT_UNDERSTOOD, payload: { [NOT_UNDERSTOOD]: kept } };
}

function parse(body: string): { id: string; type: string } | undefined {
  let text = body.startsWith('\ufeff') ? body.slice(1) : body;
  if (excessOf(text) === 'depth') text = shallowText(text);
  if (excessOf(text) === 'values') text = shortText(text);
  let event: { id?: unknown; type?: unknown } | null;
  try {
    event = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof event?.id !== 'string' || event.id === '' || typeof event.type !== 'string') return undefined;
  return event as { id: string; type: string };
}

/** A name as an index can hold it; one that had to be changed keeps its difference from others in a digest. */
function nameOf(text: string): string {
  const name = storableText(text);
  if (name === text && name.length <= NAME_MAX) return name;
  const digest = digestOf(text);
  return storableText(`${name.slice(0, NAME_MAX - digest.length - 1)}-${digest}`);
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
