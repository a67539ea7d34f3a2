import type { IncomingBatch, Verdict } from '../events/incoming-event.ts';
import type { UsageInput } from './read-usage.ts';
import type { UsageItem } from './usage-item.ts';

/** Batches of a request, and for each item the places of its events in them; null for an item without events. */
export interface UsageBatches {
  batches: IncomingBatch[];
  places: ({ batch: number; from: number; count: number } | null)[];
}

/**
 * The batches by which a request's calls are stored: one that is all or nothing, or, where each call is stored for
 * itself, one of all calls with one event, and one for each call with an event a part.
 */
export function batchesOf({ form, sender, items }: UsageInput): UsageBatches {
  const batches: IncomingBatch[] = [{ ...sender, atomic: form !== 'tolerant', events: [] }];
  const places = items.map((item) => {
    if (!('call' in item)) return null;
    const { events, isOfKinds } = item.call;
    const isApart = form === 'tolerant' && isOfKinds;
    const batch = isApart ? batches.length : 0;
    if (isApart) batches.push({ ...sender, atomic: true, events: [] });
    const from = batches[batch]!.events.length;
    batches[batch]!.events.push(...events);
    return { batch, from, count: events.length };
  });
  return { batches, places };
}

/** Verdicts on the events of each item, from those of each batch. */
export const verdictsOfItems = ({ places }: UsageBatches, verdicts: readonly (readonly Verdict[])[]): Verdict[][] =>
  places.map((place) => (place === null ? [] : verdicts[place.batch]!.slice(place.from, place.from + place.count)));

/** Whether a call names a hold that it settles: then all of a request travel with the decisions about budgets. */
export const settlesHolds = ({ items }: UsageInput): boolean =>
  items.some((item) => 'call' in item && item.call.hold !== undefined);

/** Verdicts on the events of each item, from those of the calls among them. */
export function verdictsOfCalls(items: readonly UsageItem[], verdicts: readonly Verdict[][]): Verdict[][] {
  let calls = 0;
  return items.map((item) => {
    if (!('call' in item)) return [];
    calls += 1;
    return verdicts[calls - 1]!;
  });
}
