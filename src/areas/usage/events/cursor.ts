import type { EventId } from '../../../platform/ids.ts';
import { isUuid } from '../../../platform/ids.ts';
import { refuse } from '../../../platform/refusal.ts';
import { isStorable } from '../../../platform/schema/storable.ts';
import type { ShownEvent } from './view.ts';

/** The event after which a page begins, by the sort key of the list. */
export interface EventPlace {
  /** ISO text with microseconds. */
  timestamp: string;
  transaction_id: string;
  id: EventId;
}

/** The position of an event as an opaque text for clients. */
export const cursorOf = ({ timestamp, transaction_id, id }: ShownEvent): string =>
  Buffer.from(JSON.stringify([timestamp, transaction_id, id])).toString('base64url');

const ISO_TEXT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** @throws Refusal 422 after: value_is_invalid, for a text that is not a cursor */
export function placeOf(cursor: string): EventPlace {
  const [timestamp, transaction_id, id] = partsOf(cursor);
  const isPlace =
    isText(timestamp) &&
    ISO_TEXT.test(timestamp) &&
    !Number.isNaN(Date.parse(timestamp)) &&
    isText(transaction_id) &&
    isStorable(transaction_id) &&
    isText(id) &&
    isUuid(id);
  if (!isPlace) throw refuse.invalid({ after: ['value_is_invalid'] });
  return { timestamp, transaction_id, id };
}

const isText = (value: unknown): value is string => typeof value === 'string';

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return []; // not JSON, so it is not a cursor
  }
}
